"""The minimal kernel classifier."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.model_selection import GridSearchCV, StratifiedKFold, train_test_split

from benchmarks.datasets.splits import Split
from benchmarks.methods import svc_ovr
from benchmarks.methods.base import BYTES_PER_NUMBER, Classifier, Figures, Parameters, Size
from benchmarks.methods.parameters import mean_distance_gamma
from kernelet import MinimalKernelSVC

# In units of 1 / (mean squared distance between training rows).
WIDTHS = (0.05, 0.25, 0.5, 1.0, 2.0, 4.0)
COSTS = (0.1, 1.0, 10.0, 100.0)
STEPS = (1.0, 5.0)
NESTED_WIDTHS = (0.05, 0.25, 0.5, 1.0)
NESTED_COSTS = (1.0, 10.0, 100.0)
NESTED_ROWS = 1000
# Up to this number of rows the SVM is fitted as well, for comparison.
SVM_ROWS = 1000
# What `benchmarks.minimal_kernel_choice` has chosen, in the files of the data sets.
CHOSEN = ("C", "gamma", "mu")
INHERITED = tuple(f"mkc_{name}" for name in CHOSEN)


def nested(X: np.ndarray, y: np.ndarray, own: dict[str, Any], seed: int) -> MinimalKernelSVC:
    """Choose width and cost by cross-validation on the training rows alone."""
    width = mean_distance_gamma(X)
    grid = {"gamma": [f * width for f in NESTED_WIDTHS], "C": list(NESTED_COSTS)}
    folds = StratifiedKFold(3, shuffle=True, random_state=seed)
    model = MinimalKernelSVC(random_state=seed, **own)
    part = np.arange(len(y))
    if len(y) > NESTED_ROWS:
        part, _ = train_test_split(part, train_size=NESTED_ROWS, random_state=seed, stratify=y)
    search = GridSearchCV(model, grid, cv=folds, refit=False).fit(X[part], y[part])
    return model.set_params(**search.best_params_).fit(X, y)


def fit(X: np.ndarray, y: np.ndarray, parameters: Parameters, seed: int) -> MinimalKernelSVC:
    """Fit with the parameters chosen for the data set, or by cross-validation if there are none."""
    own = without_choice(parameters)
    chosen = {name: parameters[f"mkc_{name}"] for name in CHOSEN if f"mkc_{name}" in parameters}
    if "gamma" not in {**own, **chosen}:
        return nested(X, y, own, seed)
    return MinimalKernelSVC(random_state=seed, **{**own, **chosen}).fit(X, y)


def without_choice(parameters: Parameters) -> dict[str, Any]:
    """Return the parameters that the table gives."""
    left_out = ("kernel_size", "nested", *INHERITED)
    return {name: value for name, value in parameters.items() if name not in left_out}


def size(fitted: MinimalKernelSVC) -> Size:
    """Count coefficients in sum over the machines, and distinct vectors."""
    machine = fitted.machine_
    numbers = machine.n_vectors * machine.n_features + fitted.n_coefficients_ + machine.n_outputs
    return Size(fitted.n_coefficients_, machine.n_vectors, BYTES_PER_NUMBER * numbers)


def figures(fitted: MinimalKernelSVC) -> Figures:
    """Return m1 and the leave-one-out bound."""
    rows = fitted.n_rows_seen_
    return {
        "n_constraints": fitted.n_constraints_,
        "n_linear_programs": fitted.n_iter_,
        "loo_error_bound": 100.0 * fitted.loo_error_bound_,
        "vectors_percent": 100.0 * fitted.n_coefficients_ / rows,
        "constraints_percent": 100.0 * fitted.n_constraints_ / rows,
        "rows_percent": 100.0 * (fitted.n_coefficients_ + fitted.n_constraints_) / rows,
    }


@dataclass(frozen=True)
class MinimalKernelMethod(Classifier):
    """Adds the nested choice, the SVM for comparison, and the time of the reduced kernel."""

    def measure(self, split: Split, parameters: Parameters, seed: int) -> Figures:
        measured = super().measure(split, parameters, seed)
        if parameters.get("kernel_size") == "reduced":
            measured |= _on_the_reduced_kernel(split, parameters, seed)
        if parameters.get("nested"):
            measured |= _nested_figures(split, parameters, seed)
            if len(split.y_train) <= SVM_ROWS:
                measured |= _beside_the_svm(split, measured, seed)
        return measured


def _on_the_reduced_kernel(split: Split, parameters: Parameters, seed: int) -> Figures:
    reduced = fit(split.X_train, split.y_train, parameters, seed).reduced_kernels_[0]
    start = time.process_time()
    reduced.solve()
    return {"seconds": time.process_time() - start}


def _nested_figures(split: Split, parameters: Parameters, seed: int) -> Figures:
    model = nested(split.X_train, split.y_train, without_choice(parameters), seed)
    return {
        "nested_correctness": 100.0 * float(model.score(split.X_test, split.y_test)),
        "nested_n_vectors": model.n_coefficients_,
    }


def _beside_the_svm(split: Split, measured: Figures, seed: int) -> Figures:
    svm = svc_ovr.METHOD.measure(split, {"gamma": "mean_distance"}, seed)
    return {
        "vectors_reduction": 100.0 * (1.0 - measured["n_vectors"] / svm["n_vectors"]),
        "test_time_reduction": 100.0 * (1.0 - measured["predict_seconds"] / svm["predict_seconds"]),
    }


METHOD = MinimalKernelMethod(
    "mkc",
    "Minimal kernel classifier",
    "minimal kernel, algorithm 4.2",
    fit,
    size,
    figures,
    inherits=INHERITED,
)
