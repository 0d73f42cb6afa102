"""Rows with classes and weights that a core set grows from, in memory or out of core.

A core set needs two things of the rows: a few at random, and a look at all of them once in a while,
a block at a time. So they need not be in memory.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol, TypeVar

import numpy as np

from kernelet.kernels.numerics.arrays import FloatArray, IndexArray, RowMatrix
from kernelet.rows import Block, LabelledBlocks
from kernelet.rows.labelled import Addable, Sample

S = TypeVar("S", bound=Addable)


class LabelledRows(Protocol):
    """Rows to draw from and to go through; those of weight zero are skipped."""

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""
        ...

    @property
    def n_blocks(self) -> int:
        """In how many blocks they are gone through."""
        ...

    def draw(self, rng: np.random.RandomState, size: int) -> Block:
        """Rows at random, with repetition."""
        ...

    def total(self, function: Callable[[Block], S], name: str) -> S:
        """The sum of a function of a block over the blocks of all rows, in their order."""
        ...

    def whole(self) -> Block | None:
        """All of them, where they are in memory."""
        ...

    def first_of_each_class(self) -> Block:
        """A row of each class that has any."""
        ...

    def at_hand(self) -> LabelledRows | None:
        """Some of them in memory, where not all are."""
        ...


class TableRows:
    """Rows of an array or CSR matrix in memory, as one block.

    Parameters
    ----------
    X : array or CSR of shape (n, d)
    codes : ndarray of shape (n,)
        Classes.
    weights : ndarray of shape (n,)
    index : ndarray of shape (n,) or None, default=None
        Which rows they are, in ascending order; None is from 0 on.
    """

    n_blocks = 1

    def __init__(
        self, X: RowMatrix, codes: IndexArray, weights: FloatArray, index: IndexArray | None = None
    ) -> None:
        self._all = Block(np.arange(codes.size) if index is None else index, X, codes, weights)
        self._counted = weights.all()

    @property
    def shape(self) -> tuple[int, int]:
        n, d = self._all.X.shape
        return int(n), int(d)

    def draw(self, rng: np.random.RandomState, size: int) -> Block:
        drawn = self._all.take(rng.randint(self.shape[0], size=size).astype(np.intp))
        return drawn if drawn.weights.all() else drawn.take(np.flatnonzero(drawn.weights))

    def whole(self) -> Block:
        return self._all if self._counted else self._all.take(np.flatnonzero(self._all.weights))

    def total(self, function: Callable[[Block], S], name: str) -> S:
        return function(self.whole())

    def first_of_each_class(self) -> Block:
        return self.whole().first_of_each_class()

    def at_hand(self) -> None:
        return None


class OutOfCoreLabelledRows:
    """Out-of-core rows, with a sample of them in memory.

    Parameters
    ----------
    blocks : LabelledBlocks
    sample : Sample
        What is drawn comes from it.
    """

    def __init__(self, blocks: LabelledBlocks, sample: Sample) -> None:
        self._blocks, self._sample = blocks, sample.block
        self._bounds = np.cumsum(sample.represents)

    @property
    def shape(self) -> tuple[int, int]:
        return self._blocks.shape

    @property
    def n_blocks(self) -> int:
        return self._blocks.n_blocks

    def draw(self, rng: np.random.RandomState, size: int) -> Block:
        # as if from all rows: each of the sample is as probable as the rows it represents
        drawn = rng.uniform(high=self._bounds[-1], size=size)
        return self._sample.take(np.searchsorted(self._bounds, drawn, side="right"))

    def total(self, function: Callable[[Block], S], name: str) -> S:
        # float32 rows are not worth the time of doubles
        return self._blocks.total(function, name, single=True)

    def whole(self) -> None:
        return None

    def first_of_each_class(self) -> Block:
        return self._sample.first_of_each_class()

    def at_hand(self) -> TableRows:
        rows = self._sample
        return TableRows(rows.X, rows.codes, rows.weights, rows.index)
