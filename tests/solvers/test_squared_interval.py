"""Squared distances from an interval: against Clarabel, LIBLINEAR and the squared hinge."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy.optimize import minimize_scalar
from sklearn.svm import LinearSVR

from interval_cases import CASES, COSTS, PHI, Y, ugly_intervals
from kernelet.solvers import Status, squared_hinge_ridge
from kernelet.solvers.squared_hinge.interval import squared_interval_ridge
from random_examples import examples
from references import quadratic_program

LOWER, UPPER = Y - 0.3, Y + 0.3


def values(problem, w, b, g):
    """Of both problems, from their definitions, and the size of what is added up in them."""
    Phi, lower, upper, C_lower, C_upper = problem
    f, q = Phi @ w + b, Phi.T @ g
    up, down = np.maximum(g, 0.0), np.maximum(-g, 0.0)
    primal = 0.5 * w @ w
    primal += C_lower @ np.maximum(0.0, lower - f) ** 2 + C_upper @ np.maximum(0.0, f - upper) ** 2
    terms = np.zeros(g.size)  # ends and costs of sides that do not pull play no part
    for part, end, C in ((up, lower, C_lower), (down, -upper, C_upper)):
        at = part > 0.0
        terms[at] = part[at] * end[at] - part[at] ** 2 / (4.0 * C[at])
    return primal, terms.sum() - 0.5 * q @ q, np.abs(terms).sum() + q @ q


def least_value(Phi, lower, upper, C_lower, C_upper):
    """By Clarabel, over w, b and a slack for each end."""
    n, m = Phi.shape
    P = np.diag(np.concatenate([np.ones(m), [0.0], 2.0 * C_lower, 2.0 * C_upper]))
    design, eye, none = np.column_stack([Phi, np.ones(n)]), np.eye(n), np.zeros((n, n))
    A = np.vstack([np.hstack([-design, -eye, none]), np.hstack([design, none, -eye])])
    return quadratic_program(P, np.zeros(len(P)), A, np.concatenate([-lower, upper]))


@pytest.mark.parametrize("label", CASES)
def test_intervals_are_solved_and_proven(label):
    problem = CASES[label]
    s = squared_interval_ridge(*problem, tol=1e-9)
    primal, dual, size = values(problem, s.weights, s.intercept, s.multipliers)
    assert s.is_optimal
    assert s.gap <= 1e-9
    assert_allclose(s.primal_value, primal, rtol=1e-9, atol=1e-25)
    assert primal - dual <= 2e-9 * primal + 1e-13 * size
    assert abs(s.multipliers.sum()) <= 1e-12 * np.abs(s.multipliers).sum()
    assert_allclose(primal, least_value(*problem), rtol=1e-6, atol=1e-7)


@pytest.mark.parametrize("C", [1e-9, 1e9])
@pytest.mark.parametrize("epsilon", [0.0, 0.3, 2.0])
def test_costs_of_any_size(C, epsilon):
    for targets in (Y, PHI[:, 0], np.repeat([0.0, 1e6], 25)):
        problem = PHI, targets - epsilon, targets + epsilon, C * COSTS, C * COSTS
        s = squared_interval_ridge(*problem, tol=1e-9)
        primal, dual, size = values(problem, s.weights, s.intercept, s.multipliers)
        assert s.is_optimal
        assert_allclose(s.primal_value, primal, rtol=1e-8)
        assert primal - dual <= 2e-9 * primal + 1e-13 * size


@examples(100)
@given(problem=ugly_intervals(), seed=st.integers(0, 9999), far=st.sampled_from([None, 0, 3, 8]))
def test_ugly_intervals_are_solved_and_proven_from_any_start(problem, seed, far):
    Phi, lower, upper, C_lower, C_upper = problem
    start = None
    if far is not None:
        rng = np.random.default_rng(seed)
        start = 10.0**far * rng.normal(size=Phi.shape[1]), 10.0**far * rng.normal()
    s = squared_interval_ridge(*problem, tol=1e-7, start=start)
    primal, dual, size = values(problem, s.weights, s.intercept, s.multipliers)
    # what f, and sum g = 0 times the bias, have of rounding errors
    reach = np.abs(Phi) @ np.abs(s.weights) + np.abs(s.intercept) + np.abs(lower) + np.abs(upper)
    noise = 1e-14 * float(np.abs(s.multipliers) @ reach) + 1e-14 * size
    noise += 1e-28 * float((C_lower + C_upper) @ reach**2)
    assert s.is_optimal
    assert_allclose(s.primal_value, primal, rtol=1e-9, atol=noise)
    assert dual <= primal + noise
    assert primal - dual <= 1e-7 * max(s.unit, primal) + noise
    assert abs(s.multipliers.sum()) <= 1e-12 * np.abs(s.multipliers).sum()


def test_labels_are_intervals_without_an_upper_or_a_lower_end():
    labels = np.where(PHI[:, 0] + 0.5 * PHI[:, 1] > 0.0, 1.0, -1.0)
    lower, upper = np.where(labels > 0, 1.0, -np.inf), np.where(labels > 0, np.inf, -1.0)
    s = squared_interval_ridge(PHI, lower, upper, COSTS, COSTS, tol=1e-12)
    hinge = squared_hinge_ridge(PHI, labels, COSTS, tol=1e-12)
    assert_allclose(s.primal_value, hinge.primal_value, rtol=1e-11)
    assert_allclose(s.weights, hinge.weights, rtol=1e-6)
    assert_allclose(s.intercept, hinge.intercept, rtol=1e-6)
    assert_allclose(s.multipliers, labels * hinge.multipliers, atol=1e-6)


@pytest.mark.parametrize("epsilon", [0.0, 0.5])
def test_regression_is_that_of_liblinear(epsilon):
    other = LinearSVR(
        loss="squared_epsilon_insensitive",
        C=2.0,
        epsilon=epsilon,
        dual=False,
        intercept_scaling=1e3,  # its bias is penalised: b^2 divided by the square of this
        tol=1e-12,
        max_iter=10_000,
    ).fit(PHI, Y, sample_weight=COSTS)
    C = 2.0 * COSTS
    s = squared_interval_ridge(PHI, Y - epsilon, Y + epsilon, C, C, tol=1e-12)
    assert_allclose(s.weights, other.coef_, atol=1e-4)
    assert_allclose(s.intercept, other.intercept_, atol=1e-4)


def test_a_start_nearby_saves_steps():
    moved = PHI + 1e-3 * np.random.default_rng(1).normal(size=PHI.shape)
    cold = squared_interval_ridge(moved, LOWER, UPPER, COSTS, COSTS, tol=1e-10)
    near = squared_interval_ridge(PHI, LOWER, UPPER, COSTS, COSTS, tol=1e-10)
    warm = squared_interval_ridge(
        moved, LOWER, UPPER, COSTS, COSTS, tol=1e-10, start=(near.weights, near.intercept)
    )
    again = squared_interval_ridge(
        moved, LOWER, UPPER, COSTS, COSTS, tol=1e-10, start=(warm.weights, warm.intercept)
    )
    assert again.n_iter <= warm.n_iter < cold.n_iter
    assert_allclose(warm.primal_value, cold.primal_value, rtol=1e-9)
    assert_allclose(warm.weights, cold.weights, rtol=1e-4)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("far", [np.nan, np.inf, 1e150, 1e200])
def test_a_start_beyond_the_range_of_numbers_is_not_used(far):
    start = np.full(4, far), 0.0
    s = squared_interval_ridge(PHI, LOWER, UPPER, COSTS, COSTS, tol=1e-10, start=start)
    cold = squared_interval_ridge(PHI, LOWER, UPPER, COSTS, COSTS, tol=1e-10)
    assert s.is_optimal
    assert_allclose(s.weights, cold.weights, rtol=1e-9)


def test_wide_intervals_need_no_weights():
    C = np.ones(50)
    s = squared_interval_ridge(PHI, Y - 100.0, Y + 100.0, C, C, start=(np.ones(4), 5.0))
    assert (s.primal_value, s.dual_value, s.gap) == (0.0, 0.0, 0.0)
    assert not s.weights.any()
    assert_allclose(s.intercept, 0.5 * (Y.min() + Y.max()))
    assert_allclose(s.multipliers, 0.0)
    only = squared_interval_ridge(PHI, Y, np.full(50, np.inf), C, C)
    assert only.intercept == Y.max()
    free = squared_interval_ridge(PHI, np.full(50, -np.inf), np.full(50, np.inf), C, C)
    assert free.intercept == 0.0


@pytest.mark.parametrize("size", [1e-6, 1.0, 1e6])
def test_losses_below_the_rounding_of_the_targets_are_none(size):
    """The range of the targets is the width of the tube, up to the last digit or two."""
    for places in range(1, 4):
        targets = size * np.linspace(1000.0, 1001.0, 50)
        half = 0.5 * size
        for _ in range(places):
            half = np.nextafter(half, 0.0)
        C = np.full(50, 1e3)
        s = squared_interval_ridge(PHI, targets - half, targets + half, C, C, tol=1e-8)
        assert s.is_optimal
        assert s.gap <= 1e-8
        assert s.primal_value <= 1e-8 * size**2
        assert_allclose(PHI @ s.weights + s.intercept, 1000.5 * size, rtol=1e-9)


@pytest.mark.parametrize("factor", [1e-60, 1e-6, 1e6, 1e60])
def test_targets_of_any_size(factor):
    one = squared_interval_ridge(PHI, LOWER, UPPER, COSTS, COSTS, tol=1e-10)
    s = squared_interval_ridge(PHI, factor * LOWER, factor * UPPER, COSTS, COSTS, tol=1e-10)
    assert s.is_optimal
    assert_allclose(s.primal_value, factor**2 * one.primal_value, rtol=1e-9)
    assert_allclose(s.weights, factor * one.weights, rtol=1e-5)


@pytest.mark.parametrize("n_columns", [0, 2])
def test_where_features_are_zero_the_bias_is_all(n_columns):
    s = squared_interval_ridge(np.zeros((50, n_columns)), LOWER, UPPER, COSTS, COSTS, tol=1e-12)

    def loss(b):
        return COSTS @ (np.maximum(0.0, LOWER - b) ** 2 + np.maximum(0.0, b - UPPER) ** 2)

    best = minimize_scalar(loss, bracket=(Y.min(), Y.max()), tol=1e-12)
    assert s.gap <= 1e-12
    assert_allclose(s.weights, np.zeros(n_columns))
    assert_allclose(s.primal_value, best.fun, rtol=1e-9)
    assert_allclose(s.intercept, best.x, rtol=1e-6)


def test_too_few_steps_are_reported():
    s = squared_interval_ridge(PHI, LOWER, UPPER, COSTS, COSTS, tol=1e-10, max_iter=1)
    assert s.status is Status.ITERATION_LIMIT
    primal, dual, _ = values(
        (PHI, LOWER, UPPER, COSTS, COSTS), s.weights, s.intercept, s.multipliers
    )
    assert s.gap > 1e-10
    assert_allclose(s.gap, (primal - dual) / primal, rtol=1e-6)
