"""Candidates that are left, without a copy of their kernel values for each that goes."""

from __future__ import annotations

import numpy as np

from kernelet.kernels.numerics.arrays import FloatArray, IndexArray

# Columns are copied when no more than this share of them is left. On digits the first steps lose a
# few of 1197 at a time, and copies for each of them took a tenth of the fit.
_FEW = 0.6


class KeptColumns:
    """Some columns of K, in products that cost less than twice as much as with these alone.

    Parameters
    ----------
    K : ndarray of shape (n, m)
    left : ndarray of int, default=None
        Which columns; all by default.

    Examples
    --------
    >>> columns = KeptColumns(np.arange(8.0).reshape(2, 4)).keep(np.array([0, 1, 3]))
    >>> columns.times(np.array([1.0, 0.0, 1.0]))
    array([ 3., 11.])
    >>> columns.weighted_sum(np.array([0.0, 1.0]))
    array([4., 5., 7.])
    """

    def __init__(self, K: FloatArray, left: IndexArray | None = None) -> None:
        self._K, self._left = K, left

    @property
    def shape(self) -> tuple[int, int]:
        """Rows, and columns that are left."""
        n, m = self._K.shape
        return n, m if self._left is None else self._left.size

    def keep(self, index: IndexArray) -> KeptColumns:
        """These of the columns that are left."""
        left = index if self._left is None else self._left[index]
        if left.size <= _FEW * self._K.shape[1]:
            return KeptColumns(self._K.take(left, axis=1))
        return KeptColumns(self._K, left)

    def rows(self, index: IndexArray) -> FloatArray:
        """Some rows."""
        rows: FloatArray = self._K[index]
        return rows if self._left is None else rows.take(self._left, axis=1)

    def all_rows(self) -> FloatArray:
        """All rows."""
        return self._K if self._left is None else self._K.take(self._left, axis=1)

    def times(self, coefficients: FloatArray) -> FloatArray:
        """Their linear combination."""
        product: FloatArray = self._K @ _of_all(coefficients, self._left, self._K.shape[1])
        return product

    def weighted_sum(self, weights: FloatArray) -> FloatArray:
        """The sum of all rows, each times its weight."""
        total: FloatArray = weights @ self._K
        return total if self._left is None else total[self._left]


class KeptGram:
    """Some rows and the same columns of a Gram matrix.

    Parameters
    ----------
    G : ndarray of shape (m, m)
    left : ndarray of int, default=None
        Which candidates; all by default.

    Examples
    --------
    >>> gram = KeptGram(np.diag([1.0, 2.0, 3.0, 4.0])).keep(np.array([0, 2, 3]))
    >>> gram.scaled(np.array([1.0, 0.5, 2.0])).diagonal()
    array([ 1.  ,  0.75, 16.  ])
    >>> gram.squared_norm(np.array([1.0, 1.0, 0.0]))
    4.0
    """

    def __init__(self, G: FloatArray, left: IndexArray | None = None) -> None:
        self._G, self._left = G, left

    def keep(self, index: IndexArray) -> KeptGram:
        """These of the candidates that are left."""
        left = index if self._left is None else self._left[index]
        if left.size <= _FEW * self._G.shape[0]:
            return KeptGram(self._G[left].take(left, axis=1))
        return KeptGram(self._G, left)

    def scaled(self, d: FloatArray) -> FloatArray:
        """diag(d) G diag(d), in an array of its own."""
        if self._left is None:
            scaled: FloatArray = self._G * d
        else:
            scaled = self._G[self._left].take(self._left, axis=1)
            scaled *= d
        scaled *= d[:, None]
        return scaled

    def squared_norm(self, coefficients: FloatArray) -> float:
        """a'G a."""
        a = _of_all(coefficients, self._left, self._G.shape[0])
        return float(a @ (self._G @ a))


def _of_all(coefficients: FloatArray, left: IndexArray | None, m: int) -> FloatArray:
    """Coefficients of all m candidates, from those of candidates that are left."""
    if left is None:
        return coefficients
    whole = np.zeros(m)
    whole[left] = coefficients
    return whole
