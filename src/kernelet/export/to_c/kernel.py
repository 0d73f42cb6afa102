"""The formula of a kernel, in C."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from kernelet.export.to_c.pieces import Real
from kernelet.kernels import Kernel

# What is summed over the features, its operations, and the power of the scales that it goes with.
_SUMS = {
    "squared": ("{a} * {a}", 2, 2),
    "taxicab": ("{fabs}({a})", 2, 1),
    "product": ("x[{i}] * z[{i}]", 2, 2),
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
        formula = _Formula(real)
        value = formula.of(kernel.specification())
        used = sorted(formula.sums.values(), key=lambda part: part.order)
        has_difference = any(part.kind != "product" for part in used)
        zero = real.constant(0.0)
        lines = [_LANES, f"static {real.name} kernel(const {real.name} *x, const {real.name} *z)"]
        lines += ["{"]
        lines += [f"    {real.name} {s.name}, {s.name}_lanes[LANES] = {{ {zero} }};" for s in used]
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
        lines += ["    }", f"    return {value};", "}", ""]
        self.lines = [*formula.helpers.values(), *lines]
        self.tables = [real.table(name, np.array(w)) for w, name in formula.weights.items()]
        self.arithmetic = sum(part.operations for part in used) + has_difference
        self.calls = formula.calls


@dataclass(frozen=True)
class _Sum:
    """A variable that sums over the features; ``weights`` names a table of factors, or nothing."""

    kind: str
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


class _Formula:
    """The value of a kernel as an expression in the sums, and the functions that it calls."""

    def __init__(self, real: Real) -> None:
        self.real = real
        self.scales: tuple[float, ...] = ()  # of the features, inside a part that scales them
        self.sums: dict[tuple[str, tuple[float, ...]], _Sum] = {}
        self.weights: dict[tuple[float, ...], str] = {}
        self.helpers: dict[str, str] = {}
        self.calls = 0

    def of(self, part: Mapping[str, Any]) -> str:
        formula = getattr(self, f"_{part['name']}", None)
        if formula is None:
            raise ValueError(
                f"the kernel {part['name']!r} has no formula in C; one belongs into "
                "kernelet/export/to_c/kernel.py."
            )
        made: str = formula(part)
        return made

    def _variable(self, kind: str) -> str:
        """That of a sum over the features, as they are scaled here."""
        key, weights = (kind, self.scales), ""
        if key not in self.sums:
            if self.scales:
                powers = tuple(scale ** _SUMS[kind][2] for scale in self.scales)
                weights = self.weights.setdefault(powers, _numbered("weights", len(self.weights)))
            name = _numbered(kind, sum(other == kind for other, _ in self.sums))
            self.sums[key] = _Sum(kind, name, weights)
        return self.sums[key].name

    def _sum_over(self, kind: str, factor: float) -> str:
        return f"{self.real.constant(factor)} * {self._variable(kind)}"

    def _call(self, function: str, argument: str) -> str:
        self.calls += 1
        return f"{self.real.function(function)}({argument})"

    def _matern(self, name: str, factor: float, polynomial: str) -> str:
        """polynomial(r) exp(-r), 0 even where r has overflowed."""
        real, zero = self.real.name, self.real.constant(0.0)
        self.helpers[name] = (
            f"static {real} {name}({real} r)\n{{\n"
            f"    const {real} decay = {self._call('exp', '-r')};\n\n"
            f"    return decay == {zero} ? {zero} : ({polynomial}) * decay;\n}}\n"
        )
        return f"{name}({self._call('sqrt', self._sum_over('squared', factor))})"

    def _rbf(self, part: Mapping[str, Any]) -> str:
        return self._call("exp", self._sum_over("squared", -part["gamma"]))

    def _exponential(self, part: Mapping[str, Any]) -> str:
        root = self._call("sqrt", self._sum_over("squared", 2.0 * part["gamma"]))
        return self._call("exp", f"-{root}")

    def _matern32(self, part: Mapping[str, Any]) -> str:
        return self._matern("matern32", 6.0 * part["gamma"], f"{self.real.constant(1.0)} + r")

    def _matern52(self, part: Mapping[str, Any]) -> str:
        one, three = self.real.constant(1.0), self.real.constant(3.0)
        return self._matern("matern52", 10.0 * part["gamma"], f"{one} + r + r * r / {three}")

    def _rational_quadratic(self, part: Mapping[str, Any]) -> str:
        scaled = self._sum_over("squared", part["gamma"] / part["alpha"])
        power = f"{self.real.constant(-part['alpha'])} * {self._call('log1p', scaled)}"
        return self._call("exp", power)

    def _laplacian(self, part: Mapping[str, Any]) -> str:
        return self._call("exp", self._sum_over("taxicab", -part["gamma"]))

    def _linear(self, part: Mapping[str, Any]) -> str:
        return self._variable("product")

    def _affine(self, part: Mapping[str, Any]) -> str:
        scaled = self._sum_over("product", part["gamma"])
        return f"{scaled} + {self.real.constant(part['coef0'])}"

    def _poly(self, part: Mapping[str, Any]) -> str:
        real, one = self.real.name, self.real.constant(1.0)
        self.helpers["integer_power"] = (
            f"static {real} integer_power({real} base, int exponent)\n{{\n"
            f"    {real} power = {one};\n\n"
            "    for (; exponent > 0; exponent /= 2) {\n"
            "        if (exponent % 2 == 1)\n            power *= base;\n"
            "        base *= base;\n    }\n    return power;\n}\n"
        )
        return f"integer_power({self._affine(part)}, {int(part['degree'])})"

    def _sigmoid(self, part: Mapping[str, Any]) -> str:
        return self._call("tanh", self._affine(part))

    def _sum(self, part: Mapping[str, Any]) -> str:
        return "(" + " + ".join(self.of(term) for term in part["terms"]) + ")"

    def _product(self, part: Mapping[str, Any]) -> str:
        return " * ".join(f"({self.of(factor)})" for factor in part["factors"])

    def _scaled(self, part: Mapping[str, Any]) -> str:
        return f"{self.real.constant(part['factor'])} * ({self.of(part['kernel'])})"

    def _scaled_features(self, part: Mapping[str, Any]) -> str:
        outside = self.scales
        inside = outside or (1.0,) * len(part["scales"])
        self.scales = tuple(a * b for a, b in zip(inside, part["scales"], strict=True))
        value = self.of(part["kernel"])
        self.scales = outside
        return value


def _numbered(name: str, before: int) -> str:
    return f"{name}_{before + 1}" if before else name
