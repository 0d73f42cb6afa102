"""Rows for core sets, in memory or out of core, and their kernel."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kernelet.kernels import Kernel
from kernelet.kernels.numerics.arrays import FloatArray
from kernelet.learners.base.out_of_core import OutOfCoreData
from kernelet.learners.base.training_data import TrainingSet
from kernelet.rows import Block
from kernelet.solvers.enclosing_ball.expansions import NOWHERE, Directions, share_left
from kernelet.solvers.enclosing_ball.labelled_rows import (
    LabelledRows,
    OutOfCoreLabelledRows,
    TableRows,
)


@dataclass(frozen=True, eq=False)
class Source:
    """Rows, and what balls around them have in common.

    Attributes
    ----------
    rows : LabelledRows
    kernel : Kernel
    diagonal : float
        The largest k(x, x).
    least_weight : float
        The smallest weight that is not zero.
    n_classes : int
    rng : RandomState
    callback_data : dict
        X and y, for callbacks, where they are in memory.
    """

    rows: LabelledRows
    kernel: Kernel
    diagonal: float
    least_weight: float
    n_classes: int
    rng: np.random.RandomState
    callback_data: dict[str, Any] = field(default_factory=dict)

    def lift(self, C: float) -> float:
        """|phi|^2 of (10) at its largest; rows below it are lifted by one more coordinate."""
        return self.diagonal + 1.0 + 1.0 / (C * self.least_weight)


def source_in_memory(who: str, data: TrainingSet, classes: NDArray[Any]) -> Source:
    """Canonical rows."""
    _require_positive_definite(data.kernel, who)
    rows = TableRows(data.X, data.codes, data.weights)
    return Source(
        rows,
        data.kernel,
        _largest_diagonal(data.kernel, rows),
        float(data.weights.min()),
        data.n_classes,
        data.rng,
        {"X": data.X, "y": classes[data.codes]},
    )


def out_of_core_source(who: str, data: OutOfCoreData, callback_data: dict[str, Any]) -> Source:
    """Out-of-core rows; equal ones are not merged."""
    _require_positive_definite(data.kernel, who)
    rows = OutOfCoreLabelledRows(data.rows, data.sample)
    return Source(
        rows,
        data.kernel,
        _largest_diagonal(data.kernel, rows),
        data.least_weight,
        data.n_classes,
        data.rng,
        callback_data,
    )


def _require_positive_definite(kernel: Kernel, who: str) -> None:
    """Refuse a kernel that has no feature space to put a ball into."""
    if not kernel.is_positive_definite:
        raise ValueError(
            f"{who} needs a positive definite kernel, which {kernel!r} is not. Use 'rbf', or "
            "another of kernelet.kernels."
        )


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


def has_more(source: Source, directions: Directions) -> bool:
    """Whether the rows span more than some directions."""
    return bool(source.rows.total(_LargestRest(directions), "rest").value > NOWHERE)


def _largest_diagonal(kernel: Kernel, rows: LabelledRows) -> float:
    if kernel.has_constant_diagonal:
        return float(kernel.diagonal(rows.first_of_each_class().X[:1])[0])
    return rows.total(_LargestDiagonal(kernel), "diagonal").value
