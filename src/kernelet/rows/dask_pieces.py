"""Rows that Dask's workers hold.

Each partition becomes one piece, which the workers keep (Dask spills what does not fit to their
disks, and computes again what a lost worker held). A pass sends its function to the pieces and
brings back its result for each.
"""

from __future__ import annotations

import itertools
import pickle
import time
import uuid
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Any, TypeVar

import cloudpickle
import numpy as np
from dask.delayed import delayed

from kernelet.kernels.numerics.blocks import one_blas_thread
from kernelet.rows.opening import is_dask, names_of, piece_of
from kernelet.rows.pieces import ClusterError, LocalPieces, Piece, Pieces, PieceTask

R = TypeVar("R")

# Seconds without any worker after which the rows are given up. Nannies start workers that died
# again within a few seconds.
PATIENCE = 30.0
# Seconds between two looks at whether there are workers; little beside the patience, and rare
# enough to cost nothing.
_LOOK = 1.0
# Bytes of a function beyond which it is sent on its own: Dask warns of large objects in a graph.
_LARGE = 1_000_000


def dask_pieces(X: Any, y: Any, sample_weight: Any) -> Pieces:
    """The partitions of a Dask array or data frame as pieces, on the active client if any."""
    parts, lengths = _partitions(X)
    columns = [
        _column(name, values, X, lengths, len(parts))
        for name, values in (("y", y), ("sample_weight", sample_weight))
    ]
    pieces = [
        delayed(piece_of, name=f"kernelet_rows-{uuid.uuid4().hex}-{number}", pure=False)(*each)
        for number, each in enumerate(zip(parts, *columns, strict=True))
    ]
    names = names_of(X)
    client = _active_client()
    if client is None:
        return LocalPieces(
            lambda number: pieces[number].compute(scheduler="synchronous"),
            len(pieces),
            lambda number: f"partition {number}",
            names,
        )
    return DaskPieces(client, pieces, names)


class DaskPieces:
    """Pieces on the workers of a client.

    Parameters
    ----------
    client : distributed.Client
    pieces : list of Delayed
        Each gives a `Piece`; the workers keep them as long as this object is there.
    feature_names : sequence of str or None
    """

    def __init__(self, client: Any, pieces: list[Any], feature_names: Sequence[str] | None) -> None:
        self.n_pieces = len(pieces)
        self.feature_names = feature_names
        self._client = client
        with self._in_terms_of_rows():
            self._pieces = client.persist(pieces)

    def described(self, number: int) -> str:
        return f"partition {number}"

    def map(self, task: PieceTask[R], name: str) -> Iterator[R]:
        token = uuid.uuid4().hex
        held: Any = _Held(cloudpickle.dumps(task))
        if held.size > _LARGE:
            # as a node of the graph it goes to each worker once, not with every piece; but then a
            # piece may follow it to a worker that is idle
            held = delayed(held, name=f"{name}_task-{token}", pure=True)
        calls = [
            delayed(_run, pure=False)(held, number, piece, dask_key_name=f"{name}-{token}-{number}")
            for number, piece in enumerate(self._pieces)
        ]
        with self._in_terms_of_rows():
            futures = self._client.compute(calls, optimize_graph=False)
        return self._results(futures)

    def _results(self, futures: list[Any]) -> Iterator[Any]:
        try:
            for future in futures:
                with self._in_terms_of_rows():
                    result = self._result(future)
                yield result
        finally:
            # after an error or Ctrl-C the results are not needed
            left = [future for future in futures if not future.done()]
            # the cluster may be lost; an error that is on its way says more, and the next call too
            with suppress(Exception):
                self._client.cancel(left)

    def _result(self, future: Any) -> Any:
        last_seen = time.monotonic()
        while True:
            try:
                return future.result(timeout=_LOOK)
            except TimeoutError:
                if self._is_connected() and self._client.nthreads():
                    last_seen = time.monotonic()
                elif time.monotonic() - last_seen > PATIENCE:
                    raise self._lost(f"there has been no worker for {PATIENCE:g} s") from None

    def _is_connected(self) -> bool:
        return bool(self._client.status == "running")

    @contextmanager
    def _in_terms_of_rows(self) -> Iterator[None]:
        """Turn errors of a lost cluster into ours; without a connection, no other is possible."""
        from distributed import CancelledError
        from distributed.comm.core import CommClosedError
        from distributed.scheduler import KilledWorker

        try:
            yield
        except ClusterError:
            raise
        except KilledWorker as error:
            raise self._lost("several workers died one after the other on it") from error
        except (CancelledError, CommClosedError, OSError) as error:
            raise self._lost(f"{type(error).__name__}: {error}") from error
        except Exception as error:
            if self._is_connected():
                raise
            raise self._lost(f"{type(error).__name__}: {error}") from error

    def _lost(self, why: str) -> ClusterError:
        return ClusterError(
            f"the workers that hold the rows are gone ({why}). Start the cluster again, give the "
            "workers more memory if they ran out of it, and fit again; a learner that has "
            "checkpoint= and was given it goes on where it was."
        )


class _Held:
    """A pickled function that Dask takes for data, and does not look into."""

    def __init__(self, pickled: bytes) -> None:
        self.pickled = pickled

    @property
    def size(self) -> int:
        return len(self.pickled)


def _run(held: _Held, number: int, piece: Piece) -> Any:
    task: PieceTask[Any] = pickle.loads(held.pickled)
    with one_blas_thread():
        return task(number, piece)


def _active_client() -> Any:
    try:
        from distributed import get_client
    except ImportError:
        return None
    try:
        return get_client()
    except ValueError:  # there is none: Dask's own word for it
        return None


def _partitions(X: Any) -> tuple[list[Any], list[int] | None]:
    """Delayed partitions, and how many rows each has where this is known."""
    if not hasattr(X, "chunks"):  # a data frame, or a series
        return list(X.to_delayed()), None
    if X.ndim == 2 and X.numblocks[1] > 1:
        X = X.rechunk({1: -1})
    lengths = None if any(np.isnan(X.chunks[0])) else [int(length) for length in X.chunks[0]]
    return list(X.to_delayed().ravel()), lengths


def _column(name: str, values: Any, X: Any, lengths: list[int] | None, n_parts: int) -> list[Any]:
    """Partitions of labels or weights, cut as those of the rows are."""
    if values is None:
        return [None] * n_parts
    if is_dask(values):
        if lengths is not None and hasattr(values, "chunks"):
            values = values.rechunk((tuple(lengths), *values.chunks[1:]))
        parts = _partitions(values)[0]
        if len(parts) != n_parts:
            raise ValueError(
                f"{name} has {len(parts)} partitions and X {n_parts}; there must be one for each."
            )
        return parts
    if lengths is None:
        raise ValueError(
            f"{name} must be a Dask collection as X is: the lengths of the partitions of X are "
            "unknown, so its values cannot be assigned to them."
        )
    column = np.asarray(values)
    if column.shape[0] != sum(lengths):
        raise ValueError(f"{name} has {column.shape[0]} values for {sum(lengths)} rows.")
    ends = list(itertools.accumulate(lengths))
    return [column[end - length : end] for end, length in zip(ends, lengths, strict=True)]
