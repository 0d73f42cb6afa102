"""Inner problems: what the rooms of the direct method ask of the convex problem for fixed vectors.

A problem states what it can do by the protocol that it fits: every one is solved over given
features; a search over the kernel needs a `SmoothProblem`, rows held out a `LossProblem`, and
out-of-core rows a `BlockProblem`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol, Self, TypeAlias, runtime_checkable

import numpy as np

from kernelet.kernels.numerics.arrays import FloatArray, IndexArray, Rows
from kernelet.rows import Block, LabelledBlocks
from kernelet.rows.labelled import Sample
from kernelet.subspace import WhitenedMap

# The relative duality gap of an inner problem for which none is given: far below what a search at
# any usual tol can notice, and far enough above rounding that the solvers can prove it.
INNER_TOL = 1e-7

# Weights and intercepts near those of the solution.
Start: TypeAlias = tuple[FloatArray, FloatArray]


@dataclass(frozen=True, eq=False)
class InnerSolution:
    """The solved convex problem over features Phi = phi_z(X).

    Attributes
    ----------
    value : float
        The optimum, W(Z).
    weights : ndarray of shape (rank, outputs)
    intercepts : ndarray of shape (outputs,)
    score_gradient : ndarray of shape (n, outputs)
        dF/df at the optimum; for a loss, the derivative of the loss of each row. Of no row where
        the problem was solved by sums over out-of-core rows.
    norm_gradient : ndarray of shape (outputs,)
        dF/dq_k for q_k = 1/2 beta_k' K^z beta_k; 1 for 1/2 ||w||^2.
    gap : float
        Relative duality gap or residual of the inner solve.
    row_losses : ndarray of shape (n,) or None
        What each row costs, where it does not follow from the score gradient.
    """

    value: float
    weights: FloatArray
    intercepts: FloatArray
    score_gradient: FloatArray
    norm_gradient: FloatArray
    gap: float
    row_losses: FloatArray | None = None


def no_feature(n_rows: int) -> InnerSolution:
    """The one output that there is where the kernel is zero on all rows: nothing."""
    nothing = np.zeros(1)
    return InnerSolution(0.0, np.zeros((0, 1)), nothing, np.zeros((n_rows, 1)), nothing, 0.0)


class RowSlopes(Protocol):
    """dF/df of the rows of a block, which can be sent to where they are."""

    def __call__(self, block: Block, Phi: FloatArray) -> FloatArray:
        """Of shape (n, outputs)."""
        ...


@dataclass(frozen=True, eq=False)
class OwnSlopes:
    """What some rows add to the slope of one output."""

    X: Rows
    slopes: FloatArray
    output: int


@dataclass(frozen=True, eq=False)
class Slopes:
    """dF/df of all rows.

    Attributes
    ----------
    of_rows : RowSlopes
    own : sequence of OwnSlopes
        On top, for rows that are at hand.
    space : WhitenedMap
        The features in which the slopes are given.
    """

    of_rows: RowSlopes
    space: WhitenedMap
    own: Sequence[OwnSlopes] = field(default_factory=tuple)


@dataclass(frozen=True, eq=False)
class BlockInnerSolution:
    """The solved inner problem; as `InnerSolution`, but for the form of the slopes."""

    value: float
    weights: FloatArray
    intercepts: FloatArray
    score_gradient: Slopes
    norm_gradient: FloatArray
    gap: float
    n_passes: int


class InnerProblem(Protocol):
    """A convex (or eigenvalue) problem over explicit features."""

    def solve(self, Phi: FloatArray, start: Start | None) -> InnerSolution:
        """Solve it over these features, from (weights, intercepts) of a nearby problem."""
        ...


class SearchProblem(InnerProblem, Protocol):
    """An inner problem that knows what a search over vectors and kernel goes by."""

    @property
    def smooth(self) -> SmoothProblem | None:
        """The problem itself if its value has a derivative, or one that has and ends nearby."""
        ...


@runtime_checkable
class DivisibleProblem(SearchProblem, Protocol):
    """A problem that can be stated over some of its rows."""

    def subset(self, index: IndexArray) -> Self:
        """The same problem over some of its rows."""
        ...


@runtime_checkable
class LossProblem(SearchProblem, Protocol):
    """A problem whose loss can be taken on other rows than it is solved on."""

    def subset(self, index: IndexArray, scale: float | FloatArray = 1.0) -> Self:
        """The same problem over some of its rows, whose costs are multiplied."""
        ...

    def scaled(self, cost: float) -> Self:
        """The same problem with all costs multiplied."""
        ...

    def loss(self, scores: FloatArray) -> float:
        """The loss of scores of shape (n, outputs), weighted, without the norm."""
        ...


class SmoothProblem(SearchProblem, Protocol):
    """A problem whose value has a derivative.

    Attributes
    ----------
    is_sum : bool
        Whether it is a sum over rows, so that a sample can stand for all.
    n_outputs : int
    """

    is_sum: bool

    @property
    def n_outputs(self) -> int: ...

    def approximate(
        self, Phi: FloatArray, start: Start | None, slopes: FloatArray | None = None
    ) -> InnerSolution:
        """Solve it as exactly as a search over vectors needs, in the precision of Phi.

        ``slopes`` is the score gradient of a nearby problem over the same rows.
        """
        ...

    def subset(self, index: IndexArray, scale: float | FloatArray = 1.0) -> Self:
        """The same problem over some of its rows, whose costs are multiplied."""
        ...

    def row_losses(self, solution: InnerSolution) -> FloatArray | None:
        """What each row costs at the solution; None where the value is no sum over rows."""
        ...


class BlockProblem(Protocol):
    """A problem stated for classes, the same for rows in memory and for out-of-core rows.

    Attributes
    ----------
    is_smooth : bool
        Whether its value has a derivative.
    """

    @property
    def is_smooth(self) -> bool: ...

    def over(self, codes: IndexArray, weights: FloatArray) -> SearchProblem:
        """The problem over some rows in memory, whose weights stand for all."""
        ...

    def scaled(self, cost: float) -> Self:
        """The same problem with all costs multiplied."""
        ...

    def solve(
        self, rows: LabelledBlocks, sample: Sample, space: WhitenedMap, start: Start | None
    ) -> InnerSolution | BlockInnerSolution:
        """Solve it over all rows, with slopes of the rows where it is not smooth."""
        ...
