"""The interior point of `kernelet.solvers.interior_point` for the ridge, as one compiled loop.

Problems of a few hundred rows are all call overhead in NumPy. The twin is
`interior_point.primal_dual.interior_point` with `Ridge`; the tests hold the two equal.
Constants are those of the twin, where they have names and reasons. Products are loops: calls of
library functions take longer to compile, and BLAS would start threads for each of them.
"""

from __future__ import annotations

import numpy as np

from kernelet._accelerate.compiled import compiled

# Sums may be taken in any order, which lets the compiler use vector instructions.
_SUMS = {"reassoc", "contract"}
# So may maxima, if it need not care what the largest of numbers and NaN is.
_MAXIMA = _SUMS | {"nnan", "nsz"}


@compiled(fastmath=_SUMS)
def _times(A, v, out):
    """out = A v."""
    n, k = A.shape
    for i in range(n):
        total = 0.0
        for j in range(k):
            total += A[i, j] * v[j]
        out[i] = total


@compiled(fastmath=_SUMS)
def _add_sums(A, a, out):
    """out += A'a."""
    n, k = A.shape
    for i in range(n):
        weight = a[i]
        for j in range(k):
            out[j] += weight * A[i, j]


@compiled(fastmath=_SUMS)
def _gram(A, theta, M):
    """Lower triangle of M = A' diag(theta) A + I, without the bias in I.

    Four rows of A and two of M at a time, so that numbers are used several times once loaded.
    """
    n, k = A.shape
    for j in range(k):
        for c in range(k):
            M[j, c] = 0.0
        M[j, j] = 1.0 if j < k - 1 else 0.0
    for i in range(0, n - 3, 4):
        t0, t1, t2, t3 = theta[i], theta[i + 1], theta[i + 2], theta[i + 3]
        for j in range(0, k - 1, 2):
            x0, x1 = t0 * A[i, j], t1 * A[i + 1, j]
            x2, x3 = t2 * A[i + 2, j], t3 * A[i + 3, j]
            y0, y1 = t0 * A[i, j + 1], t1 * A[i + 1, j + 1]
            y2, y3 = t2 * A[i + 2, j + 1], t3 * A[i + 3, j + 1]
            for c in range(j + 2):
                a0, a1, a2, a3 = A[i, c], A[i + 1, c], A[i + 2, c], A[i + 3, c]
                M[j, c] += x0 * a0 + x1 * a1 + x2 * a2 + x3 * a3
                M[j + 1, c] += y0 * a0 + y1 * a1 + y2 * a2 + y3 * a3
        if k % 2 == 1:
            x0, x1 = t0 * A[i, k - 1], t1 * A[i + 1, k - 1]
            x2, x3 = t2 * A[i + 2, k - 1], t3 * A[i + 3, k - 1]
            for c in range(k):
                M[k - 1, c] += x0 * A[i, c] + x1 * A[i + 1, c] + x2 * A[i + 2, c] + x3 * A[i + 3, c]
    for i in range(n - n % 4, n):
        for j in range(k):
            x0 = theta[i] * A[i, j]
            for c in range(j + 1):
                M[j, c] += x0 * A[i, c]


@compiled(fastmath=_SUMS)
def _cholesky(M, L):
    """Lower factor of M in L; whether no pivot lost more than ten digits."""
    k = M.shape[0]
    for j in range(k):
        row = L[j]
        for i in range(j):
            other = L[i]
            e = M[j, i]
            for r in range(i):
                e -= row[r] * other[r]
            row[i] = e / other[i]
        d = M[j, j]
        for r in range(j):
            d -= row[r] * row[r]
        if not d > 1e-10 * M[j, j]:
            return False
        row[j] = np.sqrt(d)
    return True


@compiled(fastmath=_SUMS)
def _triangle(A, theta, L):
    """Lower L with L L' = A' diag(theta) A + I, by reflections that never form the product."""
    n, k = A.shape
    W = np.empty((n + k - 1, k))
    products = np.empty(k)
    for i in range(n):
        root = np.sqrt(theta[i])
        for c in range(k):
            W[i, c] = root * A[i, c]
    for i in range(k - 1):
        for c in range(k):
            W[n + i, c] = 1.0 if i == c else 0.0
    for j in range(k):
        norm = 0.0
        for i in range(j, n + k - 1):
            norm += W[i, j] * W[i, j]
        norm = np.sqrt(norm)
        if norm == 0.0:
            return False
        if W[j, j] > 0.0:
            norm = -norm
        head = W[j, j] - norm
        # with the reflector scaled to a head of one, I - (-head / norm) v v'
        for i in range(j + 1, n + k - 1):
            W[i, j] /= head
        W[j, j] = norm
        for c in range(j + 1, k):
            products[c] = W[j, c]
        for i in range(j + 1, n + k - 1):
            weight = W[i, j]
            for c in range(j + 1, k):
                products[c] += weight * W[i, c]
        beta = -head / norm
        for c in range(j + 1, k):
            products[c] *= beta
            W[j, c] -= products[c]
        for i in range(j + 1, n + k - 1):
            weight = W[i, j]
            for c in range(j + 1, k):
                W[i, c] -= weight * products[c]
        for c in range(j, k):
            L[c, j] = W[j, c]
    return True


