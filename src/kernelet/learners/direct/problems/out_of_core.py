"""Inner problems over out-of-core rows: the SVM with either loss, and Fisher's contrast."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from kernelet.kernels.numerics.arrays import IndexArray
from kernelet.learners.direct.problems.fisher import ContrastProblem
from kernelet.learners.direct.problems.svm import SVMProblem
from kernelet.learners.direct.search.objective import FloatArray, InnerSolution, Start
from kernelet.learners.direct.search.out_of_core_objective import (
    BlockInnerSolution,
    OwnSlopes,
    Slopes,
)
from kernelet.rows import Block, LabelledBlocks
from kernelet.rows.labelled import Sample
from kernelet.solvers.blocks.hinge import block_hinge
from kernelet.solvers.blocks.margins import N_GROUPS, FeatureMap, Point, Targets, groups_of
from kernelet.solvers.blocks.models import BlockMultipliers
from kernelet.solvers.blocks.newton import block_squared_hinge
from kernelet.solvers.ridge_system import solve_ridge_products
from kernelet.subspace import WhitenedMap


class HingeBlockProblem:
    """sum_k min 1/2 ||w_k||^2 + sum_i C_i max(0, 1 - y_ik f_k(x_i)), as `SVMProblem`.

    Parameters
    ----------
    targets : Targets
        The machines.
    C : float
        Cost of a row of weight one.
    tol : float
        Relative duality gap of each solve.
    """

    is_smooth = False

    def __init__(self, targets: Targets, C: float, tol: float) -> None:
        self.targets, self.C, self.tol = targets, C, tol

    def scaled(self, cost: float) -> HingeBlockProblem:
        """The same problem with all costs multiplied."""
        return HingeBlockProblem(self.targets, cost * self.C, self.tol)

    def over(self, codes: IndexArray, weights: FloatArray) -> SVMProblem:
        """The problem over some rows in memory, whose weights stand for all."""
        return SVMProblem(self.targets.of(codes), self.C * weights, "hinge", self.tol)

    def solve(
        self, rows: LabelledBlocks, sample: Sample, space: WhitenedMap, start: Start | None
    ) -> BlockInnerSolution:
        """Solve all machines together: a pass serves them all."""
        point = None if start is None else Point(*start)
        found = block_hinge(
            rows, space, sample, self.C, tol=self.tol, start=point, targets=self.targets
        )
        multipliers = [one.multipliers for one in found]
        own = [
            OwnSlopes(each.own.X, -self.targets.of(each.own.codes)[:, k] * each.values, k)
            for k, each in enumerate(multipliers)
        ]
        return BlockInnerSolution(
            value=sum(one.primal_value for one in found),
            weights=np.stack([one.weights for one in found], axis=1),
            intercepts=np.array([one.intercept for one in found]),
            score_gradient=Slopes(HingeSlopes.of(self.targets, self.C, multipliers), space, own),
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


class SquaredHingeBlockProblem:
    """sum_k min 1/2 ||w_k||^2 + sum_i C_i max(0, 1 - y_ik f_k(x_i))^2; see `HingeBlockProblem`."""

    is_smooth = True

    def __init__(self, targets: Targets, C: float, tol: float) -> None:
        self.targets, self.C, self.tol = targets, C, tol

    def scaled(self, cost: float) -> SquaredHingeBlockProblem:
        """The same problem with all costs multiplied."""
        return SquaredHingeBlockProblem(self.targets, cost * self.C, self.tol)

    def over(self, codes: IndexArray, weights: FloatArray) -> SVMProblem:
        """The problem over some rows in memory, whose weights stand for all."""
        return SVMProblem(self.targets.of(codes), self.C * weights, "squared_hinge", self.tol)

    def solve(
        self, rows: LabelledBlocks, sample: Sample, space: WhitenedMap, start: Start | None
    ) -> InnerSolution:
        """Solve all machines together, by Newton's method on sums; no slopes of rows."""
        point = None if start is None else Point(*start)
        found = block_squared_hinge(
            rows, space, sample, self.C, tol=self.tol, start=point, targets=self.targets
        )
        return InnerSolution(
            value=sum(one.primal_value for one in found),
            weights=np.stack([one.weights for one in found], axis=1),
            intercepts=np.array([one.intercept for one in found]),
            score_gradient=np.empty((0, len(found))),
            norm_gradient=np.ones(len(found)),
            gap=max(one.gap for one in found),
        )


