"""Rows with classes, in blocks of a fixed length: sums over them, and a sample of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import reduce
from operator import add
from typing import Any, Protocol, Self, TypeVar

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from kernelet.kernels.numerics.arrays import FloatArray, IndexArray
from kernelet.rows.block import Block
from kernelet.rows.pieces import Piece, Pieces

# Rows that are worked on at once: the kernel values of a block with a few hundred vectors take some
# tens of MB. Sums are over such blocks, in the order of the rows, so that another size would change
# their last digits.
BLOCK_ROWS = 8192
# Rows that a sample has of each class at least, so that one that is rare is not left out.
_FEWEST = 100


class Addable(Protocol):
    """What blocks are asked for can be added."""

    def __add__(self, other: Self, /) -> Self: ...


S = TypeVar("S", bound=Addable)


@dataclass(frozen=True, eq=False)
class Sample:
    """Rows drawn at random, in their order; all of them where there are few.

    Attributes
    ----------
    block : Block
    represents : ndarray of shape (n,)
        For how many rows of its class each stands.
    places : sequence of ndarray
        Which rows of each class these are, where a larger sample may be drawn.
    """

    block: Block
    represents: FloatArray
    places: Sequence[IndexArray] = ()

    def every(self, step: int) -> Sample:
        """Every step-th row, which then stands for as many more."""
        if step <= 1:
            return self
        chosen = np.arange(0, self.represents.size, step)
        return Sample(self.block.take(chosen), step * self.represents[chosen])

    @property
    def weights(self) -> FloatArray:
        """Weights with which the sample stands for all rows."""
        weights: FloatArray = self.block.weights * self.represents
        return weights


@dataclass(frozen=True, eq=False)
class LabelledBlocks:
    """Rows in pieces, whose classes are known from a pass over them.

    Rows of weight zero are skipped.

    Attributes
    ----------
    pieces : Pieces
    classes : ndarray of shape (k,)
        Labels, sorted.
    factors : ndarray of shape (k,)
        Weights of the classes.
    lengths : ndarray of shape (n_pieces,)
        Rows of each piece.
    counts : ndarray of shape (n_pieces, k)
        Rows of a positive weight.
    n_features : int
    """

    pieces: Pieces
    classes: NDArray[Any]
    factors: FloatArray
    lengths: IndexArray
    counts: IndexArray
    n_features: int

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""
        return int(self.lengths.sum()), self.n_features

    @property
    def n_blocks(self) -> int:
        """Blocks in all pieces."""
        return int(np.sum(-(-self.lengths // BLOCK_ROWS)))

    def total(self, function: Callable[[Block], S], name: str, single: bool = False) -> S:
        """The sum of a function over all blocks.

        The function is sent to the rows, so it must be picklable; `name` is what Dask's dashboard
        shows. With `single`, rows of single precision are left as they are.
        """
        starts = np.cumsum(self.lengths) - self.lengths
        pass_ = _Pass(function, self.classes, self.factors, starts, single)
        whole: S = reduce(add, self.pieces.map(pass_, f"kernelet_{name}"))
        return whole

    @property
    def class_counts(self) -> IndexArray:
        """Rows of each class that count: of a positive weight, of a class that has one."""
        counts: IndexArray = self._present.sum(axis=0)
        return counts

    @property
    def _present(self) -> IndexArray:
        return np.where(self.factors > 0.0, self.counts, 0)

    def sample(self, size: int, seed: int) -> Sample:
        """About ``size`` rows, of each class in proportion but at least a hundred, at random.

        Which rows these are depends on the order of the rows, and not on the pieces.
        """
        rng = np.random.default_rng(seed)
        places = [
            np.sort(rng.choice(count, n_drawn, replace=False, shuffle=False)).astype(np.intp)
            for count, n_drawn in zip(
                self.class_counts.tolist(), self.shares(size).tolist(), strict=True
            )
        ]
        block = self.fetch(places)
        n_drawn = np.array([mine.size for mine in places])
        represents = self.class_counts / np.maximum(1, n_drawn)
        return Sample(block, represents[block.codes], places)

    def shares(self, size: int) -> IndexArray:
        """How many rows of each class are in a sample of about this size."""
        counts = self.class_counts
        if size >= counts.sum():
            return counts
        proportional = np.round(size / counts.sum() * counts).astype(np.intp)
        shares: IndexArray = np.minimum(counts, np.maximum(_FEWEST, proportional))
        return shares

    def fetch(self, places: Sequence[IndexArray]) -> Block:
        """The rows at sorted places among those of their class, in the order of the rows."""
        present = self._present
        before = np.cumsum(present, axis=0) - present
        wanted = [
            [
                mine[slice(*np.searchsorted(mine, [first, first + n]))] - first
                for mine, first, n in zip(places, before[number], present[number], strict=True)
            ]
            for number in range(self.pieces.n_pieces)
        ]
        starts = np.cumsum(self.lengths) - self.lengths
        drawing = _Draw(wanted, self.classes, self.factors, starts)
        return Block.joined(list(self.pieces.map(drawing, "kernelet_sample")))


def coded(
    piece: Piece, classes: NDArray[Any], factors: FloatArray
) -> tuple[IndexArray, FloatArray]:
    """Classes and weights of the rows of a piece."""
    if classes.size == 1:
        codes = np.zeros(piece.X.shape[0], dtype=np.intp)
    elif classes.size == 2:
        codes = (piece.y == classes[1]).astype(np.intp)
    else:
        codes = np.searchsorted(classes, np.asarray(piece.y))
    weights: FloatArray = factors[codes]
    if piece.weights is not None:
        weights = weights * piece.weights
    return codes, weights


def blocks_of(
    piece: Piece, start: int, classes: NDArray[Any], factors: FloatArray, single: bool = False
) -> Iterator[Block]:
    """The rows of a piece that have a weight, a block at a time; one block if there are none."""
    codes, weights = coded(piece, classes, factors)
    for first in range(0, max(1, codes.size), BLOCK_ROWS):
        part = slice(first, min(first + BLOCK_ROWS, codes.size))
        rows = piece.X[part]
        index = np.arange(start + part.start, start + part.stop)
        block = Block(index, _array(rows, single), codes[part], weights[part])
        yield block if block.weights.all() else block.take(np.flatnonzero(block.weights))


def _array(rows: Any, single: bool = False) -> Any:
    """Rows in memory, in double precision or as they are if that is single and good enough."""
    dtype = np.float32 if single and rows.dtype == np.float32 else np.float64
    if sparse.issparse(rows):
        return rows.astype(dtype)
    return np.ascontiguousarray(rows, dtype=dtype)


@dataclass(frozen=True, eq=False)
class _Pass:
    """The sum over the blocks of a piece."""

    function: Callable[[Block], Any]
    classes: NDArray[Any]
    factors: FloatArray
    starts: IndexArray
    single: bool

    def __call__(self, number: int, piece: Piece) -> Any:
        start = int(self.starts[number])
        blocks = blocks_of(piece, start, self.classes, self.factors, self.single)
        return reduce(add, (self.function(block) for block in blocks))


@dataclass(frozen=True, eq=False)
class _Draw:
    """The rows of a piece that are at given places among those of their class."""

    wanted: list[list[IndexArray]]
    classes: NDArray[Any]
    factors: FloatArray
    starts: IndexArray

    def __call__(self, number: int, piece: Piece) -> Block:
        codes, weights = coded(piece, self.classes, self.factors)
        rows = [
            np.flatnonzero((codes == code) & (weights > 0.0))[places]
            for code, places in enumerate(self.wanted[number])
        ]
        chosen = np.sort(np.concatenate(rows))
        index = chosen + int(self.starts[number])
        return Block(index, _array(piece.X[chosen]), codes[chosen], weights[chosen])
