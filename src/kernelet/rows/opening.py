"""What can hold rows, opened as pieces: memory-mapped arrays, chunks, Dask collections."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy import sparse

from kernelet.rows.chunks import Chunks
from kernelet.rows.pieces import LocalPieces, Piece, Pieces

# Numbers in a piece of a memory-mapped array: 32 MB of doubles, as in a chunk of a file.
_PIECE = 4_000_000


def is_dask(X: Any) -> bool:
    """Whether this is a collection of Dask, which is not imported to find out."""
    package = type(X).__module__.partition(".")[0]
    return package in ("dask", "dask_expr") and hasattr(X, "__dask_graph__")


def is_distant(X: Any) -> bool:
    """Whether rows are to be left where they are, rather than copied into memory."""
    return isinstance(X, (np.memmap, Chunks)) or is_dask(X)


def open_pieces(X: Any, y: Any = None, sample_weight: Any = None) -> Pieces:
    """The pieces of out-of-core rows, with their labels and weights.

    Parameters
    ----------
    X : memmap, Chunks, dask array or dask data frame
    y : the same kind of thing, or for memmaps and Dask an array, default=None
    sample_weight : likewise, default=None

    Raises
    ------
    ValueError
        If labels or weights do not go with the rows.
    """
    if is_dask(X):
        from kernelet.rows.dask_pieces import dask_pieces

        return dask_pieces(X, y, sample_weight)
    if isinstance(X, Chunks):
        return _of_chunks(X, y, sample_weight)
    return _of_memmap(X, y, sample_weight)


def _of_memmap(X: Any, y: Any, sample_weight: Any) -> LocalPieces:
    if X.ndim != 2 or X.shape[0] < 1 or X.shape[1] < 1:
        raise ValueError(f"X must be two-dimensional and not empty, got shape {X.shape}.")
    n, d = X.shape
    labels, weights = _column("y", y, n), _column("sample_weight", sample_weight, n)
    length = max(1, _PIECE // d)

    def read(number: int) -> Piece:
        part = slice(number * length, min((number + 1) * length, n))
        return Piece(
            X[part],
            None if labels is None else np.asarray(labels[part]),
            None if weights is None else np.asarray(weights[part], dtype=np.float64),
        )

    def described(number: int) -> str:
        return f"X, rows {number * length} to {min((number + 1) * length, n) - 1},"

    return LocalPieces(read, -(-n // length), described)


def _column(name: str, values: Any, n: int) -> Any:
    """One number for each row; an array that is on disk stays there."""
    if values is None:
        return None
    column = values if isinstance(values, np.ndarray) else np.asarray(values)
    if column.ndim == 2 and column.shape[1] == 1:
        column = column[:, 0]
    if column.shape != (n,):
        raise ValueError(f"{name} must have a value for each of the {n} rows, got {column.shape}.")
    return column


def _of_chunks(X: Chunks, y: Any, sample_weight: Any) -> LocalPieces:
    for name, column in (("y", y), ("sample_weight", sample_weight)):
        if column is not None and not (isinstance(column, Chunks) and len(column) == len(X)):
            raise ValueError(
                f"{name} must be Chunks as X is, {len(X)} of them with as many rows each; got "
                f"{column!r:.60}."
            )

    def read(number: int) -> Piece:
        labels, weights = (None if of is None else of[number] for of in (y, sample_weight))
        return piece_of(X[number], labels, weights)

    # one chunk more is read, which is little, so that models know the names of their columns
    return LocalPieces(read, len(X), X.name, names_of(X[0]))


def piece_of(table: Any, labels: Any = None, weights: Any = None) -> Piece:
    """A chunk, a partition or a batch as a piece."""
    return Piece(
        rows_of(table),
        None if labels is None else column_of(labels),
        None if weights is None else column_of(weights, np.float64),
    )


def rows_of(table: Any) -> Any:
    """A chunk as an array or CSR matrix; data frames lose their names."""
    if sparse.issparse(table):
        return table.tocsr()
    return np.asarray(table)


def column_of(values: Any, dtype: Any = None) -> Any:
    """Labels or weights of a chunk."""
    column = np.asarray(values, dtype=dtype)
    return column[:, 0] if column.ndim == 2 and column.shape[1] == 1 else column


def names_of(table: Any) -> Sequence[str] | None:
    """Names of the columns of a data frame, where all are text."""
    columns = getattr(table, "columns", None)
    if columns is None or not all(isinstance(name, str) for name in columns):
        return None
    return list(columns)
