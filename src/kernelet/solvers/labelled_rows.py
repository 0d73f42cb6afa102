"""Rows with classes and weights that a core set grows from: an array, a file, or batches.

A core set needs two things of the rows: a few at random, and all of them once in a while, a block
at a time. So they need not be in memory.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from kernelet.solvers.solution import FloatArray

IndexArray = NDArray[np.intp]

# Numbers in a block that is read from a file: 32 MB of doubles.
_BLOCK = 4_000_000
# Rows that are kept of a stream, to draw from.
_RESERVOIR = 20_000


@dataclass(frozen=True, eq=False)
class Block:
    """Some of the rows.

    Attributes
    ----------
    index : ndarray of shape (n,)
        Which rows they are.
    X : ndarray or CSR of shape (n, d)
    codes : ndarray of shape (n,)
        Classes.
    weights : ndarray of shape (n,)
    """

    index: IndexArray
    X: Any
    codes: IndexArray
    weights: FloatArray

    def take(self, chosen: IndexArray) -> Block:
        """Some of these."""
        return Block(self.index[chosen], self.X[chosen], self.codes[chosen], self.weights[chosen])

    def and_more(self, other: Block) -> Block:
        """These and others."""
        is_sparse = sparse.issparse(self.X)
        stacked = sparse.vstack([self.X, other.X], format="csr") if is_sparse else None
        return Block(
            np.append(self.index, other.index),
            np.vstack([self.X, other.X]) if stacked is None else stacked,
            np.append(self.codes, other.codes),
            np.append(self.weights, other.weights),
        )


class LabelledRows(Protocol):
    """Rows that can be drawn from and gone through."""

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""
        ...

    @property
    def is_in_memory(self) -> bool:
        """Whether a number for each row may be kept."""
        ...

    def draw(self, rng: np.random.RandomState, size: int) -> Block:
        """Rows at random, with repetition."""
        ...

    def blocks(self) -> Iterator[Block]:
        """All rows, in their order."""
        ...

    def first_of_each_class(self) -> Block:
        """A row of each class that has any."""
        ...


class TableRows:
    """Rows of an array or CSR matrix in memory, or of a `numpy.memmap` that stays on disk.

    Rows of weight zero are never drawn or seen.

    Parameters
    ----------
    X : array or CSR of shape (n, d)
    codes : callable
        Takes an index array or a slice to the classes of these rows.
    weights : callable
        Takes an index array or a slice, and their classes, to weights.
    firsts : ndarray of int
        A row of each class.
    """

    def __init__(
        self,
        X: Any,
        codes: Callable[[Any], IndexArray],
        weights: Callable[[Any, IndexArray], FloatArray],
        firsts: IndexArray,
    ) -> None:
        self._X, self._codes, self._weights, self._firsts = X, codes, weights, firsts

    @classmethod
    def of_arrays(cls, X: Any, codes: IndexArray, weights: FloatArray) -> TableRows:
        """Rows whose classes and weights are arrays."""
        counted = np.flatnonzero(weights)
        firsts = counted[np.unique(codes[counted], return_index=True)[1]]
        return cls(X, lambda at: codes[at], lambda at, _: weights[at], firsts)

    @property
    def shape(self) -> tuple[int, int]:
        n, d = self._X.shape
        return int(n), int(d)

    @property
    def is_in_memory(self) -> bool:
        return not isinstance(self._X, np.memmap)

    def _at(self, index: IndexArray) -> Block:
        codes = self._codes(index)
        return Block(
            index,
            np.asarray(self._X[index]) if self._is_dense else self._X[index],
            codes,
            self._weights(index, codes),
        )

    @property
    def _is_dense(self) -> bool:
        return not sparse.issparse(self._X)

    def draw(self, rng: np.random.RandomState, size: int) -> Block:
        drawn = self._at(rng.randint(self.shape[0], size=size).astype(np.intp))
        return drawn if drawn.weights.all() else drawn.take(np.flatnonzero(drawn.weights))

    def blocks(self) -> Iterator[Block]:
        n, d = self.shape
        length = n if self.is_in_memory else max(1, _BLOCK // max(1, d))
        for start in range(0, n, length):
            part = slice(start, min(start + length, n))
            codes = self._codes(part)
            weights = self._weights(part, codes)
            index = np.arange(part.start, part.stop)
            rows = self._X[part]
            block = Block(index, np.asarray(rows) if self._is_dense else rows, codes, weights)
            yield block if weights.all() else block.take(np.flatnonzero(weights))

    def first_of_each_class(self) -> Block:
        return self._at(self._firsts)


class StreamRows:
    """Rows that come in batches, again from the start as often as they are asked for.

    Parameters
    ----------
    batches : callable
        Gives an iterator of (X, codes, weights).
    shape : tuple of int
        Rows and columns in all.
    rng : RandomState
        Chooses the rows that are kept, to draw from.
    """

    is_in_memory = False

    def __init__(
        self,
        batches: Callable[[], Iterable[tuple[Any, IndexArray, FloatArray]]],
        shape: tuple[int, int],
        rng: np.random.RandomState,
    ) -> None:
        self._batches, self.shape = batches, shape
        self._kept, self._firsts = self._read(rng)

    def _read(self, rng: np.random.RandomState) -> tuple[Block, Block]:
        """A random sample and a row of each class, in one pass."""
        keys, kept, firsts = np.empty(0), None, None
        for block in self.blocks():
            drawn = np.append(keys, rng.uniform(size=block.codes.size))
            chosen = np.sort(np.argsort(drawn, kind="stable")[:_RESERVOIR])
            both = block if kept is None else kept.and_more(block)
            kept, keys = both.take(chosen), drawn[chosen]
            seen = block if firsts is None else firsts.and_more(block)
            firsts = seen.take(np.unique(seen.codes, return_index=True)[1].astype(np.intp))
        if kept is None or firsts is None:
            raise ValueError("batches hold no rows of a positive weight.")
        return kept, firsts

    def draw(self, rng: np.random.RandomState, size: int) -> Block:
        return self._kept.take(rng.randint(self._kept.codes.size, size=size).astype(np.intp))

    def blocks(self) -> Iterator[Block]:
        start = 0
        for X, codes, weights in self._batches():
            index = np.arange(start, start + codes.size)
            start += codes.size
            if start > self.shape[0]:
                break
            block = Block(index, X, codes, weights)
            yield block if weights.all() else block.take(np.flatnonzero(weights))
        if start != self.shape[0]:
            raise ValueError("batches changed between two readings.")

    def first_of_each_class(self) -> Block:
        return self._firsts
