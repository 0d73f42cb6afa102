"""A million rows: two-norm data (`kernelet.datasets.make_twonorm`) of 20 columns, 20 vectors.

The error is that of 100 000 other rows, where the best possible is 2.3 %.
"""

from __future__ import annotations

from collections.abc import Iterator

from benchmarks.speed.direct_method.measure import Bench, Row, Task, error_row, time_row

CASES = ("growth", "dask", "boosting")
FEW, MANY, MIDDLE = 100_000, 1_000_000, 270_000
PARAMETERS = {"n_vectors": 20}
GROWTH = 3.0
WORKERS_RATIO = 2.0
POINTS = 0.1


def ours(n: int, task: str = "fit") -> Task:
    return Task(f"twonorm_{n}", "SparseSVC", PARAMETERS, task=task)


def from_all_rows(n: int) -> Task:
    """A search that sees all rows from its first step on, as that of the earlier commit does."""
    parameters = {**PARAMETERS, "loss": "squared_hinge"}
    return Task(f"twonorm_{n}", "SparseSVC", parameters, sources="before")


def rows(bench: Bench, case: str) -> Iterator[Row]:
    """Time against rows, against memory, or against boosted trees."""
    if case == "growth":
        few, many = bench.measure(ours(FEW)), bench.measure(ours(MANY))
        what = f"{MANY} rows / {FEW}: time"
        yield time_row(what, many["seconds"], few["seconds"], GROWTH)
        whole = bench.measure(from_all_rows(MANY))
        what = f"{MANY} rows: error % / {POINTS} points above that of all rows from the start"
        yield error_row(what, many["error"], whole["error"] + POINTS, many["seconds"])
    elif case == "dask":
        memory, workers = bench.measure(ours(MANY)), bench.measure(ours(MANY, "dask"))
        what = f"{MANY} rows on two Dask workers ({workers['error']:.2f} %) / in memory "
        what += f"({memory['error']:.2f} %): time on the wall"
        yield time_row(what, workers["wall"], memory["wall"], WORKERS_RATIO)
    else:
        found = bench.measure(ours(MIDDLE))
        trees = bench.measure(Task(f"twonorm_{MIDDLE}", "HistGradientBoostingClassifier"))
        what = f"{MIDDLE} rows, error {found['error']:.2f} % / HistGradientBoostingClassifier "
        what += f"{trees['error']:.2f} %: time"
        yield time_row(what, found["seconds"], trees["seconds"], None)
