"""Our relevance vector machine; its width by cross-validation where none was chosen before."""

from __future__ import annotations

import warnings
from dataclasses import dataclass

import numpy as np
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.svm import SVC

from benchmarks.datasets.splits import Split
from benchmarks.methods.base import BYTES_PER_NUMBER, Classifier, Figures, Parameters, Size
from benchmarks.methods.parameters import mean_distance_gamma
from kernelet import RelevanceVectorClassifier

# In units of 1 / (mean squared distance between training rows).
WIDTHS = (0.125, 0.25, 0.5, 1.0, 2.0, 4.0, 8.0)
# Rows that a search for the width looks at.
SEARCHED_ROWS = 1000


def width_of(X: np.ndarray, y: np.ndarray, seed: int, n_folds: int = 5) -> float:
    """Choose gamma by cross-validation on the training rows.

    By the log loss of the probabilities: errors on a few hundred rows are too coarse to tell widths
    apart.
    """
    width = mean_distance_gamma(X)
    folds = StratifiedKFold(n_folds, shuffle=True, random_state=seed)
    chosen = np.random.default_rng(seed).permutation(len(y))[:SEARCHED_ROWS]
    grid = {"gamma": [factor * width for factor in WIDTHS]}
    search = GridSearchCV(
        RelevanceVectorClassifier(), grid, scoring="neg_log_loss", cv=folds, refit=False
    )
    return float(search.fit(X[chosen], y[chosen]).best_params_["gamma"])


def fit(
    X: np.ndarray, y: np.ndarray, parameters: Parameters, seed: int
) -> RelevanceVectorClassifier:
    given = None if parameters.get("selection") else parameters.get("gamma")
    gamma = parameters.get("rvm_gamma", given)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if gamma is None:
            gamma = width_of(X, y, seed)
        return RelevanceVectorClassifier(gamma=gamma).fit(X, y)


def size(fitted: RelevanceVectorClassifier) -> Size:
    """Count coefficients in sum over the machines, and distinct vectors."""
    machine = fitted.machine_
    in_sum = int(np.count_nonzero(machine.coefficients))
    numbers = machine.n_vectors * machine.n_features + in_sum + machine.n_outputs
    return Size(in_sum, machine.n_vectors, BYTES_PER_NUMBER * numbers)


def figures(fitted: RelevanceVectorClassifier) -> Figures:
    """Return the width that was used, and the log evidence."""
    return {"gamma": fitted.machine_.kernel.gamma, "log_evidence": fitted.objective_}


@dataclass(frozen=True)
class RelevanceMethod(Classifier):
    """Adds the number of vectors in per cent of the SVM's, where the width is chosen anew."""

    def measure(self, split: Split, parameters: Parameters, seed: int) -> Figures:
        measured = super().measure(split, parameters, seed)
        if parameters.get("selection"):
            n_support = 0
            classes = np.unique(split.y_train)
            for label in classes if len(classes) > 2 else classes[1:]:
                svm = SVC(C=parameters["C"], gamma=parameters["gamma"])
                n_support += len(svm.fit(split.X_train, split.y_train == label).support_)
            measured["vectors_percent"] = 100.0 * measured["n_vectors"] / n_support
        return measured


METHOD = RelevanceMethod(
    "rvm",
    "Relevance vector machine (kernelet)",
    "Tipping 2001",
    fit,
    size,
    figures,
    inherits=("C", "gamma", "rvm_gamma"),
    max_rows=8000,
)
