"""Pieces of the rows, on this machine or on Dask's workers.

A pass over the rows is a function of one piece. Its results come back in the order of the pieces,
whatever thread or worker was first, so that sums over them are the same to the last bit.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

from numpy.typing import NDArray

from kernelet.kernels.numerics.arrays import RowMatrix
from kernelet.kernels.numerics.blocks import available_threads, one_blas_thread
from kernelet.kernels.numerics.starting_threads import ctrl_c_waits

R = TypeVar("R")


@dataclass(frozen=True, eq=False)
class Piece:
    """Rows as they were given, with labels and weights where there are any."""

    X: RowMatrix
    y: NDArray[Any] | None = None
    weights: NDArray[Any] | None = None


# What a pass does with a piece, given its number.
PieceTask = Callable[[int, Piece], R]


class ClusterError(RuntimeError):
    """The workers that hold the rows are gone."""


class Pieces(Protocol):
    """All rows, in pieces."""

    n_pieces: int
    feature_names: Sequence[str] | None

    def map(self, task: PieceTask[R], name: str) -> Iterator[R]:
        """The results of a task for every piece, in order; a dashboard shows its name."""
        ...

    def described(self, number: int) -> str:
        """What to call a piece in an error message."""
        ...


class LocalPieces:
    """Pieces that are read when they are needed, a few at a time, by the threads of this process.

    Parameters
    ----------
    read : callable
        Takes the number of a piece to the `Piece`.
    n_pieces : int
    described : callable, default=None
        Takes the number of a piece to what it is called.
    feature_names : sequence of str, default=None
    """

    def __init__(
        self,
        read: Callable[[int], Piece],
        n_pieces: int,
        described: Callable[[int], str] | None = None,
        feature_names: Sequence[str] | None = None,
    ) -> None:
        self._read = read
        self.n_pieces = n_pieces
        self._described = described
        self.feature_names = feature_names

    def described(self, number: int) -> str:
        return f"block {number}" if self._described is None else self._described(number)

    def map(self, task: PieceTask[R], name: str) -> Iterator[R]:
        n_threads = min(available_threads(), self.n_pieces)
        with one_blas_thread():
            if n_threads <= 1:
                for number in range(self.n_pieces):
                    yield task(number, self._read(number))
                return
            calls = (lambda k=k: task(k, self._read(k)) for k in range(self.n_pieces))
            yield from in_threads(calls, n_threads)


def in_threads(calls: Iterable[Callable[[], R]], n_threads: int) -> Iterator[R]:
    """Results in the order of the calls, of which few are taken ahead, and so few are in memory."""
    waiting: deque[Future[R]] = deque()
    with ThreadPoolExecutor(n_threads) as pool:
        try:
            for call in calls:
                with ctrl_c_waits():
                    waiting.append(pool.submit(call))
                if len(waiting) > n_threads:
                    yield waiting.popleft().result()
            while waiting:
                yield waiting.popleft().result()
        finally:
            for future in waiting:
                future.cancel()
