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
    """Return for each method and budget the lines of what is shipped, with that budget.

    Budgets are all that any method was tuned for.
    """
    budgets = sorted({record["budget"] for record in records}, key=float)
    lines: list[Record] = []
    for method in sorted({record["method"] for record in records}):
        best: list[Record] = []
        for budget in budgets:
            wanted = method, budget
            own = [record for record in records if (record["method"], record["budget"]) == wanted]
            if own and (not best or _validation(own) <= _validation(best)):
                best = own
            lines += [{**record, "budget": budget} for record in best]
    return lines


def _validation(records: Sequence[Record]) -> float:
    return float(np.mean([figures_of(record)["validation"] for record in records]))
