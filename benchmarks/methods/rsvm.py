"""The reduced SVM of Lee and Mangasarian: random vectors, ridge on the coefficients."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.svm import SVC

from benchmarks.methods.one_vs_rest import sparse_method
from kernelet import KernelMachine, ReducedSVC

COSTS = (1.0, 10.0, 100.0, 1000.0, 1e4, 1e5)
WIDTHS = (0.03, 0.1, 0.3, 1.0, 3.0)  # in units of the SVM's gamma


def draw_vectors(X: np.ndarray, y: np.ndarray, n_vectors: int, seed: int) -> np.ndarray:
    """Draw rows at random, as many of each class as of the other.

    Drawing regardless of the class costs RSVM and MRSVM about three points on banana at 5 %
    (four vectors), where a class may go without a vector.
    """
    rng = np.random.default_rng(seed)
    drawn = []
    for label, share in zip(np.unique(y), (n_vectors // 2, n_vectors - n_vectors // 2), strict=True):
        rows = np.unique(X[y == label], axis=0)
        drawn.append(rows[rng.permutation(len(rows))[:share]])
    return np.concatenate(drawn)


def fit_reduced(
    X: np.ndarray, y: np.ndarray, svm: SVC, n_vectors: int, seed: int, regularizer: str
) -> KernelMachine:
    """Fit with the RSVM's vectors and parameters (5-fold CV), whatever the regulariser."""
    vectors = draw_vectors(X, y, n_vectors, seed)
    grid = {"C": COSTS, "gamma": [svm.gamma * width for width in WIDTHS]}
    folds = StratifiedKFold(5, shuffle=True, random_state=seed)
    model = ReducedSVC(regularizer="ridge", init=vectors, n_vectors=len(vectors), tol=1e-4)
    search = GridSearchCV(model, grid, cv=folds, refit=False).fit(X, y)
    model.set_params(regularizer=regularizer, tol=1e-6, **search.best_params_)
    return model.fit(X, y).machine_


def fit_binary(
    X: np.ndarray, y: np.ndarray, svm: SVC, n_vectors: int, parameters: dict[str, Any], seed: int
) -> KernelMachine:
    return fit_reduced(X, y, svm, n_vectors, seed, "ridge")


METHOD = sparse_method("rsvm", "Reduced SVM", "Y.-J. Lee and O. L. Mangasarian 2001", fit_binary)
