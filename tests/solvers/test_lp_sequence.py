"""Sequences of linear programs by warm-started simplex, against SciPy's HiGHS and hinge_lasso."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.optimize import linprog

from kernelet.datasets import make_banana
from kernelet.kernels import Gaussian
from kernelet.solvers import hinge_lasso
from kernelet.solvers.linear_program.sequence import LinearProgramSequence

X, labels = make_banana(80, random_state=0)
y = 2.0 * labels - 1.0
Phi = Gaussian(1.0)(X, X[::2])


def value_by_linprog(C, c):
    """min c'(w+ + w-) + C'xi in the primal, all variables spelt out."""
    n, m = Phi.shape
    cost = np.concatenate([c, c, [0.0], C])
    A = np.hstack([-y[:, None] * Phi, y[:, None] * Phi, -y[:, None], -np.eye(n)])
    bounds = [(0, None)] * (2 * m) + [(None, None)] + [(0, None)] * n
    return linprog(cost, A_ub=A, b_ub=-np.ones(n), bounds=bounds).fun


def random_costs(seed, scale=1.0):
    rng = np.random.default_rng(seed)
    return scale * rng.uniform(0.5, 3.0, len(y)), rng.uniform(0.5, 2.0, Phi.shape[1])


@pytest.mark.parametrize("scale", [0.1, 1.0, 1e4])
def test_every_program_of_a_sequence_is_solved(scale):
    sequence = LinearProgramSequence(Phi, y)
    for seed in range(4):
        C, c = random_costs(seed, scale)
        solution = sequence.solve(C, c)
        assert solution.is_optimal
        assert solution.gap <= 1e-8
        assert_allclose(solution.primal_value, value_by_linprog(C, c), rtol=1e-7)
        again = hinge_lasso(Phi, y, C, c)
        assert_allclose(solution.primal_value, again.primal_value, rtol=1e-9)


def test_solutions_are_vertices():
    solution = LinearProgramSequence(Phi, y).solve(5.0)
    free = (solution.multipliers > 0) & (solution.multipliers < 5.0)
    used = solution.weights != 0
    assert 0 < used.sum() < Phi.shape[1]
    # as many rows on the margin as weights and the bias; the rest is at a bound exactly
    assert free.sum() == used.sum() + 1
    margins = y * (Phi @ solution.weights + solution.intercept)
    assert_allclose(margins[free], 1.0, atol=1e-9)
    assert_allclose(np.abs(Phi.T @ (y * solution.multipliers))[used], 1.0, atol=1e-9)


def test_unchanged_costs_need_no_pivot_and_small_changes_few():
    C, c = random_costs(0)
    sequence = LinearProgramSequence(Phi, y)
    first = sequence.solve(C, c)
    cold = sequence.n_pivots
    assert_array_equal(sequence.solve(C, c).weights, first.weights)
    assert sequence.n_pivots == 0
    sequence.solve(1.01 * C, c)
    assert sequence.n_pivots < cold / 4


def test_the_basis_of_another_solver_is_a_start():
    C, c = random_costs(1)
    sequence = LinearProgramSequence(Phi, y, warm_start=hinge_lasso(Phi, y, C, c))
    solution = sequence.solve(C, c)
    assert sequence.n_pivots <= 3
    assert_allclose(solution.primal_value, value_by_linprog(C, c), rtol=1e-7)


def test_input_is_checked():
    with pytest.raises(ValueError, match="finite"):
        LinearProgramSequence([[np.nan]], [1])
    with pytest.raises(ValueError, match="-1 and"):
        LinearProgramSequence([[1.0]], [2])
    with pytest.raises(ValueError, match="penalties"):
        LinearProgramSequence(Phi, y).solve(1.0, 0.0)
    with pytest.raises(ValueError, match="tol"):
        LinearProgramSequence(Phi, y, tol=0.0)
