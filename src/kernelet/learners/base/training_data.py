"""Rows of a classification problem, made ready for the learners."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import check_random_state
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import _check_sample_weight, validate_data

from kernelet.kernels import Kernel
from kernelet.learners.base.model_file import remember_training
from kernelet.learners.base.training_kernel import training_kernel
from kernelet.learners.base.weights import class_weights
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
    def at_hand(self) -> TrainingSet:
        """Rows in memory that stand for all."""
        return self

    @property
    def targets(self) -> FloatArray:
        """-1/+1 labels: one column for two classes (+1 is the second), one per class for more."""
        if self.n_classes == 2:
            return np.where(self.codes == 1, 1.0, -1.0)[:, None]
        return np.where(self.codes[:, None] == np.arange(self.n_classes), 1.0, -1.0)


def training_set(
    estimator: Any, X: Any, y: ArrayLike, sample_weight: ArrayLike | None
) -> tuple[TrainingSet, NDArray[Any]]:
    """Validate the arguments of ``fit`` for an estimator; returns the rows and the labels.

    The estimator has the parameters ``kernel``, ``gamma``, ``degree``, ``coef0``,
    ``class_weight`` and, where anything is random, ``random_state``.
    """
    X, y = validate_data(estimator, X, y, accept_sparse="csr", dtype=np.float64)
    check_classification_targets(y)
    weights = _check_sample_weight(sample_weight, X, ensure_non_negative=True)
    classes, codes = np.unique(y, return_inverse=True)
    weights = weights * class_weights(estimator.class_weight, classes, codes, weights)
    present = classes[np.unique(codes[weights > 0])]
    if present.size < 2:
        raise ValueError(
            f"{type(estimator).__name__} needs rows of at least two classes; with a positive "
            f"weight there is only one class: {present.tolist()}."
        )
    remember_training(estimator, X.shape[0], np.bincount(codes))
    rows = canonical_rows(X, codes, weights)
    kernel = training_kernel(estimator, rows.X, rows.costs)
    data = TrainingSet(
        rows.X,
        np.asarray(rows.y, dtype=np.intp),
        rows.costs,
        classes.size,
        kernel,
        check_random_state(getattr(estimator, "random_state", None)),
    )
    return data, classes
