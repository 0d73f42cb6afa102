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
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from kernelet.kernels import Kernel, ScaledFeatures
from kernelet.kernels.radial import RadialKernel
from kernelet.kernels.width import with_gamma
from kernelet.learners.direct.search.rows import GrowingSample

FloatArray = NDArray[np.float64]

# How far the logarithm of a squared scale may go from where it starts.
_FARTHEST = float(np.log(1e4))
# Features count as few below this share of them.
_FEW_FEATURES = 0.25
# Numbers that are standardised at a time.
_BLOCK = 1 << 20
# Rounding of distances up to which kernel values, whose exponents they are, have digits to go by.
_LARGEST_ERROR = 1e-2


def are_distances_precise(extent: FloatArray, kernel: RadialKernel, dtype: Any) -> bool:
    """Whether |p(x)|^2 + |v|^2 - 2 p(x)'v, in this precision, is the distance for all rows.

    At a gamma that makes distances of 10^14 it is noise, if it does not overflow. ``extent`` is
    that of the `GrowingSample`.
    """
    with np.errstate(over="ignore"):
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

    def __init__(self, source: GrowingSample, n: int, dtype: Any) -> None:
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
        if self._source.is_sparse:
            self.rows = sparse.vstack([self.rows, rows], format="csr")
            self.squares = sparse.vstack([self.squares, squares], format="csr")
        else:
            self.rows = np.concatenate([self.rows, rows])
            self.squares = np.concatenate([self.squares, squares])

    def original(self, index: NDArray[np.intp]) -> Any:
        """Some of the rows in use, in the units given and in the precision kept here."""
        if self._source.is_sparse:
            return self.rows[index]
        return self.rows[index].astype(np.float64) * self.unit + self.centre

    def _standard(self, X: Any) -> tuple[Any, Any]:
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
        self,
        parameters: FloatArray,
        v: FloatArray,
        V: FloatArray,
        active: NDArray[np.intp] | slice,
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

    def _clipped(self, t: FloatArray) -> FloatArray:
        """Rounding may leave a squared distance below zero."""
        zero = np.zeros((), dtype=t.dtype)
        (np.minimum if self.sign < 0.0 else np.maximum)(t, zero, out=t)
        return t


class Scales(InputStage):
    """A = diag(s): logarithms of s^2 for each feature, one for all features, or none.

    Parameters
    ----------
    rows : StandardRows
    kernel : RadialKernel
    learn : {"features", "width", "nothing"}
    """

    # on training rows of 30 sets the same from 0.01 to 0.3, by validation
    regularisation = 0.03

    def __init__(self, rows: StandardRows, kernel: RadialKernel, learn: str) -> None:
        super().__init__(rows, kernel)
        self.learn = learn
        d = rows.centre.size
        self.parameters = np.zeros({"features": d, "width": 1, "nothing": 0}[learn])
        fair = rows.fair_scales() if learn == "features" else None
        if fair is not None:
            self.parameters = np.log(fair)
        self._reference = self.parameters

    def _scales(self, logs: FloatArray) -> FloatArray:
        if self.learn == "nothing":
            return np.full(self.rows.centre.size, self.size)
        return self.size * np.exp(0.5 * np.broadcast_to(logs, self.rows.centre.shape))

    def distances(self, parameters: FloatArray, v: FloatArray) -> FloatArray:
        a = self._scales(parameters) * self.rows.unit
        dtype = self.rows.dtype
        t: FloatArray = self.rows.rows @ (-2.0 * self.sign * (a * v).T).astype(dtype)
        norms = self.rows.squares @ (self.sign * np.square(a)).astype(dtype)
        t += norms[:, None]
        t += (self.sign * np.einsum("ij,ij->i", v, v)).astype(dtype)
        return self._clipped(t)

    def pull(
        self,
        parameters: FloatArray,
        v: FloatArray,
        V: FloatArray,
        active: NDArray[np.intp] | slice,
    ) -> tuple[FloatArray, FloatArray]:
        a = self._scales(parameters) * self.rows.unit
        sums = np.asarray((self.rows.rows[active].T @ V).T, dtype=np.float64) * a
        dv = 2.0 * self.sign * (V.sum(axis=0, dtype=np.float64)[:, None] * v - sums)
        if self.learn == "nothing":
            return np.zeros(0), dv
        squares = np.asarray(self.rows.squares[active].T @ V.sum(axis=1), dtype=np.float64)
        slopes = self.sign * (np.square(a) * squares - (v * sums).sum(axis=0))
        return (slopes if self.learn == "features" else np.array([slopes.sum()])), dv

    def kernel(self, parameters: FloatArray) -> Kernel:
        if self.learn == "nothing":
            return self.start
        if self.learn == "width":
            return with_gamma(self.start, self.start.gamma * float(np.exp(parameters[0])))
        scales: Any = np.exp(0.5 * parameters)
        return ScaledFeatures(self.start, scales)

    def vectors(self, parameters: FloatArray, v: FloatArray) -> FloatArray:
        return v / self._scales(parameters) + self.rows.centre

    def coordinates(self, parameters: FloatArray, Z: FloatArray) -> FloatArray:
        return (Z - self.rows.centre) * self._scales(parameters)

    def recall(self, kernel: Kernel) -> None:
        scales = np.ones(1)
        if isinstance(kernel, ScaledFeatures):
            scales, kernel = np.array(kernel.scales), kernel.kernel
        if not isinstance(kernel, type(self.start)):
            return
        if scales.size not in (1, self.parameters.size):
            return
        with np.errstate(divide="ignore"):  # a feature left out begins at its bound
            logs = np.log(kernel.gamma / self.start.gamma) + 2.0 * np.log(scales)
        change = logs - self._reference
        if np.abs(change[np.isfinite(change)]).max(initial=0.0) <= _FARTHEST * (1.0 + 1e-9):
            self.parameters = np.clip(change, -_FARTHEST, _FARTHEST) + self._reference

    def penalty(self, parameters: FloatArray) -> tuple[float, FloatArray]:
        """The mean squared deviation of the logarithms from a common change."""
        if not parameters.size:
            return 0.0, parameters
        change = parameters - self._reference
        spread = change - change.mean()
        return float(np.mean(np.square(spread))), 2.0 * spread / spread.size

    def bounds(self, parameters: FloatArray) -> tuple[FloatArray, FloatArray]:
        change = parameters - self._reference
        return -_FARTHEST - change, _FARTHEST - change
