"""The interior point of `kernelet.solvers.interior_point` for the ridge, as one compiled loop.

Problems of a few hundred rows are all call overhead in NumPy. The twin is
`interior_point.primal_dual.interior_point` with `Ridge`; the tests hold the two equal.
"""

from __future__ import annotations

import numpy as np

from kernelet._accelerate.compiled import compiled
from kernelet._accelerate.products import SUMS, add_sums, cholesky, gram, solve, times, triangle

# Maxima may be taken in any order too, if it does not matter what the largest of numbers and NaN
# is.
_MAXIMA = SUMS | {"nnan", "nsz"}

# The constants of the twin, which gives the reasons; a test compares them. They are not imported
# from there: numba keeps compiled code until this file changes.
BACK_OFF = 0.995
CORRECTORS = 2
LONG_STEP = 0.95
AHEAD = 0.3
LONGER = 0.03
PATIENCE = 10
NEAR = 1e-4
LONG_PATIENCE = 50
CIRCLING = 5
RECENTRING = 3
AIM = 0.1
SMALLEST, LARGEST = 0.1, 10.0

# All variables of the rows are lines of one table, so that functions take few arguments, which cost
# as much as the work on a few rows: multipliers of margins and slacks and what is complementary to
# them, the reciprocals of these four, weights of the Newton system, its residual, what the products
# are to change by, two lines of scratch, and two directions of three lines (the multipliers of the
# slacks change by minus the first).
A_, T_, S_, XI = 0, 1, 2, 3
PER_A, PER_T, PER_S, PER_XI = 4, 5, 6, 7
THETA, RESIDUAL, AIM_S, AIM_XI, RHO, PRODUCT = 8, 9, 10, 11, 12, 13
ONE, OTHER = 14, 17
N_LINES = 20


@compiled(fastmath=_MAXIMA)
def _direction(A, L, is_delicate, rows, rd, dv, d):
    """The direction for the aims, in dv and three lines from d on; returns the step to the edge."""
    n, k = A.shape
    for i in range(n):
        rows[RHO, i] = (
            rows[RESIDUAL, i] - rows[AIM_XI, i] * rows[PER_T, i] + rows[AIM_S, i] * rows[PER_A, i]
        )
    for i in range(n):
        rows[PRODUCT, i] = rows[THETA, i] * rows[RHO, i]
    for j in range(k):
        dv[j] = -rd[j]
    product = rows[PRODUCT]
    add_sums(A, product, dv)
    solve(L, dv)
    times(A, dv, product)
    for i in range(n):
        rows[d, i] = rows[THETA, i] * (rows[RHO, i] - rows[PRODUCT, i])
    if is_delicate:
        # refined once on both equations
        for i in range(n):
            rows[RHO, i] -= rows[PRODUCT, i] + rows[d, i] / rows[THETA, i]
            rows[PRODUCT, i] = rows[d, i] + rows[THETA, i] * rows[RHO, i]
        ddv = np.empty(k)
        for j in range(k):
            ddv[j] = -rd[j] - (dv[j] if j < k - 1 else 0.0)
        add_sums(A, product, ddv)
        solve(L, ddv)
        times(A, ddv, product)
        for j in range(k):
            dv[j] += ddv[j]
        for i in range(n):
            rows[d, i] += rows[THETA, i] * (rows[RHO, i] - rows[PRODUCT, i])
    for i in range(n):
        rows[d + 1, i] = (rows[AIM_S, i] - rows[S_, i] * rows[d, i]) * rows[PER_A, i]
    for i in range(n):
        rows[d + 2, i] = (rows[AIM_XI, i] + rows[XI, i] * rows[d, i]) * rows[PER_T, i]
    # reciprocals of the longest steps; four chains of comparisons run side by side
    reach_a, reach_t, reach_s, reach_xi = 1.0, 1.0, 1.0, 1.0
    for i in range(n):
        reach_a = max(reach_a, -rows[d, i] * rows[PER_A, i])
        reach_t = max(reach_t, rows[d, i] * rows[PER_T, i])
        reach_s = max(reach_s, -rows[d + 1, i] * rows[PER_S, i])
        reach_xi = max(reach_xi, -rows[d + 2, i] * rows[PER_XI, i])
    return 1.0 / max(reach_a, reach_t, reach_s, reach_xi)


@compiled(fastmath=SUMS)
def _products(rows, d, step):
    """Sum of the complementary products after a step."""
    total = 0.0
    for i in range(rows.shape[1]):
        total += (rows[A_, i] + step * rows[d, i]) * (rows[S_, i] + step * rows[d + 1, i])
        total += (rows[T_, i] - step * rows[d, i]) * (rows[XI, i] + step * rows[d + 2, i])
    return total


@compiled()
def _aim_nearer(rows, d, target, ahead):
    """Correct the products that would be out of proportion after a step (Gondzio)."""
    least, most = SMALLEST * target, LARGEST * target
    for i in range(rows.shape[1]):
        product = (rows[A_, i] + ahead * rows[d, i]) * (rows[S_, i] + ahead * rows[d + 1, i])
        rows[AIM_S, i] += max(min(max(product, least), most) - product, -most)
        product = (rows[T_, i] - ahead * rows[d, i]) * (rows[XI, i] + ahead * rows[d + 2, i])
        rows[AIM_XI, i] += max(min(max(product, least), most) - product, -most)


