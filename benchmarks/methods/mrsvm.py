"""The reduced SVM's vectors and parameters, with coefficients of the largest margin."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.svm import SVC

from benchmarks.methods.one_vs_rest import sparse_method
from benchmarks.methods.rsvm import fit_reduced
from kernelet import KernelMachine


def fit_binary(
    X: np.ndarray, y: np.ndarray, svm: SVC, n_vectors: int, parameters: dict[str, Any], seed: int
) -> KernelMachine:
    return fit_reduced(X, y, svm, n_vectors, seed, "margin")


METHOD = sparse_method(
    "mrsvm", "Reduced SVM, margin coefficients", "direct method, section 4.2", fit_binary
)
