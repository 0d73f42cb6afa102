"""Tables in text files: csv and tsv, whole or in chunks."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import re
import shutil
import sys
import warnings
from collections.abc import Collection, Iterator
from contextlib import ExitStack, closing
from typing import IO, TYPE_CHECKING, Any, cast

from kernelet.cli.errors import DataError, one_line, quoted
from kernelet.cli.tables.heading import Rewound, nul_bytes, read_first_line, reading_options
from kernelet.cli.tables.sources import STDIN, Source, imported, reading_errors
from kernelet.cli.tables.table import Table

if TYPE_CHECKING:
    from numpy.typing import NDArray

# A column in which at least this share of the texts are numbers was meant to hold numbers.
_MOSTLY_NUMBERS = 0.9
_LONG_ROWS = "{} has rows with more cells than its first line; is the separator right?"
_OPENERS: dict[str, Any] = {".gz": gzip.open, ".bz2": bz2.open, ".xz": lzma.open}


def read_text_table(source: Source, text: Collection[str] = ()) -> Table:
    """The whole table; columns named in ``text`` are text whatever they look like.

    Other columns hold numbers if all their cells do. A column of text is read as it stands in the
    file ("01" stays "01"), so that categories do not depend on what the other rows hold.
    """
    pandas = _pandas()
    with reading_errors(source, source.format), ExitStack() as stack:
        stream = _opened(source, stack)
        line, first = read_first_line(source, stream)
        options = reading_options(source, line)
        if not source.is_regular:
            rest, stream = stream, io.BytesIO()
            stream.write(first)
            shutil.copyfileobj(rest, stream)
        stream.seek(0)
        frame = _read(pandas, source, stream, dtype=dict.fromkeys(text, str), **options)
        _check_names(source, frame.columns)
        columns = _columns(source, frame)
        again = [
            name
            for name, values in columns.items()
            if values.dtype.kind not in "fiu" and name not in text
        ]
        if again:
            stream.seek(0)
            exact = _read(pandas, source, stream, dtype=str, usecols=again, **options)
            columns |= _columns(source, exact)
        table = Table(source.name, columns)
    for name in again:
        _refuse_mistyped_numbers(pandas, table, name)
    return table


def text_chunks(
    source: Source, text: Collection[str], numbers: Collection[str], length: int
) -> Iterator[Table]:
    """The table in pieces of `length` rows, so that memory does not grow with its size.

    Columns named in ``numbers`` must hold numbers where the table has them.
    """
    pandas = _pandas()
    n_bytes = source.n_bytes
    with reading_errors(source, source.format), ExitStack() as stack:
        stream = _opened(source, stack)
        line, first = read_first_line(source, stream)
        options = reading_options(source, line)
        if source.is_regular:
            stream.seek(0)
        else:
            stream = io.BufferedReader(Rewound(first, stream))
        reader = _read(
            pandas, source, stream, dtype=dict.fromkeys(text, str), chunksize=length, **options
        )
        first_row = 1
        with closing(reader):
            while (frame := _next(pandas, source, reader)) is not None:
                if first_row == 1:
                    _check_names(source, frame.columns)
                columns = _columns(source, frame)
                share = None if n_bytes is None else min(1.0, stream.tell() / max(n_bytes, 1))
                table = Table(source.name, columns, first_row=first_row, share=share)
                for name in numbers:
                    if name in columns and columns[name].dtype.kind not in "fiu":
                        columns[name] = as_numbers(table, name)
                yield table
                first_row += len(frame)


def as_numbers(table: Table, name: str) -> NDArray[Any]:
    """A column of text as numbers, or an error that names the first cell that is none."""
    import numpy as np

    values = table.column(name)
    pandas = _pandas()
    column = pandas.Series(values)
    numbers = pandas.to_numeric(column, errors="coerce")
    wrong = np.flatnonzero((numbers.isna() & column.notna()).to_numpy())
    if wrong.size:
        raise DataError(
            f"{table.source} has {column.iloc[wrong[0]]!r} in column {name!r}, row "
            f"{wrong[0] + table.first_row}, where a number is needed; correct it, or say "
            f"--missing {quoted(column.iloc[wrong[0]])} if it stands for nothing"
        )
    return np.asarray(numbers.to_numpy(), dtype=np.float64)


def _refuse_mistyped_numbers(pandas: Any, table: Table, name: str) -> None:
    """A column of numbers with a few texts in it is a mistake, not a column of categories."""
    present = pandas.Series(table.columns[name]).dropna()
    are_numbers = pandas.to_numeric(present, errors="coerce").notna()
    if len(present) == 0 or are_numbers.all() or are_numbers.mean() < _MOSTLY_NUMBERS:
        return
    row = int(are_numbers.index[~are_numbers][0])
    value = str(present[row])
    raise DataError(
        f"{table.source} has numbers in column {name!r} but {value!r} in row "
        f"{row + table.first_row}; correct it, or say --missing {quoted(value)} if it stands for "
        f"nothing, --text {quoted(name)} if all are categories"
    )


def _pandas() -> Any:
    return imported("pandas", "cli", "reading csv and tsv files")


def _read(pandas: Any, source: Source, stream: Any, **options: Any) -> Any:
    try:
        with warnings.catch_warnings():
            # rows longer than the heading, whose last cells pandas would drop
            warnings.simplefilter("error", pandas.errors.ParserWarning)
            return pandas.read_csv(stream, low_memory=False, **options)
    except pandas.errors.EmptyDataError as error:
        raise DataError(f"{source.name} is empty") from error
    except pandas.errors.ParserWarning as error:
        raise DataError(_LONG_ROWS.format(source.name)) from error
    except pandas.errors.ParserError as error:
        raise _long_row(source, error) from error


def _next(pandas: Any, source: Source, reader: Any) -> Any:
    """The next chunk, or None after the last."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", pandas.errors.ParserWarning)
            return next(reader, None)
    except pandas.errors.ParserWarning as error:
        raise DataError(_LONG_ROWS.format(source.name)) from error
    except pandas.errors.ParserError as error:
        raise _long_row(source, error) from error


