"""What a budget of bytes admits: the machines that were measured for it, and smaller ones.

A model that fits into 4 kB fits into 8. Of those that were tuned for a budget and for smaller ones,
the one of least validation error is what one would ship, whatever the method: with more bytes some
methods overfit, or diverge.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from benchmarks.results import Ledger, Record, figures_of


def read_lines(path: Path) -> list[Record]:
    """Return the lines of a csv; those of a frontier of bytes as `admitted` has them."""
    records = Ledger(path).read()
    return admitted(records) if path.name.startswith("bytes_") else records


def admitted(records: Sequence[Record]) -> list[Record]:
    """Return for each method and budget the lines of what is shipped, with that budget."""
    grouped: dict[str, dict[float, list[Record]]] = {}
    for record in records:
        by_budget = grouped.setdefault(record["method"], {})
        by_budget.setdefault(float(record["budget"]), []).append(record)
    lines = []
    for by_budget in grouped.values():
        best: list[Record] = []
        for _, own in sorted(by_budget.items()):
            if not best or _validation(own) <= _validation(best):
                best = own
            lines += [{**record, "budget": own[0]["budget"]} for record in best]
    return lines


def _validation(records: Sequence[Record]) -> float:
    return float(np.mean([figures_of(record)["validation"] for record in records]))
