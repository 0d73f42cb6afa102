"""How far floating point may be from the model: a bound that is computed, and stated."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from kernelet.kernels import Kernel, Product, ScaledFeatures
from kernelet.kernels.caller import warn_caller
from kernelet.kernels.composite import CompositeKernel
from kernelet.kernels.expression import FeatureSum, Operation, SumOverFeatures, ordered
from kernelet.kernels.input_stage import input_stage
from kernelet.machine import KernelMachine

# Of a kernel's largest value. A shift that takes so much from the top of a Gaussian moves its
# slopes by up to 3 %.
_FELT = 1e-3


def centre(vectors: NDArray[Any]) -> NDArray[np.float64]:
    """The point to measure from, so that most of the vectors keep their digits.

    The (lower) median of each feature: unlike the mean it does not follow a single vector that lies
    far from all others. There must be vectors.

    Examples
    --------
    >>> centre(np.array([[1.0, 7.0], [3.0, 5.0], [1e8, 6.0]]))
    array([3., 6.])
    """
    ordered = np.sort(np.asarray(vectors, dtype=np.float64), axis=0)
    middle: NDArray[np.float64] = ordered[(len(ordered) - 1) // 2]
    return middle


def warn_of_lost_digits(
    machine: KernelMachine, dtype: str, origin: NDArray[Any] | float = 0.0
) -> None:
    """Warn if a type keeps so few digits of the vectors that the kernel feels it.

    Parameters
    ----------
    machine : KernelMachine
        Its kernel is looked at if it depends on x - z alone; others feel relative errors only.
    dtype : str
        Of what is written.
    origin : ndarray of shape (d,) or float, default=0.0
        The point from which the vectors are measured.
    """
    if not machine.n_vectors or not machine.kernel.is_translation_invariant:
        return
    vectors = np.asarray(machine.vectors, dtype=np.float64) - origin
    moved = vectors.astype(dtype).astype(np.float64) - vectors
    values = machine.kernel(np.vstack([np.zeros_like(moved[:1]), moved]), np.zeros_like(moved[:1]))
    least = float(values.min() / values[0, 0])
    if least < 1.0 - _FELT:
        warn_caller(
            f"dtype={dtype!r} keeps too few digits of the vectors: the kernel value of one of them "
            f"with itself becomes {least:.2g} of what it is; use float64, or scale the features "
            "(less their mean) before training."
        )


def rounding_units(machine: KernelMachine, *, is_scaled: bool = False) -> int:
    r"""The number c of unit round-offs u in the bound of a score f(x).

    .. math:: c u \, (1 + \gamma (|x|^2 + \max_j |z_j|^2)) (\sum_j |\beta_j| k_j + |b|)

    Rounding a vector, and a sum over d squares of differences, move the squared distance by no
    more than (2 d + 8) u (\|x\|^2 + \|z\|^2), and a sum of m products is exact to m + 6 units.
    A power or a product of kernels feels the first once for each factor. gamma is the sum of those
    of all parts, times the largest squared scale where features are scaled, which costs 4 units
    more; k_j is made of absolute values where it is made of products x'z. The exponent of a
    Laplacian kernel is a distance, not its square: its gamma counts with the 1-norms of x and z_j,
    and with the largest scale itself.

    Where the kernel takes r combinations A x of the features, r takes the place of d, and the
    vectors \|A\| \|x\| and \|A\| \|z_j\| of absolute values that of x and z_j. A sum of d products
    is exact to d + 8 units of the sum a of their sizes, rounding of A and of the row included. That
    moves the square of a difference by up to 4 (a^2 + b^2) times as many.

    Parameters
    ----------
    machine : KernelMachine
    is_scaled : bool, default=False
        Whether rows are scaled first. Rounding of (x_i - shift) / scale then counts as well: 8
        units more, of a bound in which each |x_i| of the scaled row is larger by |shift / scale|.

    Returns
    -------
    int

    Examples
    --------
    >>> from kernelet.kernels import Gaussian
    >>> rounding_units(KernelMachine(Gaussian(0.5), [[0.0, 1.0]], [1.0]))
    19
    """
    matrix, kernel = input_stage(machine.kernel)
    d = machine.n_features
    length = d if matrix is None else len(matrix)
    per_factor = 2 * length + (16 if is_scaled else 8)
    per_factor += 4 * _nesting(kernel)
    per_factor += 0 if matrix is None else 4 * (d + 8)
    return machine.n_vectors + 6 + per_factor * _factors(kernel)


def has_rounding_bound(kernel: Kernel) -> bool:
    """Whether the bound of `rounding_units` is one for this kernel.

    It is derived for the kernels of this package, none of which falls faster than a power, or than
    the exponential, of what rounding moves; a kernel that others register may.
    """
    if isinstance(kernel, CompositeKernel):
        return all(map(has_rounding_bound, kernel.parts))
    return type(kernel).__module__.startswith("kernelet.kernels.")


def has_taxicab_distances(kernel: Kernel) -> bool:
    """Whether a kernel without a matrix, or a part of it, measures 1-norms.

    Examples
    --------
    >>> from kernelet.kernels import Gaussian, Laplacian
    >>> has_taxicab_distances(2.0 * Laplacian(1.0) + Gaussian(1.0))
    True
    """
    nodes = ordered(kernel.expression())
    return any(n.kind is FeatureSum.TAXICAB for n in nodes if isinstance(n, SumOverFeatures))


def _nesting(kernel: Kernel) -> int:
    """How often features are scaled, one scaling upon the other."""
    own = 1 if isinstance(kernel, ScaledFeatures) else 0
    return own + max(map(_nesting, getattr(kernel, "parts", ())), default=0)


def _factors(kernel: Kernel) -> int:
    if isinstance(kernel, Product):
        return sum(map(_factors, kernel.parts))
    if isinstance(kernel, CompositeKernel):
        return max(map(_factors, kernel.parts))
    value = kernel.expression()
    return max(1, value.integer_exponent) if isinstance(value, Operation) else 1
