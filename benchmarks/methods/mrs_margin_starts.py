"""The same with the vectors of the start that has the lowest margin problem, not the lowest (4)."""

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
    "mrs_margin_starts",
    "Reduced set, margin coefficients, start chosen by the margin problem",
    "direct method, section 4.1",
    fit_binary,
)
