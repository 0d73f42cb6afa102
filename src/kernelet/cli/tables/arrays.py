"""Tables in files of arrays: npz, parquet and LIBSVM's sparse rows."""

from __future__ import annotations

import math
import os
import tokenize
import zipfile
from collections.abc import Collection, Iterator
from contextlib import ExitStack
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from kernelet.cli.errors import DataError, listed
from kernelet.cli.tables.opening import opened
from kernelet.cli.tables.sources import LABELS, Source, imported, reading_errors
from kernelet.cli.tables.table import Table

MATRIX = "X"
# Rows that are read at once from a parquet file that is wanted as a whole: pyarrow's own default.
_ROW_GROUP = 65_536
# Kinds of types that columns may have: arrays of others, as of complex numbers, are left out.
_NUMBERS_AND_TEXTS = "fiubUSMm"
# Bytes that deflate makes of one, at most: 258 of two bits (RFC 1951).
_DEFLATE = 1032
# Bytes of a row that there may be without: a hundred thousand columns have no rows.
_WITHOUT_BYTES = 2**20
# What a damaged archive, or the header of an array in it, raises beside a ValueError: zipfile has a
# RuntimeError for members that are encrypted, or packed in ways that it does not know.
_OF_ARCHIVES = (zipfile.BadZipFile, RuntimeError, SyntaxError, tokenize.TokenError)


def read_npz(source: Source, target: str | None, text: Collection[str]) -> Table:
    """A matrix ``X`` with its columns called 1, 2, ... and every array of the same length by name.

    Where the target ends in a word as in ``y_train``, the matrix is ``X_train``; without a matrix
    the arrays of one dimension are the columns.
    """
    with reading_errors(source, "npz"):
        arrays = _arrays(source)
        vectors = {name: array for name, array in arrays.items() if array.ndim == 1}
        matrix = _matrix(source, arrays, target)
        lengths = map(len, vectors.values()) if matrix is None else [len(matrix)]
        length = max(lengths, default=0)
        columns = {
            name: array if array.dtype.kind in "fiub" else _texts(array)
            for name, array in vectors.items()
            if len(array) == length and array.dtype.kind in _NUMBERS_AND_TEXTS
        }
        if matrix is not None:
            columns |= {str(j + 1): matrix[:, j] for j in range(matrix.shape[1])}
        if not columns:
            raise DataError(f"{source.name} holds no arrays of one or two dimensions")
    return Table(source.name, columns)


def _texts(array: NDArray[Any]) -> NDArray[Any]:
    """Texts as objects; dates as texts."""
    return (array if array.dtype.kind in "US" else array.astype(str)).astype(object)


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
        if rows.shape[1] and not (rows.indices == 0).any():
            rows = rows[:, 1:]
        rows = rows.tocsr()
        if not np.isfinite(rows.data).all():
            row = int(
                np.searchsorted(rows.indptr, np.flatnonzero(~np.isfinite(rows.data))[0], "right")
            )
            raise DataError(f"{source.name} has a value that is no finite number in row {row}")
    return Table(source.name, {LABELS: np.asarray(labels)}, rows=rows)


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


def _arrays(source: Source) -> dict[str, NDArray[Any]]:
    """All arrays of an npz file, which is not trusted."""
    if not zipfile.is_zipfile(source.path):
        raise DataError(f"{source.name} is not an npz file, or is damaged")
    try:
        _check_sizes(source)
        with np.load(source.path, allow_pickle=False) as file:
            return {name: np.asarray(file[name]) for name in file.files}
    except _OF_ARCHIVES as error:
        raise DataError(f"{source.name} is a damaged npz file") from error
    except ValueError as error:
        if "allow_pickle" not in str(error):
            raise
        raise DataError(
            f"{source.name} holds Python objects, which could run anything when they are "
            "read; save arrays of numbers or text instead"
        ) from error


def _check_sizes(source: Source) -> None:
    """Refuse arrays with more bytes than there are in the file, before memory is taken for them."""
    with zipfile.ZipFile(source.path) as archive:
        members = archive.infolist()
        if sum(info.compress_size for info in members) > os.path.getsize(source.path):
            raise zipfile.BadZipFile("members lie on top of each other")
        for info in members:
            if info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
                raise DataError(f"{source.name} is compressed in another way than NumPy does it")
            if info.file_size > _DEFLATE * info.compress_size:
                raise zipfile.BadZipFile("a member is longer than it can be")
            if info.filename.endswith(".npy"):
                with archive.open(info) as member:
                    n_bytes = _stated_bytes(member)
                    if n_bytes > info.file_size - member.tell() + _WITHOUT_BYTES:
                        raise zipfile.BadZipFile("an array is longer than its member")


def _stated_bytes(member: IO[bytes]) -> int:
    """What the header of an array says that follows; without rows, a row of it."""
    version = np.lib.format.read_magic(member)
    # headers of version 3 are those of version 2, with letters that only names of fields have
    is_first = version == (1, 0)
    read = np.lib.format.read_array_header_1_0 if is_first else np.lib.format.read_array_header_2_0
    shape, _, dtype = read(member)
    if dtype.itemsize < 0:  # in NumPy 1, lengths of texts overflow
        raise zipfile.BadZipFile("a text is longer than it can be")
    return math.prod(max(1, length) for length in shape) * max(1, dtype.itemsize)


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
