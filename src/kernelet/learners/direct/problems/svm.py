"""The soft-margin SVM as an inner problem: one label vector, or several that share the vectors."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from kernelet.learners.direct.search.objective import FloatArray, InnerSolution, Start
from kernelet.solvers import Solution, hinge_ridge_many, squared_hinge_ridge_many
from kernelet.solvers.squared_hinge.nearby import SEARCH_TOL, Machines, squared_losses_nearby
from kernelet.solvers.squared_hinge.nearby_newton import Intervals

LOSSES = {"hinge": hinge_ridge_many, "squared_hinge": squared_hinge_ridge_many}


class SVMProblem:
    """sum_k min 1/2 ||w_k||^2 + sum_i C_i loss(y_ik f_k(x_i)), equations (24)-(27).

    Parameters
    ----------
    Y : ndarray of shape (n, k)
        Labels, -1 or +1, a column for each machine.
    C : ndarray of shape (n,)
        Cost of each row.
    loss : {"hinge", "squared_hinge"}, default="hinge"
    tol : float, default=1e-7
        Relative duality gap of each solve.
    """

    def __init__(
        self, Y: FloatArray, C: FloatArray, loss: str = "hinge", tol: float = 1e-7
    ) -> None:
        self.Y = Y
        self.C = C
        self.tol = tol
        self._loss = loss
        self._solve = LOSSES[loss]
        self._ends: Intervals | None = None

    def solve(self, Phi: FloatArray, start: Start | None) -> InnerSolution:
        """Solve all machines, exactly, on the rows that matter near the start."""
        if start is not None and self._loss == "squared_hinge":
            near = squared_losses_nearby(
                Phi, self._intervals(Phi.dtype), self.C, *start, tol=self.tol
            )
            if near is not None:
                return self._of(near)
        guesses = None
        if start is not None:
            weights, intercepts = start
            guesses = [
                Solution.guess(weights[:, k], float(intercepts[k])) for k in range(intercepts.size)
            ]
        solutions = self._solve(Phi, self.Y, self.C, tol=self.tol, warm_start=guesses)
        return self._solution(
            sum(solution.primal_value for solution in solutions),
            np.stack([solution.weights for solution in solutions], axis=1),
            np.array([solution.intercept for solution in solutions]),
            -self.Y * np.stack([solution.multipliers for solution in solutions], axis=1),
            np.array([solution.gap for solution in solutions]),
        )

    def _solution(
        self,
        value: float,
        weights: FloatArray,
        intercepts: FloatArray,
        score_gradient: FloatArray,
        gaps: FloatArray,
    ) -> InnerSolution:
        ones = np.ones(intercepts.size)
        return InnerSolution(
            float(value), weights, intercepts, score_gradient, ones, float(gaps.max(initial=0.0))
        )

    is_sum = True

    @property
    def n_outputs(self) -> int:
        """How many machines there are."""
        return int(self.Y.shape[1])

    @property
    def smooth(self) -> SVMProblem:
        """The problem itself, or its twin with the squared hinge."""
        if self._loss == "squared_hinge":
            return self
        return SVMProblem(self.Y, self.C, "squared_hinge", self.tol)

    def approximate(
        self, Phi: FloatArray, start: Start | None, slopes: FloatArray | None = None
    ) -> InnerSolution:
        """Solve as exactly as a search over vectors needs, in the precision of the features."""
        if start is None:
            start = np.zeros((Phi.shape[1], self.Y.shape[1])), np.zeros(self.Y.shape[1])
        near = squared_losses_nearby(
            Phi,
            self._intervals(Phi.dtype),
            self.C,
            *start,
            slopes=slopes,
            tol=SEARCH_TOL,
            prove=False,
        )
        if near is None:
            rough = SVMProblem(self.Y, self.C, self._loss, max(self.tol, SEARCH_TOL))
            return rough.solve(Phi.astype(np.float64), start)
        return self._of(near)

    def _of(self, near: Machines) -> InnerSolution:
        return self._solution(
            near.values.sum(), near.weights, near.intercepts, -near.pulls, near.gaps
        )

    def _intervals(self, dtype: Any) -> Intervals:
        """Where scores have no loss, in the precision of the features."""
        if self._ends is None or self._ends.lower.dtype != dtype:
            self._ends = Intervals.of_labels(self.Y).astype(dtype)
        return self._ends

    def row_losses(self, solution: InnerSolution) -> FloatArray:
        """What each row costs at the solution, all machines together."""
        slopes = solution.score_gradient
        squares: FloatArray = np.einsum("ij,ij->i", slopes, slopes, dtype=np.float64)
        return squares / (4.0 * self.C)

    def subset(self, index: NDArray[np.intp], scale: float | FloatArray = 1.0) -> SVMProblem:
        """The same problem over some of its rows, whose costs are multiplied."""
        return SVMProblem(self.Y[index], scale * self.C[index], self._loss, self.tol)

    def scaled(self, cost: float) -> SVMProblem:
        """The same problem with all costs multiplied."""
        return self.subset(np.arange(self.C.size), cost)

    def loss(self, scores: FloatArray) -> float:
        """The loss of the margins, weighted."""
        hinge = np.maximum(0.0, 1.0 - self.Y * scores)
        if self._loss == "squared_hinge":
            hinge **= 2
        return float(self.C @ hinge.sum(axis=1))
