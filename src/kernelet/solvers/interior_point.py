"""A primal-dual interior point for hinge loss plus a regulariser, over an array of rows.

With v = (w, b) and rows A_i = y_i (phi_i, 1) the problem is

    min  R(w) - linear'v + sum_i u_i max(0, 1 - A_i v).

Splitting the hinge, A v + xi - s = 1, gives the complementary pairs a s = 0 and t xi = 0 with
multipliers a + t = u. Every Newton system reduces to one of m + 1 unknowns,

    (H + A' Theta A) dv = rhs,     Theta = 1 / (s/a + xi/t),

where H is all that depends on R. Directions are Mehrotra's predictor and corrector with
Gondzio's centrality correctors.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve

from kernelet.solvers.pairs import Pair
from kernelet.solvers.regularizers import Regularizer
from kernelet.solvers.solution import FloatArray

# A step that stays this far inside the boundary; the usual compromise of such methods.
_BACK_OFF = 0.995
# Correctors are worth a back-substitution only while the step is short.
_LONG_STEP = 0.95
# Iterations without progress after which double precision is taken to be exhausted.
_PATIENCE = 15


@dataclass(frozen=True, eq=False)
class InteriorPoint:
    """Where the interior point ended."""

    variables: FloatArray
    multipliers: FloatArray
    n_iter: int
    gap: float


def interior_point(
    A: FloatArray,
    linear: FloatArray,
    u: FloatArray,
    regularizer: Regularizer,
    *,
    tol: float,
    max_iter: int,
) -> InteriorPoint:
    """Solve to a relative gap of tol, or return the best point met."""
    n, k = A.shape
    m = k - 1
    v = np.zeros(k)
    rows = Pair(u / 2, np.ones(n))  # (a, s): multiplier of the margin and its surplus
    slacks = Pair(u / 2, np.ones(n))  # (t, xi): multiplier of the slack and the slack
    pairs = [rows, slacks, *regularizer.start(float(np.mean(u)))]
    n_products = sum(pair.x.size for pair in pairs)
    best = InteriorPoint(v, rows.x.copy(), 0, np.inf)
    n_iter = 0
    while True:
        a, s, t, xi = rows.x, rows.z, slacks.x, slacks.z
        f = A @ v
        q = a @ A + linear
        primal = regularizer.primal(v[:m]) - linear @ v + u @ np.maximum(0.0, 1.0 - f)
        dual = a.sum() + regularizer.dual(q[:m])
        # q_b is how far a is from the equality that the dual value takes for granted
        slip = abs(q[m]) * (1.0 + abs(v[m])) + regularizer.dual_slip(v[:m], q[:m])
        gap = (max(primal - dual, 0.0) + slip) / max(1.0, abs(primal))
        if not np.isfinite(gap):
            return best
        if gap < best.gap:
            best = InteriorPoint(v, a.copy(), n_iter, gap)
        stalled = n_iter > best.n_iter + _PATIENCE and best.gap < 1e-4
        if gap <= tol or n_iter >= max_iter or stalled:
            return InteriorPoint(best.variables, best.multipliers, n_iter, best.gap)

        theta = 1.0 / (s / a + xi / t)
        scaled = A * np.sqrt(theta)[:, None]
        M = scaled.T @ scaled
        regularizer.add_hessian(M)
        solve = _factor(M)
        if solve is None:
            return InteriorPoint(best.variables, best.multipliers, n_iter, best.gap)
        n_iter += 1
        residual = 1.0 - f - xi + s

        def direction() -> tuple[FloatArray, float, float]:
            rho = residual - slacks.c / t + rows.c / a
            rhs = (theta * rho) @ A
            rhs[m] += linear[m] + a @ A[:, m]
            rhs[:m] += regularizer.right_side(v[:m], q[:m])
            dv = solve(rhs)
            rows.dx = theta * (rho - A @ dv)
            slacks.dx = -rows.dx
            rows.dz = (rows.c - s * rows.dx) / a
            slacks.dz = (slacks.c - xi * slacks.dx) / t
            regularizer.recover(dv[:m])
            return dv, *_steps(pairs, separate=regularizer.is_linear)

        mu = sum(float(pair.x @ pair.z) for pair in pairs) / n_products
        for pair in pairs:
            pair.aim_affine()
        dv, primal_step, dual_step = direction()
        affine = sum(pair.product_after(primal_step, dual_step) for pair in pairs) / n_products
        target = mu * (affine / mu) ** 3
        for pair in pairs:
            pair.aim_centre(target)
        dv, primal_step, dual_step = direction()
        for _ in range(2):
            if min(primal_step, dual_step) > _LONG_STEP:
                break
            kept = [pair.directions() for pair in pairs]
            ahead = (min(1.0, primal_step + 0.3), min(1.0, dual_step + 0.3))
            for pair in pairs:
                pair.aim_nearer(target, *ahead)
            longer, longer_primal, longer_dual = direction()
            if longer_primal + longer_dual < primal_step + dual_step + 0.06:
                for pair, old in zip(pairs, kept, strict=True):
                    pair.dx, pair.dz = old
                break
            dv, primal_step, dual_step = longer, longer_primal, longer_dual
        primal_step = min(1.0, _BACK_OFF * primal_step)
        dual_step = min(1.0, _BACK_OFF * dual_step)
        v = v + primal_step * dv
        for pair in pairs:
            pair.advance(primal_step, dual_step)


def _steps(pairs: list[Pair], *, separate: bool) -> tuple[float, float]:
    """Longest primal and dual steps; one common step where a residual couples the two."""
    reaches = [pair.reaches() for pair in pairs]
    primal = 1.0 / max(1.0, *(reach[0] for reach in reaches))
    dual = 1.0 / max(1.0, *(reach[1] for reach in reaches))
    return (primal, dual) if separate else (min(primal, dual),) * 2


def _factor(M: FloatArray) -> Callable[[FloatArray], FloatArray] | None:
    """Cholesky solver of M; a relative shift of the diagonal where rounding made it indefinite."""
    shift = 0.0
    diagonal = np.arange(M.shape[0])
    for _ in range(6):
        shifted = M.copy()
        shifted[diagonal, diagonal] *= 1.0 + shift
        try:
            factor = cho_factor(shifted, lower=True, overwrite_a=True, check_finite=False)
        except LinAlgError:
            shift = max(100.0 * shift, 1e-15)
            continue
        return lambda rhs: cho_solve(factor, rhs, check_finite=False)
    return None
