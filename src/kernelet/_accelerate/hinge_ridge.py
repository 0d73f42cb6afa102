"""The interior point of `kernelet.solvers.interior_point` for the ridge, as one compiled loop.

Problems of a few hundred rows are all call overhead in NumPy. The twin is
`kernelet.solvers.interior_point.interior_point` with `Ridge`; the tests hold the two equal.
"""

from __future__ import annotations

import numpy as np
from numba import njit


@njit(cache=True, nogil=True, fastmath=False)
def _factor(M):
    """Lower Cholesky factor; a relative shift of the diagonal where rounding made M indefinite."""
    k = M.shape[0]
    shift = 0.0
    for _ in range(6):
        ok = True
        L = M.copy()
        for i in range(k):
            L[i, i] += shift * M[i, i]
        if k > 24:
            try:
                L = np.linalg.cholesky(L)
            except Exception:
                ok = False
        else:
            for j in range(k):
                d = L[j, j]
                for r in range(j):
                    d -= L[j, r] * L[j, r]
                if not d > 0.0:
                    ok = False
                    break
                d = np.sqrt(d)
                L[j, j] = d
                for i in range(j + 1, k):
                    e = L[i, j]
                    for r in range(j):
                        e -= L[i, r] * L[j, r]
                    L[i, j] = e / d
        if ok:
            return L, True
        shift = max(100.0 * shift, 1e-15)
    return M, False


@njit(cache=True, nogil=True)
def _solve(L, rhs):
    k = L.shape[0]
    x = rhs.copy()
    for i in range(k):
        e = x[i]
        for r in range(i):
            e -= L[i, r] * x[r]
        x[i] = e / L[i, i]
    for i in range(k - 1, -1, -1):
        x[i] /= L[i, i]
        e = x[i]
        for r in range(i):
            x[r] -= L[i, r] * e
    return x


@njit(cache=True, nogil=True)
def _direction(A, L, theta, rd, rp, a, t, s, xi, c1, c2, rho, da, ds, dxi):
    """Newton direction for complementarity targets c1, c2; returns dv and the step to the edge."""
    n = A.shape[0]
    for i in range(n):
        rho[i] = rp[i] - c2[i] / t[i] + c1[i] / a[i]
        da[i] = theta[i] * rho[i]
    dv = _solve(L, np.dot(da, A) - rd)
    Adv = np.dot(A, dv)
    reach = 1.0  # the reciprocal of the longest step
    for i in range(n):
        da[i] = theta[i] * (rho[i] - Adv[i])
        ds[i] = (c1[i] - s[i] * da[i]) / a[i]
        dxi[i] = (c2[i] + xi[i] * da[i]) / t[i]
        reach = max(reach, -da[i] / a[i], da[i] / t[i], -ds[i] / s[i], -dxi[i] / xi[i])
    return dv, 1.0 / reach


@njit(cache=True, nogil=True)
def interior_point(A, linear, u, tol, max_iter):
    """min 1/2 |w|^2 - linear'v + sum_i u_i max(0, 1 - A_i v), v = (w, b), A_i = y_i (phi_i, 1).

    Returns v, the multipliers, the number of Newton systems and the relative gap reached.
    """
    n, k = A.shape
    m = k - 1
    v = np.zeros(k)
    a = 0.5 * u
    t = u - a
    s = np.ones(n)
    xi = np.ones(n)
    rp = np.empty(n)
    theta = np.empty(n)
    c1 = np.empty(n)
    c2 = np.empty(n)
    rho = np.empty(n)
    da, ds, dxi = np.empty(n), np.empty(n), np.empty(n)
    ea, es, exi = np.empty(n), np.empty(n), np.empty(n)
    S = np.empty((n, k))
    best_gap = np.inf
    best_v, best_a, best_at = v.copy(), a.copy(), 0
    n_iter = 0
    while True:
        f = np.dot(A, v)
        q = np.dot(a, A) + linear
        rd = -q
        primal = 0.0
        dual = 0.0
        for j in range(m):
            rd[j] += v[j]
            primal += 0.5 * v[j] * v[j]
            dual -= 0.5 * q[j] * q[j]
        for j in range(k):
            primal -= linear[j] * v[j]
        mu = 0.0
        for i in range(n):
            rp[i] = 1.0 - f[i] - xi[i] + s[i]
            primal += u[i] * max(0.0, 1.0 - f[i])
            dual += a[i]
            mu += a[i] * s[i] + t[i] * xi[i]
        mu /= 2 * n
        # |rd_b| is how far a is from y'a = -linear_b, which the dual value takes for granted
        gap = (max(primal - dual, 0.0) + abs(rd[m]) * (1.0 + abs(v[m]))) / max(1.0, abs(primal))
        if not np.isfinite(gap):
            break
        if gap < best_gap:
            best_gap, best_at = gap, n_iter
            best_v[:] = v
            best_a[:] = a
        if gap <= tol or n_iter >= max_iter or (n_iter > best_at + 15 and best_gap < 1e-4):
            break

        for i in range(n):
            theta[i] = 1.0 / (s[i] / a[i] + xi[i] / t[i])
            root = np.sqrt(theta[i])
            for j in range(k):
                S[i, j] = A[i, j] * root
        M = np.dot(S.T, S)
        for j in range(m):
            M[j, j] += 1.0
        L, ok = _factor(M)
        if not ok:
            break
        n_iter += 1

        for i in range(n):
            c1[i] = -a[i] * s[i]
            c2[i] = -t[i] * xi[i]
        dv, step = _direction(A, L, theta, rd, rp, a, t, s, xi, c1, c2, rho, da, ds, dxi)
        mu_affine = 0.0
        for i in range(n):
            mu_affine += (a[i] + step * da[i]) * (s[i] + step * ds[i])
            mu_affine += (t[i] - step * da[i]) * (xi[i] + step * dxi[i])
        mu_affine /= 2 * n
        target = mu * (mu_affine / mu) ** 3
        for i in range(n):
            c1[i] = target - a[i] * s[i] - da[i] * ds[i]
            c2[i] = target - t[i] * xi[i] + da[i] * dxi[i]
        dv, step = _direction(A, L, theta, rd, rp, a, t, s, xi, c1, c2, rho, da, ds, dxi)
        # Gondzio's centrality correctors: a back-substitution each, for longer steps
        for _ in range(2):
            if step > 0.95:
                break
            aim = min(1.0, step + 0.3)
            for i in range(n):
                product = (a[i] + aim * da[i]) * (s[i] + aim * ds[i])
                e = min(max(product, 0.1 * target), 10.0 * target) - product
                c1[i] += max(e, -10.0 * target)
                product = (t[i] - aim * da[i]) * (xi[i] + aim * dxi[i])
                e = min(max(product, 0.1 * target), 10.0 * target) - product
                c2[i] += max(e, -10.0 * target)
            ev, longer = _direction(A, L, theta, rd, rp, a, t, s, xi, c1, c2, rho, ea, es, exi)
            if longer < step + 0.03:
                break
            dv, step = ev, longer
            da, ea = ea, da
            ds, es = es, ds
            dxi, exi = exi, dxi
        step = min(1.0, 0.995 * step)
        v = v + step * dv
        for i in range(n):
            a[i] += step * da[i]
            t[i] -= step * da[i]
            s[i] += step * ds[i]
            xi[i] += step * dxi[i]
    return best_v, best_a, n_iter, best_gap
