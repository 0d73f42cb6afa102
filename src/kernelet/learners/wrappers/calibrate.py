"""Probabilities for models that only have scores."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import sklearn
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.calibration import CalibratedClassifierCV
from sklearn.frozen import FrozenEstimator
from sklearn.utils.fixes import parse_version
from sklearn.utils.validation import check_is_fitted, column_or_1d

from kernelet.kernels.numerics.arrays import FloatArray
from kernelet.kernels.silence import silenced
from kernelet.learners.base.classifier import KernelClassifier
from kernelet.learners.base.lazy_prediction import lazy_methods
from kernelet.learners.base.model_file import SavableMixin, read_common, require, write_common
from kernelet.learners.base.parameters import choice
from kernelet.learners.compression.compressed_models import CompressedClassifier
from kernelet.machine import (
    CalibratedMachine,
    Calibration,
    KernelMachine,
    SigmoidCalibration,
    TemperatureCalibration,
)
from kernelet.persistence import ModelFileError, Record, from_record, register, to_record
from kernelet.persistence.machines import calibrated_machine

# scikit-learn's number of folds, each of which must hold a row of every class
_FOLDS = 5


@lazy_methods
class CalibratedClassifier(SavableMixin, ClassifierMixin, BaseEstimator):
    """A fitted classifier with probabilities; made by `kernelet.calibrate`, not by ``fit``.

    Attributes
    ----------
    estimator_ : classifier
        The model that was calibrated.
    machine_ : KernelMachine
        Its machine.
    calibrated_machine_ : CalibratedMachine
        The machine with its calibration, which needs NumPy alone.
    classes_ : ndarray of shape (n_classes,)
        The labels.
    n_vectors_ : int
        Number of expansion vectors.
    n_features_in_ : int
        Number of features of the rows.
    feature_names_in_ : ndarray of str
        Their names, if the model has any.
    """

    def fit(self, X: Any, y: Any = None) -> CalibratedClassifier:
        """Do nothing: like scikit-learn's FrozenEstimator, the model is already fitted."""
        return self

    def __sklearn_clone__(self) -> CalibratedClassifier:
        return self

    def __sklearn_is_fitted__(self) -> bool:
        return "estimator_" in vars(self)

    @property
    def machine_(self) -> KernelMachine:
        """The machine whose scores are calibrated."""
        machine: KernelMachine = self.estimator_.machine_
        return machine

    @property
    def n_vectors_(self) -> int:
        """How many expansion vectors the machine has."""
        return self.machine_.n_vectors

    def decision_function(self, X: Any) -> FloatArray:
        """Scores of the model that was calibrated."""
        check_is_fitted(self)
        scores: FloatArray = self.estimator_.decision_function(X)
        return scores

    def predict_proba(self, X: Any) -> FloatArray:
        """Class probabilities of the rows, of shape (n_samples, n_classes)."""
        scores = self.decision_function(X)
        calibration: Calibration = self.calibrated_machine_.calibration
        return calibration.probabilities(scores)

    def predict(self, X: Any) -> NDArray[Any]:
        """The most probable class of each row."""
        probabilities = self.predict_proba(X)
        labels: NDArray[Any] = self.classes_[probabilities.argmax(axis=1)]
        return labels

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


