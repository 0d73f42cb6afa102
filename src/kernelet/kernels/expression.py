"""Formulas as trees: a kernel states them once, and NumPy, C, ONNX and JavaScript evaluate them.

A kernel builds its formula with `+ - * / **` and the functions of this module. Evaluators go
through the nodes in the order of `ordered`, in which shared parts occur once.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import Enum
from typing import TypeAlias

_Number: TypeAlias = float | int


class FeatureSum(Enum):
    """The sums over the features f that kernels are functions of."""

    SQUARED = "squared"  # of (x_f - z_f)^2
    TAXICAB = "taxicab"  # of |x_f - z_f|
    PRODUCT = "product"  # of x_f z_f


class Function(Enum):
    """Functions of one argument."""

    NEGATIVE = "negative"
    EXP = "exp"
    LOG1P = "log1p"
    SQRT = "sqrt"
    TANH = "tanh"
    POSITIVE_PART = "positive_part"  # max(0, x)
    # These two are in slopes only, which no exporter writes.
    STEP = "step"  # 1 above 0, otherwise 0
    HALF_RECIPROCAL = "half_reciprocal"  # 1 / (2 x), and 0 at 0


class Operator(Enum):
    """Operators of two arguments."""

    ADD = "add"
    SUBTRACT = "subtract"
    MULTIPLY = "multiply"
    DIVIDE = "divide"
    POWER = "power"  # the right one is a constant
    DAMP = "damp"  # the product, but 0 wherever the right one is, also if the left is infinite


@dataclass(frozen=True)
class Expression:
    """A node of a formula; all operations also take numbers as constants."""

    # A NumPy scalar leaves the operation to the expression, and np.exp of one is an error.
    __array_ufunc__ = None

    @property
    def operands(self) -> tuple[Expression, ...]:
        return ()

    def __neg__(self) -> Expression:
        if isinstance(self, Constant):
            return Constant(-self.value)
        if isinstance(self, Call) and self.function is Function.NEGATIVE:
            return self.argument
        if (
            isinstance(self, Operation)
            and self.operator is Operator.MULTIPLY
            and isinstance(self.left, Constant)
        ):
            return Operation(Operator.MULTIPLY, -self.left, self.right)
        return Call(Function.NEGATIVE, self)

    def __add__(self, other: Expression | _Number) -> Expression:
        return _folded(Operator.ADD, self, _node(other))

    def __radd__(self, other: _Number) -> Expression:
        return _folded(Operator.ADD, Constant(other), self)

    def __sub__(self, other: Expression | _Number) -> Expression:
        return _folded(Operator.SUBTRACT, self, _node(other))

    def __rsub__(self, other: _Number) -> Expression:
        return _folded(Operator.SUBTRACT, Constant(other), self)

    def __mul__(self, other: Expression | _Number) -> Expression:
        return _times(self, _node(other))

    def __rmul__(self, other: _Number) -> Expression:
        return _times(Constant(other), self)

    def __truediv__(self, other: Expression | _Number) -> Expression:
        return _folded(Operator.DIVIDE, self, _node(other))

    def __rtruediv__(self, other: _Number) -> Expression:
        return _folded(Operator.DIVIDE, Constant(other), self)

    def __pow__(self, exponent: _Number) -> Expression:
        return _folded(Operator.POWER, self, Constant(exponent))


@dataclass(frozen=True)
class Constant(Expression):
    """A number."""

    value: float

    def __post_init__(self) -> None:
        if not math.isfinite(self.value):
            raise ValueError(f"a constant of a formula must be finite, got {self.value!r}.")
        object.__setattr__(self, "value", float(self.value))


@dataclass(frozen=True)
class Argument(Expression):
    """t, the argument of a kernel's profile."""


@dataclass(frozen=True)
class SumOverFeatures(Expression):
    """One of the three sums, in which x_f and z_f are multiplied by scales.

    Attributes
    ----------
    kind : FeatureSum
    scales : tuple of float
        One for each feature; empty means 1 for all.
    sensitivity : float
        About how much the kernel changes with the sum, at most; infinite if it is steep at 0. It
        says how many digits of a sum matter.
    """

    kind: FeatureSum
    scales: tuple[float, ...] = ()
    sensitivity: float = math.inf


@dataclass(frozen=True)
class Call(Expression):
    """A function of an expression."""

    function: Function
    argument: Expression

    @property
    def operands(self) -> tuple[Expression, ...]:
        return (self.argument,)


