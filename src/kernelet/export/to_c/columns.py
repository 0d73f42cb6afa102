"""The columns of a table in C: scales, categories, and what stands for a missing value."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from kernelet.export.to_c.pieces import Real, Table, block_comment, integers, texts
from kernelet.machine.columns import Category, Number

Columns = Sequence[Number | Category]
# In the table of how many indicators a column has.
_NUMBER = -1
# Categories that a comment lists, about two lines of them; the table has them all.
_LISTED = 12


def column_tables(columns: Columns, real: Real) -> list[Table]:
    """Shift, scale and filling of numbers; indicators and filling of categories."""
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


def encode_function(columns: Columns, real: Real, prefix: str) -> list[str]:
    """Lines of ``static void encode(const real *x, real *row)``."""
    zero, one = real.constant(0.0), real.constant(1.0)
    lines = [
        "/* Numbers are scaled, categories become indicators. */",
        f"static void encode(const {real.name} *x, {real.name} *row)",
        "{",
        "    int c, i;" if has_categories(columns) else "    int c;",
        "",
        f"    for (c = 0; c < {prefix}_COLUMNS; c++) {{",
        f"        const {real.name} value = {cell(columns)};",
        "",
    ]
    if not has_categories(columns):
        return [*lines, "        row[c] = (value - shifts[c]) / scales[c];", "    }", "}", ""]
    return [
        *lines,
        f"        if (indicators[c] == {_NUMBER})",
        "            *row++ = (value - shifts[c]) / scales[c];",
        "        for (i = 0; i < indicators[c]; i++)",
        f"            *row++ = value == ({real.name})i ? {one} : {zero};",
        "    }",
        "}",
        "",
    ]


def cell(columns: Columns) -> str:
    """The value of a column, or what stands for it where it is NaN."""
    return "x[c] != x[c] ? fills[c] : x[c]" if fills_missing(columns) else "x[c]"


def category_tables(columns: Columns, name: str) -> list[Table]:
    """The names of the columns, and the texts of all categories one after the other."""
    tables = [texts(f"{name}_columns", [column.name for column in columns], is_static=False)]
    if not has_categories(columns):
        return tables
    known = [c.categories if isinstance(c, Category) else () for c in columns]
    first = np.cumsum([0, *(len(categories) for categories in known)])
    every = [text for categories in known for text in categories]
    return [
        *tables,
        texts("categories", every or [""]),
        integers("int", "category_start", first),
    ]


def category_function(columns: Columns, name: str) -> list[str]:
    """Lines of the function that finds the number of a category."""
    if not has_categories(columns):
        return []
    return [
        _category_head(name),
        "{",
        "    int i, k;",
        "",
        f"    if (column < 0 || column >= {name.upper()}_COLUMNS || indicators[column] < 0)",
        "        return -1;",
        "    if (text[0] == '\\0')",
        "        return (int)fills[column];",
        "    for (i = category_start[column]; i < category_start[column + 1]; i++) {",
        "        for (k = 0; text[k] != '\\0' && text[k] == categories[i][k]; k++)",
        "            ;",
        "        if (text[k] == categories[i][k])",
        "            return i - category_start[column];",
        "    }",
        "    return -1;",
        "}",
        "",
    ]


def _category_head(name: str) -> str:
    return f"int {name}_category(int column, const char *text)"


def column_declarations(columns: Columns, name: str) -> list[str]:
    """What the header says of the columns."""
    explained = ["A row holds a number for each column:"]
    explained += [f"  {place}  {_explained(column)}" for place, column in enumerate(columns)]
    explained += ["NaN is a missing value." if fills_missing(columns) else "NaN gives NaN."]
    lines = [*block_comment(explained), f"extern {category_tables(columns, name)[0].declaration};"]
    if has_categories(columns):
        meaning = [
            "The number that stands for a text in a column of categories: -1, none of the known",
            "ones, for a text that was not there in training; an empty text is a missing value.",
        ]
        lines += ["", *block_comment(meaning), f"{_category_head(name)};"]
    return [*lines, ""]


def _explained(column: Number | Category) -> str:
    if isinstance(column, Number):
        return f"{column.name}: a number"
    listed = [f"{code} {text}" for code, text in enumerate(column.categories)]
    more = f" and {len(listed) - _LISTED} more" if len(listed) > _LISTED else ""
    return f"{column.name}: {', '.join(listed[:_LISTED])}{more}; any other number is none of them"
