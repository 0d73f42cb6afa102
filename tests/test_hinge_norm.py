"""Hinge loss plus a 2-norm that is not squared: lemma 2.1, Clarabel, and the edges."""

import clarabel
import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import sparse

from kernelet.solvers import hinge_norm, hinge_ridge


def problem(n=80, m=5, noise=1.0, seed=0):
    rng = np.random.default_rng(seed)
    Phi = rng.normal(size=(n, m))
    y = np.where(Phi @ rng.normal(size=m) + noise * rng.normal(size=n) > 0, 1.0, -1.0)
    return Phi, y


def by_clarabel(Phi, y, C, penalty):
    """min penalty t + C'xi over (w, b, xi, t) with ||w|| <= t, as a second-order cone program."""
    n, m = Phi.shape
    q = np.concatenate([np.zeros(m + 1), C, [penalty]])
    margins = np.hstack([-y[:, None] * Phi, -y[:, None], -np.eye(n), np.zeros((n, 1))])
    slacks = np.hstack([np.zeros((n, m + 1)), -np.eye(n), np.zeros((n, 1))])
    cone = np.zeros((m + 1, q.size))
    cone[0, -1] = -1.0
    cone[1:, :m] = -np.eye(m)
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    solver = clarabel.DefaultSolver(
        sparse.csc_matrix((q.size, q.size)),
        q,
        sparse.csc_matrix(np.vstack([margins, slacks, cone])),
        np.concatenate([-np.ones(n), np.zeros(n), np.zeros(m + 1)]),
        [clarabel.NonnegativeConeT(2 * n), clarabel.SecondOrderConeT(m + 1)],
        settings,
    )
    return solver.solve().obj_val


@pytest.mark.parametrize("penalty", [0.1, 1.0, 10.0, 1000.0])
@pytest.mark.parametrize("noise", [0.0, 1.0, 10.0])
def test_equals_clarabel(penalty, noise):
    Phi, y = problem(noise=noise)
    C = np.random.default_rng(1).uniform(0.1, 2.0, size=len(y))
    solution = hinge_norm(Phi, y, C, penalty)
    assert solution.is_optimal
    assert solution.gap <= 1e-6
    expected = by_clarabel(Phi, y, C, penalty)
    assert solution.primal_value == pytest.approx(expected, rel=3e-6, abs=1e-6)


@pytest.mark.parametrize("C0", [0.01, 1.0, 100.0])
def test_lemma_2_1(C0):
    """The solution of the squared problem solves this one for c = ||Phi'Y beta||, beta = a / C0."""
    Phi, y = problem()
    ridge = hinge_ridge(Phi, y, C0, tol=1e-11)
    c = np.linalg.norm(Phi.T @ (y * ridge.multipliers)) / C0
    solution = hinge_norm(Phi, y, 1.0, c, tol=1e-8)
    if C0 >= 1.0:  # with all rows inside the margin every shorter w is as good
        assert_allclose(solution.weights, ridge.weights, rtol=1e-3, atol=1e-6)
    hinge = np.maximum(0.0, 1.0 - y * (Phi @ ridge.weights + ridge.intercept)).sum()
    value = c * np.linalg.norm(ridge.weights) + hinge
    assert solution.primal_value == pytest.approx(value, rel=1e-7)
    # (2.13): the multipliers of the squared problem are feasible, and as good as ours
    assert ridge.multipliers.sum() / C0 == pytest.approx(solution.dual_value, rel=1e-6)


def test_multipliers_are_feasible():
    Phi, y = problem()
    solution = hinge_norm(Phi, y, 1.0, 5.0)
    a = solution.multipliers
    assert (a >= 0).all()
    assert (a <= 1.0).all()
    assert abs(y @ a) <= 1e-9 * a.sum()
    assert np.linalg.norm(Phi.T @ (y * a)) <= 5.0 * (1 + 1e-12)
    assert solution.dual_value == pytest.approx(a.sum(), rel=1e-12)


def test_a_large_penalty_leaves_the_constant_machine():
    Phi, y = problem()
    solution = hinge_norm(Phi, y, 1.0, 1e6)
    assert solution.is_optimal
    assert_allclose(solution.weights, 0.0)
    smaller = min((y > 0).sum(), (y < 0).sum())
    assert solution.primal_value == pytest.approx(2.0 * smaller)


def test_a_tiny_penalty_on_separable_rows_gives_the_largest_margin():
    Phi, y = problem(noise=0.0)
    solution = hinge_norm(Phi, y, 1.0, 1e-4)
    hard = hinge_ridge(Phi, y, 1e6, tol=1e-9)
    assert_allclose(solution.weights, hard.weights, rtol=1e-2)
    assert (y * (Phi @ solution.weights + solution.intercept)).min() > 0.99


def test_bad_penalty_is_named():
    Phi, y = problem()
    with pytest.raises(ValueError, match="penalty"):
        hinge_norm(Phi, y, 1.0, 0.0)
