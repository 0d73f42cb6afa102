"""Compare the full SVM with small machines on scikit-learn's digits: test error and cost."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeVar

import numpy as np
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split
from sklearn.svm import SVC

from kernelet.kernels import resolve_kernel
from kernelet.report.methods import DemoMethod, DemoTask, jobs
from kernelet.selection.cost import microseconds_per_row, model_bytes, vectors_used

# The least power of ten beyond which the full SVM gets no better: test errors of 0.7, 1.7 and 0.7 %
# with the seeds 0 to 2, for C = 10, 100 and 1000 alike. A third of the 1797 digits is for testing.
C = 10.0
N_TEST = 600
SVM = "SVC of scikit-learn"
Result = TypeVar("Result")


@dataclass(frozen=True)
class Measured:
    """The figures of a model.

    Attributes
    ----------
    model : str
        The method, and the size that was asked for.
    method : str
    budget : int or None
        Vectors that were asked for.
    test_error : float
        Share of the test rows.
    vectors, kernel_values_per_row : int
    microseconds_per_row : float
        On one thread, in batches.
    model_bytes : int
    fit_seconds : float
    """

    model: str
    method: str
    budget: int | None
    test_error: float
    vectors: int
    kernel_values_per_row: int
    microseconds_per_row: float
    model_bytes: int
    fit_seconds: float

    @property
    def percent_wrong(self) -> float:
        """The test error as it is shown."""
        return round(100 * self.test_error, 1)

    @property
    def shown_microseconds(self) -> float:
        """Microseconds a row as they are shown."""
        return round(self.microseconds_per_row, 2)

    @property
    def cells(self) -> list[str]:
        """A row of a table: the name, and every figure as text."""
        return [
            self.model,
            f"{self.percent_wrong:.1f} %",
            str(self.vectors),
            str(self.kernel_values_per_row),
            f"{self.shown_microseconds:.2f}",
            str(self.model_bytes),
            f"{self.fit_seconds:.2f}",
        ]


@dataclass(frozen=True, eq=False)
class Compared:
    """A model and its figures."""

    figures: Measured
    model: Any


def digits_task(seed: int) -> DemoTask:
    """scikit-learn's digits, pixels in [0, 1], with every class in both parts in proportion."""
    X, y = load_digits(return_X_y=True)
    X_train, X_test, y_train, y_test = train_test_split(
        X / 16.0, y, test_size=N_TEST, stratify=y, random_state=seed
    )
    kernel = resolve_kernel("rbf", X_train, gamma="scale")
    svm, seconds = clocked(lambda: SVC(C=C, gamma="scale").fit(X_train, y_train))
    return DemoTask(X_train, y_train, X_test, y_test, kernel, C, seed, svm, seconds)


def compare(
    task: DemoTask, sizes: Sequence[int], begun: Callable[[str], None] = lambda name: None
) -> list[Compared]:
    """The full SVM first, then every method at every size.

    Parameters
    ----------
    task : DemoTask
    sizes : sequence of int
        Numbers of vectors, for the methods that take one.
    begun : callable
        Called with the name of each model before it is learned.
    """
    compared = [_measured(task, SVM, None, task.svm, task.svm_seconds)]
    for method, size in jobs(list(sizes)):
        begun(model_name(method.name, size))
        model, seconds = clocked(partial(method.learn, task, size))
        compared.append(_measured(task, method.name, size, model, seconds))
    return compared


def compile_seconds(task: DemoTask) -> float:
    """Seconds of a first fit, of 3 vectors on 100 rows: what happens once is most of its time."""
    few = DemoTask(
        task.X_train[:100], task.y_train[:100], task.X_test, task.y_test, task.kernel, C, 0, None, 0
    )
    first = DemoMethod("ReducedSVC", "", further=lambda m: {"init": "kmeans"})
    return clocked(lambda: first.learn(few, 3))[1]


def model_name(method: str, size: int | None) -> str:
    """As the table has it.

    Examples
    --------
    >>> model_name("SparseSVC", 20), model_name("NormSVC", None)
    ('SparseSVC, 20', 'NormSVC')
    """
    return method if size is None else f"{method}, {size}"


def _measured(
    task: DemoTask, method: str, size: int | None, model: Any, seconds: float
) -> Compared:
    n_vectors = int(vectors_used(model))
    figures = Measured(
        model_name(method, size),
        method,
        size,
        test_error=float(np.mean(model.predict(task.X_test) != task.y_test)),
        vectors=n_vectors,
        kernel_values_per_row=n_vectors,
        microseconds_per_row=microseconds_per_row(model, task.X_test),
        model_bytes=int(model_bytes(model)),
        fit_seconds=seconds,
    )
    return Compared(figures, model)


def clocked(work: Callable[[], Result]) -> tuple[Result, float]:
    """The result of `work` and the seconds it took."""
    start = time.perf_counter()
    result = work()
    return result, time.perf_counter() - start
