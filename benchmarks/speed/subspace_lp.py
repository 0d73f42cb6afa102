"""The LP machine in a Gram subspace on MNIST, against SVC, HiGHS and its own parts.

`python -m benchmarks.speed subspace_lp`, or `python -m benchmarks.speed.subspace_lp ROWS` for a
part of the 60000 rows (SVC takes an hour on all of them). SVC is timed on two digits against the
rest and multiplied by five. What HiGHS takes on one class is extrapolated, with the exponent that
two smaller numbers of rows show, where it is more than two minutes.
"""

from __future__ import annotations

import resource
import sys
import time

import highspy
import numpy as np
from sklearn.svm import SVC

from benchmarks import datasets
from kernelet import KernelSubspace, SubspaceLPSVC
from kernelet.solvers import hinge_lasso

N_ROWS = 60_000
COMPONENTS = 400
LANDMARKS = 3000
COST = 12.5
DIGITS = (3, 8)
# What table 4 has for SVMTorch over the linear programs at 400 components.
KERNELS = {
    "poly": ({"kernel": "poly", "degree": 7, "gamma": 1 / 784, "coef0": 0.0}, 6.5),
    "rbf": ({"kernel": "rbf", "gamma": 1 / (784 * 0.2)}, 9.0),
}
HIGHS_FASTER = 20.0
HIGHS_ROWS = (1000, 2000, 4000)
GIGABYTES = 3.0


def rows_of(n_rows: int) -> tuple[np.ndarray, np.ndarray]:
    """Training rows of MNIST, evenly spaced, pixels in [-1, 1]."""
    split = datasets.load("mnist").split(0)
    index = np.linspace(0, len(split.y_train) - 1, n_rows).astype(int)
    return split.X_train[index], split.y_train[index]


def against_svc(name: str, X: np.ndarray, y: np.ndarray) -> list[dict[str, object]]:
    """Ten classes by linear programs, two by LIBSVM times five; and the parts of the former."""
    kernel, faster = KERNELS[name]
    model = SubspaceLPSVC(COMPONENTS, n_landmarks=LANDMARKS, C=COST, random_state=0, **kernel)
    start = time.process_time()
    model.fit(X, y)
    seconds = time.process_time() - start
    gigabytes = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    start = time.process_time()
    for digit in DIGITS:
        SVC(C=COST, cache_size=500, **kernel).fit(X, y == digit)
    other = (time.process_time() - start) * len(model.classes_) / len(DIGITS)
    shares = ", ".join(f"{part} {100 * s / seconds:.0f} %" for part, s in model.seconds_.items())
    return [
        {
            "what": f"{len(model.classes_)} SVC / SubspaceLPSVC, {name}, {len(y)} rows ({shares})",
            "ratio": other / seconds,
            "limit": f">= {faster:g}",
            "holds": bool(other / seconds >= faster),
            "milliseconds": 1e3 * seconds,
            "other_milliseconds": 1e3 * other,
        },
        {
            "what": f"peak GB, {name}, {len(y)} rows",
            "ratio": gigabytes,
            "limit": f"<= {GIGABYTES:g}",
            "holds": bool(gigabytes <= GIGABYTES),
        },
    ]


def by_highs(Phi: np.ndarray, y: np.ndarray) -> float:
    """Seconds of the faster of HiGHS's two methods, on the dual (4.3)."""
    n, m = Phi.shape
    columns = np.hstack([y[:, None] * Phi, y[:, None]])
    program = highspy.HighsLp()
    program.num_col_, program.num_row_ = n, m + 1
    program.col_cost_ = -np.ones(n)
    program.col_lower_, program.col_upper_ = np.zeros(n), np.full(n, COST)
    program.row_lower_, program.row_upper_ = np.append(-np.ones(m), 0.0), np.append(np.ones(m), 0.0)
    program.a_matrix_.format_ = highspy.MatrixFormat.kColwise
    program.a_matrix_.start_ = np.arange(0, columns.size + 1, m + 1)
    program.a_matrix_.index_ = np.tile(np.arange(m + 1), n)
    program.a_matrix_.value_ = columns.ravel()
    times = []
    for solver in ("simplex", "ipm"):
        highs = highspy.Highs()
        for option, value in (("output_flag", False), ("solver", solver), ("threads", 1)):
            highs.setOptionValue(option, value)
        highs.passModel(program)
        start = time.process_time()
        highs.run()
        times.append(time.process_time() - start)
    return min(times)


def against_highs(X: np.ndarray, y: np.ndarray) -> dict[str, object]:
    """One class: ours on all rows, HiGHS on few and extrapolated."""
    space = KernelSubspace(COMPONENTS, n_landmarks=LANDMARKS, random_state=0, **KERNELS["poly"][0])
    Phi = space.fit_transform(X)
    labels = np.where(y == DIGITS[0], 1.0, -1.0)
    start = time.process_time()
    hinge_lasso(Phi, labels, COST, tol=1e-6)
    seconds = time.process_time() - start
    few = [n for n in HIGHS_ROWS if n <= len(y)]
    times = [by_highs(Phi[:: len(y) // n][:n], labels[:: len(y) // n][:n]) for n in few]
    exponent = float(np.polyfit(np.log(few), np.log(times), 1)[0])
    other = times[-1] * (len(y) / few[-1]) ** exponent
    measured = ", ".join(f"{n}: {spent:.1f} s" for n, spent in zip(few, times, strict=True))
    return {
        "what": f"HiGHS / hinge_lasso, one class, {len(y)} x {Phi.shape[1]} (HiGHS {measured}; "
        f"extrapolated with the exponent {exponent:.2f})",
        "ratio": other / seconds,
        "limit": f">= {HIGHS_FASTER:g}",
        "holds": bool(other / seconds >= HIGHS_FASTER),
        "milliseconds": 1e3 * seconds,
        "other_milliseconds": 1e3 * other,
    }


def rows(n_rows: int = N_ROWS) -> list[dict[str, object]]:
    """All comparisons."""
    X, y = rows_of(n_rows)
    return [*against_svc("poly", X, y), *against_svc("rbf", X, y), against_highs(X, y)]


def main() -> None:
    for row in rows(int(sys.argv[1]) if len(sys.argv) > 1 else N_ROWS):
        print(f"{row['ratio']:8.2f}  {row['limit']}  {row['holds']}  {row['what']}", flush=True)


if __name__ == "__main__":
    main()
