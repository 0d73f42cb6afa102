"""The vectors of the reduced set, with coefficients of the largest margin."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.svm import SVC

from benchmarks.methods import rs
from benchmarks.methods.one_vs_rest import sparse_method
from kernelet import KernelMachine, ReducedSVC


def fit_binary(
    X: np.ndarray, y: np.ndarray, svm: SVC, n_vectors: int, parameters: dict[str, Any], seed: int
) -> KernelMachine:
    reduced = rs.fit_binary(X, y, svm, n_vectors, parameters, seed)
    return ReducedSVC(C=svm.C, gamma=svm.gamma, init=reduced).fit(X, y).machine_


METHOD = sparse_method(
    "mrs", "Reduced set, margin coefficients", "direct method, section 4.1", fit_binary
)
