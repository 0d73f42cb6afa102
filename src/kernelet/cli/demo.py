"""Train an SVM and small machines on scikit-learn's digits, and compare them.

The SVM keeps hundreds of support vectors and evaluates the kernel with each of them for every row
that it predicts. A small machine has as many vectors as were asked for, shared by all classes:
k-means centres of the training rows with the exact soft-margin SVM in the span of their kernel
functions, and vectors that `SparseSVC` has learned.
"""

from __future__ import annotations

import argparse
import json
import textwrap
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, TypeVar

from kernelet.cli.errors import CommandError
from kernelet.cli.tables import print_table

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from kernelet.kernels import Kernel
    from kernelet.machine import KernelMachine

C = 10.0
N_TEST = 600
LARGEST_SEED = 2**32 - 1  # of NumPy's RandomState, which scikit-learn seeds
Result = TypeVar("Result")


@dataclass(frozen=True)
class Digits:
    """The rows of the demo, pixels in [0, 1], split into a training and a test part."""

    X_train: NDArray[np.float64]
    y_train: NDArray[np.intp]
    X_test: NDArray[np.float64]
    y_test: NDArray[np.intp]


@dataclass(frozen=True)
class Measured:
    """What the table says of a model."""

    model: str
    test_error: float
    vectors: int
    kernel_values_per_row: int
    microseconds_per_row: float
    model_bytes: int
    fit_seconds: float

    def cells(self) -> list[str]:
        """The same as text, in the order of `HEADINGS`."""
        return [
            self.model,
            f"{100 * self.test_error:.1f} %",
            str(self.vectors),
            str(self.kernel_values_per_row),
            f"{self.microseconds_per_row:.2f}",
            str(self.model_bytes),
            f"{self.fit_seconds:.2f}",
        ]


HEADINGS = ("model", "test error", "vectors", "k(x,z)/row", "us/row", "bytes", "fit (s)")


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    parser.add_argument(
        "--vectors",
        type=int,
        nargs="+",
        default=[20, 50],
        metavar="M",
        help="sizes of the small machines (default: 20 50)",
    )
    parser.add_argument(
        "--seed", type=int, default=0, help="seed of the split and of k-means (default: 0)"
    )
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")


def run(arguments: argparse.Namespace) -> None:
    """Train, measure, print."""
    if not 0 <= arguments.seed <= LARGEST_SEED:
        raise CommandError(f"--seed must lie between 0 and {LARGEST_SEED}")
    digits = load(arguments.seed)
    n, d = digits.X_train.shape
    if not all(1 <= m <= n for m in arguments.vectors):
        raise CommandError(f"--vectors must lie between 1 and the {n} training rows")
    from kernelet.kernels import resolve_kernel

    kernel = resolve_kernel("rbf", digits.X_train, gamma="scale")
    specification = kernel.specification()
    if not arguments.json:
        print(f"digits: {n} rows to train, {N_TEST} to test, {d} pixels, 10 classes")
        # flush: on its first run numba compiles for a while before the table comes
        print(f"kernel: rbf, gamma = {specification['gamma']:.4g}, C = {C:g}\n", flush=True)
    compile_seconds = compile_training_loops(digits, kernel)
    models = [
        measure_svc(digits),
        *(measure_centres(digits, kernel, m, arguments.seed) for m in arguments.vectors),
        *(measure_learned(digits, kernel, m, arguments.seed) for m in arguments.vectors),
    ]
    if arguments.json:
        report = {
            "data": {"name": "digits", "train_rows": n, "test_rows": N_TEST, "columns": d},
            "kernel": specification,
            "C": C,
            "compile_seconds": compile_seconds,
            "models": [asdict(model) for model in models],
        }
        print(json.dumps(report, indent=2))
        return
    print_table(HEADINGS, [model.cells() for model in models])
    print("\n" + textwrap.fill(conclusion(*models), 80))
    loops = f"The training loops took {compile_seconds:.1f} s to compile, or to load if they were"
    print(f"{loops}; no fit time\nincludes it. us/row is that of one thread.")


def load(seed: int) -> Digits:
    """scikit-learn's digits, with every class in both parts in proportion."""
    from sklearn.datasets import load_digits
    from sklearn.model_selection import train_test_split

    X, y = load_digits(return_X_y=True)
    X_train, X_test, y_train, y_test = train_test_split(
        X / 16.0, y, test_size=N_TEST, stratify=y, random_state=seed
    )
    return Digits(X_train, y_train, X_test, y_test)


