"""A random sample of the rows of a search, in memory, that grows.

Most steps of a search need few rows. So it sees them as a random sample whose costs stand for all
rows, and needs all of them only for the convex problem at its end.
"""

from __future__ import annotations

from typing import Protocol

import numpy as np
from scipy import sparse

from kernelet.kernels.numerics.arrays import FloatArray, Rows, dense, is_sparse
from kernelet.learners.base.out_of_core import OutOfCoreData
from kernelet.learners.base.training_kernel import without_rounding
from kernelet.learners.direct.search.inner_problem import (
    BlockProblem,
    InnerSolution,
    SearchProblem,
    SmoothProblem,
    Start,
)
from kernelet.learners.direct.search.objective import Evaluation
from kernelet.rows import Block
from kernelet.rows.nested_samples import NestedSamples
from kernelet.subspace import WhitenedMap

# A sample of more than this share of the rows is not worth it: all are taken. It would save at most
# a quarter of the time of a step, and the steps on all rows come on top.
_LARGEST_SAMPLE = 0.75
# Numbers that a search on a sample of out-of-core rows may hold: 1 GB in single precision. Of each
# row these are its features and their squares, and about six arrays each of m kernel values and of
# k scores, as measured. At 20 columns, 20 vectors and two classes these are 1.4 million rows.
_MOST_NUMBERS = 250_000_000
_ARRAYS = 6


class GrowingSample(Protocol):
    """A random sample of the rows, in memory, that grows.

    Attributes
    ----------
    n_rows : int
        All rows that count.
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

    def take(self, n: int) -> Rows:
        """The rows that are missing for a sample of about ``n``, in random order."""
        ...

    def problem(self, n: int) -> SmoothProblem:
        """The inner problem over the first ``n`` rows taken, whose costs stand for all rows."""
        ...

    def at_hand(self) -> tuple[Rows, SmoothProblem]:
        """Rows that judge a kernel when the search has ended, and the inner problem over them."""
        ...

    def solve(self, space: WhitenedMap, start: Start | None) -> InnerSolution:
        """The inner problem over all rows, in double precision and with a certificate."""
        ...


def smooth_of(problem: SearchProblem) -> SmoothProblem:
    """The problem itself, which only a smooth one is asked for."""
    assert problem.smooth is not None
    return problem.smooth


def first_size(rows: GrowingSample, n: int) -> int:
    """The size of the sample that a search begins on, if n rows would do."""
    n = max(n, rows.n_least)
    return min(n if n <= _LARGEST_SAMPLE * rows.n_rows else rows.n_rows, rows.n_most)


def next_size(rows: GrowingSample, n: int, all_rows: bool) -> int:
    """The size of the sample that follows one of n rows, or the largest; n where that is it."""
    return first_size(rows, rows.n_rows if all_rows else 2 * n)


def extent_of(X: Rows) -> FloatArray:
    """How far the values of each column reach; see `GrowingSample`."""
    ends = [np.asarray(dense(end), dtype=np.float64) for end in (X.min(axis=0), X.max(axis=0))]
    extent: FloatArray = np.abs(ends).max(axis=0) if is_sparse(X) else ends[1] - ends[0]
    return extent.ravel()


def stacked(above: Rows, below: Rows) -> Rows:
    """Rows, arrays or CSR, below others of their kind."""
    if is_sparse(above):
        return sparse.vstack([above, below], format="csr")
    return np.concatenate([above, below])


def proven(rows: GrowingSample, at: Evaluation) -> Evaluation:
    """W at the same vectors on all rows, in double precision, with a certificate."""
    space = WhitenedMap.from_vectors(at.kernel, at.vectors)
    start = space.weights(at.coefficients), at.intercepts
    return Evaluation.of(space, rows.solve(space, start), at.gradient)


class SampleInMemory:
    """Rows in memory, of which a sample is the beginning of a permutation.

    Parameters
    ----------
    X : array or CSR of shape (n, d)
    problem : SmoothProblem
        Over all rows.
    seed : int
        Draws the permutation.
    """

    def __init__(self, X: Rows, problem: SmoothProblem, seed: int) -> None:
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

    def take(self, n: int) -> Rows:
        start, self._n_taken = self._n_taken, max(n, self._n_taken)
        return self.X[self._order[start : self._n_taken]]

    def problem(self, n: int) -> SmoothProblem:
        return self.whole.subset(self._order[:n], self.n_rows / n)

    def at_hand(self) -> tuple[Rows, SmoothProblem]:
        return self.X, self.whole

    def solve(self, space: WhitenedMap, start: Start | None) -> InnerSolution:
        return self.whole.solve(space.features(self.X), start)


class SampleOutOfCore:
    """A sample of rows in files or on Dask, which grows by a pass; see `GrowingSample`.

    Parameters
    ----------
    data : OutOfCoreData
        Whose sample is the one that a search begins on.
    problem : BlockProblem
        Over all rows; smooth.
    seed : int
        Draws the rows by which the sample grows.
    n_vectors : int
    """

    def __init__(
        self, data: OutOfCoreData, problem: BlockProblem, seed: int, n_vectors: int
    ) -> None:
        self.data, self.whole = data, problem
        first = data.sample
        self._nested = NestedSamples(data.rows, first, seed)
        self._rng = np.random.default_rng(seed)
        self._codes = np.empty(0, dtype=np.intp)
        self._weights = np.empty(0)
        self.n_rows = self._nested.n_rows
        self.n_least = first.represents.size
        n_numbers = 2 * data.rows.n_features + _ARRAYS * (n_vectors + data.n_classes)
        self.n_most = min(self.n_rows, max(self.n_least, _MOST_NUMBERS // n_numbers))
        self.is_sparse = is_sparse(first.block.X)
        self.centre: FloatArray = np.zeros(data.rows.n_features)
        self.spread: FloatArray = np.zeros(data.rows.n_features)
        if not self.is_sparse:
            self.centre, self.spread = data.centre, data.spread
        self.extent = extent_of(first.block.X)

    def take(self, n: int) -> Rows:
        first = self.data.sample.block
        missing = [] if self._codes.size else [first]
        more = self._nested.grow(n)
        if more is not None:
            missing.append(more)
        # rows come back in their order; in a random one, any first of them stand for all
        block = Block.joined(
            [part.take(self._rng.permutation(part.codes.size)) for part in missing]
            or [first.take(np.empty(0, dtype=np.intp))]
        )
        self._codes = np.concatenate([self._codes, block.codes])
        self._weights = np.concatenate([self._weights, block.weights])
        return block.X

    def problem(self, n: int) -> SmoothProblem:
        codes = self._codes[:n]
        counts = self.data.rows.class_counts
        represents = counts / np.maximum(1, np.bincount(codes, minlength=counts.size))
        return smooth_of(self.whole.over(codes, self._weights[:n] * represents[codes]))

    def at_hand(self) -> tuple[Rows, SmoothProblem]:
        sample = self.data.sample
        return sample.block.X, smooth_of(self.whole.over(sample.block.codes, sample.weights))

    def solve(self, space: WhitenedMap, start: Start | None) -> InnerSolution:
        solution = self.whole.solve(self.data.rows, self.data.sample, space, start)
        assert isinstance(solution, InnerSolution)
        return solution
