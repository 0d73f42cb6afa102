"""One way to read a table, whatever its format: whole, or piece by piece."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from kernelet.cli.errors import DataError, UsageError
from kernelet.cli.tables.arrays import (
    LABELS,
    parquet_chunks,
    read_libsvm,
    read_npz,
    read_parquet,
)
from kernelet.cli.tables.sources import Source
from kernelet.cli.tables.table import Table, is_text
from kernelet.cli.tables.text import as_numbers, read_text_table, text_chunks

CHUNK_ROWS = 20_000


def read_table(source: Source, target: str | None = None, text: Collection[str] = ()) -> Table:
    """The whole table.

    Parameters
    ----------
    source : Source
    target : str or None, default=None
        The column that holds the labels, which is read as text.
    text : collection of str, default=()
        Columns to be read as text although they look like numbers.
    """
    if source.format in ("csv", "tsv"):
        labels = [] if target is None else [target]
        table = read_text_table(source, text={*text, *labels})
    elif source.format == "npz":
        table = read_npz(source, target)
    elif source.format == "libsvm":
        table = read_libsvm(source)
    else:
        table = read_parquet(source)
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
    if source.format in ("csv", "tsv"):
        words = {*text} if target is None else {*text, target}
        yield from text_chunks(source, words, numbers, length)
        return
    if source.format == "parquet":
        pieces = parquet_chunks(source, length)
    else:
        pieces = read_table(source, target).slices(length)
    for piece in pieces:
        for name in numbers:
            if name in piece.columns and is_text(piece.columns[name]):
                piece.columns[name] = as_numbers(piece, name)
        yield piece


def target_of(source: Source, target: str | None, known: str | None = None) -> str:
    """The column of the labels: the one asked for, the model's, or that of the format."""
    if target is not None:
        return target
    if known is not None:
        return known
    if source.format in ("libsvm", "npz"):
        return LABELS
    raise UsageError("say which column holds the classes or numbers: --target COLUMN")


def split_names(text: str | None) -> list[str]:
    """Names between commas.

    Examples
    --------
    >>> split_names("age, sex")
    ['age', 'sex']
    """
    return [] if text is None else [name.strip() for name in text.split(",") if name.strip()]


def check_features(table: Table) -> None:
    """Refuse a table in which no column is left to learn from."""
    if table.rows is None and not table.columns:
        raise DataError(f"{table.source} has no column beside the target to learn from")
