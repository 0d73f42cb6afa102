"""Columns that a person may not have meant to learn from: ids, dates, numbers in disguise.

Each check either leaves a column out, refuses the table, or warns; the message names the column and
the option that decides otherwise. Columns that ``--text`` or ``--only`` names are wanted as they
are.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kernelet.cli.errors import DataError, listed, quoted
from kernelet.cli.output import Output
from kernelet.cli.tables.notation import options_for
from kernelet.cli.tables.table import Table, is_text, missing_cells, row_numbers
from kernelet.machine.cells import as_texts

# A column of text with more values than this is left out if few rows share one. Fewer are learned
# from, or do no harm: each costs one feature.
_MANY_TEXTS = 50
# With no value twice there is nothing to learn, unless the table is a toy.
_FEW_ROWS = 20
# More categories than one of these, and more than that share of the rows, are worth a word.
_MANY_CATEGORIES = {100: 0.1, 20: 0.2}
# Those that `ColumnEncoder.fit` takes by default.
_MOST_CATEGORIES = 1000
# The share of texts that must be dates for a column of dates: some may be mistyped.
_MOSTLY = 0.9
# Texts that are looked at for it: their share is then known to a hundredth or two.
_ENOUGH_DATES = 1000

_is_id_name = re.compile(r"(?:.*[ _-])?(?:id|nr|no|number|index|row|key)", re.IGNORECASE).fullmatch

_MONTH = r"(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\.?"
_DAY = (
    r"(?:1[5-9]|2[01])\d{2}(?:([-/.])\d{1,2}\1\d{1,2}|-[01]\d)|"  # 2024-01-31, 2024/1/31, 2024-01
    r"\d{1,2}([-/.])\d{1,2}\2(?:\d{4}|\d{2})|"  # 31.12.2024, 12/31/2024, 31-12-24
    rf"\d{{1,2}}[- ]{_MONTH}[- ](?:\d{{4}}|\d{{2}})|"  # 31 Dec 2024
    rf"{_MONTH} \d{{1,2}}, \d{{4}}"  # Dec 31, 2024
)
_TIME = r"\d{1,2}:\d{2}(?::\d{2}(?:[.,]\d+)?)?(?: ?[ap]m)?(?: ?(?:z|utc|[+-]\d{2}:?\d{2}))?"
_is_date = re.compile(rf"(?:{_DAY})(?:[t ]\s*{_TIME})?|{_TIME}", re.IGNORECASE).fullmatch


def checked_columns(table: Table, wanted: Collection[str], output: Output) -> Table:
    """The table without columns from which nothing can be learned.

    Parameters
    ----------
    table : Table
        The features.
    wanted : collection of str
        Columns that are taken whatever they hold.
    output : Output
        Says what was left out, and what looks odd.

    Raises
    ------
    DataError
        If a column cannot be used, or none is left.
    """
    left_out = []
    for name, values in table.columns.items():
        if is_text(values):
            if _is_left_out(table, name, name in wanted, output):
                left_out.append(name)
        else:
            _check_numbers(table, name, name in wanted, output)
    if left_out and len(left_out) == len(table.columns):
        raise DataError(f"{table.source} has no other column to learn from")
    return table.without(*left_out)


def _check_numbers(table: Table, name: str, is_wanted: bool, output: Output) -> None:
    values = table.columns[name]
    missing = missing_cells(values)
    if np.isinf(values).any():
        rows = row_numbers(table, np.isinf(values))
        raise DataError(
            f"column {name!r} of {table.source} has an infinite number in {rows}; correct it, or "
            f"leave it out with --drop {quoted(name)}"
        )
    if missing.all():
        raise DataError(
            f"column {name!r} of {table.source} has no values; leave it out with --drop "
            f"{quoted(name)}"
        )
    if missing.any():
        output.warn(
            f"column {name!r} misses {int(missing.sum())} of {len(values)} numbers; the mean "
            "of the others replaces them (--drop-missing leaves such rows out)"
        )
    elif not is_wanted and _are_dates(values):
        output.warn(
            f"column {name!r} holds numbers such as {values[0]:.0f}, which look like dates; days "
            f"since some date would be a better number, or leave it out with --drop {quoted(name)}"
        )
    elif not is_wanted and _counts_rows(values):
        output.warn(
            f"column {name!r} counts from {values.min():.0f} to {values.max():.0f}, each number "
            f"once, like the numbers of rows; leave it out with --drop {quoted(name)} if it is that"
        )
    elif not is_wanted and _is_id_name(name) and _are_distinct(values):
        output.warn(
            f"column {name!r} has another whole number in each row and the name of an id; leave it "
            f"out with --drop {quoted(name)} if it is one"
        )


def _are_dates(values: NDArray[Any]) -> bool:
    """Whether these are all of the kind 20240131, whose differences mean nothing."""
    if values.min() < 1900_01_01 or values.max() > 2100_12_31:
        return False
    month, day = values // 100 % 100, values % 100
    is_date = (month >= 1) & (month <= 12) & (day >= 1) & (day <= 31) & (day % 1 == 0)
    return len(values) > _FEW_ROWS and bool(is_date.all())


def _counts_rows(values: NDArray[Any]) -> bool:
    """Whether these are consecutive whole numbers, each once and in any order."""
    n = len(values)
    if n <= _FEW_ROWS or values.max() - values.min() != n - 1:  # quick, and nearly always true
        return False
    return bool((np.diff(np.sort(values)) == 1).all())


def _are_distinct(values: NDArray[Any]) -> bool:
    """Whether these are whole numbers, no two of them equal."""
    is_whole = bool((values % 1 == 0).all())
    return len(values) > _FEW_ROWS and is_whole and np.unique(values).size == len(values)


def _is_left_out(table: Table, name: str, is_wanted: bool, output: Output) -> bool:
    """Whether a column of text is left out; says so, or what else is odd about it."""
    values = table.columns[name]
    distinct = list(dict.fromkeys(text for text in as_texts(values) if text is not None))
    many = len(distinct) > _MANY_TEXTS and 2 * len(distinct) > len(values)
    is_id = many or (len(distinct) == len(values) > _FEW_ROWS)
    if is_wanted and len(distinct) <= _MOST_CATEGORIES:
        return False
    count = f"{len(distinct)} different texts in {len(values)} rows"
    otherwise = f"--text {quoted(name)} takes each text as a category"
    options = "" if is_wanted else options_for(distinct)
    if options:
        what = f"column {name!r} of {table.source} holds numbers such as {_marked(distinct)!r}"
        if _has_fractions(table):  # their mark is decimal, so the other one is not
            options = " or ".join(o for o in options.split(" or ") if "--decimal" not in o)
        if is_id or len(distinct) > _MANY_TEXTS:
            how = f"leave it out with --drop {quoted(name)}"
            how = f"say how to read them: {options}" if options else how
            why = "" if options else "; other columns have another decimal mark"
            raise DataError(f"{what}{why}; {otherwise}, or {how}")
        remedy = options or "one decimal mark in all columns"
        output.warn(
            f"{what}, which are taken as {len(distinct)} categories; {remedy} makes numbers of "
            f"them, and --text {quoted(name)} says that they are none"
        )
        return False
    if not is_wanted and distinct and _share_of_dates(distinct) >= _MOSTLY:
        what = f"column {name!r} holds dates or times such as {distinct[0]!r}"
        advice = "make a number of it, such as days since some date"
        if is_id or len(distinct) > _MANY_TEXTS:
            output.warn(f"{what} and was left out; {advice}, or {otherwise}")
            return True
        output.warn(
            f"{what}, which are taken as {len(distinct)} categories; {advice}, or leave it "
            f"out with --drop {quoted(name)}"
        )
        return False
    if is_id and not is_wanted:
        output.warn(f"column {name!r} has {count} and was left out; {otherwise}")
        return True
    if len(distinct) > _MOST_CATEGORIES:
        raise DataError(
            f"column {name!r} of {table.source} has {count}, more categories than the "
            f"{_MOST_CATEGORIES} that are possible; leave it out with --drop {quoted(name)}"
        )
    _warn_of_categories(name, distinct, len(values), output)
    return False


def _has_fractions(table: Table) -> bool:
    """Whether a column has been read as numbers with decimals."""
    numbers = (values for values in table.columns.values() if values.dtype.kind == "f")
    return any(bool((np.mod(values[np.isfinite(values)], 1.0) != 0.0).any()) for values in numbers)


def _warn_of_categories(name: str, distinct: list[str], n_rows: int, output: Output) -> None:
    n = len(distinct)
    if any(n > number and n > share * n_rows for number, share in _MANY_CATEGORIES.items()):
        output.warn(
            f"column {name!r} has {len(distinct)} categories in {n_rows} rows, each of which is a "
            f"feature; leave it out with --drop {quoted(name)} if they are names"
        )
    warn_of_alike(f"column {name!r}", "categories", distinct, output)


def warn_of_alike(where: str, what: str, distinct: Sequence[str], output: Output) -> None:
    """Say which texts differ by blanks and capitals alone."""
    alike = defaultdict(list)
    for text in distinct:
        alike[text.strip().casefold()].append(text)
    several = next((texts for texts in alike.values() if len(texts) > 1), None)
    if several:
        output.warn(
            f"{where} has {listed(several, 3)}, which are taken as different {what}; "
            "write them in one way if they mean the same"
        )


def _share_of_dates(distinct: list[str]) -> float:
    first = distinct[:_ENOUGH_DATES]
    return float(np.mean([_is_date(text.strip()) is not None for text in first]))


def _marked(distinct: list[str]) -> str:
    """A number that shows in which notation it may be."""
    return next((text for text in distinct if not text.strip().isdigit()), distinct[0])
