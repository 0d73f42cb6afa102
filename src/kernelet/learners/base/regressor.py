"""What all regressors of the package have in common: validate, weigh, learn, predict."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, Self

from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, RegressorMixin

from kernelet.kernels.numerics.arrays import FloatArray
from kernelet.learners.base.constant_fits import warn_if_constant
from kernelet.learners.base.fit_method import fit_method
from kernelet.learners.base.lazy_prediction import lazy_methods
from kernelet.learners.base.model_file import SavableMixin, require_outputs
from kernelet.learners.base.prediction_rows import prediction_rows
from kernelet.learners.base.progress import CallbackSupportMixin
from kernelet.learners.base.training_data import TrainingData, regression_data
from kernelet.learners.base.vectors import HasVectors
from kernelet.machine import KernelMachine
from kernelet.machine.reading import Reading


@lazy_methods
class KernelRegressor(
    HasVectors, SavableMixin, CallbackSupportMixin, RegressorMixin, BaseEstimator, ABC
):
    """A regressor that ends in a `KernelMachine`; subclasses only learn it.

    Every subclass has the parameters ``kernel``, ``gamma``, ``degree`` and ``coef0``.
    """

    machine_: KernelMachine
    _reading = Reading.VALUES
    _multi_output = False
    # whether kernel values are divided by their size before they are squared; if not,
    # `training_kernel` refuses those with squares beyond double precision
    _rescales_kernel_values = False

    @abstractmethod
    def _learn(self, data: TrainingData) -> KernelMachine:
        """Return the machine for these rows; further fitted attributes are set as well."""

    @fit_method
    def fit(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Learn the machine.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Training rows.
        y : array-like of shape (n_samples,) or (n_samples, n_outputs)
            Targets; several only if the class says so.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the rows; a weight of w is the same as w repetitions.

        Returns
        -------
        self : object
            The fitted regressor.
        """
        data = regression_data(self, X, y, sample_weight, self._multi_output)
        self.machine_ = self._learn(data)
        warn_if_constant(self, data.X, targets=data.targets)
        return self

    def predict(self, X: Any) -> FloatArray:
        """Predicted targets of the rows.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples,) or (n_samples, n_outputs)
        """
        return self._scores(X)

    def _scores(self, X: Any) -> FloatArray:
        X = prediction_rows(self, X)
        scores: FloatArray = self.machine_.decision_function(X)
        return scores

    def _check_loaded(self) -> None:
        if not self._multi_output:
            require_outputs(self, 1)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.target_tags.multi_output = self._multi_output
        return tags
