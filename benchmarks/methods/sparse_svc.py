"""The direct method with vectors that all classes share."""

from __future__ import annotations

import numpy as np

from benchmarks.methods.base import Classifier, Parameters, Size, kernel_size
from benchmarks.methods.parameters import with_number_for_gamma
from kernelet import SparseSVC


def fit(X: np.ndarray, y: np.ndarray, parameters: Parameters, seed: int) -> SparseSVC:
    return SparseSVC(**with_number_for_gamma(parameters, X), random_state=seed).fit(X, y)


def size(fitted: SparseSVC) -> Size:
    """All outputs share the vectors."""
    machine = fitted.machine_
    return kernel_size(machine.n_vectors, machine.n_features, machine.n_outputs)


METHOD = Classifier(
    "sparse_svc",
    "SparseSVC, shared vectors (kernelet)",
    "direct method, vectors shared by the classes",
    fit,
    size,
    budgeted=True,
    tuned_as="sparse_svc_quick",
)
