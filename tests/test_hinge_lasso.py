"""The linear programming SVM against HiGHS, its dual, its vertices, and ugly input."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy.optimize import linprog

from kernelet.solvers.hinge_lasso import hinge_lasso, hinge_lasso_many


def problem(n=120, m=6, noise=1.0, seed=0):
    rng = np.random.default_rng(seed)
    Phi = rng.normal(size=(n, m))
    y = np.where(Phi @ rng.normal(size=m) + noise * rng.normal(size=n) > 0, 1.0, -1.0)
    y[:2] = (-1.0, 1.0)
    return Phi, y


def by_highs(Phi, y, C, penalties, norm):
    """The optimum by scipy's HiGHS, the objective in units of its largest cost."""
    n, m = Phi.shape
    unit = max(1.0, float(np.max(C)))
    A = y[:, None] * Phi
    free, positive = (None, None), (0, None)
    if norm == 1:
        cost = np.concatenate([penalties, penalties, [0.0], C])
        upper = -np.hstack([A, -A, y[:, None], np.eye(n)])
        limits = -np.ones(n)
        bounds = [positive] * (2 * m) + [free] + [positive] * n
    else:
        cost = np.concatenate([np.zeros(m + 1), [penalties], C])
        one, none = np.ones((m, 1)), np.zeros((m, n))
        upper = np.vstack(
            [
                -np.hstack([A, y[:, None], np.zeros((n, 1)), np.eye(n)]),
                np.hstack([np.eye(m), 0 * one, -one, none]),
                np.hstack([-np.eye(m), 0 * one, -one, none]),
            ]
        )
        limits = np.concatenate([-np.ones(n), np.zeros(2 * m)])
        bounds = [free] * (m + 1) + [positive] * (n + 1)
    found = linprog(cost / unit, upper, limits, bounds=bounds, method="highs")
    assert found.status == 0
    return found.fun * unit


def check(solution, Phi, y, C, penalties, norm, tol=1e-6):
    """Both values recomputed from the points themselves, feasibility, and the gap."""
    C = np.broadcast_to(C, y.shape)
    w, a = solution.weights, solution.multipliers
    hinge = np.maximum(0.0, 1.0 - y * (Phi @ w + solution.intercept))
    size = penalties * np.abs(w) if norm == 1 else [penalties * np.abs(w).max()]
    primal = float(np.sum(size) + C @ hinge)
    scale = max(1e-300, abs(primal))
    assert solution.primal_value == pytest.approx(primal, rel=1e-7, abs=1e-12)
    assert solution.dual_value <= solution.primal_value + 1e-9 * scale
    assert solution.dual_value == pytest.approx(a.sum(), rel=1e-9, abs=1e-12)
    assert (a >= 0).all()
    assert (a <= C * (1 + 1e-12)).all()
    assert abs(y @ a) <= 1e-8 * max(a.sum(), 1e-300)
    q = np.abs(Phi.T @ (y * a))
    rounding = 1e-14 * (np.abs(Phi).T @ a)
    if norm == 1:
        assert (q <= penalties * (1 + 1e-9) + rounding).all()
    else:
        assert q.sum() <= penalties * (1 + 1e-9) + rounding.sum()
    assert solution.gap <= tol
    assert solution.is_optimal


@pytest.mark.parametrize("norm", [1, "inf"])
@pytest.mark.parametrize("C", [1e-6, 0.01, 1.0, 100.0, 1e9])
@pytest.mark.parametrize("noise", [0.0, 1.0, 30.0])
def test_equals_highs(norm, C, noise):
    Phi, y = problem(noise=noise)
    solution = hinge_lasso(Phi, y, C, norm=norm)
    check(solution, Phi, y, C, 1.0, norm)
    penalties = np.ones(6) if norm == 1 else 1.0
    expected = by_highs(Phi, y, np.full(len(y), C), penalties, norm)
    # HiGHS works to 1e-7 of the largest cost
    assert solution.primal_value == pytest.approx(expected, rel=1e-6, abs=3e-6 * C)


@pytest.mark.parametrize("norm", [1, "inf"])
def test_costs_and_penalties_of_their_own(norm):
    Phi, y = problem(n=60)
    rng = np.random.default_rng(3)
    C = rng.uniform(0.0, 3.0, size=60)
    C[5] = 0.0
    penalties = rng.uniform(0.5, 2.0, size=6) if norm == 1 else 1.7
    solution = hinge_lasso(Phi, y, C, penalties, norm=norm)
    check(solution, Phi, y, C, penalties, norm)
    assert solution.primal_value == pytest.approx(by_highs(Phi, y, C, penalties, norm), rel=1e-7)
    # a row that costs nothing might as well not be there
    kept = C > 0
    fewer = hinge_lasso(Phi[kept], y[kept], C[kept], penalties, norm=norm)
    assert fewer.primal_value == pytest.approx(solution.primal_value, rel=1e-9)


