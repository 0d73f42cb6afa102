"""Tables in text files: csv and tsv, whole or in chunks.

pandas reads the cells, and what it takes for missing is missing here: empty cells, its usual texts
(``NA``, ``N/A``, ``NaN``, ``null``, ``None`` and so on) and what ``--missing`` adds, in columns of
numbers and of text. `pandas.read_csv` alone would change nothing for these, but other things:

- It takes two columns of one name (calls the second ``a.1``), numbers for a heading, and rows with
  too many cells; here each is an error that names the line or the column.
- A column of text is read exactly as it is in the file: "01" stays "01" and "TRUE" stays "TRUE",
  where pandas makes 1 and True of them if all cells of the file (or of a chunk) allow it.
- A column of numbers with a few texts in it becomes text in pandas; here it is an error.
- A pipe is read too, and line ends may be CR alone.
"""

from __future__ import annotations

import csv
import io
import re
import warnings
from collections.abc import Collection, Iterator
from contextlib import ExitStack, contextmanager
from typing import IO, Any, cast

import numpy as np
from numpy.typing import NDArray

from kernelet.cli.errors import DataError, quoted
from kernelet.cli.tables.heading import (
    Rewound,
    first_rows,
    nul_bytes,
    read_first_line,
    reading_options,
    with_a_row,
)
from kernelet.cli.tables.notation import COMMA, POINT, options_for, recognised
from kernelet.cli.tables.opening import opened
from kernelet.cli.tables.sources import Source, imported, reading_errors
from kernelet.cli.tables.table import Table, is_text, missing_cells

# A column in which at least this share of the texts are numbers was meant to hold numbers. It only
# has to lie far from both ends: mistyped cells are rare, and so are numbers among names.
_MOSTLY_NUMBERS = 0.9


def read_text_table(source: Source, target: str | None, text: Collection[str]) -> Table:
    """The whole table; the target and columns named in ``text`` are text whatever they look like.

    Other columns hold numbers if all their cells do. A column of text is read exactly as it is in
    the file, so that categories do not depend on what the other rows hold.
    """
    as_text = {*text, target} - {None}
    with reading_errors(source, source.format), ExitStack() as stack:
        stream, options, how = _opened(source, stack, text)
        if not stream.seekable():
            stream = io.BytesIO(stream.read())
        frame = _read(source, stream, dtype=dict.fromkeys(as_text, str), **options)
        columns = _columns(source, frame)
        again = [name for name in columns if is_text(columns[name]) and name not in as_text]
        if again:
            stream.seek(0)
            columns |= _columns(source, _read(source, stream, dtype=str, usecols=again, **options))
    table = Table(source.name, columns, **how)
    for name in again:
        table.columns[name] = numbers_or_texts(table, name)
    return table


def text_chunks(
    source: Source, target: str | None, text: Collection[str], length: int
) -> Iterator[Table]:
    """The table in pieces of `length` rows, so that memory does not grow with its size."""
    n_bytes, first_row = source.n_bytes, 1
    as_text = dict.fromkeys({*text, target} - {None}, str)
    with reading_errors(source, source.format), ExitStack() as stack:
        stream, options, how = _opened(source, stack, text)
        with _read(source, stream, dtype=as_text, chunksize=length, **options) as reader:
            while (frame := _next(source, reader)) is not None:
                share = None if n_bytes is None else min(1.0, stream.tell() / max(n_bytes, 1))
                columns = _columns(source, frame)
                yield Table(source.name, columns, first_row=first_row, share=share, **how)
                first_row += len(frame)
                how["remarks"] = ()


def as_numbers(table: Table, name: str) -> NDArray[Any]:
    """A column of text as numbers, or an error that names the first cell that is none."""
    values = table.column(name)
    numbers, is_wrong = _parsed(table, values)
    if is_wrong.any():
        row = int(np.flatnonzero(is_wrong)[0])
        raise DataError(
            f"{table.source} has {values[row]!r} in column {name!r}, row "
            f"{row + table.first_row}, where a number is needed; " + remedy(table, values[row])
        )
    return numbers


def remedy(table: Table, cell: object) -> str:
    """What to do about a text among numbers."""
    options = options_for([str(cell)])
    if table.notation is not None and POINT.is_number(str(cell)) and not options:
        options = "--decimal ."
    said = f"say {options} if that is how numbers are written; otherwise " if options else ""
    return f"{said}correct it, or say --missing {quoted(cell)} if it means a missing value"


