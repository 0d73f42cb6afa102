"""The soft-margin support vector machine over explicit features."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import numpy as np
from numpy.typing import ArrayLike

from kernelet._accelerate import accelerated, interruption
from kernelet.kernels.numerics.arrays import FloatArray
from kernelet.solvers.bias import hinge_bias
from kernelet.solvers.checks import (
    checked_columns,
    checked_costs,
    checked_labels,
    checked_starts,
    checked_tolerance,
)
from kernelet.solvers.hinge.rounds import solve_on_working_sets
from kernelet.solvers.hinge.working_set import Subproblem, Subsolution
from kernelet.solvers.interior_point.primal_dual import Limits, interior_point
from kernelet.solvers.interior_point.regularizers import Ridge
from kernelet.solvers.rows import Rows, as_rows
from kernelet.solvers.solution import Solution

# With more numbers in the working set, BLAS on several threads beats one compiled loop.
_LARGE = 1_000_000


def hinge_ridge(
    Phi: ArrayLike | Rows,
    y: ArrayLike,
    C: ArrayLike = 1.0,
    *,
    tol: float = 1e-8,
    max_iter: int = 200,
    warm_start: Solution | None = None,
) -> Solution:
    r"""Solve the soft-margin SVM over the rows of Phi exactly.

    .. math:: \min_{w, b} \tfrac12 w'w + \sum_i C_i \max(0, 1 - y_i(\phi_i'w + b))

    Equations (28)-(30) of Wu, Schölkopf and Bakır (2006) in whitened coordinates. The bias is not
    penalised; where no multiplier is free it is the midpoint of its KKT interval.

    Parameters
    ----------
    Phi : array of shape (n, m) or Rows
        Features.
    y : array of shape (n,)
        Labels, -1 or +1.
    C : float or array of shape (n,), default=1.0
        Cost of each row; rows of cost 0 are ignored.
    tol : float, default=1e-8
        Relative duality gap to reach.
    max_iter : int, default=200
        Newton systems allowed for each working set.
    warm_start : Solution, default=None
        Solution of a nearby problem over as many features.

    Returns
    -------
    Solution

    Examples
    --------
    >>> import numpy as np
    >>> solution = hinge_ridge([[0.0], [1.0], [3.0], [4.0]], [-1, -1, 1, 1], C=10.0)
    >>> print(np.round(solution.weights, 6), round(solution.intercept, 6))
    [1.] -2.0
    >>> solution.gap < 1e-8
    True
    """
    rows = as_rows(Phi)
    n, _ = rows.shape
    starts = None if warm_start is None else [warm_start]
    (solution,) = _solve_all(
        rows, [checked_labels(y, n)], [checked_costs(C, n)], tol, max_iter, starts, n_jobs=1
    )
    return solution


def hinge_ridge_many(
    Phi: ArrayLike | Rows,
    Y: ArrayLike,
    C: ArrayLike = 1.0,
    *,
    tol: float = 1e-8,
    max_iter: int = 200,
    warm_start: Sequence[Solution] | None = None,
    n_jobs: int = -1,
) -> list[Solution]:
    """Solve `hinge_ridge` for every column of Y over the same rows.

    Products with all rows are shared by the problems; the small problems on their working sets
    run side by side.

    Parameters
    ----------
    Phi : array of shape (n, m) or Rows
        Features.
    Y : array of shape (n, k)
        Labels, -1 or +1, a column for each problem.
    C : float, array of shape (n,) or array of shape (n, k), default=1.0
        Costs.
    tol : float, default=1e-8
        Relative duality gap to reach.
    max_iter : int, default=200
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
    >>> [round(s.intercept, 6) for s in hinge_ridge_many(Phi, Y, C=10.0)]
    [-2.0, 2.0]
    """
    rows = as_rows(Phi)
    n, _ = rows.shape
    labels, costs = checked_columns(Y, C, n, warm_start)
    return _solve_all(rows, labels, costs, tol, max_iter, warm_start, n_jobs)


def _solve_all(
    rows: Rows,
    labels: list[FloatArray],
    costs: list[FloatArray],
    tol: float,
    max_iter: int,
    warm_start: Sequence[Solution] | None,
    n_jobs: int,
) -> list[Solution]:
    checked_tolerance(tol, max_iter)
    checked_starts(warm_start, rows.shape[1])
    starts = None
    if warm_start is not None:
        starts = [(start.weights, start.intercept) for start in warm_start]
    return solve_on_working_sets(
        rows,
        labels,
        costs,
        partial(solve_subproblem, max_iter=max_iter),
        tol=tol,
        starts=starts,
        n_jobs=n_jobs,
        is_compiled=accelerated("hinge_ridge") is not None,
    )


def solve_subproblem(problem: Subproblem, tol: float, *, max_iter: int) -> Subsolution:
    """Interior point over an array of rows, ending in a feasible pair of points."""
    n, m = problem.Phi.shape
    if (problem.y == problem.y[0]).all():
        # one class only: w = 0 and a bias on its side cost nothing
        return Subsolution(np.zeros(m), float(problem.y[0]), np.zeros(n), 0.0, 0.0, 0)
    A, centre = signed_rows(problem.Phi, problem.y)
    linear = problem.linear.copy()
    linear[:m] -= linear[m] * centre
    # half of the tolerance is for the distance of the multipliers from their equality
    limits = Limits(0.5 * tol, max_iter, problem.constant, problem.unit)
    v, a, n_iter = ridge_point(A, linear, problem.u, limits)
    a = balanced(a, problem)
    q = a @ A[:, :m] + linear[:m]
    w, margins = v[:m], A[:, :m] @ v[:m]
    b = hinge_bias(problem.y * margins, problem.y, problem.u, float(linear[m]))
    hinge = np.maximum(0.0, 1.0 - margins - problem.y * b)
    return Subsolution(
        weights=w,
        intercept=b - float(centre @ w),
        multipliers=a,
        primal_value=float(0.5 * w @ w - linear[:m] @ w - linear[m] * b + problem.u @ hinge),
        dual_value=float(a.sum() - 0.5 * q @ q),
        n_iter=n_iter,
        at_limit=n_iter >= max_iter,
    )


def signed_rows(Phi: FloatArray, y: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Rows y_i (phi_i - centre, 1) and the centre, so that data far from zero keep their digits."""
    n, m = Phi.shape
    centre = np.full(n, 1.0 / n) @ Phi
    A = np.empty((n, m + 1))
    np.subtract(Phi, centre, out=A[:, :m])
    A[:, m] = 1.0
    A *= y[:, None]
    return A, centre


