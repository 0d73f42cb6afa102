"""The vectors of the reduced set, with coefficients of the largest margin."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.svm import SVC

from benchmarks.methods.one_vs_rest import sparse_method
from kernelet import KernelMachine, compress


def fit_binary(
    X: np.ndarray, y: np.ndarray, svm: SVC, n_vectors: int, parameters: dict[str, Any], seed: int
) -> KernelMachine:
    small = compress(
        svm, n_vectors, X, y, refit="margin", n_init=5, max_iter=500, random_state=seed
    )
    return small.machine_


METHOD = sparse_method(
    "mrs", "Reduced set, margin coefficients", "direct method, section 4.1", fit_binary
)
