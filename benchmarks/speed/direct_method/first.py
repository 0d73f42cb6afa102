"""The first fit of a fresh process against its second, on digits; the middle of three processes.

Compiled loops are in their cache by then, since other fits came before: loading them is measured.
"""

from __future__ import annotations

from collections.abc import Iterator

from benchmarks.speed.direct_method.measure import Bench, Row, Task, time_row

CASES = ("digits",)
PROCESSES = 3
LIMIT = 1.3


def rows(bench: Bench, case: str) -> Iterator[Row]:
    """Seconds on the wall, as a user waits."""
    bench.measure(Task(case, "SparseSVC", {"n_vectors": 20}))  # compiles, where that is needed
    found = [
        bench.measure(Task(case, "SparseSVC", {"n_vectors": 20}, unit, task="first"))
        for unit in range(PROCESSES)
    ]
    found.sort(key=lambda each: each["wall"] / each["second_wall"])
    middle = found[PROCESSES // 2]
    what = f"{case}, first fit of a process / its second"
    yield time_row(what, middle["wall"], middle["second_wall"], LIMIT)
