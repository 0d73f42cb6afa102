"""A path of SparseSVC over the budgets 5, 10, 20, 50, 100 against its largest model alone.

Each path is run upwards and downwards. Besides the ratio of the times, every line states what the
path loses to fits from nothing: the mean over the budgets of the test error, in points.

Run `python -m benchmarks.speed direct_path` from the top of the repository.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Sequence
from functools import partial
from typing import TypeVar

import numpy as np
from sklearn.base import clone
from sklearn.datasets import load_digits
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import train_test_split

from benchmarks import datasets
from benchmarks.methods.parameters import mean_distance_gamma
from kernelet import SparseSVC

BUDGETS = (5, 10, 20, 50, 100)
SETS = ("digits", "pendigits", "satimage")
N_ROWS = 4000
LIMITS = {"upwards": 1.5, "downwards": 2.0}

T = TypeVar("T")


def split(name: str) -> Sequence[np.ndarray]:
    """Training rows, test rows, training labels, test labels."""
    if name == "digits":
        X, y = load_digits(return_X_y=True)
        parts: Sequence[np.ndarray] = train_test_split(X / 16, y, random_state=0)
        return parts
    rows = datasets.load(name).split(0)
    return rows.X_train[:N_ROWS], rows.X_test, rows.y_train[:N_ROWS], rows.y_test


def timed(work: Callable[[], T]) -> tuple[float, T]:
    """Processor seconds, since other programs would else be counted too."""
    start = time.process_time()
    result = work()
    return time.process_time() - start, result


def measure(name: str) -> list[dict[str, object]]:
    """The path upwards and downwards on one data set."""
    X, X_test, y, y_test = split(name)
    maker = SparseSVC(C=10.0, gamma=4 * mean_distance_gamma(X), random_state=0)
    SparseSVC(5, max_iter=2).fit(X[:500], y[:500])  # compiles

    def alone(n_vectors: int) -> SparseSVC:
        model: SparseSVC = clone(maker).set_params(n_vectors=n_vectors)
        return model.fit(X, y)

    def error(models: Sequence[SparseSVC]) -> float:
        return float(100 * np.mean([1 - model.score(X_test, y_test) for model in models]))

    largest_seconds, largest = timed(lambda: alone(BUDGETS[-1]))
    own = error([*map(alone, BUDGETS[:-1]), largest])
    table: list[dict[str, object]] = []
    for direction, budgets in (("upwards", BUDGETS), ("downwards", BUDGETS[::-1])):
        seconds, models = timed(partial(maker.fit_path, X, y, budgets))
        ratio = seconds / largest_seconds
        table.append(
            {
                "what": f"{name}: path {direction} / its largest model; mean error "
                f"{error(models):.2f} % (fits from nothing: {own:.2f} %)",
                "ratio": ratio,
                "limit": f"<= {LIMITS[direction]:g}",
                "holds": ratio <= LIMITS[direction],
                "milliseconds": 1e3 * seconds,
                "other_milliseconds": 1e3 * largest_seconds,
            }
        )
    return table


def rows() -> list[dict[str, object]]:
    """Two rows for each data set."""
    warnings.simplefilter("ignore", ConvergenceWarning)
    return [row for name in SETS for row in measure(name)]
