"""Ridge problems whose rows want a score inside an interval of their own.

Support vector regression, quantile regression and the one-class SVM are all of this kind. A row is
one hinge row for its lower end and one for its upper end, with the ends as margins.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from kernelet.kernels.numerics.arrays import FloatArray
from kernelet.solvers.bias import hinge_bias
from kernelet.solvers.hinge.ridge import balanced, ridge_point, signed_rows
from kernelet.solvers.hinge.working_set import Subproblem
from kernelet.solvers.interior_point.primal_dual import Limits
from kernelet.solvers.solution import Solution, Status

# Values below this count as zero, in units of the targets: where nothing costs anything there is no
# value to relate to. It is about the value of weights of 1e-5.
_NOTHING = 1e-10
# Rounding error of a sum of losses, in shares of the sum of its terms: four units in the last
# place.
_ROUNDING = 1e-15


def interval_ridge(
    Phi: FloatArray,
    lower: FloatArray,
    upper: FloatArray,
    C_lower: FloatArray,
    C_upper: FloatArray,
    *,
    size: float = 1.0,
    tol: float = 1e-8,
    max_iter: int = 200,
) -> Solution:
    r"""Solve the ridge problem in which leaving an interval costs in proportion.

    .. math:: \min_{w, b} \tfrac12 w'w + \sum_i C^-_i \max(0, l_i - f_i)
        + C^+_i \max(0, f_i - u_i), \qquad f_i = \phi_i'w + b

    l = y - epsilon and u = y + epsilon make it support vector regression, l = u = y with unequal
    costs regression of a quantile.

    Parameters
    ----------
    Phi : ndarray of shape (n, m)
    lower, upper : ndarray of shape (n,)
        The ends of the intervals, lower <= upper.
    C_lower, C_upper : ndarray of shape (n,)
        Costs, not negative and not all zero on either side.
    size : float, default=1.0
        That of the targets: they are solved for in this unit.
    tol : float, default=1e-8
        Relative duality gap to reach.
    max_iter : int, default=200

    Returns
    -------
    Solution
        Its multipliers g have the sign of the pull on the row's score: w = Phi'g, sum_i g_i = 0.

    Examples
    --------
    >>> import numpy as np
    >>> y = np.array([0.0, 2.0, 4.0])
    >>> C = np.full(3, 10.0)
    >>> s = interval_ridge(np.array([[0.0], [1.0], [2.0]]), y - 0.5, y + 0.5, C, C)
    >>> print(np.round(s.weights, 6), round(s.intercept, 6))  # from 0.5 to 3.5
    [1.5] 0.5
    """
    n, m = Phi.shape
    is_low, is_high = np.flatnonzero(C_lower > 0), np.flatnonzero(C_upper > 0)
    highest, lowest = float(lower[is_low].max()), float(upper[is_high].min())
    if highest <= lowest:  # one score is inside of all intervals, and costs nothing
        bias = 0.5 * highest + 0.5 * lowest
        return Solution(np.zeros(m), bias, np.zeros(n), 0.0, 0.0, n_iter=0, unit=_NOTHING)
    index = np.concatenate([is_low, is_high])
    sides = np.concatenate([np.ones(is_low.size), -np.ones(is_high.size)])
    # what the bias takes up is taken off first: targets far from zero keep their digits
    middle = 0.5 * float(np.mean(lower) + np.mean(upper))
    margins = np.concatenate([lower[is_low] - middle, middle - upper[is_high]]) / size
    # in units of the targets' size s, f/s with the weights w/s costs 1/s^2 of what f costs
    costs = np.concatenate([C_lower[is_low], C_upper[is_high]]) / size
    # scores are no nearer to the targets than the rounding of these
    largest = np.maximum(np.abs(lower), np.abs(upper))
    noise = _ROUNDING * float((C_lower + C_upper) @ largest) / size**2
    unit = max(_NOTHING * min(1.0, float(costs.sum())), noise / tol)
    solution = _solve(Phi[index], sides, margins, costs, 0.0, unit, tol, max_iter)
    pulls: FloatArray = np.bincount(
        index, weights=sides * solution.multipliers, minlength=n
    ).astype(np.float64)
    found = _rescaled(replace(solution, multipliers=pulls), size)
    return replace(found, intercept=found.intercept + middle)


def one_class_ridge(
    Phi: FloatArray,
    C: FloatArray,
    nu: float,
    *,
    tol: float = 1e-8,
    max_iter: int = 200,
) -> Solution:
    r"""Solve the one-class SVM over the rows of Phi, in scikit-learn's units.

    .. math:: \min_{w, \rho} \tfrac12 w'w + \sum_i C_i \max(0, \rho - \phi_i'w)
        - \nu \rho \sum_i C_i

    Parameters
    ----------
    Phi : ndarray of shape (n, m)
    C : ndarray of shape (n,)
        Costs, all positive.
    nu : float
        Share of the rows that may lie outside, above 0 and at most 1.
    tol : float, default=1e-8
        Relative duality gap to reach.
    max_iter : int, default=200

    Returns
    -------
    Solution
        Its intercept is -rho, its multipliers add up to nu sum_i C_i.

    Examples
    --------
    >>> import numpy as np
    >>> s = one_class_ridge(np.array([[1.0], [2.0], [4.0]]), np.ones(3), 0.5)
    >>> print(np.round(s.weights, 6), round(-s.intercept, 6))  # 1 * 1 + 2 * 0.5
    [2.] 4.0
    """
    # with multipliers that add up to one the weights are a mean of rows, of their size
    total = nu * float(C.sum())
    ones = np.ones(C.size)
    # rows of length one: the solver starts from slacks of one, and nothing else gives a size
    length = float(np.sqrt(np.vdot(Phi, Phi) / C.size)) or 1.0
    unit = max(_NOTHING, _ROUNDING / (nu * tol))
    found = _solve(Phi / length, ones, 0.0 * ones, C / total, -1.0, unit, tol, max_iter)
    return _rescaled(found, total, length)


def _rescaled(solution: Solution, multiplier: float, feature: float = 1.0) -> Solution:
    """The solution for features and multipliers that are larger by these factors."""
    size = multiplier * feature
    return replace(
        solution,
        weights=size * solution.weights,
        intercept=multiplier * feature**2 * solution.intercept,
        multipliers=multiplier * solution.multipliers,
        primal_value=size**2 * solution.primal_value,
        dual_value=size**2 * solution.dual_value,
        unit=size**2 * solution.unit,
    )


def _solve(
    Phi: FloatArray,
    sides: FloatArray,
    margins: FloatArray,
    costs: FloatArray,
    linear: float,
    unit: float,
    tol: float,
    max_iter: int,
) -> Solution:
    """min 1/2 w'w - linear b + sum_i u_i max(0, r_i - s_i (phi_i'w + b)), s_i = -1 or +1."""
    m = Phi.shape[1]
    A, centre = signed_rows(Phi, sides)
    pull = np.zeros(m + 1)
    pull[:m] = -linear * centre
    pull[m] = linear
    # half of the tolerance is for the distance of the multipliers from their equality
    v, a, n_iter = ridge_point(A, pull, costs, Limits(0.5 * tol, max_iter, unit=unit), margins)
    a = balanced(a, Subproblem(A, sides, costs, pull))
    q = a @ A[:, :m] + pull[:m]
    w = v[:m]
    scores = sides * (A[:, :m] @ w)
    # a bias at which a row meets its margin is one at which it meets 1 with another score
    b = hinge_bias(scores - sides * (margins - 1.0), sides, costs, linear)
    lack = np.maximum(0.0, margins - sides * (scores + b))
    primal = float(0.5 * w @ w - pull[:m] @ w - linear * b + costs @ lack)
    dual = float(a @ margins - 0.5 * q @ q)
    solution = Solution(
        weights=w,
        intercept=b - float(centre @ w),
        multipliers=a,
        primal_value=primal,
        dual_value=dual,
        n_iter=n_iter,
        unit=unit,
    )
    if solution.gap <= tol:
        return solution
    return replace(solution, status=Status.short_of_tolerance(n_iter >= max_iter))
