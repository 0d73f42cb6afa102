"""The relevance vector machine of sklearn-rvm: Tipping's first algorithm, from all rows down."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from benchmarks.methods.base import BYTES_PER_NUMBER, Classifier, Parameters, Size


def fit(X: np.ndarray, y: np.ndarray, parameters: Parameters, seed: int) -> Any:
    from sklearn_rvm import EMRVC

    with warnings.catch_warnings():
        # of arrays with one element taken for numbers
        warnings.simplefilter("ignore")
        return EMRVC(kernel="rbf", gamma=parameters["gamma"]).fit(X, y)


def size(fitted: Any) -> Size:
    n_vectors, n_columns = fitted.relevance_vectors_.shape
    return Size(n_vectors, n_vectors, BYTES_PER_NUMBER * (n_vectors * (n_columns + 1) + 1))


METHOD = Classifier(
    "classical_rvm",
    "Relevance vector machine (sklearn-rvm)",
    "M. Tipping 2001",
    fit,
    size,
    packages={"sklearn_rvm": "sklearn-rvm"},
    inherits=("gamma",),
    max_rows=500,
)
