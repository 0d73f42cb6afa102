"""The active set of `kernelet.solvers.core_set`, as one compiled loop with an updated factor.

A core set grows by one point at a time, and most points stay: the Cholesky factor of the free
points gets a row for each that joins and is rotated back to a triangle for each that leaves, all in
the square of their number. The twin is `kernelet.solvers.core_set.settle`; the tests hold the two
equal.
"""

from __future__ import annotations

import numpy as np
from numba import njit

# Sums may be taken in any order, which lets the compiler use vector instructions.
_SUMS = {"reassoc", "contract"}


@njit(cache=True, nogil=True, fastmath=_SUMS)
def _dot(x, z, n):
    total = 0.0
    for i in range(n):
        total += x[i] * z[i]
    return total


@njit(cache=True, nogil=True, fastmath=_SUMS)
def _append(K, p, L, v, free, n_free):
    """A last row of L for point p, and its entry of v, where L v = 1."""
    row = L[n_free]
    for i in range(n_free):
        row[i] = (K[p, free[i]] - _dot(L[i], row, i)) / L[i, i]
    pivot = max(K[p, p] - _dot(row, row, n_free), 1e-14 * K[p, p])
    row[n_free] = np.sqrt(pivot)
    v[n_free] = (1.0 - _dot(row, v, n_free)) / row[n_free]
    free[n_free] = p


@njit(cache=True, nogil=True, fastmath=_SUMS)
def _remove(L, v, free, n_free, j):
    """Take row j out of L, and rotate what is left back to a triangle."""
    for i in range(j, n_free - 1):
        free[i] = free[i + 1]
        for c in range(i + 2):
            L[i, c] = L[i + 1, c]
    for c in range(j, n_free - 1):
        length = np.hypot(L[c, c], L[c, c + 1])
        cosine, sine = L[c, c] / length, L[c, c + 1] / length
        L[c, c] = length
        for i in range(c + 1, n_free - 1):
            left, right = L[i, c], L[i, c + 1]
            L[i, c] = cosine * left + sine * right
            L[i, c + 1] = cosine * right - sine * left
        left, right = v[c], v[c + 1]
        v[c] = cosine * left + sine * right
        v[c + 1] = cosine * right - sine * left


@njit(cache=True, nogil=True, fastmath=_SUMS)
def _solve(L, v, n_free, z):
    """L' z = v."""
    for i in range(n_free):
        z[i] = v[i]
    for i in range(n_free - 1, -1, -1):
        z[i] /= L[i, i]
        for c in range(i):
            z[c] -= z[i] * L[i, c]


@njit(cache=True, nogil=True, fastmath=_SUMS)
def settle(K, size, L, v, free, count, a, tol):
    """Minimise 1/2 a'Ka - sum a over a >= 0, from the minimum over some of the points.

    Parameters
    ----------
    K : ndarray of shape (capacity, capacity)
        Gram matrix in its first `size` rows and columns.
    size : int
        Number of points.
    L, v : ndarray
        Factor of the free points' Gram matrix, and the solution of L v = 1.
    free : ndarray of int
        The free points, in the order of the factor.
    count : ndarray of shape (1,)
        How many there are, changed in place: whatever interrupts the caller, it fits the factor.
    a : ndarray of shape (capacity,)
        Multipliers, changed in place; 0 for points that are not free.
    tol : float
        Points whose margin (Ka)_i is below 1 by more than this join.
    """
    z = np.empty(size)
    n_free = count[0]
    for _ in range(10 * size + 100):
        worst, joins = 1.0 - tol, -1
        for j in range(size):
            if a[j] > 0.0:
                continue
            margin = 0.0
            for i in range(n_free):
                margin += K[j, free[i]] * a[free[i]]
            if margin < worst:
                worst, joins = margin, j
        if joins < 0:
            break
        _append(K, joins, L, v, free, n_free)
        n_free += 1
        stuck = False
        while n_free > 0:
            _solve(L, v, n_free, z)
            step, leaves = 1.0, -1
            for i in range(n_free):
                if z[i] <= 0.0:
                    now = a[free[i]]
                    share = now / (now - z[i]) if now > 0.0 else 0.0
                    if share < step:
                        step, leaves = share, i
            if leaves < 0:
                for i in range(n_free):
                    a[free[i]] = z[i]
                break
            for i in range(n_free):
                a[free[i]] += step * (z[i] - a[free[i]])
            # its margin was below 1 by rounding only
            stuck = stuck or free[leaves] == joins
            a[free[leaves]] = 0.0
            _remove(L, v, free, n_free, leaves)
            n_free -= 1
        if stuck:
            break
    count[0] = n_free
