"""Posterior modes and precisions at rest of the relevance vector machine, as compiled loops.

With tens of rows and columns NumPy is all call overhead. The twins are `BernoulliLikelihood` and
`settled` in `kernelet.learners`, where constants have names and reasons; the tests hold them equal.
Columns come as rows of P, so that every loop runs along memory. Expressions over arrays are written
out, as they take long to compile.
"""

from __future__ import annotations

import numpy as np
from numba import njit

_SUMS = {"reassoc", "contract"}


@njit(cache=True, nogil=True, fastmath=_SUMS)
def _dot(a, b):
    total = 0.0
    for i in range(a.size):
        total += a[i] * b[i]
    return total


@njit(cache=True, nogil=True, fastmath=_SUMS)
def _add(P, w, f):
    """f += P'w."""
    for j in range(w.size):
        weight, row = w[j], P[j]
        for i in range(f.size):
            f[i] += weight * row[i]


@njit(cache=True, nogil=True)
def _log_likelihood(f, t, c, e):
    """Of the labels t, each counted c times; e = exp(-|f|) serves the derivatives."""
    total = 0.0
    for i in range(f.size):
        e[i] = np.exp(-abs(f[i]))
        total += c[i] * (max(f[i], 0.0) + np.log1p(e[i]) - t[i] * f[i])
    return -total


@njit(cache=True, nogil=True)
def _derivatives(f, t, c, e, least, residual, curvature):
    for i in range(f.size):
        other = e[i] / (1.0 + e[i])
        sigma = 1.0 - other if f[i] >= 0.0 else other
        residual[i] = c[i] * (t[i] - sigma)
        curvature[i] = max(c[i] * sigma * (1.0 - sigma), least)


@njit(cache=True, nogil=True, fastmath=_SUMS)
def _hessian(P, curvature, alpha, H):
    """Lower triangle of P B P' + A."""
    m, n = P.shape
    scaled = np.empty(n)
    for j in range(m):
        for i in range(n):
            scaled[i] = curvature[i] * P[j, i]
        for c in range(j + 1):
            H[j, c] = _dot(scaled, P[c])
        H[j, j] += alpha[j]


@njit(cache=True, nogil=True, fastmath=_SUMS)
def _cholesky(H, L):
    """Lower factor of H in L, and whether there is one."""
    for j in range(H.shape[0]):
        for i in range(j):
            e = H[j, i]
            for r in range(i):
                e -= L[j, r] * L[i, r]
            L[j, i] = e / L[i, i]
        d = H[j, j]
        for r in range(j):
            d -= L[j, r] * L[j, r]
        if not d > 0.0:
            return False
        L[j, j] = np.sqrt(d)
    return True


@njit(cache=True, nogil=True)
def _factor(P, curvature, alpha, lifts, H, L):
    """The factor of the Hessian, lifted by rounding error where that is all that is missing."""
    _hessian(P, curvature, alpha, H)
    size = 0.0
    for j in range(alpha.size):
        size += H[j, j]
    for lift in lifts:
        for j in range(alpha.size):
            H[j, j] += lift * size
        if _cholesky(H, L):
            return True
    return False


@njit(cache=True, nogil=True, fastmath=_SUMS)
def _solve(L, b):
    """b becomes (L L')^-1 b."""
    m = b.size
    for j in range(m):
        e = b[j]
        for r in range(j):
            e -= L[j, r] * b[r]
        b[j] = e / L[j, j]
    for j in range(m - 1, -1, -1):
        b[j] /= L[j, j]
        e = b[j]
        for r in range(j):
            b[r] -= L[j, r] * e


@njit(cache=True, nogil=True)
def _value(w, alpha, log_likelihood):
    total = log_likelihood
    for j in range(w.size):
        total -= 0.5 * alpha[j] * w[j] * w[j]
    return total


@njit(cache=True, nogil=True)
def _mode(P, t, c, alpha, start, limits, lifts):
    """The mode by damped Newton steps; whether it was found, and whether there was a factor."""
    max_steps, max_halvings, tol, least = limits
    m, n = P.shape
    w, w_new, step, gradient = start.copy(), np.empty(m), np.empty(m), np.empty(m)
    f, f_new, df = np.zeros(n), np.empty(n), np.empty(n)
    e, e_new, residual, curvature = np.empty(n), np.empty(n), np.empty(n), np.empty(n)
    H, L = np.empty((m, m)), np.zeros((m, m))
    _add(P, w, f)
    value = _value(w, alpha, _log_likelihood(f, t, c, e))
    found = False
    for _ in range(int(max_steps)):
        _derivatives(f, t, c, e, least, residual, curvature)
        if not _factor(P, curvature, alpha, lifts, H, L):
            return w, L, curvature, residual, -np.inf, False, False
        for j in range(m):
            gradient[j] = step[j] = _dot(P[j], residual) - alpha[j] * w[j]
        _solve(L, step)
        decrement = _dot(gradient, step)
        found = decrement <= tol * (1.0 + abs(value))
        if found:
            break
        for i in range(n):
            df[i] = 0.0
        _add(P, step, df)
        share, has_moved = 1.0, False
        for _ in range(int(max_halvings)):
            for j in range(m):
                w_new[j] = w[j] + share * step[j]
            for i in range(n):
                f_new[i] = f[i] + share * df[i]
            moved = _value(w_new, alpha, _log_likelihood(f_new, t, c, e_new))
            if moved >= value + 1e-4 * share * decrement:
                has_moved = True
                break
            share *= 0.5
        if not has_moved:
            found = decrement <= 1e-6 * (1.0 + abs(value))
            break
        value = moved
        w, w_new = w_new, w
        f, f_new = f_new, f
        e, e_new = e_new, e
    evidence = value
    for j in range(m):
        evidence += 0.5 * np.log(alpha[j]) - np.log(L[j, j])
    return w, L, curvature, residual, evidence, found, True


