"""Rows that want their score in an interval: against Clarabel and LIBSVM."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from numpy.testing import assert_allclose
from sklearn.svm import SVR, OneClassSVM

from interval_cases import CASES, COSTS, PHI, Y, ugly_intervals
from kernelet.solvers.hinge.interval import interval_ridge, one_class_ridge
from random_examples import examples
from references import quadratic_program


def interval_value(Phi, lower, upper, C_lower, C_upper):
    n, m = Phi.shape
    # w, b, what is missing below, what is too much above
    P = np.zeros((m + 1 + 2 * n,) * 2)
    P[:m, :m] = np.eye(m)
    q = np.concatenate([np.zeros(m + 1), C_lower, C_upper])
    design, eye, none = np.column_stack([Phi, np.ones(n)]), np.eye(n), np.zeros((n, n))
    A = np.vstack(
        [
            np.hstack([-design, -eye, none]),
            np.hstack([design, none, -eye]),
            np.hstack([np.zeros((2 * n, m + 1)), -np.eye(2 * n)]),
        ]
    )
    return quadratic_program(P, q, A, np.concatenate([-lower, upper, np.zeros(2 * n)]))


def one_class_value(Phi, C, nu):
    n, m = Phi.shape
    P = np.zeros((m + 1 + n,) * 2)
    P[:m, :m] = np.eye(m)
    q = np.concatenate([np.zeros(m), [-nu * C.sum()], C])
    A = np.vstack(
        [
            np.hstack([-Phi, np.ones((n, 1)), -np.eye(n)]),
            np.hstack([np.zeros((n, m + 1)), -np.eye(n)]),
        ]
    )
    return quadratic_program(P, q, A, np.zeros(2 * n))


@pytest.mark.parametrize("label", CASES)
@pytest.mark.parametrize("size", [1.0, 2.5])
def test_intervals_are_solved_and_proven(label, size):
    Phi, lower, upper, C_lower, C_upper = CASES[label]
    s = interval_ridge(Phi, lower, upper, C_lower, C_upper, size=size, tol=1e-9)
    f = Phi @ s.weights + s.intercept
    loss = C_lower @ np.maximum(0.0, lower - f) + C_upper @ np.maximum(0.0, f - upper)
    primal = 0.5 * s.weights @ s.weights + loss
    g = s.multipliers
    q = Phi.T @ g
    dual = lower @ np.maximum(g, 0.0) - upper @ np.maximum(-g, 0.0) - 0.5 * q @ q
    noise = 1e-9 * max(s.unit, abs(primal)) + 1e-15 * (np.abs(lower) @ (C_lower + C_upper))
    assert s.is_optimal
    assert s.gap <= 1e-9
    assert_allclose(s.primal_value, primal, rtol=1e-9, atol=1e-6 * s.unit)
    # a row at both ends of an interval of no width has a pull that stands for both
    assert dual >= s.dual_value - noise
    assert dual <= primal + noise
    assert (g <= C_lower * (1.0 + 1e-12)).all()
    assert (-g <= C_upper * (1.0 + 1e-12)).all()
    # of the two pulls on a row, which may cancel
    assert abs(g.sum()) <= 1e-12 * (C_lower + C_upper).sum()
    expected = interval_value(Phi, lower, upper, C_lower, C_upper)
    assert_allclose(primal, expected, rtol=1e-6, atol=1e-7)


@examples(60)
@given(problem=ugly_intervals())
def test_ugly_intervals_are_solved_and_proven(problem):
    Phi, lower, upper, C_lower, C_upper = problem
    s = interval_ridge(Phi, lower, upper, C_lower, C_upper, tol=1e-6)
    f, g = Phi @ s.weights + s.intercept, s.multipliers
    loss = C_lower @ np.maximum(0.0, lower - f) + C_upper @ np.maximum(0.0, f - upper)
    primal = 0.5 * s.weights @ s.weights + loss
    q = Phi.T @ g
    dual = lower @ np.maximum(g, 0.0) - upper @ np.maximum(-g, 0.0) - 0.5 * q @ q
    # of the terms of both values, and of sum g = 0 by the size of the targets
    size = np.abs(Phi) @ np.abs(s.weights) + np.abs(s.intercept) + np.abs(lower) + np.abs(upper)
    noise = 1e-13 * float((C_lower + C_upper) @ size)
    goal = 1e-6 * max(s.unit, abs(primal))
    # pulls of both sides cancel where intervals have no width: of a small value no digits are left
    assert s.is_optimal or noise > goal
    assert_allclose(s.primal_value, primal, rtol=1e-9, atol=noise)
    assert dual <= primal + noise
    assert primal - dual <= max(goal, s.gap * max(s.unit, abs(primal))) + noise
    assert (-C_upper * (1.0 + 1e-12) <= g).all()
    assert (g <= C_lower * (1.0 + 1e-12)).all()
    assert abs(g.sum()) <= 1e-12 * (C_lower + C_upper).sum()


@pytest.mark.parametrize("nu", [0.02, 0.3, 0.9, 1.0])
@pytest.mark.parametrize("shift", [0.0, 2.0, 50.0])
def test_one_class_is_solved_and_proven(nu, shift):
    Phi = PHI + shift
    s = one_class_ridge(Phi, COSTS, nu, tol=1e-9)
    a, total = s.multipliers, nu * COSTS.sum()
    rho = -s.intercept
    f = Phi @ s.weights
    primal = 0.5 * s.weights @ s.weights + COSTS @ np.maximum(0.0, rho - f) - total * rho
    q = Phi.T @ a
    assert s.gap <= 1e-9
    assert_allclose(s.primal_value, primal, rtol=1e-9, atol=1e-6)
    assert_allclose(s.dual_value, -0.5 * q @ q, rtol=1e-8, atol=1e-6)
    assert_allclose(a.sum(), total, rtol=1e-10)
    assert a.min() >= 0.0
    assert (a <= COSTS * (1.0 + 1e-12)).all()
    assert_allclose(primal, one_class_value(Phi, COSTS, nu), rtol=1e-6, atol=1e-5)


@pytest.mark.parametrize("scale", [1e-12, 1e-5, 1e8])
def test_one_class_takes_features_of_any_size(scale):
    # a narrow kernel has tiny features where rows are far from all vectors
    s = one_class_ridge(scale * (PHI + 2.0), COSTS, 0.3, tol=1e-9)
    same = one_class_ridge(PHI + 2.0, COSTS, 0.3, tol=1e-9)
    assert s.gap <= 1e-9
    assert s.n_iter <= same.n_iter + 2
    assert_allclose(s.primal_value, scale**2 * same.primal_value, rtol=1e-8)
    assert_allclose(s.weights, scale * same.weights, rtol=1e-5)
    assert_allclose(s.intercept, scale**2 * same.intercept, rtol=1e-5)


def test_regression_is_that_of_libsvm():
    svr = SVR(kernel="linear", C=2.0, epsilon=0.3, tol=1e-8).fit(PHI, Y, sample_weight=COSTS)
    s = interval_ridge(PHI, Y - 0.3, Y + 0.3, 2.0 * COSTS, 2.0 * COSTS, tol=1e-10)
    assert_allclose(s.weights, svr.coef_[0], atol=1e-5)
    assert_allclose(s.intercept, svr.intercept_[0], atol=1e-5)


def test_one_class_is_that_of_libsvm():
    other = OneClassSVM(kernel="linear", nu=0.3, tol=1e-9).fit(PHI + 3.0, sample_weight=COSTS)
    s = one_class_ridge(PHI + 3.0, COSTS, 0.3, tol=1e-10)
    assert_allclose(s.weights, other.coef_[0], rtol=1e-4)
    assert_allclose(-s.intercept, other.offset_[0], rtol=1e-4)
    outside = ((PHI + 3.0) @ s.weights < -s.intercept * (1.0 - 1e-6)) @ COSTS / COSTS.sum()
    assert outside <= 0.3


def test_too_few_iterations_are_reported():
    s = interval_ridge(PHI, Y, Y, COSTS, COSTS, tol=1e-10, max_iter=2)
    assert not s.is_optimal
    assert "max_iter" in s.status.value
    assert s.primal_value >= s.dual_value
