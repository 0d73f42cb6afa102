"""A network of one hidden layer, 10 units unless a budget says otherwise."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from benchmarks.methods.base import BYTES_PER_NUMBER, Classifier, Parameters, Size


def fit(X: np.ndarray, y: np.ndarray, parameters: Parameters, seed: int) -> Any:
    settings = dict(parameters)
    network = MLPClassifier(
        (settings.pop("n_vectors", 10),), max_iter=300, random_state=seed, **settings
    )
    with warnings.catch_warnings():
        # 300 passes are the stopping rule here, not an accident
        warnings.simplefilter("ignore", ConvergenceWarning)
        return make_pipeline(StandardScaler(), network).fit(X, y)


def size(fitted: Any) -> Size:
    """Count a hidden unit as a vector: it has as many weights. The scaler folds into them."""
    network = fitted[-1]
    numbers = sum(array.size for array in (*network.coefs_, *network.intercepts_))
    n_hidden = len(network.intercepts_[0])
    return Size(n_hidden, n_hidden, BYTES_PER_NUMBER * numbers)


METHOD = Classifier(
    "mlp",
    "Network, one hidden layer",
    "D. Rumelhart, G. Hinton, R. Williams 1986",
    fit,
    size,
    grid={"alpha": (1e-4, 1e-2, 1.0)},
    budgeted=True,
)
