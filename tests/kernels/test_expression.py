"""Formulas: what they simplify to, their derivatives, and NumPy's evaluation of both."""

from __future__ import annotations

import inspect
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

import references
from kernelet.kernels import expression
from kernelet.kernels.derivative import derivative
from kernelet.kernels.expression import (
    Argument,
    Call,
    Constant,
    Expression,
    FeatureSum,
    Function,
    Operation,
    Operator,
    SumOverFeatures,
    exp,
    log1p,
    ordered,
    positive_part,
    sqrt,
    steps,
    tanh,
)
from kernelet.kernels.numerics.evaluation import Program, integer_power
from random_examples import examples
from tests.kernels.test_kernels import PROFILES, each

T = Argument()
# all that is above 0 where its argument is, and below e^2 there for arguments up to 2
FORMULAS = st.recursive(
    st.one_of(st.just(T), st.sampled_from([0.5, 1.0, 2.0]).map(lambda number: 0.0 * T + number)),
    lambda inner: st.one_of(
        inner.map(lambda x: exp(-x)),
        inner.map(log1p),
        inner.map(sqrt),
        inner.map(tanh),
        inner.map(lambda x: positive_part(x - 0.25) + 0.1),
        st.builds(lambda a, b: a + b, inner, inner),
        st.builds(lambda a, b: a - 0.5 * b, inner, inner).map(lambda x: x * x),
        st.builds(lambda a, b: a * b, inner, inner),
        st.builds(lambda a, b: a / (1.0 + b), inner, inner),
        st.builds(lambda a, n: (1.0 + a) ** n, inner, st.sampled_from([-0.5, 0.5, 1, 2, 3])),
    ),
    max_leaves=6,
)


def by_hand(formula: Expression, t: float) -> float:
    """One number, by recursion."""
    if isinstance(formula, Constant):
        return formula.value
    if isinstance(formula, Argument):
        return t
    values = [by_hand(operand, t) for operand in formula.operands]
    if isinstance(formula, Call):
        if formula.function is Function.STEP:
            return float(values[0] > 0.0)
        if formula.function is Function.HALF_RECIPROCAL:
            return 0.5 / values[0] if values[0] else 0.0
        return references._STEPS[formula.function.value](*values)
    assert isinstance(formula, Operation)
    return references._STEPS[formula.operator.value](*values)


@examples(200)
@given(FORMULAS, st.booleans())
def test_programs_and_derivatives_of_any_formula(formula, single):
    t = np.array([0.3, 0.9, 1.7])
    expected = [by_hand(formula, x) for x in t.tolist()]
    size = 1e-5 if single else 1e-11
    values, slopes = t.astype(np.float32 if single else np.float64), np.empty(3)
    slopes = slopes.astype(values.dtype)
    alone = values.copy()
    Program(formula)(alone)
    Program(formula, derivative(formula))(values, slopes)
    assert_array_equal(alone, values)
    assert_allclose(values, expected, rtol=size, atol=size)
    exact = [by_hand(derivative(formula), x) for x in t.tolist()]
    assert_allclose(slopes, exact, rtol=100 * size, atol=100 * size)
    step = 1e-5
    kinks = [
        abs(by_hand(formula, x + 2e-5) - 2 * by_hand(formula, x) + by_hand(formula, x - 2e-5))
        for x in t.tolist()
    ]
    for x, slope, kink in zip(t.tolist(), slopes, kinks, strict=True):
        if kink < 1e-8:  # no positive part changes its sign here
            difference = (by_hand(formula, x + step) - by_hand(formula, x - step)) / (2 * step)
            assert_allclose(slope, difference, rtol=1e-3, atol=1e-4 * (1 + abs(difference)))


def test_two_results_may_end_up_in_the_place_of_the_other():
    for formula, other in [(exp(-T), T), (T, exp(-T)), (T * T, 1.0 + T), (Constant(2.0), T)]:
        values, others = np.array([0.5, 2.0]), np.zeros(2)
        Program(formula, other)(values, others)
        assert_allclose(values, [by_hand(formula, 0.5), by_hand(formula, 2.0)])
        assert_allclose(others, [by_hand(other, 0.5), by_hand(other, 2.0)])


@each(PROFILES)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_what_numpy_computes_is_the_formula(kernel, dtype):
    """Also where a kernel overrides what is derived from it."""
    t = np.sign(kernel.scale_and_shift[0]) * np.array([[0.0, 1e-3, 0.3, 1.1], [1.7, 2.5, 9.0, 0.2]])
    formula, slope = kernel.formula(T), derivative(kernel.formula(T))
    values, slopes = t.astype(dtype), np.full(t.shape, np.nan, dtype)
    kernel.profile(values)
    rounding = 30 * np.finfo(dtype).eps
    expected = np.vectorize(lambda x: by_hand(formula, float(x)))(t.astype(dtype))
    assert_allclose(values, expected, rtol=rounding, atol=rounding * np.abs(expected).max())
    again = t.astype(dtype)
    slopes = again if kernel.slope_is_value else slopes
    kernel.profile_and_slope(again, slopes)
    assert_allclose(again, values, rtol=rounding)
    expected = np.vectorize(lambda x: by_hand(slope, float(x)))(t.astype(dtype))
    # next to 0 the derivative of a root cancels: what is lost is multiplied by x - z
    away = t != 0.0
    assert_allclose(slopes[away], expected[away], rtol=100 * rounding, atol=100 * rounding)
    assert np.isfinite(slopes).all()


def test_simplifications():
    assert 1.0 * T == T == T * 1.0 == T + 0.0 == 0.0 + T == T / 1.0 == T**1 == T - 0.0
    assert 0.0 * T == T * 0.0 == 0.0 / T == Constant(0.0)
    assert -(2.0 * T) == -2.0 * T
    negative = -T
    assert -negative == T
    assert 0.0 - T == -1.0 * T == T * -1.0 == -T
    assert 2.0 * Constant(3.0) + 1.0 == Constant(7.0)
    assert T * exp(-T) == exp(-T) * T == Operation(Operator.DAMP, T, exp(-T))
    assert (positive_part(T) ** 2 * T).operator is Operator.DAMP
    assert (2.0 * exp(-T)).operator is Operator.MULTIPLY
    assert np.float64(2.0) * T == 2.0 * T
    with pytest.raises(TypeError, match="does not support ufuncs"):
        np.exp(T)
    with pytest.raises(ValueError, match="must be finite"):
        T * math.inf


def test_shared_parts_come_once():
    r = sqrt(T)
    assert len(ordered((1.0 + r) * exp(-r), -0.5 * exp(-r))) == 9
    assert steps(log1p(0.5 * SumOverFeatures(FeatureSum.TAXICAB)) ** 2) == [
        ["constant", 0.5],
        ["taxicab"],
        ["multiply", 0, 1],
        ["log1p", 2],
        ["constant", 2.0],
        ["power", 3, 4],
    ]


@pytest.mark.parametrize("exponent", range(1, 20))
def test_integer_powers(exponent):
    t = np.array([-1.5, 0.0, 0.7])
    out = np.empty(3)
    integer_power(t, exponent, out)
    assert_allclose(out, t**exponent, rtol=1e-14)
    integer_power(t, exponent, t)
    assert_array_equal(t, out)


def test_every_function_is_offered():
    offered = {name for name, value in vars(expression).items() if inspect.isfunction(value)}
    in_slopes_only = {Function.STEP, Function.HALF_RECIPROCAL}
    wanted = {*Function} - in_slopes_only - {Function.NEGATIVE}
    assert {function.value for function in wanted} <= offered
