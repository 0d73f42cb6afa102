"""The SVM with the p-norm of its coefficients."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.model_selection import GridSearchCV, StratifiedKFold

from benchmarks.datasets.splits import Split
from benchmarks.methods.base import BYTES_PER_NUMBER, Classifier, Figures, Parameters, Size
from benchmarks.methods.parameters import mean_distance_gamma
from kernelet import NormSVC

# In units of 1 / (mean squared distance between training rows).
WIDTHS = (0.25, 1.0, 4.0)
COSTS = (1.0, 10.0)
NORMS = (0.1, 1.0)
# Above this number of rows, the fits of a search inside the folds take hours.
SEARCHED_ROWS = 1000
# What `benchmarks.arbitrary_norm_choice` has chosen, in the files of the data sets.
CHOSEN = ("C", "gamma", "C_norm")
INHERITED = tuple(f"norm_{name}" for name in CHOSEN)


def nested(X: np.ndarray, y: np.ndarray, own: dict[str, Any], seed: int) -> NormSVC:
    """Choose width, cost and weight of the norm by cross-validation on the training rows alone."""
    width = mean_distance_gamma(X)
    grid = {"gamma": [f * width for f in WIDTHS], "C": list(COSTS), "C_norm": list(NORMS)}
    folds = StratifiedKFold(3, shuffle=True, random_state=seed)
    chosen = np.random.default_rng(seed).permutation(len(y))[:SEARCHED_ROWS]
    search = GridSearchCV(NormSVC(**own), grid, cv=folds, refit=False).fit(X[chosen], y[chosen])
    return NormSVC(**own, **search.best_params_).fit(X, y)


def fit(X: np.ndarray, y: np.ndarray, parameters: Parameters, seed: int) -> NormSVC:
    """Fit with the parameters chosen for the data set, or by cross-validation if there are none."""
    own = without_choice(parameters)
    chosen = {name: parameters[f"norm_{name}"] for name in CHOSEN if f"norm_{name}" in parameters}
    with warnings.catch_warnings():
        # the paper stops after a hundred steps without a word
        warnings.simplefilter("ignore")
        if "gamma" not in {**own, **chosen}:
            return nested(X, y, own, seed)
        return NormSVC(**{**chosen, **own}).fit(X, y)


def without_choice(parameters: Parameters) -> dict[str, Any]:
    """Return the parameters that the table gives."""
    left_out = ("nested", *INHERITED)
    return {name: value for name, value in parameters.items() if name not in left_out}


def size(fitted: NormSVC) -> Size:
    """Count coefficients in sum over the machines, and distinct vectors."""
    machine = fitted.machine_
    in_sum = int(np.count_nonzero(machine.coefficients))
    numbers = machine.n_vectors * machine.n_features + in_sum + machine.n_outputs
    return Size(in_sum, machine.n_vectors, BYTES_PER_NUMBER * numbers)


def figures(fitted: NormSVC) -> Figures:
    """Return the number of steps, and how many vectors were left after five."""
    path = fitted.sparsity_path_[0]
    return {"n_iter": len(path), "n_vectors_after_5": path[min(4, len(path) - 1), 0]}


@dataclass(frozen=True)
class NormMethod(Classifier):
    """Adds the nested choice."""

    def measure(self, split: Split, parameters: Parameters, seed: int) -> Figures:
        measured = super().measure(split, parameters, seed)
        if parameters.get("nested"):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                model = nested(split.X_train, split.y_train, without_choice(parameters), seed)
            measured["nested_accuracy"] = 100.0 * float(model.score(split.X_test, split.y_test))
            measured["nested_n_vectors"] = size(model).n_vectors
        return measured


METHOD = NormMethod(
    "norm_svc",
    "Arbitrary-norm SVM",
    "arbitrary norm, section 3",
    fit,
    size,
    figures,
    inherits=INHERITED,
)
