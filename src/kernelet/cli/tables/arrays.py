"""Tables in files of arrays: npz, parquet and LIBSVM's sparse rows."""

from __future__ import annotations

import zipfile
from collections.abc import Collection, Iterator
from contextlib import ExitStack
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kernelet.cli.errors import DataError, listed
from kernelet.cli.tables.opening import opened
from kernelet.cli.tables.sources import LABELS, Source, imported, reading_errors
from kernelet.cli.tables.table import Table

MATRIX = "X"
# Rows that are read at once from a parquet file that is wanted as a whole: pyarrow's own default.
_ROW_GROUP = 65_536


def read_npz(source: Source, target: str | None, text: Collection[str]) -> Table:
    """A matrix ``X`` with its columns called 1, 2, ... and every array of the same length by name.

    Where the target ends in a word as in ``y_train``, the matrix is ``X_train``; without a matrix
    the arrays of one dimension are the columns.
    """
    with reading_errors(source, "npz"):
        if not zipfile.is_zipfile(source.path):
            raise DataError(f"{source.name} is not an npz file, or is damaged")
        try:
            with np.load(source.path, allow_pickle=False) as file:
                arrays = {name: np.asarray(file[name]) for name in file.files}
        except zipfile.BadZipFile as error:
            raise DataError(f"{source.name} is a damaged npz file") from error
        except ValueError as error:
            if "allow_pickle" not in str(error):
                raise
            raise DataError(
                f"{source.name} holds Python objects, which could run anything when they are "
                "read; save arrays of numbers or text instead"
            ) from error
        vectors = {name: array for name, array in arrays.items() if array.ndim == 1}
        matrix = _matrix(source, arrays, target)
        lengths = map(len, vectors.values()) if matrix is None else [len(matrix)]
        length = max(lengths, default=0)
        columns = {
            name: array.astype(object) if array.dtype.kind in "US" else array
            for name, array in vectors.items()
            if len(array) == length
        }
        if matrix is not None:
            columns |= {str(j + 1): matrix[:, j] for j in range(matrix.shape[1])}
        if not columns:
            raise DataError(f"{source.name} holds no arrays of one or two dimensions")
    return Table(source.name, columns)


def npz_others(table: Table) -> list[str]:
    """Vectors in an npz file with a matrix; the features are the columns of the matrix alone."""
    others = [name for name in table.columns if not name.isdecimal()]
    return others if len(others) < len(table.columns) else []


def read_libsvm(source: Source, target: str | None, text: Collection[str]) -> Table:
    """The sparse rows and labels of a LIBSVM file.

    Its indices count from 1; a file in which an index is 0 counts from there.
    """
    from sklearn.datasets import load_svmlight_file

    with reading_errors(source, "a LIBSVM file"), ExitStack() as stack:
        stream = opened(source, stack)
        rows, labels = load_svmlight_file(stream, zero_based=True, dtype=np.float64)
        if rows.shape[0] and rows.shape[1] and rows[:, [0]].nnz == 0:
            rows = rows[:, 1:]
    return Table(source.name, {LABELS: np.asarray(labels)}, rows=rows.tocsr())


def parquet_chunks(
    source: Source, target: str | None, text: Collection[str], length: int
) -> Iterator[Table]:
    """The row groups of a parquet file, in pieces of at most `length` rows."""
    parquet = imported("pyarrow.parquet", "parquet", "reading parquet files")
    imported("pandas", "cli", "reading parquet files")
    first_row = 1
    with reading_errors(source, "parquet"), parquet.ParquetFile(source.path) as file:
        names = [str(name) for name in file.schema_arrow.names]
        for batch in file.iter_batches(batch_size=length):
            frame = batch.to_pandas()
            columns = {name: _from_series(frame[name]) for name in names}
            share = (first_row - 1 + len(frame)) / file.metadata.num_rows
            if source.watch is not None:
                source.watch(round(share * (source.n_bytes_on_disk or 0)))
            yield Table(source.name, columns, first_row=first_row, share=share)
            first_row += len(frame)


def read_parquet(source: Source, target: str | None, text: Collection[str]) -> Table:
    """The whole of a parquet file."""
    pieces = list(parquet_chunks(source, target, text, _ROW_GROUP))
    if not pieces:
        raise DataError(f"{source.name} has no rows")
    columns = {
        name: np.concatenate([piece.columns[name] for piece in pieces])
        for name in pieces[0].columns
    }
    return Table(source.name, columns)


def _matrix(source: Source, arrays: dict[str, Any], target: str | None) -> NDArray[Any] | None:
    matrices = {name: array for name, array in arrays.items() if array.ndim == 2}
    if source.matrix is not None and source.matrix not in matrices:
        raise DataError(
            f"{source.name} has no array {source.matrix!r} of two dimensions; it has "
            f"{listed(matrices) or 'none at all'}"
        )
    part = MATRIX + "".join((target or "").partition("_")[1:])  # X_train for y_train
    known = [name for name in (source.matrix, part, MATRIX) if name in matrices] or list(matrices)
    if not known:
        return None
    wanted = known[0]
    if len(known) > 1 and wanted not in (source.matrix, part, MATRIX):
        raise DataError(
            f"{source.name} has several matrices, {listed(matrices)}; say which --matrix"
        )
    matrix: NDArray[Any] = matrices[wanted]
    if matrix.dtype.kind not in "fiub":
        raise DataError(f"{source.name} has text in the matrix {wanted!r}; numbers are needed")
    return matrix


def _from_series(series: Any) -> NDArray[Any]:
    """Numbers as floats where some are missing; dates and the like as text."""
    numbers: NDArray[Any] = series.to_numpy()
    if series.dtype.kind in "iuf" and numbers.dtype.kind != "O":
        return numbers
    cells = zip(series, series.notna(), strict=True)
    return np.array([str(cell) if there else np.nan for cell, there in cells], dtype=object)
