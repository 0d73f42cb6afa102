"""The Newton system of the squared hinge: a weighted ridge regression on the active rows."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from scipy.linalg import LinAlgError, cholesky, solve_triangular

from kernelet.kernels.numerics.arrays import BoolArray, FloatArray, IndexArray
from kernelet.solvers.rows import Rows

# Rows are taken in blocks of about this many numbers (16 MB), so that copies of them stay small.
_BLOCK_ENTRIES = 1 << 21
# Moments that have shrunk by this factor through subtraction have lost three digits, and are added
# up anew.
_SHRUNK = 1e-3


class ActiveSystem:
    r"""Solve H (dw, db) = -(g, g_b) for the rows that are active at a point.

    .. math:: H = \begin{pmatrix} I + \sum_i d_i \phi_i \phi_i^\top & \sum_i d_i \phi_i \\
        \sum_i d_i \phi_i^\top & \sum_i d_i \end{pmatrix}, \qquad d_i = 2 C_i

    with sums over the active rows. The bias is eliminated, which leaves the moments about the
    weighted mean. From one step to the next only few rows change sides, so the sums are kept and
    these rows added or subtracted; a common factor of the costs is kept apart.

    Parameters
    ----------
    rows : Rows
    curvatures : ndarray of shape (n,)
        The d_i for a scale of one; rows of zero are never active.

    Attributes
    ----------
    scale : float
        Factor of all d_i.
    is_careful : bool
        Whether the matrix is factored without forming it.
    """

    def __init__(self, rows: Rows, curvatures: FloatArray) -> None:
        n, m = rows.shape
        self._rows = rows
        self._curvatures = curvatures
        self._active: BoolArray = np.zeros(n, dtype=bool)
        self._total = 0.0
        self._sum = np.zeros(m)
        self._gram = np.zeros((m, m))
        self._peak = 0.0
        self.scale = 1.0
        self.is_careful = False

    def step(
        self, active: BoolArray, gradient: FloatArray, gradient_intercept: float
    ) -> tuple[FloatArray, float]:
        """The Newton step (dw, db).

        The matrix is factored by Cholesky. In careful mode, and where that fails, the factor comes
        from orthogonal transformations of the rows themselves, which sees a matrix of condition
        1e15 as one of 3e7.
        """
        if not active.any():
            return -gradient, 0.0  # nothing but the ridge is left, and b is free
        if gradient.size == 0:  # no features; older versions of LAPACK's wrappers refuse 0 x 0
            total = float(self._curvatures[active].sum())
            return gradient, -gradient_intercept / (self.scale * total)
        factor = None
        if not self.is_careful:
            self._update(active)
            factor = self._cholesky_factor()
        if factor is None:
            self.is_careful = True
            self._active = np.zeros_like(active)  # the next update starts anew
            factor = self._orthogonal_factor(active)
        mean = self._sum / self._total
        right = mean * gradient_intercept - gradient
        # The factor is upper triangular, R'R = H without the bias.
        half = solve_triangular(factor, right, trans="T", check_finite=False)
        dw: FloatArray = solve_triangular(factor, half, check_finite=False)
        return dw, -gradient_intercept / (self.scale * self._total) - float(mean @ dw)

    def mean_square(self, active: BoolArray) -> float:
        """The weighted mean of ||phi_i||^2 over these rows."""
        self._update(active)
        return float(np.trace(self._gram)) / self._total if self._total > 0 else 0.0

    def _update(self, active: BoolArray) -> None:
        entering, leaving = active & ~self._active, self._active & ~active
        n_active = int(np.count_nonzero(active))
        if np.count_nonzero(entering) + np.count_nonzero(leaving) < n_active:
            self._add(entering, 1.0)
            self._add(leaving, -1.0)
            trace = float(np.trace(self._gram))
            self._peak = max(self._peak, trace)
            is_fresh = trace > _SHRUNK * self._peak
        else:
            is_fresh = False
        if not is_fresh:
            self._start_anew(active, n_active)
        self._active = active

    def _start_anew(self, active: BoolArray, n_active: int) -> None:
        self._total = 0.0
        self._sum[:] = 0.0
        self._gram[:] = 0.0
        if 2 * n_active > active.size:
            weights = np.where(active, self._curvatures, 0.0)
            self._total = float(weights.sum())
            self._sum += self._rows.weighted_sum(weights)
            self._gram += self._rows.weighted_gram(weights)
        else:
            self._add(active, 1.0)
        self._peak = float(np.trace(self._gram))

    def _add(self, which: BoolArray, sign: float) -> None:
        for index in self._blocks(np.flatnonzero(which)):
            d = self._curvatures[index]
            block = self._rows.take(index)
            self._total += sign * float(d.sum())
            self._sum += sign * (d @ block)
            block = block * np.sqrt(d)[:, None]
            self._gram += sign * (block.T @ block)

    def _blocks(self, index: IndexArray) -> Iterator[IndexArray]:
        length = max(1, _BLOCK_ENTRIES // max(1, self._sum.size))
        for start in range(0, index.size, length):
            yield index[start : start + length]

    def _cholesky_factor(self) -> FloatArray | None:
        matrix = self._gram - np.outer(self._sum, self._sum / self._total)
        matrix *= self.scale
        matrix[np.diag_indices_from(matrix)] += 1.0
        try:
            factor: FloatArray = cholesky(matrix, check_finite=False)
        except LinAlgError:
            return None
        return factor if np.isfinite(factor).all() else None

    def _orthogonal_factor(self, active: BoolArray) -> FloatArray:
        # Rows of large cost first: the factor is then accurate row by row.
        index = np.flatnonzero(active)
        index = index[np.argsort(-self._curvatures[index], kind="stable")]
        d = self._curvatures[index]
        self._total = float(d.sum())
        self._sum[:] = 0.0
        for part in self._blocks(index):
            self._sum += self._curvatures[part] @ self._rows.take(part)
        mean = self._sum / self._total
        m = mean.size
        factor: FloatArray = np.zeros((0, m))
        for part in self._blocks(index):
            block = self._rows.take(part) - mean
            block *= np.sqrt(self.scale * self._curvatures[part])[:, None]
            factor = _triangle(np.vstack([factor, block]))
        return _triangle(np.vstack([factor, np.eye(m)]))


def _triangle(rows: FloatArray) -> FloatArray:
    """Upper triangular R with R'R = rows'rows."""
    triangle: FloatArray = np.asarray(np.linalg.qr(rows, mode="r"))
    return triangle
