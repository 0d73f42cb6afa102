"""The relevance vector machine of fastrvm; it finds its number of vectors itself."""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.methods.base import BYTES_PER_NUMBER, Classifier, Parameters, Size
from benchmarks.methods.parameters import WIDTHS, with_number_for_gamma


def fit(X: np.ndarray, y: np.ndarray, parameters: Parameters, seed: int) -> Any:
    from fastrvm import RVC

    settings = with_number_for_gamma(parameters, X)
    return RVC(fit_intercept=True, max_iter=1000, **settings).fit(X, y)


def size(fitted: Any) -> Size:
    distinct, n_columns = fitted.relevance_vectors_.shape
    in_sum = int(np.sum(fitted.n_relevance_))
    numbers = distinct * n_columns + in_sum + len(fitted.classes_)
    return Size(in_sum, distinct, BYTES_PER_NUMBER * numbers)


METHOD = Classifier(
    "fast_rvm",
    "Relevance vector machine (fastrvm)",
    "M. Tipping and A. Faul 2003",
    fit,
    size,
    packages={"fastrvm": "fastrvm"},
    inherits=("gamma",),
    grid={"gamma": WIDTHS},
    single_point=True,
    max_rows=1000,
)
