"""The kernel machine inside pipelines, searches and other models around models.

Wrappers are known by what they hold (``best_estimator_``, ``steps``), so a search of kernelet and
one of scikit-learn are the same here, and neither is imported.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import joblib
import numpy as np
from numpy.typing import NDArray
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import TransformedTargetRegressor
from sklearn.frozen import FrozenEstimator
from sklearn.multiclass import OneVsOneClassifier, OneVsRestClassifier
from sklearn.pipeline import Pipeline
from sklearn.svm import SVC, NuSVC
from sklearn.utils.validation import check_is_fitted

from kernelet.kernels.silence import silenced
from kernelet.learners.compression.calibrated_classifier import (
    CalibratedClassifier,
    PlattClassifier,
    calibration_of,
)
from kernelet.machine import Calibration, SigmoidCalibration
from kernelet.machine.columns import ColumnEncoder


@dataclass(frozen=True, eq=False)
class Unwrapped:
    """A model taken out of what is around it.

    Attributes
    ----------
    model : fitted estimator or KernelMachine
        The innermost model, which takes the rows that `rows` returns.
    steps : tuple of (str, transformer)
        What rows go through before they are the model's, the first one first.
    targets : tuple of transformer
        What makes the targets of a regression of the model's values, the first one first.
    calibration : Calibration or None
        Makes probabilities of the model's scores.
    labels_by_scores : bool
        Whether the class of the largest score is predicted, not that of the largest probability.
    lost : str or None
        What is not kept of the model, for a warning.
    put_back : callable
        Makes a wrapper around another model of the one around this one, without its calibration.
    """

    model: Any
    steps: tuple[tuple[str, Any], ...] = ()
    targets: tuple[Any, ...] = ()
    calibration: Calibration | None = None
    labels_by_scores: bool = False
    lost: str | None = None
    put_back: Callable[[Any], Any] = lambda model: model

    def rows(self, X: Any) -> Any:
        """The rows of the innermost model, made of those that the wrapper takes; None stays so."""
        if X is None:
            return None
        # the rows may come without the names of their columns, as the model itself takes them
        with silenced(UserWarning, "X does not have valid feature names"):
            for _, step in self.steps:
                X = step.transform(X)
        return X

    def calibrated(self, model: Any) -> Any:
        """An estimator of kernelet with the calibration of the original, if there is one."""
        if self.calibration is None:
            return model
        kind = PlattClassifier if self.labels_by_scores else CalibratedClassifier
        return kind.of(model, self.calibration)

    def wrapped(self, model: Any) -> Any:
        """The wrapper and the calibration around another estimator, which is of kernelet."""
        return self.put_back(self.calibrated(model))


def unwrapped(model: Any) -> Unwrapped:
    """Take a model out of its wrappers.

    Parameters
    ----------
    model : fitted estimator or KernelMachine
        A Pipeline, search, FrozenEstimator, TransformedTargetRegressor, CalibratedClassifierCV
        without an ensemble, TableModel or one of these around another; any other model is returned
        as it is.

    Raises
    ------
    ValueError
        If there are several models inside where one is needed.

    Examples
    --------
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> pipeline = make_pipeline(StandardScaler(), SVC()).fit([[1.0], [3.0], [5.0]], [0, 0, 1])
    >>> unwrapped(pipeline).model, [name for name, _ in unwrapped(pipeline).steps]
    (SVC(), ['standardscaler'])
    """
    if isinstance(model, type):
        raise TypeError(
            f"{model.__name__} is a class; give a fitted model, {model.__name__}(...).fit(X, y)."
        )
    if hasattr(model, "best_estimator_"):
        return unwrapped(model.best_estimator_)
    if isinstance(model, FrozenEstimator):
        return unwrapped(model.estimator)
    if hasattr(model, "refit") and hasattr(model, "estimator"):
        check_is_fitted(model)
        raise ValueError(
            f"the {type(model).__name__} has no best estimator, as it was fitted with refit=False; "
            "fit the estimator with the parameters that you choose, and give that."
        )
    for kind, take in _WRAPPERS.items():
        if isinstance(model, kind):
            check_is_fitted(model)
            return take(model)
    if hasattr(model, "steps") and hasattr(model, "named_steps"):
        return _of_pipeline(model)
    if isinstance(getattr(model, "encoder", None), ColumnEncoder):
        return _of_table(model)
    return Unwrapped(model)


def _within(model: Any, attribute: str, inner: Unwrapped) -> Callable[[Any], Any]:
    """Puts another model in the place of an attribute of a copy."""

    def put_back(small: Any) -> Any:
        around = copy.copy(model)
        setattr(around, attribute, inner.put_back(small))
        return around

    return put_back


def _of_pipeline(model: Any) -> Unwrapped:
    name, last = model.steps[-1]
    if last is None or isinstance(last, str):
        raise ValueError(f"the last step of the pipeline, {name!r}, is {last!r}, and no model.")
    inner = unwrapped(last)
    before = [step for step in model.steps[:-1] if step[1] not in (None, "passthrough")]

    def put_back(small: Any) -> Any:
        around = copy.copy(model)
        around.steps = [*model.steps[:-1], (name, inner.put_back(small))]
        return around

    return replace(inner, steps=(*before, *inner.steps), put_back=put_back)


def _of_table(model: Any) -> Unwrapped:
    inner = unwrapped(model.estimator)
    return replace(
        inner,
        steps=(("columns", model.encoder), *inner.steps),
        put_back=_within(model, "estimator", inner),
    )


def _of_target(model: TransformedTargetRegressor) -> Unwrapped:
    inner = unwrapped(model.regressor_)
    return replace(
        inner,
        targets=(*inner.targets, model.transformer_),
        put_back=_within(model, "regressor_", inner),
    )


def _of_calibrated(model: CalibratedClassifier) -> Unwrapped:
    return replace(
        unwrapped(model.estimator_),
        calibration=model.calibration_,
        labels_by_scores=isinstance(model, PlattClassifier),
        lost=None,
    )


def _of_calibrated_cv(model: CalibratedClassifierCV) -> Unwrapped:
    fitted = model.calibrated_classifiers_
    if len(fitted) > 1:
        raise ValueError(
            f"the CalibratedClassifierCV holds an ensemble of {len(fitted)} models; fit it with "
            "ensemble=False, or fit the model alone and give it to kernelet.calibrate with rows "
            "that it has not seen."
        )
    (only,) = fitted
    inner = unwrapped(only.estimator)
    _check_calibrated_scores(inner.model)
    return replace(
        inner,
        model=_relabelled(inner.model, model.classes_),
        calibration=calibration_of(only),
        labels_by_scores=False,
        lost=None,
    )


def _check_calibrated_scores(model: Any) -> None:
    """Refuse scores that ours are not, so that a calibration of them would be wrong."""
    n_classes = model.classes_.size
    own = getattr(model, "decision_function_shape", "ovr")
    if n_classes > 2 and getattr(model, "decision_function_shape_", own) == "ovo":
        raise ValueError(
            "the CalibratedClassifierCV calibrates a score for each pair of classes; fit the SVC "
            'inside with decision_function_shape="ovr".'
        )
    if n_classes == 2 and isinstance(model, OneVsOneClassifier):
        raise ValueError(
            "the CalibratedClassifierCV calibrates the votes of one pair of classes; leave out the "
            "OneVsOneClassifier, which changes nothing for two classes."
        )


def _relabelled(model: Any, classes: NDArray[Any]) -> Any:
    """The model with these labels, if it was trained with their numbers in the place of labels."""
    own = model.classes_
    if np.array_equal(own, classes):
        return model
    if not np.array_equal(own, np.arange(classes.size)):
        raise ValueError(
            f"the CalibratedClassifierCV has the classes {classes.tolist()!r}, but the model "
            f"inside {own.tolist()!r}; fit it on rows of all classes."
        )
    model = copy.copy(model)
    model.classes_ = classes
    return model


def _of_svc(model: SVC | NuSVC) -> Unwrapped:
    """SVC(probability=True) has Platt's numbers for each pair of classes."""
    slopes, offsets = (np.asarray(getattr(model, name, ())) for name in ("_probA", "_probB"))
    if slopes.size == 0:
        return Unwrapped(model)
    if model.classes_.size == 2 and slopes.size == 1:
        # LIBSVM's score has the other sign, and its probability is that of the first class
        calibration = SigmoidCalibration(slopes.astype(np.float64), -offsets.astype(np.float64))
        return Unwrapped(model, calibration=calibration, labels_by_scores=True)
    return Unwrapped(
        model,
        lost=(
            f"the probabilities of {type(model).__name__}(probability=True) for "
            f"{model.classes_.size} classes are lost, as LIBSVM couples those of its pairs; "
            "kernelet.calibrate(model, X, y) makes others."
        ),
    )