def test_zeros_are_exact_and_the_optimum_is_a_vertex():
    rng = np.random.default_rng(0)
    Phi = rng.normal(size=(200, 40))
    y = np.sign(Phi[:, 0] - Phi[:, 1] + 0.1 * rng.normal(size=200))
    solution = hinge_lasso(Phi, y, 0.1)
    nonzero = np.count_nonzero(solution.weights)
    assert 2 <= nonzero < 20
    inside = Phi.T @ (y * solution.multipliers)
    assert_allclose(np.abs(inside[solution.weights != 0]), 1.0, rtol=1e-6)
    # a basis has one free row for each nonzero weight and one for the bias
    margins = y * (Phi @ solution.weights + solution.intercept)
    assert np.count_nonzero(np.abs(margins - 1.0) < 1e-9) >= nonzero + 1


def test_degenerate_optima_end_in_a_vertex():
    """Two equal columns: any split of a weight between them is optimal, a vertex takes one."""
    Phi, y = problem()
    doubled = np.hstack([Phi, Phi])
    solution = hinge_lasso(doubled, y, 1.0)
    check(solution, doubled, y, 1.0, 1.0, 1)
    assert not ((solution.weights[:6] != 0) & (solution.weights[6:] != 0)).any()
    single = hinge_lasso(Phi, y, 1.0)
    assert solution.primal_value == pytest.approx(single.primal_value, rel=1e-9)


def test_robust_linear_program_takes_the_least_norm():
    """Without a norm term (2.4) separable rows cost nothing for many w; the least is returned."""
    Phi, y = problem(noise=0.0)
    solution = hinge_lasso(Phi, y, 1.0, penalties=0.0)
    assert solution.primal_value == pytest.approx(0.0, abs=1e-9)
    hard = hinge_lasso(Phi, y, 1e6)
    assert np.abs(solution.weights).sum() == pytest.approx(np.abs(hard.weights).sum(), rel=1e-5)


@pytest.mark.parametrize("norm", [1, "inf"])
def test_many_rows_are_solved_on_those_that_matter(norm):
    Phi, y = problem(n=4000, m=12)
    solution = hinge_lasso(Phi, y, 1.0, norm=norm)
    check(solution, Phi, y, 1.0, 1.0, norm)
    again = hinge_lasso(Phi, y, 1.1, norm=norm, warm_start=solution)
    cold = hinge_lasso(Phi, y, 1.1, norm=norm)
    assert again.primal_value == pytest.approx(cold.primal_value, rel=1e-7)


@pytest.mark.parametrize("norm", [1, "inf"])
def test_many_is_one_by_one(norm):
    Phi, _ = problem(n=150)
    Y = np.where(np.random.default_rng(5).normal(size=(150, 3)) > 0, 1.0, -1.0)
    together = hinge_lasso_many(Phi, Y, 0.5, norm=norm)
    for solution, y in zip(together, Y.T, strict=True):
        alone = hinge_lasso(Phi, y, 0.5, norm=norm)
        assert solution.primal_value == pytest.approx(alone.primal_value, rel=1e-8)


@settings(max_examples=60, deadline=None)
@given(
    n=st.integers(2, 30),
    m=st.integers(1, 8),
    seed=st.integers(0, 10**6),
    log_C=st.floats(-6, 9),
    ugly=st.sampled_from(["plain", "duplicates", "zeros", "scales", "one row", "one class"]),
    norm=st.sampled_from([1, "inf"]),
)
def test_ugly_input_is_solved(n, m, seed, log_C, ugly, norm):
    rng = np.random.default_rng(seed)
    Phi = rng.normal(size=(n, m))
    y = np.where(rng.normal(size=n) > 0, 1.0, -1.0)
    if ugly == "duplicates":
        Phi = np.repeat(Phi[: max(1, n // 2)], 2, axis=0)[:n]
        y = y[: len(Phi)]
    elif ugly == "zeros":
        Phi[:, 0] = 0.0
    elif ugly == "scales":
        Phi *= 10.0 ** rng.uniform(-3, 3, size=m)
    elif ugly == "one row":
        y[:] = 1.0
        y[0] = -1.0
    elif ugly == "one class":
        y[:] = 1.0
    solution = hinge_lasso(Phi, y, 10.0**log_C, norm=norm)
    check(solution, Phi, y, 10.0**log_C, 1.0, norm)


def test_bad_arguments_are_named():
    Phi, y = problem()
    with pytest.raises(ValueError, match="penalties"):
        hinge_lasso(Phi, y, 1.0, penalties=-1.0)
    with pytest.raises(ValueError, match="norm"):
        hinge_lasso(Phi, y, 1.0, norm=2)
    with pytest.raises(ValueError, match="y"):
        hinge_lasso(Phi, np.arange(len(y)), 1.0)
