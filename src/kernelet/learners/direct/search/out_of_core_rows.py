"""Out-of-core rows for a search over vectors: a sample in memory, and sums over all of them."""

from __future__ import annotations

from typing import Any

import numpy as np

from kernelet.kernels.numerics.arrays import is_sparse
from kernelet.learners.base.out_of_core import OutOfCoreData
from kernelet.learners.direct.search.objective import FloatArray, InnerSolution, Start
from kernelet.learners.direct.search.rows import extent_of
from kernelet.rows import Block
from kernelet.rows.nested_samples import NestedSamples
from kernelet.subspace import WhitenedMap

# Numbers that a search on a sample may hold: 1 GB in single precision. Of each row these are its
# features and their squares, and about six arrays each of m kernel values and of k scores, as
# measured. At 20 columns, 20 vectors and two classes these are 1.4 million rows.
_MOST_NUMBERS = 250_000_000
_ARRAYS = 6


class RowsOutOfCore:
    """Rows in files or on Dask; see `SearchRows`.

    Parameters
    ----------
    data : OutOfCoreData
        Whose sample is the one that a search begins on.
    problem : smooth block problem
        Over all rows.
    seed : int
        Draws the rows by which the sample grows.
    n_vectors : int
    """

    def __init__(self, data: OutOfCoreData, problem: Any, seed: int, n_vectors: int) -> None:
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

    def take(self, n: int) -> Any:
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

    def problem(self, n: int) -> Any:
        codes = self._codes[:n]
        counts = self.data.rows.class_counts
        represents = counts / np.maximum(1, np.bincount(codes, minlength=counts.size))
        return self.whole.over(codes, self._weights[:n] * represents[codes])

    def at_hand(self) -> tuple[Any, Any]:
        sample = self.data.sample
        return sample.block.X, self.whole.over(sample.block.codes, sample.weights)

    def solve(self, space: WhitenedMap, start: Start | None) -> InnerSolution:
        solution: InnerSolution = self.whole.solve(self.data.rows, self.data.sample, space, start)
        return solution
