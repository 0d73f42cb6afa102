"""From rows in floating point to the 16-bit integers of a fixed-point machine, in C."""

from __future__ import annotations

import numpy as np

from kernelet.export.model import ExportedModel
from kernelet.export.projection import Projection
from kernelet.export.to_c.columns import (
    cell,
    column_tables,
    encode_function,
    filling_tables,
    has_categories,
)
from kernelet.export.to_c.fixed_point import LARGEST, FixedPoint
from kernelet.export.to_c.interface import Interface
from kernelet.export.to_c.pieces import REALS, Table, integers
from kernelet.export.to_c.projection import project_function, projection_tables
from kernelet.machine.columns import Number

_FLOAT = REALS["float32"]


def quantize_head(interface: Interface) -> str:
    """The first line of the function."""
    length = "FEATURES" if interface.exported.columns is None else "COLUMNS"
    given = f"const float x[{interface.prefix}_{length}]"
    return f"int {interface.name}_quantize({given}, int16_t q[{interface.kernel_length}])"


def quantize_tables(
    exported: ExportedModel, fixed: FixedPoint, projection: Projection | None
) -> list[Table]:
    """Centre and rate of each column of numbers, or combination; integers of each indicator."""
    columns = exported.columns
    if columns is None or projection is not None:
        tables = [] if columns is None else column_tables(columns, _FLOAT)
        tables += [*projection_tables(projection, _FLOAT), _FLOAT.table("centres", fixed.centres)]
        return tables if _is_even(fixed) else [*tables, _FLOAT.table("rates", fixed.rates)]
    centres, rates, place = [], [], 0
    for column in columns:
        if isinstance(column, Number):
            # ((x - shift) / scale - centre) rate
            centres.append(column.shift + column.scale * float(fixed.centres[place]))
            rates.append(float(fixed.rates[place]) / column.scale)
        else:
            centres.append(0.0)
            rates.append(0.0)
        place += len(column.feature_names)
    tables = [
        _FLOAT.table("centres", np.array(centres)),
        _FLOAT.table("rates", np.array(rates)),
        *filling_tables(columns, _FLOAT),
    ]
    if has_categories(columns):
        tables.append(integers("int16_t", "absent", fixed.quantized(np.zeros(place))))
        tables.append(integers("int16_t", "present", fixed.quantized(np.ones(place))))
    return tables


def _is_even(fixed: FixedPoint) -> bool:
    return bool((fixed.rates == fixed.rates[0]).all())


def quantize_function(
    interface: Interface, fixed: FixedPoint, projection: Projection | None
) -> list[str]:
    """Lines of ``quantize``, and of the rounding that it uses."""
    columns, prefix = interface.exported.columns, interface.prefix
    round_one = [
        "/* The nearest integer of 16 bits; 1 if it is not near. */",
        "static int rounded(float scaled, int16_t *q)",
        "{",
        f"    const float end = {LARGEST}.0f;",
        "",
        "    if (scaled >= -end && scaled <= end) {",
        "        *q = (int16_t)(scaled + (scaled < 0.0f ? -0.5f : 0.5f));",
        "        return 0;",
        "    }",
        f"    *q = scaled > end ? {LARGEST} : -{LARGEST};",
        "    return 1;",
        "}",
        "",
    ]
    head = [*round_one, quantize_head(interface), "{"]

    def rounding(array: str) -> list[str]:
        rate = _FLOAT.constant(float(fixed.rates[0])) if _is_even(fixed) else "rates[i]"
        return [
            f"    for (i = 0; i < {interface.kernel_length}; i++)",
            f"        outside += rounded(({array}[i] - centres[i]) * {rate}, q + i);",
            "    return outside;",
            "}",
            "",
        ]

    if projection is not None:
        encoded = columns is not None
        return [
            *([] if columns is None else encode_function(columns, _FLOAT, prefix)),
            *project_function(projection, _FLOAT, prefix),
            *head,
            *([f"    float row[{prefix}_FEATURES];"] if encoded else []),
            f"    float combined[{interface.kernel_length}];",
            "    int i, outside = 0;",
            "",
            *(["    encode(x, row);"] if encoded else []),
            f"    project({'row' if encoded else 'x'}, combined);",
            *rounding("combined"),
        ]
    if columns is None:
        return [*head, "    int i, outside = 0;", "", *rounding("x")]
    with_categories = has_categories(columns)
    lines = [
        *head,
        f"    int c, {'i, ' if with_categories else ''}feature = 0, outside = 0;",
        "",
        f"    for (c = 0; c < {prefix}_COLUMNS; c++) {{",
        f"        const float value = {cell(columns)};",
        "",
    ]
    number = "outside += rounded((value - centres[c]) * rates[c], q + feature++);"
    if with_categories:
        lines += [
            "        if (indicators[c] < 0)",
            f"            {number}",
            "        for (i = 0; i < indicators[c]; i++, feature++)",
            "            q[feature] = value == (float)i ? present[feature] : absent[feature];",
        ]
    else:
        lines.append(f"        {number}")
    return [*lines, "    }", "    return outside;", "}", ""]
