"""Kernels that somebody registers in a package of their own; tests of the contract find them."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import references
from kernelet.kernels import DotKernel, RadialKernel, register_kernel
from kernelet.kernels.expression import Expression, exp, positive_part, sqrt
from kernelet.kernels.parameters import finite


@register_kernel
@dataclass(frozen=True)
class Wendland(RadialKernel):
    """(1 - r)^4 (1 + 4 r), 0 beyond r = 1, r = sqrt(gamma) |x - z|; for up to three features."""

    gamma: float = 0.2

    name = "wendland"

    def formula(self, t: Expression) -> Expression:
        r = sqrt(t)
        return positive_part(1.0 - r) ** 4 * (1.0 + 4.0 * r)


@register_kernel
@dataclass(frozen=True)
class Matern72(RadialKernel):
    """(1 + r + 2/5 r^2 + r^3 / 15) exp(-r), r = sqrt(14 gamma stretch) |x - z|."""

    gamma: float = 0.3
    stretch: float = 0.5

    # a name that every object of JavaScript has
    name = "constructor"

    @property
    def factor(self) -> float:
        return 14.0 * self.gamma * self.stretch

    def formula(self, t: Expression) -> Expression:
        r = sqrt(t)
        return (1.0 + r + 0.4 * t + t * r / 15.0) * exp(-r)


@register_kernel
@dataclass(frozen=True)
class Softsign(DotKernel):
    """t / sqrt(1 + t^2), t = gamma x'z + coef0."""

    gamma: float = 0.7
    coef0: float = -0.3

    name = "softsign"
    is_positive_definite = False
    checks: ClassVar = {"coef0": finite}

    @property
    def scale_and_shift(self) -> tuple[float, float]:
        return self.gamma, self.coef0

    def formula(self, t: Expression) -> Expression:
        return t / sqrt(1.0 + t * t)


OWN = [Wendland, Matern72, Softsign]


def _wendland(kernel, x, z):
    r = math.sqrt(kernel.gamma * references.squared_distance(x, z))
    return (1.0 - r) ** 4 * (1.0 + 4.0 * r) if r < 1.0 else 0.0


def _matern72(kernel, x, z):
    r = math.sqrt(14.0 * kernel.gamma * kernel.stretch * references.squared_distance(x, z))
    return (1.0 + r + 2.0 / 5.0 * r**2 + r**3 / 15.0) * math.exp(-r)


def _softsign(kernel, x, z):
    t = kernel.gamma * references.inner_product(x, z) + kernel.coef0
    return t / math.hypot(1.0, t)


references.VALUES |= {"wendland": _wendland, "constructor": _matern72, "softsign": _softsign}
