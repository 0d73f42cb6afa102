"""The kernel Fisher discriminant over all rows."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.svm import SVC

from benchmarks.methods.one_vs_rest import sparse_method
from kernelet import KernelFisherClassifier, KernelMachine


def fit_binary(
    X: np.ndarray, y: np.ndarray, svm: SVC, n_vectors: int, parameters: dict[str, Any], seed: int
) -> KernelMachine:
    return KernelFisherClassifier(C=svm.C, gamma=svm.gamma).fit(X, y).machine_


METHOD = sparse_method("kfd", "Kernel Fisher discriminant", "Mika et al. 1999", fit_binary)
