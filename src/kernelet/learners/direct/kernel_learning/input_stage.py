r"""The linear stage in front of a radial kernel, the parameters of which are learned.

.. math:: k(x, z) = \text{profile}(\pm |p(x) - v|^2), \qquad p(x) = A (x - c), \quad v = p(z)

A is diagonal (one scale for each feature, or the same for all) or of a few rows (a projection); the
kernel's own factor is part of it. A search moves the parameters of A and the coordinates v, so that
distances between vectors change with v alone. Rows are centred and divided by their standard
deviations once, in double precision, before they are cast: neither the origin nor the units of
features cost digits after that.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TypeAlias

import numpy as np

from kernelet.kernels import Kernel
from kernelet.kernels.numerics.arrays import FloatArray, IndexArray, Rows
from kernelet.kernels.radial import RadialKernel
from kernelet.learners.direct.search.samples import GrowingSample, stacked

# Rows with a gradient: their indices, or all of them.
Active: TypeAlias = IndexArray | slice

# Features count as few below this share of them. On wine, where one of 13 makes up the distances, a
# fair start leaves 1.5 % wrong labels (SVC has 35 %); of sets of pixels most features count.
_FEW_FEATURES = 0.25
# Numbers that are standardised at a time: 8 MB of scratch memory in double precision, next to
# nothing beside the rows, and long enough for NumPy's overhead not to count.
_BLOCK = 1 << 20
# Rounding of distances up to which kernel values, whose exponents they are, have digits to go by:
# two. Gaussian values then are right to a hundredth, as exp(t + e) is (1 + e) exp(t).
_LARGEST_ERROR = 1e-2


def are_distances_precise(extent: FloatArray, kernel: RadialKernel, dtype: type) -> bool:
    """Whether |p(x)|^2 + |v|^2 - 2 p(x)'v, in this precision, is the distance for all rows.

    At a gamma that makes distances of 10^14 it is noise, if it does not overflow. ``extent`` is
    that of the `GrowingSample`.
    """
    with np.errstate(over="ignore", invalid="ignore"):  # infinity times a column of nothing: NaN
        farthest = np.square(np.sqrt(abs(kernel.factor)) * extent).sum()
    return bool(np.finfo(dtype).eps * farthest < _LARGEST_ERROR)


class StandardRows:
    """Rows about their means in units of their standard deviations, and their squares.

    CSR rows stay as they are: without zeros they would not fit into memory.

    Parameters
    ----------
    source : GrowingSample
    n : int
        How many to begin with.
    dtype : type
        float32 or float64; CSR rows are float64.
    """

    def __init__(self, source: GrowingSample, n: int, dtype: type) -> None:
        self._source = source
        self.centre, self.spread = source.centre, source.spread
        self.unit = np.where(self.spread > 0.0, self.spread, 1.0)
        self.dtype = np.dtype(np.float64 if source.is_sparse else dtype)
        self.rows, self.squares = self._standard(source.take(n))

    @property
    def size(self) -> int:
        """Rows in use."""
        return int(self.rows.shape[0])

    def fair_scales(self) -> FloatArray | None:
        """Squared scales that give all features the same part in distances; None for those given.

        They are wanted where a few features of many make up the distances, as they do if units
        differ; where most features count, as pixels do, their own spread is worth keeping.
        """
        varying = self.spread > 0.0
        variances = np.square(self.spread[varying] / self.spread.max(initial=0.0))
        counting = variances.sum() ** 2 / np.square(variances).sum() if varying.any() else np.inf
        if counting > _FEW_FEATURES * variances.size:
            return None
        scales = np.ones(self.spread.size)
        scales[varying] = np.mean(variances) / variances
        return scales

    def grow(self, n: int) -> None:
        """Use about n rows, those in use among them."""
        rows, squares = self._standard(self._source.take(n))
        self.rows, self.squares = stacked(self.rows, rows), stacked(self.squares, squares)

    def original(self, index: IndexArray) -> Rows:
        """Some of the rows in use, in the units given and in the precision kept here."""
        if self._source.is_sparse:
            return self.rows[index]
        return self.rows[index].astype(np.float64) * self.unit + self.centre

    def _standard(self, X: Rows) -> tuple[Rows, Rows]:
        """Rows in these units, and their squares."""
        if self._source.is_sparse:
            rows = X.astype(np.float64)
            return rows, rows.multiply(rows).tocsr()
        n, d = X.shape
        standard = np.empty((n, d), dtype=self.dtype)
        step = max(1, _BLOCK // max(1, d))
        for start in range(0, n, step):
            block = X[start : start + step] - self.centre
            standard[start : start + step] = block / self.unit
        return standard, np.square(standard)


class InputStage(ABC):
    """p(x) = A (x - c) for the rows of a search.

    Parameters
    ----------
    rows : StandardRows
    kernel : RadialKernel
        Where the search starts.
    """

    def __init__(self, rows: StandardRows, kernel: RadialKernel) -> None:
        self.rows, self.start = rows, kernel
        self.sign = float(np.sign(kernel.factor))
        self.size = float(np.sqrt(abs(kernel.factor)))

    #: Of A, at the start of the search.
    parameters: FloatArray
    #: What the penalty costs, in units of W at the start.
    regularisation: float

    @abstractmethod
    def distances(self, parameters: FloatArray, v: FloatArray) -> FloatArray:
        """+-|p(x_i) - v_j|^2 for all rows, in their precision."""

    @abstractmethod
    def pull(
        self, parameters: FloatArray, v: FloatArray, V: FloatArray, active: Active
    ) -> tuple[FloatArray, FloatArray]:
        """sum_ij V_ij d distance_ij / d parameters, and / dv; V has a row for each active row."""

    @abstractmethod
    def kernel(self, parameters: FloatArray) -> Kernel:
        """The kernel of these parameters, in the units of the rows given."""

    @abstractmethod
    def vectors(self, parameters: FloatArray, v: FloatArray) -> FloatArray:
        """Vectors in the units of the rows given."""

    @abstractmethod
    def coordinates(self, parameters: FloatArray, Z: FloatArray) -> FloatArray:
        """v of vectors in the units of the rows given."""

    @abstractmethod
    def recall(self, kernel: Kernel) -> None:
        """Start from a kernel that an earlier search has found, if it is one of this stage's."""

    @abstractmethod
    def penalty(self, parameters: FloatArray) -> tuple[float, FloatArray]:
        """How far the parameters are from plain ones, and its gradient."""

    @abstractmethod
    def bounds(self, parameters: FloatArray) -> tuple[FloatArray, FloatArray]:
        """How far each parameter may go down and up from here."""

    def between(self, v: FloatArray) -> FloatArray:
        """+-|v_i - v_j|^2."""
        norms = np.einsum("ij,ij->i", v, v)
        squared: FloatArray = norms[:, None] + norms - 2.0 * (v @ v.T)
        np.maximum(squared, 0.0, out=squared)
        squared.flat[:: squared.shape[0] + 1] = 0.0
        squared *= self.sign
        return squared

    def _squared(self, products: Rows, norms: FloatArray, v: FloatArray) -> FloatArray:
        """+-|p(x_i) - v_j|^2, in place of +-(-2 p(x_i)'v_j), with +-|p(x_i)|^2 given."""
        t: FloatArray = products
        t += norms[:, None]
        t += (self.sign * np.einsum("ij,ij->i", v, v)).astype(t.dtype)
        # rounding may leave a squared distance below zero
        zero = np.zeros((), dtype=t.dtype)
        (np.minimum if self.sign < 0.0 else np.maximum)(t, zero, out=t)
        return t
