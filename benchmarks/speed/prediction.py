"""How long a KernelMachine takes, against what cannot be avoided and scikit-learn's SVC.

Three comparisons, each within one run and with repetitions in turns, since the load of a machine
changes from second to second; the best time of each counts:

- a batch of rows against the matrix product `X @ Z.T` and `np.exp` of it alone, in the same type;
- the same batch against `SVC.decision_function` with as many support vectors;
- one row against `SVC.decision_function` of one row.

Run `python -m benchmarks.speed.prediction` from the top of the repository.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

import numpy as np
from sklearn.svm import SVC

from kernelet.kernels import Gaussian
from kernelet.machine import KernelMachine

SHAPES = ((16, 50), (64, 50), (256, 300), (784, 100))
N_ROWS = 100_000
# LIBSVM's time grows linearly in the rows, so a tenth of them is enough to know it.
SVC_SHARE = 10

LIMIT_RATIO = 2.0
SVC_RATIO = 10.0
ONE_ROW_RATIO = 10.0


def best_times(
    functions: Sequence[Callable[[], object]], repetitions: int, calls: int = 1
) -> list[float]:
    """The least seconds that a call of each function took, in turns of `calls` calls."""
    best = [float("inf")] * len(functions)
    for _ in range(repetitions):
        for index, function in enumerate(functions):
            start = time.perf_counter()
            for _ in range(calls):
                function()
            best[index] = min(best[index], (time.perf_counter() - start) / calls)
    return best


def svc_with_vectors(n_features: int, n_vectors: int, rng: np.random.Generator) -> SVC:
    """An SVC all of whose training rows are support vectors.

    Labels without any relation to far-apart rows make nearly every row one. The few that are not
    are why the machine below takes its vectors from the SVC, and not from here.
    """
    Z = rng.normal(size=(n_vectors, n_features))
    y = np.arange(n_vectors) % 2
    return SVC(C=1e3, gamma=1.0 / n_features).fit(Z, y)


def machine_of(svc: SVC) -> KernelMachine:
    """The same function as a KernelMachine."""
    return KernelMachine(
        Gaussian(float(svc.gamma)), svc.support_vectors_, svc.dual_coef_.T, svc.intercept_
    )


def rows(n_rows: int = N_ROWS, repetitions: int = 7) -> list[dict[str, object]]:
    """One row per comparison: what, ratio, limit, whether it holds, and the times behind it."""
    rng = np.random.default_rng(0)
    table: list[dict[str, object]] = []
    for n_features, n_vectors in SHAPES:
        svc = svc_with_vectors(n_features, n_vectors, rng)
        double = machine_of(svc)
        for machine in (double.astype(np.float32), double):
            X = rng.normal(size=(n_rows, n_features)).astype(machine.dtype)
            X_svc = X[: max(1, n_rows // SVC_SHARE)].astype(np.float64)
            check_equal(machine.decision_function(X[: len(X_svc)]), svc.decision_function(X_svc))
            shape = f"(d, m) = ({n_features}, {machine.n_vectors}), {machine.dtype}"
            table += [
                against_product_and_exp(shape, machine, X, repetitions),
                against_svc(shape, machine, svc, X, X_svc, repetitions),
                one_row(shape, machine, svc, X, X_svc, repetitions),
            ]
    return table


def against_product_and_exp(
    shape: str, machine: KernelMachine, X: np.ndarray, repetitions: int
) -> dict[str, object]:
    # Scaled, so that exp meets numbers of usual size.
    Z = machine.vectors / machine.dtype.type(machine.n_features)

    def product_and_exp() -> None:
        K = X @ Z.T
        np.exp(K, out=K)

    ours, other = best_times([lambda: machine.decision_function(X), product_and_exp], repetitions)
    return {
        "what": f"{len(X)} rows / product and exp alone, {shape}",
        "ratio": ours / other,
        "limit": f"<= {LIMIT_RATIO:g}",
        "holds": ours / other <= LIMIT_RATIO,
        "milliseconds": 1e3 * ours,
        "other_milliseconds": 1e3 * other,
    }


def against_svc(
    shape: str,
    machine: KernelMachine,
    svc: SVC,
    X: np.ndarray,
    X_svc: np.ndarray,
    repetitions: int,
) -> dict[str, object]:
    ours, part = best_times(
        [lambda: machine.decision_function(X), lambda: svc.decision_function(X_svc)],
        max(2, repetitions // 3),
    )
    other = part * len(X) / len(X_svc)
    return {
        "what": f"SVC / {len(X)} rows, {shape}",
        "ratio": other / ours,
        "limit": f">= {SVC_RATIO:g}",
        "holds": other / ours >= SVC_RATIO,
        "milliseconds": 1e3 * ours,
        "other_milliseconds": 1e3 * other,
    }


def one_row(
    shape: str,
    machine: KernelMachine,
    svc: SVC,
    X: np.ndarray,
    X_svc: np.ndarray,
    repetitions: int,
) -> dict[str, object]:
    x, x_svc = X[:1].copy(), X_svc[:1].copy()
    # As in a service that answers request after request, the vectors are in the cache; few calls
    # a turn, so that some turns are not interrupted on a busy machine.
    ours, other = best_times(
        [lambda: machine.decision_function(x), lambda: svc.decision_function(x_svc)],
        10 * repetitions,
        calls=10,
    )
    return {
        "what": f"SVC / one row, {shape}",
        "ratio": other / ours,
        "limit": f">= {ONE_ROW_RATIO:g}",
        "holds": other / ours >= ONE_ROW_RATIO,
        "milliseconds": 1e3 * ours,
        "other_milliseconds": 1e3 * other,
    }


def check_equal(ours: np.ndarray, theirs: np.ndarray) -> None:
    """Both compute the same function: otherwise times mean nothing."""
    tolerance = 1e-3 if ours.dtype == np.float32 else 1e-9
    np.testing.assert_allclose(ours, theirs, rtol=tolerance, atol=tolerance * np.abs(theirs).max())


def main() -> int:
    """Print the ratios; the exit code says whether all limits hold."""
    table = rows()
    for row in table:
        mark = "" if row["holds"] else "   TOO SLOW"
        print(
            f"{row['what']:<68} {row['milliseconds']:9.4f} ms {row['other_milliseconds']:10.4f} ms"
            f" {row['ratio']:6.2f}   limit {row['limit']}{mark}"
        )
    return 0 if all(row["holds"] for row in table) else 1


if __name__ == "__main__":
    raise SystemExit(main())
