"""The nearest training row."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.neighbors import KNeighborsClassifier

from benchmarks.methods.base import BYTES_PER_NUMBER, Classifier, Parameters, Size


def fit(X: np.ndarray, y: np.ndarray, parameters: Parameters, seed: int) -> Any:
    return KNeighborsClassifier(n_neighbors=1, **parameters).fit(X, y)


def size(fitted: Any) -> Size:
    """Every training row is kept, with a byte for its label."""
    n_rows = fitted.n_samples_fit_
    return Size(n_rows, n_rows, n_rows * (BYTES_PER_NUMBER * fitted.n_features_in_ + 1))


METHOD = Classifier(
    "1nn", "Nearest neighbour", "T. Cover and P. Hart 1967", fit, size, single_point=True
)
