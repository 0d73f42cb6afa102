"""Vectors whose entries are few-bit integers times a step."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kernelet.kernels import Kernel, ProjectedFeatures, ScaledFeatures
from kernelet.kernels.numerics.arrays import FloatArray
from kernelet.machine.powers import Powers


@dataclass(frozen=True, eq=False)
class GridMatrix:
    """The matrix in front of a kernel, a column for each feature in use.

    Attributes
    ----------
    codes : ndarray of shape (r, u), int16
    steps : Powers of u features
    """

    codes: NDArray[np.int16]
    steps: Powers

    @property
    def values(self) -> FloatArray:
        """The matrix."""
        matrix: FloatArray = self.codes * self.steps.values
        return matrix

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, GridMatrix):
            return NotImplemented
        return self.steps == other.steps and np.array_equal(self.codes, other.codes)

    def __hash__(self) -> int:
        return hash((self.codes.tobytes(), self.steps))


@dataclass(frozen=True, eq=False)
class VectorGrid:
    r"""Expansion vectors on a grid that is even in the units of the kernel.

    With scales s of the features,

    .. math:: s_f z_{jf} = a_f (o_f + c_{jf} - h), \qquad 0 \le c_{jf} < 2^{bits} = 2 h,

    where the steps a and the scales s are `Powers`, a byte each. With a matrix A in front of the
    kernel, f counts its rows and the left side is :math:`(A z_j)_f`. Everything here is an
    integer, but for gamma and the bases of the powers: it is what is shipped.

    Attributes
    ----------
    kernel : Kernel
        Of the scaled or projected features.
    n_features : int
        d, of the rows.
    used : ndarray of shape (u,), int64
        The features in use, in order.
    bits : int
        Of a code.
    codes : ndarray of shape (m, r), uint16
        c; r is u, or the number of rows of the matrix.
    centres : ndarray of shape (r,), int32
        o. A column of the codes that is h for all vectors is not stored.
    steps : Powers of r numbers
        a.
    scales : Powers of u numbers or None
        s; None if they are all 1.
    matrix : GridMatrix or None
        A; there are no scales beside it.
    """

    kernel: Kernel
    n_features: int
    used: NDArray[np.int64]
    bits: int
    codes: NDArray[np.uint16]
    centres: NDArray[np.int32]
    steps: Powers
    scales: Powers | None = None
    matrix: GridMatrix | None = None

    @property
    def half(self) -> int:
        """h, the code of a vector that is at the centre."""
        return 1 << (self.bits - 1)

    @property
    def offsets(self) -> NDArray[np.int32]:
        """c - h, in steps from the centre."""
        return self.codes.astype(np.int32) - self.half

    @property
    def varying(self) -> NDArray[np.bool_]:
        """The columns of the codes that are stored: those in which the vectors differ."""
        columns: NDArray[np.bool_] = np.any(self.codes != self.half, axis=0)
        return columns

    @property
    def points(self) -> FloatArray:
        """The vectors as the kernel sees them, of shape (m, r)."""
        # integers of 53 bits are exact, and arrays of this size are few: files may ask for them
        points: FloatArray = self.codes.astype(np.float64)
        points += self.centres.astype(np.float64) - self.half
        points *= self.steps.values
        return points

    def seen(self, X: Any) -> Any:
        """What the kernel sees of rows: an array or CSR matrix of shape (n, r)."""
        used = X if self.used.size == self.n_features else X[:, self.used]
        if self.matrix is not None:
            return used @ self.matrix.values.T
        if self.scales is None:
            return used
        scales = self.scales.values
        return used * scales if isinstance(used, np.ndarray) else used.multiply(scales).tocsr()

    @property
    def full_kernel(self) -> Kernel:
        """The kernel of the rows."""
        if self.matrix is not None:
            matrix = np.zeros((len(self.matrix.codes), self.n_features))
            matrix[:, self.used] = self.matrix.values
            return ProjectedFeatures(self.kernel, matrix)
        if self.scales is None and self.used.size == self.n_features:
            return self.kernel
        scales = np.zeros(self.n_features)
        scales[self.used] = 1.0 if self.scales is None else self.scales.values
        return ScaledFeatures(self.kernel, scales)  # type: ignore[arg-type]

    @property
    def vectors(self) -> FloatArray:
        """The vectors, with 0 for features that are not in use."""
        found = self.points
        if self.matrix is not None:
            # the least vectors that the matrix maps to the points
            found = found @ np.linalg.pinv(self.matrix.values).T
        elif self.scales is not None:
            scales = self.scales.values
            np.divide(found, scales, out=found, where=scales > 0.0)
            # where the kernel uses no feature at all, one is kept, with a scale of 0
            found[:, scales == 0.0] = 0.0
        if self.used.size == self.n_features:
            return found
        vectors = np.zeros((len(self.codes), self.n_features))
        vectors[:, self.used] = found
        return vectors

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, VectorGrid):
            return NotImplemented
        arrays = ("used", "codes", "centres")
        values = ("kernel", "n_features", "bits", "steps", "scales", "matrix")
        return all(np.array_equal(getattr(self, a), getattr(other, a)) for a in arrays) and all(
            getattr(self, v) == getattr(other, v) for v in values
        )

    def __hash__(self) -> int:
        return hash((self.kernel, self.n_features, self.bits, self.codes.tobytes()))
