"""Independent ways to the numbers that the learners compute: a conic solver, differences, loops."""

from __future__ import annotations

from collections.abc import Callable

import clarabel
import numpy as np
from scipy import sparse


def central_differences(
    function: Callable[[np.ndarray], float], Z: np.ndarray, step: float
) -> np.ndarray:
    """The gradient of a function of vectors, by four values for each of their numbers.

    The error is of fourth order in the step: vectors near each other make W curve sharply.
    """
    gradient = np.empty(Z.shape)
    for index in np.ndindex(*Z.shape):
        offset = np.zeros(Z.shape)
        offset[index] = step
        near = function(Z + offset) - function(Z - offset)
        far = function(Z + 2.0 * offset) - function(Z - 2.0 * offset)
        gradient[index] = (8.0 * near - far) / (12.0 * step)
    return gradient


def svm_by_clarabel(
    K: np.ndarray,
    gram: np.ndarray,
    y: np.ndarray,
    costs: np.ndarray,
    loss: str = "hinge",
) -> tuple[float, np.ndarray, float]:
    """Optimum, beta and b of (28)-(30), over the coefficients themselves and their slacks.

    min 1/2 beta' gram beta + sum_i c_i xi_i  (or c_i xi_i^2)  s.t.
    y_i (K_i beta + b) >= 1 - xi_i, xi_i >= 0.
    """
    n, m = K.shape
    quadratic = 2.0 * costs if loss == "squared_hinge" else np.zeros(n)
    linear = np.zeros(n) if loss == "squared_hinge" else costs
    # a ridge of rounding size keeps a singular Gram matrix positive semi-definite
    lifted = 0.5 * (gram + gram.T) + 1e-13 * np.trace(gram) / m * np.eye(m)
    P = sparse.block_diag([lifted, sparse.csc_matrix((1, 1)), sparse.diags(quadratic)])
    q = np.concatenate([np.zeros(m + 1), linear])
    margins = sparse.hstack(
        [sparse.csc_matrix(-y[:, None] * K), sparse.csc_matrix(-y[:, None]), -sparse.eye(n)]
    )
    positive = sparse.hstack([sparse.csc_matrix((n, m + 1)), -sparse.eye(n)])
    A = sparse.vstack([margins, positive]).tocsc()
    b = np.concatenate([-np.ones(n), np.zeros(n)])
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = 1e-11
    solver = clarabel.DefaultSolver(
        sparse.triu(P).tocsc(), q, A, b, [clarabel.NonnegativeConeT(2 * n)], settings
    )
    solution = solver.solve()
    beta, intercept = np.array(solution.x[:m]), float(solution.x[m])
    return svm_objective(K, gram, y, costs, beta, intercept, loss), beta, intercept


def svm_objective(
    K: np.ndarray,
    gram: np.ndarray,
    y: np.ndarray,
    costs: np.ndarray,
    beta: np.ndarray,
    intercept: float,
    loss: str = "hinge",
) -> float:
    """The value of (28) for given coefficients, slacks as small as they can be."""
    slack = np.maximum(0.0, 1.0 - y * (K @ beta + intercept))
    if loss == "squared_hinge":
        slack = slack**2
    return float(0.5 * beta @ gram @ beta + costs @ slack)
