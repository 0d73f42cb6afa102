r"""A smooth loss of margins with a ridge, over rows in memory or in blocks.

.. math:: \min_{w, b} \tfrac12 w'w + \sum_i C_i \, \ell(y_i (\phi_i' w + b))

Newton's method needs the rows for sums only: the loss, its slope and its curvature, m + 1 numbers
and their square for each output. So it does not matter where the rows are. The squared hinge is
piecewise quadratic: where the rows inside the margin no longer change, a step is exact.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve

from kernelet.kernels.numerics.arrays import FloatArray
from kernelet.rows import Block, LabelledBlocks
from kernelet.solvers.blocks.margins import FeatureMap, Point, Targets
from kernelet.solvers.rounding import EPSILON, TINY
from kernelet.solvers.solution import Status

# Steps and halvings of steps; squared hinge and logistic loss take fewer than 20, and losses of
# straight lines with bends in between about 40.
_MAX_PASSES = 100
# Share of the promised fall that a step has to bring: the usual constant of Armijo's rule.
_SUFFICIENT = 1e-4


class MarginFunction(Protocol):
    """A convex function of margins y f(x), with a derivative."""

    def values(self, margins: FloatArray) -> FloatArray:
        """The loss at each margin."""
        ...

    def slopes(self, margins: FloatArray) -> FloatArray:
        """Its derivative."""
        ...

    def curvatures(self, margins: FloatArray) -> FloatArray:
        """Its second derivative, or anything between those of both sides where it jumps."""
        ...


@dataclass(frozen=True, eq=False)
class NewtonSums:
    """Loss, slope and curvature in (w, b) for each output.

    ``care`` is added to the curvature for a step where the loss of some rows is a straight line, so
    that their curvature says nothing about how far to go; of shape (k, 1, 1) where there are none.
    """

    loss: FloatArray
    slope: FloatArray
    curvature: FloatArray
    care: FloatArray

    def __add__(self, other: NewtonSums) -> NewtonSums:
        return NewtonSums(
            self.loss + other.loss,
            self.slope + other.slope,
            self.curvature + other.curvature,
            self.care + other.care,
        )


def newton_sums(
    Phi: FloatArray, Y: FloatArray, costs: FloatArray, function: MarginFunction, point: Point
) -> NewtonSums:
    """These sums over some rows."""
    margins = Y * point.scores(Phi)
    rows = np.column_stack([Phi, np.ones(len(Phi))])
    slopes, bends = function.slopes(margins), function.curvatures(margins)
    is_line = (bends == 0.0) & (slopes != 0.0)
    care = np.zeros((Y.shape[1], 1, 1))
    if is_line.any():
        # a parabola above the line, which it leaves by half its slope within a unit of the margin
        care = _products(rows, costs, np.where(is_line, np.abs(slopes), 0.0))
    return NewtonSums(
        costs @ function.values(margins),
        (costs[:, None] * Y * slopes).T @ rows,
        _products(rows, costs, bends),
        care,
    )


def _products(rows: FloatArray, costs: FloatArray, bends: FloatArray) -> FloatArray:
    """sum_i C_i bend_ik row_i row_i' for each output k."""
    products = []
    for bend in bends.T:
        curved = np.flatnonzero(bend)  # few, for a loss that is zero outside the margin
        part = rows[curved]
        products.append(part.T @ ((costs[curved] * bend[curved])[:, None] * part))
    return np.stack(products)


@dataclass(frozen=True, eq=False)
class NewtonPass:
    """The sums of a block, where it is."""

    space: FeatureMap
    targets: Targets
    function: MarginFunction
    point: Point
    C: float

    def __call__(self, block: Block) -> NewtonSums:
        Phi, Y = self.space.features(block.X), self.targets.of(block.codes)
        return newton_sums(Phi, Y, self.C * block.weights, self.function, self.point)


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
    def n_iter(self) -> int:
        """Newton systems: one for each pass at most."""
        return self.n_passes

    @property
    def is_optimal(self) -> bool:
        """Whether the tolerance asked for was met."""
        return self.status is Status.OPTIMAL


