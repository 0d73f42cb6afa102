"""Linear programs in which some weights cost nothing, down to robust linear programming itself.

(2.4) of Yajima, Ohi and Mori (2003). Their optima can form an unbounded set, of which the point of
least norm is wanted. A small enough penalty picks it (Mangasarian and Meyer, 1979); that it was
small enough is proven by multipliers of the problem without it.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from kernelet.kernels.numerics.arrays import FloatArray
from kernelet.solvers.linear_program.norms import Capacity, lower_bound
from kernelet.solvers.linear_program.rounds import solve_linear_programs
from kernelet.solvers.linear_program.small import UNIT, Answer, SmallProblem
from kernelet.solvers.rows import Rows
from kernelet.solvers.solution import Solution, Status

# The first penalty in shares of what all multipliers together can pull at a column of unit size,
# how much smaller the next is at least, and the most that are tried.
_PENALTY = 1e-6
_SMALLER = 1e-3
_MOST_PENALTIES = 6
# Rows from which the size of the columns is estimated.
_SAMPLE = 1000
# Distances from the margin that are rounding errors.
_ROUNDING = 1e-9


def solve_unpenalized(
    rows: Rows,
    y: FloatArray,
    C: FloatArray,
    capacity: Capacity,
    *,
    tol: float,
    max_iter: int,
    warm_start: Solution | None,
) -> Solution:
    """The optimum of least norm where the capacity leaves some weights free."""
    n, _ = rows.shape
    sample = rows.take(np.linspace(0, n - 1, min(n, _SAMPLE)).astype(np.intp))
    size = sample.std(axis=0)
    best: Solution | None = None
    start = warm_start
    penalty = _PENALTY * float(C.sum())
    for _ in range(_MOST_PENALTIES):
        penalized = capacity.completed(penalty * np.where(size > 0.0, size, 1.0))
        (solution,) = solve_linear_programs(
            rows,
            [y],
            [C],
            [penalized],
            tol=tol,
            max_iter=max_iter,
            warm_start=None if start is None else [start],
        )
        loss = solution.primal_value - penalized.value(solution.weights)
        proven = _prove(rows, y, C, capacity, solution, max(loss, 0.0), tol)
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
    rows: Rows,
    y: FloatArray,
    C: FloatArray,
    capacity: Capacity,
    solution: Solution,
    loss: float,
    tol: float,
) -> Solution:
    """The same weights, with multipliers that are feasible without the extra penalties."""
    n, m = rows.shape
    w = solution.weights
    value = capacity.value(w) + loss
    none = replace(solution, multipliers=np.zeros(n), primal_value=value, dual_value=0.0, unit=UNIT)
    if value == 0.0:
        return none
    margins = y * (rows.scores(w) + solution.intercept)
    a = solution.multipliers
    is_free = (a > 0.0) & (a < C)
    on_margin = (C > 0.0) & (is_free | (np.abs(margins - 1.0) <= _ROUNDING))
    index = np.flatnonzero(on_margin)
    inside = np.where(~on_margin & (margins < 1.0), C, 0.0)
    weights = [np.where(y == label, inside, 0.0) for label in (-1.0, 1.0)]
    labels = [label for label, weight in zip((-1.0, 1.0), weights, strict=True) if weight.any()]
    weights = [weight for weight in weights if weight.any()]
    totals = [float(weight.sum()) for weight in weights]
    means = np.empty((0, m))
    if weights:
        means = rows.weighted_sum(np.stack(weights, axis=1) / totals).T
    problem = SmallProblem(
        rows.take(index),
        means,
        np.append(y[index], labels),
        np.append(C[index], totals),
        capacity,
        np.ones(m, dtype=bool),
    )
    held = [float(a[weight > 0.0].sum()) for weight in weights]
    found = problem.vertex(Answer(w, solution.intercept, np.append(a[index], held)), pivots=True)
    if found is None:
        return none
    a = np.zeros(n)
    a[index] = found.multipliers[: index.size]
    for weight, total, share in zip(weights, totals, found.multipliers[index.size :], strict=True):
        a += weight * (share / total)
    pull = rows.weighted_sum(y * a)
    total = float(a.sum())
    shrink, lower = lower_bound(
        capacity, w, pull, problem.noise * total, total, aim=(1.0 - tol) * value
    )
    return replace(
        none, multipliers=a if shrink > 1.0 - _ROUNDING else shrink * a, dual_value=lower
    )
