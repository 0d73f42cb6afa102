r"""Ridge problems in which leaving an interval costs the square of the distance.

Each row is two rows of the squared hinge: one that wants its score above the lower end, one that
wants it below the upper end, with the ends as margins. So Newton's method for the squared hinge,
its line search, its care with digits and its certificate serve this problem as they are.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from kernelet.kernels.numerics.arrays import BoolArray, FloatArray, IndexArray
from kernelet.solvers.rows import ArrayRows
from kernelet.solvers.solution import Solution, Status
from kernelet.solvers.squared_hinge.newton import minimize

# Rounding error of a score, in shares of the ends that it is compared with: four units in the last
# place.
_ROUNDING = 1e-15


def squared_interval_ridge(
    Phi: FloatArray,
    lower: FloatArray,
    upper: FloatArray,
    C_lower: FloatArray,
    C_upper: FloatArray,
    *,
    tol: float = 1e-8,
    max_iter: int = 500,
    start: tuple[FloatArray, float] | None = None,
) -> Solution:
    r"""Solve the ridge problem in which leaving an interval costs the squared distance.

    .. math:: \min_{w, b} \tfrac12 w'w + \sum_i C^-_i \max(0, l_i - f_i)^2
        + C^+_i \max(0, f_i - u_i)^2, \qquad f_i = \phi_i'w + b

    l = y - epsilon and u = y + epsilon make it support vector regression with the squared loss of
    scikit-learn's ``LinearSVR(loss="squared_epsilon_insensitive")``, whose bias is penalised and
    here is not. The dual is

    .. math:: \max_{\sum_i g_i = 0} \sum_i l_i g_i^+ - u_i g_i^- - \frac{(g_i^+)^2}{4 C^-_i}
        - \frac{(g_i^-)^2}{4 C^+_i} - \tfrac12 \|\Phi' g\|^2

    with the positive and negative parts of :math:`g_i = 2 C^-_i \max(0, l_i - f_i) - 2 C^+_i
    \max(0, f_i - u_i)`, the pull on the row's score.

    Parameters
    ----------
    Phi : ndarray of shape (n, m)
    lower, upper : ndarray of shape (n,)
        The ends of the intervals, lower <= upper; -inf and inf where a row has no such end.
    C_lower, C_upper : ndarray of shape (n,)
        Costs, not negative.
    tol : float, default=1e-8
        Relative duality gap to reach.
    max_iter : int, default=500
        Newton systems allowed at costs of one size.
    start : (weights, intercept), default=None
        The solution of a nearby problem.

    Returns
    -------
    Solution
        Its multipliers are the pulls g: w = Phi'g, sum_i g_i = 0. Where one score is inside of all
        intervals the weights are zero, and the intercept is the middle of what is inside of all.

    Examples
    --------
    >>> import numpy as np
    >>> y = np.array([0.0, 2.0, 4.0])
    >>> C = np.full(3, 10.0)
    >>> s = squared_interval_ridge(np.array([[0.0], [1.0], [2.0]]), y - 0.5, y + 0.5, C, C)
    >>> print(np.round(s.weights, 6), round(s.intercept, 6))  # from 0.5 to 3.5 if C were larger
    [1.463415] 0.536585
    """
    n, m = Phi.shape
    has_end = np.concatenate(
        [(C_lower > 0.0) & (lower > -np.inf), (C_upper > 0.0) & (upper < np.inf)]
    )
    ends = np.where(has_end, np.concatenate([lower, upper]), 0.0)
    costs = np.where(has_end, np.concatenate([C_lower, C_upper]), 0.0)
    common = _common_score(ends[:n][has_end[:n]], ends[n:][has_end[n:]])
    if common is not None:
        return Solution(np.zeros(m), common, np.zeros(n), 0.0, 0.0, n_iter=0)
    return _solve(Phi, has_end, ends, costs, tol, max_iter, start)


def _common_score(lower: FloatArray, upper: FloatArray) -> float | None:
    """A score inside of all intervals, which costs nothing; None if there is none."""
    highest = float(lower.max(initial=-np.inf))
    lowest = float(upper.min(initial=np.inf))
    if highest > lowest:
        return None
    known = [end for end in (highest, lowest) if np.isfinite(end)]
    return sum(end / len(known) for end in known)


def _solve(
    Phi: FloatArray,
    has_end: BoolArray,
    ends: FloatArray,
    costs: FloatArray,
    tol: float,
    max_iter: int,
    start: tuple[FloatArray, float] | None,
) -> Solution:
    """The problem as one of the squared hinge, over the lower ends followed by the upper ends."""
    n = Phi.shape[0]
    # what the bias takes up is taken off first: targets far from zero keep their digits
    middle = float(np.mean(ends[has_end]))
    sides = np.repeat([1.0, -1.0], n)
    point, n_iter, status = minimize(
        _BothSides(Phi),
        sides,
        costs,
        None if start is None else (start[0], start[1] - middle),
        tol=tol,
        max_iter=max_iter,
        margins=np.where(has_end, sides * (ends - middle), 0.0),
    )
    # scores are no nearer to the ends than the rounding of these: smaller losses are no losses
    noise = float(costs @ np.square(_ROUNDING * ends))
    solution = Solution(
        weights=point.weights,
        intercept=point.intercept + middle,
        multipliers=point.multipliers[:n] - point.multipliers[n:],
        primal_value=point.primal_value,
        dual_value=point.primal_value - point.distance,
        n_iter=n_iter,
        status=status,
        unit=noise / tol,
    )
    return replace(solution, status=Status.OPTIMAL) if solution.gap <= tol else solution


class _BothSides:
    """Rows for the lower ends and, below them, the same rows for the upper ends."""

    def __init__(self, Phi: FloatArray) -> None:
        self._rows = ArrayRows(Phi)
        self._n = Phi.shape[0]

    @property
    def shape(self) -> tuple[int, int]:
        return 2 * self._n, self._rows.shape[1]

    def scores(self, weights: FloatArray) -> FloatArray:
        one_side = self._rows.scores(weights)
        return np.concatenate([one_side, one_side])

    def take(self, index: IndexArray) -> FloatArray:
        return self._rows.take(index % self._n)

    def take_all(self) -> FloatArray:
        return np.concatenate([self._rows.array, self._rows.array])

    def weighted_sum(self, row_weights: FloatArray) -> FloatArray:
        return self._rows.weighted_sum(row_weights[: self._n] + row_weights[self._n :])

    def weighted_gram(self, row_weights: FloatArray) -> FloatArray:
        return self._rows.weighted_gram(row_weights[: self._n] + row_weights[self._n :])
