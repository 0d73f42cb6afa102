"""Linear programs that differ in their costs only, each from the basis of the one before.

In the dual over the rows, max sum_i a_i with 0 <= a_i <= C_i, y'a = 0 and |Phi_j'Ya| <= c_j, costs
and penalties are bounds. A basis that was optimal keeps the signs of its multipliers when bounds
move, so that the dual simplex method goes on from it, and needs a few pivots where costs moved a
little.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from kernelet.solvers.checks import checked_costs, checked_labels, checked_tolerance
from kernelet.solvers.linear_program.crossover import (
    LinearProgram,
    Vertex,
    guess_basis,
    highs_of,
    run_simplex,
    set_basis,
)
from kernelet.solvers.linear_program.norms import HingeProgram, OneNorm, variables_of
from kernelet.solvers.linear_program.proof import prove
from kernelet.solvers.linear_program.small import Answer
from kernelet.solvers.rounding import NOISE
from kernelet.solvers.solution import Solution, Status


class LinearProgramSequence:
    r"""`hinge_lasso` over the same rows for one set of costs after another, by simplex.

    .. math:: \min_{w, b} \sum_j c_j |w_j| + \sum_i C_i \max(0, 1 - y_i(\phi_i'w + b))

    The matrix is handed to HiGHS once. Every solution is a vertex, recomputed from its basis, so
    that zeros of w are exactly zero.

    Parameters
    ----------
    Phi : array of shape (n, m)
        Features.
    y : array of shape (n,)
        Labels, -1 or +1.
    warm_start : Solution, default=None
        Solution of a problem over these rows and features, whose basis the first one starts from.
    tol : float, default=1e-8
        Relative duality gap that counts as solved.

    Attributes
    ----------
    n_pivots : int
        Pivots of the last problem.

    Examples
    --------
    >>> sequence = LinearProgramSequence([[0.0, 0.3], [1.0, 0.1], [3.0, 0.2]], [-1, -1, 1])
    >>> [int((sequence.solve(C).weights != 0).sum()) for C in (10.0, 0.25)]
    [1, 0]
    """

    def __init__(
        self,
        Phi: ArrayLike,
        y: ArrayLike,
        *,
        warm_start: Solution | None = None,
        tol: float = 1e-8,
    ) -> None:
        self._Phi = np.ascontiguousarray(Phi, dtype=np.float64)
        if self._Phi.ndim != 2 or not np.isfinite(self._Phi).all():
            raise ValueError("Phi must be two-dimensional and finite; clean the features first.")
        n = self._Phi.shape[0]
        checked_tolerance(tol, 1)
        self._y, self._tol = checked_labels(y, n), tol
        self._K = np.ascontiguousarray(np.hstack([self._Phi, np.ones((n, 1))]).T * self._y)
        # of Phi'Ya, for multipliers of sum 1
        self._noise = NOISE * np.sqrt(np.einsum("ij,ij->j", self._Phi, self._Phi) / max(n, 1))
        self._start = warm_start
        self._highs: Any = None
        self._unit = 1.0
        self.n_pivots = 0
        self._columns = np.arange(n, dtype=np.int32)

    def solve(self, C: ArrayLike = 1.0, penalties: ArrayLike = 1.0) -> Solution:
        """The solution for these costs and penalties, from the last basis.

        Parameters
        ----------
        C : float or array of shape (n,), default=1.0
            Cost of each row.
        penalties : float or array of shape (m,), default=1.0
            c_j for each column; positive.

        Returns
        -------
        Solution
            ``n_iter`` counts pivots.
        """
        n, m = self._Phi.shape
        costs = checked_costs(C, n)
        c = np.array(np.broadcast_to(np.asarray(penalties, dtype=np.float64), (m,)))
        if not np.isfinite(c).all() or (c <= 0).any():
            raise ValueError("penalties must be finite and positive; for zeros take hinge_lasso.")
        problem = HingeProgram(self._y, costs, OneNorm(c))
        radius = np.append(c, 0.0)
        program = LinearProgram(-np.ones(n), self._K, -radius, radius, costs)
        vertex = self._run(program)
        v = variables_of(vertex, m)
        answer = Answer(v[:m], float(v[m]), np.clip(vertex.x, 0.0, costs))
        solution, _ = prove(
            problem,
            answer,
            self._Phi @ v[:m],
            self._K[:m] @ answer.multipliers,
            self._noise,
            self._tol,
            is_vertex=True,
        )
        status = Status.OPTIMAL if solution.gap <= self._tol else Status.NUMERICAL_LIMIT
        inside = np.flatnonzero(answer.multipliers)
        return replace(solution, n_iter=self.n_pivots, working_set=inside, status=status)

    def _run(self, program: LinearProgram) -> Vertex:
        highs = self._prepared(program)
        vertex, _ = run_simplex(highs, program, self._unit)
        self.n_pivots = int(highs.getInfo().simplex_iteration_count)
        return vertex

    def _prepared(self, program: LinearProgram) -> Any:
        """HiGHS with the bounds of this program; the first time with its matrix."""
        if self._highs is None:
            # multipliers of about one, whatever the costs, so that absolute tolerances mean much
            self._unit = float(program.bound.max())
            self._highs = highs_of(program, self._unit)
            if self._start is not None:
                v = np.append(self._start.weights, self._start.intercept)
                set_basis(self._highs, guess_basis(program, self._start.multipliers, -v))
            return self._highs
        highs = self._highs
        highs.changeColsBounds(
            self._columns.size,
            self._columns,
            np.zeros(self._columns.size),
            program.bound / self._unit,
        )
        for j, bound in enumerate(program.upper / self._unit):
            highs.changeRowBounds(j, -bound, bound)
        return highs
