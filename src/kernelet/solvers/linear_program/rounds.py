"""Hinge loss plus a norm, as linear programs over the rows and columns that matter.

Rows far outside the margin have a multiplier of zero. Those far inside have one of C_i; all of a
class are replaced by their mean, with the sum of their costs: by convexity its hinge is no larger
than the sum of theirs, so the smaller problem still gives a lower bound, and unlike one with the
hinges replaced by linear pieces it has an optimum whatever rows are chosen. Columns whose weights
are zero are left out. What remains is solved by the interior point, and proven with two products
with all rows: multipliers extended to all rows and shrunk into the dual ball give the lower bound,
margins of all rows the upper one. Rows and columns that spoil the proof join. Without a start, the
first round has the few columns that the multipliers of w = 0 pull at most.

Near the optimum the same rounds go on with vertices (see `crossover`) of problems over the few rows
that seem to be on the margin, until the proof holds. From the solution of a nearby problem they
begin there, by pivots from its vertex, as long as these problems are small.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import compress

import numpy as np

from kernelet.kernels.numerics.arrays import FloatArray
from kernelet.solvers.linear_program.norms import HingeProgram
from kernelet.solvers.linear_program.state import LinearState
from kernelet.solvers.parallel import map_in_threads, one_thread_if_small
from kernelet.solvers.rows import ArrayRows, Rows
from kernelet.solvers.solution import Solution
from kernelet.solvers.thinning import thinned

# With more than _FEW_ROWS rows a cold start solves every fourth row first, but no fewer than _RARE
# of a class, if that leaves enough rows for each column. The guess only chooses rows and columns,
# so it is solved to a gap of _GUESS_TOL: a sample's solution is no nearer to that of all rows.
_THINNING = 4
_FEW_ROWS = 1500
_RARE = 100
_GUESS_TOL = 3e-2
# Rounds before the best answer is returned as it is: only what does not converge gets there.
_MAX_ROUNDS = 80
# Multiplications that take as long as one in a product with few vectors, which reads Phi once: such
# products wait for memory, and a second thread pays earlier.
_MEMORY_BOUND = 10

# A solution to start from, its Phi'Ya, and its value where it is that of a sample of the rows.
_Start = tuple[Solution, FloatArray, float | None]


def solve_linear_programs(
    rows: Rows,
    problems: Sequence[HingeProgram],
    *,
    tol: float,
    max_iter: int,
    warm_start: Sequence[Solution] | None = None,
    n_jobs: int = 1,
) -> list[Solution]:
    """Problems over the same rows."""
    n, m = rows.shape
    states = [LinearState(problem, m, tol, max_iter) for problem in problems]
    # No product of a round is larger. Setting the limit takes as long as some of them, so that it
    # is set once.
    with one_thread_if_small(n * m * max(m, _MEMORY_BOUND * len(problems))):
        _play(rows, states, warm_start, n_jobs)
    return [state.solution() for state in states]


def _play(
    rows: Rows, states: Sequence[LinearState], warm_start: Sequence[Solution] | None, n_jobs: int
) -> None:
    """Rounds, until every problem is solved; products with all rows serve all of them."""
    n, m = rows.shape
    _judge_zero(rows, states)
    pending = [state for state in states if not state.is_done]
    if warm_start is not None:
        nearby = list(compress(warm_start, [not state.is_done for state in states]))
        starts = _pulled(rows, pending, nearby)
    elif n > max(_FEW_ROWS, _THINNING * min((s.rows_per_column for s in pending), default=0) * m):
        starts = map_in_threads(lambda state: _guess(rows, state), pending, n_jobs)
    else:
        starts = []
        for state in pending:
            state.begin_at_zero()
    if starts:
        scores = rows.scores(np.stack([start.weights for start, *_ in starts], axis=1))
        for j, (state, (start, pull, value)) in enumerate(zip(pending, starts, strict=True)):
            state.begin_near(start.weights, start.intercept, scores[:, j], pull, value)
    for _ in range(_MAX_ROUNDS):
        if not pending:
            break
        means = _means(rows, pending)
        map_in_threads(lambda pair: pair[0].solve(rows, pair[1]), means, n_jobs)
        _judge(rows, pending)
        pending = [state for state in pending if not state.is_done]


def _means(rows: Rows, states: Sequence[LinearState]) -> list[tuple[LinearState, FloatArray]]:
    """What stands for the rows inside the margin, for all problems from one product."""
    weights = [state.rows.mean_weights() for state in states]
    sums = _weighted_sum(rows, [weight for group in weights for weight in group])
    ends = np.cumsum([len(group) for group in weights])
    return list(zip(states, np.split(sums, ends[:-1]), strict=True))


def _judge_zero(rows: Rows, states: Sequence[LinearState]) -> None:
    """w = 0 is where every problem begins, and some end."""
    pulls = _weighted_sum(rows, [state.y * state.answer.multipliers for state in states])
    for state, pull in zip(states, pulls, strict=True):
        state.pull = pull
        state.judge(np.zeros(rows.shape[0]))


def _judge(rows: Rows, states: Sequence[LinearState]) -> None:
    """Both values of every answer over all rows, and what follows for the next round."""
    n, m = rows.shape
    with one_thread_if_small(_MEMORY_BOUND * n * m * len(states)):
        scores = rows.scores(np.stack([state.answer.weights for state in states], axis=1))
    for j, state in enumerate(states):
        state.judge(scores[:, j])


def _weighted_sum(rows: Rows, weights: list[FloatArray]) -> FloatArray:
    """Phi'v for every v, as rows."""
    n, m = rows.shape
    if not weights:
        return np.empty((0, m))
    with one_thread_if_small(_MEMORY_BOUND * n * m * len(weights)):
        return rows.weighted_sum(np.stack(weights, axis=1)).T


def _pulled(
    rows: Rows, states: Sequence[LinearState], solutions: Sequence[Solution]
) -> list[_Start]:
    """Solutions of nearby problems with their Phi'Ya; zeros where the rows are others."""
    n, _ = rows.shape
    weights = [
        state.y * solution.multipliers if solution.multipliers.size == n else np.zeros(n)
        for state, solution in zip(states, solutions, strict=True)
    ]
    pulls = _weighted_sum(rows, weights)
    return [(solution, pull, None) for solution, pull in zip(solutions, pulls, strict=True)]


def _guess(rows: Rows, state: LinearState) -> _Start:
    """The solution over evenly spaced rows of each class, whose costs stand for all of it."""
    chosen, costs = thinned(state.y, state.C, _THINNING, _RARE)
    sample = ArrayRows(rows.take(chosen))
    problem = HingeProgram(state.y[chosen], costs, state.capacity)
    thin = LinearState(problem, state.m, _GUESS_TOL, state.max_iter, is_guess=True)
    _play(sample, [thin], None, n_jobs=1)
    answer = thin.solution()
    state.n_iter += answer.n_iter
    return answer, thin.best_pull, answer.primal_value