BLOCK_LOSSES: dict[str, Any] = {
    "hinge": HingeBlockProblem,
    "squared_hinge": SquaredHingeBlockProblem,
}


@dataclass(frozen=True, eq=False)
class FeatureMoments:
    """Weights, sums and products of features, by class; about a shift."""

    sizes: FloatArray
    sums: FloatArray
    products: FloatArray

    def __add__(self, other: FeatureMoments) -> FeatureMoments:
        return FeatureMoments(
            self.sizes + other.sizes, self.sums + other.sums, self.products + other.products
        )


@dataclass(frozen=True, eq=False)
class _MomentPass:
    space: FeatureMap
    n_classes: int
    shift: FloatArray

    def __call__(self, block: Block) -> FeatureMoments:
        Phi = self.space.features(block.X) - self.shift
        member = np.where(block.codes == np.arange(self.n_classes)[:, None], block.weights, 0.0)
        return FeatureMoments(
            member.sum(axis=1), member @ Phi, Phi.T @ (block.weights[:, None] * Phi)
        )


class ContrastBlockProblem:
    """Fisher directions of one class against the rest; see `ContrastProblem`.

    Parameters
    ----------
    targets : Targets
    mu : float
        Regularisation, in units of the features' variance.
    """

    is_smooth = True

    def __init__(self, targets: Targets, mu: float) -> None:
        self.targets, self.mu = targets, mu

    def over(self, codes: IndexArray, weights: FloatArray) -> ContrastProblem:
        """The problem over some rows in memory, whose weights stand for all."""
        return ContrastProblem(self.targets.of(codes), weights, self.mu)

    def solve(
        self, rows: LabelledBlocks, sample: Sample, space: WhitenedMap, start: Start | None
    ) -> InnerSolution:
        """Solve each contrast in closed form, from the moments of the classes; no slopes."""
        # about the mean of the sample, so that variances keep their digits
        shift = np.average(space.features(sample.block.X), axis=0, weights=sample.weights)
        moments = rows.total(_MomentPass(space, rows.classes.size, shift), "moments")
        share = moments.sizes / moments.sizes.sum()
        sums, products = moments.sums / moments.sizes.sum(), moments.products / moments.sizes.sum()
        found = [self._direction(k, share, sums, products) for k in self.targets.positive]
        directions, eigenvalues = zip(*found, strict=True)
        return InnerSolution(
            value=-float(sum(eigenvalues)),
            weights=np.stack(directions, axis=1),
            intercepts=np.zeros(len(found)),
            score_gradient=np.empty((0, len(found))),
            norm_gradient=2.0 * self.mu * np.array(eigenvalues),
            gap=0.0,
        )

    def _direction(
        self, positive: int, share: FloatArray, sums: FloatArray, products: FloatArray
    ) -> tuple[FloatArray, float]:
        """The direction with w'(S_w + mu I)w = 1, and the eigenvalue."""
        sizes = np.array([share.sum() - share[positive], share[positive]])
        if not sizes.all() or not sums.shape[1]:
            # no contrast: a class of weight zero, or a kernel that is zero
            return np.zeros(sums.shape[1]), 0.0
        means = np.stack([sums.sum(axis=0) - sums[positive], sums[positive]]) / sizes[:, None]
        within = products - means.T @ (sizes[:, None] * means)
        within = 0.5 * (within + within.T)
        within[np.diag_indices_from(within)] += self.mu
        contrast = means[1] - means[0]
        w = solve_ridge_products(within, contrast)
        eigenvalue = float(contrast @ w)
        return w / np.sqrt(max(eigenvalue, np.finfo(np.float64).tiny)), eigenvalue
