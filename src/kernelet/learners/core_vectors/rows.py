"""Rows that core sets grow from, with their kernel.

Whether rows are in memory is asked in `core_set_data`, and nowhere else.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kernelet.kernels import Kernel
from kernelet.kernels.numerics.arrays import FloatArray
from kernelet.learners.base.out_of_core import OutOfCoreData, out_of_core_data, set_of_pieces
from kernelet.learners.base.training_data import TrainingData, labelled_data
from kernelet.learners.base.validation import check_sample_weight, column_or_1d
from kernelet.rows import Block, is_distant
from kernelet.rows.batches import BatchPieces
from kernelet.solvers.enclosing_ball.expansions import NOWHERE, Directions, share_left
from kernelet.solvers.enclosing_ball.labelled_rows import (
    LabelledRows,
    OutOfCoreLabelledRows,
    TableRows,
)

# From this many rows on, an array is read a block at a time: sorting and merging its rows would
# take several times their memory.
_MANY_ROWS = 100_000
# Unless a sample has many equal rows: each of them would be a core vector by itself. A tenth of
# them among a thousand is far from what chance does to rows of real numbers.
_LOOKED_AT = 1000
_DISTINCT = 0.9


@dataclass(frozen=True, eq=False)
class CoreSetData:
    """Rows, wherever they are, and what balls around them have in common.

    Attributes
    ----------
    rows : LabelledRows
        All of them.
    near : TrainingData
        Rows in memory that represent all, with their kernel.
    classes : ndarray of shape (n_classes,)
        Labels.
    diagonal : float
        The largest k(x, x).
    least_weight : float
        The smallest weight that is not zero.
    callback_data : dict
        X and y, for callbacks, where they are in memory.
    """

    rows: LabelledRows
    near: TrainingData
    classes: NDArray[Any]
    diagonal: float
    least_weight: float
    callback_data: dict[str, Any]

    @property
    def kernel(self) -> Kernel:
        """The kernel of the rows."""
        return self.near.kernel

    @property
    def codes(self) -> list[int]:
        """The classes that are separated from the rest: the second of two, or each of more."""
        return [1] if self.classes.size == 2 else list(range(self.classes.size))

    def lift(self, C: float) -> float:
        """|phi|^2 of (10) at its largest; rows below it are lifted by one more coordinate."""
        return self.diagonal + 1.0 + 1.0 / (C * self.least_weight)

    def has_more(self, directions: Directions) -> bool:
        """Whether the rows span more than some directions."""
        return bool(self.rows.total(_LargestRest(directions), "rest").value > NOWHERE)


def core_set_data(
    estimator: Any, X: Any, y: Any, sample_weight: Any, in_blocks: bool
) -> CoreSetData:
    """Validate the arguments of ``fit`` for an estimator.

    The estimator has the parameters that `labelled_data` and `out_of_core_data` need. With
    ``in_blocks`` rows stay where they are, and equal ones are not merged.
    """
    if not in_blocks:
        data, classes = labelled_data(estimator, X, y, sample_weight)
        rows, least = TableRows(data.X, data.codes, data.weights), float(data.weights.min())
        shown = {"X": data.X, "y": classes[data.codes]}
        return _with_diagonal(estimator, rows, data, classes, least, shown)
    shown = {}
    if not is_distant(X):
        shown = {"X": X, "y": y}
        y = column_or_1d(y, warn=True)
        if sample_weight is not None:
            sample_weight = check_sample_weight(sample_weight, X)
    return _out_of_core(estimator, out_of_core_data(estimator, X, y, sample_weight), shown)


def core_set_data_of_batches(
    estimator: Any, batches: Iterable[tuple[Any, ArrayLike]]
) -> CoreSetData:
    """The same for rows that come in batches."""
    return _out_of_core(estimator, set_of_pieces(estimator, BatchPieces(batches)), {})


def reads_in_blocks(X: Any) -> bool:
    """Whether rows are left where they are: out of core, or too many to be copied."""
    is_array = type(X) is np.ndarray and X.ndim == 2 and X.dtype.kind in "fiub"
    return is_distant(X) or (is_array and X.shape[0] >= _MANY_ROWS and _are_distinct(X))


def _are_distinct(X: NDArray[Any]) -> bool:
    """Whether most of some rows are not equal to another of them."""
    size = min(_LOOKED_AT, X.shape[0])
    some = np.random.default_rng(0).choice(X.shape[0], size, replace=False)
    return bool(np.unique(X[some], axis=0).shape[0] >= _DISTINCT * size)


def _out_of_core(estimator: Any, data: OutOfCoreData, shown: dict[str, Any]) -> CoreSetData:
    rows, classes = OutOfCoreLabelledRows(data.rows, data.sample), data.rows.classes
    return _with_diagonal(estimator, rows, data.at_hand, classes, data.least_weight, shown)


def _with_diagonal(
    estimator: Any,
    rows: LabelledRows,
    near: TrainingData,
    classes: NDArray[Any],
    least_weight: float,
    shown: dict[str, Any],
) -> CoreSetData:
    """Refuse a kernel that has no feature space to put a ball into; find the largest k(x, x)."""
    kernel = near.kernel
    if not kernel.is_positive_definite:
        raise ValueError(
            f"{type(estimator).__name__} needs a positive definite kernel, which {kernel!r} is "
            "not. Use 'rbf', or another of kernelet.kernels."
        )
    if kernel.has_constant_diagonal:
        diagonal = float(kernel.diagonal(rows.first_of_each_class().X[:1])[0])
    else:
        diagonal = rows.total(_LargestDiagonal(kernel), "diagonal").value
    return CoreSetData(rows, near, classes, diagonal, least_weight, shown)


@dataclass(frozen=True)
class _Largest:
    """A number that is the larger of two when they are added."""

    value: float = 0.0

    def __add__(self, other: _Largest) -> _Largest:
        return max(self, other, key=lambda one: one.value)


def _diagonal(kernel: Kernel, block: Block) -> FloatArray:
    """k(x, x), which rows of single precision would have rounded, or infinite."""
    return np.asarray(kernel.diagonal(block.X.astype(np.float64, copy=False)), dtype=np.float64)


@dataclass(frozen=True)
class _LargestDiagonal:
    """Of k(x, x) in a block of rows."""

    kernel: Kernel

    def __call__(self, block: Block) -> _Largest:
        return _Largest(float(_diagonal(self.kernel, block).max(initial=0.0)))


@dataclass(frozen=True)
class _LargestRest:
    """Of the share that k(x, x) in a block of rows has outside of directions."""

    directions: Directions

    def __call__(self, block: Block) -> _Largest:
        inside = np.square(self.directions.values(block)).sum(axis=1)
        return _Largest(share_left(_diagonal(self.directions.kernel, block), inside))
