"""What all classifiers of the package have in common: validate, weigh, learn, predict."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from kernelet.learners.progress import CallbackSupportMixin, with_callbacks
from kernelet.learners.saving import SavableMixin, require, require_outputs
from kernelet.learners.training import FloatArray, TrainingSet, training_set
from kernelet.machine import KernelMachine


class KernelClassifier(SavableMixin, CallbackSupportMixin, ClassifierMixin, BaseEstimator, ABC):
    """A classifier that ends in a `KernelMachine`; subclasses only learn it.

    Every subclass has the parameters ``kernel``, ``gamma``, ``degree``, ``coef0``,
    ``class_weight`` and ``random_state``.
    """

    machine_: KernelMachine
    classes_: NDArray[Any]

    @abstractmethod
    def _learn(self, data: TrainingSet) -> KernelMachine:
        """The machine for these rows; further fitted attributes are set on the way."""

    @with_callbacks
    def fit(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Learn the machine.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Training rows.
        y : array-like of shape (n_samples,)
            Class labels.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the rows; a weight equals as many repetitions.

        Returns
        -------
        self : object
            The fitted classifier.
        """
        data, self.classes_ = training_set(self, X, y, sample_weight)
        self.machine_ = self._learn(data)
        return self

    @property
    def vectors_(self) -> FloatArray:
        """The expansion vectors, of shape (n_vectors, n_features)."""
        vectors: FloatArray = self.machine_.vectors
        return vectors

    @property
    def n_vectors_(self) -> int:
        """How many expansion vectors the machine has."""
        return self.machine_.n_vectors

    def decision_function(self, X: Any) -> FloatArray:
        """Scores of the rows: one column per class, or for two classes the second's score.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples,) or (n_samples, n_classes)
        """
        check_is_fitted(self)
        X = validate_data(self, X, accept_sparse="csr", dtype=(np.float64, np.float32), reset=False)
        scores: FloatArray = self.machine_.decision_function(X)
        return scores

    def predict(self, X: Any) -> NDArray[Any]:
        """Class labels of the rows.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        scores = self.decision_function(X)
        codes = (scores > 0).astype(np.intp) if scores.ndim == 1 else scores.argmax(axis=1)
        labels: NDArray[Any] = self.classes_[codes]
        return labels

    def _check_loaded(self) -> None:
        require(self, "classes_")
        require_outputs(self, 1 if self.classes_.size == 2 else self.classes_.size)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags
