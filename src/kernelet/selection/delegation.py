"""What a search delegates to the model that it has chosen."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol, TypeVar

from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.utils import get_tags
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from kernelet.kernels.numerics.arrays import FloatArray
from kernelet.learners import SparseSVC
from kernelet.learners.base.lazy_prediction import lazily
from kernelet.learners.base.notebook import NotebookMixin
from kernelet.machine import KernelMachine
from kernelet.selection.cost import kernel_step

Method = TypeVar("Method", bound=Callable[..., Any])


class FittedModel(Protocol):
    """The methods that a search has if the chosen model has them."""

    classes_: NDArray[Any]
    n_features_in_: int
    feature_names_in_: NDArray[Any]
    machine_: KernelMachine
    n_vectors_: int

    def predict(self, X: Any) -> NDArray[Any]:
        """Labels or values."""

    def decision_function(self, X: Any) -> FloatArray:
        """Scores."""

    def predict_proba(self, X: Any) -> FloatArray:
        """Class probabilities."""

    def transform(self, X: Any) -> Any:
        """Features; a data frame if ``set_output`` asks for one."""


def if_best_has(method: str) -> Callable[[Method], Method]:
    """The method exists if the chosen model, or before ``fit`` the given estimator, has it."""

    def check(search: ChosenModel) -> bool:
        search.require_refit(method)
        getattr(search.best_estimator_ if search.has_chosen else search.searched, method)
        return True

    decorate: Callable[[Method], Method] = available_if(check)
    return decorate


class ChosenModel(NotebookMixin, BaseEstimator):
    """Methods and attributes of ``best_estimator_``."""

    estimator: Any
    refit: bool
    best_estimator_: FittedModel

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

    def _chosen(self) -> FittedModel:
        """The chosen model; scikit-learn's error before ``fit``."""
        check_is_fitted(self)
        return self.best_estimator_

    # Attributes raise AttributeError before ``fit``, as those of scikit-learn's searches do.

    @property
    def classes_(self) -> NDArray[Any]:
        """The labels of the chosen model."""
        return self.best_estimator_.classes_

    @property
    def n_features_in_(self) -> int:
        """Number of features of the rows."""
        return self.best_estimator_.n_features_in_

    @property
    def feature_names_in_(self) -> NDArray[Any]:
        """Names of the features, if the rows had any."""
        return self.best_estimator_.feature_names_in_

    @property
    def machine_(self) -> KernelMachine:
        """The machine of the chosen model, or of the step of a Pipeline that has one."""
        machine: KernelMachine = kernel_step(self.best_estimator_).machine_
        return machine

    @property
    def n_vectors_(self) -> int:
        """Number of vectors of the chosen model, or of the step of a Pipeline that has some."""
        n_vectors: int = kernel_step(self.best_estimator_).n_vectors_
        return n_vectors

    @if_best_has("predict")
    @lazily
    def predict(self, X: Any) -> NDArray[Any]:
        """Predictions of the chosen model."""
        return self._chosen().predict(X)

    @if_best_has("decision_function")
    @lazily
    def decision_function(self, X: Any) -> FloatArray:
        """Scores of the rows by the chosen model."""
        return self._chosen().decision_function(X)

    @if_best_has("predict_proba")
    @lazily
    def predict_proba(self, X: Any) -> FloatArray:
        """Class probabilities of the rows by the chosen model."""
        return self._chosen().predict_proba(X)

    @if_best_has("transform")
    @lazily
    def transform(self, X: Any) -> Any:
        """Features of the rows by the chosen model."""
        return self._chosen().transform(X)

    def __sklearn_tags__(self) -> Any:
        tags, inner = super().__sklearn_tags__(), get_tags(self.searched)
        tags.estimator_type = inner.estimator_type
        tags.classifier_tags = inner.classifier_tags
        tags.regressor_tags = inner.regressor_tags
        tags.target_tags = inner.target_tags
        tags.input_tags = inner.input_tags
        return tags
