"""Estimators that predict like the model they were compressed from."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import (
    BaseEstimator,
    ClassifierMixin,
    ClassNamePrefixFeaturesOutMixin,
    OutlierMixin,
    RegressorMixin,
    TransformerMixin,
)

from kernelet.kernels.numerics.arrays import FloatArray
from kernelet.learners.base.lazy_prediction import lazy_methods
from kernelet.learners.base.model_file import SavableMixin, require, require_outputs, saved
from kernelet.learners.base.no_probabilities import CANNOT_BE_FITTED
from kernelet.learners.base.parameters import choice
from kernelet.learners.base.prediction_rows import (
    inliers_of_scores,
    labels_of_scores,
    prediction_rows,
)
from kernelet.learners.base.vectors import HasVectors
from kernelet.machine import KernelMachine
from kernelet.machine.reading import Reading, deciding_votes, ordered_votes
from kernelet.machine.texts import readable_bytes

# What compressed models know of the models they were compressed from.
FIGURES: dict[str, type] = {
    "error_norm_": float,
    "relative_error_": float,
    "score_error_": float,
    "n_vectors_before_": int,
    "n_bytes_before_": int,
}


class Compressed(HasVectors, SavableMixin, BaseEstimator):
    """A fitted model with fewer vectors; made by `kernelet.compress`, not by ``fit``.

    Clones in pipelines and searches are the model itself, and ``fit`` does nothing: scores of a
    cross-validation are those of rows that the original was trained on.

    Attributes
    ----------
    machine_ : KernelMachine
        The compact predictor.
    vectors_ : ndarray of shape (n_vectors, n_features)
        The expansion vectors.
    n_vectors_ : int
        Number of expansion vectors.
    error_norm_ : float
        Distance from the original's functions in the feature space: root of the sum of squares.
    relative_error_ : float
        ``error_norm_`` divided by the norm of the original.
    score_error_ : float
        Root mean square of the differences between the scores of the two machines on X, divided by
        the root mean square of the original's. NaN if X was not given, or went into ``refit``.
    n_vectors_before_ : int
        Number of expansion vectors of the original.
    n_bytes_before_ : int
        Bytes of its numbers, or of its integers if it was of few bits.
    n_features_in_ : int
        Number of features of the rows.
    feature_names_in_ : ndarray of str
        Their names, if the original has any.
    """

    machine_: KernelMachine
    error_norm_: float
    relative_error_: float
    score_error_: float
    n_vectors_before_: int
    n_bytes_before_: int
    _documented_as = "compress"

    @classmethod
    def from_machine(cls, machine: KernelMachine, original: Any, **attributes: Any) -> Any:
        """A fitted model around a machine; feature names are those of the original."""
        model = cls()
        model.machine_ = machine
        model.n_features_in_ = machine.n_features
        for name in ("feature_names_in_", "_training"):
            if hasattr(original, name):
                setattr(model, name, getattr(original, name))
        for name, value in attributes.items():
            setattr(model, name, value)
        return model

    def fit(self, X: Any, y: Any = None, **metadata: Any) -> Self:
        """Do nothing: like scikit-learn's FrozenEstimator, the model is already fitted."""
        return self

    def __sklearn_clone__(self) -> Self:
        return self

    def __sklearn_is_fitted__(self) -> bool:
        return "machine_" in vars(self)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    def __repr__(self, N_CHAR_MAX: int = 700) -> str:
        """Vectors and bytes, now and before."""
        if not self.__sklearn_is_fitted__():
            return str(super().__repr__(N_CHAR_MAX))
        facts = self._facts(self.machine_)
        return f"{type(self).__name__}({facts['vectors']} vectors, {facts['size']})"

    def _facts(self, machine: KernelMachine) -> dict[str, str]:
        facts = super()._facts(machine)
        if hasattr(self, "n_vectors_before_"):  # older files do not say
            before = {
                "vectors": str(self.n_vectors_before_),
                "size": readable_bytes(self.n_bytes_before_),
            }
            facts |= {name: f"{fact} -> {facts[name]}" for name, fact in before.items()}
        return facts

    def _scores(self, X: Any) -> FloatArray:
        X = prediction_rows(self, X)
        scores: FloatArray = self.machine_.decision_function(X)
        return scores


@lazy_methods
@saved(**FIGURES)
class CompressedClassifier(ClassifierMixin, Compressed):
    """One score per class (or one for two classes); the largest wins.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The labels.
    """

    _reading = Reading.CLASSES
    classes_: NDArray[Any]
    predict_proba = CANNOT_BE_FITTED

    def decision_function(self, X: Any) -> FloatArray:
        """Scores of shape (n,) for two classes, else (n, n_classes)."""
        return self._scores(X)

    def predict(self, X: Any) -> NDArray[Any]:
        """Class labels."""
        scores = self.decision_function(X)
        return labels_of_scores(self.classes_, scores)

    def _check_loaded(self) -> None:
        require(self, "classes_")
        require_outputs(self, 1 if self.classes_.size == 2 else self.classes_.size)


@lazy_methods
@saved(**FIGURES, decision_function_shape_=str, break_ties_=bool)
class CompressedPairwiseClassifier(ClassifierMixin, Compressed):
    """One score per pair of classes, as in LIBSVM; the class with the most votes wins.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The labels.
    decision_function_shape_ : {"ovr", "ovo"}
        What `decision_function` returns, as in the original model.
    break_ties_ : bool
        Whether ties between votes are broken by the scores, as in the original model.
    """

    _reading = Reading.PAIRS
    classes_: NDArray[Any]
    decision_function_shape_: str
    break_ties_: bool
    predict_proba = CANNOT_BE_FITTED

    def pair_scores(self, X: Any) -> FloatArray:
        """Scores of shape (n, n_classes (n_classes - 1) / 2); positive is for the earlier class."""
        return self._scores(X)

    def decision_function(self, X: Any) -> FloatArray:
        """Votes of each class, plus a share below 1/3 of a vote that orders equal counts.

        The same as scikit-learn's SVC with ``decision_function_shape="ovr"``; the scores of the
        pairs if the original has ``"ovo"``.
        """
        scores = self.pair_scores(X)
        if self.decision_function_shape_ == "ovo":
            return scores
        return ordered_votes(scores, self.classes_.size)

    def predict(self, X: Any) -> NDArray[Any]:
        """Class labels by votes; ties go to the first class, as in LIBSVM, or to higher scores."""
        votes = deciding_votes(self.pair_scores(X), self.classes_.size, self.break_ties_)
        return labels_of_scores(self.classes_, votes)

    def _check_loaded(self) -> None:
        require(self, "classes_", "decision_function_shape_", "break_ties_")
        require_outputs(self, self.classes_.size * (self.classes_.size - 1) // 2)
        choice("decision_function_shape", self.decision_function_shape_, ("ovr", "ovo"))


@lazy_methods
@saved(**FIGURES)
class CompressedRegressor(RegressorMixin, Compressed):
    """Predicts the machine's values."""

    _reading = Reading.VALUES

    def predict(self, X: Any) -> FloatArray:
        """Values of shape (n,) for one output, else (n, n_outputs)."""
        return self._scores(X)


@lazy_methods
@saved(**FIGURES)
class CompressedTransformer(ClassNamePrefixFeaturesOutMixin, TransformerMixin, Compressed):
    """The machine's outputs are features."""

    _reading = Reading.FEATURES

    def transform(self, X: Any) -> FloatArray:
        """Features of shape (n, n_outputs)."""
        features = self._scores(X)
        return features if features.ndim == 2 else features[:, None]

    @property
    def _n_features_out(self) -> int:
        return self.machine_.n_outputs


@lazy_methods
@saved(**FIGURES)
class CompressedOutlierDetector(OutlierMixin, Compressed):
    """Positive scores are inliers.

    Attributes
    ----------
    offset_ : ndarray of shape (1,)
        The offset: ``decision_function = score_samples - offset_``.
    """

    _reading = Reading.OUTLIERS

    @property
    def offset_(self) -> FloatArray:
        """The offset of the scores, as in scikit-learn's OneClassSVM."""
        offset: FloatArray = -np.asarray(self.machine_.intercepts)
        return offset

    def decision_function(self, X: Any) -> FloatArray:
        """Signed distance to the boundary; positive for inliers."""
        return self._scores(X)

    def score_samples(self, X: Any) -> FloatArray:
        """Scores before the offset is subtracted."""
        scores: FloatArray = self._scores(X) + float(self.offset_[0])
        return scores

    def predict(self, X: Any) -> NDArray[np.intp]:
        """+1 for inliers, -1 for outliers."""
        return inliers_of_scores(self._scores(X))

    def _check_loaded(self) -> None:
        require_outputs(self, 1)


READINGS: dict[str, type[Compressed]] = {
    kind._reading: kind
    for kind in (
        CompressedClassifier,
        CompressedPairwiseClassifier,
        CompressedRegressor,
        CompressedTransformer,
        CompressedOutlierDetector,
    )
}