def smooth_ridge(
    Phi: FloatArray,
    Y: FloatArray,
    C: FloatArray,
    function: MarginFunction,
    *,
    tol: float = 1e-6,
    start: Point | None = None,
) -> list[NewtonSolution]:
    """Solve the problem of every output over rows in memory.

    Parameters
    ----------
    Phi : ndarray of shape (n, m)
    Y : ndarray of shape (n, k)
        Labels, -1 or +1, a column for each output.
    C : ndarray of shape (n,)
        Cost of each row.
    function : MarginFunction
    tol : float, default=1e-6
        Relative distance from the optimum to reach.
    start : Point, default=None

    Returns
    -------
    list of NewtonSolution
    """
    if start is None:
        start = Point(np.zeros((Phi.shape[1], Y.shape[1])), np.zeros(Y.shape[1]))

    def sums(outputs: Sequence[int], point: Point) -> NewtonSums:
        return newton_sums(Phi, Y[:, list(outputs)], C, function, point)

    return _minimized(sums, start, tol)


def smooth_ridge_blocks(
    rows: LabelledBlocks,
    space: FeatureMap,
    targets: Targets,
    C: float,
    function: MarginFunction,
    *,
    tol: float = 1e-6,
    start: Point,
) -> list[NewtonSolution]:
    """Solve the problem of every output over out-of-core rows, each pass for all of them.

    Parameters
    ----------
    rows : LabelledBlocks
    space : FeatureMap
        Sent to the rows with every pass.
    targets : Targets
        The outputs.
    C : float
        Cost of a row of weight one.
    function : MarginFunction
        Sent to the rows as well.
    tol : float, default=1e-6
        Relative distance from the optimum to reach.
    start : Point
        The solution for a sample, say.

    Returns
    -------
    list of NewtonSolution
    """

    def sums(outputs: Sequence[int], point: Point) -> NewtonSums:
        asked = NewtonPass(space, targets.some(outputs), function, point, C)
        return rows.total(asked, "newton")

    return _minimized(sums, start, tol)


def _minimized(
    sums: Callable[[Sequence[int], Point], NewtonSums], start: Point, tol: float
) -> list[NewtonSolution]:
    searches = [
        _NewtonSearch(np.append(start.weights[:, k], start.intercepts[k]), tol)
        for k in range(start.intercepts.size)
    ]
    for _ in range(_MAX_PASSES):
        active = [k for k, search in enumerate(searches) if not search.is_done]
        if not active:
            break
        at = np.stack([searches[k].at for k in active], axis=1)
        found = sums(active, Point(at[:-1], at[-1]))
        for j, k in enumerate(active):
            searches[k].learn(
                float(found.loss[j]), found.slope[j], found.curvature[j], found.care[j]
            )
    return [search.solution() for search in searches]


class _NewtonSearch:
    """The points of one output, from pass to pass."""

    def __init__(self, start: FloatArray, tol: float) -> None:
        self.at, self.tol = start, tol
        self.best, self.value, self.gap = start, np.inf, np.inf
        self.step, self.promise = np.zeros_like(start), 0.0
        self.n_passes = 0
        self.is_done = False

    def learn(
        self, loss: float, slope: FloatArray, curvature: FloatArray, care: FloatArray
    ) -> None:
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
        self.step = -_solved(H + care, gradient)
        self.promise = -0.5 * float(gradient @ self.step)
        distance = 0.5 * float(gradient @ _solved(H, gradient)) if care.any() else self.promise
        self.gap = distance / max(TINY, abs(value)) if distance > 0.0 else 0.0
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


def _solved(H: FloatArray, gradient: FloatArray) -> FloatArray:
    """H^-1 g; where rounding leaves no positive definite H, with its rounding added."""
    try:
        factor = cho_factor(H)
    except LinAlgError:
        factor = cho_factor(H + H.shape[0] * EPSILON * np.trace(H) * np.eye(H.shape[0]))
    solved: FloatArray = cho_solve(factor, gradient)
    return solved
