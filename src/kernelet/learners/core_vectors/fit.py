"""How `CoreVectorSVC` and `MaxMarginDiscriminantAnalysis` take rows from wherever they are."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import column_or_1d
from sklearn.utils.validation import _check_sample_weight

from kernelet.learners.base.constant_fits import warn_if_constant
from kernelet.learners.base.out_of_core import OutOfCoreData, out_of_core_data, set_of_pieces
from kernelet.learners.base.progress import with_callbacks
from kernelet.learners.base.training_data import training_set
from kernelet.learners.core_vectors.sources import Source, out_of_core_source, source_in_memory
from kernelet.rows import is_distant
from kernelet.rows.batches import BatchPieces

# From this many rows on, an array is read a block at a time: sorting and merging its rows would
# take several times their memory.
_MANY_ROWS = 100_000
# Unless a sample has many equal rows: each of them would be a core vector by itself.
_LOOKED_AT = 1000
_DISTINCT = 0.9


class FitsFromAnywhere(ABC):
    """An estimator that learns from a `Source` of rows."""

    classes_: NDArray[Any]

    @abstractmethod
    def _learn_from(self, source: Source) -> None:
        """Learn, and set the fitted attributes."""

    def _leaves(self, X: Any) -> bool:
        """Whether rows are left where they are."""
        is_array = type(X) is np.ndarray and X.ndim == 2 and X.dtype.kind in "fiub"
        return is_distant(X) or (is_array and X.shape[0] >= _MANY_ROWS and _are_distinct(X))

    @with_callbacks
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learn from rows in memory or out of core.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Training rows; or a `numpy.memmap`, `kernelet.rows.Chunks`, a Dask array or a Dask data
            frame, which are left where they are and gone through a block at a time.
        y : array-like of shape (n_samples,)
            Class labels; with `Chunks` of rows also `Chunks`, and with a Dask data frame a series.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the rows; a weight equals as many repetitions.

        Returns
        -------
        self : object
        """
        if self._leaves(X):
            callback_data = {}
            if not is_distant(X):
                callback_data = {"X": X, "y": y}
                y = column_or_1d(y, warn=True)
                if sample_weight is not None:
                    sample_weight = _check_sample_weight(sample_weight, X)
            return self._fit_out_of_core(out_of_core_data(self, X, y, sample_weight), callback_data)
        data, self.classes_ = training_set(self, X, y, sample_weight)
        self._learn_from(source_in_memory(type(self).__name__, data, self.classes_))
        warn_if_constant(self, data.X, data.codes, data.weights)
        return self

    @with_callbacks
    def fit_batches(self, batches: Iterable[tuple[Any, ArrayLike]]) -> Self:
        """Learn from rows that come in batches, of which few at a time are in memory.

        The batches are read once for the labels and the kernel's width, once for 20000 random rows,
        which are kept, and then a few times until all rows are inside (for each feature).

        Parameters
        ----------
        batches : iterable of (X, y)
            Rows and labels, the same each time it is read.

        Returns
        -------
        self : object
        """
        return self._fit_out_of_core(set_of_pieces(self, BatchPieces(batches)))

    def _fit_out_of_core(
        self, data: OutOfCoreData, callback_data: dict[str, Any] | None = None
    ) -> Self:
        self.classes_ = data.rows.classes
        self._learn_from(out_of_core_source(type(self).__name__, data, callback_data or {}))
        sample = data.sample
        warn_if_constant(self, sample.block.X, sample.block.codes, sample.weights)
        return self


def _are_distinct(X: NDArray[Any]) -> bool:
    """Whether most of some rows are not equal to another of them."""
    size = min(_LOOKED_AT, X.shape[0])
    some = np.random.default_rng(0).choice(X.shape[0], size, replace=False)
    return bool(np.unique(X[some], axis=0).shape[0] >= _DISTINCT * size)
