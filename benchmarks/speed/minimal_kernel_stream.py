"""A minimal kernel classifier on a stream of a million rows, against a fit on a part of it.

`python -m benchmarks.speed minimal_kernel_stream`, or with a number of rows
`python -m benchmarks.speed.minimal_kernel_stream 100000`. The rows are a banana-shaped problem,
drawn batch by batch and forgotten.
"""

from __future__ import annotations

import resource
import sys
import time

import numpy as np

from kernelet import MinimalKernelSVC
from kernelet.datasets import make_banana

N_ROWS = 1_000_000
BATCH = 10_000
N_BATCH_FIT = 20_000
WORSE = 1.0
MEGABYTES = 50.0
WARM_UP = 5


def memory() -> float:
    """Peak memory of this process in megabytes."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def model() -> MinimalKernelSVC:
    return MinimalKernelSVC(1.0, gamma=1.0, n_candidates=50, random_state=0)


def stream(n_rows: int) -> tuple[MinimalKernelSVC, float, float]:
    """The classifier, seconds in all, and megabytes by which memory grew after a few batches."""
    learner, spent, early = model(), 0.0, 0.0
    for k in range(n_rows // BATCH):
        X, y = make_banana(BATCH, random_state=k)
        start = time.process_time()
        learner.partial_fit(X, y, classes=[0, 1])
        spent += time.process_time() - start
        if k == WARM_UP:
            early = memory()
    return learner, spent, memory() - early


def rows(n_rows: int = N_ROWS) -> list[dict[str, object]]:
    """Error and memory."""
    test = make_banana(100_000, random_state=2**31 - 1)
    learner, spent, growth = stream(n_rows)
    X, y = make_banana(N_BATCH_FIT, random_state=0)
    start = time.process_time()
    batch = model().fit(X, y)
    once = time.process_time() - start
    errors = [100.0 * (1.0 - m.score(*test)) for m in (learner, batch)]
    sizes = [m.n_vectors_ for m in (learner, batch)]
    kept = learner._kept.codes.size
    return [
        {
            "what": f"error % after {learner.n_rows_seen_} rows in batches of {BATCH} less that of "
            f"one fit on {N_BATCH_FIT} ({errors[0]:.2f} and {errors[1]:.2f}; vectors {sizes[0]} "
            f"and {sizes[1]}; {kept} rows kept)",
            "ratio": errors[0] - errors[1],
            "limit": f"<= {WORSE:g}",
            "holds": bool(errors[0] - errors[1] <= WORSE),
            "milliseconds": 1e3 * spent,
            "other_milliseconds": 1e3 * once,
        },
        {
            "what": f"MB by which memory grew after batch {WARM_UP + 1} of {n_rows // BATCH}",
            "ratio": growth,
            "limit": f"<= {MEGABYTES:g}",
            "holds": bool(np.isfinite(growth) and growth <= MEGABYTES),
        },
    ]


if __name__ == "__main__":
    for row in rows(int(sys.argv[1]) if len(sys.argv) > 1 else N_ROWS):
        print(f"{row['ratio']:8.2f}  {row['limit']}  {row['holds']}  {row['what']}")
