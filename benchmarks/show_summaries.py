"""Figures over all data sets of a table: mean ratios that a paper prints, means over rows."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from benchmarks.runner_tables import Row, Table
from benchmarks.show import Comparison

FULL_MACHINE = "svc_ovr"
SPEEDUP = "speedup_over_"
RATIO = "_ratio"
INCOMPLETE = "not all rows are measured"


def summarise(table: Table, comparisons: Sequence[Comparison]) -> list[Comparison]:
    """Return the summaries of a table, each with ours where all its rows are measured."""
    found = [
        _compared(row, figure, _mean_ratio(comparisons, row.method, figure))
        for row in table.summaries
        for figure in row.published
    ]
    for figure, tolerance in table.mean_tolerance.items():
        chosen = [c for c in comparisons if c.figure == figure and figure in c.row.tolerance]
        row = Row(
            dataset="all",
            method="rows with a tolerance",
            parameters={},
            published={figure: float(np.mean([c.published for c in chosen]))},
            tolerance={figure: tolerance},
            side="worse",
        )
        measured = all(c.values for c in chosen)
        value = float(np.mean([c.mean for c in chosen])) if measured else None
        found.append(_compared(row, figure, value))
    return found


def _compared(row: Row, figure: str, value: float | None) -> Comparison:
    values = () if value is None else (value,)
    remark = INCOMPLETE if value is None else ""
    return Comparison(row, figure, row.published[figure], values, remark)


def _mean_ratio(comparisons: Sequence[Comparison], method: str, figure: str) -> float | None:
    """Return the mean over data sets of a figure divided by that of the method compared with."""
    if figure.startswith(SPEEDUP):
        above = _by_dataset(comparisons, figure.removeprefix(SPEEDUP), "seconds")
        below = _by_dataset(comparisons, method, "seconds")
    else:
        above = _by_dataset(comparisons, method, figure.removesuffix(RATIO))
        below = _by_dataset(comparisons, FULL_MACHINE, figure.removesuffix(RATIO))
    if not above or above.keys() != below.keys() or None in (*above.values(), *below.values()):
        return None
    return float(np.mean([_number(above[name]) / _number(below[name]) for name in above]))


def _by_dataset(
    comparisons: Sequence[Comparison], method: str, figure: str
) -> dict[str, float | None]:
    return {
        c.row.dataset: c.mean if c.values else None
        for c in comparisons
        if c.row.method == method and c.figure == figure
    }


def _number(value: float | None) -> float:
    assert value is not None
    return value
