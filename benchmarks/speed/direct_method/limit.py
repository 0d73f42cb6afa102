"""An evaluation of W and its gradient over its limit: what it cannot do without, as plain NumPy.

That is the product for the kernel values and their exponentials, the product for the features, for
each step of Newton's method the scores and the Gram products over the rows inside the margin, and
the products of the gradient in the vectors and in the scales of the features; in the same precision
and with as many threads.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.cluster import KMeans

from benchmarks.speed.direct_method.measure import Bench, Row, Task, time_row

CASES = ("digits", "usps", "letter")
N_VECTORS = {"digits": 20, "usps": 20, "letter": 50}
C = 10.0
LIMIT = 3.0
# Steps that bring the vectors near a solution, and how far from it they are evaluated, in standard
# deviations of the vectors: as a line search does.
N_STEPS = 30
NEARBY = 0.01
N_EVALUATIONS = 5
N_REPEATS = 3


@dataclass(frozen=True, eq=False)
class Watched:
    """An objective, and what its last evaluation came to.

    ``evaluate`` takes coordinates of vectors, which ``coordinates`` returns. ``work`` returns
    Newton steps (the mean over the outputs) and the slopes dF/df of all rows, in the precision of
    the features.
    """

    evaluate: Callable[[np.ndarray], Any]
    coordinates: Callable[[np.ndarray], np.ndarray]
    work: Callable[[], tuple[float, np.ndarray]]


def watched_objective(X: np.ndarray, Y: np.ndarray, gamma: float, n_vectors: int) -> Watched:
    """The one function here that knows the names inside the library."""
    from kernelet.kernels import Gaussian
    from kernelet.learners.direct.losses import squared_hinge
    from kernelet.learners.direct.problems.svm import SVMProblem
    from kernelet.learners.direct.search.joint_objective import JointObjective
    from kernelet.learners.direct.search.objective import Place
    from kernelet.learners.direct.search.samples import SampleInMemory

    solve, last = squared_hinge.squared_losses_nearby, []

    def watched(*arguments: Any, **options: Any) -> Any:
        found = solve(*arguments, **options)
        last[:] = [found, arguments[0].dtype]
        return found

    def work() -> tuple[float, np.ndarray]:
        found, precision = last
        if found is None:
            raise RuntimeError("Newton's method did not end from the solution nearby")
        return found.n_iter / Y.shape[1], (-found.pulls).astype(precision)

    squared_hinge.squared_losses_nearby = watched  # measured, not changed
    problem = SVMProblem(Y, np.full(len(Y), C), "squared_hinge")
    # on all rows, where a search would begin on a sample
    source = SampleInMemory(X, problem, seed=0)
    objective = JointObjective(source, Gaussian(gamma), "features", n_vectors, n_first=len(X))
    scales = objective.stage.parameters
    return Watched(
        lambda v: objective.at(Place(scales, v)),
        lambda Z: objective.stage.coordinates(scales, Z),
        work,
    )


def least(work: Callable[[], object]) -> float:
    """Processor seconds, the least of a few."""
    seconds = []
    for _ in range(N_REPEATS):
        start = time.process_time()
        work()
        seconds.append(time.process_time() - start)
    return min(seconds)


def limit_seconds(X: np.ndarray, Z: np.ndarray, n_newton: float, slopes: np.ndarray) -> float:
    """Seconds of the products and exponentials of an evaluation, in the precision of slopes."""
    rng, dtype = np.random.default_rng(0), slopes.dtype
    X, Z, slopes = (np.ascontiguousarray(array, dtype=dtype) for array in (X, Z, slopes))
    m, k = len(Z), slopes.shape[1]
    K = np.exp(-np.abs(X @ Z.T))
    square, weights = rng.normal(size=(m, m)).astype(dtype), np.ones((m, k), dtype)
    inside = [np.ascontiguousarray(K[slopes[:, j] != 0.0]) for j in range(k)]
    active = slopes.any(axis=1)
    pulled, rows = np.ascontiguousarray(slopes[active]), np.ascontiguousarray(X[active])
    weighted, one = np.ones((len(rows), m), dtype), np.ones(X.shape[1], dtype)
    newton = least(lambda: [A.T @ A for A in inside]) + least(lambda: K @ weights)
    once = (
        lambda: X @ Z.T,
        lambda: X @ one,
        lambda: np.exp(K),
        lambda: K @ square,
        lambda: pulled @ weights.T,
        lambda: weighted.T @ rows,
        lambda: weighted[:, 0] @ rows,
    )
    return sum(map(least, once)) + n_newton * newton


def evaluation_and_limit(X: np.ndarray, y: np.ndarray, n_vectors: int) -> dict[str, float]:
    """Seconds of an evaluation near a solution, and of its limit."""
    gamma = 1.0 / (X.shape[1] * X.var())
    Y = np.where(y[:, None] == np.unique(y), 1.0, -1.0)
    watched = watched_objective(X, Y, gamma, n_vectors)
    centres = KMeans(n_vectors, n_init=1, random_state=0).fit(X).cluster_centers_
    Z = descended(watched, watched.coordinates(centres))
    rng = np.random.default_rng(0)
    moved = [Z + NEARBY * Z.std() * rng.normal(size=Z.shape) for _ in range(N_EVALUATIONS)]
    return averaged(watched, X, moved)


def descended(watched: Watched, Z: np.ndarray) -> np.ndarray:
    """Some steps of L-BFGS, so that there are as few rows inside the margin as in a search."""
    from scipy.optimize import minimize

    scale = float(Z.std())
    unit = watched.evaluate(Z).value

    def value(flat: np.ndarray) -> tuple[float, np.ndarray]:
        at = watched.evaluate(flat.reshape(Z.shape) * scale)
        return at.value / unit, at.gradient.ravel() * (scale / unit)

    options = {"maxiter": N_STEPS}
    found = minimize(value, Z.ravel() / scale, jac=True, method="L-BFGS-B", options=options)
    return np.asarray(found.x).reshape(Z.shape) * scale


def averaged(watched: Watched, X: np.ndarray, moved: Sequence[np.ndarray]) -> dict[str, float]:
    """Means over the evaluations; each follows the one before, as in a search."""
    best: list[float] = [np.inf] * len(moved)
    limits, newton = np.zeros(len(moved)), np.zeros(len(moved))
    for repeat in range(N_REPEATS):
        for place, Z in enumerate(moved):
            start = time.process_time()
            watched.evaluate(Z)
            best[place] = min(best[place], time.process_time() - start)
            if repeat == 0:
                newton[place], slopes = watched.work()
                limits[place] = limit_seconds(X, Z, newton[place], slopes)
    return {
        "seconds": float(np.mean(best)),
        "limit_seconds": float(limits.mean()),
        "newton_steps": float(newton.mean()),
    }


def rows(bench: Bench, case: str) -> Iterator[Row]:
    """One ratio."""
    m = N_VECTORS[case]
    found = bench.measure(Task(case, "SparseSVC", {"n_vectors": m}, task="limit"))
    what = f"{case}, {m} vectors: an evaluation / its products and exponentials alone "
    what += f"({found['newton_steps']:.1f} Newton steps)"
    yield time_row(what, found["seconds"], found["limit_seconds"], LIMIT)
