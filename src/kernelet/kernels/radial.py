"""Radial kernels: functions of the distance |x - z|.

All take the width as `gamma` = 1 / (2 l^2) with the length scale l, so that one `gamma` means one
length scale whatever the kernel, and `gamma="scale"` is a fair start for each.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import final

import numpy as np

from kernelet.kernels.numerics.arrays import FloatArray, Rows, check_rows, float_dtype
from kernelet.kernels.numerics.distances import SquaredDistances
from kernelet.kernels.parameters import positive
from kernelet.kernels.profile import Form, ProfileKernel


class RadialKernel(ProfileKernel, ABC):
    """k(x, z) = profile(t), t = factor |x - z|^2, with profile(0) = 1.

    Attributes
    ----------
    gamma : float
        1 / (2 l^2), l the width; the factor is a multiple of it.
    factor : float
        Of either sign: the Gaussian takes -gamma, so that its profile is exp.
    """

    gamma: float

    is_positive_definite = True
    has_constant_diagonal = True
    is_translation_invariant = True
    largest_value = 1.0

    @property
    @abstractmethod
    def factor(self) -> float: ...

    @final
    def form(self, Z: FloatArray) -> Form:
        return SquaredDistances(Z, self.factor, steep=not self.is_smooth)

    @final
    def diagonal(self, X: Rows) -> FloatArray:
        rows = check_rows(X)
        return np.ones(rows.shape[0], dtype=float_dtype(rows))


@final
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
    is_smooth = True
    slope_is_value = True

    def __post_init__(self) -> None:
        object.__setattr__(self, "gamma", positive("gamma", self.gamma))

    @property
    def factor(self) -> float:
        return -self.gamma

    def profile(self, t: FloatArray) -> None:
        np.exp(t, out=t)

    def profile_and_slope(self, t: FloatArray, slope: FloatArray) -> None:
        np.exp(t, out=t)


@final
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
    slope_is_value = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "gamma", positive("gamma", self.gamma))

    @property
    def factor(self) -> float:
        return 2.0 * self.gamma

    def profile(self, t: FloatArray) -> None:
        np.sqrt(t, out=t)
        np.negative(t, out=t)
        np.exp(t, out=t)

    def profile_and_slope(self, t: FloatArray, slope: FloatArray) -> None:
        # d exp(-sqrt(t)) / dt = -exp(-r) / (2 r)
        r = np.sqrt(t)
        np.exp(-r, out=t)
        slope[...] = 0.0
        np.divide(t, -2.0 * r, out=slope, where=r != 0.0)


@final
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
    is_smooth = True
    slope_is_value = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "gamma", positive("gamma", self.gamma))

    @property
    def factor(self) -> float:
        return 6.0 * self.gamma

    def profile(self, t: FloatArray) -> None:
        r = np.sqrt(t)
        np.exp(-r, out=t)
        r += 1.0
        t *= r

    def profile_and_slope(self, t: FloatArray, slope: FloatArray) -> None:
        # d (1 + r) exp(-r) / dt = -exp(-r) / 2 with r = sqrt(t): r cancels
        r = np.sqrt(t)
        np.exp(-r, out=t)
        np.multiply(t, -0.5, out=slope)
        r += 1.0
        t *= r


@final
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
    is_smooth = True
    slope_is_value = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "gamma", positive("gamma", self.gamma))

    @property
    def factor(self) -> float:
        return 10.0 * self.gamma

    def profile(self, t: FloatArray) -> None:
        r = np.sqrt(t)
        t /= 3.0
        t += r
        t += 1.0
        np.negative(r, out=r)
        t *= np.exp(r, out=r)

    def profile_and_slope(self, t: FloatArray, slope: FloatArray) -> None:
        # d (1 + r + t / 3) exp(-r) / dt = -(1 + r) exp(-r) / 6 with r = sqrt(t): r cancels
        r = np.sqrt(t)
        decay = np.exp(-r)
        r += 1.0
        np.multiply(r, decay, out=slope)
        slope /= -6.0
        t /= 3.0
        t += r
        t *= decay


@final
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
    is_smooth = True
    slope_is_value = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "gamma", positive("gamma", self.gamma))
        object.__setattr__(self, "alpha", positive("alpha", self.alpha))

    @property
    def factor(self) -> float:
        return self.gamma / self.alpha

    def profile(self, t: FloatArray) -> None:
        np.log1p(t, out=t)
        t *= -self.alpha
        np.exp(t, out=t)

    def profile_and_slope(self, t: FloatArray, slope: FloatArray) -> None:
        np.add(t, 1.0, out=slope)
        self.profile(t)
        np.divide(t, slope, out=slope)
        slope *= -self.alpha
