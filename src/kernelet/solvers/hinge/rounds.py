"""Rounds of small problems, until their answers hold for all rows; see `working_set`.

Many problems over the same rows go through the rounds together: one product serves them all.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from kernelet.kernels.numerics.arrays import FloatArray
from kernelet.solvers.hinge.working_set import (
    GUESS_TOL,
    WARM_BAND,
    Subproblem,
    Subsolution,
    WorkingSet,
)
from kernelet.solvers.parallel import map_in_threads
from kernelet.solvers.rounding import TINY
from kernelet.solvers.rows import ArrayRows, Rows
from kernelet.solvers.solution import Solution, Status
from kernelet.solvers.thinning import thinned

# Half-width, in units of the margin, of the band around 1 kept from a solution of a sample, whose
# margins are less certain than those of a warm start.
_COLD_BAND = 0.5
# Up to _FEW_ROWS rows, or _FEW_PRODUCTS products in a Newton system, one round over all rows is
# quicker than a guess; up to _VERY_FEW_PRODUCTS it is even quicker than rounds from a given start.
# Only the time depends on them, and near the limits little of it.
_FEW_ROWS = 2500
_FEW_PRODUCTS = 4_000_000
_VERY_FEW_PRODUCTS = 200_000
# Rounds before the best answer is returned as it is: only what does not converge gets there.
_MAX_ROUNDS = 60
# Products in a Newton system from which threads pay where the interpreter runs the iterations, one
# thread at a time: on two cores ten problems took a tenth longer with 6e6, and a third less with
# 18e6.
_WORTH_THREADS = 10_000_000
# A cold start solves every fourth row first, which takes about a quarter of a round, but no fewer
# than _RARE of a class: fewer would say little about where its margin is.
_THINNING = 4
_RARE = 100

Subsolver = Callable[[Subproblem, float], Subsolution]
_Start = tuple[FloatArray, float]


def solve_on_working_sets(
    rows: Rows,
    labels: Sequence[FloatArray],
    costs: Sequence[FloatArray],
    subsolver: Subsolver,
    *,
    tol: float,
    starts: Sequence[_Start] | None = None,
    n_jobs: int = 1,
    is_compiled: bool = False,
) -> list[Solution]:
    """One hinge problem for each label vector over the same rows.

    ``starts`` are (w, b) of nearby problems; without them a sample of the rows gives the first
    guess, and problems of few rows are solved at once. Where the subsolver ``is_compiled`` small
    problems run on ``n_jobs`` threads as well as large ones.
    """
    worth = 0 if is_compiled else _WORTH_THREADS
    n, m = rows.shape
    if n * (m + 1) ** 2 <= _VERY_FEW_PRODUCTS and all(C.min() > 0 for C in costs):
        # one solve over all rows costs less than choosing among them
        return [
            _solve_at_once(rows, y, C, subsolver, tol) for y, C in zip(labels, costs, strict=True)
        ]
    problems = [WorkingSet(y, C, tol) for y, C in zip(labels, costs, strict=True)]
    is_guessed = starts is None and n > _FEW_ROWS and n * (m + 1) ** 2 > _FEW_PRODUCTS
    if is_guessed:
        n_threads = n_jobs if n // _THINNING * (m + 1) ** 2 >= worth else 1
        starts = map_in_threads(lambda p: _guess(p, rows, subsolver), problems, n_threads)
    band = _COLD_BAND if is_guessed else WARM_BAND
    if starts is not None:
        scores = rows.scores(np.stack([w for w, _ in starts], axis=1))
        for j, problem in enumerate(problems):
            problem.chosen.drop(problem.y * (scores[:, j] + starts[j][1]), band)
            if is_guessed and problem.chosen.index.size < n // _THINNING:
                # few rows after a guess: cheap to solve, and more are likely to join
                problem.tolerance = max(tol, GUESS_TOL)
    active = problems
    for _ in range(_MAX_ROUNDS):
        largest = max(problem.chosen.index.size for problem in active)
        n_threads = n_jobs if largest * (m + 1) ** 2 >= worth else 1
        _play_round(rows, active, subsolver, n_threads)
        active = [problem for problem in active if not problem.is_done]
        if not active:
            break
    return [problem.solution() for problem in problems]


def _solve_at_once(
    rows: Rows, y: FloatArray, C: FloatArray, subsolver: Subsolver, tol: float
) -> Solution:
    """All rows are the working set, so its answer is the answer."""
    n, m = rows.shape
    answer = subsolver(Subproblem(rows.take_all(), y, C, np.zeros(m + 1), unit=TINY), tol)
    solution = Solution(
        weights=answer.weights,
        intercept=answer.intercept,
        multipliers=answer.multipliers,
        primal_value=answer.primal_value,
        dual_value=answer.dual_value,
        n_iter=answer.n_iter,
        working_set=np.arange(n),
        unit=TINY,
    )
    if solution.gap <= tol:
        return solution
    return replace(solution, status=Status.short_of_tolerance(answer.at_limit))


def _play_round(
    rows: Rows, problems: Sequence[WorkingSet], subsolver: Subsolver, n_jobs: int
) -> None:
    """Solve every problem on its working set; the products with all rows serve all of them."""
    _, m = rows.shape
    for problem in problems:
        problem.release_imbalance()
    # all rows in every working set, solved to the end: nothing to add, and nothing to prove
    is_last = not any(problem.has_replaced_rows or problem.is_rough for problem in problems)
    linear = np.zeros((m + 1, len(problems)))
    if not is_last:
        pulls = np.stack([problem.pull() for problem in problems], axis=1)
        linear[:m] = rows.weighted_sum(pulls)
        linear[m] = pulls.sum(axis=0)
    answers = map_in_threads(
        lambda j: subsolver(problems[j].subproblem(rows, linear[:, j]), problems[j].tolerance),
        range(len(problems)),
        n_jobs,
    )
    if is_last:
        for problem, answer in zip(problems, answers, strict=True):
            problem.finish(answer)
        return
    scores = rows.scores(np.stack([answer.weights for answer in answers], axis=1))
    for j, problem in enumerate(problems):
        problem.prove(answers[j], scores[:, j], m)


def _guess(problem: WorkingSet, rows: Rows, subsolver: Subsolver) -> _Start:
    """(w, b) from evenly spaced rows of each class, their costs standing for all of it.

    The sample is solved in the same way, so guesses get better from level to level.
    """
    chosen, costs = thinned(problem.y, problem.C, _THINNING, _RARE)
    (answer,) = solve_on_working_sets(
        ArrayRows(rows.take(chosen)), [problem.y[chosen]], [costs], subsolver, tol=GUESS_TOL
    )
    problem.n_iter += answer.n_iter
    return answer.weights, answer.intercept