def _of_several(model: OneVsRestClassifier | OneVsOneClassifier) -> Unwrapped:
    """The same steps in front of all become those in front of one."""
    inners = [unwrapped(each) for each in model.estimators_]
    first = inners[0]
    if any(joblib.hash(each.steps) != joblib.hash(first.steps) for each in inners):
        raise ValueError(
            f"each estimator of the {type(model).__name__} has steps of its own in front of it; "
            f"put the steps in front of all: make_pipeline(..., {type(model).__name__}(...))."
        )
    around = copy.copy(model)
    around.estimators_ = [each.model for each in inners]
    if first.steps:
        vars(around).pop("feature_names_in_", None)

    def put_back(small: Any) -> Any:
        return Pipeline([*first.steps, ("model", small)]) if first.steps else small

    found = Unwrapped(around, first.steps, put_back=put_back)
    shares = [each.calibration for each in inners]
    if isinstance(model, OneVsOneClassifier):
        # it reads scores, unless there are none
        if any(each.calibration is not None and not each.labels_by_scores for each in inners):
            raise ValueError(
                "the OneVsOneClassifier votes by calibrated probabilities; calibrate the whole "
                "instead: CalibratedClassifierCV(OneVsOneClassifier(...), ensemble=False)."
            )
        return found
    sigmoids = [each for each in shares if isinstance(each, SigmoidCalibration)]
    if len(sigmoids) < len(shares):
        if all(each is None for each in shares):
            return replace(found, lost=_lost_shares(model, inners))
        raise ValueError(
            "the estimators of the OneVsRestClassifier have calibrations of several kinds; "
            "calibrate the whole instead: CalibratedClassifierCV(OneVsRestClassifier(...), "
            "ensemble=False)."
        )
    joined = SigmoidCalibration(
        np.concatenate([each.slopes for each in sigmoids]),
        np.concatenate([each.offsets for each in sigmoids]),
    )
    return replace(found, calibration=joined, labels_by_scores=first.labels_by_scores)


def _lost_shares(model: Any, inners: list[Unwrapped]) -> str | None:
    """What to say where the classifiers inside have probabilities of their own."""
    if not any(hasattr(each.model, "predict_proba") for each in inners):
        return None
    return (
        f"the probabilities of the {type(model).__name__} are lost; kernelet.calibrate(model, X, "
        "y) makes others."
    )


_WRAPPERS: dict[type, Callable[[Any], Unwrapped]] = {
    TransformedTargetRegressor: _of_target,
    CalibratedClassifier: _of_calibrated,
    CalibratedClassifierCV: _of_calibrated_cv,
    OneVsRestClassifier: _of_several,
    OneVsOneClassifier: _of_several,
    SVC: _of_svc,
    NuSVC: _of_svc,
}
