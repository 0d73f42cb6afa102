"""The rows of a search over vectors, with the inner problem over them, wherever they are.

This and `samples` are the places of the direct method that know whether rows are in memory.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Protocol, Self

import numpy as np
from numpy.typing import NDArray

from kernelet.kernels.numerics.arrays import FloatArray, IndexArray, Rows
from kernelet.learners.base.out_of_core import OutOfCoreData
from kernelet.learners.base.training_data import TrainingData
from kernelet.learners.direct.search.inner_problem import (
    BlockInnerSolution,
    BlockProblem,
    InnerSolution,
    LossProblem,
    SearchProblem,
    Start,
)
from kernelet.learners.direct.search.samples import (
    GrowingSample,
    SampleInMemory,
    SampleOutOfCore,
    extent_of,
    smooth_of,
)
from kernelet.subspace import WhitenedMap


class SearchRows(Protocol):
    """All rows, with the inner problem over them.

    Attributes
    ----------
    shape : tuple of int
        Rows and columns.
    X, weights : array or CSR of shape (n, d), ndarray of shape (n,)
        Rows in memory that stand for all.
    inner : SearchProblem
        The problem over these.
    callback_data : dict
        X and y, for callbacks.
    """

    @property
    def shape(self) -> tuple[int, int]: ...
    @property
    def X(self) -> Rows: ...
    @property
    def weights(self) -> FloatArray: ...
    @property
    def inner(self) -> SearchProblem: ...
    @property
    def callback_data(self) -> dict[str, Any]: ...

    def scaled(self, cost: float) -> Self:
        """The same rows, with all costs multiplied."""
        ...

    def sample(self, seed: int, n_vectors: int) -> GrowingSample:
        """A growing sample, for a search over this many vectors; the problem is smooth."""
        ...

    def solve(self, space: WhitenedMap, start: Start | None) -> InnerSolution | BlockInnerSolution:
        """The inner problem over all rows, with a certificate."""
        ...

    @property
    def is_constant(self) -> NDArray[np.bool_]:
        """The columns in which all rows are the same."""
        ...


@dataclass(frozen=True, eq=False)
class RowsInMemory:
    """Rows in memory; see `SearchRows`."""

    X: Rows
    weights: FloatArray
    inner: SearchProblem
    y: Any = None

    @property
    def shape(self) -> tuple[int, int]:
        return int(self.X.shape[0]), int(self.X.shape[1])

    @property
    def callback_data(self) -> dict[str, Any]:
        return {"X": self.X} if self.y is None else {"X": self.X, "y": self.y}

    def scaled(self, cost: float) -> RowsInMemory:
        assert isinstance(self.inner, LossProblem)
        return replace(self, inner=self.inner.scaled(cost))

    def some(self, index: IndexArray, inner: SearchProblem) -> RowsInMemory:
        """Some of the rows, with the problem over them."""
        return RowsInMemory(self.X[index], self.weights[index], inner)

    def sample(self, seed: int, n_vectors: int) -> SampleInMemory:
        return SampleInMemory(self.X, smooth_of(self.inner), seed)

    def solve(self, space: WhitenedMap, start: Start | None) -> InnerSolution:
        return self.inner.solve(space.features(self.X), start)

    @property
    def is_constant(self) -> NDArray[np.bool_]:
        return np.asarray(extent_of(self.X) == 0.0)


class RowsOutOfCore:
    """Rows in files or on Dask, of which a sample is in memory; see `SearchRows`.

    Parameters
    ----------
    data : OutOfCoreData
    problem : BlockProblem
        Over all rows.
    """

    def __init__(self, data: OutOfCoreData, problem: BlockProblem) -> None:
        self.data, self.problem = data, problem
        self.shape = data.rows.shape
        self.X, self.weights = data.sample.block.X, data.sample.weights
        self.inner = problem.over(data.sample.block.codes, self.weights)
        self.callback_data: dict[str, Any] = {}

    def scaled(self, cost: float) -> RowsOutOfCore:
        return RowsOutOfCore(self.data, self.problem.scaled(cost))

    def sample(self, seed: int, n_vectors: int) -> SampleOutOfCore:
        return SampleOutOfCore(self.data, self.problem, seed, n_vectors)

    def solve(self, space: WhitenedMap, start: Start | None) -> InnerSolution | BlockInnerSolution:
        return self.problem.solve(self.data.rows, self.data.sample, space, start)

    @property
    def is_constant(self) -> NDArray[np.bool_]:
        return np.asarray(self.data.spread == 0.0)


def labelled_rows(
    data: TrainingData | OutOfCoreData, problem: BlockProblem, classes: NDArray[Any]
) -> SearchRows:
    """Rows with classes, and a problem stated for these."""
    if isinstance(data, OutOfCoreData):
        return RowsOutOfCore(data, problem)
    inner = problem.over(data.codes, data.weights)
    return RowsInMemory(data.X, data.weights, inner, classes[data.codes])


def at_hand(rows: SearchRows) -> RowsInMemory:
    """Rows in memory that stand for all."""
    if isinstance(rows, RowsInMemory):
        return rows
    return RowsInMemory(rows.X, rows.weights, rows.inner)
