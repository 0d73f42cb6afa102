"""The cells of a table: numbers, texts, and what is missing."""

from __future__ import annotations

import difflib
import numbers
from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Any

import numpy as np

from kernelet.kernels.numerics.arrays import FloatArray

# Columns that an error message names at most; more would hide the rest of it.
_SHOWN = 10


class MissingColumnError(ValueError):
    """A table lacks a column that is needed; the message names the nearest that it has."""


def table_columns(
    table: Mapping[str, Any] | Any, names: Sequence[str] | None = None
) -> tuple[dict[str, Any], int]:
    """The columns of a dict of arrays or of a DataFrame, and their common length.

    Parameters
    ----------
    table : mapping of str to 1-D array, or pandas DataFrame
    names : sequence of str or None, default=None
        Those that are wanted; None takes all.

    Raises
    ------
    MissingColumnError
        If one is not there.
    ValueError
        If they differ in length, or are no columns.
    """
    keys = getattr(table, "columns", table)
    if not isinstance(table, Mapping) and keys is table:
        raise TypeError(
            "a table is a dict of columns or a pandas DataFrame, not "
            f"{type(table).__name__}; matrices go to the estimator itself."
        )
    # names in a file are texts, whatever they are in a DataFrame
    present = {str(key): key for key in keys}
    wanted = list(present) if names is None else names
    columns: dict[str, Any] = {}
    n_rows: int | None = None
    for name in wanted:
        if name not in present:
            raise MissingColumnError(_missing(name, list(present)))
        column = table[present[name]]
        shape = np.shape(column)
        if len(shape) != 1:
            raise ValueError(f"column {name!r} must have one dimension, got shape {shape}.")
        if n_rows is not None and shape[0] != n_rows:
            raise ValueError(f"column {name!r} has {shape[0]} rows, those before it {n_rows}.")
        n_rows = shape[0]
        columns[name] = column
    return columns, n_rows or 0


def _missing(name: str, present: list[str]) -> str:
    lowered = {text.lower(): text for text in present}
    near = difflib.get_close_matches(name.lower(), list(lowered), n=1)
    if near:
        return f"the table has no column {name!r}; the nearest that it has is {lowered[near[0]]!r}."
    shown = ", ".join(repr(text) for text in present[:_SHOWN])
    shown += ", ..." if present[_SHOWN:] else ""
    return f"the table has no column {name!r}; it has {shown or 'none'}."


def is_missing(value: object) -> bool:
    """Whether a cell is None, NaN, NaT, pandas.NA or an empty text."""
    if value is None or (isinstance(value, str) and value == ""):
        return True
    try:
        return bool(value != value)
    except TypeError:  # pandas.NA, which is neither equal nor unequal to anything
        return True


def is_numeric(name: str, column: Any) -> bool:
    """Whether a column holds numbers; otherwise it holds texts, truth values or categories."""
    if str(getattr(column, "dtype", "")) == "category":
        return False
    array = np.asarray(column)
    if array.dtype.kind in "fiu":
        return True
    if array.dtype.kind in "cMm":
        raise ValueError(
            f"column {name!r} holds {array.dtype}; make numbers of it, such as days or seconds "
            "since some date, or leave it out."
        )
    if array.dtype.kind != "O":
        return False
    cells = [cell for cell in array.tolist() if not is_missing(cell)]
    return all(_is_number(cell) for cell in cells) and bool(cells)


def _is_number(cell: object) -> bool:
    return isinstance(cell, numbers.Real | Decimal) and not isinstance(cell, bool | np.bool_)


def as_numbers(name: str, column: Any) -> FloatArray:
    """A column as float64, NaN where it is missing; texts of numbers are read.

    Raises
    ------
    ValueError
        If a cell is not a number, or infinite; the message names the column and the cell.
    """
    array = np.asarray(column)
    if array.dtype.kind in "fiub":
        values = array.astype(np.float64)
    else:
        values = np.array([_number(name, cell) for cell in array.tolist()], dtype=np.float64)
    infinite = np.flatnonzero(np.isinf(values))
    if infinite.size:
        raise ValueError(f"column {name!r} holds an infinite number in row {infinite[0]}.")
    return values


def _number(name: str, cell: object) -> float:
    if is_missing(cell):
        return np.nan
    try:
        return float(cell)  # type: ignore[arg-type]  # what is no number says so itself
    except (TypeError, ValueError):
        raise ValueError(
            f"column {name!r} must hold numbers, but holds {cell!r}; where a number is missing "
            "leave the cell empty."
        ) from None


def as_texts(column: Any) -> list[str | None]:
    """A column as texts, None where it is missing.

    1, 1.0 and "1" are the same text: pandas makes floats of integers where one is missing.
    """
    return [_text(cell) for cell in np.asarray(column).tolist()]


def _text(cell: object) -> str | None:
    if is_missing(cell):
        return None
    if isinstance(cell, bytes):
        return cell.decode("utf-8", errors="replace")
    if isinstance(cell, float) and cell.is_integer():
        return str(int(cell))
    return str(cell)
