"""The rows of a search over vectors, wherever they are: a random sample in memory that grows.

Most steps of a search need few rows. So it sees them as a sample, whose costs stand for all rows,
and needs all of them only for the convex problem at its end.
"""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np

from kernelet.kernels.numerics.arrays import dense, is_sparse
from kernelet.learners.base.weights import without_rounding
from kernelet.learners.direct.search.objective import FloatArray, InnerSolution, Start
from kernelet.subspace import WhitenedMap

# A sample of more than this share of the rows is not worth it: all are taken.
_LARGEST_SAMPLE = 0.75


class SearchRows(Protocol):
    """All rows with their inner problem, and a sample of them.

    Attributes
    ----------
    n_rows : int
        All that count.
    n_least, n_most : int
        The fewest that a search may begin on, and the most that can be in memory.
    is_sparse : bool
    centre, spread : ndarray of shape (d,)
        Means and standard deviations of the columns, over all rows; 0 for CSR rows, which are not
        centred.
    extent : ndarray of shape (d,)
        How far the values of each column reach: from the smallest to the largest, or from 0 for CSR
        rows; of out-of-core rows, in the first sample.
    """

    n_rows: int
    n_least: int
    n_most: int
    is_sparse: bool
    centre: FloatArray
    spread: FloatArray
    extent: FloatArray

    def take(self, n: int) -> Any:
        """The rows that are missing for a sample of about ``n``, in random order."""
        ...

    def problem(self, n: int) -> Any:
        """The inner problem over the first ``n`` rows taken, whose costs stand for all rows."""
        ...

    def at_hand(self) -> tuple[Any, Any]:
        """Rows that judge a kernel when the search has ended, and the inner problem over them."""
        ...

    def solve(self, space: WhitenedMap, start: Start | None) -> InnerSolution:
        """The inner problem over all rows, in double precision and with a certificate."""
        ...


def first_size(rows: SearchRows, n: int) -> int:
    """The size of the sample that a search begins on, if n rows would do."""
    n = max(n, rows.n_least)
    return min(n if n <= _LARGEST_SAMPLE * rows.n_rows else rows.n_rows, rows.n_most)


def next_size(rows: SearchRows, n: int, all_rows: bool) -> int:
    """The size of the sample that follows one of n rows, or the largest; n where that is it."""
    return first_size(rows, rows.n_rows if all_rows else 2 * n)


def extent_of(X: Any) -> FloatArray:
    """How far the values of each column reach; see `SearchRows`."""
    ends = [np.asarray(dense(end), dtype=np.float64) for end in (X.min(axis=0), X.max(axis=0))]
    extent: FloatArray = np.abs(ends).max(axis=0) if is_sparse(X) else ends[1] - ends[0]
    return extent.ravel()


class RowsInMemory:
    """Rows in memory, of which a sample is the beginning of a permutation.

    Parameters
    ----------
    X : array or CSR of shape (n, d)
    problem : SmoothProblem
        Over all rows.
    seed : int
        Draws the permutation.
    """

    def __init__(self, X: Any, problem: Any, seed: int) -> None:
        self.X, self.whole = X, problem
        self.n_rows = self.n_most = int(X.shape[0])
        # what is no sum over rows is not known from a sample
        self.n_least = 0 if problem.is_sum else self.n_rows
        self.is_sparse = is_sparse(X)
        self.centre = self.spread = np.zeros(X.shape[1])
        if not self.is_sparse:
            self.centre = X.mean(axis=0, dtype=np.float64)
            self.spread = without_rounding(self.centre, X.std(axis=0, dtype=np.float64))
        self.extent = extent_of(X)
        self._order = np.random.default_rng(seed).permutation(self.n_rows)
        self._n_taken = 0

    def take(self, n: int) -> Any:
        start, self._n_taken = self._n_taken, max(n, self._n_taken)
        return self.X[self._order[start : self._n_taken]]

    def problem(self, n: int) -> Any:
        return self.whole.subset(self._order[:n], self.n_rows / n)

    def at_hand(self) -> tuple[Any, Any]:
        return self.X, self.whole

    def solve(self, space: WhitenedMap, start: Start | None) -> InnerSolution:
        solution: InnerSolution = self.whole.solve(space.features(self.X), start)
        return solution
