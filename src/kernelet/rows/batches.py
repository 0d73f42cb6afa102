"""Batches of rows that come one after the other and can be read again from the start."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import Any, TypeVar

from kernelet.kernels.numerics.blocks import available_threads, one_blas_thread
from kernelet.rows.opening import names_of, piece_of
from kernelet.rows.pieces import PieceTask, in_threads

R = TypeVar("R")


class BatchPieces:
    """Batches as pieces, of which a few at a time are in memory.

    Parameters
    ----------
    batches : iterable of (X, y)
        Rows and labels, the same each time it is read. How many there are is known after that.

    Raises
    ------
    ValueError
        If they can be read once only, or, when they are read, if there are none or they have
        changed.

    Examples
    --------
    >>> import numpy as np
    >>> pieces = BatchPieces([(np.ones((3, 2)), [0, 1, 1]), (np.zeros((1, 2)), [0])])
    >>> list(pieces.map(lambda number, piece: piece.X.shape, "shape"))
    [(3, 2), (1, 2)]
    """

    feature_names: Sequence[str] | None = None

    def __init__(self, batches: Iterable[tuple[Any, Any]]) -> None:
        if iter(batches) is batches:
            raise ValueError(
                "batches are read several times, and this iterator can be read once only; give a "
                "list, or an object whose __iter__ starts again."
            )
        self._batches = batches
        self._lengths: list[int] | None = None
        self.n_pieces = 0

    def described(self, number: int) -> str:
        return f"batch {number}"

    def map(self, task: PieceTask[R], name: str) -> Iterator[R]:
        with one_blas_thread():
            yield from in_threads(self._calls(task), available_threads())

    def _calls(self, task: PieceTask[R]) -> Iterator[Callable[[], R]]:
        lengths: list[int] = []
        for number, (X, y) in enumerate(self._batches):
            if number == 0:
                self.feature_names = names_of(X)
            piece = piece_of(X, y)
            lengths.append(piece.X.shape[0] if piece.X.ndim else 0)
            if self._lengths is not None and lengths != self._lengths[: number + 1]:
                raise ValueError(_CHANGED)
            yield partial(task, number, piece)
        if not lengths:
            raise ValueError("batches hold no rows.")
        if self._lengths is not None and lengths != self._lengths:
            raise ValueError(_CHANGED)
        self._lengths, self.n_pieces = lengths, len(lengths)


_CHANGED = "batches changed between two readings; they must be the same each time."