def _parsed(table: Table, values: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
    """A column of text as numbers, NaN for the rest, and which cells are texts but no numbers."""
    if table.notation is None:
        cells = _pandas().Series(values, dtype=object)  # not made Arrow's, which takes as long
        numbers = _pandas().to_numeric(cells, errors="coerce").to_numpy()
    else:
        numbers = table.notation.values(values)
    is_wrong = np.isnan(numbers) & ~missing_cells(values)
    return np.asarray(numbers, dtype=np.float64), is_wrong


def numbers_or_texts(table: Table, name: str) -> NDArray[Any]:
    """A column of text, as numbers where the notation of the table makes numbers of all of it.

    A column of numbers with a few texts in it is a mistake, not a column of categories.
    """
    values = table.columns[name]
    present = ~missing_cells(values)
    if not present.any():
        return values
    numbers, is_wrong = _parsed(table, values)
    if not is_wrong.any():
        return values if table.notation is None else numbers
    if np.mean(is_wrong[present]) > 1.0 - _MOSTLY_NUMBERS:
        return values
    row = int(np.flatnonzero(is_wrong)[0])
    if options_for(set(values[present].tolist())):
        return values  # all are numbers in some other notation, which `column_checks` reports
    raise DataError(
        f"{table.source} has numbers in column {name!r} but {values[row]!r} in row "
        f"{row + table.first_row}; "
        + remedy(table, values[row])
        + f", --text {quoted(name)} if all are categories"
    )


def _pandas() -> Any:
    return imported("pandas", "cli", "reading csv and tsv files")


def _read(source: Source, stream: Any, **options: Any) -> Any:
    with _parsing_errors(source):
        return _pandas().read_csv(stream, low_memory=False, **options)


def _next(source: Source, reader: Any) -> Any:
    """The next chunk, or None after the last."""
    with _parsing_errors(source):
        return next(reader, None)


@contextmanager
def _parsing_errors(source: Source) -> Iterator[None]:
    """Turn what pandas says of a file into one line about it."""
    errors = _pandas().errors
    try:
        with warnings.catch_warnings():
            # rows longer than the heading, whose last cells pandas would drop
            warnings.simplefilter("error", errors.ParserWarning)
            yield
    except errors.EmptyDataError as error:
        raise DataError(f"{source.name} is empty") from error
    except errors.ParserWarning as error:
        raise DataError(
            f"{source.name} has rows with more cells than its first line; is the separator right?"
        ) from error
    except errors.ParserError as error:
        found = re.search(r"Expected (\d+) fields in line (\d+), saw (\d+)", str(error))
        if found is None:
            raise  # `reading_errors` has a sentence for it
        wanted, line, n_cells = found.groups()
        raise DataError(
            f"line {line} of {source.name} has {n_cells} cells where {wanted} are needed; correct "
            "it, or say another --separator"
        ) from error


def _opened(
    source: Source, stack: ExitStack, text: Collection[str]
) -> tuple[IO[bytes], dict[str, Any], dict[str, Any]]:
    """The bytes of the text, how pandas is to read them, and what `Table` should know of that.

    The stream of a regular file can go back; that of a pipe is read once.
    """
    _pandas()  # before anything is read
    stream = opened(source, stack)
    line, first = read_first_line(source, stream)
    first = with_a_row(stream, first)
    options = reading_options(source, line, first)
    how: dict[str, Any] = {"notation": source.notation, "remarks": ()}
    if source.notation is None:
        rows = first_rows(source, first, options["sep"])
        how |= _recognised(source, rows, line, options, text)
    if how["notation"] is not None:
        options["decimal"] = how["notation"].decimal
    if not source.is_regular:
        return cast("IO[bytes]", io.BufferedReader(Rewound(first, stream))), options, how
    stream.seek(0)
    return stream, options, how


def _recognised(
    source: Source,
    rows: list[list[str]],
    line: str,
    options: dict[str, Any],
    text: Collection[str],
) -> dict[str, Any]:
    """The notation of numbers that the first rows show, and a remark about it."""
    names = options.get("names") or next(csv.reader([line], delimiter=options["sep"]), [])
    named = [name.strip() for name in names]
    rows = [
        ["" if name in text else cell for name, cell in zip(named, row, strict=False)]
        for row in rows
    ]
    found = recognised(rows, options["sep"], source.missing)
    if found is None:
        return {}
    notation, place, shown = found
    what = "a decimal comma" if notation == COMMA else "a comma between thousands"
    remark = (
        f"column {named[place]!r} of {source.name} holds numbers such as {shown!r}, which is read "
        f"with {what}, and so are other columns (--decimal and --thousands say it otherwise)"
    )
    return {"notation": notation, "remarks": (remark,)}


def _columns(source: Source, frame: Any) -> dict[str, NDArray[Any]]:
    """The columns as arrays.

    Those of a type at once: asking pandas for each by itself takes seconds where there are many.
    """
    if not len(frame.columns):
        raise DataError(f"{source.name} has no columns")
    columns: dict[str, Any] = dict.fromkeys(frame.columns)  # in their order
    dtypes = dict(zip(frame.columns, frame.dtypes, strict=True))
    for dtype in {dtype for dtype in dtypes.values() if dtype.kind in "fiu"}:
        chosen = frame.select_dtypes(include=[dtype])
        columns.update(zip(chosen.columns, chosen.to_numpy().T, strict=True))
    for name in [name for name, values in columns.items() if values is None]:
        columns[name] = frame[name].astype(object).to_numpy()
        if any(isinstance(cell, str) and "\0" in cell for cell in columns[name]):
            raise DataError(nul_bytes(source))
        if any(type(cell) is int for cell in columns[name]):  # of more than 20 digits
            cells = [str(cell) if type(cell) is int else cell for cell in columns[name]]
            columns[name] = np.array(cells, dtype=object)
    return columns
