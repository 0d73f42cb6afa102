r"""Hinge problems over more rows than one machine holds.

.. math:: \min_{w, b} R(w) + \sum_i C_i \max(0, 1 - y_i (\phi_i' w + b))

A pass over the rows at a point v = (w, b) returns the loss there, the sums over the rows inside
the margin, and the rows near it, the nearest of each block only. From these come

- a lower bound. Rows far outside the margin count nothing, those near it in full and all others
  through the means of a few groups: a small problem whose optimum is never above the true one (the
  hinge is convex), and equal to it if the true margins are where rows are known one by one;
- the next point: the solution of that problem, if no margin moves farther on the way than rows are
  known one by one. If it would, a sample of the rows takes the place of those that are not known,
  and the sums correct its slope to that of all rows, so that only the curvature is guessed.

Every pass brings back numbers that do not grow with the rows.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kernelet.kernels.numerics.arrays import FloatArray
from kernelet.rows import Block, LabelledBlocks
from kernelet.rows.labelled import Sample
from kernelet.solvers.blocks.margins import (
    BAND,
    FeatureMap,
    MarginPass,
    MarginSums,
    Point,
    Targets,
)
from kernelet.solvers.blocks.models import (
    BlockMultipliers,
    NearRows,
    Penalty,
    RidgePenalty,
    SampledModel,
    SampleView,
)
from kernelet.solvers.rounding import TINY
from kernelet.solvers.solution import Status, relative_gap

# Rows near the margin of an output that all blocks together may return, or this many per feature
# if that is more: enough for a small problem to say where the margin is, and solved in a moment.
NEAR_ROWS = 20_000
_NEAR_ROWS_PER_FEATURE = 10
# Numbers in such rows, of all outputs, 32 MB: with wide rows or many outputs, fewer are returned.
_NEAR_NUMBERS = 4_000_000
# FeatureMap of a sample that are kept at a time, 160 MB of doubles.
_SAMPLE_NUMBERS = 20_000_000
# Passes before the best point is returned as it is: only what does not converge gets there.
_MAX_PASSES = 60
# A sample's promise that the value falls by no more is believed with this margin: the fall may be
# about three times as large.
_PROMISE = 0.3
# The radius of the next step, after one that went too far and after one that did not: the usual
# factors of trust regions.
_NARROWER, _WIDER = 0.25, 2.0
# Small problems are solved to this share of the tolerance, so that their errors do not show, but
# not beyond _FINEST where a sample takes the place of rows; the first start needs no more than
# _START_TOL.
_SHARE = 0.1
_FINEST = 1e-7
_START_TOL = 1e-6


@dataclass(frozen=True, eq=False)
class BlockSolution:
    """The answer for one output, with its proof.

    Attributes
    ----------
    weights : ndarray of shape (m,)
    intercept : float
    primal_value, dual_value : float
        The optimum lies between them.
    multipliers : BlockMultipliers
    n_passes : int
        Passes over all rows, until this output was done.
    n_iter : int
        Newton systems of the small problems.
    status : Status
    is_proven : bool
        Whether the lower value is a bound. If not, it is what the rows near the margin and a sample
        of the others promise.
    """

    weights: FloatArray
    intercept: float
    primal_value: float
    dual_value: float
    multipliers: BlockMultipliers
    n_passes: int
    n_iter: int
    status: Status
    is_proven: bool = True

    @property
    def gap(self) -> float:
        """Relative duality gap."""
        return relative_gap(self.primal_value, self.dual_value, TINY)

    @property
    def is_optimal(self) -> bool:
        """Whether the tolerance asked for was met."""
        return self.status is Status.OPTIMAL


def block_hinge(
    rows: LabelledBlocks,
    space: FeatureMap,
    sample: Sample,
    C: float = 1.0,
    *,
    tol: float = 1e-6,
    start: Point | None = None,
    penalty: Penalty | None = None,
    targets: Targets | None = None,
) -> list[BlockSolution]:
    """Solve the hinge problem of every output over out-of-core rows.

    Parameters
    ----------
    rows : LabelledBlocks
    space : FeatureMap
        Sent to the rows with every pass.
    sample : Sample
        Of the rows.
    C : float, default=1.0
        Cost of a row of weight one.
    tol : float, default=1e-6
        Relative duality gap to reach.
    start : Point, default=None
        Near the solution; without it, the solution for the sample.
    penalty : Penalty, default=None
        R(w), by default 1/2 w'w.
    targets : Targets, default=None
        The outputs, by default the second of two classes, or every class against the rest.

    Returns
    -------
    list of BlockSolution
        One for each output.
    """
    penalty = RidgePenalty() if penalty is None else penalty
    if targets is None:
        targets = Targets.of_classes(int(rows.classes.size))
    m = space.features(sample.block.X[:1]).shape[1]
    sample = sample.every(-(-sample.represents.size * m // _SAMPLE_NUMBERS))
    view = SampleView(space.features(sample.block.X), targets, sample, C)
    searches = [
        _OutputSearch(k, view, penalty, tol, None if start is None else start.output(k))
        for k in range(targets.n_outputs)
    ]
    n_near = min(NEAR_ROWS, _NEAR_NUMBERS // (rows.n_features * targets.n_outputs))
    most_near = max(1, -(-max(n_near, _NEAR_ROWS_PER_FEATURE * m) // rows.n_blocks))
    for _ in range(_MAX_PASSES):
        active = [search for search in searches if not search.is_done]
        if not active:
            break
        point = Point.joined([search.at for search in active])
        asked = targets.some([search.output for search in active])
        sums = rows.total(MarginPass(space, asked, point, C, most_near), "margins")
        near, is_near = sums.near_rows()
        Phi = space.features(near.X)
        for j, search in enumerate(active):
            search.learn(sums, j, near.take(np.flatnonzero(is_near[:, j])), Phi[is_near[:, j]])
    return [search.solution() for search in searches]


@dataclass(frozen=True, eq=False)
class _Proof:
    """A point, and what speaks for it."""

    value: float
    point: Point
    multipliers: BlockMultipliers
    lower: float
    is_bound: bool

    @property
    def gap(self) -> float:
        return relative_gap(self.value, self.lower, TINY)


class _OutputSearch:
    """The points of one output, from pass to pass."""

    def __init__(
        self, output: int, view: SampleView, penalty: Penalty, tol: float, start: Point | None
    ) -> None:
        self.output, self.view, self.penalty, self.tol = output, view, penalty, tol
        self.n_passes = self.n_iter = 0
        self.is_done = False
        self.lower = -np.inf
        self.best: tuple[float, Point] | None = None
        self.proposed: BlockMultipliers | None = None
        self.proof: _Proof | None = None
        self.model: SampledModel | None = None
        self.radius = penalty.radius
        if start is None:
            y = view.Y[:, output]
            solution = penalty.solve(view.Phi, y, view.costs, max(tol, _START_TOL), None)
            self.n_iter += solution.n_iter
            start = Point.of(solution)
        self.at = start

    def learn(self, sums: MarginSums, j: int, near: Block, Phi: FloatArray) -> None:
        """Take in what a pass found at the point, and choose the next point or stop."""
        self.n_passes += 1
        value = self.penalty.value(self.at.weights[:, 0]) + float(sums.loss[j])
        if self.proposed is not None:
            self._note(_Proof(value, self.at, self.proposed, self.lower, True))
        if self.is_done:
            return
        if self.best is not None and value > self.best[0]:
            self._go_back(self.best[1])
            return
        if self.best is not None:
            self.radius *= _WIDER
        self.best = value, self.at
        self._step(NearRows(sums, j, near, Phi, self.view, self.output), value)

    def _note(self, proof: _Proof) -> None:
        if self.proof is None or proof.gap < self.proof.gap:
            self.proof = proof
        self.is_done = self.proof.gap <= self.tol

    def _go_back(self, best: Point) -> None:
        """After a step that went too far: halfway back, or a shorter step from the best point."""
        self.proposed = None
        if self.model is None or np.isinf(self.radius):
            self.at = best.halfway_to(self.at)
            return
        self.radius *= _NARROWER
        answer = self.penalty.solve_tilted(
            self.model.problem, _SHARE * max(self.tol, _FINEST), best, self.radius
        )
        self.n_iter += answer.n_iter
        self.at = Point.of(answer)

    def _step(self, near: NearRows, value: float) -> None:
        solution = self.penalty.solve(*near.with_means(), _SHARE * self.tol, self.at)
        self.n_iter += solution.n_iter
        self.lower = max(self.lower, solution.dual_value)
        found = near.multipliers(solution.multipliers, self.at)
        # a guess may turn out to be good enough
        self._note(_Proof(value, self.at, found, self.lower, True))
        if self.is_done:
            return
        exact = Point.of(solution)
        seen = np.vstack([near.Phi, self.view.Phi])
        moved = float(np.max(np.abs(exact.scores(seen) - self.at.scores(seen)), initial=0.0))
        # where nothing bounds the step, means of groups are no guide beyond the band
        is_whole = near.reach >= BAND and np.isinf(self.radius)
        if is_whole or moved <= near.reach:
            self.at, self.proposed, self.model = exact, found, None
            return
        model = SampledModel(near, self.view, self.output, self.at, self.penalty.sample_band)
        self.model = model
        answer = self.penalty.solve_tilted(
            model.problem, _SHARE * max(self.tol, _FINEST), self.at, self.radius
        )
        self.n_iter += answer.n_iter
        promise = model.value(self.at, self.penalty) - answer.primal_value
        if promise <= _PROMISE * self.tol * abs(value):
            guessed = model.multipliers(answer.multipliers, self.at)
            lower = value - max(promise, 0.0) / _PROMISE
            self._note(_Proof(value, self.at, guessed, lower, False))
        self.at = Point.of(answer)
        self.proposed = None

    def solution(self) -> BlockSolution:
        """The best answer, with its status."""
        assert self.proof is not None
        proof = self.proof
        return BlockSolution(
            proof.point.weights[:, 0],
            float(proof.point.intercepts[0]),
            proof.value,
            min(proof.lower, proof.value),
            proof.multipliers,
            self.n_passes,
            self.n_iter,
            Status.OPTIMAL if self.is_done else Status.ITERATION_LIMIT,
            proof.is_bound,
        )
