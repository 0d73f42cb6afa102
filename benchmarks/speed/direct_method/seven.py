"""Seven classes in 54 unscaled columns, 4500 rows, by defaults: the test error."""

from __future__ import annotations

from collections.abc import Iterator

from benchmarks.speed.direct_method.measure import Bench, Row, Task, error_row

CASES = ("seven",)
LIMIT = 33.0


def rows(bench: Bench, case: str) -> Iterator[Row]:
    """The error with 20 vectors."""
    found = bench.measure(Task(case, "SparseSVC", {"n_vectors": 20}))
    yield error_row("20 vectors: error %", found["error"], LIMIT, found["seconds"])
