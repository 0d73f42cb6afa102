"""The Laplacian kernel of scikit-learn."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np

from kernelet.kernels.numerics.arrays import FloatArray, Rows, check_rows, float_dtype
from kernelet.kernels.numerics.taxicab import TaxicabDistances
from kernelet.kernels.parameters import positive
from kernelet.kernels.profile import Form, ProfileKernel


@final
@dataclass(frozen=True)
class Laplacian(ProfileKernel):
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
    is_positive_definite = True
    is_smooth = False
    has_constant_diagonal = True
    is_translation_invariant = True
    largest_value = 1.0
    slope_is_value = True

    def __post_init__(self) -> None:
        object.__setattr__(self, "gamma", positive("gamma", self.gamma))

    def form(self, Z: FloatArray) -> Form:
        return TaxicabDistances(Z, -self.gamma)

    def profile(self, t: FloatArray) -> None:
        np.exp(t, out=t)

    def profile_and_slope(self, t: FloatArray, slope: FloatArray) -> None:
        np.exp(t, out=t)

    def diagonal(self, X: Rows) -> FloatArray:
        rows = check_rows(X)
        return np.ones(rows.shape[0], dtype=float_dtype(rows))
