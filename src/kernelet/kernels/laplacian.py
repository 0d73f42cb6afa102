"""The Laplacian kernel, as in scikit-learn."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

from kernelet.kernels.expression import Expression, FeatureSum, exp
from kernelet.kernels.numerics.arrays import FloatArray
from kernelet.kernels.numerics.taxicab import TaxicabDistances
from kernelet.kernels.profile import DistanceKernel, Form
from kernelet.kernels.registry import register_kernel


@final
@register_kernel
@dataclass(frozen=True)
class Laplacian(DistanceKernel):
    r"""The Laplacian kernel, which measures distances by sums of absolute differences.

    .. math:: k(x, z) = \exp\bigl(-\gamma \|x - z\|_1\bigr)

    It has an edge wherever x and z agree in a feature. The derivative in that feature of z is
    defined as 0 there, the mean of those on the two sides.

    Values and gradients take n m d operations outside the matrix products: for large n the
    Exponential kernel is much faster.

    Parameters
    ----------
    gamma : float, default=1.0

    Examples
    --------
    >>> from kernelet.kernels import Laplacian
    >>> Laplacian(gamma=0.5)([[0.0, 0.0]], [[1.0, 1.0], [0.0, 2.0]])
    array([[0.36787944, 0.36787944]])
    """

    gamma: float = 1.0

    name = "laplacian"
    feature_sum = FeatureSum.TAXICAB
    is_smooth = False

    @property
    def factor(self) -> float:
        return -self.gamma

    def form(self, Z: FloatArray) -> Form:
        return TaxicabDistances(Z, self.factor)

    def formula(self, t: Expression) -> Expression:
        return exp(t)
