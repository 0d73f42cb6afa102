"""The formula of a kernel, in C."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

import numpy as np

from kernelet.export.to_c.pieces import Real
from kernelet.kernels import Kernel
from kernelet.kernels.expression import (
    Call,
    Constant,
    Expression,
    FeatureSum,
    Function,
    Operation,
    Operator,
    SumOverFeatures,
    ordered,
)

# What is summed over the features, its operations, and the power of the scales that it goes with.
_SUMS = {
    FeatureSum.SQUARED: ("{a} * {a}", 2, 2),
    FeatureSum.TAXICAB: ("{fabs}({a})", 2, 1),
    FeatureSum.PRODUCT: ("x[{i}] * z[{i}]", 2, 2),
}
# gcc and clang compile four sums side by side to one instruction; without such an instruction the
# sums would only be stored and loaded. Two features at a time halve the instructions of the loop
# itself.
_LANES = """\
/* Sums are taken side by side where the processor adds four numbers at once. */
#if defined(__SSE2__) || defined(__ARM_NEON)
enum { LANES = 4 };
#else
enum { LANES = 1 };
#endif
"""
_INTEGER_POWER = """\
static {real} integer_power({real} base, int exponent)
{{
    {real} power = {one};

    for (; exponent > 0; exponent /= 2) {{
        if (exponent % 2 == 1)
            power *= base;
        base *= base;
    }}
    return power;
}}
"""


class KernelSource:
    """``static real kernel(const real *x, const real *z)``, and what a call of it costs.

    All sums over the features that the kernel, or the parts it is made of, need are taken in one
    loop. Distances are sums over differences, which keeps their digits far from the origin.

    Parameters
    ----------
    kernel : Kernel
    real : Real
    length : str
        The constant that is the number of features.

    Attributes
    ----------
    lines : list of str
    tables : list of Table
        Factors of the features, where the kernel scales them.
    arithmetic : int
        Additions, subtractions and multiplications for one feature.
    calls : int
        Of functions of math.h.
    """

    def __init__(self, kernel: Kernel, real: Real, length: str) -> None:
        formula = _Formula(kernel.expression(), real)
        used = sorted(formula.sums.values(), key=lambda part: part.order)
        has_difference = any(part.kind is not FeatureSum.PRODUCT for part in used)
        zero = real.constant(0.0)
        lines = [_LANES, f"static {real.name} kernel(const {real.name} *x, const {real.name} *z)"]
        lines += ["{"]
        lines += [f"    {real.name} {s.name}, {s.name}_lanes[LANES] = {{ {zero} }};" for s in used]
        if formula.steps:
            lines += [f"    {real.name} {', '.join(name for name, _ in formula.steps)};"]
        lines += ["    int i, lane;", ""]
        lines += [f"    for (i = 0; i + 2 * LANES <= {length}; i += 2 * LANES) {{"]
        lines += ["        for (lane = 0; lane < LANES; lane++) {"]
        lines += ["            const int p = i + lane, q = p + LANES;", ""]
        if has_difference:
            lines[-1] = f"            const {real.name} a = x[p] - z[p], b = x[q] - z[q];"
            lines.append("")
        for part in used:
            both = f"{part.term(real, 'a', 'p')} + {part.term(real, 'b', 'q')}"
            lines.append(f"            {part.name}_lanes[lane] += {both};")
        lines += ["        }", "    }"]
        lines += [f"    {part.name} = {part.name}_lanes[0];" for part in used]
        lines += ["    for (lane = 1; lane < LANES; lane++) {"]
        lines += [f"        {part.name} += {part.name}_lanes[lane];" for part in used]
        lines += ["    }", f"    for (; i < {length}; i++) {{"]
        if has_difference:
            lines += [f"        const {real.name} a = x[i] - z[i];", ""]
        lines += [f"        {part.name} += {part.term(real, 'a', 'i')};" for part in used]
        lines += ["    }", *(f"    {name} = {value};" for name, value in formula.steps)]
        lines += [f"    return {formula.value};", "}", ""]
        one = real.constant(1.0)
        helper = [_INTEGER_POWER.format(real=real.name, one=one)] if formula.has_powers else []
        self.lines = [*helper, *lines]
        self.tables = [real.table(name, np.array(w)) for w, name in formula.weights.items()]
        self.arithmetic = sum(part.operations for part in used) + has_difference
        self.calls = formula.calls


@dataclass(frozen=True)
class _Sum:
    """A variable that sums over the features; ``weights`` names a table of factors, or nothing."""

    kind: FeatureSum
    name: str
    weights: str

    @property
    def order(self) -> tuple[int, str]:
        return list(_SUMS).index(self.kind), self.name

    @property
    def operations(self) -> int:
        return _SUMS[self.kind][1] + bool(self.weights)

    def term(self, real: Real, difference: str, index: str) -> str:
        plain = _SUMS[self.kind][0].format(fabs=real.function("fabs"), a=difference, i=index)
        return f"{self.weights}[{index}] * {plain}" if self.weights else plain


# How tightly operators bind: text that binds less than what surrounds it stands in parentheses.
_CHOICE, _SUM, _PRODUCT, _SIGN, _ATOM = range(5)
_SYMBOLS = {
    Operator.ADD: (" + ", _SUM),
    Operator.SUBTRACT: (" - ", _SUM),
    Operator.MULTIPLY: (" * ", _PRODUCT),
    Operator.DIVIDE: (" / ", _PRODUCT),
}


class _Formula:
    """An expression in C: sums to take first, then steps, then the value.

    Attributes
    ----------
    sums : dict of _Sum
    weights : dict of str
        Names of tables, by their content.
    steps : list of (name, value)
        What is used more than once.
    value : str
    calls : int
        Of functions of math.h.
    has_powers : bool
        Whether ``integer_power`` is called.
    """

    def __init__(self, expression: Expression, real: Real) -> None:
        self.real = real
        self.sums: dict[tuple[FeatureSum, tuple[float, ...]], _Sum] = {}
        self.weights: dict[tuple[float, ...], str] = {}
        self.steps: list[tuple[str, str]] = []
        self.calls = 0
        self.has_powers = False
        self._texts: dict[Expression, tuple[str, int]] = {}
        nodes = ordered(expression)
        uses = Counter(operand for node in nodes for operand in _used(node))
        for node in nodes:
            text, binding = self._rendered(node)
            if uses[node] > 1 and isinstance(node, Call | Operation):
                name = f"t{len(self.steps) + 1}"
                self.steps.append((name, text))
                text, binding = name, _ATOM
            self._texts[node] = text, binding
        self.value = self._texts[expression][0]

    def _rendered(self, node: Expression) -> tuple[str, int]:
        if isinstance(node, Constant):
            return self.real.constant(node.value), _SIGN if node.value < 0.0 else _ATOM
        if isinstance(node, SumOverFeatures):
            return self._variable(node), _ATOM
        zero = self.real.constant(0.0)
        if isinstance(node, Call):
            if node.function is Function.NEGATIVE:
                return f"-{self._bound(node.argument, _ATOM)}", _SIGN
            argument = self._bound(node.argument, _CHOICE)
            if node.function is Function.POSITIVE_PART:
                return f"{argument} < {zero} ? {zero} : {argument}", _CHOICE  # NaN stays
            return self._call(node.function.value, argument), _ATOM
        assert isinstance(node, Operation)
        if node.operator is Operator.POWER:
            base = self._bound(node.left, _CHOICE)
            if node.integer_exponent:
                self.has_powers = True
                return f"integer_power({base}, {node.integer_exponent})", _ATOM
            return self._call("pow", f"{base}, {self._bound(node.right, _CHOICE)}"), _ATOM
        if node.operator is Operator.DAMP:
            decay = self._bound(node.right, _ATOM)
            product = f"{self._bound(node.left, _PRODUCT)} * {decay}"
            return f"{decay} == {zero} ? {zero} : {product}", _CHOICE
        symbol, binding = _SYMBOLS[node.operator]
        left = self._bound(node.left, binding)
        # a + (b + c) is not (a + b) + c after rounding
        return f"{left}{symbol}{self._bound(node.right, binding + 1)}", binding

    def _bound(self, node: Expression, least: int) -> str:
        text, binding = self._texts[node]
        return text if binding >= least else f"({text})"

    def _call(self, function: str, arguments: str) -> str:
        self.calls += 1
        return f"{self.real.function(function)}({arguments})"

    def _variable(self, node: SumOverFeatures) -> str:
        """That of a sum over the features, as they are scaled here."""
        key, weights = (node.kind, node.scales), ""
        if key not in self.sums:
            if node.scales:
                powers = tuple(scale ** _SUMS[node.kind][2] for scale in node.scales)
                weights = self.weights.setdefault(powers, _numbered("weights", len(self.weights)))
            before = sum(kind is node.kind for kind, _ in self.sums)
            self.sums[key] = _Sum(node.kind, _numbered(node.kind.value, before), weights)
        return self.sums[key].name


def _used(node: Expression) -> tuple[Expression, ...]:
    """Operands, as often as C names them."""
    if isinstance(node, Call) and node.function is Function.POSITIVE_PART:
        return node.operands * 2
    if isinstance(node, Operation) and node.operator is Operator.DAMP:
        return (node.left, node.right, node.right)
    return node.operands


def _numbered(name: str, before: int) -> str:
    return f"{name}_{before + 1}" if before else name
