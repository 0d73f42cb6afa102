r"""The L2-SVM in coordinates of the feature space, where multipliers have no digits left.

For rows of very different lengths, or a large C, the multipliers are so large that they cancel in
w. In coordinates, :math:`K = L L'`, w is one vector v, and a Newton step is a least squares
problem, solved by orthogonal factors, which lose half as many digits as the normal equations:

.. math:: \min_v \tfrac12 \|v\|^2 + \tfrac12 \sum_i C_i \max(0, 1 - (L v)_i)^2
"""

from __future__ import annotations

import numpy as np
from scipy.linalg import lstsq, solve_triangular
from scipy.linalg.lapack import dpstrf

from kernelet.kernels.numerics.arrays import BoolArray, FloatArray

# Derivatives that are this small beside those at the start of a step are zero: they are sums over
# rows, whose rounding errors are far smaller, and the step is exact to as many digits.
_ROUNDING = 1e-10
# A step that lowers the value by a smaller share ends the search: the digits below are those of the
# factor.
_LEAST_DROP = 1e-12
# Columns that depend on the others up to this take no part. It is below the rounding error of
# single entries, 2e-16, so that only columns go that say nothing at all.
_DEPENDENT = 1e-16
# Rounding errors of a derivative, in shares of the losses that it is a sum over.
_NOISE = 1e-13
# Halvings of a step, to 1e-15 of it.
_HALVINGS = 50


def margin_in_coordinates(K: FloatArray, C: FloatArray, max_iter: int) -> FloatArray:
    """Coefficients a, of any sign and over few rows, with a low 1/2 a'Ka + 1/2 C'max(0, 1 - Ka)^2.

    Parameters
    ----------
    K : ndarray of shape (n, n)
        Gram matrix with labels and bias in it.
    C : ndarray of shape (n,)
    max_iter : int

    Examples
    --------
    >>> margin_in_coordinates(np.eye(2), np.ones(2), 10)
    array([0.5, 0.5])
    """
    factor, pivots, rank, _ = dpstrf(K, lower=1)
    order = pivots - 1
    L = np.empty((C.size, rank))
    L[order] = np.tril(factor)[:, :rank]
    v, margins = np.zeros(rank), np.zeros(C.size)
    value = 0.5 * float(C.sum())
    for _ in range(max_iter):
        goal = _minimum_over(margins < 1.0, L, C)
        change, slope = goal - v, L @ goal - margins
        step = line_search(margins, slope, C, float(v @ change), float(change @ change))
        there = v + step * change
        at = L @ there
        lower = 0.5 * float(there @ there + C @ np.maximum(0.0, 1.0 - at) ** 2)
        if not lower < value * (1.0 - _LEAST_DROP):
            break
        v, margins, value = there, at, lower
    a = np.zeros(C.size)
    a[order[:rank]] = solve_triangular(L[order[:rank]], v, lower=True, trans="T")
    return a


def _minimum_over(active: BoolArray, L: FloatArray, C: FloatArray) -> FloatArray:
    """v if these rows, and no others, have a loss: ridge regression of 1 on them."""
    root, rank = np.sqrt(C[active]), L.shape[1]
    system = np.vstack([root[:, None] * L[active], np.eye(rank)])
    lengths = np.linalg.norm(system, axis=0)
    targets = np.append(root, np.zeros(rank))
    goal: FloatArray = lstsq(system / lengths, targets, _DEPENDENT, lapack_driver="gelsy")[0]
    goal /= lengths
    return goal


def line_search(
    margins: FloatArray, slope: FloatArray, C: FloatArray, linear: float, square: float
) -> float:
    """Where the value is least on the way to the goal; its derivative rises along the way.

    Parameters
    ----------
    margins, slope : ndarray of shape (n,)
        Margins at the start, and how they change until the goal.
    C : ndarray of shape (n,)
    linear, square : float
        Derivative and second derivative of 1/2 |w|^2 along the way.

    Returns
    -------
    float
        1 at the goal.
    """

    def derivative(t: float) -> float:
        loss = C * np.maximum(0.0, 1.0 - margins - t * slope)
        return linear + t * square - float(loss @ slope)

    # where margins hardly change, derivatives are rounding errors of this size
    noise = _NOISE * float(C @ np.maximum(0.0, 1.0 - margins))
    if derivative(1.0) <= _ROUNDING * abs(derivative(0.0)) + noise:
        return 1.0
    low, high = 0.0, 1.0
    for _ in range(_HALVINGS):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if derivative(middle) < 0.0 else (low, middle)
    return high
