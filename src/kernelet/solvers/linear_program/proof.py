"""Values of a linear program and its dual over all rows: how good an answer is, exactly."""

from __future__ import annotations

import numpy as np

from kernelet.kernels.numerics.arrays import FloatArray
from kernelet.solvers.bias import hinge_bias
from kernelet.solvers.linear_program.crossover import ROUNDING
from kernelet.solvers.linear_program.norms import HingeProgram, lower_bound
from kernelet.solvers.linear_program.small import Answer
from kernelet.solvers.rounding import NOISE, TINY
from kernelet.solvers.solution import Solution


def prove(
    problem: HingeProgram,
    answer: Answer,
    scores: FloatArray,
    pull: FloatArray,
    noise: FloatArray,
    tol: float,
    is_vertex: bool,
) -> tuple[Solution, FloatArray]:
    """A solution with the best bias for its weights, and the margins of all rows.

    ``scores`` are Phi w and ``pull`` is Phi'Ya for the answer (w, a). The latter is known up to
    ``noise``, for multipliers of sum 1.
    """
    y, C, capacity = problem.y, problem.C, problem.capacity
    w, a = answer.weights, answer.multipliers
    b = hinge_bias(scores, y, C)
    margins = y * (scores + b)
    size = capacity.value(w)
    factor = _tightening(margins, C, size) if is_vertex else 1.0
    w, b, margins = factor * w, factor * b, factor * margins
    value = factor * size + float(C @ np.maximum(0.0, 1.0 - margins))
    total = float(a.sum())
    shrink, lower = lower_bound(capacity, w, pull, noise * total, total, aim=(1.0 - tol) * value)
    solution = Solution(
        weights=w,
        intercept=b,
        # the exact bounds of a vertex are worth more than rounding errors of Phi'Ya
        multipliers=a if is_vertex and shrink > 1.0 - ROUNDING else shrink * a,
        primal_value=value,
        dual_value=lower,
        n_iter=0,
        unit=TINY,
    )
    return solution, margins


def zero_answer(problem: HingeProgram, m: int) -> Answer:
    """w = 0, with the largest multipliers for which y'a = 0: they prove it where it is optimal."""
    y, C = problem.y, problem.C
    totals = {label: float(C[y == label].sum()) for label in (-1.0, 1.0)}
    least = min(totals.values())
    shares = {label: least / total if total else 0.0 for label, total in totals.items()}
    return Answer(np.zeros(m), 0.0, C * np.where(y > 0, shares[1.0], shares[-1.0]))


def _tightening(margins: FloatArray, C: FloatArray, size: float) -> float:
    """The factor that lifts rows on the margin over it, where rounding left them below.

    Costs of 1e9 make much of an error in the last digit of a margin.
    """
    short = 1.0 - margins
    slight = np.abs(short) < ROUNDING
    if not slight.any():
        return 1.0
    # twice what is missing, as the factor is rounded too
    factor = 1.0 + 2.0 * max(0.0, float(short[slight].max())) + NOISE
    before = size + float(C @ np.maximum(0.0, short))
    after = factor * size + float(C @ np.maximum(0.0, 1.0 - factor * margins))
    return factor if after <= (1.0 + NOISE) * before else 1.0
