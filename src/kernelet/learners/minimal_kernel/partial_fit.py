"""Classifiers that learn from batches, together with what they keep of earlier ones."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import check_random_state

from kernelet.kernels.numerics.arrays import FloatArray, Rows
from kernelet.learners.base.classifier import KernelClassifier
from kernelet.learners.base.constant_fits import warn_if_constant
from kernelet.learners.base.fit_method import fit_method
from kernelet.learners.base.model_file import remember_training
from kernelet.learners.base.training_data import TrainingData, class_weights
from kernelet.learners.base.training_kernel import training_kernel
from kernelet.learners.base.validation import (
    check_classification_targets,
    check_sample_weight,
    validate_data,
)
from kernelet.learners.minimal_kernel.candidates import BoolArray, Kept
from kernelet.machine import KernelMachine
from kernelet.subspace import canonical_rows


class StreamClassifier(KernelClassifier):
    """Learns from a table or from batches; subclasses say how, and what is kept of the rows.

    A subclass leaves the rows that it keeps in ``_kept``, and the generator in ``_rng``.
    """

    class_weight: Mapping[Any, float] | str | None
    random_state: int | np.random.RandomState | None
    _kept: Kept
    _rng: np.random.RandomState

    @abstractmethod
    def _learn_from(self, data: TrainingData, is_vector: BoolArray | None) -> KernelMachine:
        """The machine for these rows, of which some were vectors before."""

    def _learn(self, data: TrainingData) -> KernelMachine:
        self.n_rows_seen_ = int(data.codes.size)
        return self._learn_from(data, None)

    @fit_method
    def partial_fit(
        self,
        X: Any,
        y: ArrayLike,
        classes: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
    ) -> Self:
        """Learn from a further batch of rows, together with those kept of earlier ones.

        The rows that generate the machine and those that are its vectors are kept (m1 + m2, remark
        4.4), and a sample that represents the others: memory does not grow with the number of
        batches. All past rows together weigh at most as much as four times ``max_kept`` rows, so
        that the influence of old rows fades. The width of the kernel is that of the first batch.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows.
        y : array-like of shape (n_samples,)
            Class labels.
        classes : array-like of shape (n_classes,), default=None
            All labels that will ever come; needed in the first call unless y has them all.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the rows.

        Returns
        -------
        self : object
            The classifier, fitted on.
        """
        is_first = not hasattr(self, "machine_")
        if self.class_weight == "balanced":
            raise ValueError(
                'class_weight="balanced" needs all rows at once; give partial_fit a dict of '
                "weights instead."
            )
        X, y = validate_data(self, X, y, accept_sparse="csr", dtype=np.float64, reset=is_first)
        check_classification_targets(y)
        weights = check_sample_weight(sample_weight, X, ensure_non_negative=True)
        if is_first:
            self.classes_ = np.unique(y if classes is None else np.asarray(classes))
            if self.classes_.size < 2:
                raise ValueError(
                    f"{type(self).__name__} needs at least two classes; name all that will come "
                    f"in `classes`, there is only one class: {self.classes_.tolist()}."
                )
        elif classes is not None and not np.array_equal(np.unique(classes), self.classes_):
            raise ValueError(f"classes must be {self.classes_.tolist()!r}, as in the first call.")
        unknown = np.setdiff1d(y, self.classes_)
        if unknown.size:
            raise ValueError(f"y holds {unknown.tolist()!r}, which `classes` does not name.")
        codes = np.searchsorted(self.classes_, y)
        weights = weights * class_weights(self.class_weight, self.classes_, codes, weights)
        data, is_vector = self._merged(X, codes, weights, is_first)
        self.n_rows_seen_ = (0 if is_first else self.n_rows_seen_) + int(codes.size)
        remember_training(self, self.n_rows_seen_)
        self.machine_ = self._learn_from(data, is_vector)
        warn_if_constant(self, data.X, data.codes, data.weights)
        return self

    def _merged(
        self, X: Rows, codes: NDArray[np.intp], weights: FloatArray, is_first: bool
    ) -> tuple[TrainingData, BoolArray]:
        """The batch together with the rows that are kept, canonical."""
        kept = Kept(X, codes, weights, np.zeros(codes.size, dtype=bool))
        if not is_first:
            if not hasattr(self, "_kept"):
                raise ValueError(
                    "model files do not hold the rows that partial_fit continues from; fit the "
                    "model again, or keep it in a pickle."
                )
            kept = self._kept.with_batch(X, codes, weights)
        rows = canonical_rows(kept.X, kept.codes, kept.weights)
        is_vector = np.zeros(rows.costs.size, dtype=bool)
        is_vector[rows.inverse[kept.is_vector]] = True
        if is_first:
            kernel = training_kernel(self, rows.X, rows.costs)
            rng = check_random_state(self.random_state)
        else:
            kernel, rng = self.machine_.kernel, self._rng
        classes = np.asarray(rows.y, dtype=np.intp)
        n_classes = self.classes_.size
        return TrainingData(rows.X, rows.costs, kernel, rng, classes, n_classes), is_vector