@njit(cache=True, nogil=True)
def _posterior(P, t, c, alpha, start, limits, lifts):
    """Weights, factor, curvature, residual, evidence, and whether the Hessian had a factor."""
    best = _mode(P, t, c, alpha, start, limits, lifts)
    if best[6] and not best[5] and _dot(start, start) > 0.0:
        other = _mode(P, t, c, alpha, np.zeros(start.size), limits, lifts)
        if other[6] and other[4] > best[4]:
            best = other
    return best[0], best[1], best[2], best[3], best[4], best[6]


@njit(cache=True, nogil=True, fastmath=_SUMS)
def _covariance(L):
    """(L L')^-1."""
    m = L.shape[0]
    inverse = np.zeros((m, m))
    for c in range(m):
        inverse[c, c] = 1.0 / L[c, c]
        for j in range(c + 1, m):
            e = 0.0
            for r in range(c, j):
                e -= L[j, r] * inverse[r, c]
            inverse[j, c] = e / L[j, j]
    Sigma = np.empty((m, m))
    for j in range(m):
        for c in range(j + 1):
            e = 0.0
            for r in range(j, m):
                e += inverse[r, j] * inverse[r, c]
            Sigma[j, c] = Sigma[c, j] = e
    return Sigma


@njit(cache=True, nogil=True)
def _swept(L, alpha, weights, least, most):
    """The best precision of one column after the other, infinite for those to be deleted."""
    m = alpha.size
    best_of, mu, Sigma = alpha.copy(), weights.copy(), _covariance(L)
    for j in range(1, m):
        variance = Sigma[j, j]
        s = max(1.0 / variance - alpha[j], 0.0)
        q = mu[j] / variance
        surplus = q * q - s
        best = max(s * s / surplus, least) if surplus > 0.0 else np.inf
        if best < most:
            shift = best - alpha[j]
            share = shift / (1.0 + shift * variance)
        else:
            best = np.inf
            share = 1.0 / variance
        column, weight = Sigma[:, j].copy(), mu[j]
        for r in range(m):
            mu[r] -= share * weight * column[r]
            for k in range(m):
                Sigma[r, k] -= share * column[r] * column[k]
        best_of[j] = best
        if best == np.inf:
            Sigma[j, j] = 1.0
    return best_of, mu


@njit(cache=True, nogil=True)
def _finite(best):
    """Which columns are kept, in order."""
    kept, size = np.empty(best.size, np.intp), 0
    for j in range(best.size):
        if best[j] < np.inf:
            kept[size] = j
            size += 1
    return kept[:size]


@njit(cache=True, nogil=True)
def _of(values, kept):
    out = np.empty(kept.size, values.dtype)
    for j in range(kept.size):
        out[j] = values[kept[j]]
    return out


@njit(cache=True, nogil=True)
def _rows_of(P, kept):
    out = np.empty((kept.size, P.shape[1]))
    for j in range(kept.size):
        for i in range(P.shape[1]):
            out[j, i] = P[kept[j], i]
    return out


@njit(cache=True, nogil=True)
def _change(old, new):
    """The largest change of a log precision."""
    largest = 0.0
    for j in range(old.size):
        largest = max(largest, abs(np.log(new[j] / old[j])))
    return largest


@njit(cache=True, nogil=True)
def settled(P, t, c, alpha, start, sweeps, bounds, limits, lifts):
    """Columns that are left at rest, their precisions and their posterior.

    With no sweeps it is the posterior of all columns.
    """
    max_sweeps, enough, noise = sweeps
    inside = np.arange(alpha.size)
    kept, P_new, alpha_new, best = inside, P, alpha, alpha
    w, L, curvature, residual, evidence = start, P, start, start, -np.inf
    is_sound, is_half, n_sweeps = True, False, 0
    while True:
        end = _posterior(P_new, t, c, alpha_new, start, limits, lifts)
        is_sound = end[5]
        if is_sound and n_sweeps and not end[4] > evidence + noise * abs(evidence):
            if is_half:
                break
            # half of the way, without deletions
            is_half = True
            kept, P_new, start, alpha_new = np.arange(alpha.size), P, w, np.empty(alpha.size)
            for j in range(alpha.size):
                alpha_new[j] = np.sqrt(min(best[j], 1e2 * alpha[j]) * alpha[j])
            continue
        change = _change(alpha, alpha_new) if n_sweeps and kept.size == alpha.size else np.inf
        inside, P, alpha = _of(inside, kept), P_new, alpha_new
        w, L, curvature, residual, evidence, _ = end
        if not is_sound or change <= enough or n_sweeps >= max_sweeps:
            break
        n_sweeps, is_half = n_sweeps + 1, False
        best, mu = _swept(L, alpha, w, bounds[0], bounds[1])
        kept = _finite(best)
        P_new, alpha_new, start = _rows_of(P, kept), _of(best, kept), _of(mu, kept)
    return inside, alpha, w, L, curvature, residual, evidence, is_sound