@compiled(fastmath=_SUMS)
def _solve(L, x):
    """Overwrite x by the solution of L L'x = x."""
    k = L.shape[0]
    for i in range(k):
        row = L[i]
        e = x[i]
        for r in range(i):
            e -= row[r] * x[r]
        x[i] = e / row[i]
    for i in range(k - 1, -1, -1):
        row = L[i]
        x[i] /= row[i]
        e = x[i]
        for r in range(i):
            x[r] -= row[r] * e


@compiled(fastmath=_MAXIMA)
def _direction(A, L, delicate, theta, rd, rp, a, t, s, xi, inverse, c1, c2, dv, da, ds, dxi, work):
    """Newton direction for complementarity aims c1, c2; returns the step to the edge."""
    n, k = A.shape
    rho, product = work[0], work[1]
    per_a, per_t, per_s, per_xi = inverse[0], inverse[1], inverse[2], inverse[3]
    for i in range(n):
        rho[i] = rp[i] - c2[i] * per_t[i] + c1[i] * per_a[i]
    for i in range(n):
        product[i] = theta[i] * rho[i]
    for j in range(k):
        dv[j] = -rd[j]
    _add_sums(A, product, dv)
    _solve(L, dv)
    _times(A, dv, product)
    for i in range(n):
        da[i] = theta[i] * (rho[i] - product[i])
    if delicate:
        for i in range(n):
            rho[i] -= product[i] + da[i] / theta[i]
            product[i] = da[i] + theta[i] * rho[i]
        ddv = np.empty(k)
        for j in range(k):
            ddv[j] = -rd[j] - (dv[j] if j < k - 1 else 0.0)
        _add_sums(A, product, ddv)
        _solve(L, ddv)
        _times(A, ddv, product)
        for j in range(k):
            dv[j] += ddv[j]
        for i in range(n):
            da[i] += theta[i] * (rho[i] - product[i])
    for i in range(n):
        ds[i] = (c1[i] - s[i] * da[i]) * per_a[i]
    for i in range(n):
        dxi[i] = (c2[i] + xi[i] * da[i]) * per_t[i]
    # reciprocals of the longest steps; four chains of comparisons run side by side
    reach_a, reach_t, reach_s, reach_xi = 1.0, 1.0, 1.0, 1.0
    for i in range(n):
        reach_a = max(reach_a, -da[i] * per_a[i])
        reach_t = max(reach_t, da[i] * per_t[i])
        reach_s = max(reach_s, -ds[i] * per_s[i])
        reach_xi = max(reach_xi, -dxi[i] * per_xi[i])
    return 1.0 / max(reach_a, reach_t, reach_s, reach_xi)


@compiled(fastmath=_SUMS)
def _products(a, t, s, xi, da, ds, dxi, step):
    """Sum of the complementary products after a step."""
    total = 0.0
    for i in range(a.size):
        total += (a[i] + step * da[i]) * (s[i] + step * ds[i])
        total += (t[i] - step * da[i]) * (xi[i] + step * dxi[i])
    return total


