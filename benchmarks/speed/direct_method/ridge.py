"""`SparseKernelRidge` by defaults: the squared error in percent of the variance, five splits."""

from __future__ import annotations

from collections.abc import Iterator

from benchmarks.speed.direct_method.measure import Bench, Row, Task, error_row

LIMITS = {
    "friedman1": 7.5,
    "friedman2": 11.5,
    "friedman3": 16.5,
    "surface": 16.0,
    "sinc": 8.2,
    "diabetes": 57.0,
}
CASES = tuple(LIMITS)


def rows(bench: Bench, case: str) -> Iterator[Row]:
    """The mean error of a set."""
    found = bench.mean(Task(case, "SparseKernelRidge", {"n_vectors": 20}), range(5))
    what = f"{case}, 20 vectors: error in % of the variance"
    yield error_row(what, found["error"], LIMITS[case], found["seconds"])
