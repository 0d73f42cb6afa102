"""Defaults against a network of as many hidden units, by its defaults: half its time, its error.

Standardised inputs, one thread each, means over three seeds (digits: the seed draws the split too).
"""

from __future__ import annotations

from collections.abc import Iterator

from benchmarks.speed.direct_method.measure import Bench, Row, Task, error_row, time_row

CASES = ("digits", "optdigits", "pendigits", "satimage", "usps", "letter")
N_VECTORS = (20, 50)
SEEDS = range(3)
RATIO = 0.5
# Points by which the error may be above the network's; none where nothing is said.
MORE_ERROR = {("letter", 20): 1.5}


def rows(bench: Bench, case: str) -> Iterator[Row]:
    """Time and error, for each number of vectors."""
    for m in N_VECTORS:
        ours = Task(case, "SparseSVC", {"n_vectors": m}, inputs="standardised")
        network = Task(case, "MLPClassifier", {"hidden_layer_sizes": [m]}, inputs="standardised")
        a, b = bench.mean(ours, SEEDS), bench.mean(network, SEEDS)
        yield time_row(f"{case}, {m} vectors / {m} units: time", a["seconds"], b["seconds"], RATIO)
        allowed = b["error"] + MORE_ERROR.get((case, m), 0.0)
        yield error_row(f"{case}, {m} vectors: error % / the network's", a["error"], allowed)
