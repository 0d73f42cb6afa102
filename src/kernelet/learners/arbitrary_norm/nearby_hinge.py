"""The hinge loss with a ridge, from the solution of a problem nearby.

From step to step hardly any row changes its side of the margin. For given sides the problem is a
linear system: rows outside the margin have a multiplier of 0, rows inside it one of C_i, and those
on it what keeps them there. Rows that turn out to be on another side move all at once, as in block
principal pivoting, or some of them if that goes in circles. When none is left the solution is
exact.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kernelet.kernels.numerics.arrays import FloatArray
from kernelet.learners.arbitrary_norm.change_of_variables import RidgeFeatures

# Multipliers nearer to a bound, in shares of the cost, are at it where the search begins. Interior
# points leave 1e-6 and less.
_AT_BOUND = 1e-5
# Rows that are off their side by no more, in units of the margin and of the cost, stay.
_ROUNDING = 1e-9
# When no fewer rows are off their side than before they go in circles: then a quarter of them
# moves, those farthest off, and again a quarter of that in the next round. If more rows came to the
# margin than features can hold there, few do.
_SHARE = 0.25
_VERY_STUCK = 3
# On digits 98 of 100 problems end within as many.
_MAX_ROUNDS = 8


@dataclass(frozen=True, eq=False)
class LinearFit:
    """A linear machine over features, the value of its loss, and how exact it is.

    ``multipliers`` are those of the rows, where the loss has any.
    """

    weights: FloatArray
    intercept: float
    loss: float
    gap: float
    multipliers: FloatArray | None = None


def nearby_hinge(
    rows: RidgeFeatures, y: FloatArray, costs: FloatArray, multipliers: FloatArray, tol: float
) -> LinearFit | None:
    """min 1/2 w'w + sum_i C_i max(0, 1 - y_i (phi_i'w + b)), or None if no solution is found.

    Parameters
    ----------
    rows : RidgeFeatures
    y, costs : ndarray of shape (n,)
    multipliers : ndarray of shape (n,)
        Those of a problem nearby.
    tol : float
        The relative duality gap above which rounding has spoiled the solution: None as well.
    """
    inside = multipliers >= (1.0 - _AT_BOUND) * costs
    on = (multipliers > _AT_BOUND * costs) & ~inside
    pool = _Pool(rows)
    fewest, stuck = y.size, 0
    for _ in range(_MAX_ROUNDS):
        (index,) = on.nonzero()
        found = _for_sides(pool, y, np.where(inside, y * costs, 0.0), index)
        if found is None:
            return None
        w, b, on_margin, unit = found
        alpha = np.where(inside, costs, 0.0)
        alpha[index] = on_margin
        lack = 1.0 - y * (rows.scores(w) + b)
        # a row leaves the margin when its multiplier leaves the bounds, and joins when it has
        # crossed; far across it moves to the other side
        aim = alpha + np.where(on, 0.0, lack / unit)
        slip = _ROUNDING * np.where(on, costs, 1.0 / unit)
        now_inside = np.where(inside, aim >= costs - slip, aim > costs + slip)
        now_on = ~now_inside & np.where(on | inside, aim >= -slip, aim > slip)
        moved = (now_inside != inside) | (now_on != on)
        n_moved = int(np.count_nonzero(moved))
        if not n_moved:
            alpha = np.minimum(np.maximum(alpha, 0.0), costs)
            loss, norm = float(costs @ np.maximum(lack, 0.0)), 0.5 * float(w @ w)
            gap = (loss + 2.0 * norm - float(alpha.sum())) / (loss + norm)
            return LinearFit(w, b, loss, gap, alpha) if abs(gap) <= tol else None
        stuck = 0 if n_moved < fewest else stuck + 1
        fewest = min(fewest, n_moved)
        if np.count_nonzero(now_on) > rows.shape[1] + 1:
            stuck = max(stuck, _VERY_STUCK)
        if stuck:
            n_left = max(int(n_moved * _SHARE**stuck), 1)
            far = np.where(on, np.maximum(-alpha, alpha - costs), np.abs(lack) / unit)
            far[~moved] = -np.inf
            moved = far >= np.partition(far, -n_left)[-n_left]
            inside, on = np.where(moved, now_inside, inside), np.where(moved, now_on, on)
        else:
            inside, on = now_inside, now_on
    return None


class _Pool:
    """Features of rows that are or were on the margin."""

    def __init__(self, rows: RidgeFeatures) -> None:
        self.rows = rows
        self._Phi = np.empty((0, rows.shape[1]))
        self._place = np.full(rows.shape[0], -1)

    def take(self, index: NDArray[np.intp]) -> FloatArray:
        """Some rows, each of which is computed once."""
        new = index[self._place[index] < 0]
        if new.size:
            self._place[new] = self._Phi.shape[0] + np.arange(new.size)
            self._Phi = np.concatenate([self._Phi, self.rows.take(new)])
        chosen: FloatArray = self._Phi[self._place[index]]
        return chosen


def _for_sides(
    pool: _Pool, y: FloatArray, pull: FloatArray, index: NDArray[np.intp]
) -> tuple[FloatArray, float, FloatArray, float] | None:
    """w, b and the multipliers on the margin for given sides, and what a multiplier moves a row.

    ``pull`` has y_i C_i of the rows inside, ``index`` those on the margin.
    """
    n_on, rows = index.size, pool.rows
    # without a row on the margin the bias is not known; and no more can be put there
    if not 0 < n_on <= rows.shape[1] + 1:
        return None
    Phi, fixed = pool.take(index), rows.weighted_sum(pull)
    system = np.ones((n_on + 1, n_on + 1))
    system[:n_on, :n_on] = Phi @ Phi.T
    system[n_on, n_on] = 0.0
    right = np.append(y[index] - Phi @ fixed, -pull.sum())
    unit = float(system.diagonal().sum()) / n_on
    try:
        solution = np.linalg.solve(system, right)
    except np.linalg.LinAlgError:
        return None
    if not (np.isfinite(solution).all() and unit > 0.0):
        return None
    return fixed + solution[:n_on] @ Phi, float(solution[-1]), y[index] * solution[:n_on], unit
