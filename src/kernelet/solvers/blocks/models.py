"""Small problems that stand for hinge problems over many rows, at a point (w, b).

They are made of what a pass over the rows brings back; see `block_hinge`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from kernelet.kernels.numerics.arrays import FloatArray, IndexArray
from kernelet.rows import Block
from kernelet.rows.labelled import Sample
from kernelet.solvers.blocks.margins import EDGES, N_GROUPS, MarginSums, Point, Targets
from kernelet.solvers.hinge.ridge import hinge_ridge, solve_subproblem
from kernelet.solvers.hinge.working_set import Subproblem, Subsolution
from kernelet.solvers.rounding import TINY
from kernelet.solvers.solution import Solution

# The nearest sampled rows of each class are part of the model even if none is in the band: without
# any the bias has no bound, and with few it is what these want.
_FEWEST = 50
# The groups that are inside the margin.
_INSIDE = slice(int(np.searchsorted(EDGES, 0.0)), None)
# Newton systems of a small problem, as by default in `hinge_ridge`.
_SMALL_ITERATIONS = 200


@dataclass(frozen=True, eq=False)
class BlockMultipliers:
    """The multipliers of all rows of one output, in a few numbers.

    Rows have ``C_i`` times the ratio of their side and of the group that they are in at the
    reference point, but for those near the margin there; and some rows have more or less than that.

    Attributes
    ----------
    reference : Point
        Of this output alone.
    ratios : ndarray of shape (2, N_GROUPS)
        For y = -1 and y = 1.
    near : ndarray of int
        Rows near the margin, which no ratio is meant for.
    own : Block
        Rows with multipliers of their own, those near the margin among them.
    values : ndarray
        What they add.
    """

    reference: Point
    ratios: FloatArray
    near: IndexArray
    own: Block
    values: FloatArray


class Penalty(Protocol):
    """R(w), with the solvers of small problems.

    Attributes
    ----------
    sample_band : float
        Sampled rows whose margin is so near to 1 may change sides on the way to the next point.
    radius : float
        How far the first step may go, where problems with a linear term may have no bound;
        infinite where they always have one.
    """

    sample_band: float
    radius: float

    def value(self, w: FloatArray) -> float:
        """R(w)."""
        ...

    def solve(
        self, Phi: FloatArray, y: FloatArray, C: FloatArray, tol: float, start: Point | None
    ) -> Solution:
        """The problem over a few rows."""
        ...

    def solve_tilted(
        self, problem: Subproblem, tol: float, at: Point, radius: float
    ) -> Subsolution:
        """The problem over a few rows with a linear term, within a radius of a point."""
        ...


class RidgePenalty:
    """1/2 w'w."""

    # as the band after a cold start of rows in memory (`hinge.rounds`)
    sample_band = 0.5
    radius = np.inf

    def value(self, w: FloatArray) -> float:
        return 0.5 * float(w @ w)

    def solve(
        self, Phi: FloatArray, y: FloatArray, C: FloatArray, tol: float, start: Point | None
    ) -> Solution:
        guess = None if start is None else start.guess()
        return hinge_ridge(Phi, y, C, tol=tol, warm_start=guess)

    def solve_tilted(
        self, problem: Subproblem, tol: float, at: Point, radius: float
    ) -> Subsolution:
        return solve_subproblem(problem, tol, max_iter=_SMALL_ITERATIONS)


class SampleView:
    """The sample in the features that the problem has."""

    def __init__(self, Phi: FloatArray, targets: Targets, sample: Sample, C: float) -> None:
        self.Phi = Phi
        self.targets = targets
        self.Y = targets.of(sample.block.codes)
        self.costs = C * sample.weights
        self.sample = sample
        self.C = C


class NearRows:
    """The rows near the margin of one output, and the groups of the others."""

    def __init__(
        self,
        sums: MarginSums,
        j: int,
        near: Block,
        Phi: FloatArray,
        view: SampleView,
        output: int,
    ) -> None:
        self.block, self.Phi, self.reach = near, Phi, float(sums.reach[j])
        self.y = view.targets.of(near.codes)[:, output]
        self.costs = view.C * near.weights
        self.group_costs, self.group_sums = sums.group_costs[j], sums.group_sums[j]
        self.sides, self.groups = np.nonzero(self.group_costs)

    def with_means(self) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Rows, labels and costs of the small problem that bounds the value from below."""
        totals = self.group_costs[self.sides, self.groups]
        means = self.group_sums[self.sides, self.groups] / totals[:, None]
        return (
            np.vstack([self.Phi, means]),
            np.append(self.y, 2.0 * self.sides - 1.0),
            np.append(self.costs, totals),
        )

    def multipliers(self, small: FloatArray, at: Point) -> BlockMultipliers:
        """Of all rows, from those of that problem."""
        n = self.y.size
        ratios = np.zeros((2, N_GROUPS))
        ratios[self.sides, self.groups] = small[n:] / self.group_costs[self.sides, self.groups]
        return BlockMultipliers(at, ratios, self.block.index, self.block, small[:n])


class SampledModel:
    """The problem near a point: a sample curves it, and all rows give its slope there."""

    def __init__(
        self, near: NearRows, view: SampleView, output: int, at: Point, band: float
    ) -> None:
        slack = 1.0 - view.Y[:, output] * at.scores(view.Phi)[:, 0]
        chosen = np.abs(slack) < band
        for label in (-1.0, 1.0):
            # a class without a row would leave the bias without a bound
            mine = np.flatnonzero(view.Y[:, output] == label)
            chosen[mine[np.argsort(np.abs(slack[mine]), kind="stable")[:_FEWEST]]] = True
        chosen[view.sample.block.places(near.block.index)] = False
        self.chosen = np.flatnonzero(chosen)
        self._near, self._view = near, view
        Phi, y, u = view.Phi[chosen], view.Y[chosen, output], view.costs[chosen]
        # what the sample has of the slope that all rows have
        self._inside = u * (slack[chosen] > 0.0)
        pull = self._inside * y
        sums = near.group_sums[:, _INSIDE].sum(axis=1)
        totals = near.group_costs[:, _INSIDE].sum(axis=1)
        self.problem = Subproblem(
            np.vstack([near.Phi, Phi]),
            np.append(near.y, y),
            np.append(near.costs, u),
            np.append(sums[1] - sums[0] - pull @ Phi, totals[1] - totals[0] - pull.sum()),
            float(totals.sum()),
            TINY,
        )

    def value(self, at: Point, penalty: Penalty) -> float:
        """The value of the problem at a point."""
        problem = self.problem
        w, b = at.weights[:, 0], float(at.intercepts[0])
        hinge = np.maximum(0.0, 1.0 - problem.y * (problem.Phi @ w + b))
        tilt = float(problem.linear[:-1] @ w + problem.linear[-1] * b)
        return penalty.value(w) - tilt + float(problem.u @ hinge)

    def multipliers(self, small: FloatArray, at: Point) -> BlockMultipliers:
        """Of all rows: those inside have C_i, and the sample what it moved since."""
        n = self._near.y.size
        ratios = np.zeros((2, N_GROUPS))
        ratios[:, _INSIDE] = 1.0
        own = Block.joined([self._near.block, self._view.sample.block.take(self.chosen)])
        values = np.append(small[:n], small[n:] - self._inside)
        return BlockMultipliers(at, ratios, self._near.block.index, own, values)
