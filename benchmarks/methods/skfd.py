"""The direct method on the kernel Fisher discriminant."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.svm import SVC

from benchmarks.methods.one_vs_rest import sparse_method
from kernelet import KernelFisherClassifier, KernelMachine

# The paper does not print mu; it is chosen on the training rows.
GRID = {"mu": [1e-3, 1e-4, 1e-5, 1e-6]}


def fit_binary(
    X: np.ndarray, y: np.ndarray, svm: SVC, n_vectors: int, parameters: dict[str, Any], seed: int
) -> KernelMachine:
    model = KernelFisherClassifier(
        n_vectors, C=svm.C, gamma=svm.gamma, init=parameters["init"], max_iter=30, random_state=seed
    )
    folds = StratifiedKFold(5, shuffle=True, random_state=seed)
    search = GridSearchCV(model, GRID, cv=folds, refit=False).fit(X, y)
    return model.set_params(max_iter=500, tol=1e-4, **search.best_params_).fit(X, y).machine_


METHOD = sparse_method(
    "skfd", "Sparse kernel Fisher discriminant", "direct method, appendix A", fit_binary
)
