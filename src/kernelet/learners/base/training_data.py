"""Rows prepared for the learners: validated, weighted, canonical, with the kernel resolved."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import check_random_state

from kernelet.kernels import Kernel
from kernelet.kernels.numerics.arrays import FloatArray
from kernelet.learners.base.model_file import remember_training
from kernelet.learners.base.training_kernel import training_kernel
from kernelet.learners.base.validation import (
    check_classification_targets,
    check_sample_weight,
    validate_data,
)
from kernelet.subspace import canonical_rows


@dataclass(frozen=True, eq=False)
class TrainingData:
    """Canonical rows in memory, with classes, with targets, or with neither.

    Attributes
    ----------
    X : ndarray or CSR array of shape (n, d)
    weights : ndarray of shape (n,)
        sample_weight, times class_weight if there are classes.
    kernel : Kernel
    rng : RandomState
    codes : ndarray of shape (n,)
        The class of each row as an index into the sorted labels; of shape (0,) without classes.
    n_classes : int
    values : ndarray of shape (n,), or (n, k) where several may be given
        Targets of a regression; of shape (0,) without any.
    centre, size : float
        Mean and standard deviation of the values; a size of 1 if they are all the same.
    """

    X: Any
    weights: FloatArray
    kernel: Kernel
    rng: np.random.RandomState
    codes: NDArray[np.intp] = field(default_factory=lambda: np.empty(0, dtype=np.intp))
    n_classes: int = 0
    values: FloatArray = field(default_factory=lambda: np.empty(0))
    centre: float = 0.0
    size: float = 1.0

    @property
    def at_hand(self) -> TrainingData:
        """Rows in memory that represent all; see `OutOfCoreData`."""
        return self

    @property
    def targets(self) -> FloatArray:
        """The values; for classes -1/+1, a column for the second of two, or one for each."""
        if not self.n_classes:
            return self.values
        if self.n_classes == 2:
            return np.where(self.codes == 1, 1.0, -1.0)[:, None]
        return np.where(self.codes[:, None] == np.arange(self.n_classes), 1.0, -1.0)


def labelled_data(
    estimator: Any, X: Any, y: ArrayLike, sample_weight: ArrayLike | None
) -> tuple[TrainingData, NDArray[Any]]:
    """Validate the arguments of a classifier's ``fit``; returns the rows and the labels.

    The estimator has the parameters ``kernel``, ``gamma``, ``degree``, ``coef0``,
    ``class_weight`` and, if anything is random, ``random_state``.
    """
    X, y = validate_data(estimator, X, y, accept_sparse="csr", dtype=np.float64)
    check_classification_targets(y)
    weights = check_sample_weight(sample_weight, X, ensure_non_negative=True)
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
    codes = np.asarray(rows.y, dtype=np.intp)
    data = TrainingData(rows.X, rows.costs, kernel, _rng(estimator), codes, classes.size)
    return data, classes


def regression_data(
    estimator: Any,
    X: Any,
    y: ArrayLike,
    sample_weight: ArrayLike | None,
    multi_output: bool = False,
) -> TrainingData:
    """Validate the arguments of a regressor's ``fit``.

    The estimator has the parameters ``kernel``, ``gamma``, ``degree``, ``coef0`` and, if anything
    is random, ``random_state``. With ``multi_output`` the targets have two dimensions.
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
    weights = check_sample_weight(sample_weight, X, ensure_non_negative=True)
    remember_training(estimator, X.shape[0])
    given = np.asarray(y, dtype=np.float64)
    if multi_output:
        # a row with several targets is identified by the number of their combination
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
    # the rounding error in the mean of equal targets
    is_constant = size <= 1e-14 * max(abs(centre), np.finfo(np.float64).tiny)
    return TrainingData(
        rows.X,
        rows.costs,
        kernel,
        _rng(estimator),
        values=targets,
        centre=centre,
        size=1.0 if is_constant else size,
    )


def unlabelled_data(estimator: Any, X: Any, sample_weight: ArrayLike | None) -> TrainingData:
    """Validate the arguments of a ``fit`` without labels; for parameters see `regression_data`."""
    X = validate_data(estimator, X, accept_sparse="csr", dtype=np.float64)
    weights = check_sample_weight(sample_weight, X, ensure_non_negative=True)
    remember_training(estimator, X.shape[0])
    rows = canonical_rows(X, None, weights)
    kernel = training_kernel(estimator, rows.X, rows.costs)
    return TrainingData(rows.X, rows.costs, kernel, _rng(estimator))


def _rng(estimator: Any) -> np.random.RandomState:
    rng: np.random.RandomState = check_random_state(getattr(estimator, "random_state", None))
    return rng


def class_weights(
    class_weight: Mapping[Any, float] | str | None,
    classes: NDArray[Any],
    codes: NDArray[np.intp],
    sample_weight: FloatArray,
) -> FloatArray:
    """The weight of each row's class.

    "balanced" makes the total weight of all classes equal, counting rows by their sample weight,
    so that a weight still equals repetition; a mapping gives the weights, 1 for classes it does
    not name.
    """
    if class_weight is None:
        return np.ones(codes.size)
    if isinstance(class_weight, Mapping):
        unknown = [label for label in class_weight if label not in classes]
        if unknown:
            raise ValueError(f"class_weight names {unknown!r}, which y does not contain.")
        weights = np.array([float(class_weight.get(label, 1.0)) for label in classes.tolist()])
        if not np.isfinite(weights).all() or (weights < 0).any():
            raise ValueError("class_weight must hold finite weights that are not negative.")
    elif class_weight == "balanced":
        totals = np.bincount(codes, weights=sample_weight, minlength=classes.size)
        weights = np.zeros(classes.size)
        seen = totals > 0
        weights[seen] = totals.sum() / (np.count_nonzero(seen) * totals[seen])
    else:
        raise ValueError(
            f"class_weight must be 'balanced', a dict of weights or None, got {class_weight!r}."
        )
    chosen: FloatArray = weights[codes]
    return chosen
