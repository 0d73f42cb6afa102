"""The figures as text, and whether they keep what was promised."""

from __future__ import annotations

import numpy as np

from benchmarks.direct_rest.families import FAMILIES
from benchmarks.direct_rest.plot import curve
from benchmarks.direct_rest.run import BUDGETS, FORMS, LEDGER, forms_of
from benchmarks.results import figures_of


def show() -> None:
    """Print a line for each data set and budget."""
    records = LEDGER.read()
    print(
        f"{'family':10} {'data':10} vectors {'full':>8} {'nystroem':>9} {'direct':>9}"
        f" {'learned':>9} {'features':>9}   objective   direct method"
    )
    for name, family in FAMILIES.items():
        for dataset in family.data:
            curves = {f: curve(records, dataset, f"{name}_{f}") for f in forms_of(family, dataset)}
            if not all(len(c) for c in curves.values()):
                continue
            full = float(curves["full"][0, 1])
            for row, budget in enumerate(BUDGETS):
                cells = {f: c[row] for f, c in curves.items() if f != "full"}
                lines = [
                    figures_of(r)
                    for r in records
                    if r["dataset"] == dataset
                    and r["method"] == f"{name}_direct"
                    and r["budget"] == str(budget)
                ]
                lower = all(f["objective"] <= f["start"] + 1e-9 * abs(f["start"]) for f in lines)
                print(
                    f"{name:10} {dataset:10} {budget:7} {full:8.2f} "
                    + " ".join(f"{cells[f][1]:9.2f}" if f in cells else 9 * " " for f in FORMS[1:])
                    + f"   {'never above' if lower else 'ABOVE':11} "
                    + verdict(cells, full)
                )


def verdict(cells: dict[str, np.ndarray], full: float) -> str:
    """How the direct method compares: with Nyström in standard errors, with the full method."""
    direct, other = cells["direct"], cells["nystroem"]
    spread = float(np.hypot(direct[2], other[2]))
    if direct[1] <= other[1]:
        first = "better than Nyström"
    elif direct[1] <= other[1] + spread:
        first = "within one s.e. of Nyström"
    else:
        first = "WORSE than Nyström"
    return f"{first}, {100.0 * (direct[1] / full - 1.0):+.0f} % of full"
