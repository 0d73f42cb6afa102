"""Derivatives of formulas."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import lru_cache

from kernelet.kernels.expression import (
    Argument,
    Call,
    Constant,
    Expression,
    Function,
    Operation,
    Operator,
)


@lru_cache(maxsize=256)
def derivative(expression: Expression) -> Expression:
    """The derivative in t.

    Examples
    --------
    >>> from kernelet.kernels.expression import exp
    >>> t = Argument()
    >>> derivative(exp(t)) == exp(t)
    True
    >>> derivative(2.0 * t**3) == 2.0 * (3.0 * t**2)
    True
    """
    if isinstance(expression, Argument):
        return Constant(1.0)
    if isinstance(expression, Call):
        return _CHAIN_RULE[expression.function](expression) * derivative(expression.argument)
    if not isinstance(expression, Operation):
        return Constant(0.0)
    left, right = expression.operands
    if expression.operator is Operator.POWER:
        assert isinstance(right, Constant)
        return right * left ** (right.value - 1.0) * derivative(left)
    by_left, by_right = derivative(left), derivative(right)
    if expression.operator is Operator.ADD:
        return by_left + by_right
    if expression.operator is Operator.SUBTRACT:
        return by_left - by_right
    if expression.operator is Operator.DIVIDE:
        return by_left / right - expression * by_right / right
    return by_left * right + left * by_right


_CHAIN_RULE: Mapping[Function, Callable[[Call], Expression]] = {
    Function.NEGATIVE: lambda call: Constant(-1.0),
    Function.EXP: lambda call: call,
    Function.LOG1P: lambda call: 1.0 / (1.0 + call.argument),
    Function.SQRT: lambda call: Call(Function.HALF_RECIPROCAL, call),
    Function.TANH: lambda call: 1.0 - call * call,
    Function.POSITIVE_PART: lambda call: Call(Function.STEP, call.argument),
}
