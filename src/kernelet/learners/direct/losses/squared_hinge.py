"""The squared hinge: max(0, 1 - y f(x))^2, smooth, and quadratic as long as the same rows cost."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from kernelet.kernels.numerics.arrays import FloatArray
from kernelet.learners.direct.losses.base import SmoothLoss, inner_solution, register_loss
from kernelet.learners.direct.search.inner_problem import InnerSolution, Start
from kernelet.solvers import Solution, squared_hinge_ridge_many
from kernelet.solvers.squared_hinge.nearby import SEARCH_TOL, Machines, squared_losses_nearby

if TYPE_CHECKING:
    from kernelet.learners.direct.problems.svm import SVMProblem


@register_loss
class SquaredHinge(SmoothLoss):
    """max(0, 1 - m)^2: the L2-SVM, by Newton's method from the problem before."""

    name = "squared_hinge"

    def values(self, margins: FloatArray) -> FloatArray:
        lacks: FloatArray = np.maximum(0.0, 1.0 - margins)
        return lacks**2

    def slopes(self, margins: FloatArray) -> FloatArray:
        slopes: FloatArray = -2.0 * np.maximum(0.0, 1.0 - margins)
        return slopes

    def curvatures(self, margins: FloatArray) -> FloatArray:
        return np.where(margins < 1.0, 2.0, 0.0)

    def machines(
        self, Phi: FloatArray, Y: FloatArray, C: FloatArray, tol: float, start: Start | None = None
    ) -> Sequence[Solution]:
        return squared_hinge_ridge_many(Phi, Y, C, tol=tol, warm_start=guesses(start))

    def solve(self, problem: SVMProblem, Phi: FloatArray, start: Start | None) -> InnerSolution:
        near = None if start is None else _near(problem, Phi, start, tol=problem.tol)
        if near is not None:
            return near
        return of_solutions(self.machines(Phi, problem.Y, problem.C, problem.tol, start), problem.Y)

    def approximate(
        self,
        problem: SVMProblem,
        Phi: FloatArray,
        start: Start | None,
        slopes: FloatArray | None,
    ) -> InnerSolution:
        n_outputs = problem.n_outputs
        if start is None:
            start = np.zeros((Phi.shape[1], n_outputs)), np.zeros(n_outputs)
        near = _near(problem, Phi, start, slopes=slopes, tol=SEARCH_TOL, prove=False)
        if near is not None:
            return near
        rough = problem.with_tol(max(problem.tol, SEARCH_TOL))
        return self.solve(rough, Phi.astype(np.float64), start)

    def row_losses(self, problem: SVMProblem, solution: InnerSolution) -> FloatArray:
        # the slope of a row is 2 C times the root of its loss
        slopes = solution.score_gradient
        squares: FloatArray = np.einsum("ij,ij->i", slopes, slopes, dtype=np.float64)
        return squares / (4.0 * problem.C)


def _near(
    problem: SVMProblem, Phi: FloatArray, start: Start, **options: Any
) -> InnerSolution | None:
    """All machines from those of a nearby problem; None where they are not near enough."""
    near = squared_losses_nearby(Phi, problem.intervals(Phi.dtype), problem.C, *start, **options)
    return None if near is None else of_nearby(near)


def of_nearby(near: Machines, shift: float = 0.0) -> InnerSolution:
    """All machines; ``shift`` is added to their scores."""
    return InnerSolution(
        value=float(near.values.sum()),
        weights=near.weights,
        intercepts=near.intercepts + shift if shift else near.intercepts,
        score_gradient=-near.pulls,
        norm_gradient=np.ones(near.intercepts.size),
        gap=float(near.gaps.max(initial=0.0)),
    )


def guesses(start: Start | None) -> list[Solution] | None:
    """Machines near the solution, as solvers take them."""
    if start is None:
        return None
    weights, intercepts = start
    return [Solution.guess(weights[:, k], float(intercepts[k])) for k in range(intercepts.size)]


def of_solutions(solutions: Sequence[Solution], Y: FloatArray) -> InnerSolution:
    """All machines; the slope of a row is minus its label times its multiplier."""
    multipliers = np.stack([solution.multipliers for solution in solutions], axis=1)
    return inner_solution(solutions, -Y * multipliers)
