"""The reduced set of the full SVM."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.svm import SVC

from benchmarks.methods.one_vs_rest import sparse_method
from kernelet import KernelMachine, compress


def fit_binary(
    X: np.ndarray, y: np.ndarray, svm: SVC, n_vectors: int, parameters: dict[str, Any], seed: int
) -> KernelMachine:
    return compress(svm, n_vectors, n_init=5, max_iter=500, random_state=seed).machine_


METHOD = sparse_method("rs", "Reduced set", "direct method, (4) and (47)", fit_binary)
