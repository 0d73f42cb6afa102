"""The linear programming SVM against HiGHS, simplex and interior point, in its dual form.

Run `python -m benchmarks.speed.hinge_lasso` from the top of the repository. Features are kernel
values at sampled centres (Gaussian kernel of two and of ten columns of data), and plain Gaussian
columns of which a tenth says something of the classes.
"""

from __future__ import annotations

import json
import resource
import statistics
import subprocess
import sys
import time
from collections.abc import Callable

import highspy
import numpy as np

from kernelet.kernels import Gaussian
from kernelet.solvers import Solution, hinge_lasso, hinge_lasso_many

FASTER = 10.0
SECONDS = 120.0
MEGABYTES = 2000.0
TOL = 1e-6

Data = tuple[np.ndarray, np.ndarray]


def kernel_of_ten(n: int, m: int) -> Data:
    """Kernel values of two noisy classes in ten dimensions at m of the rows."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 10))
    y = np.where((X**2).sum(axis=1) + 2.0 * rng.normal(size=n) > 10.0, 1.0, -1.0)
    return Gaussian(0.05)(X, X[rng.choice(n, m, replace=False)]), y


def kernel_of_two(n: int, m: int) -> Data:
    """A noisy checkerboard in the plane: columns that depend on each other to twelve digits."""
    rng = np.random.default_rng(0)
    X = rng.uniform(-1.0, 1.0, size=(n, 2))
    board = np.sin(4.0 * X[:, 0]) * np.cos(4.0 * X[:, 1])
    y = np.where(board + 0.1 * rng.normal(size=n) > 0.0, 1.0, -1.0)
    return Gaussian(4.0)(X, X[rng.choice(n, m, replace=False)]), y


def plain(n: int, m: int) -> Data:
    """Independent columns."""
    rng = np.random.default_rng(0)
    Phi = rng.normal(size=(n, m))
    w = np.where(np.arange(m) < m // 10, rng.normal(size=m), 0.0)
    y = np.where(Phi @ w / np.sqrt(m / 10) + 0.5 * rng.normal(size=n) > 0.0, 1.0, -1.0)
    return Phi, y


DATA: dict[str, Callable[[int, int], Data]] = {
    "kernel of 10 columns": kernel_of_ten,
    "kernel of 2 columns": kernel_of_two,
    "plain columns": plain,
}


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


def ours(Phi: np.ndarray, y: np.ndarray, C: float) -> tuple[float, Solution]:
    """Seconds and solution."""
    start = time.perf_counter()
    solution = hinge_lasso(Phi, y, C, tol=TOL)
    return time.perf_counter() - start, solution


def against_highs(name: str, C: float = 1.0, n: int = 10_000, m: int = 200) -> dict[str, object]:
    """The faster of HiGHS's two solvers, ours before, between and after them."""
    Phi, y = DATA[name](n, m)
    runs = [ours(Phi, y, C)]
    times = {}
    for solver in ("simplex", "ipm"):
        times[solver], value = by_highs(Phi, y, C, solver)
        runs.append(ours(Phi, y, C))
        if times[solver] < SECONDS:
            solution = runs[-1][1]
            assert abs(value - solution.primal_value) <= 1e-4 * solution.primal_value
    seconds = statistics.median(run[0] for run in runs)
    gap = max(run[1].gap for run in runs)
    other = min(times.values())
    figures = ", ".join(f"{solver} {spent:.2f} s" for solver, spent in times.items())
    return {
        "what": f"HiGHS / hinge_lasso, {n} x {m}, {name} (gap {gap:.0e}, {figures})",
        "ratio": other / seconds,
        "limit": f">= {FASTER:g}",
        "holds": bool(other / seconds >= FASTER and gap <= TOL),
        "milliseconds": 1e3 * seconds,
        "other_milliseconds": 1e3 * other,
    }


def large(name: str, n: int, m: int) -> dict[str, float]:
    """Seconds, gap and peak memory in this process."""
    seconds, solution = ours(*DATA[name](n, m), 1.0)
    megabytes = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return {"seconds": seconds, "gap": solution.gap, "megabytes": megabytes}


def memory(name: str, n: int = 60_000, m: int = 400) -> dict[str, object]:
    """A large problem in a process of its own."""
    command = [sys.executable, "-m", "benchmarks.speed.hinge_lasso", name, str(n), str(m)]
    figures = json.loads(subprocess.run(command, check=True, capture_output=True).stdout)
    return {
        "what": f"peak MB, {n} x {m}, {name} (gap {figures['gap']:.0e}, "
        f"data {n * m / 2**17:.0f} MB)",
        "ratio": figures["megabytes"],
        "limit": f"<= {MEGABYTES:g}",
        "holds": bool(figures["megabytes"] <= MEGABYTES and figures["gap"] <= TOL),
        "milliseconds": 1e3 * figures["seconds"],
        "other_milliseconds": float("nan"),
    }


def path(name: str, n: int = 10_000, m: int = 200) -> dict[str, object]:
    """A dozen costs from 0.1 to 10, each from the solution before, in units of a cold solve."""
    Phi, y = DATA[name](n, m)
    costs = np.geomspace(0.1, 10.0, 12)
    cold = statistics.mean(ours(Phi, y, C)[0] for C in costs[::4])
    start = time.perf_counter()
    last, gap = None, 0.0
    for C in costs:
        last = hinge_lasso(Phi, y, C, tol=TOL, warm_start=last)
        gap = max(gap, last.gap)
    seconds = time.perf_counter() - start
    return {
        "what": f"12 costs warm / one cold, {n} x {m}, {name} (gap {gap:.0e})",
        "ratio": seconds / cold,
        "limit": "none",
        "holds": bool(gap <= TOL),
        "milliseconds": 1e3 * seconds,
        "other_milliseconds": 1e3 * cold,
    }


def rows() -> list[dict[str, object]]:
    """All comparisons."""
    Phi, y = plain(200, 10)
    hinge_lasso_many(Phi, y[:, None])  # imports
    return [
        *(against_highs(name) for name in DATA),
        *(memory(name) for name in DATA),
        *(path(name) for name in DATA),
    ]


def main() -> int:
    """Print the figures; with a kind of data and two numbers, one measurement as JSON."""
    if len(sys.argv) > 3:
        print(json.dumps(large(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))))
        return 0
    table = rows()
    for row in table:
        mark = "" if row["holds"] else "   MISSED"
        times = f"{row['limit']:9s} {row['milliseconds']:9.0f} ms"
        print(f"{row['ratio']:9.2f}  {times}  {row['what']}{mark}")
    return 0 if all(row["holds"] for row in table) else 1


if __name__ == "__main__":
    raise SystemExit(main())
