"""Support vector regression, quantile regression and the one-class SVM as inner problems."""

from __future__ import annotations

from typing import Any

import numpy as np

from kernelet.kernels.numerics.arrays import FloatArray, IndexArray
from kernelet.learners.direct.losses.base import inner_solution
from kernelet.learners.direct.losses.squared_hinge import of_nearby
from kernelet.learners.direct.search.inner_problem import INNER_TOL, InnerSolution, Start
from kernelet.solvers.hinge.interval import interval_ridge, one_class_ridge
from kernelet.solvers.solution import Solution
from kernelet.solvers.squared_hinge.interval import squared_interval_ridge
from kernelet.solvers.squared_hinge.nearby import SEARCH_TOL, squared_losses_nearby
from kernelet.solvers.squared_hinge.nearby_newton import Intervals


class IntervalProblem:
    r"""Scores that leave an interval around their target cost in proportion.

    .. math:: \min_{w, b} \tfrac12 \|w\|^2 + \sum_i C^-_i \max(0, l_i - f_i)
        + C^+_i \max(0, f_i - u_i)

    Parameters
    ----------
    lower, upper : ndarray of shape (n,)
    C_lower, C_upper : ndarray of shape (n,)
    size : float
        That of the targets.
    tol : float, default=1e-7
        Relative duality gap of each solve.
    """

    def __init__(
        self,
        lower: FloatArray,
        upper: FloatArray,
        C_lower: FloatArray,
        C_upper: FloatArray,
        size: float,
        tol: float = INNER_TOL,
    ) -> None:
        self.intervals = lower, upper, C_lower, C_upper
        self.size = size
        self.tol = tol

    @classmethod
    def tube(
        cls, y: FloatArray, C: FloatArray, epsilon: float, size: float, tol: float = INNER_TOL
    ) -> IntervalProblem:
        """Deviations beyond epsilon cost C_i a unit: support vector regression."""
        problem = cls(y - epsilon, y + epsilon, C, C, size, tol)
        # a deviation as large as the targets costs the same
        problem.smooth = SquaredIntervalProblem.tube(y, C / (size or 1.0), epsilon, tol)
        return problem

    @classmethod
    def pinball(
        cls, y: FloatArray, C: FloatArray, quantile: float, size: float, tol: float = INNER_TOL
    ) -> IntervalProblem:
        """Deviations cost C_i q a unit below the target and C_i (1 - q) above it."""
        return cls(y, y, quantile * C, (1.0 - quantile) * C, size, tol)

    smooth: SquaredIntervalProblem | None = None  # a twin with a loss that has a derivative

    def solve(self, Phi: FloatArray, start: Start | None) -> InnerSolution:
        """Solve by an interior point, which takes no start."""
        return _inner(interval_ridge(Phi, *self.intervals, size=self.size, tol=self.tol))

    def subset(self, index: IndexArray, scale: float | FloatArray = 1.0) -> IntervalProblem:
        """The same problem over some of its rows, whose costs are multiplied."""
        lower, upper, C_lower, C_upper = (part[index] for part in self.intervals)
        part = IntervalProblem(lower, upper, scale * C_lower, scale * C_upper, self.size, self.tol)
        part.smooth = None if self.smooth is None else self.smooth.subset(index, scale)
        return part

    def scaled(self, cost: float) -> IntervalProblem:
        """The same problem with all costs multiplied."""
        return self.subset(np.arange(self.intervals[0].size), cost)

    def loss(self, scores: FloatArray) -> float:
        """What leaving the intervals costs."""
        lower, upper, C_lower, C_upper = self.intervals
        f = scores[:, 0]
        missing, surplus = np.maximum(0.0, lower - f), np.maximum(0.0, f - upper)
        return float(C_lower @ missing + C_upper @ surplus)


