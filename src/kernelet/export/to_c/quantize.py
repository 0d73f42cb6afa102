"""From rows in floating point to the 16-bit integers of a fixed-point machine, in C."""

from __future__ import annotations

import numpy as np

from kernelet.export.model import ExportedModel
from kernelet.export.projection import Projection
from kernelet.export.to_c.columns import column_tables, filling_tables, has_categories
from kernelet.export.to_c.fixed_answers import FLOAT
from kernelet.export.to_c.fixed_point import FixedPoint
from kernelet.export.to_c.pieces import Table, integers
from kernelet.export.to_c.projection import projection_tables
from kernelet.machine.columns import Number


def quantize_tables(
    exported: ExportedModel, fixed: FixedPoint, projection: Projection | None
) -> list[Table]:
    """Centre and rate of each column of numbers, or combination; integers of each indicator."""
    columns = exported.columns
    # the integers are made of what the kernel takes, once it is computed
    if columns is None or projection is not None:
        tables = [
            *column_tables(columns or (), FLOAT),
            *projection_tables(projection, FLOAT),
            FLOAT.table("centres", fixed.centres),
        ]
        return tables if _is_even(fixed) else [*tables, FLOAT.table("rates", fixed.rates)]
    # or of the columns at once: no row of floats is kept
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
        FLOAT.table("centres", np.array(centres)),
        FLOAT.table("rates", np.array(rates)),
        *filling_tables(columns, FLOAT),
    ]
    if has_categories(columns):
        tables.append(integers("int16_t", "absent", fixed.quantized(np.zeros(place))))
        tables.append(integers("int16_t", "present", fixed.quantized(np.ones(place))))
    return tables


def _is_even(fixed: FixedPoint) -> bool:
    return bool((fixed.rates == fixed.rates[0]).all())


def quantize_values(
    exported: ExportedModel, fixed: FixedPoint, projection: Projection | None
) -> dict[str, object]:
    """What the template asks of ``quantize``."""
    by_column = exported.columns is not None and projection is None
    # one rate is a constant; those of columns have a table in any case
    is_constant = _is_even(fixed) and not by_column
    return {
        "real": FLOAT.name,
        "f": FLOAT.suffix,
        "by_column": by_column,
        "encodes": exported.columns is not None and not by_column,
        "rate": FLOAT.constant(float(fixed.rates[0])) if is_constant else "rates[i]",
    }
