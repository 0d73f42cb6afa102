"""Dot-product kernels: functions of x'z."""

from __future__ import annotations

from abc import ABC
from dataclasses import dataclass
from typing import ClassVar, final

from kernelet.kernels.expression import Expression, FeatureSum, tanh
from kernelet.kernels.numerics.arrays import FloatArray, Rows, check_rows, quiet, squared_norms
from kernelet.kernels.numerics.evaluation import integer_power
from kernelet.kernels.numerics.products import InnerProducts
from kernelet.kernels.parameters import finite, positive_integer
from kernelet.kernels.profile import Form, ProfileKernel
from kernelet.kernels.registry import register_kernel


class DotKernel(ProfileKernel, ABC):
    """k(x, z) = profile(t), t = scale x'z + shift; x'z itself by default.

    A leaf is a frozen dataclass with a `name`, a `formula` and `is_positive_definite`; see
    `register_kernel`.
    """

    feature_sum = FeatureSum.PRODUCT
    is_smooth = True
    has_constant_diagonal = False
    is_translation_invariant = False

    @property
    def scale_and_shift(self) -> tuple[float, float]:
        return 1.0, 0.0

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
@register_kernel
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

    def formula(self, t: Expression) -> Expression:
        return t


@final
@register_kernel
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
    checks: ClassVar = {"coef0": finite, "degree": positive_integer}

    @property
    def is_positive_definite(self) -> bool:
        return self.coef0 >= 0.0

    @property
    def scale_and_shift(self) -> tuple[float, float]:
        return self.gamma, self.coef0

    def formula(self, t: Expression) -> Expression:
        return t**self.degree

    def profile_and_slope(self, t: FloatArray, slope: FloatArray) -> None:
        # one power for both; the formula and its derivative would take one each
        if self.degree == 1:
            slope[...] = 1.0
            return
        integer_power(t, self.degree - 1, slope)
        t *= slope
        slope *= self.degree


@final
@register_kernel
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
    checks: ClassVar = {"coef0": finite}
    largest_value = 1.0
    is_positive_definite = False

    @property
    def scale_and_shift(self) -> tuple[float, float]:
        return self.gamma, self.coef0

    def formula(self, t: Expression) -> Expression:
        return tanh(t)
