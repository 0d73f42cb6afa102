"""The direct method on the SVM."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.svm import SVC

from benchmarks.methods.one_vs_rest import sparse_method
from kernelet import KernelMachine, SparseSVC


def fit_binary(
    X: np.ndarray, y: np.ndarray, svm: SVC, n_vectors: int, parameters: dict[str, Any], seed: int
) -> KernelMachine:
    model = SparseSVC(
        n_vectors,
        C=svm.C,
        gamma=svm.gamma,
        loss="hinge",
        learn_kernel=False,
        init=parameters["init"],
        max_iter=500,
        tol=1e-4,
        random_state=seed,
    )
    return model.fit(X, y).machine_


METHOD = sparse_method(
    "slmc", "Sparse large margin classifier", "direct method, section 3", fit_binary
)
