"""The standard SVM by LIBSVM, one machine for each class against the rest."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.multiclass import OneVsRestClassifier
from sklearn.svm import SVC

from benchmarks.methods.base import BYTES_PER_NUMBER, Classifier, Parameters, Size
from benchmarks.methods.parameters import COSTS, KERNEL_GRID, WIDTHS, mean_distance_gamma

SEARCHED_COSTS = (0.1, *COSTS)


def fit(X: np.ndarray, y: np.ndarray, parameters: Parameters, seed: int) -> Any:
    """Fit with the given parameters; C, or C and gamma, that are not given by 5-fold CV."""
    width = mean_distance_gamma(X)
    settings = dict(parameters)
    grid: dict[str, list[float]] = {}
    if settings.get("gamma") == "mean_distance":
        settings["gamma"] = width
    if "gamma" not in settings:
        grid["gamma"] = [width * factor for factor in WIDTHS]
    if "C" not in settings:
        grid["C"] = list(SEARCHED_COSTS)
    if grid:
        folds = StratifiedKFold(5, shuffle=True, random_state=seed)
        search = GridSearchCV(SVC(**settings), grid, cv=folds, refit=False).fit(X, y)
        settings |= search.best_params_
    machine = SVC(**settings)
    return (machine if len(np.unique(y)) == 2 else OneVsRestClassifier(machine)).fit(X, y)


def machines(fitted: Any) -> list[SVC]:
    """Return the binary machines."""
    return fitted.estimators_ if isinstance(fitted, OneVsRestClassifier) else [fitted]


def size(fitted: Any) -> Size:
    """Count support vectors in sum, and distinct ones."""
    supports = [machine.support_ for machine in machines(fitted)]
    in_sum = sum(len(support) for support in supports)
    distinct = len(np.unique(np.concatenate(supports)))
    numbers = distinct * machines(fitted)[0].n_features_in_ + in_sum + len(supports)
    return Size(in_sum, distinct, BYTES_PER_NUMBER * numbers)


METHOD = Classifier(
    "svc_ovr",
    "SVM, all support vectors (LIBSVM, one-vs-rest)",
    "C.-C. Chang and C.-J. Lin, LIBSVM, 2011",
    fit,
    size,
    inherits=("C", "gamma"),
    grid=KERNEL_GRID,
    single_point=True,
    max_rows=20_000,
)
