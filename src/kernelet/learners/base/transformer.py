"""What all transformers of the package have in common: they end in a machine, and evaluate it."""

from __future__ import annotations

from typing import Any

from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin

from kernelet.kernels.numerics.arrays import FloatArray
from kernelet.learners.base.lazy_prediction import lazy_methods
from kernelet.learners.base.model_file import SavableMixin
from kernelet.learners.base.prediction_rows import prediction_rows
from kernelet.learners.base.progress import CallbackSupportMixin
from kernelet.machine import KernelMachine
from kernelet.machine.reading import Reading


@lazy_methods
class KernelFeatures(
    SavableMixin,
    CallbackSupportMixin,
    ClassNamePrefixFeaturesOutMixin,
    TransformerMixin,
    BaseEstimator,
):
    """A transformer that ends in a `KernelMachine`; subclasses only learn it."""

    machine_: KernelMachine
    _reading = Reading.FEATURES
    # whether kernel values are divided by their size before they are squared; if not,
    # `training_kernel` refuses those with squares beyond double precision
    _rescales_kernel_values = False

    def transform(self, X: Any) -> FloatArray:
        """The features of the rows, computed in blocks.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples, n_components)
        """
        X = prediction_rows(self, X)
        features: FloatArray = self.machine_.decision_function(X)
        return features if features.ndim == 2 else features[:, None]

    @property
    def n_components_(self) -> int:
        """The number of features."""
        return self.machine_.n_outputs

    @property
    def _n_features_out(self) -> int:
        return self.machine_.n_outputs

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags
