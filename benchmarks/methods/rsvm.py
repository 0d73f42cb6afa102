"""The reduced SVM of Lee and Mangasarian: random vectors, ridge on the coefficients."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.svm import SVC

from benchmarks.methods.one_vs_rest import sparse_method
from kernelet import KernelMachine, ReducedSVC

GRID = {"C": [0.1, 1.0, 10.0, 100.0, 1000.0, 1e4], "gamma": [0.1, 0.3, 1.0, 3.0]}


def search(
    X: np.ndarray, y: np.ndarray, svm: SVC, n_vectors: int, seed: int
) -> tuple[float, float]:
    """Return C and gamma by 5-fold cross-validation of the RSVM; widths around the SVM's."""
    grid = {"C": GRID["C"], "gamma": [svm.gamma * factor for factor in GRID["gamma"]]}
    folds = StratifiedKFold(5, shuffle=True, random_state=seed)
    model = ReducedSVC(n_vectors, regularizer="ridge", tol=1e-4, random_state=seed)
    found = GridSearchCV(model, grid, cv=folds, refit=False).fit(X, y)
    return found.best_params_["C"], found.best_params_["gamma"]


def fit_reduced(
    X: np.ndarray, y: np.ndarray, svm: SVC, n_vectors: int, seed: int, regularizer: str
) -> KernelMachine:
    """Fit with the RSVM's parameters and vectors, whatever the regulariser."""
    C, gamma = search(X, y, svm, n_vectors, seed)
    model = ReducedSVC(n_vectors, C=C, gamma=gamma, regularizer=regularizer, random_state=seed)
    return model.fit(X, y).machine_


def fit_binary(
    X: np.ndarray, y: np.ndarray, svm: SVC, n_vectors: int, parameters: dict[str, Any], seed: int
) -> KernelMachine:
    return fit_reduced(X, y, svm, n_vectors, seed, "ridge")


METHOD = sparse_method("rsvm", "Reduced SVM", "Y.-J. Lee and O. L. Mangasarian 2001", fit_binary)
