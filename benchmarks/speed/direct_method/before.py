"""Against the sources of an earlier commit, both with the same cost: how much faster, no worse.

The lines of the earlier commit are kept by its sources and the machine; letter with 100 vectors
takes minutes. Standardised inputs, one thread.
"""

from __future__ import annotations

from collections.abc import Iterator

from benchmarks.speed.direct_method.measure import Bench, Row, Task, error_row, time_row

CASES = ("digits", "optdigits", "pendigits", "usps", "letter")
# Costs at which both do well; no other parameter is set.
COSTS = {"optdigits": 5.0, "pendigits": 5.0, "usps": 1.0, "letter": 10.0}
N_VECTORS = {"letter": (50, 100)}
SPEED_UP = {"letter": 10.0}
BUDGETS = (5, 10, 20, 50)


def rows(bench: Bench, case: str) -> Iterator[Row]:
    """Ratios of times, ours over those before, and the error next to the one before."""
    if case == "digits":
        yield from search(bench)
        return
    for m in N_VECTORS.get(case, (20, 50, 100)):
        parameters = {"n_vectors": m, "C": COSTS[case]}
        ours = bench.measure(Task(case, "SparseSVC", parameters, inputs="standardised"))
        then = bench.measure(
            Task(case, "SparseSVC", parameters, inputs="standardised", sources="before")
        )
        limit = 1.0 / SPEED_UP.get(case, 5.0)
        what = f"{case}, {m} vectors / {bench.before}"
        yield time_row(f"{what}: time", ours["seconds"], then["seconds"], limit)
        yield error_row(f"{what}: error %", ours["error"], then["error"])


def search(bench: Bench) -> Iterator[Row]:
    """`BudgetSearchCV` on digits."""
    task = Task("digits", "SparseSVC", {"budgets": BUDGETS}, task="search")
    ours = bench.measure(task)
    then = bench.measure(Task(**{**vars(task), "sources": "before"}))
    what = f"digits, BudgetSearchCV over {', '.join(map(str, BUDGETS))} / {bench.before}"
    yield time_row(f"{what}: time", ours["seconds"], then["seconds"], 0.2)
    yield error_row(f"{what}: error %", ours["error"], then["error"])
