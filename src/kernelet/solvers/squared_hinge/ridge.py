"""The L2-SVM over explicit features: squared hinge + ridge, bias not penalised."""

from __future__ import annotations

from collections.abc import Sequence

from numpy.typing import ArrayLike

from kernelet.solvers.checks import (
    checked_columns,
    checked_costs,
    checked_labels,
    checked_tolerance,
)
from kernelet.solvers.rows import Rows, as_rows
from kernelet.solvers.solution import Solution
from kernelet.solvers.squared_hinge.rounds import solve_in_rounds


def squared_hinge_ridge(
    Phi: ArrayLike | Rows,
    y: ArrayLike,
    C: ArrayLike = 1.0,
    *,
    tol: float = 1e-8,
    max_iter: int = 500,
    warm_start: Solution | None = None,
) -> Solution:
    r"""Solve the L2-SVM over the rows of Phi.

    .. math:: \min_{w, b} \tfrac12 w^\top w + \sum_i C_i \max(0, 1 - y_i (\phi_i^\top w + b))^2

    The scale is that of scikit-learn's ``LinearSVC(loss="squared_hinge")``, whose bias is penalised
    and here is not. The dual is

    .. math:: \max_{a \ge 0,\; y^\top a = 0} \sum_i a_i - \tfrac12 \| \Phi^\top Y a \|^2
        - \sum_i \frac{a_i^2}{4 C_i}, \qquad a_i = 2 C_i \xi_i

    The bias is unique when rows of both classes have a cost. With one class only, w = 0 and every
    bias with margins of at least one is optimal: the label itself is returned, the smallest.

    Parameters
    ----------
    Phi : array of shape (n, m) or Rows
        Features.
    y : array of shape (n,)
        Labels, -1 or +1.
    C : float or array of shape (n,), default=1.0
        Cost of each row; rows of cost 0 are ignored.
    tol : float, default=1e-8
        Duality gap to reach, relative to the value.
    max_iter : int, default=500
        Newton systems allowed for each working set.
    warm_start : Solution, default=None
        Solution of a nearby problem over the same rows, whose features may have changed, also in
        number, or over other rows with the same features.

    Returns
    -------
    Solution

    Examples
    --------
    >>> import numpy as np
    >>> solution = squared_hinge_ridge([[0.0], [1.0], [3.0], [4.0]], [-1, -1, 1, 1], C=10.0)
    >>> print(np.round(solution.weights, 6), round(solution.intercept, 6))
    [0.97561] -1.95122
    >>> solution.gap < 1e-8
    True
    """
    rows = as_rows(Phi)
    n, _ = rows.shape
    checked_tolerance(tol, max_iter)
    (solution,) = solve_in_rounds(
        rows,
        [checked_labels(y, n)],
        [checked_costs(C, n)],
        tol=tol,
        max_iter=max_iter,
        warm_start=None if warm_start is None else [warm_start],
        n_jobs=1,
    )
    return solution


def squared_hinge_ridge_many(
    Phi: ArrayLike | Rows,
    Y: ArrayLike,
    C: ArrayLike = 1.0,
    *,
    tol: float = 1e-8,
    max_iter: int = 500,
    warm_start: Sequence[Solution] | None = None,
    n_jobs: int = -1,
) -> list[Solution]:
    """Solve `squared_hinge_ridge` for every column of Y over the same rows.

    Products with all rows are shared by the problems; the small problems on their working sets run
    side by side.

    Parameters
    ----------
    Phi : array of shape (n, m) or Rows
        Features.
    Y : array of shape (n, k)
        Labels, -1 or +1, a column for each problem.
    C : float, array of shape (n,) or array of shape (n, k), default=1.0
        Costs.
    tol : float, default=1e-8
        Duality gap to reach, relative to the value.
    max_iter : int, default=500
        Newton systems allowed for each working set.
    warm_start : sequence of Solution, default=None
        Solutions of nearby problems, one per column.
    n_jobs : int, default=-1
        Threads, -1 for all cores.

    Returns
    -------
    list of Solution

    Examples
    --------
    >>> import numpy as np
    >>> Phi = np.array([[0.0], [1.0], [3.0], [4.0]])
    >>> Y = np.array([[-1, 1], [-1, 1], [1, -1], [1, -1]])
    >>> [round(s.intercept, 6) for s in squared_hinge_ridge_many(Phi, Y, C=10.0)]
    [-1.95122, 1.95122]
    """
    rows = as_rows(Phi)
    n, _ = rows.shape
    checked_tolerance(tol, max_iter)
    labels, costs = checked_columns(Y, C, n, warm_start)
    return solve_in_rounds(
        rows,
        labels,
        costs,
        tol=tol,
        max_iter=max_iter,
        warm_start=warm_start,
        n_jobs=n_jobs,
    )
