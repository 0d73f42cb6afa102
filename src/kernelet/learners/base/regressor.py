"""What all regressors of the package have in common: validate, weigh, learn, predict."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import _check_sample_weight, check_is_fitted, validate_data

from kernelet.kernels import Kernel
from kernelet.learners.base.constant_fits import warn_if_constant
from kernelet.learners.base.lazy_prediction import lazy_methods
from kernelet.learners.base.model_file import SavableMixin, remember_training, require_outputs
from kernelet.learners.base.progress import CallbackSupportMixin, with_callbacks
from kernelet.learners.base.training_data import FloatArray
from kernelet.learners.base.training_kernel import training_kernel
from kernelet.learners.base.vectors import HasVectors
from kernelet.machine import KernelMachine
from kernelet.subspace import canonical_rows


@dataclass(frozen=True, eq=False)
class RegressionSet:
    """Canonical rows of a regression problem, with the kernel resolved on them.

    Attributes
    ----------
    X : ndarray or CSR array of shape (n, d)
    targets : ndarray of shape (n,), or (n, k) where several may be given
    weights : ndarray of shape (n,)
    kernel : Kernel
    centre, size : float
        Mean and standard deviation of the targets; a size of 1 if they are all the same.
    rng : RandomState
    """

    X: Any
    targets: FloatArray
    weights: FloatArray
    kernel: Kernel
    centre: float
    size: float
    rng: np.random.RandomState


def regression_set(
    estimator: Any,
    X: Any,
    y: ArrayLike,
    sample_weight: ArrayLike | None,
    multi_output: bool = False,
) -> RegressionSet:
    """Validate the arguments of ``fit`` for an estimator.

    The estimator has the parameters ``kernel``, ``gamma``, ``degree``, ``coef0`` and, where
    anything is random, ``random_state``. With ``multi_output`` the targets have two dimensions.
    """
    X, y = validate_data(
        estimator,
        X,
        y,
        accept_sparse="csr",
        dtype=np.float64,
        y_numeric=True,
        multi_output=multi_output,
    )
    weights = _check_sample_weight(sample_weight, X, ensure_non_negative=True)
    remember_training(estimator, X.shape[0])
    given = np.asarray(y, dtype=np.float64)
    if multi_output:
        # rows with several targets are distinguished by the number of their combination
        kinds, codes = np.unique(given.reshape(len(given), -1), axis=0, return_inverse=True)
        rows = canonical_rows(X, codes.ravel(), weights)
        targets = kinds[np.asarray(rows.y, dtype=np.intp)]
    else:
        rows = canonical_rows(X, given, weights)
        targets = np.asarray(rows.y, dtype=np.float64)
    kernel = training_kernel(estimator, rows.X, rows.costs)
    share = rows.costs / rows.costs.sum()
    centre = float(np.mean(share @ targets))
    with np.errstate(over="ignore"):
        size = float(np.sqrt(np.mean(share @ np.square(targets - centre))))
    if not np.isfinite(size):
        raise ValueError(
            f"{type(estimator).__name__} cannot square targets as large as these; divide y by "
            f"their size, {float(np.abs(targets).max()):.0e}."
        )
    is_constant = size <= 1e-14 * max(abs(centre), np.finfo(np.float64).tiny)
    return RegressionSet(
        rows.X,
        targets,
        rows.costs,
        kernel,
        centre,
        1.0 if is_constant else size,
        check_random_state(getattr(estimator, "random_state", None)),
    )


@lazy_methods
class KernelRegressor(
    HasVectors, SavableMixin, CallbackSupportMixin, RegressorMixin, BaseEstimator, ABC
):
    """A regressor that ends in a `KernelMachine`; subclasses only learn it.

    Every subclass has the parameters ``kernel``, ``gamma``, ``degree`` and ``coef0``.
    """

    machine_: KernelMachine
    _multi_output = False
    # whether kernel values are divided by their size before they are squared, so that
    # `training_kernel` need not refuse those with squares beyond double precision
    _rescales_kernel_values = False

    @abstractmethod
    def _learn(self, data: RegressionSet) -> KernelMachine:
        """The machine for these rows; further fitted attributes are set on the way."""

    @with_callbacks
    def fit(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Learn the machine.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Training rows.
        y : array-like of shape (n_samples,) or (n_samples, n_outputs)
            Targets; more than one only where the class says so.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the rows; a weight equals as many repetitions.

        Returns
        -------
        self : object
            The fitted regressor.
        """
        data = regression_set(self, X, y, sample_weight, self._multi_output)
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
        check_is_fitted(self)
        X = validate_data(self, X, accept_sparse="csr", dtype=(np.float64, np.float32), reset=False)
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
