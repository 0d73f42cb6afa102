"""Linear programs in which some weights cost nothing, down to robust linear programming itself.

(2.4) of Yajima, Ohi and Mori (2003). Their optima can form an unbounded set, of which the point of
least norm is wanted. A small enough penalty picks it (Mangasarian and Meyer, 1979); that it was
small enough is proven by multipliers of the problem without it.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from kernelet.solvers.chosen_rows import ChosenRows
from kernelet.solvers.linear_program.crossover import ROUNDING
from kernelet.solvers.linear_program.norms import HingeProgram, lower_bound
from kernelet.solvers.linear_program.rounds import solve_linear_programs
from kernelet.solvers.linear_program.small import Answer, SmallProblem
from kernelet.solvers.rounding import TINY
from kernelet.solvers.rows import Rows
from kernelet.solvers.solution import Solution, Status
from kernelet.solvers.thinning import evenly_spaced

# The first penalty in shares of what all multipliers together can pull at a column of unit size:
# too small to compete with the loss unless the problem is badly scaled. If it is, the next is
# smaller by _SMALLER at least; after _MOST_PENALTIES it would be below rounding, 1e-6 1e-15.
_PENALTY = 1e-6
_SMALLER = 1e-3
_MOST_PENALTIES = 6
# Rows from which the size of the columns is estimated; a rough one is enough for a scale.
_SAMPLE = 1000


def solve_unpenalized(
    rows: Rows,
    problem: HingeProgram,
    *,
    tol: float,
    max_iter: int,
    warm_start: Solution | None,
) -> Solution:
    """The optimum of least norm where the capacity leaves some weights free."""
    n, _ = rows.shape
    size = rows.take(evenly_spaced(n, _SAMPLE)).std(axis=0)
    best: Solution | None = None
    start = warm_start
    penalty = _PENALTY * float(problem.C.sum())
    for _ in range(_MOST_PENALTIES):
        capacity = problem.capacity.completed(penalty * np.where(size > 0.0, size, 1.0))
        (solution,) = solve_linear_programs(
            rows,
            [replace(problem, capacity=capacity)],
            tol=tol,
            max_iter=max_iter,
            warm_start=None if start is None else [start],
        )
        loss = solution.primal_value - capacity.value(solution.weights)
        proven = _prove(rows, problem, solution, max(loss, 0.0), tol)
        if best is None or proven.gap < best.gap:
            best = proven
        if best.gap <= tol:
            break
        start = solution
        penalty = min(_SMALLER * penalty, _PENALTY * float(solution.multipliers.sum()))
    assert best is not None
    status = Status.OPTIMAL if best.gap <= tol else Status.NUMERICAL_LIMIT
    return replace(best, status=status)


def _prove(
    rows: Rows, problem: HingeProgram, solution: Solution, loss: float, tol: float
) -> Solution:
    """The same weights, with multipliers that are feasible without the extra penalties."""
    y, C, capacity = problem.y, problem.C, problem.capacity
    n, m = rows.shape
    w = solution.weights
    value = capacity.value(w) + loss
    none = replace(solution, multipliers=np.zeros(n), primal_value=value, dual_value=0.0, unit=TINY)
    if value == 0.0:
        return none
    margins = y * (rows.scores(w) + solution.intercept)
    a = solution.multipliers
    is_free = (a > 0.0) & (a < C)
    on_margin = (C > 0.0) & (is_free | (np.abs(margins - 1.0) <= ROUNDING))
    chosen = ChosenRows(y, C)
    chosen.sides[~on_margin] = np.where((margins < 1.0) & (C > 0.0), 1, -1)[~on_margin]
    means, weights = np.empty((0, m)), chosen.mean_weights()
    if weights:
        means = rows.weighted_sum(np.stack(weights, axis=1)).T
    everything = np.ones(m, dtype=bool)
    small = SmallProblem(
        rows.take(chosen.index), means, *chosen.labels_and_costs(), capacity, everything
    )
    found = small.vertex(Answer(w, solution.intercept, chosen.gathered(a)), pivots=True)
    if found is None:
        return none
    a = chosen.spread(found.multipliers)
    pull = rows.weighted_sum(y * a)
    total = float(a.sum())
    shrink, lower = lower_bound(
        capacity, w, pull, small.noise * total, total, aim=(1.0 - tol) * value
    )
    return replace(none, multipliers=a if shrink > 1.0 - ROUNDING else shrink * a, dual_value=lower)
