"""Products and factors of small dense matrices, as loops that other loops call.

Calls of library functions take longer to compile, and BLAS would start threads for each of them.
"""

from __future__ import annotations

import numpy as np

from kernelet._accelerate.compiled import compiled

# Sums may be taken in any order, which lets the compiler use vector instructions.
SUMS = {"reassoc", "contract"}
# That of `interior_point.newton`, which gives the reason; a test compares the two.
PIVOT_FLOOR = 1e-10


@compiled(fastmath=SUMS)
def times(A, v, out):
    """out = A v."""
    n, k = A.shape
    for i in range(n):
        total = 0.0
        for j in range(k):
            total += A[i, j] * v[j]
        out[i] = total


@compiled(fastmath=SUMS)
def add_sums(A, a, out):
    """out += A'a."""
    n, k = A.shape
    for i in range(n):
        weight = a[i]
        for j in range(k):
            out[j] += weight * A[i, j]


@compiled(fastmath=SUMS)
def gram(A, theta, M):
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


@compiled(fastmath=SUMS)
def cholesky(M, L):
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
        if not d > PIVOT_FLOOR * M[j, j]:
            return False
        row[j] = np.sqrt(d)
    return True


@compiled(fastmath=SUMS)
def triangle(A, theta, L):
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


@compiled(fastmath=SUMS)
def solve(L, x):
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
