"""Radial kernels: functions of the distance |x - z|.

In all of them `gamma` = 1 / (2 l^2) with the length scale l, so that one `gamma` means the same
length scale for every kernel, and `gamma="scale"` is a fair start for each.
"""

from __future__ import annotations

from abc import ABC
from dataclasses import dataclass
from typing import final

import numpy as np

from kernelet.kernels.expression import Expression, FeatureSum, exp, log1p, sqrt
from kernelet.kernels.numerics.arrays import FloatArray
from kernelet.kernels.numerics.distances import SquaredDistances
from kernelet.kernels.profile import DistanceKernel, Form
from kernelet.kernels.registry import register_kernel


class RadialKernel(DistanceKernel, ABC):
    r"""k(x, z) = profile(t) with t = factor \|x - z\|^2.

    A leaf is a frozen dataclass with a `gamma`, a `name` and a `formula`; see `register_kernel`.

    Attributes
    ----------
    gamma : float
        1 / (2 l^2), l the width.
    factor : float
        A multiple of gamma; gamma itself by default.
    is_smooth : bool
        Whether the slope of the profile is finite at t = 0, as it is by default.
    """

    gamma: float
    feature_sum = FeatureSum.SQUARED

    @property
    def factor(self) -> float:
        return self.gamma

    @final
    def form(self, Z: FloatArray) -> Form:
        return SquaredDistances(Z, self.factor, steep=not self.is_smooth)


@final
@register_kernel
@dataclass(frozen=True)
class Gaussian(RadialKernel):
    r"""The Gaussian kernel, scikit-learn's "rbf".

    .. math:: k(x, z) = \exp\bigl(-\gamma \|x - z\|^2\bigr)

    Parameters
    ----------
    gamma : float, default=1.0
        1 / (2 l^2).

    Examples
    --------
    >>> from kernelet.kernels import Gaussian
    >>> Gaussian(gamma=0.5)([[0.0, 0.0]], [[1.0, 1.0], [0.0, 2.0]])
    array([[0.36787944, 0.13533528]])
    """

    gamma: float = 1.0

    name = "rbf"

    @property
    def factor(self) -> float:
        return -self.gamma

    def formula(self, t: Expression) -> Expression:
        return exp(t)

    # Written out for speed: searches make a kernel at every step, and would look up its program.
    slope_is_value = True

    def profile(self, t: FloatArray) -> None:
        np.exp(t, out=t)

    def profile_and_slope(self, t: FloatArray, slope: FloatArray) -> None:
        np.exp(t, out=t)


@final
@register_kernel
@dataclass(frozen=True)
class Exponential(RadialKernel):
    r"""The exponential kernel, Matérn 1/2.

    .. math:: k(x, z) = e^{-r}, \qquad r = \sqrt{2 \gamma}\, \|x - z\|

    It has a cusp at x = z: the derivative in z has length sqrt(2 gamma) on every side and no
    limit. A pair that coincides contributes 0 to the pull-back, the mean over all directions.

    Parameters
    ----------
    gamma : float, default=1.0
        1 / (2 l^2).

    Examples
    --------
    >>> from kernelet.kernels import Exponential
    >>> Exponential(gamma=0.5)([[0.0, 0.0]], [[3.0, 4.0], [0.0, 0.0]])
    array([[0.00673795, 1.        ]])
    """

    gamma: float = 1.0

    name = "exponential"
    is_smooth = False

    @property
    def factor(self) -> float:
        return 2.0 * self.gamma

    def formula(self, t: Expression) -> Expression:
        return exp(-sqrt(t))


@final
@register_kernel
@dataclass(frozen=True)
class Matern32(RadialKernel):
    r"""The Matérn 3/2 kernel.

    .. math:: k(x, z) = (1 + r)\, e^{-r}, \qquad r = \sqrt{6 \gamma}\, \|x - z\|

    The derivative in z is continuous, and 0 at x = z.

    Parameters
    ----------
    gamma : float, default=1.0
        1 / (2 l^2).

    Examples
    --------
    >>> from kernelet.kernels import Matern32
    >>> Matern32(gamma=0.5)([[0.0, 0.0]], [[1.0, 1.0], [0.0, 2.0]])
    array([[0.29782077, 0.13973135]])
    """

    gamma: float = 1.0

    name = "matern32"

    @property
    def factor(self) -> float:
        return 6.0 * self.gamma

    def formula(self, t: Expression) -> Expression:
        r = sqrt(t)
        return (1.0 + r) * exp(-r)

    def slope(self, t: Expression) -> Expression:
        return -0.5 * exp(-sqrt(t))  # 1 / r cancels


@final
@register_kernel
@dataclass(frozen=True)
class Matern52(RadialKernel):
    r"""The Matérn 5/2 kernel.

    .. math:: k(x, z) = (1 + r + r^2 / 3)\, e^{-r}, \qquad r = \sqrt{10 \gamma}\, \|x - z\|

    Parameters
    ----------
    gamma : float, default=1.0
        1 / (2 l^2).

    Examples
    --------
    >>> from kernelet.kernels import Matern52
    >>> Matern52(gamma=0.5)([[0.0, 0.0]], [[1.0, 1.0], [0.0, 2.0]])
    array([[0.31728336, 0.13866022]])
    """

    gamma: float = 1.0

    name = "matern52"

    @property
    def factor(self) -> float:
        return 10.0 * self.gamma

    def formula(self, t: Expression) -> Expression:
        r = sqrt(t)
        return (1.0 + r + t / 3.0) * exp(-r)

    def slope(self, t: Expression) -> Expression:
        r = sqrt(t)
        return (1.0 + r) * exp(-r) / -6.0  # 1 / r cancels


@final
@register_kernel
@dataclass(frozen=True)
class RationalQuadratic(RadialKernel):
    r"""The rational quadratic kernel, a mixture of Gaussians of many widths.

    .. math:: k(x, z) = \bigl(1 + \gamma \|x - z\|^2 / \alpha\bigr)^{-\alpha}

    Parameters
    ----------
    gamma : float, default=1.0
        1 / (2 l^2).
    alpha : float, default=1.0
        Weight of the small widths: the Gaussian kernel is the limit of large alpha.

    Examples
    --------
    >>> from kernelet.kernels import RationalQuadratic
    >>> RationalQuadratic(gamma=0.5, alpha=2.0)([[0.0, 0.0]], [[1.0, 1.0], [0.0, 2.0]])
    array([[0.44444444, 0.25      ]])
    """

    gamma: float = 1.0
    alpha: float = 1.0

    name = "rational_quadratic"

    @property
    def factor(self) -> float:
        return self.gamma / self.alpha

    def formula(self, t: Expression) -> Expression:
        # the power of a number next to 1 would lose the digits of t
        return exp(-self.alpha * log1p(t))

    def slope(self, t: Expression) -> Expression:
        return -self.alpha * self.formula(t) / (1.0 + t)
