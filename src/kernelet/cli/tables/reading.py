"""One way to read a table, whatever its format: whole, or piece by piece."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from dataclasses import replace

from kernelet.cli.output import Output
from kernelet.cli.progress import bytes_bar
from kernelet.cli.tables.arrays import parquet_chunks, read_libsvm, read_npz, read_parquet
from kernelet.cli.tables.sources import CHUNK_ROWS, Source
from kernelet.cli.tables.table import Table, is_text
from kernelet.cli.tables.text import as_numbers, numbers_or_texts, read_text_table, text_chunks

# Each takes the source, the target and the columns to be read as text.
_READERS: dict[str, Callable[[Source, str | None, Collection[str]], Table]] = {
    "csv": read_text_table,
    "tsv": read_text_table,
    "parquet": read_parquet,
    "npz": read_npz,
    "libsvm": read_libsvm,
}
# Formats that are never in memory as a whole; these take the rows of a piece too.
_IN_CHUNKS: dict[str, Callable[[Source, str | None, Collection[str], int], Iterator[Table]]] = {
    "csv": text_chunks,
    "tsv": text_chunks,
    "parquet": parquet_chunks,
}


def read_table(
    source: Source,
    target: str | None = None,
    text: Collection[str] = (),
    output: Output | None = None,
) -> Table:
    """The whole table.

    Parameters
    ----------
    source : Source
    target : str or None, default=None
        The column that holds the labels, which is read as text.
    text : collection of str, default=()
        Columns to be read as text although they look like numbers.
    output : Output or None, default=None
        Shows how much has been read, and remarks on how numbers are written.
    """
    read = _READERS[source.format]
    if output is None:
        table = read(source, target, text)
    else:
        with bytes_bar(output, source) as watch:
            table = read(replace(source, watch=watch), target, text)
        for remark in table.remarks:
            output.remark(remark)
    if not source.kind.is_text and source.notation is not None:
        table = replace(table, notation=source.notation)
        for name in table.columns.keys() - {*text, target}:
            if is_text(table.columns[name]):
                table.columns[name] = numbers_or_texts(table, name)
    table.require_rows()
    return table


def table_chunks(
    source: Source,
    text: Collection[str] = (),
    numbers: Collection[str] = (),
    target: str | None = None,
    length: int = CHUNK_ROWS,
) -> Iterator[Table]:
    """The table in pieces; csv, tsv and parquet files are never in memory as a whole.

    Parameters
    ----------
    source : Source
    text : collection of str, default=()
        Columns that hold text.
    numbers : collection of str, default=()
        Columns that must hold numbers.
    target : str or None, default=None
        The column of labels, if they are needed.
    length : int, default=20000
        Rows of a piece.
    """
    in_chunks = _IN_CHUNKS.get(source.format)
    if in_chunks is None:
        pieces = read_table(source, target).slices(length)
    else:
        pieces = in_chunks(source, target, text, length)
    for piece in pieces:
        if not source.kind.is_text:
            piece = replace(piece, notation=source.notation)
        for name in numbers:
            if name in piece.columns and is_text(piece.columns[name]):
                piece.columns[name] = as_numbers(piece, name)
        yield piece
