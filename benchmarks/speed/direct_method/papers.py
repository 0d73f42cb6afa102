"""How long the direct method trains, against the SVMs that it replaces.

All ratios are of times measured in this run, on the papers' own sets where ``KERNELET_DATA`` has
them: banana with 9 vectors against one SVC, USPS with vectors per class (10 % of each SVM's)
and with 100 shared vectors against the ten SVCs, and `compress` of the many-class SVC against its
own training. Loss and width are the paper's, nothing is learned of the kernel. No line is kept: all
is measured anew, with as many threads as there are.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import SVC

from benchmarks import datasets
from benchmarks.speed.direct_method.measure import Bench, Row
from kernelet import SparseSVC, compress

PAPER: dict[str, Any] = {"loss": "hinge", "learn_kernel": False}


def timed(function: Callable[[], Any]) -> tuple[float, Any]:
    """Seconds that a call took, and its result."""
    start = time.perf_counter()
    result = function()
    return time.perf_counter() - start, result


def line(
    what: str, ours: float, other: float, limit: float, errors: str, holds: bool = True
) -> dict[str, object]:
    """One comparison; ``holds`` adds what besides the time has to be true."""
    return {
        "what": f"{what} ({errors})",
        "ratio": ours / other,
        "limit": f"<= {limit:g}",
        "holds": ours / other <= limit and holds,
        "milliseconds": 1e3 * ours,
        "other_milliseconds": 1e3 * other,
    }


def error(model: Any, X: np.ndarray, y: np.ndarray) -> float:
    """Test error in per cent."""
    return 100.0 * float(np.mean(model.predict(X) != y))


def banana(repetitions: int = 5) -> list[dict[str, object]]:
    """400 points, 9 vectors."""
    split = datasets.load("banana").split(0)
    X, y = split.X_train, split.y_train
    model = SparseSVC(9, C=316.2, gamma=1.0, random_state=0, **PAPER)
    model.fit(X, y)  # the first fit compiles, or loads the compiled loop
    svc = SVC(C=316.2, gamma=1.0)
    ours = min(timed(lambda: model.fit(X, y))[0] for _ in range(repetitions))
    other = min(timed(lambda: svc.fit(X, y))[0] for _ in range(repetitions))
    figures = f"error {error(model, split.X_test, split.y_test):.1f} %, SVC "
    figures += f"{error(svc, split.X_test, split.y_test):.1f} %, {model.n_evaluations_} evaluations"
    return [line("banana, 9 vectors / SVC", ours, other, 20.0, figures)]


def ten_machines(X: np.ndarray, y: np.ndarray) -> list[SVC]:
    """One SVC for each class against the rest."""
    return [SVC(C=10.0, gamma=1 / 128).fit(X, y == label) for label in np.unique(y)]


def usps_per_class() -> list[dict[str, object]]:
    """Smoothed images, 10 % of each machine's support vectors."""
    split = datasets.load("usps_smoothed").split(0)
    X, y = split.X_train, split.y_train
    ten, machines = timed(lambda: ten_machines(X, y))
    scores = np.stack([svc.decision_function(split.X_test) for svc in machines], axis=1)
    full = 100.0 * float(np.mean(np.unique(y)[scores.argmax(axis=1)] != split.y_test))
    budgets = [max(1, round(0.1 * len(svc.support_))) for svc in machines]
    model = SparseSVC(
        budgets, C=10.0, gamma=1 / 128, vectors="per_class", n_jobs=-1, random_state=0, **PAPER
    )
    seconds, _ = timed(lambda: model.fit(X, y))
    reached = error(model, split.X_test, split.y_test)
    figures = f"error {reached:.2f} % with {model.n_vectors_} vectors, SVMs {full:.2f} %"
    return [line("USPS per class, 10 % / ten SVC", seconds, ten, 20.0, figures)]


def usps_shared() -> list[dict[str, object]]:
    """Raw images: shared vectors, and `compress`."""
    split = datasets.load("usps").split(0)
    X, y = split.X_train, split.y_train
    ten, _ = timed(lambda: ten_machines(X, y))
    table = [shared(split, n_vectors, goal, ten) for n_vectors, goal in ((100, 4.8), (50, 5.3))]
    return [*table, *compressed(split)]


def shared(split: Any, n_vectors: int, goal: float, ten: float) -> dict[str, object]:
    """One machine of ten outputs with common vectors."""
    model = SparseSVC(n_vectors, C=10.0, gamma=1 / 128, tol=1e-3, random_state=0, **PAPER)
    seconds, _ = timed(lambda: model.fit(split.X_train, split.y_train))
    reached = error(model, split.X_test, split.y_test)
    figures = f"error {reached:.2f} %, goal {goal} %, {model.n_evaluations_} evaluations"
    what = f"USPS, {n_vectors} shared vectors / ten SVC"
    return line(what, seconds, ten, 8.0, figures, reached <= goal)


def compressed(split: Any) -> list[dict[str, object]]:
    """The many-class SVC, 45 one-vs-one functions, to 10 % of its vectors and to 100."""
    svc = SVC(C=10.0, gamma=1 / 128)
    training, _ = timed(lambda: svc.fit(split.X_train, split.y_train))
    before = error(svc, split.X_test, split.y_test)
    table = []
    for n_vectors, loss in ((round(0.1 * len(svc.support_)), 0.3), (100, 0.8)):
        seconds, small = timed(lambda n=n_vectors: compress(svc, n))
        after = error(small, split.X_test, split.y_test)
        table.append(
            line(
                f"compress USPS SVC, {len(svc.support_)} to {n_vectors} vectors / its training",
                seconds,
                training,
                1.0,
                f"error {before:.2f} % to {after:.2f} %",
                after - before <= loss,
            )
        )
    return table


CASES = {"banana": banana, "usps_per_class": usps_per_class, "usps": usps_shared}


def rows(bench: Bench, case: str) -> Iterator[Row]:
    """The comparisons of a case."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        yield from CASES[case]()
