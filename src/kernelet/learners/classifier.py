"""What all classifiers of the package have in common: validate, weigh, learn, predict."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import check_random_state
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import _check_sample_weight, check_is_fitted, validate_data

from kernelet.kernels import Kernel, resolve_kernel
from kernelet.learners.progress import CallbackSupportMixin, with_callbacks
from kernelet.learners.weights import class_weights, gamma_of_weighted_rows
from kernelet.machine import KernelMachine
from kernelet.subspace import canonical_rows

FloatArray = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class TrainingSet:
    """Canonical rows of a classification problem, with the kernel resolved on them.

    Attributes
    ----------
    X : ndarray or CSR array of shape (n, d)
    codes : ndarray of shape (n,)
        The class of each row as an index into the sorted labels.
    weights : ndarray of shape (n,)
        sample_weight times class_weight.
    n_classes : int
    kernel : Kernel
    rng : RandomState
    """

    X: Any
    codes: NDArray[np.intp]
    weights: FloatArray
    n_classes: int
    kernel: Kernel
    rng: np.random.RandomState

    @property
    def targets(self) -> FloatArray:
        """-1/+1 labels: one column for two classes (+1 is the second), one per class for more."""
        if self.n_classes == 2:
            return np.where(self.codes == 1, 1.0, -1.0)[:, None]
        return np.where(self.codes[:, None] == np.arange(self.n_classes), 1.0, -1.0)


class KernelClassifier(CallbackSupportMixin, ClassifierMixin, BaseEstimator, ABC):
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
        X, y = validate_data(self, X, y, accept_sparse="csr", dtype=np.float64)
        check_classification_targets(y)
        weights = _check_sample_weight(sample_weight, X, ensure_non_negative=True)
        present = np.unique(np.asarray(y)[weights > 0])
        if present.size < 2:
            raise ValueError(
                f"{type(self).__name__} needs rows of at least two classes; with a positive "
                f"weight there is only one class: {present.tolist()}."
            )
        self.classes_, codes = np.unique(y, return_inverse=True)
        weights = weights * class_weights(self.class_weight, self.classes_, codes, weights)
        rows = canonical_rows(X, codes, weights)
        gamma = gamma_of_weighted_rows(self.gamma, rows.X, rows.costs)
        kernel = resolve_kernel(self.kernel, rows.X, gamma, self.degree, self.coef0)
        data = TrainingSet(
            rows.X,
            np.asarray(rows.y, dtype=np.intp),
            rows.costs,
            self.classes_.size,
            kernel,
            check_random_state(self.random_state),
        )
        self.machine_ = self._learn(data)
        return self

    @property
    def vectors_(self) -> FloatArray:
        """The expansion vectors, of shape (n_vectors_, n_features)."""
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
        X = validate_data(
            self, X, accept_sparse="csr", dtype=(np.float64, np.float32), reset=False
        )
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

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags
