"""The free points of an active set, with a Cholesky factor that is updated and not made anew.

Nothing changes in place: an interruption between two points leaves the last ones as they were.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg.blas import dtpsv
from scipy.linalg.lapack import dtpqrt

from kernelet.kernels.numerics.arrays import FloatArray, IndexArray

# Share of the diagonal below which a pivot is rounding error, some fifty units in the last place.
_LEAST_PIVOT = 1e-14
# Points that arrays have room for at first. They are enlarged by doubling, so it hardly matters.
FIRST_ROOM = 64
# Reflections that LAPACK applies together; its usual block size.
_REFLECTIONS = 32


@dataclass(frozen=True, eq=False)
class FreePoints:
    """Points with U'U = K for the Gram matrix K of the points, and U'v = 1.

    Attributes
    ----------
    index : ndarray of shape (n,)
        Which points they are, in the order of the factor.
    columns : ndarray of shape (at least n (n + 1) / 2,)
        U column by column, without the zeros: a point that joins writes its column behind them.
    forward : ndarray of shape (n,)
        v.

    Examples
    --------
    >>> K = np.array([[1.0, 0.0, 2.0], [0.0, 1.0, 2.0], [2.0, 2.0, 9.0]])
    >>> two = FreePoints.none().joined_by(0, K).joined_by(2, K)
    >>> two.solved()
    array([ 1.4, -0.2])
    >>> two.without(0).solved()
    array([0.11111111])
    """

    index: IndexArray
    columns: FloatArray
    forward: FloatArray

    @classmethod
    def none(cls) -> FreePoints:
        """No points yet."""
        return cls(np.empty(0, dtype=np.intp), np.empty(0), np.empty(0))

    def joined_by(self, point: int, K: FloatArray) -> FreePoints | None:
        """With one more point; K is the Gram matrix of all points, free or not.

        None if it is a combination of the free points up to rounding: a pivot of rounding errors
        would be divided by again with each point behind it, until numbers overflow.
        """
        n = self.index.size
        begin = _before(n)
        columns = self.columns
        if columns.size < begin + n + 1:
            columns = np.empty(_before(max(FIRST_ROOM, 2 * n)))
            columns[:begin] = self.columns[:begin]
        column = K[point, self.index]
        if n:
            column = dtpsv(n, columns, column, trans=1, overwrite_x=1)
        diagonal = float(K[point, point])
        pivot = diagonal - float(column @ column)
        if not pivot > _LEAST_PIVOT * diagonal:
            return None
        pivot **= 0.5
        columns[begin : begin + n] = column
        columns[begin + n] = pivot
        last = (1.0 - float(column @ self.forward)) / pivot
        return FreePoints(_longer(self.index, point), columns, _longer(self.forward, last))

    def combination(self, point: int, K: FloatArray) -> FloatArray:
        """Which combination of the free points comes nearest to another one."""
        n = self.index.size
        forward = dtpsv(n, self.columns, K[point, self.index], trans=1, overwrite_x=1)
        shares: FloatArray = dtpsv(n, self.columns, forward, overwrite_x=1)
        return shares

    def without(self, at: int) -> FreePoints:
        """Without the point of this position: the row of U that is left over is reflected away."""
        n = self.index.size
        size = n - 1 - at
        # the triangle behind the row, with v as a last column, and the row below it
        triangle = np.zeros((size + 1, size + 1), order="F")
        row = np.empty((1, size + 1), order="F")
        for c in range(size):
            column = self.columns[_before(at + 1 + c) :]
            triangle[: c + 1, c], row[0, c] = column[at + 1 : at + 2 + c], column[at]
        triangle[:size, size], row[0, size] = self.forward[at + 1 :], self.forward[at]
        triangle, *_ = dtpqrt(0, min(_REFLECTIONS, size + 1), triangle, row)
        columns = np.empty_like(self.columns)
        columns[: _before(at)] = self.columns[: _before(at)]
        for c in range(size):
            column, begin = self.columns[_before(at + 1 + c) :], _before(at + c)
            columns[begin : begin + at] = column[:at]
            columns[begin + at : begin + at + c + 1] = triangle[: c + 1, c]
        forward = np.append(self.forward[:at], triangle[:size, size])
        return FreePoints(np.delete(self.index, at), columns, forward)

    def solved(self) -> FloatArray:
        """K^-1 1, for the Gram matrix K of the points."""
        solution: FloatArray = dtpsv(self.index.size, self.columns, self.forward)
        return solution


def _longer(array: NDArray[Any], last: float) -> NDArray[Any]:
    """With one more element: np.append in a third of its time."""
    longer = np.empty(array.size + 1, dtype=array.dtype)
    longer[:-1], longer[-1] = array, last
    return longer


def _before(column: int) -> int:
    """Entries in the columns of a triangle before this one."""
    return column * (column + 1) // 2
