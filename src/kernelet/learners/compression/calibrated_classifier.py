"""Classifiers with probabilities."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from kernelet.kernels.numerics.arrays import FloatArray
from kernelet.learners.base.classifier import KernelClassifier
from kernelet.learners.base.lazy_prediction import lazy_methods
from kernelet.learners.base.model_file import SavableMixin, read_common, require, write_common
from kernelet.learners.compression.compressed_models import (
    CompressedClassifier,
    CompressedPairwiseClassifier,
)
from kernelet.machine import (
    CalibratedMachine,
    Calibration,
    KernelMachine,
    SigmoidCalibration,
    TemperatureCalibration,
)
from kernelet.persistence import ModelFileError, Record, from_record, register, to_record
from kernelet.persistence.machines import CALIBRATIONS

CALIBRATED_KINDS = (KernelClassifier, CompressedClassifier, CompressedPairwiseClassifier)


@lazy_methods
class CalibratedClassifier(SavableMixin, ClassifierMixin, BaseEstimator):
    """A fitted classifier with probabilities; made by `kernelet.calibrate`, not by ``fit``.

    Attributes
    ----------
    estimator_ : classifier
        The model that was calibrated.
    calibration_ : SigmoidCalibration or TemperatureCalibration
        Makes probabilities of its scores.
    machine_ : KernelMachine
        Its machine.
    calibrated_machine_ : CalibratedMachine
        The machine with its calibration, which needs NumPy alone. A model that votes by pairs of
        classes has none, as its scores are not the outputs of the machine.
    classes_ : ndarray of shape (n_classes,)
        The labels.
    n_vectors_ : int
        Number of expansion vectors.
    n_features_in_ : int
        Number of features of the rows.
    feature_names_in_ : ndarray of str
        Their names, if the model has any.
    """

    @classmethod
    def of(cls, estimator: Any, calibration: Calibration) -> Self:
        """A fitted classifier and what makes probabilities of its scores.

        Raises
        ------
        ValueError
            If the calibration is for another number of scores.
        """
        model = cls()
        model.estimator_, model.calibration_ = estimator, calibration
        if isinstance(estimator, CompressedPairwiseClassifier):
            _check_votes(estimator, calibration)
        else:
            CalibratedMachine(estimator.machine_, calibration)
        for name in ("classes_", "n_features_in_", "feature_names_in_"):
            if hasattr(estimator, name):
                setattr(model, name, getattr(estimator, name))
        return model

    def fit(self, X: Any, y: Any = None) -> Self:
        """Do nothing: like scikit-learn's FrozenEstimator, the model is already fitted."""
        return self

    def __sklearn_clone__(self) -> Self:
        return self

    def __sklearn_is_fitted__(self) -> bool:
        return "estimator_" in vars(self)

    def __setstate__(self, state: dict[str, Any]) -> None:
        # older pickles hold the calibration in a machine
        state = dict(state)
        machine = state.pop("calibrated_machine_", None)
        if machine is not None:
            state["calibration_"] = machine.calibration
        super().__setstate__(state)

    @property
    def machine_(self) -> KernelMachine:
        """The machine whose scores are calibrated."""
        machine: KernelMachine = self.estimator_.machine_
        return machine

    @property
    def calibrated_machine_(self) -> CalibratedMachine:
        """The machine with its calibration."""
        if isinstance(self.estimator_, CompressedPairwiseClassifier):
            raise AttributeError(
                "the probabilities are those of votes, which are not outputs of the machine; use "
                "predict_proba."
            )
        return CalibratedMachine(self.machine_, self.calibration_)

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
        calibration: Calibration = self.calibration_
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


@lazy_methods
class PlattClassifier(CalibratedClassifier):
    """The same with the labels of the scores, as ``SVC(probability=True)`` has them.

    The class of the largest probability may be another one.
    """

    def predict(self, X: Any) -> NDArray[Any]:
        """The labels of the model that has the scores."""
        check_is_fitted(self)
        labels: NDArray[Any] = self.estimator_.predict(X)
        return labels


def _check_votes(model: CompressedPairwiseClassifier, calibration: Calibration) -> None:
    if model.decision_function_shape_ != "ovr":
        raise ValueError(
            "the scores that are calibrated must be one for each class; fit the SVC with "
            'decision_function_shape="ovr".'
        )
    n_classes = model.classes_.size
    if isinstance(calibration, SigmoidCalibration) and calibration.slopes.size != n_classes:
        raise ValueError(
            f"the calibration has {calibration.slopes.size} slopes for {n_classes} classes."
        )


def calibration_of(fitted: Any) -> Calibration:
    """What an entry of ``calibrated_classifiers_`` of scikit-learn does with scores.

    Raises
    ------
    ValueError
        If it is neither a sigmoid nor a temperature.
    """
    convert = CALIBRATIONS_OF.get(fitted.method)
    if convert is None:
        raise ValueError(
            f'the CalibratedClassifierCV was fitted with method="{fitted.method}", which kernelet '
            'does not have; fit it with method="sigmoid" and ensemble=False, or give the model '
            "inside to kernelet.calibrate."
        )
    return convert(fitted.calibrators)


def _sigmoids(calibrators: list[Any]) -> Calibration:
    slopes, offsets = ([getattr(each, name) for each in calibrators] for name in ("a_", "b_"))
    return SigmoidCalibration(np.array(slopes), np.array(offsets))


def _temperature(calibrators: list[Any]) -> Calibration:
    return TemperatureCalibration(float(calibrators[0].beta_))


# Converts scikit-learn's calibrators, one for each class, for each method.
CALIBRATIONS_OF: dict[str, Callable[[list[Any]], Calibration]] = {
    "sigmoid": _sigmoids,
    "temperature": _temperature,
}


def _write(model: CalibratedClassifier) -> Record:
    record = write_common(model)
    record.parts = {
        "estimator": to_record(model.estimator_),
        "calibration": to_record(model.calibration_),
    }
    return record


def _read(cls: type[CalibratedClassifier], record: Record) -> CalibratedClassifier:
    inner = from_record(record.part("estimator"), CALIBRATED_KINDS)
    model = cls.of(inner, from_record(record.part("calibration"), CALIBRATIONS))
    for name in ("classes_", "feature_names_in_"):
        if hasattr(model, name):
            delattr(model, name)
    read_common(model, record)
    require(model, "classes_")
    same_classes = np.array_equal(model.classes_, inner.classes_)
    if model.n_features_in_ != inner.n_features_in_ or not same_classes:
        raise ModelFileError("the calibration is for other features or classes than the classifier")
    return model


register(CalibratedClassifier, _write, lambda record: _read(CalibratedClassifier, record))
register(PlattClassifier, _write, lambda record: _read(PlattClassifier, record))
