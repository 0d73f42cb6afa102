"""How good a machine is for the squared hinge: a pair of points, and the distance between them."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from kernelet.kernels.numerics.arrays import FloatArray

# Distance, relative to the value, beyond which the multipliers are scaled. Nearer to the solution
# the best factor is close to 1, and gains little.
_FAR = 1e-2


@dataclass(frozen=True, eq=False)
class ProvenPoint:
    """A machine (w, b), multipliers that are feasible for the dual, and how far apart they are.

    Attributes
    ----------
    weights, intercept : ndarray of shape (m,), float
    multipliers : ndarray of shape (n,)
        a >= 0 with y'a = 0.
    dual_weights : ndarray of shape (m,)
        Phi'Ya, which the weights are at the solution.
    primal_value : float
        F(w, b).
    distance : float
        F(w, b) - D(a) >= 0, see `prove`.
    """

    weights: FloatArray
    intercept: float
    multipliers: FloatArray
    dual_weights: FloatArray
    primal_value: float
    distance: float


def prove(point: ProvenPoint, costs: FloatArray, residuals: FloatArray) -> ProvenPoint:
    r"""The same machine, and its multipliers, with the values they have for these residuals.

    .. math:: F(w, b) - D(a) = \tfrac12 \|w - \Phi^\top Y a\|^2
        + \sum_i \frac{(a_i - 2 C_i \xi_i)^2}{4 C_i} + \sum_i a_i (\xi_i - r_i)

    with residuals :math:`r_i`, a margin to reach (1 for a classifier) minus :math:`y_i f(x_i)`, and
    :math:`\xi_i = \max(0, r_i)`: no term is negative, so the distance keeps its digits when F is
    large. Far from the solution the multipliers are multiplied by the factor that is best for D, so
    that D is never negative.
    """
    slacks = np.maximum(0.0, residuals)
    value = 0.5 * float(point.weights @ point.weights) + float(costs @ slacks**2)
    distance = _distance(point.weights, point.dual_weights, point.multipliers, costs, residuals)
    if distance > _FAR * value:
        a, v = point.multipliers, point.dual_weights
        quadratic = float(v @ v) + float(_over_curvature(a**2, costs).sum())
        # sum_i a_i times the margins, which the residuals and the scores add up to, as y'a = 0
        linear = float(a @ residuals) + float(point.weights @ v)
        factor = max(0.0, linear / quadratic) if quadratic > 0 else 0.0
        scaled = _distance(point.weights, factor * v, factor * a, costs, residuals)
        if scaled < distance:
            distance = scaled
            point = replace(point, multipliers=factor * a, dual_weights=factor * v)
    return replace(point, primal_value=value, distance=distance)


def _distance(
    w: FloatArray, v: FloatArray, a: FloatArray, costs: FloatArray, residuals: FloatArray
) -> float:
    slacks = np.maximum(0.0, residuals)
    squares = _over_curvature((a - 2.0 * costs * slacks) ** 2, costs)
    return 0.5 * float((w - v) @ (w - v) + squares.sum()) + float(a @ (slacks - residuals))


def _over_curvature(values: FloatArray, costs: FloatArray) -> FloatArray:
    """values / (2 C), and 0 for rows without cost, whose multipliers are 0."""
    return np.divide(values, 2.0 * costs, out=np.zeros(values.size), where=costs > 0)
