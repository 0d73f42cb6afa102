"""Tables in text files: csv and tsv, whole or in chunks."""

from __future__ import annotations

import bz2
import csv
import gzip
import io
import lzma
import re
import warnings
from collections import Counter
from collections.abc import Collection, Iterator
from contextlib import ExitStack, closing
from typing import TYPE_CHECKING, Any

from kernelet.cli.errors import DataError, one_line, quoted
from kernelet.cli.sources import STDIN, Source, imported, reading_errors
from kernelet.cli.table import Table

if TYPE_CHECKING:
    from numpy.typing import NDArray

SEPARATORS = (",", ";", "\t", "|")
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
    with reading_errors(source, source.format):
        stream: Any = source.binary_stream()
        if source.path == STDIN:
            stream = io.BytesIO(stream.read())
        options = _options(source, _first_line(source, stream))
        frame = _read(pandas, source, stream, dtype=dict.fromkeys(text, str), **options)
        _check_names(source, frame.columns)
        words = [name for name in frame.columns if frame[name].dtype.kind not in "fiu"]
        again = [name for name in words if name not in text]
        if again:
            if source.path == STDIN:
                stream.seek(0)
            exact = _read(pandas, source, stream, dtype=str, usecols=again, **options)
            frame[again] = exact[again]
        table = Table(source.name, {name: _values(frame[name]) for name in frame.columns})
    for name in again:
        _refuse_mistyped_numbers(pandas, table, name)
    return table


def text_chunks(
    source: Source, text: Collection[str], numbers: Collection[str], length: int
) -> Iterator[Table]:
    """The table in pieces of so many rows, in memory that does not grow with it.

    Columns named in ``numbers`` must hold numbers where the table has them.
    """
    pandas = _pandas()
    n_bytes = source.n_bytes
    with reading_errors(source, source.format), ExitStack() as stack:
        stream: Any = source.binary_stream()
        options = _options(source, _first_line(source, stream))
        if n_bytes is not None:  # a file of which it can be told how far it is read
            stream = stack.enter_context(open(source.path, "rb"))
        reader = _read(
            pandas, source, stream, dtype=dict.fromkeys(text, str), chunksize=length, **options
        )
        first_row = 1
        with closing(reader):
            while (frame := _next(pandas, source, reader)) is not None:
                if first_row == 1:
                    _check_names(source, frame.columns)
                columns = {name: _values(frame[name]) for name in frame.columns}
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


def _options(source: Source, line: str) -> dict[str, Any]:
    separator = source.separator or _guessed_separator(line)
    cells = next(csv.reader([line], delimiter=separator), [])
    if not source.has_header:
        names = [str(place + 1) for place in range(len(cells))]
        header: dict[str, Any] = {"header": None, "names": names}
    else:
        _check_heading(source, cells)
        header = {"header": 0}
    return {
        **header,
        "sep": separator,
        "encoding": "utf-8-sig"
        if source.encoding.lower() in ("utf-8", "utf8")
        else source.encoding,
        "na_values": list(source.missing),
        "index_col": False,
        "skipinitialspace": True,
    }


def _guessed_separator(line: str) -> str:
    """The character of those in use that the first line has most of."""
    return max(SEPARATORS, key=line.count)


def _check_heading(source: Source, cells: list[str]) -> None:
    if not cells:
        return  # pandas tells of an empty file, or finds the heading below blank lines
    names = [cell.strip() for cell in cells]
    if all(_is_number(name) for name in names) and not _are_consecutive(names):
        raise DataError(
            f"the first line of {source.name} holds numbers, not names of columns; "
            "say --no-header if it is a row"
        )
    twice = [name for name, times in Counter(names).items() if times > 1 and name]
    if twice:
        raise DataError(f"{source.name} has two columns called {twice[0]!r}; rename one of them")


def _check_names(source: Source, names: Any) -> None:
    if len(names) == 0:
        raise DataError(f"{source.name} has no columns")


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _are_consecutive(names: list[str]) -> bool:
    """Whether these are names after all: 0, 1, 2 and so on."""
    first = names[0] if names else ""
    return first in ("0", "1") and names == [str(int(first) + j) for j in range(len(names))]


def _first_line(source: Source, stream: Any) -> str:
    """The first line, which stays to be read."""
    encoding = "utf-8-sig" if source.encoding.lower() in ("utf-8", "utf8") else source.encoding
    if isinstance(stream, str):
        ending = "." + stream.rpartition(".")[2]
        with _OPENERS.get(ending, open)(stream, "rb") as file:
            line: bytes = file.readline()
    elif isinstance(stream, io.BytesIO):
        line = stream.getvalue().partition(b"\n")[0]
    else:
        line = stream.peek().partition(b"\n")[0]
    return line.decode(encoding).rstrip("\r\n")


def _values(series: Any) -> NDArray[Any]:
    values: NDArray[Any] = series.to_numpy()
    return values if values.dtype.kind in "fiu" else series.astype(object).to_numpy()
