"""Kernel PCA of a random sample, then a linear SVM on all its components."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from sklearn.decomposition import KernelPCA
from sklearn.svm import LinearSVC

from benchmarks.methods.base import Classifier, Parameters, Size, kernel_size
from benchmarks.methods.landmarks import fit_linear
from benchmarks.methods.parameters import KERNEL_GRID, with_number_for_gamma


@dataclass(frozen=True)
class Projected:
    """A linear machine behind a projection."""

    projection: KernelPCA
    linear: LinearSVC

    def predict(self, X: np.ndarray) -> np.ndarray:
        predicted: np.ndarray = self.linear.predict(self.projection.transform(X))
        return predicted


def fit(X: np.ndarray, y: np.ndarray, parameters: Parameters, seed: int) -> Projected:
    settings = with_number_for_gamma(parameters, X)
    rows = np.random.default_rng(seed).permutation(len(X))[: settings["n_vectors"]]
    projection = KernelPCA(
        n_components=len(rows), kernel="rbf", gamma=settings["gamma"], random_state=seed
    ).fit(X[rows])
    linear = fit_linear(projection.transform(X), y, settings["C"], seed)
    return Projected(projection, linear)


def size(fitted: Projected) -> Size:
    """The two linear maps are one."""
    n_vectors, n_columns = fitted.projection.X_fit_.shape
    return kernel_size(n_vectors, n_columns, len(fitted.linear.intercept_))


METHOD = Classifier(
    "kpca_linear",
    "Kernel PCA of a sample, linear SVM",
    "B. Schölkopf, A. Smola, K.-R. Müller 1998",
    fit,
    size,
    grid=KERNEL_GRID,
    budgeted=True,
)
