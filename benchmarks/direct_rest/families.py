"""The families: what is solved, what is measured, and which parameters are tried."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
from sklearn.decomposition import KernelPCA
from sklearn.exceptions import ConvergenceWarning
from sklearn.kernel_ridge import KernelRidge
from sklearn.metrics import roc_auc_score
from sklearn.svm import SVC, SVR, OneClassSVM

from benchmarks.direct_rest.data import CLASSES, FEATURES, NOVELTY, REGRESSION, Split
from kernelet import (
    SparseKernelPCA,
    SparseKernelRidge,
    SparseOneClassSVM,
    SparseSVC,
    SparseSVR,
)
from kernelet.kernels import Gaussian
from kernelet.learners.direct.pre_images import learn_pre_images
from kernelet.learners.direct.problems.interval import IntervalProblem, OneClassProblem
from kernelet.learners.direct.problems.pca import PrincipalProblem
from kernelet.learners.direct.problems.ridge import RidgeProblem
from kernelet.learners.direct.problems.svm import SVMProblem
from kernelet.learners.direct.search.inner_problem import InnerProblem
from kernelet.learners.direct.search.marginal_objective import MarginalObjective
from kernelet.machine import KernelMachine
from kernelet.subspace import seed_vectors

N_COMPONENTS = 16
Parameters = Mapping[str, Any]
# What these forms learn of the kernel.
LEARNED = {"learned": True, "features": "features"}


@dataclass(frozen=True, eq=False)
class Machine:
    """A bare machine that answers as the estimators do."""

    machine_: KernelMachine
    back: KernelMachine | None = None

    def decision_function(self, X: np.ndarray) -> np.ndarray:
        return self.machine_.decision_function(X)

    predict = transform = decision_function

    def inverse_transform(self, X: np.ndarray) -> np.ndarray:
        assert self.back is not None
        return self.back.decision_function(X)


@dataclass(frozen=True)
class Family:
    """A problem in its three forms.

    Attributes
    ----------
    data : mapping
        Name of a data set -> function from a number to a split.
    n_units : int
    grid : mapping
        Parameters that all forms share, and the values that are tried.
    full : callable
        The full method for given parameters.
    sparse : callable
        The direct method for a budget and parameters.
    problem : callable
        The convex problem over the rows of a split, for parameters and a budget.
    figures : callable
        (fitted, split) -> test figures; "error" in percent, the lower the better.
    learned : tuple of str
        The forms of `LEARNED` that there are: those for which rows held out can judge a width.
    unlearned : tuple of str
        Data sets on which nothing is learned of the kernel: it takes long.
    tuned_up_to : int or None
        Larger budgets take the parameters that are best for this one: tuning takes long.
    """

    data: Mapping[str, Callable[[int], Split]]
    n_units: int
    grid: Mapping[str, tuple[Any, ...]]
    full: Callable[[Parameters], Any]
    sparse: Callable[[int, Parameters], Any]
    problem: Callable[[Split, Parameters, int], InnerProblem]
    figures: Callable[[Any, Split], dict[str, float]]
    learned: tuple[str, ...] = tuple(LEARNED)
    unlearned: tuple[str, ...] = ()
    tuned_up_to: int | None = None

    def choices(self) -> Iterator[dict[str, Any]]:
        """Every combination of the grid."""
        for values in product(*self.grid.values()):
            yield dict(zip(self.grid, values, strict=True))


def fit(family: Family, form: str, budget: int | None, parameters: Parameters, split: Split) -> Any:
    """A fitted model of a form: "full", "nystroem", "direct", "learned" or "features"."""
    if form == "full":
        return family.full(parameters).fit(split.X_train, split.y_train)
    assert budget is not None
    if form == "nystroem":
        return nystroem(family, budget, parameters, split)
    estimator = family.sparse(budget, parameters)
    if "learn_kernel" in estimator.get_params():
        estimator.set_params(learn_kernel=LEARNED.get(form, False))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return estimator.fit(split.X_train, split.y_train)


def nystroem(family: Family, budget: int, parameters: Parameters, split: Split) -> Machine:
    """The exact solution over k-means centres, which is where the direct method starts."""
    X, kernel = split.X_train, Gaussian(parameters["gamma"])
    # the seed that an estimator with random_state=0 draws for its first search
    seed = np.random.RandomState(0).randint(np.iinfo(np.int32).max, size=(1, 1))[0, 0]
    centres = seed_vectors(
        X, budget, "kmeans", random_state=int(seed), sample_weight=np.ones(len(X))
    )
    objective = MarginalObjective(X, kernel, family.problem(split, parameters, budget))
    machine = objective.without_gradient(centres).machine
    back = None
    if family.data is FEATURES:
        back = learn_pre_images(machine, X, np.ones(len(X)), 1, 1.0, 0)
    return Machine(machine, back)


def regression_figures(model: Any, split: Split) -> dict[str, float]:
    """The mean squared deviation in percent of the variance; targets are standardised."""
    deviation = model.predict(split.X_test) - split.y_test
    return {"error": 100.0 * float(np.mean(deviation**2) / np.var(split.y_test))}


def class_figures(model: Any, split: Split) -> dict[str, float]:
    """The share of wrong labels in percent."""
    scores = model.decision_function(split.X_test)
    codes = scores.argmax(axis=1) if scores.ndim == 2 else (scores > 0.0).astype(int)
    return {"error": 100.0 * float(np.mean(np.unique(split.y_train)[codes] != split.y_test))}


def svm_problem(split: Split, C: float) -> SVMProblem:
    """One against the rest, as SparseSVC states it."""
    labels = np.unique(split.y_train)
    columns = labels[1:] if len(labels) == 2 else labels
    Y = np.where(split.y_train[:, None] == columns, 1.0, -1.0)
    return SVMProblem(Y, np.full(len(Y), C), "hinge", 1e-8)


def novelty_figures(model: Any, split: Split) -> dict[str, float]:
    """100 minus the area under the curve, in percent."""
    area = roc_auc_score(split.y_test, -model.decision_function(split.X_test))
    return {"error": 100.0 * (1.0 - float(area))}


def feature_figures(model: Any, split: Split) -> dict[str, float]:
    """What the components miss, in percent of the variance in the feature space, and of pixels."""
    X, X_test = split.X_train, split.X_test
    gamma = model.machine_.kernel.gamma if hasattr(model, "machine_") else model.gamma
    distances = np.square(X_test).sum(1)[:, None] + np.square(X).sum(1) - 2.0 * X_test @ X.T
    among = np.square(X).sum(1)[:, None] + np.square(X).sum(1) - 2.0 * X @ X.T
    variance = 1.0 - 2.0 * np.exp(-gamma * distances).mean(axis=1)
    variance += np.exp(-gamma * among).mean()
    components = model.transform(X_test)
    missed = variance - np.square(components).sum(axis=1)
    back = model.inverse_transform(components)
    pixels = np.square(back - X_test).sum(axis=1).mean() / X_test.var(axis=0).sum()
    return {
        "error": 100.0 * float(missed.mean() / variance.mean()),
        "pixels": 100.0 * float(pixels),
    }


FAMILIES = {
    "ridge": Family(
        REGRESSION,
        5,
        {"gamma": (0.03, 0.1, 0.3, 1.0, 3.0), "C": (1.0, 10.0, 100.0)},
        lambda p: KernelRidge(kernel="rbf", gamma=p["gamma"], alpha=1.0 / p["C"]),
        lambda m, p: SparseKernelRidge(m, random_state=0, **p),
        lambda s, p, m: RidgeProblem(s.y_train[:, None], np.full(len(s.X_train), p["C"])),
        regression_figures,
    ),
    "svr": Family(
        REGRESSION,
        5,
        {"gamma": (0.03, 0.1, 0.3, 1.0, 3.0), "C": (1.0, 10.0, 100.0)},
        lambda p: SVR(gamma=p["gamma"], C=p["C"], epsilon=0.1),
        lambda m, p: SparseSVR(m, random_state=0, **p),
        lambda s, p, m: IntervalProblem.tube(s.y_train, np.full(len(s.X_train), p["C"]), 0.1, 1.0),
        regression_figures,
    ),
    "svc": Family(
        CLASSES,
        5,
        {"gamma": (0.03, 0.1, 0.3), "C": (1.0, 10.0)},
        lambda p: SVC(gamma=p["gamma"], C=p["C"]),
        lambda m, p: SparseSVC(m, loss="hinge", random_state=0, **p),
        lambda s, p, m: svm_problem(s, p["C"]),
        class_figures,
    ),
    "one_class": Family(
        NOVELTY,
        10,
        {"gamma": (0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0), "nu": (0.05, 0.2, 0.5)},
        lambda p: OneClassSVM(gamma=p["gamma"], nu=p["nu"]),
        lambda m, p: SparseOneClassSVM(m, random_state=0, **p),
        lambda s, p, m: OneClassProblem(np.ones(len(s.X_train)), p["nu"]),
        novelty_figures,
        learned=("learned",),
        unlearned=("usps",),
        tuned_up_to=20,
    ),
    "pca": Family(
        FEATURES,
        3,
        {"gamma": (1.0 / 512,)},
        lambda p: KernelPCA(
            N_COMPONENTS, kernel="rbf", gamma=p["gamma"], fit_inverse_transform=True, alpha=0.01
        ),
        lambda m, p: SparseKernelPCA(
            m, n_components=min(m, N_COMPONENTS), fit_inverse_transform=True, random_state=0, **p
        ),
        lambda s, p, m: PrincipalProblem(np.ones(len(s.X_train)), min(m, N_COMPONENTS)),
        feature_figures,
        learned=(),
    ),
}
