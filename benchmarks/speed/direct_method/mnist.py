"""All 60 000 rows of MNIST, pixels in [0, 1], against a network of 100 units by its defaults."""

from __future__ import annotations

from collections.abc import Iterator

from benchmarks.speed.direct_method.measure import Bench, Row, Task, error_row, time_row

CASES = ("mnist",)
LIMITS = {30: 3.3, 100: 1.9}
MEGABYTES = 2000.0


def rows(bench: Bench, case: str) -> Iterator[Row]:
    """Error, time and the most memory of the process."""
    ours = {m: bench.measure(Task(case, "SparseSVC", {"n_vectors": m})) for m in LIMITS}
    for m, found in ours.items():
        yield error_row(f"{m} vectors: error %", found["error"], LIMITS[m], found["seconds"])
        what = f"{m} vectors: megabytes, {found['megabytes_before']:.0f} of them before the fit"
        yield error_row(what, found["megabytes"], MEGABYTES)
    network = bench.measure(Task(case, "MLPClassifier", {"hidden_layer_sizes": [100]}))
    for m, found in ours.items():
        what = f"{m} vectors / 100 units ({network['error']:.2f} %): time"
        yield time_row(what, found["seconds"], network["seconds"], 1.0)
