"""What a pass over blocks of rows computes for hinge problems at a point (w, b)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from scipy import sparse

from kernelet.kernels.numerics.arrays import BoolArray, FloatArray, IndexArray, RowMatrix
from kernelet.rows import Block
from kernelet.solvers.hinge.working_set import Subsolution
from kernelet.solvers.solution import Solution

# Half-width, in units of the margin, of the band around 1 whose rows are looked at one by one, as
# in the working sets of rows in memory. Wider, blocks return more rows; narrower, there are more
# passes.
BAND = 0.15
# Rows that are not looked at one by one count through the means of groups, by how far they are
# inside the margin; those farther outside than the first edge count nothing. Groups are narrow
# where the hinge bends: the lower bound loses what it bends within a group, and nothing beyond the
# band.
EDGES = np.array([-1.0, -0.25, 0.0, 0.25, 1.0]) * BAND
N_GROUPS = EDGES.size


class FeatureMap(Protocol):
    """A map of rows to features that can be sent to where they are."""

    def features(self, X: RowMatrix) -> FloatArray:
        """Of shape (n, m)."""
        ...


@dataclass(frozen=True, eq=False)
class Targets:
    """What each output separates: one class from all others.

    Attributes
    ----------
    positive : tuple of int
        The class on the positive side of each output.
    """

    positive: tuple[int, ...]

    @classmethod
    def of_classes(cls, n_classes: int) -> Targets:
        """The second of two classes, or each of more."""
        return cls((1,) if n_classes == 2 else tuple(range(n_classes)))

    @property
    def n_outputs(self) -> int:
        """Machines."""
        return len(self.positive)

    def some(self, outputs: Sequence[int]) -> Targets:
        """Of some outputs only."""
        return Targets(tuple(self.positive[k] for k in outputs))

    def of(self, codes: IndexArray) -> FloatArray:
        """Labels, -1 or +1, a column for each output."""
        return np.where(codes[:, None] == np.array(self.positive), 1.0, -1.0)


@dataclass(frozen=True, eq=False)
class Point:
    """Weights and biases of some outputs.

    Attributes
    ----------
    weights : ndarray of shape (m, k)
    intercepts : ndarray of shape (k,)
    """

    weights: FloatArray
    intercepts: FloatArray

    @classmethod
    def of(cls, machine: Solution | Subsolution) -> Point:
        """The point of one output at which a small problem ended."""
        return cls(machine.weights[:, None], np.array([machine.intercept]))

    @classmethod
    def joined(cls, points: Sequence[Point]) -> Point:
        """The outputs of several points."""
        return cls(
            np.concatenate([point.weights for point in points], axis=1),
            np.concatenate([point.intercepts for point in points]),
        )

    def output(self, k: int) -> Point:
        """One output alone."""
        return Point(self.weights[:, k : k + 1], self.intercepts[k : k + 1])

    def halfway_to(self, other: Point) -> Point:
        """The point in the middle."""
        return Point(
            0.5 * (self.weights + other.weights), 0.5 * (self.intercepts + other.intercepts)
        )

    def guess(self) -> Solution:
        """The first output, as a start of a small problem."""
        return Solution.guess(self.weights[:, 0], float(self.intercepts[0]))

    def scores(self, Phi: FloatArray) -> FloatArray:
        """f_k(x_i)."""
        scores: FloatArray = Phi @ self.weights + self.intercepts
        return scores


@dataclass(frozen=True, eq=False)
class MarginSums:
    """The sum of what blocks return, for each output k.

    Attributes
    ----------
    loss : ndarray of shape (k,)
        sum_i C_i max(0, 1 - y_i f(x_i)).
    group_costs : ndarray of shape (k, 2, N_GROUPS)
        Costs of the rows that are not near, with y = -1 and with y = 1, in each group.
    group_sums : ndarray of shape (k, 2, N_GROUPS, m)
        Their features, times their costs.
    reach : ndarray of shape (k,)
        Every row whose margin is nearer than this to 1 is among those near.
    near : tuple of Block
        Rows near the margin of any output.
    is_near : tuple of ndarray of shape (n, k)
        Of which.
    """

    loss: FloatArray
    group_costs: FloatArray
    group_sums: FloatArray
    reach: FloatArray
    near: tuple[Block, ...]
    is_near: tuple[BoolArray, ...]

    def __add__(self, other: MarginSums) -> MarginSums:
        return MarginSums(
            self.loss + other.loss,
            self.group_costs + other.group_costs,
            self.group_sums + other.group_sums,
            np.minimum(self.reach, other.reach),
            self.near + other.near,
            self.is_near + other.is_near,
        )

    def near_rows(self) -> tuple[Block, BoolArray]:
        """The rows near the margin as one block, and of which outputs."""
        return Block.joined(self.near), np.concatenate(self.is_near)


@dataclass(frozen=True, eq=False)
class MarginPass:
    """Sums over the rows of a block at a point.

    Attributes
    ----------
    space : FeatureMap
    targets : Targets
        Of the outputs that the point has.
    point : Point
    C : float
        Cost of a row of weight one.
    most_near : int
        Rows near a margin that a block may return; the nearest come first.
    """

    space: FeatureMap
    targets: Targets
    point: Point
    C: float
    most_near: int

    def __call__(self, block: Block) -> MarginSums:
        Phi = self.space.features(block.X)
        Y = self.targets.of(block.codes)
        slack = 1.0 - Y * self.point.scores(Phi)
        costs = self.C * block.weights
        distance = np.abs(slack)
        near = distance <= BAND
        reach = np.full(self.targets.n_outputs, BAND)
        for k in np.flatnonzero(near.sum(axis=0) > self.most_near).tolist():
            reach[k] = np.partition(distance[:, k], self.most_near - 1)[self.most_near - 1]
            near[:, k] = distance[:, k] < reach[k]
            # ties go by the order of the rows, so that the choice is the same everywhere
            ties = np.flatnonzero(distance[:, k] == reach[k])
            near[ties[: self.most_near - np.count_nonzero(near[:, k])], k] = True
        k, m = self.targets.n_outputs, Phi.shape[1]
        indicator = group_indicator(slack, Y, near, costs)
        chosen = np.flatnonzero(near.any(axis=1))
        return MarginSums(
            loss=costs @ np.maximum(0.0, slack),
            group_costs=np.asarray(indicator.sum(axis=1)).reshape(k, 2, N_GROUPS),
            group_sums=(indicator @ Phi).reshape(k, 2, N_GROUPS, m),
            reach=reach,
            near=(block.take(chosen),),
            is_near=(near[chosen],),
        )


def groups_of(slack: FloatArray) -> IndexArray:
    """The group of rows by how far they are inside the margin, or -1."""
    return np.searchsorted(EDGES, slack, side="left") - 1


def group_indicator(slack: FloatArray, Y: FloatArray, near: BoolArray, costs: FloatArray) -> Any:
    """Costs of the rows, in the line of their output, side and group; of shape (groups, n)."""
    n, k = slack.shape
    groups = groups_of(slack)
    rows, outputs = np.nonzero((groups >= 0) & ~near)
    sides = (Y[rows, outputs] > 0.0).astype(np.intp)
    lines = (2 * outputs + sides) * N_GROUPS + groups[rows, outputs]
    shape = (2 * k * N_GROUPS, n)
    return sparse.coo_array((costs[rows], (lines, rows)), shape=shape).tocsr()
