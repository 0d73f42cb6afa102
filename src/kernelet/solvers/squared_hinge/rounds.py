"""Squared hinge problems solved on the rows that matter, and proven on all rows.

Rows with a margin of one or more have no loss and no multiplier. So Newton's method runs on a
working set: the rows with margins below one at a point near the solution, and a few more. Then all
rows are looked at once. Those that were left out and turn out to have a margin below one join, and
so on until there are none. As every problem is over a part of the loss, its dual value is a lower
bound throughout.

Many problems over the same rows go through the rounds together: one product serves them all.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from kernelet.kernels.numerics.arrays import FloatArray, IndexArray
from kernelet.solvers.parallel import map_in_threads
from kernelet.solvers.rows import ArrayRows, Rows
from kernelet.solvers.solution import Solution, Status
from kernelet.solvers.squared_hinge.certificate import ProvenPoint, prove
from kernelet.solvers.squared_hinge.newton import minimize, regress
from kernelet.solvers.thinning import thinned

# Rows with a margin up to one plus this are in the working set: after a warm start, after a sample
# of the rows, which is less certain, and of those that join later. The answer, proven on all rows,
# does not depend on them; the number and the size of the rounds does.
_WARM_BAND = 0.15
_COLD_BAND = 0.3
_LATER_BAND = 0.05
# Up to this many rows, or products in a Newton matrix, the working set is all rows from the start:
# a few milliseconds for each Newton step.
_FEW_ROWS = 2000
_FEW_PRODUCTS = 20_000_000
# A cold start solves every tenth row first, but no fewer than _RARE of a class, and to a gap that
# is small beside what a sample can say about all rows.
_THINNING = 10
_RARE = 200
_GUESS_TOL = 1e-3


def solve_in_rounds(
    rows: Rows,
    labels: Sequence[FloatArray],
    costs: Sequence[FloatArray],
    *,
    tol: float,
    max_iter: int,
    warm_start: Sequence[Solution] | None,
    n_jobs: int,
) -> list[Solution]:
    """One problem for each label vector over the same rows; labels and costs are checked."""
    n, m = rows.shape
    problems = [
        _Problem(y, C, np.zeros(m), tol, max_iter) for y, C in zip(labels, costs, strict=True)
    ]
    pending = [problem for problem in problems if not problem.is_done]
    if warm_start is not None:
        nearby = dict(zip(problems, warm_start, strict=True))
        map_in_threads(lambda problem: problem.start_near(rows, nearby[problem]), pending, n_jobs)
    if pending and n > _FEW_ROWS and n * m**2 > _FEW_PRODUCTS:
        if warm_start is None:
            map_in_threads(lambda problem: problem.guess(rows), pending, n_jobs)
        scores = rows.scores(np.stack([problem.weights for problem in pending], axis=1))
        for j, problem in enumerate(pending):
            problem.keep_near_margin(scores[:, j], _COLD_BAND if warm_start is None else _WARM_BAND)
    while pending:
        map_in_threads(lambda problem: problem.solve(rows), pending, n_jobs)
        pending = [problem for problem in pending if not problem.is_done]
        if pending:
            scores = rows.scores(np.stack([problem.weights for problem in pending], axis=1))
            for j, problem in enumerate(pending):
                problem.review(scores[:, j])
            pending = [problem for problem in pending if not problem.is_done]
    return [problem.solution() for problem in problems]


@dataclass(eq=False)
class _Problem:
    """One label vector: its working set, and where its machine is."""

    y: FloatArray
    costs: FloatArray
    weights: FloatArray
    tol: float
    max_iter: int
    intercept: float = 0.0
    is_warm: bool = False
    is_done: bool = False
    status: Status = Status.OPTIMAL
    n_iter: int = 0
    n_rounds: int = 0
    index: IndexArray = field(init=False)  # the working set, in increasing order
    point: ProvenPoint = field(init=False)  # over the working set until it is proven on all rows

    def __post_init__(self) -> None:
        self.index = np.flatnonzero(self.costs > 0)
        present = self.y[self.index]
        if (present == present[0]).all():
            # one class only: the bias alone leaves no loss
            zeros = np.zeros(self.weights.size)
            self.point = ProvenPoint(
                zeros, float(present[0]), np.zeros(self.y.size), zeros, 0.0, 0.0
            )
            self.is_done = True

    def start_near(self, rows: Rows, solution: Solution) -> None:
        """Start from the rows that were active in a nearby problem, or else from its weights.

        Which rows are active does not depend on the coordinates: an orthonormal basis of the
        features may have turned, or changed its size, since.
        """
        n, m = rows.shape
        if solution.multipliers.shape == (n,):
            active = (solution.multipliers > 0.0) & (self.costs > 0.0)
            self.weights, self.intercept = regress(rows, self.y, self.costs, active)
            self.n_iter += 1
        elif solution.weights.shape == (m,):
            self.weights, self.intercept = solution.weights, solution.intercept
        else:
            raise ValueError(
                f"warm_start has {solution.multipliers.size} rows and {solution.weights.size} "
                f"features, Phi has {n} and {m}: one of the two must agree."
            )
        self.is_warm = True

    def guess(self, rows: Rows) -> None:
        """Start from the machine of evenly spaced rows of each class, which stand for all of it."""
        sample, costs = thinned(self.y, self.costs, _THINNING, _RARE)
        point, n_iter, _ = minimize(
            ArrayRows(rows.take(sample)),
            self.y[sample],
            costs,
            tol=_GUESS_TOL,
            max_iter=self.max_iter,
        )
        self.weights, self.intercept, self.is_warm = point.weights, point.intercept, True
        self.n_iter += n_iter

    def keep_near_margin(self, scores: FloatArray, band: float) -> None:
        """Take as working set the rows with a margin of less than one plus the band."""
        near = self.index[(self.y * (scores + self.intercept))[self.index] < 1.0 + band]
        # when most rows matter, all of them need no copy
        if 2 * near.size < self.y.size:
            self.index = near

    def solve(self, rows: Rows) -> None:
        """Minimise over the working set, from the present machine."""
        has_all = 2 * self.index.size >= self.y.size
        index = np.arange(self.y.size) if has_all else self.index
        point, n_iter, self.status = minimize(
            rows if has_all else ArrayRows(rows.take(index)),
            self.y[index],
            self.costs[index],
            (self.weights, self.intercept) if self.is_warm else None,
            tol=self.tol,
            max_iter=self.max_iter,
        )
        multipliers = np.zeros(self.y.size)
        multipliers[index] = point.multipliers
        self.point = replace(point, multipliers=multipliers)
        self.weights, self.intercept, self.is_warm = point.weights, point.intercept, True
        self.n_iter += n_iter
        self.n_rounds += 1
        self.is_done = has_all

    def review(self, scores: FloatArray) -> None:
        """Prove the machine on all rows, or extend the working set by those it has missed."""
        margins = self.y * (scores + self.intercept)
        self.point = prove(self.point, self.costs, 1.0 - margins)
        inside = np.zeros(self.y.size, dtype=bool)
        inside[self.index] = True
        outside = (self.costs > 0) & ~inside
        missed = outside & (margins < 1.0)
        is_near = self.point.distance <= self.tol * self.point.primal_value
        if is_near or not missed.any():
            self.is_done = True
            return
        self.index = np.flatnonzero(inside | (outside & (margins < 1.0 + _LATER_BAND)))

    def solution(self) -> Solution:
        """The answer over all rows."""
        point = self.point
        solution = Solution(
            weights=point.weights,
            intercept=point.intercept,
            multipliers=point.multipliers,
            primal_value=point.primal_value,
            dual_value=point.primal_value - point.distance,
            n_iter=self.n_iter,
            n_rounds=self.n_rounds,
            working_set=self.index,
            status=self.status,
        )
        return replace(solution, status=Status.OPTIMAL) if solution.gap <= self.tol else solution
