"""Dot-product kernels: functions of x'z."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import final

import numpy as np

from kernelet.kernels.numerics.arrays import FloatArray, Rows, check_rows, quiet, squared_norms
from kernelet.kernels.numerics.products import InnerProducts
from kernelet.kernels.parameters import finite, positive, positive_integer
from kernelet.kernels.profile import Form, ProfileKernel


class DotKernel(ProfileKernel, ABC):
    """k(x, z) = profile(t), t = scale x'z + shift."""

    is_smooth = True
    has_constant_diagonal = False
    is_translation_invariant = False
    slope_is_value = False

    @property
    @abstractmethod
    def scale_and_shift(self) -> tuple[float, float]: ...

    @final
    def form(self, Z: FloatArray) -> Form:
        return InnerProducts(Z, *self.scale_and_shift)

    @final
    @quiet
    def diagonal(self, X: Rows) -> FloatArray:
        scale, shift = self.scale_and_shift
        t = squared_norms(check_rows(X))
        t *= scale
        t += shift
        self.profile(t)
        return t


@final
@dataclass(frozen=True)
class Linear(DotKernel):
    """The linear kernel, k(x, z) = x'z.

    Examples
    --------
    >>> from kernelet.kernels import Linear
    >>> Linear()([[1.0, 2.0]], [[3.0, 4.0]])
    array([[11.]])
    """

    name = "linear"
    is_positive_definite = True

    @property
    def scale_and_shift(self) -> tuple[float, float]:
        return 1.0, 0.0

    def profile(self, t: FloatArray) -> None:
        """Leave t as it is."""

    def profile_and_slope(self, t: FloatArray, slope: FloatArray) -> None:
        slope[...] = 1.0


@final
@dataclass(frozen=True)
class Polynomial(DotKernel):
    r"""The polynomial kernel.

    .. math:: k(x, z) = (\gamma\, x'z + \mathrm{coef0})^{\mathrm{degree}}

    Positive definite for coef0 >= 0. With coef0 = 0, k(x, z) is homogeneous in z, so that f(x)
    does not depend on the lengths of the vectors once the coefficients are free.

    Parameters
    ----------
    gamma : float, default=1.0
    coef0 : float, default=0.0
    degree : int, default=3

    Examples
    --------
    >>> from kernelet.kernels import Polynomial
    >>> Polynomial(gamma=0.5, coef0=1.0, degree=2)([[1.0, 2.0]], [[3.0, 4.0]])
    array([[42.25]])
    """

    gamma: float = 1.0
    coef0: float = 0.0
    degree: int = 3

    name = "poly"

    def __post_init__(self) -> None:
        object.__setattr__(self, "gamma", positive("gamma", self.gamma))
        object.__setattr__(self, "coef0", finite("coef0", self.coef0))
        object.__setattr__(self, "degree", positive_integer("degree", self.degree))

    @property
    def is_positive_definite(self) -> bool:
        return self.coef0 >= 0.0

    @property
    def scale_and_shift(self) -> tuple[float, float]:
        return self.gamma, self.coef0

    def profile(self, t: FloatArray) -> None:
        if self.degree > 1:
            t *= _power(t, self.degree - 1)

    def profile_and_slope(self, t: FloatArray, slope: FloatArray) -> None:
        if self.degree == 1:
            slope[...] = 1.0
            return
        slope[...] = _power(t, self.degree - 1)
        t *= slope
        slope *= self.degree


@final
@dataclass(frozen=True)
class Sigmoid(DotKernel):
    r"""The sigmoid kernel, which is not positive definite.

    .. math:: k(x, z) = \tanh(\gamma\, x'z + \mathrm{coef0})

    Parameters
    ----------
    gamma : float, default=1.0
    coef0 : float, default=0.0

    Examples
    --------
    >>> from kernelet.kernels import Sigmoid
    >>> Sigmoid(gamma=0.1)([[1.0, 2.0]], [[3.0, 4.0]])
    array([[0.80049902]])
    """

    gamma: float = 1.0
    coef0: float = 0.0

    name = "sigmoid"
    largest_value = 1.0
    is_positive_definite = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "gamma", positive("gamma", self.gamma))
        object.__setattr__(self, "coef0", finite("coef0", self.coef0))

    @property
    def scale_and_shift(self) -> tuple[float, float]:
        return self.gamma, self.coef0

    def profile(self, t: FloatArray) -> None:
        np.tanh(t, out=t)

    def profile_and_slope(self, t: FloatArray, slope: FloatArray) -> None:
        np.tanh(t, out=t)
        np.multiply(t, t, out=slope)
        np.subtract(1.0, slope, out=slope)


def _power(t: FloatArray, exponent: int) -> FloatArray:
    """t ** exponent by repeated squaring; np.power calls pow, which is many times slower."""
    power: FloatArray | None = None
    square = t
    while True:
        if exponent & 1:
            power = square.copy() if power is None else np.multiply(power, square, out=power)
        exponent >>= 1
        if exponent == 0:
            break
        square = square * square
    assert power is not None  # the highest bit of an exponent above 0 is set
    return power