@dataclass(frozen=True)
class Operation(Expression):
    """Two expressions joined by an operator."""

    operator: Operator
    left: Expression
    right: Expression

    @property
    def operands(self) -> tuple[Expression, ...]:
        return self.left, self.right

    @property
    def integer_exponent(self) -> int:
        """The exponent of a power, if it is a whole number above 0; 0 for everything else."""
        if self.operator is Operator.POWER and isinstance(self.right, Constant):
            exponent = self.right.value
            return int(exponent) if exponent > 0.0 and exponent.is_integer() else 0
        return 0


def exp(x: Expression) -> Expression:
    """e^x. A product with it is 0 wherever e^x is 0, however large the other factor is."""
    return Call(Function.EXP, x)


def log1p(x: Expression) -> Expression:
    """log(1 + x)."""
    return Call(Function.LOG1P, x)


def sqrt(x: Expression) -> Expression:
    """The square root; its slope at 0 counts as 0, the mean over all directions of x - z."""
    return Call(Function.SQRT, x)


def tanh(x: Expression) -> Expression:
    """The hyperbolic tangent."""
    return Call(Function.TANH, x)


def positive_part(x: Expression) -> Expression:
    """max(0, x), for kernels that are 0 beyond some distance. A product with it is 0 there too."""
    return Call(Function.POSITIVE_PART, x)


def ordered(*roots: Expression) -> list[Expression]:
    """The nodes of some expressions, each once, operands before the nodes that use them.

    Examples
    --------
    >>> r = sqrt(Argument())
    >>> [type(node).__name__ for node in ordered((1.0 + r) * exp(-r))]
    ['Constant', 'Argument', 'Call', 'Operation', 'Call', 'Call', 'Operation']
    """
    found: dict[Expression, None] = {}

    def visit(node: Expression) -> None:
        if node not in found:
            for operand in node.operands:
                visit(operand)
            found[node] = None

    for root in roots:
        visit(root)
    return list(found)


def steps(expression: Expression) -> list[list[str | float]]:
    """A formula as plain data: steps that name an operation and the indices of earlier steps.

    Examples
    --------
    >>> steps(exp(-0.5 * SumOverFeatures(FeatureSum.SQUARED)))
    [['constant', -0.5], ['squared'], ['multiply', 0, 1], ['exp', 2]]
    """
    nodes = ordered(expression)
    places = {node: place for place, node in enumerate(nodes)}
    listed: list[list[str | float]] = []
    for node in nodes:
        inputs = [places[operand] for operand in node.operands]
        if isinstance(node, Constant):
            listed.append(["constant", node.value])
        elif isinstance(node, SumOverFeatures):
            listed.append([node.kind.value])
        elif isinstance(node, Call):
            listed.append([node.function.value, *inputs])
        else:
            assert isinstance(node, Operation)
            listed.append([node.operator.value, *inputs])
    return listed


def _node(value: Expression | _Number) -> Expression:
    return value if isinstance(value, Expression) else Constant(value)


# The value for two constants, and the right operand that leaves the left one unchanged.
_ARITHMETIC: Mapping[Operator, tuple[Callable[[float, float], float], float]] = {
    Operator.ADD: (operator.add, 0.0),
    Operator.SUBTRACT: (operator.sub, 0.0),
    Operator.MULTIPLY: (operator.mul, 1.0),
    Operator.DIVIDE: (operator.truediv, 1.0),
    Operator.POWER: (operator.pow, 1.0),
}


def _folded(kind: Operator, left: Expression, right: Expression) -> Expression:
    """An operation, without those on constants and those that change nothing."""
    if isinstance(right, Constant):
        compute, neutral = _ARITHMETIC[kind]
        if isinstance(left, Constant):
            return Constant(compute(left.value, right.value))
        if right.value == neutral:
            return left
    elif isinstance(left, Constant) and left.value == 0.0:
        if kind is Operator.ADD:
            return right
        return -right if kind is Operator.SUBTRACT else left
    return Operation(kind, left, right)


def _times(left: Expression, right: Expression) -> Expression:
    """A product; if a factor vanishes far away, the product does too."""
    if isinstance(left, Constant):
        if left.value == 1.0:
            return right
        if left.value == -1.0 and not isinstance(right, Constant):
            return -right
        return _folded(Operator.MULTIPLY, left, right)
    if isinstance(right, Constant):
        if right.value in (0.0, -1.0):
            return _times(right, left)
        return _folded(Operator.MULTIPLY, left, right)
    if _vanishes(right):
        return Operation(Operator.DAMP, left, right)
    if _vanishes(left):
        return Operation(Operator.DAMP, right, left)
    return Operation(Operator.MULTIPLY, left, right)


def _vanishes(node: Expression) -> bool:
    """Whether it may be 0 if the argument of a kernel is infinite."""
    if isinstance(node, Operation):
        return node.integer_exponent > 0 and _vanishes(node.left)
    return isinstance(node, Call) and node.function in (Function.EXP, Function.POSITIVE_PART)