def ridge_point(
    A: FloatArray,
    linear: FloatArray,
    u: FloatArray,
    limits: Limits,
    margin: FloatArray | None = None,
) -> tuple[FloatArray, FloatArray, int]:
    """Variables, multipliers and iterations of `interior_point` for the ridge, compiled if small.

    A has the labels multiplied in and a column for the bias; the arguments are those of
    `interior_point`.
    """
    n, k = A.shape
    jitted = accelerated("hinge_ridge") if n * (k - 1) < _LARGE else None
    if jitted is None:
        end = interior_point(A, linear, u, Ridge(), limits, margin=margin)
        return end.variables, end.multipliers, end.n_iter
    margins = np.ones(n) if margin is None else margin
    try:
        v, a, n_iter, _ = jitted.interior_point(
            A, linear, u, limits.tol, limits.max_iter, limits.constant, limits.unit, margins
        )
    except SystemError as error:
        raise interruption(error) from None
    return v, a, n_iter


def balanced(a: FloatArray, problem: Subproblem) -> FloatArray:
    """Multipliers moved by rounding errors so that y'a = -linear_b, inside their bounds."""
    u, y = problem.u, problem.y
    a = np.minimum(np.maximum(a, 0.0), u)
    for only_free in (True, False):
        # moving a multiplier off its bound costs as much as its row is away from the margin
        excess = float(y @ a + problem.linear[-1])
        room = np.minimum(a, u - a) if only_free else np.where(y * excess > 0, a, u - a)
        total = float(room.sum())
        if total > 0:
            a = a - y * room * min(max(excess / total, -1.0), 1.0)
    return np.minimum(np.maximum(a, 0.0), u)