@compiled()
def _evaluate(A, linear, u, margin, rows, v, rd):
    """Residuals of both equations at a point; returns both values and y'a + linear_b."""
    n, k = A.shape
    times(A, v, rows[RESIDUAL])
    q = linear.copy()
    add_sums(A, rows[A_], q)
    primal, dual = 0.0, 0.0
    for j in range(k):
        primal -= linear[j] * v[j]
        rd[j] = -q[j]
    for j in range(k - 1):
        primal += 0.5 * v[j] * v[j]
        dual -= 0.5 * q[j] * q[j]
        rd[j] += v[j]
    for i in range(n):
        reached = rows[RESIDUAL, i]
        rows[RESIDUAL, i] = margin[i] - reached - rows[XI, i] + rows[S_, i]
        primal += u[i] * max(0.0, margin[i] - reached)
        dual += margin[i] * rows[A_, i]
    return primal, dual, q[k - 1]


@compiled()
def _factor(A, rows, M, L):
    """The factor L at an iterate, with its weights and reciprocals.

    Returns whether pivots lost their digits, and whether the system can be solved all the same.
    """
    for i in range(rows.shape[1]):
        for line in range(4):
            rows[PER_A + line, i] = 1.0 / rows[A_ + line, i]
        rows[THETA, i] = 1.0 / (rows[S_, i] * rows[PER_A, i] + rows[XI, i] * rows[PER_T, i])
    gram(A, rows[THETA], M)
    is_delicate = not cholesky(M, L)
    return is_delicate, not is_delicate or triangle(A, rows[THETA], L)


@compiled()
def _step(A, L, is_delicate, rows, rd, directions, least, recentre):
    """Predictor, corrector, and centrality correctors while they lengthen the step.

    Products are aimed at ``least`` or more. Returns which of the two directions to take, and the
    step to the edge.
    """
    n = rows.shape[1]
    for i in range(n):
        rows[AIM_S, i] = -rows[A_, i] * rows[S_, i]
        rows[AIM_XI, i] = -rows[T_, i] * rows[XI, i]
    at, d, other = 0, ONE, OTHER
    step = _direction(A, L, is_delicate, rows, rd, directions[at], d)
    mu = _products(rows, d, 0.0) / (2 * n)
    affine = _products(rows, d, step) / (2 * n)
    # Mehrotra's rule: the better the affine step does, the lower the next products
    target, weight = max(mu * (affine / mu) ** 3, least / (2 * n)), 1.0
    if recentre:
        target, weight = mu, 0.0
    for i in range(n):
        da, ds, dxi = rows[d, i], rows[d + 1, i], rows[d + 2, i]
        rows[AIM_S, i] = target - rows[A_, i] * rows[S_, i] - weight * da * ds
        rows[AIM_XI, i] = target - rows[T_, i] * rows[XI, i] + weight * da * dxi
    for attempt in range(1 + CORRECTORS):
        longer = _direction(A, L, is_delicate, rows, rd, directions[1 - at], other)
        if attempt > 0 and longer < step + LONGER:
            break
        step = longer
        at, d, other = 1 - at, other, d
        if step > LONG_STEP:
            break
        _aim_nearer(rows, d, target, min(1.0, step + AHEAD))
    return at, step


@compiled()
def _advance(rows, v, dv, d, step):
    """Take a step."""
    for j in range(v.size):
        v[j] += step * dv[j]
    for i in range(rows.shape[1]):
        rows[A_, i] += step * rows[d, i]
        rows[T_, i] -= step * rows[d, i]
        rows[S_, i] += step * rows[d + 1, i]
        rows[XI, i] += step * rows[d + 2, i]


@compiled()
def interior_point(A, linear, u, tol, max_iter, constant, unit, margin):
    """min 1/2 |w|^2 - linear'v + sum_i u_i max(0, r_i - A_i v), v = (w, b), A_i = y_i (phi_i, 1).

    The margins r are 1 in a support vector machine.

    Returns v, the multipliers, the number of Newton systems and the relative gap reached.
    """
    n, k = A.shape
    rows, directions, rd = np.zeros((N_LINES, n)), np.zeros((2, k)), np.zeros(k)
    M, L, v = np.zeros((k, k)), np.zeros((k, k)), np.zeros(k)
    row_size = 0.0
    for i in range(n):
        rows[A_, i] = rows[T_, i] = 0.5 * u[i]
        rows[S_, i] = rows[XI, i] = 1.0
        for j in range(k):
            row_size += A[i, j] * A[i, j]
    row_size /= n
    best_v, best_a, best_gap, best_at = v.copy(), rows[A_].copy(), np.inf, 0
    n_iter = 0
    while True:
        primal, dual, q_b = _evaluate(A, linear, u, margin, rows, v, rd)
        scale = max(unit, abs(primal + constant))
        slip = abs(q_b) * (1.0 + abs(v[k - 1])) + 0.5 * q_b * q_b * row_size
        gap = (max(primal - dual, 0.0) + slip) / scale
        if not np.isfinite(gap):
            break
        if gap < best_gap:
            best_gap, best_at = gap, n_iter
            for j in range(k):
                best_v[j] = v[j]
            for i in range(n):
                best_a[i] = rows[A_, i]
        patience = PATIENCE if best_gap < NEAR else LONG_PATIENCE
        if gap <= tol or n_iter >= max_iter or n_iter > best_at + patience:
            break
        is_delicate, is_regular = _factor(A, rows, M, L)
        if not is_regular:
            break
        n_iter += 1
        waited = n_iter - best_at
        recentre = waited > CIRCLING and waited % RECENTRING == 0
        at, step = _step(A, L, is_delicate, rows, rd, directions, AIM * tol * scale, recentre)
        _advance(rows, v, directions[at], OTHER if at else ONE, min(1.0, BACK_OFF * step))
    return best_v, best_a, n_iter, best_gap
