"""Print error by method and budget of bytes, and which method is best at each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from benchmarks import small
from benchmarks.results import Record, figures_of

# Mean error, its standard error, and mean bytes.
Cell = tuple[float, float, float]
Table = Mapping[str, Mapping[int, Cell]]


def cells(records: Sequence[Record]) -> dict[str, dict[int, Cell]]:
    """Return method -> budget in kB -> what was measured.

    A method of one size has its cell at every budget from the one at which it was measured on.
    """
    grouped: dict[str, dict[int, list[dict[str, float]]]] = {}
    for record in records:
        by_budget = grouped.setdefault(record["method"], {})
        by_budget.setdefault(int(record["budget"]), []).append(figures_of(record))
    budgets = sorted({budget for by_budget in grouped.values() for budget in by_budget})
    found: dict[str, dict[int, Cell]] = {}
    for method, by_budget in sorted(grouped.items()):
        found[method] = {budget: _cell(by_budget[budget]) for budget in sorted(by_budget)}
        if small.get(method).one_size:
            least = min(by_budget)
            found[method] = {b: found[method][least] for b in budgets if b >= least}
    return found


def _cell(measured: Sequence[Mapping[str, float]]) -> Cell:
    errors = [figures["error"] for figures in measured]
    spread = np.std(errors, ddof=1) / np.sqrt(len(errors)) if len(errors) > 1 else 0.0
    return (
        float(np.mean(errors)),
        float(spread),
        float(np.mean([figures["n_bytes"] for figures in measured])),
    )


def best(table: Table, budget: int) -> str:
    """Return the method of least mean error at a budget."""
    measured = {method: row[budget][0] for method, row in table.items() if budget in row}
    return min(measured, key=lambda method: measured[method])


def render(dataset: str, records: Sequence[Record]) -> str:
    """Return the table of a data set as aligned text; the best of a budget has a star."""
    table = cells(records)
    budgets = sorted({budget for row in table.values() for budget in row})
    winners = {budget: best(table, budget) for budget in budgets}
    lines = [[dataset, *(f"{budget} kB" for budget in budgets)]]
    for method, row in table.items():
        shown = [
            f"{row[b][0]:.2f} ± {row[b][1]:.2f}{'*' if winners[b] == method else ' '}"
            if b in row
            else ""
            for b in budgets
        ]
        lines.append([method, *shown])
    widths = [max(len(line[column]) for line in lines) for column in range(len(lines[0]))]
    return "\n".join(
        "  ".join(
            [
                line[0].ljust(widths[0]),
                *(c.rjust(w) for c, w in zip(line[1:], widths[1:], strict=True)),
            ]
        ).rstrip()
        for line in lines
    )
