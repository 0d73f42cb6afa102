"""The kernel Fisher discriminant over all rows."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.svm import SVC

from benchmarks.methods.one_vs_rest import sparse_method
from benchmarks.methods.skfd import GRID
from kernelet import KernelFisherClassifier, KernelMachine


def fit_binary(
    X: np.ndarray, y: np.ndarray, svm: SVC, n_vectors: int, parameters: dict[str, Any], seed: int
) -> KernelMachine:
    folds = StratifiedKFold(5, shuffle=True, random_state=seed)
    model = KernelFisherClassifier(C=svm.C, gamma=svm.gamma)
    return GridSearchCV(model, GRID, cv=folds).fit(X, y).best_estimator_.machine_


METHOD = sparse_method("kfd", "Kernel Fisher discriminant", "Mika et al. 1999", fit_binary)
