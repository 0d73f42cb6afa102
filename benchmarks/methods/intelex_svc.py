"""The same SVM by Intel's extension for scikit-learn."""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.methods.base import Classifier, Parameters, Size, kernel_size
from benchmarks.methods.parameters import with_number_for_gamma


def fit(X: np.ndarray, y: np.ndarray, parameters: Parameters, seed: int) -> Any:
    from sklearnex.svm import SVC

    return SVC(**with_number_for_gamma(parameters, X)).fit(X, y)


def size(fitted: Any) -> Size:
    """One-vs-one, vectors shared."""
    n_vectors, n_columns = fitted.support_vectors_.shape
    return kernel_size(n_vectors, n_columns, len(fitted.classes_) - 1)


METHOD = Classifier(
    "intelex_svc",
    "SVM, all support vectors (scikit-learn-intelex)",
    "Intel, oneDAL",
    fit,
    size,
    packages={"sklearnex": "scikit-learn-intelex"},
    inherits=("C", "gamma"),
    tuned_as="svc_ovr",
    single_point=True,
)