@compiled()
def interior_point(A, linear, u, tol, max_iter, constant, unit, margin):
    """min 1/2 |w|^2 - linear'v + sum_i u_i max(0, r_i - A_i v), v = (w, b), A_i = y_i (phi_i, 1).

    The margins r are 1 in a support vector machine.

    Returns v, the multipliers, the number of Newton systems and the relative gap reached.
    """
    n, k = A.shape
    m = k - 1
    v, dv, ev = np.zeros(k), np.zeros(k), np.zeros(k)
    q, rd, best_v = np.zeros(k), np.zeros(k), np.zeros(k)
    a, t, s, xi, best_a = np.zeros(n), np.zeros(n), np.zeros(n), np.zeros(n), np.zeros(n)
    f, rp, theta, c1, c2 = np.zeros(n), np.zeros(n), np.zeros(n), np.zeros(n), np.zeros(n)
    da, ds, dxi = np.zeros(n), np.zeros(n), np.zeros(n)
    ea, es, exi = np.zeros(n), np.zeros(n), np.zeros(n)
    inverse, work = np.zeros((4, n)), np.zeros((2, n))
    M, L = np.zeros((k, k)), np.zeros((k, k))
    for i in range(n):
        a[i] = t[i] = best_a[i] = 0.5 * u[i]
        s[i] = xi[i] = 1.0
    row_size = 0.0
    for i in range(n):
        for j in range(k):
            row_size += A[i, j] * A[i, j]
    row_size /= n
    best_gap, best_at = np.inf, 0
    n_iter = 0
    while True:
        _times(A, v, f)
        for j in range(k):
            q[j] = linear[j]
        _add_sums(A, a, q)
        primal, dual = 0.0, 0.0
        for j in range(k):
            primal -= linear[j] * v[j]
            rd[j] = -q[j]
        for j in range(m):
            primal += 0.5 * v[j] * v[j]
            dual -= 0.5 * q[j] * q[j]
            rd[j] += v[j]
        for i in range(n):
            rp[i] = margin[i] - f[i] - xi[i] + s[i]
            primal += u[i] * max(0.0, margin[i] - f[i])
            dual += margin[i] * a[i]
        scale = max(unit, abs(primal + constant))
        slip = abs(q[m]) * (1.0 + abs(v[m])) + 0.5 * q[m] * q[m] * row_size
        gap = (max(primal - dual, 0.0) + slip) / scale
        if not np.isfinite(gap):
            break
        if gap < best_gap:
            best_gap, best_at = gap, n_iter
            for j in range(k):
                best_v[j] = v[j]
            for i in range(n):
                best_a[i] = a[i]
        patience = 10 if best_gap < 1e-4 else 50
        if gap <= tol or n_iter >= max_iter or n_iter > best_at + patience:
            break

        for i in range(n):
            inverse[0, i] = 1.0 / a[i]
            inverse[1, i] = 1.0 / t[i]
            inverse[2, i] = 1.0 / s[i]
            inverse[3, i] = 1.0 / xi[i]
            theta[i] = 1.0 / (s[i] * inverse[0, i] + xi[i] * inverse[1, i])
        _gram(A, theta, M)
        delicate = not _cholesky(M, L)
        if delicate and not _triangle(A, theta, L):
            break
        n_iter += 1

        for i in range(n):
            c1[i] = -a[i] * s[i]
            c2[i] = -t[i] * xi[i]
        step = _direction(
            A, L, delicate, theta, rd, rp, a, t, s, xi, inverse, c1, c2, dv, da, ds, dxi, work
        )
        mu = _products(a, t, s, xi, da, ds, dxi, 0.0) / (2 * n)
        affine = _products(a, t, s, xi, da, ds, dxi, step) / (2 * n)
        target = max(mu * (affine / mu) ** 3, 0.1 * tol * scale / (2 * n))
        weight = 1.0
        if n_iter > best_at + 5 and (n_iter - best_at) % 3 == 0:
            target, weight = mu, 0.0
        for i in range(n):
            c1[i] = target - a[i] * s[i] - weight * da[i] * ds[i]
            c2[i] = target - t[i] * xi[i] + weight * da[i] * dxi[i]
        # the corrector, then up to two centrality correctors while they lengthen the step
        for attempt in range(3):
            longer = _direction(
                A, L, delicate, theta, rd, rp, a, t, s, xi, inverse, c1, c2, ev, ea, es, exi, work
            )
            if attempt > 0 and longer < step + 0.03:
                break
            step = longer
            dv, ev = ev, dv
            da, ea = ea, da
            ds, es = es, ds
            dxi, exi = exi, dxi
            if step > 0.95:
                break
            ahead = min(1.0, step + 0.3)
            for i in range(n):
                product = (a[i] + ahead * da[i]) * (s[i] + ahead * ds[i])
                e = min(max(product, 0.1 * target), 10.0 * target) - product
                c1[i] += max(e, -10.0 * target)
                product = (t[i] - ahead * da[i]) * (xi[i] + ahead * dxi[i])
                e = min(max(product, 0.1 * target), 10.0 * target) - product
                c2[i] += max(e, -10.0 * target)
        step = min(1.0, 0.995 * step)
        for j in range(k):
            v[j] += step * dv[j]
        for i in range(n):
            a[i] += step * da[i]
            t[i] -= step * da[i]
            s[i] += step * ds[i]
            xi[i] += step * dxi[i]
    return best_v, best_a, n_iter, best_gap
