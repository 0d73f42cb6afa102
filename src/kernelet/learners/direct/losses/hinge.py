"""The paper's hinge loss: max(0, 1 - y f(x))."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from kernelet.kernels.numerics.arrays import FloatArray, IndexArray
from kernelet.learners.direct.losses.base import MarginLoss, SmoothLoss, register_loss
from kernelet.learners.direct.losses.squared_hinge import SquaredHinge, guesses, of_solutions
from kernelet.learners.direct.search.inner_problem import (
    BlockInnerSolution,
    InnerSolution,
    OwnSlopes,
    Slopes,
    Start,
)
from kernelet.rows import Block, LabelledBlocks
from kernelet.rows.labelled import Sample
from kernelet.solvers import Solution, hinge_ridge_many
from kernelet.solvers.blocks.hinge import block_hinge
from kernelet.solvers.blocks.margins import N_GROUPS, Point, Targets, groups_of
from kernelet.solvers.blocks.models import BlockMultipliers
from kernelet.subspace import WhitenedMap

if TYPE_CHECKING:
    from kernelet.learners.direct.problems.svm import ClassProblem, SVMProblem


@register_loss
class Hinge(MarginLoss):
    """max(0, 1 - m): the soft-margin SVM, by interior points on the rows that matter."""

    name = "hinge"

    @property
    def smooth(self) -> SmoothLoss:
        """The squared hinge."""
        return SquaredHinge()

    def values(self, margins: FloatArray) -> FloatArray:
        lacks: FloatArray = np.maximum(0.0, 1.0 - margins)
        return lacks

    def machines(
        self, Phi: FloatArray, Y: FloatArray, C: FloatArray, tol: float, start: Start | None = None
    ) -> Sequence[Solution]:
        return hinge_ridge_many(Phi, Y, C, tol=tol, warm_start=guesses(start))

    def solve(self, problem: SVMProblem, Phi: FloatArray, start: Start | None) -> InnerSolution:
        return of_solutions(self.machines(Phi, problem.Y, problem.C, problem.tol, start), problem.Y)

    def solve_out_of_core(
        self,
        problem: ClassProblem,
        rows: LabelledBlocks,
        sample: Sample,
        space: WhitenedMap,
        start: Start | None,
    ) -> BlockInnerSolution:
        """Solve all machines together: a pass serves them all."""
        targets, C = problem.targets, problem.C
        point = None if start is None else Point(*start)
        found = block_hinge(rows, space, sample, C, tol=problem.tol, start=point, targets=targets)
        multipliers = [one.multipliers for one in found]
        own = [
            OwnSlopes(each.own.X, -targets.of(each.own.codes)[:, k] * each.values, k)
            for k, each in enumerate(multipliers)
        ]
        return BlockInnerSolution(
            value=sum(one.primal_value for one in found),
            weights=np.stack([one.weights for one in found], axis=1),
            intercepts=np.array([one.intercept for one in found]),
            score_gradient=Slopes(HingeSlopes.of(targets, C, multipliers), space, own),
            norm_gradient=np.ones(len(found)),
            gap=max(one.gap for one in found),
            n_passes=max(one.n_passes for one in found),
        )


@dataclass(frozen=True, eq=False)
class HingeSlopes:
    """-y_i a_i of the rows whose multipliers follow from the group that they are in."""

    targets: Targets
    C: float
    reference: Point
    ratios: FloatArray
    near: Sequence[IndexArray]

    @classmethod
    def of(cls, targets: Targets, C: float, multipliers: Sequence[BlockMultipliers]) -> HingeSlopes:
        """The slopes of several outputs."""
        return cls(
            targets,
            C,
            Point(
                np.concatenate([each.reference.weights for each in multipliers], axis=1),
                np.concatenate([each.reference.intercepts for each in multipliers]),
            ),
            # a last group of none, which the index -1 of rows far outside leads to
            np.stack([np.pad(each.ratios, ((0, 0), (0, 1))) for each in multipliers]),
            [each.near for each in multipliers],
        )

    def __call__(self, block: Block, Phi: FloatArray) -> FloatArray:
        Y = self.targets.of(block.codes)
        groups = groups_of(1.0 - Y * self.reference.scores(Phi))
        groups[groups < 0] = N_GROUPS
        sides = (Y > 0.0).astype(np.intp)
        ratio = self.ratios[np.arange(Y.shape[1]), sides, groups]
        for k, index in enumerate(self.near):
            ratio[block.places(index), k] = 0.0
        slopes: FloatArray = -Y * ratio * (self.C * block.weights)[:, None]
        return slopes
