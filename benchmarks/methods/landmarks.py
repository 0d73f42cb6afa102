"""A linear SVM in the span of the kernel at given landmarks, folded into one kernel expansion."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.svm import LinearSVC

from benchmarks.methods.base import Size, kernel_size


@dataclass(frozen=True)
class LandmarkMachine:
    """``argmax_k sum_j beta_jk k(z_j, x) + b_k``."""

    vectors: np.ndarray
    coefficients: np.ndarray
    intercepts: np.ndarray
    classes: np.ndarray
    gamma: float

    def predict(self, X: np.ndarray) -> np.ndarray:
        values = rbf_kernel(X, self.vectors, gamma=self.gamma) @ self.coefficients
        values += self.intercepts
        chosen = values.argmax(axis=1) if values.shape[1] > 1 else (values[:, 0] > 0).astype(int)
        predicted: np.ndarray = self.classes[chosen]
        return predicted


def fit_on_landmarks(
    X: np.ndarray, y: np.ndarray, vectors: np.ndarray, C: float, gamma: float, seed: int
) -> LandmarkMachine:
    """Fit squared hinge and ridge on the Nyström features of the landmarks."""
    eigenvalues, eigenvectors = np.linalg.eigh(rbf_kernel(vectors, gamma=gamma))
    kept = eigenvalues > 1e-10 * eigenvalues[-1]
    whitening = eigenvectors[:, kept] / np.sqrt(eigenvalues[kept])
    features = rbf_kernel(X, vectors, gamma=gamma) @ whitening
    linear = fit_linear(features, y, C, seed)
    coefficients = whitening @ linear.coef_.T
    return LandmarkMachine(vectors, coefficients, linear.intercept_, linear.classes_, gamma)


def fit_linear(features: np.ndarray, y: np.ndarray, C: float, seed: int) -> LinearSVC:
    """Fit the linear SVM that follows explicit features: primal, squared hinge."""
    # liblinear penalises the intercept; a large constant column makes that negligible
    machine = LinearSVC(C=C, dual=False, intercept_scaling=10.0, random_state=seed)
    return machine.fit(features, y)


def landmark_size(fitted: LandmarkMachine) -> Size:
    """Return the size of the folded expansion."""
    n_vectors, n_columns = fitted.vectors.shape
    return kernel_size(n_vectors, n_columns, fitted.coefficients.shape[1])
