"""The interior point of `kernelet.solvers.interior_point` for the ridge, as one compiled loop.

Problems of a few hundred rows are all call overhead in NumPy. The twin is
`kernelet.solvers.interior_point.interior_point` with `Ridge`; the tests hold the two equal.
Constants are those of the twin, where they have names and reasons. Products of a matrix with a
vector are loops, since every call of a library function adds half a second to the compilation.
"""

from __future__ import annotations

import numpy as np
from numba import njit

# Sums may be taken in any order, which lets the compiler use vector instructions.
_SUMS = {"reassoc", "contract"}


@njit(cache=True, nogil=True, fastmath=_SUMS)
def _times(A, v, out):
    """out = A v."""
    n, k = A.shape
    for i in range(n):
        total = 0.0
        for j in range(k):
            total += A[i, j] * v[j]
        out[i] = total


@njit(cache=True, nogil=True, fastmath=_SUMS)
def _add_sums(A, a, out):
    """out += A'a."""
    n, k = A.shape
    for i in range(n):
        weight = a[i]
        for j in range(k):
            out[j] += weight * A[i, j]


@njit(cache=True, nogil=True, fastmath=_SUMS)
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


@njit(cache=True, nogil=True, fastmath=_SUMS)
def _triangle(S, L):
    """Lower L with L L' = S'S + I (without the bias in I), by Householder's reflections."""
    n, k = S.shape
    W = np.empty((n + k - 1, k))
    products = np.empty(k)
    for c in range(k):
        for i in range(n):
            W[i, c] = S[i, c]
        for i in range(k - 1):
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


@njit(cache=True, nogil=True, fastmath=_SUMS)
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


@njit(cache=True, nogil=True)
def _direction(A, L, delicate, theta, rd, rp, a, t, s, xi, c1, c2, dv, da, ds, dxi, rho, work):
    """Newton direction for complementarity aims c1, c2; returns the step to the edge."""
    n, k = A.shape
    for i in range(n):
        rho[i] = rp[i] - c2[i] / t[i] + c1[i] / a[i]
        work[i] = theta[i] * rho[i]
    for j in range(k):
        dv[j] = -rd[j]
    _add_sums(A, work, dv)
    _solve(L, dv)
    _times(A, dv, work)
    for i in range(n):
        da[i] = theta[i] * (rho[i] - work[i])
    if delicate:
        for i in range(n):
            rho[i] -= work[i] + da[i] / theta[i]
            work[i] = da[i] + theta[i] * rho[i]
        ddv = np.empty(k)
        for j in range(k):
            ddv[j] = -rd[j] - (dv[j] if j < k - 1 else 0.0)
        _add_sums(A, work, ddv)
        _solve(L, ddv)
        _times(A, ddv, work)
        for j in range(k):
            dv[j] += ddv[j]
        for i in range(n):
            da[i] += theta[i] * (rho[i] - work[i])
    reach = 1.0  # the reciprocal of the longest step
    for i in range(n):
        ds[i] = (c1[i] - s[i] * da[i]) / a[i]
        dxi[i] = (c2[i] + xi[i] * da[i]) / t[i]
        reach = max(reach, -da[i] / a[i], da[i] / t[i], -ds[i] / s[i], -dxi[i] / xi[i])
    return 1.0 / reach


@njit(cache=True, nogil=True)
def interior_point(A, linear, u, tol, max_iter, constant, unit):
    """min 1/2 |w|^2 - linear'v + sum_i u_i max(0, 1 - A_i v), v = (w, b), A_i = y_i (phi_i, 1).

    Returns v, the multipliers, the number of Newton systems and the relative gap reached.
    """
    n, k = A.shape
    m = k - 1
    v, dv, ev = np.empty(k), np.empty(k), np.empty(k)
    q, rd, best_v = np.empty(k), np.empty(k), np.empty(k)
    a, t, s, xi = np.empty(n), np.empty(n), np.empty(n), np.empty(n)
    f, rp, theta, best_a = np.empty(n), np.empty(n), np.empty(n), np.empty(n)
    c1, c2, rho, work = np.empty(n), np.empty(n), np.empty(n), np.empty(n)
    da, ds, dxi = np.empty(n), np.empty(n), np.empty(n)
    ea, es, exi = np.empty(n), np.empty(n), np.empty(n)
    S = np.empty((n, k))
    L = np.empty((k, k))
    for j in range(k):
        v[j] = best_v[j] = 0.0
    for i in range(n):
        a[i] = t[i] = best_a[i] = 0.5 * u[i]
        s[i] = xi[i] = 1.0
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
        mu = 0.0
        for i in range(n):
            rp[i] = 1.0 - f[i] - xi[i] + s[i]
            primal += u[i] * max(0.0, 1.0 - f[i])
            dual += a[i]
            mu += a[i] * s[i] + t[i] * xi[i]
        mu /= 2 * n
        scale = max(unit, abs(primal + constant))
        gap = (max(primal - dual, 0.0) + abs(q[m]) * (1.0 + abs(v[m]))) / scale
        if not np.isfinite(gap):
            break
        if gap < best_gap:
            best_gap, best_at = gap, n_iter
            for j in range(k):
                best_v[j] = v[j]
            for i in range(n):
                best_a[i] = a[i]
        if gap <= tol or n_iter >= max_iter or (n_iter > best_at + 8 and best_gap < 1e-4):
            break

        for i in range(n):
            theta[i] = 1.0 / (s[i] / a[i] + xi[i] / t[i])
            root = np.sqrt(theta[i])
            for j in range(k):
                S[i, j] = A[i, j] * root
        M = np.dot(S.T, S)
        for j in range(m):
            M[j, j] += 1.0
        delicate = not _cholesky(M, L)
        if delicate and not _triangle(S, L):
            break
        n_iter += 1

        for i in range(n):
            c1[i] = -a[i] * s[i]
            c2[i] = -t[i] * xi[i]
        step = _direction(
            A, L, delicate, theta, rd, rp, a, t, s, xi, c1, c2, dv, da, ds, dxi, rho, work
        )
        affine = 0.0
        for i in range(n):
            affine += (a[i] + step * da[i]) * (s[i] + step * ds[i])
            affine += (t[i] - step * da[i]) * (xi[i] + step * dxi[i])
        affine /= 2 * n
        target = max(mu * (affine / mu) ** 3, 0.1 * tol * scale / (2 * n))
        weight = step**0.5
        for i in range(n):
            c1[i] = target - a[i] * s[i] - weight * da[i] * ds[i]
            c2[i] = target - t[i] * xi[i] + weight * da[i] * dxi[i]
        # the corrector, then up to two centrality correctors while they lengthen the step
        for attempt in range(3):
            longer = _direction(
                A, L, delicate, theta, rd, rp, a, t, s, xi, c1, c2, ev, ea, es, exi, rho, work
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
