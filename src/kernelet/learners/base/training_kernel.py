"""The kernel that an estimator's parameters describe on its rows; refused if numbers overflow."""

from __future__ import annotations

from typing import Any

import numpy as np

from kernelet.kernels import CallableKernel, Kernel, resolve_kernel
from kernelet.kernels.composite import CompositeKernel
from kernelet.kernels.numerics.arrays import FloatArray
from kernelet.kernels.numerics.deviations import mean_squared_deviations
from kernelet.rows.block import largest_number

# Kernel values are squared and summed over all pairs of rows and vectors: with a hundred thousand
# of each, these sums stay in range.
_LARGEST_VALUE = 1e149
# The root of the smallest number in double precision, times a margin of six digits.
_SMALLEST_NUMBER = 1e-148
# Numbers that are processed together: 8 MB, which caches hold.
_BLOCK = 1 << 20
# A column that deviates less from its mean is constant up to the rounding of that mean: sums of a
# million numbers lose up to three of sixteen digits.
_CONSTANT = 1e-13


def training_kernel(estimator: Any, X: Any, weights: FloatArray) -> Kernel:
    """Resolve ``kernel``, ``gamma``, ``degree`` and ``coef0`` on weighted rows.

    Parameters
    ----------
    estimator : estimator with these parameters
    X : ndarray or CSR array of shape (n, d)
        Float64.
    weights : ndarray of shape (n,)

    Raises
    ------
    ValueError
        If rows cannot be squared, or kernel values are too large. The message names what to scale
        or lower.
    """
    check_numbers(estimator, largest_number(X), X.shape)
    gamma = gamma_of_weighted_rows(estimator.gamma, X, weights)
    kernel = resolve_kernel(estimator.kernel, X, gamma, estimator.degree, estimator.coef0)
    check_values(estimator, kernel, X)
    return kernel


def check_numbers(estimator: Any, largest: float, shape: tuple[int, int]) -> None:
    """Refuse rows that cannot be squared and summed, given their largest number."""
    n, d = shape
    # differences are up to twice as large as numbers, and sums go over rows and features
    if largest > np.sqrt(np.finfo(np.float64).max / (4.0 * n * d)):
        raise ValueError(
            f"{type(estimator).__name__} cannot square numbers as large as those of X; divide X "
            f"by their size, {largest:.0e}."
        )
    takes_variance = estimator.gamma in ("scale", "mean_distance") and (
        isinstance(estimator.kernel, str) and estimator.kernel != "linear"
    )
    if takes_variance and 0.0 < largest < _SMALLEST_NUMBER:
        raise ValueError(
            f"{type(estimator).__name__} cannot take gamma={estimator.gamma!r} from X, whose "
            f"squares vanish; divide X by the size of its numbers, {largest:.0e}, or give gamma "
            "as a number."
        )


def check_values(estimator: Any, kernel: Kernel, X: Any) -> None:
    """Refuse a kernel whose values on float64 rows are too large for the estimator."""
    # the diagonal of a Python function may be as expensive as the fit, and its author knows its
    # range
    if kernel.has_constant_diagonal or _holds_function(kernel):
        return
    highest = float(np.abs(kernel.diagonal(X)).max())
    most = np.finfo(np.float64).max if estimator._rescales_kernel_values else _LARGEST_VALUE
    if not highest <= most:
        raise ValueError(
            f"{kernel!r} has values that are not finite on the rows, or so large that they "
            f"cannot be squared ({highest:.0e}); scale the data, or lower gamma or degree."
        )


def _holds_function(kernel: Kernel) -> bool:
    """Whether a kernel, or one that it is made of, is a Python function."""
    parts = kernel.parts if isinstance(kernel, CompositeKernel) else ()
    return isinstance(kernel, CallableKernel) or any(_holds_function(part) for part in parts)


def gamma_of_weighted_rows(gamma: float | str, X: Any, weights: FloatArray) -> float | str:
    """The number that a gamma by name means on these rows; a row of weight 2 counts as two.

    "scale" with equal weights is scikit-learn's 1 / (n_features * X.var()); "mean_distance" is one
    over the mean squared distance between two rows, which is twice the sum of the columns'
    variances. Any other value is returned unchanged.
    """
    if not isinstance(gamma, str) or gamma not in ("scale", "mean_distance"):
        return gamma
    share = weights / weights.sum()
    if gamma == "mean_distance":
        spread = _mean_square(X, np.asarray(share @ X).ravel(), share)
        return 1.0 / (2.0 * spread) if spread > 0 else 1.0
    d = X.shape[1]
    mean = float((share @ X).sum()) / d
    variance = _mean_square(X, mean, share) / d
    return 1.0 / (d * variance) if variance > 0 else 1.0


def _mean_square(X: Any, centre: float | FloatArray, share: FloatArray) -> float:
    """The mean squared distance of rows from a point, in blocks.

    A copy of all of a million rows takes five times as long as the sums.
    """
    if not isinstance(X, np.ndarray):
        return float(mean_squared_deviations(X, centre, share).sum())
    step = max(1, _BLOCK // X.shape[1])
    total = 0.0
    for start in range(0, X.shape[0], step):
        rows = slice(start, start + step)
        total += float((share[rows] @ np.square(X[rows] - centre)).sum())
    return total


def without_rounding(mean: FloatArray, spread: FloatArray) -> FloatArray:
    """Standard deviations of columns, 0 for those that are constant up to rounding.

    Examples
    --------
    >>> rows = np.full((3000, 1), 0.1)
    >>> bool(rows.std(axis=0)[0] > 0.0), without_rounding(rows.mean(axis=0), rows.std(axis=0))
    (True, array([0.]))
    """
    return np.where(spread > _CONSTANT * np.abs(mean), spread, 0.0)
