"""What a search does by way of the model that it has chosen."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from kernelet.learners import SparseSVC
from kernelet.learners.base.lazy_prediction import lazily
from kernelet.machine import KernelMachine

Method = TypeVar("Method", bound=Callable[..., Any])


def if_best_has(method: str) -> Callable[[Method], Method]:
    """The method is there where the chosen model, or before ``fit`` the one searched, has it."""

    def check(search: ChosenModel) -> bool:
        search.require_refit(method)
        getattr(search.best_estimator_ if search.has_chosen else search.searched, method)
        return True

    decorate: Callable[[Method], Method] = available_if(check)
    return decorate


class ChosenModel(BaseEstimator):
    """Methods and attributes of ``best_estimator_``."""

    estimator: Any
    refit: bool
    best_estimator_: Any

    @property
    def searched(self) -> Any:
        """The model whose budgets are searched."""
        return SparseSVC(random_state=0) if self.estimator is None else self.estimator

    @property
    def has_chosen(self) -> bool:
        """Whether there is a model that is fitted on all rows."""
        return "best_estimator_" in vars(self)

    def require_refit(self, method: str) -> None:
        """Refuse what only a model that is fitted on all rows can do."""
        if not self.refit:
            raise AttributeError(
                f"{type(self).__name__} has refit=False, so there is no model to {method}; fit "
                "estimator.set_params(**search.best_params_) yourself, or set refit=True."
            )

    @property
    def classes_(self) -> NDArray[Any]:
        """The labels of the chosen model."""
        labels: NDArray[Any] = self.best_estimator_.classes_
        return labels

    @property
    def n_features_in_(self) -> int:
        """Number of features of the rows."""
        n_features: int = self.best_estimator_.n_features_in_
        return n_features

    @property
    def feature_names_in_(self) -> NDArray[Any]:
        """Names of the features, when the rows had any."""
        names: NDArray[Any] = self.best_estimator_.feature_names_in_
        return names

    @property
    def machine_(self) -> KernelMachine:
        """The machine of the chosen model."""
        machine: KernelMachine = self.best_estimator_.machine_
        return machine

    @property
    def n_vectors_(self) -> int:
        """How many vectors the chosen model has."""
        n_vectors: int = self.best_estimator_.n_vectors_
        return n_vectors

    @if_best_has("predict")
    @lazily
    def predict(self, X: Any) -> NDArray[Any]:
        """Predictions of the chosen model."""
        check_is_fitted(self)
        predicted: NDArray[Any] = self.best_estimator_.predict(X)
        return predicted

    @if_best_has("decision_function")
    @lazily
    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """Scores of the rows by the chosen model."""
        check_is_fitted(self)
        scores: NDArray[np.float64] = self.best_estimator_.decision_function(X)
        return scores

    @if_best_has("predict_proba")
    @lazily
    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Class probabilities of the rows by the chosen model."""
        check_is_fitted(self)
        probabilities: NDArray[np.float64] = self.best_estimator_.predict_proba(X)
        return probabilities

    @if_best_has("transform")
    @lazily
    def transform(self, X: Any) -> Any:
        """Features of the rows by the chosen model."""
        check_is_fitted(self)
        return self.best_estimator_.transform(X)
