"""The only way solvers see the rows of a feature matrix.

A solver needs four things of the n rows of Phi: their scores for given weights, the rows of a
working set, and two sums. Whoever can answer these (an array, blocks on disk, a cluster) can be
solved over.
"""

from __future__ import annotations

from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import ArrayLike

from kernelet.kernels.numerics.arrays import FloatArray, IndexArray


@runtime_checkable
class Rows(Protocol):
    """Rows phi_1 ... phi_n of a feature matrix Phi with m columns."""

    @property
    def shape(self) -> tuple[int, int]:
        """(n, m)."""
        ...

    def scores(self, weights: FloatArray) -> FloatArray:
        """Phi @ weights, for weights of shape (m,) or (m, k)."""
        ...

    def take(self, index: IndexArray) -> FloatArray:
        """The rows of a working set as an array of shape (len(index), m)."""
        ...

    def take_all(self) -> FloatArray:
        """All rows, for problems small enough to be solved at once."""
        ...

    def weighted_sum(self, row_weights: FloatArray) -> FloatArray:
        """Phi.T @ row_weights, for row_weights of shape (n,) or (n, k)."""
        ...

    def weighted_gram(self, row_weights: FloatArray) -> FloatArray:
        """Phi.T @ diag(row_weights) @ Phi."""
        ...


class ArrayRows:
    """Rows held in memory."""

    def __init__(self, Phi: ArrayLike) -> None:
        array = np.ascontiguousarray(Phi, dtype=np.float64)
        if array.ndim != 2:
            raise ValueError(f"Phi must be two-dimensional, got shape {array.shape}.")
        if not np.isfinite(array).all():
            raise ValueError("Phi contains NaN or infinity; clean the features first.")
        self.array = array

    @property
    def shape(self) -> tuple[int, int]:
        n, m = self.array.shape
        return n, m

    def scores(self, weights: FloatArray) -> FloatArray:
        product: FloatArray = self.array @ weights
        return product

    def take(self, index: IndexArray) -> FloatArray:
        rows: FloatArray = self.array[index]
        return rows

    def take_all(self) -> FloatArray:
        return self.array

    def weighted_sum(self, row_weights: FloatArray) -> FloatArray:
        total: FloatArray = self.array.T @ row_weights
        return total

    def weighted_gram(self, row_weights: FloatArray) -> FloatArray:
        gram: FloatArray = self.array.T @ (row_weights[:, None] * self.array)
        return gram


def as_rows(Phi: ArrayLike | Rows) -> Rows:
    """Arrays become `ArrayRows`; anything that already answers as rows is left as it is."""
    # asking an array for the methods of Rows takes longer than a small problem
    if isinstance(Phi, np.ndarray):
        return ArrayRows(Phi)
    return Phi if isinstance(Phi, Rows) else ArrayRows(Phi)
