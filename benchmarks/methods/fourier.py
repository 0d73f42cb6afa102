"""Random Fourier features, then a linear SVM."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.kernel_approximation import RBFSampler
from sklearn.pipeline import Pipeline

from benchmarks.methods.base import BYTES_PER_NUMBER, Classifier, Parameters, Size
from benchmarks.methods.landmarks import fit_linear
from benchmarks.methods.parameters import KERNEL_GRID, with_number_for_gamma


def fit(X: np.ndarray, y: np.ndarray, parameters: Parameters, seed: int) -> Any:
    settings = with_number_for_gamma(parameters, X)
    sampler = RBFSampler(
        gamma=settings["gamma"], n_components=settings["n_vectors"], random_state=seed
    )
    features = sampler.fit_transform(X)
    linear = fit_linear(features, y, settings["C"], seed)
    return Pipeline([("features", sampler), ("linear", linear)])


def size(fitted: Any) -> Size:
    """Count a random direction, with its phase, as a vector: it costs the same to evaluate."""
    n_columns, n_directions = fitted["features"].random_weights_.shape
    n_outputs = len(fitted["linear"].intercept_)
    numbers = n_directions * (n_columns + 1 + n_outputs) + n_outputs
    return Size(n_directions, n_directions, BYTES_PER_NUMBER * numbers)


METHOD = Classifier(
    "fourier",
    "Random Fourier features, linear SVM",
    "A. Rahimi and B. Recht 2007",
    fit,
    size,
    grid=KERNEL_GRID,
    budgeted=True,
)
