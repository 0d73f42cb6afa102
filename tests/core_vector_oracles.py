"""Balls and margin machines by a conic solver, over the full Gram matrix."""

from __future__ import annotations

import clarabel
import numpy as np
from scipy import sparse


def least_on_simplex(K: np.ndarray) -> tuple[float, np.ndarray]:
    """Value and minimiser of alpha'K alpha over alpha >= 0 with the sum 1, (5)."""
    n = len(K)
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = 1e-12
    solver = clarabel.DefaultSolver(
        sparse.triu(K + K.T).tocsc(),
        np.zeros(n),
        sparse.vstack([np.ones((1, n)), -sparse.eye(n)]).tocsc(),
        np.append(1.0, np.zeros(n)),
        [clarabel.ZeroConeT(1), clarabel.NonnegativeConeT(n)],
        settings,
    )
    alpha = np.maximum(np.array(solver.solve().x), 0.0)
    alpha /= alpha.sum()
    return float(alpha @ K @ alpha), alpha


def margin_gram(
    K: np.ndarray, y: np.ndarray, C: np.ndarray | float, U: np.ndarray | None = None
) -> np.ndarray:
    """(10), with the part of each row in the directions taken out.

    U has the coefficients of the directions over the rows, one column for each.
    """
    inside = K if U is None else K - (K @ U) @ np.linalg.solve(U.T @ K @ U, U.T @ K)
    return y[:, None] * (inside + 1.0) * y + np.diag(np.broadcast_to(1.0 / np.asarray(C), y.shape))


def margin_machine(
    K: np.ndarray, y: np.ndarray, C: np.ndarray | float, U: np.ndarray | None = None
) -> tuple[float, np.ndarray, float]:
    """Value, coefficients of w over all rows, and b of the L2-SVM with a penalised bias.

    min 1/2 |w|^2 + b^2 / 2 + sum C_i / 2 xi_i^2, u_q'w = 0, from the ball's dual.
    """
    squared, alpha = least_on_simplex(margin_gram(K, y, C, U))
    beta = alpha * y / squared
    bias = float(beta.sum())
    if U is not None:
        beta = beta - U @ np.linalg.solve(U.T @ K @ U, U.T @ K @ beta)
    return 0.5 / squared, beta, bias
