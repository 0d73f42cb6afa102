"""Norms of coefficients by a conic solver, and the first-order conditions by hand."""

from __future__ import annotations

import clarabel
import numpy as np
from scipy import sparse


def norm_svm_by_clarabel(
    K: np.ndarray, R: np.ndarray, y: np.ndarray, costs: np.ndarray, C_norm: float, norm: int | str
) -> tuple[float, np.ndarray, float]:
    """Optimum, a and b of 1/2 a'Ra + C_norm |a| + sum_i c_i xi_i, for the norms 1 and "inf".

    The variables are a, b, the slacks xi, and bounds t of |a_j|: one each, or one for all.
    """
    n, m = K.shape
    k = m if norm == 1 else 1
    lifted = 0.5 * (R + R.T) + 1e-13 * np.trace(R) / m * np.eye(m)
    P = sparse.block_diag([lifted, sparse.csc_matrix((1 + n + k, 1 + n + k))])
    q = np.concatenate([np.zeros(m + 1), costs, np.full(k, C_norm)])
    bound = sparse.eye(m) if norm == 1 else sparse.csc_matrix(np.ones((m, 1)))
    none = sparse.csc_matrix
    A = sparse.vstack(
        [
            sparse.hstack([none(-y[:, None] * K), none(-y[:, None]), -sparse.eye(n), none((n, k))]),
            sparse.hstack([none((n, m + 1)), -sparse.eye(n), none((n, k))]),
            sparse.hstack([sparse.eye(m), none((m, n + 1)), -bound]),
            sparse.hstack([-sparse.eye(m), none((m, n + 1)), -bound]),
        ]
    ).tocsc()
    b = np.concatenate([-np.ones(n), np.zeros(n + 2 * m)])
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = 1e-10
    cones = [clarabel.NonnegativeConeT(b.size)]
    solution = clarabel.DefaultSolver(sparse.triu(P).tocsc(), q, A, b, cones, settings).solve()
    return float(solution.obj_val), np.array(solution.x[:m]), float(solution.x[m])


def distance_from_stationary(
    K: np.ndarray,
    R: np.ndarray,
    y: np.ndarray,
    costs: np.ndarray,
    a: np.ndarray,
    b: float,
    slope: np.ndarray,
) -> float:
    """How far R a + slope is from K'(y beta) with the best admissible multipliers beta.

    Rows beyond the margin have beta = 0, rows within it beta = c, rows on it anything between, and
    y'beta = 0: a least-squares problem over a box.
    """
    from scipy.optimize import lsq_linear

    margins = y * (K @ a + b)
    on = np.abs(margins - 1.0) < 1e-3
    fixed = np.where(margins < 1.0, costs, 0.0) * ~on
    target = R @ a + slope - K.T @ (y * fixed)
    A = np.vstack([(K[on] * y[on, None]).T, y[on][None, :]])
    t = np.append(target, -(y @ fixed))
    if not on.any():
        return float(np.abs(t).max())
    found = lsq_linear(A, t, bounds=(0.0, costs[on]), tol=1e-12)
    return float(np.abs(A @ found.x - t).max())
