r"""The L2-SVM over more rows than one machine holds: Newton's method on sums over them.

.. math:: \min_{w, b} \tfrac12 w'w + \sum_i C_i \max(0, 1 - y_i (\phi_i' w + b))^2

The value is once differentiable and piecewise quadratic: where the rows inside the margin no longer
change, a step is exact. A pass brings back the slope and the curvature, m + 1 numbers and their
square for each output.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import cho_factor, cho_solve

from kernelet.kernels.numerics.arrays import FloatArray
from kernelet.rows import Block, LabelledBlocks
from kernelet.rows.labelled import Sample
from kernelet.solvers.blocks.margins import FeatureMap, Point, Targets
from kernelet.solvers.rounding import TINY
from kernelet.solvers.solution import Status
from kernelet.solvers.squared_hinge.ridge import squared_hinge_ridge

# Passes before the best point is returned as it is: only what does not converge gets there.
_MAX_PASSES = 60
# Share of the promised fall that a step has to bring: the usual constant of Armijo's rule.
_SUFFICIENT = 1e-4
# The sample's solution is only a start; more digits would not be those of all rows.
_START_TOL = 1e-6


@dataclass(frozen=True, eq=False)
class NewtonSums:
    """Loss, slope and curvature in (w, b) for each output."""

    loss: FloatArray
    slope: FloatArray
    curvature: FloatArray

    def __add__(self, other: NewtonSums) -> NewtonSums:
        return NewtonSums(
            self.loss + other.loss, self.slope + other.slope, self.curvature + other.curvature
        )


@dataclass(frozen=True, eq=False)
class NewtonPass:
    """These sums over the rows of a block."""

    space: FeatureMap
    targets: Targets
    point: Point
    C: float

    def __call__(self, block: Block) -> NewtonSums:
        Phi = self.space.features(block.X)
        Y = self.targets.of(block.codes)
        slack = np.maximum(0.0, 1.0 - Y * self.point.scores(Phi))
        costs = self.C * block.weights
        rows = np.column_stack([Phi, np.ones(len(Phi))])
        curvatures = []
        for k in range(Y.shape[1]):
            inside = np.flatnonzero(slack[:, k])
            part = rows[inside]
            curvatures.append(2.0 * part.T @ (costs[inside, None] * part))
        return NewtonSums(
            costs @ slack**2,
            -2.0 * (costs[:, None] * Y * slack).T @ rows,
            np.stack(curvatures),
        )


@dataclass(frozen=True, eq=False)
class NewtonSolution:
    """The answer for one output.

    Attributes
    ----------
    weights : ndarray of shape (m,)
    intercept : float
    primal_value : float
    gap : float
        Newton's estimate of how far the value is above the optimum, relative to it.
    n_passes : int
    status : Status
    """

    weights: FloatArray
    intercept: float
    primal_value: float
    gap: float
    n_passes: int
    status: Status

    @property
    def is_optimal(self) -> bool:
        """Whether the tolerance asked for was met."""
        return self.status is Status.OPTIMAL


def block_squared_hinge(
    rows: LabelledBlocks,
    space: FeatureMap,
    sample: Sample,
    C: float = 1.0,
    *,
    tol: float = 1e-6,
    start: Point | None = None,
    targets: Targets | None = None,
) -> list[NewtonSolution]:
    """Solve the L2-SVM of every output over out-of-core rows.

    Parameters
    ----------
    rows : LabelledBlocks
    space : FeatureMap
        Sent to the rows with every pass.
    sample : Sample
        Of the rows; its solution is the start where none is given.
    C : float, default=1.0
        Cost of a row of weight one.
    tol : float, default=1e-6
        Relative distance from the optimum to reach.
    start : Point, default=None
    targets : Targets, default=None
        The outputs, by default the second of two classes, or every class against the rest.

    Returns
    -------
    list of NewtonSolution
    """
    if targets is None:
        targets = Targets.of_classes(int(rows.classes.size))
    if start is None:
        start = _solved(space.features(sample.block.X), sample, targets, C)
    searches = [
        _NewtonSearch(np.append(start.weights[:, k], start.intercepts[k]), tol)
        for k in range(targets.n_outputs)
    ]
    for _ in range(_MAX_PASSES):
        active = [k for k, search in enumerate(searches) if not search.is_done]
        if not active:
            break
        at = np.stack([searches[k].at for k in active], axis=1)
        asked = NewtonPass(space, targets.some(active), Point(at[:-1], at[-1]), C)
        sums = rows.total(asked, "newton")
        for j, k in enumerate(active):
            searches[k].learn(float(sums.loss[j]), sums.slope[j], sums.curvature[j])
    return [search.solution() for search in searches]


def _solved(Phi: FloatArray, sample: Sample, targets: Targets, C: float) -> Point:
    Y = targets.of(sample.block.codes)
    found = [squared_hinge_ridge(Phi, y, C * sample.weights, tol=_START_TOL) for y in Y.T]
    return Point(
        np.stack([one.weights for one in found], axis=1), np.array([one.intercept for one in found])
    )


class _NewtonSearch:
    """The points of one output, from pass to pass."""

    def __init__(self, start: FloatArray, tol: float) -> None:
        self.at, self.tol = start, tol
        self.best, self.value, self.gap = start, np.inf, np.inf
        self.step, self.promise = np.zeros_like(start), 0.0
        self.n_passes = 0
        self.is_done = False

    def learn(self, loss: float, slope: FloatArray, curvature: FloatArray) -> None:
        """Take in what a pass found at the point, and choose the next point."""
        self.n_passes += 1
        w = self.at[:-1]
        value = 0.5 * float(w @ w) + loss
        if value > self.value - _SUFFICIENT * self.promise and self.n_passes > 1:
            if self.promise <= self.tol * abs(self.value):
                self.is_done = True  # the value falls no more in double precision
                return
            self.step, self.promise = 0.5 * self.step, 0.5 * self.promise
            self.at = self.best + self.step
            return
        self.best, self.value = self.at, value
        gradient = slope + np.append(w, 0.0)
        H = curvature + np.diag(np.append(np.ones(w.size), 0.0))
        # rows of one class only, none inside: nothing holds the bias, and nothing pulls at it, so
        # that any positive number will do
        H[-1, -1] = max(H[-1, -1], TINY**0.5)
        self.step = -cho_solve(cho_factor(H), gradient)
        self.promise = -0.5 * float(gradient @ self.step)
        self.gap = self.promise / max(TINY, abs(value)) if self.promise > 0.0 else 0.0
        self.is_done = self.gap <= self.tol
        self.at = self.best + self.step

    def solution(self) -> NewtonSolution:
        """The best answer."""
        return NewtonSolution(
            self.best[:-1],
            float(self.best[-1]),
            self.value,
            self.gap,
            self.n_passes,
            Status.OPTIMAL if self.is_done else Status.ITERATION_LIMIT,
        )
