"""A model over the plane of two features: its scores on a grid, and the classes of rows."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from kernelet.kernels.numerics.arrays import FloatArray

# How far the grid extends beyond the rows on each side, as a share of their range: room for marks.
_AROUND = 0.08


def scores_on_grid(
    model: Any, X: Any, resolution: int
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """A grid around rows of two features, and the decision function on it.

    Parameters
    ----------
    model : fitted model
    X : array-like of shape (n_samples, 2)
        A data frame if the model was fitted with one.
    resolution : int
        Points n along each axis.

    Returns
    -------
    xx0, xx1 : ndarrays of shape (n, n)
    scores : ndarray of shape (n, n) or (n, n, n_classes)
    """
    rows = np.asarray(X, dtype=np.float64)
    axes = []
    for low, high in zip(rows.min(axis=0), rows.max(axis=0), strict=True):
        around = _AROUND * ((high - low) or 1.0)
        axes.append(np.linspace(low - around, high + around, resolution))
    xx0, xx1 = np.meshgrid(*axes)
    grid: Any = np.column_stack([xx0.ravel(), xx1.ravel()])
    if hasattr(model, "feature_names_in_") and hasattr(X, "columns"):
        grid = type(X)(grid, columns=X.columns)  # scikit-learn warns about rows without names
    scores = np.asarray(model.decision_function(grid))
    return xx0, xx1, scores.reshape(*xx0.shape, *scores.shape[1:])


def classes_of(model: Any, scores: FloatArray) -> NDArray[Any]:
    """The labels of the scores on a grid; for a machine, which has no labels, their numbers."""
    n_classes = 2 if scores.ndim == 2 else scores.shape[2]
    classes = np.asarray(getattr(model, "classes_", np.arange(n_classes)))
    if classes.size != n_classes:
        raise ValueError(
            "decision_function gives a score for each pair of classes; use "
            'decision_function_shape="ovr".'
        )
    return classes


def class_codes(classes: NDArray[Any], y: Any) -> NDArray[np.intp]:
    """Labels as indices into ``classes``, which is sorted."""
    labels = np.asarray(y)
    codes: NDArray[np.intp] = np.searchsorted(classes, labels)
    if codes.max(initial=0) >= classes.size or np.any(classes[codes] != labels):
        raise ValueError(f"y has labels that the model does not know: {classes.tolist()}.")
    return codes
