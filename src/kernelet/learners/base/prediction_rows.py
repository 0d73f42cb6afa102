"""Rows to be predicted, and labels, in NumPy or in another library of the array API."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn import get_config
from sklearn.utils.validation import check_is_fitted

from kernelet.kernels.numerics.arrays import FloatArray, Rows
from kernelet.learners.base.validation import validate_data
from kernelet.machine.array_api import array_namespace, like
from kernelet.machine.reading import largest_score


def prediction_rows(model: Any, X: Any) -> Rows:
    """The rows as a fitted model takes them, checked by scikit-learn.

    With ``sklearn.set_config(array_api_dispatch=True)``, arrays of PyTorch and others stay what
    they are, and where they are; otherwise they become NumPy's, as in scikit-learn.

    Parameters
    ----------
    model : estimator
    X : {array-like, sparse matrix} of shape (n_samples, n_features)
    """
    check_is_fitted(model)
    xp = array_namespace(X) if get_config()["array_api_dispatch"] else None
    types = (np.float64, np.float32) if xp is None else (xp.float64, xp.float32)
    return validate_data(model, X, accept_sparse="csr", dtype=types, reset=False)


def labels_of_scores(classes: NDArray[Any], scores: FloatArray) -> NDArray[Any]:
    """The label of the larger score; for one score, the second label where it is above zero.

    Labels that are numbers come in the library of the scores, and texts in NumPy, since no other
    library has them.

    Parameters
    ----------
    classes : ndarray of shape (n_classes,)
    scores : array of shape (n,) or (n, n_classes)
    """
    xp: Any = array_namespace(scores)
    if xp is None:
        labels: NDArray[Any] = classes[largest_score(scores)]
        return labels
    if scores.ndim == 1:
        places = xp.asarray(scores > 0, dtype=xp.int64)
    else:
        places = xp.argmax(scores, axis=1)
    if classes.dtype.kind in "biuf":
        labels = xp.take(like(classes, scores, xp), places)
    else:
        labels = classes[[int(places[row]) for row in range(places.shape[0])]]
    return labels


def inliers_of_scores(scores: FloatArray) -> NDArray[Any]:
    """+1 where a score is at least zero, else -1.

    Parameters
    ----------
    scores : array of shape (n,)
    """
    xp: Any = array_namespace(scores)
    if xp is None:
        return np.where(scores >= 0, 1, -1)
    inside: NDArray[Any] = 2 * xp.asarray(scores >= 0, dtype=xp.int64) - 1
    return inside