def small_machine(
    X: NDArray[np.float64], y: NDArray[np.intp], kernel: Kernel, n_vectors: int, seed: int
) -> KernelMachine:
    """One machine for all classes: k-means vectors, then one SVM per class in their span."""
    import numpy as np

    from kernelet.machine import KernelMachine
    from kernelet.solvers import hinge_ridge_many
    from kernelet.subspace import WhitenedMap, seed_vectors

    space = WhitenedMap.from_vectors(
        kernel, seed_vectors(X, n_vectors, "kmeans", random_state=seed)
    )
    one_vs_rest = np.where(y[:, None] == np.unique(y), 1, -1)
    solutions = hinge_ridge_many(space.features(X), one_vs_rest, C)
    weights = np.column_stack([solution.weights for solution in solutions])
    intercepts = [solution.intercept for solution in solutions]
    return KernelMachine(kernel, space.vectors, space.coefficients(weights), intercepts)


def compile_training_loops(digits: Digits, kernel: Kernel) -> float:
    """Seconds of a first, tiny fit: what comes once and belongs to no model."""
    few = slice(0, 100)
    return clocked(lambda: small_machine(digits.X_train[few], digits.y_train[few], kernel, 3, 0))[1]


def measure_svc(digits: Digits) -> Measured:
    """scikit-learn's SVC, ten classes by one-vs-one."""
    from sklearn.svm import SVC

    model = SVC(C=C, kernel="rbf", gamma="scale")
    _, fit_seconds = clocked(lambda: model.fit(digits.X_train, digits.y_train))
    n_vectors = len(model.support_vectors_)
    return Measured(
        "SVC of scikit-learn",
        test_error=float((model.predict(digits.X_test) != digits.y_test).mean()),
        vectors=n_vectors,
        kernel_values_per_row=n_vectors,
        microseconds_per_row=microseconds_per_row(model.decision_function, digits.X_test),
        model_bytes=array_bytes([model.support_vectors_, model.dual_coef_, model.intercept_]),
        fit_seconds=fit_seconds,
    )


def measure_centres(digits: Digits, kernel: Kernel, n_vectors: int, seed: int) -> Measured:
    """A machine over k-means centres."""
    machine, fit_seconds = clocked(
        lambda: small_machine(digits.X_train, digits.y_train, kernel, n_vectors, seed)
    )
    return measure_machine(f"k-means + SVM, {n_vectors}", machine, digits, fit_seconds)


def measure_learned(digits: Digits, kernel: Kernel, n_vectors: int, seed: int) -> Measured:
    """The direct method: vectors learned from the same centres."""
    from kernelet import SparseSVC

    model = SparseSVC(n_vectors, C=C, kernel=kernel, tol=1e-2, random_state=seed)
    _, fit_seconds = clocked(lambda: model.fit(digits.X_train, digits.y_train))
    return measure_machine(f"SparseSVC, {n_vectors}", model.machine_, digits, fit_seconds)


def measure_machine(
    name: str, machine: KernelMachine, digits: Digits, fit_seconds: float
) -> Measured:
    """A machine whose vectors all classes share."""
    predicted = machine.decision_function(digits.X_test).argmax(axis=1)
    return Measured(
        name,
        test_error=float((predicted != digits.y_test).mean()),
        vectors=len(machine.vectors),
        kernel_values_per_row=len(machine.vectors),
        microseconds_per_row=microseconds_per_row(machine.decision_function, digits.X_test),
        model_bytes=array_bytes([machine.vectors, machine.coefficients, machine.intercepts]),
        fit_seconds=fit_seconds,
    )


def conclusion(svc: Measured, *small: Measured) -> str:
    """What the table says, in one sentence about the most accurate small machine."""
    best = min(small, key=lambda model: model.test_error)
    points = 100 * (best.test_error - svc.test_error)
    return (
        f"{best.vectors} vectors in place of {svc.vectors}: "
        f"{svc.kernel_values_per_row / best.kernel_values_per_row:.0f} times fewer kernel values a "
        f"row, {svc.microseconds_per_row / best.microseconds_per_row:.0f} times faster, "
        f"{svc.model_bytes / best.model_bytes:.0f} times smaller, {points:+.1f} points of error."
    )


def clocked(work: Callable[[], Result]) -> tuple[Result, float]:
    """The result of `work` and the seconds it took."""
    start = time.perf_counter()
    result = work()
    return result, time.perf_counter() - start


def microseconds_per_row(
    decision_function: Callable[[NDArray[np.float64]], Any], X: NDArray[np.float64]
) -> float:
    """On one thread; the least of some runs, as others' work on the machine can only add to it."""
    from threadpoolctl import threadpool_limits

    with threadpool_limits(1):
        return 1e6 * min(clocked(lambda: decision_function(X))[1] for _ in range(15)) / len(X)


def array_bytes(arrays: Sequence[NDArray[Any]]) -> int:
    """Bytes of the numbers that a prediction needs."""
    return sum(array.nbytes for array in arrays)
