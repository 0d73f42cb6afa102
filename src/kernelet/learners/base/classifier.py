"""What all classifiers of the package have in common: validate, weigh, learn, predict."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin

from kernelet.kernels.numerics.arrays import FloatArray
from kernelet.learners.base.constant_fits import warn_if_constant
from kernelet.learners.base.fit_method import fit_method
from kernelet.learners.base.lazy_prediction import lazy_methods
from kernelet.learners.base.model_file import SavableMixin, require, require_outputs
from kernelet.learners.base.no_probabilities import ONE_SCORE_A_CLASS
from kernelet.learners.base.out_of_core import OutOfCoreData, out_of_core_data
from kernelet.learners.base.prediction_rows import labels_of_scores, prediction_rows
from kernelet.learners.base.progress import CallbackSupportMixin
from kernelet.learners.base.training_data import TrainingData, labelled_data
from kernelet.learners.base.vectors import HasVectors
from kernelet.machine import KernelMachine
from kernelet.machine.reading import Reading
from kernelet.rows import is_distant


@lazy_methods
class KernelClassifier(
    HasVectors, SavableMixin, CallbackSupportMixin, ClassifierMixin, BaseEstimator, ABC
):
    """A classifier that ends in a `KernelMachine`; subclasses only learn it.

    Every subclass has the parameters ``kernel``, ``gamma``, ``degree``, ``coef0``,
    ``class_weight`` and ``random_state``.
    """

    machine_: KernelMachine
    classes_: NDArray[Any]
    _reading = Reading.CLASSES
    # whether kernel values are divided by their size before they are squared; if not,
    # `training_kernel` refuses those with squares beyond double precision
    _rescales_kernel_values = False

    # whether `_learn` takes rows that do not fit in memory
    _learns_out_of_core = False

    predict_proba = ONE_SCORE_A_CLASS

    @abstractmethod
    def _learn(self, data: Any) -> KernelMachine:
        """Return the machine for these rows; further fitted attributes are set as well.

        The rows are a `TrainingData`, and for classifiers that learn out of core also an
        `OutOfCoreData`.
        """

    @fit_method
    def fit(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Learn the machine.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Training rows. A `numpy.memmap`, `kernelet.rows.Chunks`, or a Dask array or data frame
            is read in blocks and never copied as a whole, if the method supports this.
        y : array-like of shape (n_samples,)
            Class labels; `Chunks` for chunks, and preferably a Dask collection for Dask.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the rows; a weight of w is the same as w repetitions.

        Returns
        -------
        self : object
            The fitted classifier.
        """
        data: TrainingData | OutOfCoreData
        if self._leaves(X):
            if not self._learns_out_of_core:
                raise TypeError(
                    f"{type(self).__name__} needs its rows in memory; SparseSVC, ReducedSVC, "
                    "KernelFisherClassifier, SubspaceLPSVC and CoreVectorSVC take rows that are "
                    "not."
                )
            data = out_of_core_data(self, X, y, sample_weight)
            self.classes_ = data.rows.classes
        else:
            data, self.classes_ = labelled_data(self, X, y, sample_weight)
        self.machine_ = self._learn(data)
        near = data.at_hand
        warn_if_constant(self, near.X, near.codes, near.weights)
        return self

    def _leaves(self, X: Any) -> bool:
        """Whether rows are read in blocks; a memory-mapped array can also be copied to memory."""
        return is_distant(X) and (self._learns_out_of_core or not isinstance(X, np.memmap))

    def decision_function(self, X: Any) -> FloatArray:
        """Scores of the rows: one column per class, or for two classes the second's score.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples,) or (n_samples, n_classes)
        """
        X = prediction_rows(self, X)
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
        return labels_of_scores(self.classes_, scores)

    def _check_loaded(self) -> None:
        require(self, "classes_")
        require_outputs(self, 1 if self.classes_.size == 2 else self.classes_.size)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags
