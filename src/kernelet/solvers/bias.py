"""The bias of a hinge problem, exactly, for given scores."""

from __future__ import annotations

import numpy as np

from kernelet.kernels.numerics.arrays import FloatArray

# Slopes closer to zero than this share of all costs are rounding of an exact balance: the cumulated
# costs of a million rows are exact to about 1e-13.
_FLAT = 1e-12


def hinge_bias(scores: FloatArray, y: FloatArray, u: FloatArray, linear: float = 0.0) -> float:
    """Midpoint of the minimisers of b -> sum_i u_i max(0, 1 - y_i (scores_i + b)) - linear b.

    The function is convex and piecewise linear with a kink at y_i - scores_i for every row. Where
    a multiplier is free the minimiser is that row's kink; where none is free the slope vanishes on
    an interval, which is the KKT interval of the bias. An interval without end (rows of one class
    only) is represented by its finite end.

    Examples
    --------
    >>> import numpy as np
    >>> hinge_bias(np.array([3.0, -2.0]), np.array([1.0, -1.0]), np.ones(2))
    -0.5
    """
    kinks = y - scores
    order = np.argsort(kinks)
    kinks = kinks[order]
    first_slope = -float(u @ (y > 0)) - linear
    slopes = np.cumsum(u[order]) + first_slope
    flat = _FLAT * (float(u.sum()) + abs(linear))
    if slopes.size == 0 or slopes[-1] < -flat:
        raise ValueError("the bias is unbounded: the linear term outweighs the costs of all rows")
    low = int(np.searchsorted(slopes, -flat))
    if low + 1 == kinks.size:
        # past the last kink the slope is at least -flat; flat there means an endless interval
        return float(kinks[low])
    if low == 0 and first_slope >= -flat:
        return float(kinks[0])
    if slopes[low] > flat:
        return float(kinks[low])
    high = int(np.searchsorted(slopes, flat, side="right"))
    return 0.5 * float(kinks[low] + kinks[min(high, kinks.size - 1)])
