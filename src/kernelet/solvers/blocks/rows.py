"""Rows that are read in blocks, from a file or from anything else that can be sliced."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from kernelet.kernels.numerics.arrays import FloatArray, IndexArray

# Numbers in a block: 32 MB of doubles, so large that reading it takes longer than the call, and
# small beside what machines have.
_BLOCK = 4_000_000


class BlockRows:
    """Rows of a two-dimensional array that is never in memory as a whole.

    Solvers see all rows through products, a block at a time, and hold the rows of a working set
    only. Sums are over doubles, whatever the array holds.

    Parameters
    ----------
    array : array of shape (n, m)
        A `numpy.memmap`, or anything with a shape that gives rows for a slice and for a sorted
        array of indices.
    block_rows : int, default=None
        Rows of a block; by default as many as 32 MB hold.

    Examples
    --------
    >>> from kernelet.solvers import hinge_lasso
    >>> Phi = np.array([[0.0], [1.0], [3.0], [4.0]], dtype=np.float32)
    >>> hinge_lasso(BlockRows(Phi, block_rows=3), [-1, -1, 1, 1], C=10.0).weights
    array([1.])
    """

    def __init__(self, array: Any, block_rows: int | None = None) -> None:
        if len(array.shape) != 2:
            raise ValueError(f"array must be two-dimensional, got shape {array.shape}.")
        self.array = array
        least = max(1, _BLOCK // max(1, int(array.shape[1])))
        self.block_rows = least if block_rows is None else block_rows
        if self.block_rows < 1:
            raise ValueError(f"block_rows must be at least 1, got {block_rows}.")
        for start, stop in self._bounds():
            if not np.isfinite(array[start:stop]).all():
                raise ValueError("the rows contain NaN or infinity; clean the features first.")

    @property
    def shape(self) -> tuple[int, int]:
        n, m = self.array.shape
        return int(n), int(m)

    def _bounds(self) -> Iterator[tuple[int, int]]:
        n = int(self.array.shape[0])
        for start in range(0, n, self.block_rows):
            yield start, min(start + self.block_rows, n)

    def _block(self, start: int, stop: int) -> FloatArray:
        return np.asarray(self.array[start:stop], dtype=np.float64)

    def scores(self, weights: FloatArray) -> FloatArray:
        scores = np.empty((self.shape[0], *weights.shape[1:]))
        for start, stop in self._bounds():
            scores[start:stop] = self._block(start, stop) @ weights
        return scores

    def take(self, index: IndexArray) -> FloatArray:
        order = np.argsort(index, kind="stable")
        rows = np.empty((index.size, self.shape[1]))
        rows[order] = self.array[index[order]]
        return rows

    def take_all(self) -> FloatArray:
        return self._block(0, self.shape[0])

    def weighted_sum(self, row_weights: FloatArray) -> FloatArray:
        total = np.zeros((self.shape[1], *row_weights.shape[1:]))
        for start, stop in self._bounds():
            total += self._block(start, stop).T @ row_weights[start:stop]
        return total

    def weighted_gram(self, row_weights: FloatArray) -> FloatArray:
        total = np.zeros((self.shape[1], self.shape[1]))
        for start, stop in self._bounds():
            block = self._block(start, stop)
            total += block.T @ (row_weights[start:stop, None] * block)
        return total
