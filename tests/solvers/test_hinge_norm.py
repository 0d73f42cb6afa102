"""Hinge loss plus a 2-norm that is not squared: lemma 2.1, Clarabel, and the edges."""

import clarabel
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy import sparse

from kernelet.solvers import Solution, hinge_norm, hinge_ridge
from random_examples import examples


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
    assert solution.gap <= 1e-8
    expected = by_clarabel(Phi, y, C, penalty)
    # Clarabel stops at a gap of 1e-8
    assert solution.primal_value == pytest.approx(expected, rel=1e-7, abs=1e-8)


@pytest.mark.parametrize("C0", [0.01, 1.0, 100.0])
def test_lemma_2_1(C0):
    """The solution of the squared problem solves this one for c = ||Phi'Y beta||, beta = a / C0."""
    Phi, y = problem()
    ridge = hinge_ridge(Phi, y, C0, tol=1e-11)
    c = np.linalg.norm(Phi.T @ (y * ridge.multipliers)) / C0
    solution = hinge_norm(Phi, y, 1.0, c, tol=1e-10)
    if C0 >= 1.0:  # with all rows inside the margin every shorter w is as good
        assert_allclose(solution.weights, ridge.weights, rtol=1e-5)
    hinge = np.maximum(0.0, 1.0 - y * (Phi @ ridge.weights + ridge.intercept)).sum()
    value = c * np.linalg.norm(ridge.weights) + hinge
    assert solution.primal_value == pytest.approx(value, rel=1e-7)
    # (2.13): the multipliers of the squared problem are feasible, and as good as ours
    assert ridge.multipliers.sum() / C0 == pytest.approx(solution.dual_value, rel=1e-8)


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


def check(solution, Phi, y, C, penalty):
    """Both values from the points themselves, feasibility and the gap."""
    C = np.broadcast_to(C, y.shape)
    w, b, a = solution.weights, solution.intercept, solution.multipliers
    primal = penalty * np.linalg.norm(w) + C @ np.maximum(0.0, 1.0 - y * (Phi @ w + b))
    noise = 1e-13 * float(C @ (1.0 + abs(b) + np.abs(Phi) @ np.abs(w)))
    assert solution.is_optimal
    assert solution.gap <= 1e-8
    assert_allclose(solution.primal_value, primal, rtol=1e-10, atol=noise)
    assert solution.dual_value <= solution.primal_value + noise
    assert_allclose(solution.dual_value, a.sum(), rtol=1e-8, atol=noise)
    assert (a >= 0).all()
    assert (a <= C).all()
    assert abs(y @ a) <= 1e-12 * y.size * max(a.sum(), 1e-300)
    rounding = 1e-14 * np.linalg.norm(np.abs(Phi).T @ a)
    assert np.linalg.norm(Phi.T @ (y * a)) <= penalty * (1 + 1e-12) + rounding


@pytest.mark.parametrize("C", [1e-6, 1e-3, 1.0, 1e3, 1e6])
@pytest.mark.parametrize("noise", [0.0, 1.0, 30.0])
def test_costs_of_all_sizes(C, noise):
    Phi, y = problem(noise=noise)
    solution = hinge_norm(Phi, y, C)
    check(solution, Phi, y, C, 1.0)
    # the problem has no unit of its own
    scaled = hinge_norm(Phi, y, 1e3 * C, 1e3)
    assert_allclose(scaled.primal_value, 1e3 * solution.primal_value, rtol=2e-8)


@examples(60)
@given(
    n=st.integers(2, 30),
    m=st.integers(1, 6),
    seed=st.integers(0, 10**6),
    log_C=st.floats(-4, 6),
    ugly=st.sampled_from(["plain", "duplicates", "zeros", "scales", "one row", "integers"]),
)
def test_ugly_input_is_solved(n, m, seed, log_C, ugly):
    rng = np.random.default_rng(seed)
    Phi = rng.normal(size=(n, m))
    y = np.where(rng.normal(size=n) > 0, 1.0, -1.0)
    if ugly == "duplicates":
        Phi = np.repeat(Phi[: max(1, n // 2)], 2, axis=0)[:n]
        y = y[: len(Phi)]
    elif ugly == "zeros":
        Phi[:, 0] = 0.0
    elif ugly == "scales":
        Phi *= 10.0 ** rng.uniform(-2, 2, size=m)
    elif ugly == "one row":
        y[:] = 1.0
        y[0] = -1.0
    elif ugly == "integers":
        Phi = np.round(Phi)
    solution = hinge_norm(Phi, y, 10.0**log_C)
    check(solution, Phi, y, 10.0**log_C, 1.0)


def test_few_ridge_problems_are_solved():
    """The path is piecewise linear: the secant through two of its points is soon exact."""
    Phi, y = problem(n=3000, m=20)
    for penalty in (1.0, 30.0, 300.0):
        solution = hinge_norm(Phi, y, 1.0, penalty)
        check(solution, Phi, y, 1.0, penalty)
        assert solution.n_rounds <= 15
        again = hinge_norm(Phi, y, 1.0, 1.01 * penalty, warm_start=solution)
        check(again, Phi, y, 1.0, 1.01 * penalty)
        assert again.n_rounds <= solution.n_rounds


def test_warm_start_of_another_size_is_named():
    Phi, y = problem()
    with pytest.raises(ValueError, match="warm_start has 3 weights"):
        hinge_norm(Phi, y, warm_start=Solution.guess(np.ones(3), 0.0))
