"""Time and memory of SparseSVC against the number of rows, 20 vectors.

Two-norm data of 20 columns from 10^4 to 10^6 rows, with as many evaluations each: the slope on
log-log axes says how the cost of an evaluation grows. Each size runs in a process of its own,
whose peak memory is read at the end.

Run `python -m benchmarks.speed.direct_scaling` from the top of the repository.
"""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import time

import numpy as np

SIZES = (10_000, 31_623, 100_000, 316_228, 1_000_000)
N_VECTORS = 20
N_STEPS = 10
SLOPE = 1.1


def measure(n: int) -> dict[str, float]:
    """Seconds per evaluation and peak memory beyond the data's, for n rows."""
    from kernelet.datasets import make_twonorm
    from kernelet.kernels import Gaussian
    from kernelet.learners.direct.problems.svm import SVMProblem
    from kernelet.learners.direct.search.learn import INNER_SHARE, learn_direct

    X, y = make_twonorm(n, random_state=0)
    Y = np.where(y == y.max(), 1.0, -1.0)[:, None]
    Z = X[:: n // N_VECTORS][:N_VECTORS]
    costs = np.full(n, 1.0)
    few = SVMProblem(Y[:500], costs[:500], "hinge")
    learn_direct(X[:500], Gaussian(0.025), few, Z, max_iter=2)  # compiles
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    start = time.perf_counter()
    problem = SVMProblem(Y, costs, "hinge", INNER_SHARE * 1e-8)
    descent = learn_direct(X, Gaussian(0.025), problem, Z, max_iter=N_STEPS, tol=1e-8)
    seconds = time.perf_counter() - start
    after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return {
        "n": n,
        "seconds": seconds / descent.n_evaluations,
        "megabytes": (after - before) / 1024,
        "data_megabytes": X.nbytes / 2**20,
    }


def rows() -> list[dict[str, object]]:
    """One row for the slope of time, one for that of memory."""
    results = []
    for n in SIZES:
        command = [sys.executable, "-m", "benchmarks.speed.direct_scaling", str(n)]
        output = subprocess.run(command, check=True, capture_output=True, text=True).stdout
        results.append(json.loads(output))
        print({key: round(value, 3) for key, value in results[-1].items()}, file=sys.stderr)
    log_n = np.log([result["n"] for result in results])
    slope = float(np.polyfit(log_n, np.log([result["seconds"] for result in results]), 1)[0])
    memory = results[-1]["megabytes"] / results[-2]["megabytes"]
    growth = results[-1]["n"] / results[-2]["n"]
    return [
        {
            "what": f"seconds per evaluation against rows, {SIZES[0]} to {SIZES[-1]}: slope",
            "ratio": slope,
            "limit": f"<= {SLOPE:g}",
            "holds": slope <= SLOPE,
            "milliseconds": 1e3 * results[-1]["seconds"],
            "other_milliseconds": 1e3 * results[0]["seconds"],
        },
        {
            "what": f"memory beyond the data, {growth:.2f} times the rows: growth",
            "ratio": memory,
            "limit": f"<= {1.1 * growth:.2f}",
            "holds": memory <= 1.1 * growth,
            "milliseconds": float("nan"),
            "other_milliseconds": float("nan"),
        },
    ]


def main() -> int:
    """Print both slopes; with a number of rows as argument, one measurement as JSON."""
    if len(sys.argv) > 1:
        print(json.dumps(measure(int(sys.argv[1]))))
        return 0
    table = rows()
    for row in table:
        print(f"{row['ratio']:8.2f}  limit {row['limit']:<8} {row['what']}")
    return 0 if all(row["holds"] for row in table) else 1


if __name__ == "__main__":
    raise SystemExit(main())