def _long_row(source: Source, error: Exception) -> DataError:
    """What pandas says of a row with too many cells, as a sentence."""
    found = re.search(r"Expected (\d+) fields in line (\d+), saw (\d+)", str(error))
    if found is None:
        return DataError(f"{source.name} cannot be read as {source.format}: {one_line(error)}")
    wanted, line, n_cells = found.groups()
    return DataError(
        f"line {line} of {source.name} has {n_cells} cells where {wanted} are needed; correct it, "
        "or say another --separator"
    )


def _check_names(source: Source, names: Any) -> None:
    if len(names) == 0:
        raise DataError(f"{source.name} has no columns")


def _opened(source: Source, stack: ExitStack) -> IO[bytes]:
    """The bytes of the text, decompressed where the name says so."""
    if source.path == STDIN:
        return sys.stdin.buffer
    opener = _OPENERS.get("." + source.path.lower().rpartition(".")[2], open)
    return cast("IO[bytes]", stack.enter_context(opener(source.path, "rb")))


def _columns(source: Source, frame: Any) -> dict[str, NDArray[Any]]:
    """The columns as arrays.

    Those of a type at once: to ask pandas for each by itself takes seconds where there are many.
    """
    columns: dict[str, Any] = dict.fromkeys(frame.columns)  # in their order
    dtypes = dict(zip(frame.columns, frame.dtypes, strict=True))
    for dtype in {dtype for dtype in dtypes.values() if dtype.kind in "fiu"}:
        chosen = frame.select_dtypes(include=[dtype])
        columns.update(zip(chosen.columns, chosen.to_numpy().T, strict=True))
    for name in [name for name, values in columns.items() if values is None]:
        columns[name] = frame[name].astype(object).to_numpy()
        if any(isinstance(cell, str) and "\0" in cell for cell in columns[name]):
            raise DataError(nul_bytes(source))
    return columns
