"""The columns of a table in C: scales, categories, and what stands for a missing value."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from kernelet.export.to_c.pieces import (
    Real,
    Table,
    block_comment,
    integers,
    smallest_integers,
    texts,
)
from kernelet.machine.columns import Category, Number
from kernelet.machine.rounded_columns import SHIFTS_PER_SCALE, rounded_numbers

Columns = Sequence[Number | Category]
# In the table of how many indicators a column has: a column of numbers has a scale instead. A
# column of categories may have 0, so that is taken; encode.c and fixed.c ask for this number.
_NUMBER = -1
# The feature of a column of numbers.
_SCALED = "(value - shifts[c]) / scales[c]"
# Categories that the comment in the header lists, about two lines of it; all are in a table.
_LISTED = 12


def column_tables(columns: Columns, real: Real) -> list[Table]:
    """Shift, scale and filling of numbers; indicators and filling of categories."""
    if not columns:
        return []
    return [*_scale_tables(columns, real), *filling_tables(columns, real)]


def small_column_tables(columns: Columns, real: Real) -> list[Table]:
    """The same with scales and shifts as small integers, if they are rounded."""
    found = rounded_numbers(columns)
    if found is None:
        return column_tables(columns, real)
    # a column of categories has a place that nothing reads
    places = [place for place, column in enumerate(columns) if isinstance(column, Number)]
    scales, shifts = np.zeros((2, len(columns)), dtype=np.int64)
    scales[places], shifts[places] = found.scales.codes, found.shifts
    tables = [] if found.scales.is_one else [integers("uint8_t", "column_scales", scales)]
    if shifts.any():
        tables.append(smallest_integers("column_shifts", shifts.tolist()))
    return tables if _fills_with_zero(columns) else [*tables, *filling_tables(columns, real)]


def small_column_values(columns: Columns, real: Real) -> dict[str, object]:
    """What compact_quantize.c asks of scales and shifts."""
    found = rounded_numbers(columns)
    cell, scaled = _cell(columns), _SCALED
    if found is not None:
        by_column = "" if found.scales.is_one else " * power_of(column_scales[c])"
        scaled = f"value / ({real.constant(found.scales.base)}{by_column})"
        if found.shifts.any():
            unit = real.constant(1.0 / SHIFTS_PER_SCALE)
            scaled += f" - {unit} * (float)column_shifts[c]"
        if _fills_with_zero(columns):
            cell, scaled = "x[c]", f"value != value ? 0.0f : {scaled}"
    return {
        "cell": cell,
        "scaled": scaled,
        "scales_by_eighths": found is not None and not found.scales.is_one,
    }


def _fills_with_zero(columns: Columns) -> bool:
    """Whether all columns are numbers, and what stands for a missing one becomes 0."""
    return all(isinstance(column, Number) and column.fill == column.shift for column in columns)


def _scale_tables(columns: Columns, real: Real) -> list[Table]:
    numbers = [column if isinstance(column, Number) else None for column in columns]
    return [
        real.table("shifts", np.array([0.0 if n is None else n.shift for n in numbers])),
        real.table("scales", np.array([1.0 if n is None else n.scale for n in numbers])),
    ]


def filling_tables(columns: Columns, real: Real) -> list[Table]:
    """What stands for a missing value, and how many indicators a column has."""
    tables = []
    if fills_missing(columns):
        fills = [column.fill if isinstance(column, Number) else _code(column) for column in columns]
        tables.append(real.table("fills", np.array(fills)))
    if has_categories(columns):
        widths = [
            _NUMBER if isinstance(column, Number) else len(column.feature_names)
            for column in columns
        ]
        tables.append(integers("short", "indicators", widths))
    return tables


def _code(column: Category) -> float:
    """The number of the category of missing values; -1 is none of the known ones."""
    return float(len(column.categories)) if column.has_missing else -1.0


def fills_missing(columns: Columns) -> bool:
    """Whether something stands for NaN; after scalers of scikit-learn it stays NaN."""
    return not all(isinstance(column, Number) and math.isnan(column.fill) for column in columns)


def has_categories(columns: Columns) -> bool:
    """Whether there are columns of texts."""
    return any(isinstance(column, Category) for column in columns)


def category_tables(columns: Columns, name: str) -> list[Table]:
    """The names of the columns, and the texts of all categories."""
    if not columns:
        return []
    names = texts(f"{name}_columns", [column.name for column in columns], is_static=False)
    return [names, *text_tables(columns)]


def text_tables(columns: Columns) -> list[Table]:
    """The texts of all categories one after the other."""
    if not has_categories(columns):
        return []
    known = [c.categories if isinstance(c, Category) else () for c in columns]
    first = np.cumsum([0, *(len(categories) for categories in known)])
    every = [text for categories in known for text in categories]
    # C has no arrays of length 0, which a column without known categories would make
    return [texts("categories", every or [""]), integers("int", "category_start", first)]


def column_values(columns: Columns, name: str) -> dict[str, object]:
    """What templates ask of the columns; of none, when a row is taken as it is."""
    explained = ["A row holds a number for each column:"]
    explained += [f"  {place}  {_explained(column)}" for place, column in enumerate(columns)]
    explained += ["NaN is a missing value." if fills_missing(columns) else "NaN gives NaN."]
    return {
        "columns": bool(columns),
        "n_columns": len(columns),
        "categories": has_categories(columns),
        "cell": _cell(columns),
        "scaled": _SCALED,
        "columns_explained": block_comment(explained),
        "column_names": [
            f"extern {table.declaration};" for table in category_tables(columns, name)[:1]
        ],
    }


def _cell(columns: Columns) -> str:
    """The value of a column, or what stands for it where it is NaN."""
    return "x[c] != x[c] ? fills[c] : x[c]" if fills_missing(columns) else "x[c]"


def _explained(column: Number | Category) -> str:
    if isinstance(column, Number):
        return f"{column.name}: a number"
    listed = [f"{code} {text}" for code, text in enumerate(column.categories)]
    more = f" and {len(listed) - _LISTED} more" if len(listed) > _LISTED else ""
    missing = f"; {len(listed)} missing, or NaN" if column.has_missing else ""
    return (
        f"{column.name}: {', '.join(listed[:_LISTED])}{more}{missing}; any other number is none "
        "of them"
    )
