"""Hinge loss plus a 1-norm or an infinity norm: support vector machines by linear programming."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from kernelet.solvers.checks import (
    checked_columns,
    checked_costs,
    checked_labels,
    checked_starts,
    checked_tolerance,
)
from kernelet.solvers.linear_program.norms import Capacity, HingeProgram, LargestNorm, OneNorm
from kernelet.solvers.linear_program.rounds import solve_linear_programs
from kernelet.solvers.linear_program.unpenalized import solve_unpenalized
from kernelet.solvers.rows import Rows, as_rows
from kernelet.solvers.solution import Solution

Norm = Literal[1, "inf"]


def hinge_lasso(
    Phi: ArrayLike | Rows,
    y: ArrayLike,
    C: ArrayLike = 1.0,
    penalties: ArrayLike = 1.0,
    *,
    norm: Norm = 1,
    tol: float = 1e-8,
    max_iter: int = 200,
    warm_start: Solution | None = None,
) -> Solution:
    r"""Solve the linear programming SVM over the rows of Phi exactly.

    .. math:: \min_{w, b} \sum_j c_j |w_j| + \sum_i C_i \max(0, 1 - y_i(\phi_i'w + b))

    or, with ``norm="inf"``, :math:`c \max_j |w_j|` in place of the sum. Equations (10) and (11) of
    Fung, Mangasarian and Smola (2002), (2.7)-(2.10) and (3.2)-(3.3) of Yajima, Ohi and Mori (2003).
    The solution is a vertex of the set of optima, where zeros of w are exactly zero. The
    multipliers obey :math:`0 \le a_i \le C_i`, :math:`y'a = 0` and
    :math:`|\Phi_j'Ya| \le c_j` (the sum of these at most c for the infinity norm), the last two but
    for rounding errors in proportion to :math:`\sum_i a_i`, which is the dual value.

    Parameters
    ----------
    Phi : array of shape (n, m) or Rows
        Features.
    y : array of shape (n,)
        Labels, -1 or +1.
    C : float or array of shape (n,), default=1.0
        Cost of each row; rows of cost 0 are ignored.
    penalties : float or array of shape (m,), default=1.0
        c_j for each column, or c; a single number for the infinity norm. Where columns have none
        (the RLP, (2.4), has none at all) the solution of least norm among the optimal ones is
        given.
    norm : {1, "inf"}, default=1
        The norm of w.
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
    The second feature is of no use:

    >>> import numpy as np
    >>> Phi = [[0.0, 0.3], [1.0, 0.1], [3.0, 0.2], [4.0, 0.4]]
    >>> solution = hinge_lasso(Phi, [-1, -1, 1, 1], C=10.0)
    >>> print(solution.weights, round(solution.intercept, 6))
    [1. 0.] -2.0
    >>> solution.gap < 1e-8
    True
    """
    rows = as_rows(Phi)
    n, m = rows.shape
    capacity = _checked_capacity(penalties, norm, m)
    problem = HingeProgram(checked_labels(y, n), checked_costs(C, n), capacity)
    starts = None if warm_start is None else [warm_start]
    return _solve_all(rows, [problem], tol, max_iter, starts, n_jobs=1)[0]


def hinge_lasso_many(
    Phi: ArrayLike | Rows,
    Y: ArrayLike,
    C: ArrayLike = 1.0,
    penalties: ArrayLike = 1.0,
    *,
    norm: Norm = 1,
    tol: float = 1e-8,
    max_iter: int = 200,
    warm_start: Sequence[Solution] | None = None,
    n_jobs: int = -1,
) -> list[Solution]:
    """Solve `hinge_lasso` for every column of Y over the same rows.

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
    penalties : float or array of shape (m,), default=1.0
        The same for all problems; see `hinge_lasso`.
    norm : {1, "inf"}, default=1
        The norm of w.
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
    >>> [round(s.intercept, 6) for s in hinge_lasso_many(Phi, Y, C=10.0)]
    [-2.0, 2.0]
    """
    rows = as_rows(Phi)
    n, m = rows.shape
    labels, costs = checked_columns(Y, C, n, warm_start)
    capacity = _checked_capacity(penalties, norm, m)
    problems = [HingeProgram(y, u, capacity) for y, u in zip(labels, costs, strict=True)]
    return _solve_all(rows, problems, tol, max_iter, warm_start, n_jobs)


def _solve_all(
    rows: Rows,
    problems: Sequence[HingeProgram],
    tol: float,
    max_iter: int,
    warm_start: Sequence[Solution] | None,
    n_jobs: int,
) -> list[Solution]:
    checked_tolerance(tol, max_iter)
    checked_starts(warm_start, rows.shape[1])
    if all(problem.capacity.is_positive for problem in problems):
        return solve_linear_programs(
            rows, problems, tol=tol, max_iter=max_iter, warm_start=warm_start, n_jobs=n_jobs
        )
    starts = [None] * len(problems) if warm_start is None else warm_start
    return [
        solve_unpenalized(rows, problem, tol=tol, max_iter=max_iter, warm_start=start)
        for problem, start in zip(problems, starts, strict=True)
    ]


def _checked_capacity(penalties: ArrayLike, norm: Norm, m: int) -> Capacity:
    c = np.asarray(penalties, dtype=np.float64)
    if not np.isfinite(c).all() or (c < 0).any():
        raise ValueError("penalties must be finite and not negative.")
    if norm == 1:
        if c.shape not in ((), (m,)):
            raise ValueError(f"penalties must be a number or have shape ({m},); got {c.shape}.")
        return OneNorm(np.array(np.broadcast_to(c, (m,))))
    if norm == "inf":
        if c.ndim != 0:
            raise ValueError('penalties must be a single number with norm="inf".')
        return LargestNorm(float(c), np.ones(m))
    raise ValueError(f'norm must be 1 or "inf", got {norm!r}.')
