"""What `CoreVectorSVC` and `MaxMarginDiscriminantAnalysis` share: fits of any rows, and reports."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kernelet.learners.base.constant_fits import warn_if_constant
from kernelet.learners.base.fit_method import fit_method
from kernelet.learners.base.progress import Loop
from kernelet.learners.core_vectors.result import LearnedBalls
from kernelet.learners.core_vectors.rows import (
    CoreSetData,
    core_set_data,
    core_set_data_of_batches,
    reads_in_blocks,
)
from kernelet.machine import KernelMachine


class CoreSetEstimator(ABC):
    """An estimator that learns from `CoreSetData`; a mixin.

    The class that it is mixed into has the parameters ``C``, ``eps``, ``tol``, ``sample_size``,
    ``exact_sweep``, ``max_iter`` and ``verbose``.
    """

    machine_: KernelMachine
    classes_: NDArray[Any]
    verbose: int

    @abstractmethod
    def _learn(self, data: CoreSetData) -> KernelMachine:
        """The machine for these rows; further fitted attributes are set on the way."""

    def _leaves(self, X: Any) -> bool:
        """Whether rows are left where they are."""
        return reads_in_blocks(X)

    @fit_method
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learn from rows in memory or out of core.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Training rows; or a `numpy.memmap`, `kernelet.rows.Chunks`, a Dask array or a Dask data
            frame, which are read a block at a time.
        y : array-like of shape (n_samples,)
            Class labels; with `Chunks` of rows also `Chunks`, and with a Dask data frame a series.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the rows; a weight of w is the same as w repetitions.

        Returns
        -------
        self : object
        """
        return self._fit(core_set_data(self, X, y, sample_weight, self._leaves(X)))

    @fit_method
    def fit_batches(self, batches: Iterable[tuple[Any, ArrayLike]]) -> Self:
        """Learn from rows that come in batches, of which only a few are in memory at a time.

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
        return self._fit(core_set_data_of_batches(self, batches))

    def _fit(self, data: CoreSetData) -> Self:
        self.classes_ = data.classes
        self.machine_ = self._learn(data)
        warn_if_constant(self, data.near.X, data.near.codes, data.near.weights)
        return self

    def _loop(self, data: CoreSetData) -> Loop:
        """Watches the rounds, of which nobody knows how many there will be."""
        return Loop(self, None, self.verbose, **data.callback_data)

    def _stored(self, learned: LearnedBalls) -> KernelMachine:
        """Set the fitted attributes, warn of an early end, and return the machine."""
        outcomes = learned.outcomes
        self.n_core_vectors_ = np.array([outcome.n_vectors for outcome in outcomes])
        self.radii_ = np.array([outcome.radius for outcome in outcomes])
        self.reach_, self.gap_ = learned.reach, learned.gap
        self.objective_ = float(sum(outcome.value for outcome in outcomes))
        self.n_iter_ = int(sum(outcome.n_iter for outcome in outcomes))
        self.interrupted_ = learned.interrupted
        learned.warn_unless_done(type(self).__name__)
        return learned.machine
