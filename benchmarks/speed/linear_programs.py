"""Linear programs in sequence: warm against cold, and a path of costs against one of them.

`python -m benchmarks.speed linear_programs`. The sequence is that of minimal kernel classifiers:
the checkerboard with all 1000 rows as candidates, and one digit of scikit-learn's against the rest.
"""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np
from sklearn.datasets import load_digits

from kernelet import SubspaceLPSVC
from kernelet.datasets import make_checkerboard, make_waveform
from kernelet.kernels import Gaussian
from kernelet.learners.minimal_kernel.linearisation import (
    SOLVERS,
    PoundLoss,
    SuccessiveLinearisation,
)
from kernelet.solvers import hinge_lasso
from kernelet.solvers.linear_program.sequence import LinearProgramSequence

FASTER = 4.0
N_COSTS = 12
PATH = 3.5

Data = tuple[np.ndarray, np.ndarray, float]


def board() -> Data:
    """Kernel values, labels and cost of the checkerboard."""
    X, y = make_checkerboard(1000, random_state=0)
    return Gaussian(1.0)(X, X), 2.0 * y - 1.0, 100.0


def digit() -> Data:
    """The digit 8 against the rest, 500 candidates."""
    X, y = load_digits(return_X_y=True)
    rng = np.random.default_rng(0)
    Z = X[rng.choice(len(X), 500, replace=False)]
    return Gaussian(1e-3)(X, Z), np.where(y == 8, 1.0, -1.0), 10.0


DATA: dict[str, Callable[[], Data]] = {"checkerboard": board, "digit 8": digit}


def sequence(name: str, solver: str) -> dict[str, object]:
    """Seconds of all linear programs after the first, each from the last and each from nothing."""
    Phi, y, C = DATA[name]()
    costs = np.full(len(y), C)
    programs = SOLVERS[solver](Phi, y, 1e-8)
    linearise = SuccessiveLinearisation(Phi, y, costs, PoundLoss(), programs)
    first = hinge_lasso(Phi, y, costs)
    start = time.process_time()
    steps = list(linearise.steps(linearise.start(first), 50))
    warm = time.process_time() - start
    start = time.process_time()
    for step in steps:
        if solver == "simplex":
            cold = LinearProgramSequence(Phi, y).solve(step.costs, step.penalties)
        else:
            cold = hinge_lasso(Phi, y, step.costs, step.penalties)
        agrees = abs(cold.primal_value - step.solution.primal_value) <= 1e-7 * cold.primal_value
        assert agrees, "warm and cold end in different values"
    seconds = time.process_time() - start
    n_vectors = np.count_nonzero(steps[-1].solution.weights)
    return {
        "what": f"cold / warm {solver}, {len(steps)} linear programs of {Phi.shape[0]} x "
        f"{Phi.shape[1]}, {name} ({np.count_nonzero(first.weights)} -> {n_vectors} vectors)",
        "ratio": seconds / warm,
        "limit": f">= {FASTER:g}",
        "holds": bool(seconds / warm >= FASTER),
        "milliseconds": 1e3 * warm,
        "other_milliseconds": 1e3 * seconds,
    }


def path() -> dict[str, object]:
    """A dozen values of C over one subspace, tenfold as in table 1, in units of one fit."""
    X, y = make_waveform(10_000, random_state=0)
    model = SubspaceLPSVC(100, n_landmarks=1000, random_state=0)
    costs = np.geomspace(1.0, 10.0, N_COSTS)
    model.fit(X[:500], y[:500])  # imports
    start = time.process_time()
    for C in costs[::4]:
        model.set_params(C=C).fit(X, y)
    cold = (time.process_time() - start) / len(costs[::4])
    start = time.process_time()
    models = model.fit_path(X, y, costs)
    seconds = time.process_time() - start
    gap = max(m.gap_ for m in models)
    return {
        "what": f"{N_COSTS} costs as a path / one fit, waveform, {len(y)} rows, 100 components "
        f"(gap {gap:.0e})",
        "ratio": seconds / cold,
        "limit": f"<= {PATH:g}",
        "holds": bool(seconds / cold <= PATH and gap <= 1e-6),
        "milliseconds": 1e3 * seconds,
        "other_milliseconds": 1e3 * cold,
    }


def rows() -> list[dict[str, object]]:
    """All comparisons."""
    return [
        *(sequence(name, solver) for name in DATA for solver in ("simplex", "interior_point")),
        path(),
    ]
