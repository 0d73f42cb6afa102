"""Pieces of C: numbers, tables, identifiers and the formula of a kernel."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kernelet.kernels import Kernel

_WIDTH = 96


@dataclass(frozen=True)
class Real:
    """The floating-point type that everything is computed in.

    Attributes
    ----------
    name : str
        C's name of the type.
    dtype : dtype
        NumPy's.
    suffix : str
        That of constants and of the functions of math.h.
    """

    name: str
    dtype: np.dtype[Any]
    suffix: str

    def constant(self, number: float) -> str:
        """A number with as many digits as it takes to read the same again."""
        text = str(self.dtype.type(number)) if self.suffix else repr(float(number))
        return f"{text}{self.suffix}"

    def function(self, name: str) -> str:
        """The function of math.h for this type."""
        return f"{name}{self.suffix}"


REALS = {
    "float32": Real("float", np.dtype(np.float32), "f"),
    "float64": Real("double", np.dtype(np.float64), ""),
}


def identifier(text: str) -> str:
    """A name that C accepts, made of a file's name."""
    # no word of C ends in _predict or the like, so none is in the way
    name = re.sub(r"\W", "_", text, flags=re.ASCII).strip("_") or "machine"
    return f"machine_{name}" if name[0].isdigit() else name


def quoted(text: str) -> str:
    """A string literal; what is not plain ASCII goes in as octal bytes of UTF-8."""
    # '?' too: two of them begin a trigraph
    plain = set(range(32, 127)) - set(b'"\\?')
    return '"' + "".join(chr(b) if b in plain else f"\\{b:03o}" for b in text.encode()) + '"'


def comment(text: str) -> str:
    """A text that cannot end the comment that it stands in."""
    return text.replace("*/", "* /").replace("/*", "/ *").replace("\n", " ")


def table(declaration: str, rows: Sequence[Sequence[str]] | Sequence[str]) -> list[str]:
    """Lines of ``declaration = {...};`` for one- or two-dimensional content."""
    nested = bool(rows) and not isinstance(rows[0], str)
    lines = [f"{declaration} = {{"]
    for row in rows if nested else [rows]:
        filled = _filled([str(item) for item in row], 8 if nested else 4)
        lines += ["    {", *filled, "    },"] if nested else filled
    return [*lines, "};"]


def numbers(array: NDArray[Any], real: Real) -> list[Any]:
    """Constants of a one- or two-dimensional array."""
    if array.ndim == 1:
        return [real.constant(number) for number in array]
    return [[real.constant(number) for number in row] for row in array]


def _filled(items: list[str], indent: int) -> list[str]:
    lines, line = [], " " * indent
    for item in items:
        if len(line) + len(item) + 2 > _WIDTH and line.strip():
            lines.append(line.rstrip())
            line = " " * indent
        line += f"{item}, "
    return [*lines, line.rstrip()]


# What is summed over the features, by the name of the variable.
_SUMS = {
    "squared": "difference * difference",
    "taxicab": "{fabs}(difference)",
    "product": "x[i] * z[i]",
}


def kernel_function(kernel: Kernel, real: Real, prefix: str) -> list[str]:
    """Lines of ``static real kernel(const real *x, const real *z)``.

    All sums over the features that the kernel, or the parts it is made of, need are taken in one
    loop. Distances are sums over differences, which keeps their digits far from the origin.
    """
    formula = _Formula(real)
    value = formula.of(kernel.specification())
    used = [name for name in _SUMS if name in formula.sums]
    lines = [f"static {real.name} kernel(const {real.name} *x, const {real.name} *z)", "{"]
    lines += [f"    {real.name} {name} = {real.constant(0.0)};" for name in used]
    lines += ["    int i;", "", f"    for (i = 0; i < {prefix}_FEATURES; i++) {{"]
    if "squared" in used or "taxicab" in used:
        lines.append(f"        const {real.name} difference = x[i] - z[i];")
    for name in used:
        lines.append(f"        {name} += {_SUMS[name].format(fabs=real.function('fabs'))};")
    lines += ["    }", f"    return {value};", "}"]
    return [*formula.helpers.values(), *lines] if formula.helpers else lines


class _Formula:
    """The value of a kernel as an expression in the sums, and the functions that it calls."""

    def __init__(self, real: Real) -> None:
        self.real = real
        self.sums: set[str] = set()
        self.helpers: dict[str, str] = {}

    def of(self, part: Mapping[str, Any]) -> str:
        made: str = getattr(self, f"_{part['name']}")(part)
        return made

    def _sum_over(self, name: str, factor: float) -> str:
        self.sums.add(name)
        return f"{self.real.constant(factor)} * {name}"

    def _call(self, function: str, argument: str) -> str:
        return f"{self.real.function(function)}({argument})"

    def _helper(self, name: str, body: str) -> None:
        real = self.real.name
        self.helpers[name] = f"static {real} {name}({real} r)\n{{\n    return {body};\n}}\n"

    def _rbf(self, part: Mapping[str, Any]) -> str:
        return self._call("exp", self._sum_over("squared", -part["gamma"]))

    def _exponential(self, part: Mapping[str, Any]) -> str:
        root = self._call("sqrt", self._sum_over("squared", 2.0 * part["gamma"]))
        return self._call("exp", f"-{root}")

    def _matern32(self, part: Mapping[str, Any]) -> str:
        one = self.real.constant(1.0)
        self._helper("matern32", f"({one} + r) * {self._call('exp', '-r')}")
        return f"matern32({self._call('sqrt', self._sum_over('squared', 6.0 * part['gamma']))})"

    def _matern52(self, part: Mapping[str, Any]) -> str:
        one, three = self.real.constant(1.0), self.real.constant(3.0)
        self._helper("matern52", f"({one} + r + r * r / {three}) * {self._call('exp', '-r')}")
        return f"matern52({self._call('sqrt', self._sum_over('squared', 10.0 * part['gamma']))})"

    def _rational_quadratic(self, part: Mapping[str, Any]) -> str:
        scaled = self._sum_over("squared", part["gamma"] / part["alpha"])
        power = f"{self.real.constant(-part['alpha'])} * {self._call('log1p', scaled)}"
        return self._call("exp", power)

    def _laplacian(self, part: Mapping[str, Any]) -> str:
        return self._call("exp", self._sum_over("taxicab", -part["gamma"]))

    def _linear(self, part: Mapping[str, Any]) -> str:
        self.sums.add("product")
        return "product"

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
