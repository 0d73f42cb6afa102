"""The linear programming SVM beside HiGHS, simplex and interior point, in its dual form.

Run `python -m benchmarks.speed.hinge_lasso` from the top of the repository. Features are kernel
values at sampled centres (Gaussian kernel, ten columns of data).
"""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import time

import highspy
import numpy as np

from kernelet.kernels import Gaussian
from kernelet.solvers import hinge_lasso

FASTER = 10.0
SECONDS = 120.0
MEGABYTES = 2000.0


def kernel_rows(n: int, m: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Kernel values of two noisy classes at m of the rows."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 10))
    y = np.where((X**2).sum(axis=1) + 2.0 * rng.normal(size=n) > 10.0, 1.0, -1.0)
    return Gaussian(0.05)(X, X[rng.choice(n, m, replace=False)]), y


def by_highs(Phi: np.ndarray, y: np.ndarray, C: float, solver: str) -> tuple[float, float]:
    """Seconds and optimum of max sum a, |Phi'Ya| <= 1, y'a = 0, 0 <= a <= C."""
    n, m = Phi.shape
    columns = np.hstack([y[:, None] * Phi, y[:, None]])
    program = highspy.HighsLp()
    program.num_col_, program.num_row_ = n, m + 1
    program.col_cost_ = -np.ones(n)
    program.col_lower_, program.col_upper_ = np.zeros(n), np.full(n, C)
    program.row_lower_ = np.append(-np.ones(m), 0.0)
    program.row_upper_ = np.append(np.ones(m), 0.0)
    program.a_matrix_.format_ = highspy.MatrixFormat.kColwise
    program.a_matrix_.start_ = np.arange(0, columns.size + 1, m + 1)
    program.a_matrix_.index_ = np.tile(np.arange(m + 1), n)
    program.a_matrix_.value_ = columns.ravel()
    highs = highspy.Highs()
    highs.setOptionValue("output_flag", False)
    highs.setOptionValue("solver", solver)
    highs.setOptionValue("time_limit", SECONDS)
    highs.passModel(program)
    start = time.perf_counter()
    highs.run()
    seconds = time.perf_counter() - start
    return seconds, -highs.getInfo().objective_function_value


def against_highs(n: int = 10_000, m: int = 200) -> dict[str, object]:
    """The faster of HiGHS's two solvers."""
    Phi, y = kernel_rows(n, m)
    start = time.perf_counter()
    solution = hinge_lasso(Phi, y, 1.0, tol=1e-6)
    ours = time.perf_counter() - start
    times = {}
    for solver in ("simplex", "ipm"):
        times[solver], value = by_highs(Phi, y, 1.0, solver)
        if times[solver] < SECONDS:
            assert abs(value - solution.primal_value) <= 1e-4 * solution.primal_value
    other = min(times.values())
    figures = ", ".join(f"{name} {seconds:.2f} s" for name, seconds in times.items())
    return {
        "what": f"HiGHS / hinge_lasso, {n} x {m} (gap {solution.gap:.0e}, {figures})",
        "ratio": other / ours,
        "limit": f">= {FASTER:g}",
        "holds": bool(other / ours >= FASTER and solution.gap <= 1e-6),
        "milliseconds": 1e3 * ours,
        "other_milliseconds": 1e3 * other,
    }


def large(n: int, m: int) -> dict[str, float]:
    """Seconds, gap and peak memory in this process."""
    Phi, y = kernel_rows(n, m)
    start = time.perf_counter()
    solution = hinge_lasso(Phi, y, 1.0, tol=1e-6)
    seconds = time.perf_counter() - start
    megabytes = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return {"seconds": seconds, "gap": solution.gap, "megabytes": megabytes}


def memory(n: int = 60_000, m: int = 400) -> dict[str, object]:
    """A large problem in a process of its own."""
    command = [sys.executable, "-m", "benchmarks.speed.hinge_lasso", str(n), str(m)]
    figures = json.loads(subprocess.run(command, check=True, capture_output=True).stdout)
    return {
        "what": f"peak MB, {n} x {m} (gap {figures['gap']:.0e}, data {n * m / 2**17:.0f} MB)",
        "ratio": figures["megabytes"],
        "limit": f"<= {MEGABYTES:g}",
        "holds": bool(figures["megabytes"] <= MEGABYTES and figures["gap"] <= 1e-6),
        "milliseconds": 1e3 * figures["seconds"],
        "other_milliseconds": float("nan"),
    }


def rows() -> list[dict[str, object]]:
    """Both comparisons."""
    hinge_lasso(*kernel_rows(200, 5), 1.0)  # imports
    return [against_highs(), memory()]


def main() -> int:
    """Print the figures; with two numbers as arguments, one measurement as JSON."""
    if len(sys.argv) > 2:
        print(json.dumps(large(int(sys.argv[1]), int(sys.argv[2]))))
        return 0
    table = rows()
    for row in table:
        mark = "" if row["holds"] else "   MISSED"
        times = f"{row['limit']:9s} {row['milliseconds']:9.0f} ms"
        print(f"{row['ratio']:9.2f}  {times}  {row['what']}{mark}")
    return 0 if all(row["holds"] for row in table) else 1


if __name__ == "__main__":
    raise SystemExit(main())
