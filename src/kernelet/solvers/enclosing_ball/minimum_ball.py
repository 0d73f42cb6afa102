"""Minimum enclosing balls in a kernel's feature space, to a factor of 1 + eps.

I. W. Tsang, A. Kocsor, J. T. Kwok, "Efficient kernel feature extraction for massive data sets",
KDD 2006, algorithm 2 and equations (12)-(18).
"""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils import check_random_state

from kernelet.kernels import Kernel
from kernelet.kernels.numerics.arrays import FloatArray, IndexArray, check_rows
from kernelet.machine import KernelMachine
from kernelet.rows.block import stored_numbers
from kernelet.solvers.checks import checked_costs, checked_labels
from kernelet.solvers.enclosing_ball.ball import Ball
from kernelet.solvers.enclosing_ball.expansions import Directions
from kernelet.solvers.enclosing_ball.growth import enclose
from kernelet.solvers.enclosing_ball.labelled_rows import TableRows
from kernelet.solvers.solution import Status

# k(x, x) that differ by a smaller share are equal but for rounding.
_ALIKE = 1e-9


@dataclass(frozen=True, eq=False)
class EnclosingBall:
    """A ball that holds all rows when its radius is multiplied by 1 + eps.

    Attributes
    ----------
    index : ndarray of shape (m,)
        Rows of the core set with a positive multiplier.
    multipliers : ndarray of shape (m,)
        alpha of (5) and (16): positive, with the sum 1.
    gammas : ndarray of shape (s,)
        gamma of (16), the multipliers of the orthogonality constraints.
    squared_norm : float
        Squared distance of the centre from the origin.
    radius : float
        R of the ball around the core set, never more than that of the smallest ball.
    reach : float
        Distance of the furthest row over R: at most 1 + eps, or the status gives the reason. NaN
        if not all rows were looked at.
    core_size : int
        Points of the core set, including those that are inside by now.
    gap : float
        Relative duality gap of the L2-SVM; NaN for the plain ball.
    centre : KernelMachine
        <c, phi(x)>, with the bias of the L2-SVM as intercept.
    status : Status
    """

    index: IndexArray
    multipliers: FloatArray
    gammas: FloatArray
    squared_norm: float
    radius: float
    reach: float
    core_size: int
    gap: float
    centre: KernelMachine
    status: Status


def minimum_enclosing_ball(
    X: Any,
    kernel: Kernel,
    y: ArrayLike | None = None,
    C: ArrayLike = 1.0,
    *,
    eps: float = 1e-3,
    tol: float | None = None,
    directions: Directions | None = None,
    sample_size: int | None = 59,
    exact_sweep: bool = True,
    max_iter: int = 5000,
    random_state: int | np.random.RandomState | None = 0,
) -> EnclosingBall:
    r"""The smallest ball around rows in the feature space of a kernel, to a factor of 1 + eps.

    .. math:: \min_{c, R} R^2 \quad\text{s.t.}\quad \|c - \varphi(x_i)\|^2 \le R^2,
        \quad u_q'c = 0

    With labels, the rows are those of the L2-SVM, :math:`(y_i \varphi(x_i), y_i, y_i e_i /
    \sqrt{C_i})`, equation (10) of Tsang, Kocsor and Kwok (2006), and the centre is the machine: the
    least :math:`\tfrac12 \|w\|^2 + \tfrac12 b^2 + \tfrac12 \sum_i C_i \xi_i^2` is
    :math:`1 / (2 \|c\|^2)`. The ball grows by their algorithm 2, with (12)-(18).

    Parameters
    ----------
    X : array or CSR of shape (n, d)
    kernel : Kernel
        Positive definite, and with a constant k(x, x) if there are no labels.
    y : array of shape (n,) or None, default=None
        Labels, -1 or +1; None is the plain ball.
    C : float or array of shape (n,), default=1.0
        Cost of each row, with labels.
    eps : float, default=1e-3
        All rows are within 1 + eps times the radius, which is no more than the smallest.
    tol : float or None, default=None
        Relative duality gap of the L2-SVM to reach as well.
    directions : Directions or None, default=None
        What the centre is to be orthogonal to.
    sample_size : int or None, default=59
        Random rows of which the furthest is taken in, as long as one of them is outside.
    exact_sweep : bool, default=True
        Whether all rows are looked at in the end.
    max_iter : int, default=5000
        Most points of the core set.
    random_state : int, RandomState instance or None, default=0
        Draws the rows.

    Returns
    -------
    EnclosingBall

    Examples
    --------
    >>> from kernelet.kernels import Gaussian
    >>> ball = minimum_enclosing_ball([[0.0], [1.0], [2.0]], Gaussian(0.5), eps=1e-6)
    >>> ball.index, ball.multipliers.round(6), round(ball.radius, 6)
    (array([0, 2]), array([0.5, 0.5]), 0.65752)
    """
    rows, ball = _prepared(X, kernel, y, C, eps, directions)
    enclose(
        [ball],
        rows,
        check_random_state(random_state),
        tol=tol,
        sample_size=sample_size,
        exact_sweep=exact_sweep,
        max_iter=max_iter,
    )
    return _enclosing_ball(ball)


def _prepared(
    X: Any,
    kernel: Kernel,
    y: ArrayLike | None,
    C: ArrayLike,
    eps: float,
    directions: Directions | None,
) -> tuple[TableRows, Ball]:
    """The rows with their classes and weights, and a ball without points; raises ValueError."""
    table = check_rows(X)
    n, d = table.shape
    if not n or not np.isfinite(stored_numbers(table)).all():
        raise ValueError("X must hold at least one row, and neither NaN nor infinity.")
    if not (isinstance(eps, Real) and 0.0 < eps < np.inf):
        raise ValueError(f"eps must be a finite number above zero; got {eps!r}.")
    if not kernel.is_positive_definite:
        raise ValueError(f"an enclosing ball needs a positive definite kernel, not {kernel!r}.")
    diagonal = np.asarray(kernel.diagonal(table), dtype=np.float64)
    if y is None:
        if not diagonal.all() or np.ptp(diagonal) > _ALIKE * diagonal.max():
            raise ValueError(
                f"k(x, x) of {kernel!r} is zero, or not constant; take a kernel for which it is, "
                "such as Gaussian, or divide each row by its length first."
            )
        rows = TableRows(table, np.zeros(n, dtype=np.intp), np.ones(n))
        return rows, Ball(kernel, d, float(diagonal.max()), eps, code=1, directions=directions)
    codes = (checked_labels(y, n) > 0).astype(np.intp)
    weights = checked_costs(C, n)
    if not weights.all():
        raise ValueError("C must be finite and above zero.")
    # where k(x, x) + 1 + 1 / C_i is not constant, points have one more coordinate that makes it so
    lift = float((diagonal + 1.0 + 1.0 / weights).max())
    ball = Ball(kernel, d, lift, eps, C=1.0, code=1, directions=directions)
    return TableRows(table, codes, weights), ball


def _enclosing_ball(ball: Ball) -> EnclosingBall:
    """What a ball that has grown came to: a / sum a are the multipliers of (5)."""
    core, expansion = ball.core, ball.expansion()
    total, free = core.total, core.free
    centre = KernelMachine(
        ball.kernel,
        expansion.vectors,
        expansion.coefficients / total,
        expansion.intercepts / total,
    )
    return EnclosingBall(
        core.index[free],
        core.multipliers[free] / total,
        -core.correction / total,
        ball.squared_norm,
        ball.radius,
        ball.reach,
        core.size,
        ball.gap,
        centre,
        ball.status,
    )
