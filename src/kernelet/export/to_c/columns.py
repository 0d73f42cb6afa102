"""The columns of a table in C: scales, categories, and what stands for a missing value."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from kernelet.export.to_c.pieces import Real, Table, block_comment, integers, texts
from kernelet.machine.columns import Category, Number

Columns = Sequence[Number | Category]
# In the table of how many indicators a column has: a column of numbers has a scale instead. A
# column of categories may have 0, so that is taken; encode.c and fixed.c ask for this number.
_NUMBER = -1
# Categories that the comment in the header lists, about two lines of it; all are in a table.
_LISTED = 12


def column_tables(columns: Columns, real: Real) -> list[Table]:
    """Shift, scale and filling of numbers; indicators and filling of categories."""
    if not columns:
        return []
    numbers = [column if isinstance(column, Number) else None for column in columns]
    tables = [
        real.table("shifts", np.array([0.0 if n is None else n.shift for n in numbers])),
        real.table("scales", np.array([1.0 if n is None else n.scale for n in numbers])),
    ]
    return [*tables, *filling_tables(columns, real)]


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
    """The names of the columns, and the texts of all categories one after the other."""
    if not columns:
        return []
    tables = [texts(f"{name}_columns", [column.name for column in columns], is_static=False)]
    if not has_categories(columns):
        return tables
    known = [c.categories if isinstance(c, Category) else () for c in columns]
    first = np.cumsum([0, *(len(categories) for categories in known)])
    every = [text for categories in known for text in categories]
    # C has no arrays of length 0, which a column without known categories would make
    tables += [texts("categories", every or [""]), integers("int", "category_start", first)]
    return tables


def column_values(columns: Columns, name: str) -> dict[str, object]:
    """What templates ask of the columns; of none, when a row is taken as it is."""
    explained = ["A row holds a number for each column:"]
    explained += [f"  {place}  {_explained(column)}" for place, column in enumerate(columns)]
    explained += ["NaN is a missing value." if fills_missing(columns) else "NaN gives NaN."]
    return {
        "columns": bool(columns),
        "n_columns": len(columns),
        "categories": has_categories(columns),
        # the value of a column, or what stands for it where it is NaN
        "cell": "x[c] != x[c] ? fills[c] : x[c]" if fills_missing(columns) else "x[c]",
        "columns_explained": block_comment(explained),
        "column_names": [
            f"extern {table.declaration};" for table in category_tables(columns, name)[:1]
        ],
    }


def _explained(column: Number | Category) -> str:
    if isinstance(column, Number):
        return f"{column.name}: a number"
    listed = [f"{code} {text}" for code, text in enumerate(column.categories)]
    more = f" and {len(listed) - _LISTED} more" if len(listed) > _LISTED else ""
    return f"{column.name}: {', '.join(listed[:_LISTED])}{more}; any other number is none of them"
