"""Probabilities for models that only have scores."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
import sklearn
from numpy.typing import ArrayLike, NDArray
from sklearn.calibration import CalibratedClassifierCV
from sklearn.frozen import FrozenEstimator
from sklearn.utils.fixes import parse_version
from sklearn.utils.validation import _num_samples, check_is_fitted

from kernelet.kernels.silence import silenced
from kernelet.learners.base.parameters import choice
from kernelet.learners.base.validation import column_or_1d
from kernelet.learners.compression.calibrated_classifier import (
    CALIBRATED_KINDS,
    CALIBRATIONS_OF,
    CalibratedClassifier,
    calibration_of,
)
from kernelet.learners.compression.compressed_models import CompressedPairwiseClassifier
from kernelet.learners.compression.exact_conversion import converted
from kernelet.learners.compression.unwrapping import unwrapped

__all__ = ["CalibratedClassifier", "calibrate"]

# scikit-learn's number of folds, each of which must hold a row of every class
_FOLDS = 5


def calibrate(
    model: Any, X: ArrayLike, y: ArrayLike, *, method: str = "sigmoid", sample_weight: Any = None
) -> Any:
    """A model with probabilities, calibrated on rows that it has not seen.

    scikit-learn's CalibratedClassifierCV finds the parameters; they become part of the machine.

    Parameters
    ----------
    model : fitted classifier
        Of this package, or scikit-learn's SVC or NuSVC, which then keeps all of its support
        vectors; also in a Pipeline, a search, OneVsRestClassifier, OneVsOneClassifier or
        `TableModel`. Probabilities that it has already are replaced.
    X, y : arrays
        Rows and labels that ``model`` was not trained on, of all its classes.
    method : {"sigmoid", "temperature"}, default="sigmoid"
        Platt's sigmoid for each class, or one temperature for all, which keeps every predicted
        label (scikit-learn 1.8 or newer).
    sample_weight : array-like of shape (n_samples,), default=None
        Weights of the rows.

    Returns
    -------
    CalibratedClassifier or Pipeline
        Has ``predict_proba``; its ``predict`` returns the most probable class. A Pipeline comes
        back as one with its last step calibrated, a search as its best estimator.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from kernelet import SparseSVC, calibrate
    >>> X, y = load_digits(return_X_y=True)
    >>> model = SparseSVC(n_vectors=20, C=10.0, random_state=0).fit(X[:1000], y[:1000])
    >>> calibrated = calibrate(model, X[1000:1400], y[1000:1400])
    >>> calibrated.predict_proba(X[1400:]).shape
    (397, 10)
    """
    inner = unwrapped(model)
    classifier = _with_scores_of_classes(converted(inner.model))
    calibrated = _calibrated(classifier, inner.rows(X), y, method, sample_weight)
    return inner.put_back(calibrated)


def _calibrated(
    model: Any, X: Any, y: ArrayLike, method: str, sample_weight: Any
) -> CalibratedClassifier:
    labels = _checked_labels(model, y, method, _num_samples(X))
    # a temperature takes numbers as the columns of their scores, whichever numbers they are: up to
    # scikit-learn 1.9 without a look at what lies there
    codes = np.unique(labels, return_inverse=True)[1]
    coded = copy.copy(model)
    coded.classes_ = np.arange(model.classes_.size)
    fitted = CalibratedClassifierCV(FrozenEstimator(coded), method=method)
    if np.bincount(codes).min() < _FOLDS:
        # a frozen model is the same in every fold, so one fold of all rows is as good
        rows = np.arange(codes.size)
        fitted.set_params(cv=[(rows, rows)])
    # the weights are for the calibration alone, which is what is wanted of a frozen model
    with silenced(UserWarning, "Since FrozenEstimator does not appear to accept"):
        fitted.fit(X, codes, sample_weight=sample_weight)
    (only,) = fitted.calibrated_classifiers_
    return CalibratedClassifier.of(model, calibration_of(only))


def _with_scores_of_classes(model: Any) -> Any:
    """The model, or a copy of it whose decision function has a score for each class."""
    if isinstance(model, CompressedPairwiseClassifier) and model.decision_function_shape_ == "ovo":
        model = copy.copy(model)
        model.decision_function_shape_ = "ovr"
    return model


def _checked_labels(model: Any, y: ArrayLike, method: str, n_rows: int) -> NDArray[Any]:
    """The labels, if the model can be calibrated with them by this method."""
    choice("method", method, CALIBRATIONS_OF)
    if method == "temperature" and parse_version(sklearn.__version__) < parse_version("1.8"):
        raise ValueError(
            'method="temperature" needs scikit-learn 1.8 or newer, this is '
            f'{sklearn.__version__}; use method="sigmoid".'
        )
    if not isinstance(model, CALIBRATED_KINDS):
        raise TypeError(
            f"{type(model).__name__} is no classifier, so it has no classes to give probabilities "
            "to; calibrate takes SVC, a classifier of kernelet, or what compress makes of one."
        )
    check_is_fitted(model)
    labels: NDArray[Any] = column_or_1d(y, warn=True)
    if n_rows != labels.size:
        raise ValueError(f"X has {n_rows} rows, but y has {labels.size}; they must be as many.")
    unknown = np.setdiff1d(labels, model.classes_)
    if unknown.size:
        raise ValueError(f"y holds {unknown.tolist()!r}, which the model does not know.")
    missing = np.setdiff1d(model.classes_, labels)
    if missing.size:
        raise ValueError(
            f"y holds no row of {missing.tolist()!r}; calibration needs rows of all classes."
        )
    return labels
