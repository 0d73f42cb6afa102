"""The same SVM by ThunderSVM on the CPU."""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.methods.base import Classifier, Parameters, Size, kernel_size
from benchmarks.methods.parameters import with_number_for_gamma


def fit(X: np.ndarray, y: np.ndarray, parameters: Parameters, seed: int) -> Any:
    from thundersvm import SVC

    return SVC(n_jobs=1, **with_number_for_gamma(parameters, X)).fit(X, y)


def size(fitted: Any) -> Size:
    """One-vs-one, vectors shared."""
    return kernel_size(fitted.n_sv, fitted.n_features, fitted.n_classes - 1)


METHOD = Classifier(
    "thunder_svc",
    "SVM, all support vectors (ThunderSVM)",
    "Z. Wen et al. 2018",
    fit,
    size,
    packages={"thundersvm": "thundersvm-cpu"},
    inherits=("C", "gamma"),
    tuned_as="svc_ovr",
    single_point=True,
)
