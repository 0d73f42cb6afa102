"""dlib's SVM with its own parameter search, then dlib's reduced set."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from benchmarks.methods.base import BYTES_PER_NUMBER, Classifier, Parameters, Size, kernel_size

SEARCH_SECONDS = 20.0


@dataclass(frozen=True)
class TwoClasses:
    """A dlib decision function with the labels of its two sides."""

    function: Any
    classes: np.ndarray

    def predict(self, X: np.ndarray) -> np.ndarray:
        positive = np.asarray(self.function.batch_predict(X)) > 0
        predicted: np.ndarray = self.classes[positive.astype(int)]
        return predicted


def fit(X: np.ndarray, y: np.ndarray, parameters: Parameters, seed: int) -> TwoClasses:
    import dlib

    classes, coded = np.unique(y, return_inverse=True)
    full = dlib.auto_train_rbf_classifier(X, 2.0 * coded - 1.0, SEARCH_SECONDS, False)
    return TwoClasses(dlib.reduce(full, X, parameters["n_vectors"]), classes)


def size(fitted: TwoClasses) -> Size:
    """The expansion, and the mean and deviation by which dlib scales every column."""
    n_vectors, n_columns = np.array(fitted.function.basis_vectors).shape
    expansion = kernel_size(n_vectors, n_columns, 1)
    return Size(n_vectors, n_vectors, expansion.n_bytes + 2 * n_columns * BYTES_PER_NUMBER)


METHOD = Classifier(
    "dlib_reduced",
    "SVM and reduced set (dlib)",
    "D. King, dlib, 2009",
    fit,
    size,
    packages={"dlib": "dlib"},
    budgeted=True,
    max_rows=5000,
    two_classes_only=True,
    repeatable=False,
)
