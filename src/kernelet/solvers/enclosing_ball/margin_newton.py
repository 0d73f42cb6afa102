r"""The L2-SVM over a Gram matrix: Newton's method, with care for multipliers that cancel.

.. math:: \min_a \tfrac12 a'Ka + \tfrac12 \sum_i C_i \max(0, 1 - (Ka)_i)^2

For given rows with a loss the minimum is one linear system, and at it a_i = C_i xi_i.
"""

from __future__ import annotations

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve

from kernelet.kernels.numerics.arrays import FloatArray, IndexArray
from kernelet.solvers.enclosing_ball.margin_coordinates import line_search, margin_in_coordinates
from kernelet.solvers.rounding import EPSILON

# A margin this near to 1 is 1, and a value that falls by a smaller share has not fallen: margins
# are sums over rows, exact to some 1e-13 of the multipliers' size.
ROUNDING = 1e-10
# A relative duality gap that is as good as none, where there are no digits for less.
NEAR = 1e-6
# What is added to a diagonal if rounding takes more from it, in shares of its largest element: from
# below one unit in the last place to some hundreds, as few as will do.
_LIFTS = (0.0, 1e-16, 1e-15, 1e-14, 1e-13)
# Steps in which the value may fall by no more than rounding.
_PATIENCE = 30


def newton_multipliers(
    K: FloatArray, C: FloatArray, a: FloatArray, max_iter: int
) -> tuple[FloatArray, int, bool]:
    """Minimise 1/2 a'Ka + 1/2 sum_i C_i max(0, 1 - (Ka)_i)^2, from a given a.

    Parameters
    ----------
    K : ndarray of shape (n, n)
        Gram matrix with labels and bias in it.
    C : ndarray of shape (n,)
    a : ndarray of shape (n,)
    max_iter : int

    Returns
    -------
    a : ndarray of shape (n,)
        C_i xi_i; some may be negative if it has not converged.
    n_iter : int
    converged : bool

    Examples
    --------
    >>> newton_multipliers(np.eye(2), np.ones(2), np.zeros(2), 10)
    (array([0.5, 0.5]), 1, True)
    """
    margins, largest = K @ a, float(K.diagonal().max())
    best, least, at_best, n_iter = a, np.inf, 0, 0
    for n_iter in range(1, max_iter + 1):
        active = np.flatnonzero(margins < 1.0)
        try:
            goal = _minimum_over(active, K, C)
        except LinAlgError:
            break
        change, slope = goal - a, K[:, active] @ goal[active] - margins
        step = line_search(margins, slope, C, float(a @ slope), float(change @ slope))
        a = goal if step == 1.0 else a + step * change
        margins = margins + step * slope
        # what a is to be at the minimum; rows at the margin may be on either side of it
        loss = np.maximum(0.0, 1.0 - margins)
        error = float(np.abs(a / C - loss).max())
        value = 0.5 * float(a @ margins + C @ loss**2)
        if value < least * (1.0 - ROUNDING):
            best, least, at_best = a, value, n_iter
        is_rounding = error <= EPSILON * largest * float(np.abs(a).sum())
        if error <= ROUNDING or (is_rounding and _gap(a, K, C) <= NEAR):
            tidy = _without_negatives(a, K, C)
            if _gap(tidy, K, C) <= NEAR:
                return tidy, n_iter, True
        if n_iter > at_best + _PATIENCE:
            break
    tidy = _without_negatives(best, K, C)
    if _gap(tidy, K, C) <= NEAR:
        return tidy, n_iter, True
    # not multipliers of the dual, but the best w that was seen
    other = margin_in_coordinates(K, C, max_iter)
    return min(best, other, key=lambda at: _values(at, K, C)[0]), n_iter, False


def _values(a: FloatArray, K: FloatArray, C: FloatArray) -> tuple[float, float]:
    """Primal value of w, and the dual value of what would be its multipliers."""
    margins = K @ a
    squared = float(a @ margins)
    primal = 0.5 * squared + 0.5 * float(C @ np.maximum(0.0, 1.0 - margins) ** 2)
    return primal, float(a.sum()) - 0.5 * squared - 0.5 * float(a @ (a / C))


def lower_bound(a: FloatArray, K: FloatArray, C: FloatArray) -> float:
    """The dual value of the best multiple of a point of the dual."""
    a = np.maximum(a, 0.0)
    curvature = float(a @ (K @ a) + a @ (a / C))
    return 0.5 * float(a.sum()) ** 2 / curvature if curvature > 0.0 else 0.0


def _gap(a: FloatArray, K: FloatArray, C: FloatArray) -> float:
    """Size of the relative duality gap: with negative multipliers the dual may be the larger."""
    primal, dual = _values(a, K, C)
    return abs(primal - dual) / primal if primal > 0.0 else np.inf


def _without_negatives(a: FloatArray, K: FloatArray, C: FloatArray) -> FloatArray:
    """Large multipliers cancel in w, which they would no longer if some were just clipped."""
    clipped = np.maximum(a, 0.0)
    try:
        while (a < 0.0).any():
            a = _minimum_over(np.flatnonzero(a > 0.0), K, C)
    except LinAlgError:
        return clipped
    return a if _gap(a, K, C) <= _gap(clipped, K, C) else clipped


def _minimum_over(active: IndexArray, K: FloatArray, C: FloatArray) -> FloatArray:
    """The multipliers if these rows, and no others, have a loss."""
    ridge, a = 1.0 / C[active], np.zeros(C.size)
    for lift in _LIFTS:
        gram = K[np.ix_(active, active)]
        gram.flat[:: active.size + 1] += ridge + lift * float(K.diagonal().max())
        try:
            factor = cho_factor(gram, lower=True, overwrite_a=True)
        except LinAlgError:
            continue
        a[active] = cho_solve(factor, np.ones(active.size))
        return a
    raise LinAlgError("rows of so different a length, or so large a C, leave no digits")