def calibrate(
    model: Any, X: ArrayLike, y: ArrayLike, *, method: str = "sigmoid", sample_weight: Any = None
) -> CalibratedClassifier:
    """A model with probabilities, calibrated on rows that it has not seen.

    scikit-learn's CalibratedClassifierCV finds the parameters; they become part of the machine.

    Parameters
    ----------
    model : fitted classifier of this package
    X, y : arrays
        Rows and labels that ``model`` was not trained on, of all its classes.
    method : {"sigmoid", "temperature"}, default="sigmoid"
        Platt's sigmoid for each class, or one temperature for all, which keeps every predicted
        label (scikit-learn 1.8 or newer).
    sample_weight : array-like of shape (n_samples,), default=None
        Weights of the rows.

    Returns
    -------
    CalibratedClassifier
        Has ``predict_proba``; its ``predict`` returns the most probable class.

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
    labels = _checked_labels(model, y, method)
    fitted = CalibratedClassifierCV(FrozenEstimator(model), method=method)
    if np.unique(labels, return_counts=True)[1].min() < _FOLDS:
        # a frozen model is the same in every fold, so one fold of all rows is as good
        rows = np.arange(labels.size)
        fitted.set_params(cv=[(rows, rows)])
    # the weights are for the calibration alone, which is what is wanted of a frozen model
    with silenced(UserWarning, "Since FrozenEstimator does not appear to accept"):
        fitted.fit(X, labels, sample_weight=sample_weight)
    (inner,) = fitted.calibrated_classifiers_
    result = CalibratedClassifier()
    result.estimator_ = model
    result.calibrated_machine_ = CalibratedMachine(
        model.machine_, _CALIBRATIONS[method](inner.calibrators)
    )
    result.classes_ = model.classes_
    result.n_features_in_ = model.n_features_in_
    if hasattr(model, "feature_names_in_"):
        result.feature_names_in_ = model.feature_names_in_
    return result


def _checked_labels(model: Any, y: ArrayLike, method: str) -> NDArray[Any]:
    """The labels, if the model can be calibrated with them by this method."""
    choice("method", method, _CALIBRATIONS)
    if method == "temperature" and parse_version(sklearn.__version__) < parse_version("1.8"):
        raise ValueError(
            'method="temperature" needs scikit-learn 1.8 or newer, this is '
            f'{sklearn.__version__}; use method="sigmoid".'
        )
    if not isinstance(model, KernelClassifier | CompressedClassifier):
        raise TypeError(
            "calibrate takes a fitted classifier with one score per class: a classifier of "
            f"kernelet, or what compress makes of a two-class SVC; got {type(model).__name__}."
        )
    check_is_fitted(model)
    labels: NDArray[Any] = column_or_1d(y, warn=True)
    unknown = np.setdiff1d(labels, model.classes_)
    if unknown.size:
        raise ValueError(f"y holds {unknown.tolist()!r}, which the model does not know.")
    missing = np.setdiff1d(model.classes_, labels)
    if missing.size:
        raise ValueError(
            f"y holds no row of {missing.tolist()!r}; calibration needs rows of all classes."
        )
    return labels


def _sigmoids(calibrators: list[Any]) -> Calibration:
    slopes, offsets = ([getattr(each, name) for each in calibrators] for name in ("a_", "b_"))
    return SigmoidCalibration(np.array(slopes), np.array(offsets))


def _temperature(calibrators: list[Any]) -> Calibration:
    return TemperatureCalibration(float(calibrators[0].beta_))


# Converts scikit-learn's calibrators, one for each class, for each method.
_CALIBRATIONS: dict[str, Callable[[list[Any]], Calibration]] = {
    "sigmoid": _sigmoids,
    "temperature": _temperature,
}


def _write(model: CalibratedClassifier) -> Record:
    record = write_common(model)
    calibration = model.calibrated_machine_.calibration
    record.parts = {"estimator": to_record(model.estimator_), "calibration": to_record(calibration)}
    return record


def _read(record: Record) -> CalibratedClassifier:
    model = CalibratedClassifier()
    model.estimator_ = from_record(
        record.part("estimator"), (KernelClassifier, CompressedClassifier)
    )
    model.calibrated_machine_ = calibrated_machine(
        model.estimator_.machine_, record.part("calibration")
    )
    read_common(model, record)
    inner = model.estimator_
    require(model, "classes_")
    same_classes = np.array_equal(model.classes_, inner.classes_)
    if model.n_features_in_ != inner.n_features_in_ or not same_classes:
        raise ModelFileError("the calibration is for other features or classes than the classifier")
    return model


register(CalibratedClassifier, _write, _read)