class SquaredIntervalProblem:
    r"""Scores that leave an interval around their target cost the square of the distance.

    .. math:: \min_{w, b} \tfrac12 \|w\|^2 + \sum_i C_i \max(0, l_i - f_i, f_i - u_i)^2

    Parameters
    ----------
    lower, upper : ndarray of shape (n,)
    C : ndarray of shape (n,)
    tol : float, default=1e-7
        Relative duality gap of each solve.
    """

    def __init__(
        self, lower: FloatArray, upper: FloatArray, C: FloatArray, tol: float = INNER_TOL
    ) -> None:
        self.lower, self.upper = lower, upper
        self.C = C
        self.tol = tol

    @classmethod
    def tube(
        cls, y: FloatArray, C: FloatArray, epsilon: float, tol: float = INNER_TOL
    ) -> SquaredIntervalProblem:
        """Deviations cost C_i times the square of what they have beyond epsilon."""
        return cls(y - epsilon, y + epsilon, C, tol)

    def solve(self, Phi: FloatArray, start: Start | None) -> InnerSolution:
        """Solve by Newton steps from the start, and with more care where these do not get there."""
        near = nearby = None
        if start is not None:
            near = self._near(Phi, start, tol=self.tol)
            nearby = start[0][:, 0], float(start[1][0])
        return near or _inner(
            squared_interval_ridge(
                Phi, self.lower, self.upper, self.C, self.C, tol=self.tol, start=nearby
            )
        )

    is_sum = True
    n_outputs = 1

    @property
    def smooth(self) -> SquaredIntervalProblem:
        """The problem itself: its loss has a derivative."""
        return self

    def approximate(
        self, Phi: FloatArray, start: Start | None, slopes: FloatArray | None = None
    ) -> InnerSolution:
        """Solve as exactly as a search over vectors needs, in the precision of the features."""
        if start is None:
            start = np.zeros((Phi.shape[1], 1)), np.zeros(1)
        near = self._near(Phi, start, slopes=slopes, tol=SEARCH_TOL, prove=False)
        return near or self.solve(Phi.astype(np.float64), start)

    def _near(self, Phi: FloatArray, start: Start, **options: Any) -> InnerSolution | None:
        if self.lower.max() <= self.upper.min():
            return None  # steps end anywhere inside of all intervals, not in their middle
        # single precision has no digits left for targets far from zero; the bias is free to follow
        middle = 0.5 * (float(self.lower.min()) + float(self.upper.max()))
        intervals = Intervals(self.lower[None] - middle, self.upper[None] - middle)
        near = squared_losses_nearby(
            Phi, intervals.astype(Phi.dtype), self.C, start[0], start[1] - middle, **options
        )
        return None if near is None else of_nearby(near, middle)

    def row_losses(self, solution: InnerSolution) -> FloatArray:
        """What each row costs at the solution."""
        # a slope is 2 C times the root of the loss
        losses: FloatArray = np.square(solution.score_gradient[:, 0]) / (4.0 * self.C)
        return losses

    def subset(self, index: IndexArray, scale: float | FloatArray = 1.0) -> SquaredIntervalProblem:
        """The same problem over some of its rows, whose costs are multiplied."""
        return SquaredIntervalProblem(
            self.lower[index], self.upper[index], scale * self.C[index], self.tol
        )

    def scaled(self, cost: float) -> SquaredIntervalProblem:
        """The same problem with all costs multiplied."""
        return self.subset(np.arange(self.C.size), cost)

    def loss(self, scores: FloatArray) -> float:
        """What leaving the intervals costs."""
        f = scores[:, 0]
        return float(self.C @ np.square(np.clip(f, self.lower, self.upper) - f))


class OneClassProblem:
    r"""The one-class SVM, in scikit-learn's units.

    .. math:: \min_{w, \rho} \tfrac12 \|w\|^2 + \sum_i C_i \max(0, \rho - f_i)
        - \nu \rho \sum_i C_i

    Parameters
    ----------
    C : ndarray of shape (n,)
        Weights of the rows.
    nu : float
    tol : float, default=1e-7
        Relative duality gap of each solve.
    """

    def __init__(self, C: FloatArray, nu: float, tol: float = INNER_TOL) -> None:
        self.C = C
        self.nu = nu
        self.tol = tol

    # W rewards a kernel that does not distinguish the rows, and is no guide to its scales
    smooth = None

    def solve(self, Phi: FloatArray, start: Start | None) -> InnerSolution:
        """Solve by an interior point, which takes no start."""
        return _inner(one_class_ridge(Phi, self.C, self.nu, tol=self.tol))

    def subset(self, index: IndexArray) -> OneClassProblem:
        """The same problem over some of its rows."""
        return OneClassProblem(self.C[index], self.nu, self.tol)


def _inner(solution: Solution) -> InnerSolution:
    return inner_solution([solution], -solution.multipliers[:, None])
