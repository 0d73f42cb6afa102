"""Formulas evaluated by NumPy in place, with as few passes and arrays as code written by hand."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import TypeAlias

import numpy as np

from kernelet.kernels.expression import (
    Argument,
    Call,
    Constant,
    Expression,
    Function,
    Operation,
    Operator,
    ordered,
)
from kernelet.kernels.numerics.arrays import FloatArray

_Compute: TypeAlias = Callable[..., object]


def integer_power(t: FloatArray, exponent: int, out: FloatArray) -> None:
    """t ** exponent by repeated squaring; np.power calls pow, which is many times slower."""
    square, power = t, None
    while exponent > 1:
        if exponent & 1:
            power = square if power is None else power * square
        square = square * square
        exponent >>= 1
    np.multiply(square, 1.0 if power is None else power, out=out)


def _half_reciprocal(x: FloatArray, out: FloatArray) -> None:
    if out is not x:
        out[...] = x
    np.divide(0.5, out, out=out, where=out != 0.0)


_FUNCTIONS: Mapping[Function, _Compute] = {
    Function.NEGATIVE: np.negative,
    Function.EXP: np.exp,
    Function.LOG1P: np.log1p,
    Function.SQRT: np.sqrt,
    Function.TANH: np.tanh,
    Function.POSITIVE_PART: lambda x, out: np.maximum(x, 0.0, out=out),
    Function.STEP: lambda x, out: np.heaviside(x, 0.0, out=out),
    Function.HALF_RECIPROCAL: _half_reciprocal,
}
_OPERATORS: Mapping[Operator, _Compute] = {
    Operator.ADD: np.add,
    Operator.SUBTRACT: np.subtract,
    Operator.MULTIPLY: np.multiply,
    Operator.DIVIDE: np.divide,
    Operator.POWER: np.power,
    # t is finite (`SquaredDistances` ensures that), so infinity is never multiplied by 0
    Operator.DAMP: np.multiply,
}


class Program:
    """Overwrites t by a formula of t, and another array by a second formula if there is one.

    A node reuses the memory of an operand that nothing else needs, so that a formula without shared
    parts needs no extra memory.

    Parameters
    ----------
    outputs : Expression
        One or two formulas of `Argument`.
    """

    def __init__(self, *outputs: Expression) -> None:
        nodes = ordered(*outputs)
        last_use = {operand: place for place, node in enumerate(nodes) for operand in node.operands}
        last_use |= dict.fromkeys(outputs, len(nodes))
        # t comes first among the arrays, then the one of the second formula
        array_of: dict[Expression, int] = {Argument(): 0}
        free = {*range(len(outputs))} - ({0} if Argument() in nodes else set())
        self._n_arrays = len(outputs)
        self._steps: list[tuple[_Compute, tuple[int | float, ...], int]] = []
        for place, node in enumerate(nodes):
            compute = _compute(node)
            if compute is None:
                continue
            inputs = tuple(_operand(operand, array_of) for operand in node.operands)
            free |= {
                array_of[operand]
                for operand in node.operands
                if operand in array_of and last_use[operand] == place
            }
            target = self._target(node, outputs, free)
            free.discard(target)
            array_of[node] = target
            self._steps.append((compute, inputs, target))
        self._results = [_operand(output, array_of) for output in outputs]

    def _target(self, node: Expression, outputs: tuple[Expression, ...], free: set[int]) -> int:
        """Its own array for a result, otherwise any free one, otherwise a new one."""
        wanted = [place for place, output in enumerate(outputs) if output == node]
        for place in (*wanted, *sorted(free, reverse=True)):
            if place in free:
                return place
        self._n_arrays += 1
        return self._n_arrays - 1

    def __call__(self, *arrays: FloatArray) -> None:
        held = [*arrays]
        held += [np.empty_like(arrays[0]) for _ in range(self._n_arrays - len(arrays))]
        for compute, inputs, target in self._steps:
            compute(*[held[i] if type(i) is int else i for i in inputs], out=held[target])
        moved = [
            (arrays[place], held[result] if type(result) is int else result)
            for place, result in enumerate(self._results)
            if type(result) is not int or result != place
        ]
        if len(moved) == 2:  # one may lie where the other belongs
            moved[1] = arrays[1], np.array(moved[1][1])
        for array, result in moved:
            array[...] = result


def _compute(node: Expression) -> _Compute | None:
    """What a node does to arrays; None for one that is an array, or a number, already."""
    if isinstance(node, Call):
        return _FUNCTIONS[node.function]
    if not isinstance(node, Operation):
        return None
    if exponent := node.integer_exponent:
        return lambda base, _, out: integer_power(base, exponent, out)
    return _OPERATORS[node.operator]


def _operand(node: Expression, array_of: Mapping[Expression, int]) -> int | float:
    """The place of an array, or the number itself."""
    return node.value if isinstance(node, Constant) else array_of[node]


@lru_cache(maxsize=256)
def program(*outputs: Expression) -> Program:
    """The program of some formulas, made once.

    Examples
    --------
    >>> from kernelet.kernels.expression import exp
    >>> t = np.array([0.0, 1.0])
    >>> program(exp(-Argument()))(t)
    >>> t
    array([1.        , 0.36787944])
    """
    return Program(*outputs)
