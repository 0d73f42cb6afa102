"""The standard SVM on so few training rows that its support vectors fit the budget."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.svm import SVC

from benchmarks.methods.base import Classifier, Parameters, Size, kernel_size
from benchmarks.methods.parameters import KERNEL_GRID, with_number_for_gamma


def balanced_sample(y: np.ndarray, n_rows: int, seed: int) -> np.ndarray:
    """Return random rows, the classes in turn, so that a small sample has as many as it can."""
    stream = np.random.default_rng(seed)
    order = stream.permutation(len(y))
    turn = np.empty(len(y), dtype=np.int64)
    for label in np.unique(y):
        rows = order[y[order] == label]
        turn[rows] = np.arange(len(rows))
    # among rows of the same turn the permutation decides
    return order[np.argsort(turn[order], kind="stable")][:n_rows]


def fit(X: np.ndarray, y: np.ndarray, parameters: Parameters, seed: int) -> Any:
    settings = with_number_for_gamma(parameters, X)
    rows = balanced_sample(y, settings.pop("n_vectors"), seed)
    return SVC(**settings).fit(X[rows], y[rows])


def size(fitted: Any) -> Size:
    """One-vs-one: each support vector has a coefficient for every other class."""
    n_classes = len(fitted.classes_)
    return kernel_size(len(fitted.support_), fitted.n_features_in_, n_classes - 1)


METHOD = Classifier(
    "svc_subsample",
    "SVM on a subsample",
    "C.-C. Chang and C.-J. Lin, LIBSVM, 2011",
    fit,
    size,
    grid=KERNEL_GRID,
    budgeted=True,
)
