"""Gradient-boosted trees that take as many bytes as a kernel machine with the budget's vectors."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.ensemble import HistGradientBoostingClassifier

from benchmarks.methods.base import Classifier, Parameters, Size, kernel_size
from benchmarks.methods.tree import BYTES_PER_NODE


def fit(X: np.ndarray, y: np.ndarray, parameters: Parameters, seed: int) -> Any:
    settings = dict(parameters)
    n_outputs = len(np.unique(y)) if len(np.unique(y)) > 2 else 1
    n_bytes = kernel_size(settings.pop("n_vectors"), X.shape[1], n_outputs).n_bytes
    nodes_per_output = n_bytes / (n_outputs * BYTES_PER_NODE)
    # smaller trees where one round of them would already take more
    n_leaves = max(2, min(settings.pop("max_leaf_nodes"), int(nodes_per_output + 1) // 2))
    model = HistGradientBoostingClassifier(
        max_iter=max(1, int(nodes_per_output / (2 * n_leaves - 1))),
        max_leaf_nodes=n_leaves,
        min_samples_leaf=5,
        # without it steps on classes that are nearly separated grow until the error does
        l2_regularization=1.0,
        early_stopping=False,
        random_state=seed,
        **settings,
    )
    return model.fit(X, y)


def size(fitted: Any) -> Size:
    """Trees have no vectors; every node of every tree is counted."""
    n_nodes = sum(
        predictor.get_n_leaf_nodes() * 2 - 1
        for rounds in fitted._predictors  # scikit-learn shows the fitted trees nowhere else
        for predictor in rounds
    )
    return Size(np.nan, 0, BYTES_PER_NODE * n_nodes)


METHOD = Classifier(
    "boosting",
    "Gradient boosting of the same bytes",
    "G. Ke et al., LightGBM, 2017 (scikit-learn's histogram version)",
    fit,
    size,
    grid={"max_leaf_nodes": (4, 8, 16), "learning_rate": (0.1, 0.3, 1.0)},
    budgeted=True,
)
