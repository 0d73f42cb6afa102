"""Kernel PCA features, all training rows or a random sample as vectors."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.decomposition import KernelPCA

from benchmarks.methods.base import BYTES_PER_NUMBER, Extractor, Parameters, Size
from benchmarks.methods.parameters import with_number_for_gamma


def fit(X: np.ndarray, y: np.ndarray, parameters: Parameters, seed: int) -> Any:
    settings = with_number_for_gamma(parameters, X)
    rows = np.random.default_rng(seed).permutation(len(X))[: settings.pop("n_sample", None)]
    return KernelPCA(kernel="rbf", random_state=seed, **settings).fit(X[rows])


def size(fitted: Any) -> Size:
    n_vectors, n_components = fitted.eigenvectors_.shape
    numbers = n_vectors * (fitted.n_features_in_ + n_components) + n_components
    return Size(n_vectors, n_vectors, BYTES_PER_NUMBER * numbers)


METHOD = Extractor(
    "kpca",
    "Kernel PCA features",
    "B. Schölkopf, A. Smola, K.-R. Müller 1998",
    fit,
    size,
    inherits=("gamma",),
)
