"""The kernel that an estimator's parameters mean on its rows, refused where numbers overflow."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from kernelet.kernels import CallableKernel, Kernel, resolve_kernel
from kernelet.learners.weights import gamma_of_weighted_rows

FloatArray = NDArray[np.float64]

# Kernel values are squared and summed over all pairs of rows: with a hundred thousand rows and
# vectors each these sums stay in range.
_LARGEST_VALUE = 1e149
# The root of the smallest number in double precision, and six digits more.
_SMALLEST_NUMBER = 1e-148


def training_kernel(estimator: Any, X: Any, weights: FloatArray) -> Kernel:
    """Resolve ``kernel``, ``gamma``, ``degree`` and ``coef0`` on weighted rows.

    Parameters
    ----------
    estimator : estimator with these parameters
        Its ``_rescales_kernel_values``, if it has that, says that it never squares them as they
        are.
    X : ndarray or CSR array of shape (n, d)
        Float64.
    weights : ndarray of shape (n,)

    Raises
    ------
    ValueError
        If rows cannot be squared, or kernel values are too large: names what to scale or lower.
    """
    largest = _largest(X)
    # differences are up to twice as large as numbers, and sums go over rows and features
    if largest > np.sqrt(np.finfo(np.float64).max / (4.0 * X.shape[0] * X.shape[1])):
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
    gamma = gamma_of_weighted_rows(estimator.gamma, X, weights)
    kernel = resolve_kernel(estimator.kernel, X, gamma, estimator.degree, estimator.coef0)
    # of a function the diagonal may be as expensive as the fit, and its author knows its range
    if not kernel.has_constant_diagonal and not isinstance(kernel, CallableKernel):
        highest = float(np.abs(kernel.diagonal(X)).max())
        rescales = getattr(estimator, "_rescales_kernel_values", False)
        if not highest <= (np.finfo(np.float64).max if rescales else _LARGEST_VALUE):
            raise ValueError(
                f"{kernel!r} has values that are not finite on the rows, or so large that they "
                f"cannot be squared ({highest:.0e}); scale the data, or lower gamma or degree."
            )
    return kernel


def _largest(X: Any) -> float:
    values = X if isinstance(X, np.ndarray) else X.data
    return float(max(values.max(initial=0.0), -values.min(initial=0.0)))
