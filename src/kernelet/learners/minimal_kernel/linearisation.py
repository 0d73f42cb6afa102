r"""Minimal kernel classifiers: as few vectors and errors as successive linear programs can find.

.. math:: \min_{u, b} \sum_i C_i\, (\xi_i)_\# + \sum_j (|u_j|)_\#, \qquad
    \xi_i = \max\bigl(0, 1 - y_i (\textstyle\sum_j k(x_i, z_j) u_j + b)\bigr)

Equation (18) of Fung, Mangasarian and Smola (2002), with the pound loss (19) in its smooth form
(24). Its objective is concave in (|u|, xi), so that linearising it and solving the linear program
that results never raises it, and ends in a vertex after finitely many steps (algorithm 4.2).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from kernelet.kernels.numerics.arrays import FloatArray
from kernelet.solvers import Solution, hinge_lasso
from kernelet.solvers.linear_program.sequence import LinearProgramSequence

# A linearisation that falls by less than this share of its value does not fall, (27).
STATIONARY = 1e-9
SOLVERS = ("interior_point", "simplex")


@dataclass(frozen=True)
class PoundLoss:
    r"""The size of an error and its presence, :math:`x_\# = |x| + \mu |x|_*`, equation (19).

    Parameters
    ----------
    mu : float, default=1.0
        What the presence of an error costs.
    alpha : float, default=5.0
        Steepness of the smooth form, :math:`x + \mu (1 - e^{-\alpha x})`, equation (24).

    Examples
    --------
    >>> PoundLoss(mu=2.0).exact(np.array([0.0, 0.5]))
    array([0. , 2.5])
    """

    mu: float = 1.0
    alpha: float = 5.0

    def exact(self, x: FloatArray) -> FloatArray:
        """The pound function of numbers that are not negative, (19)."""
        loss: FloatArray = x + self.mu * (x > 0.0)
        return loss

    def smooth(self, x: FloatArray) -> FloatArray:
        """The smooth form, (24)."""
        loss: FloatArray = x - self.mu * np.expm1(-self.alpha * x)
        return loss

    def slope(self, x: FloatArray) -> FloatArray:
        """Its derivative, the costs of the next linear program, (26)."""
        slope: FloatArray = 1.0 + self.mu * self.alpha * np.exp(-self.alpha * x)
        return slope


@dataclass(frozen=True, eq=False)
class Linearisation:
    """A linear program of algorithm 4.2 and its solution.

    Attributes
    ----------
    solution : Solution
    costs : ndarray of shape (n,)
        C_i times the slope of the loss at the slacks of the step before; C_i itself in (10).
    penalties : ndarray of shape (m,)
        The slopes at the sizes of the coefficients of the step before; ones in (10).
    value : float
        The smooth objective (25) at the solution.
    """

    solution: Solution
    costs: FloatArray
    penalties: FloatArray
    value: float


@dataclass(frozen=True, eq=False)
class MinimalKernel:
    """Where algorithm 4.2 ended.

    Attributes
    ----------
    first : Solution
        The solution of (10), from which the leave-one-out bounds follow.
    last : Linearisation
        The last linear program.
    history : tuple of float
        The smooth objective (25) after (10) and after each linearisation.
    is_stationary : bool
        Whether the last step changed nothing, (27).
    was_interrupted : bool
    """

    first: Solution
    last: Linearisation
    history: tuple[float, ...]
    is_stationary: bool
    was_interrupted: bool = False

    @property
    def n_linearisations(self) -> int:
        """Linear programs after the first."""
        return len(self.history) - 1


@dataclass(eq=False)
class SuccessiveLinearisation:
    """Algorithm 4.2 on one label vector, from the solution of (10).

    Parameters
    ----------
    Phi : ndarray of shape (n, m)
        Kernel values of the rows and the candidates.
    y : ndarray of shape (n,)
        Labels, -1 or +1.
    costs : ndarray of shape (n,)
        C times the weight of each row.
    loss : PoundLoss
    solver : {"interior_point", "simplex"}, default="interior_point"
        `hinge_lasso`, or `LinearProgramSequence`; both end in a vertex.
    tol : float, default=1e-8
        Relative duality gap of every linear program.
    """

    Phi: FloatArray
    y: FloatArray
    costs: FloatArray
    loss: PoundLoss
    solver: str = "interior_point"
    tol: float = 1e-8
    _sequence: LinearProgramSequence | None = field(default=None, init=False)

    def run(
        self,
        first: Solution,
        max_iter: int,
        on_step: Callable[[Linearisation], bool] | None = None,
    ) -> MinimalKernel:
        """Linearise and solve until nothing changes, (27).

        Ctrl-C ends it with the last solution, as does an ``on_step`` that returns True.
        """
        last = self._judged(first, self.costs, np.ones(self.Phi.shape[1]))
        history = [last.value]
        for _ in range(max_iter):
            try:
                following, fall = self.step(last)
                ends = on_step is not None and on_step(following)
            except KeyboardInterrupt:
                return MinimalKernel(first, last, tuple(history), False, True)
            last = following
            history.append(last.value)
            if fall <= STATIONARY:
                return MinimalKernel(first, last, tuple(history), True)
            if ends:
                break
        return MinimalKernel(first, last, tuple(history), False)

    def step(self, at: Linearisation) -> tuple[Linearisation, float]:
        """The next linear program, (26), and by what share of its value the step lowers it, (27).

        The scan of the paper prints nu for mu in the second exponential of (27): both terms are
        those of (26) at the two points.
        """
        slacks, sizes = self._arguments(at.solution)
        costs = self.costs * self.loss.slope(slacks)
        penalties = self.loss.slope(sizes)
        before = float(costs @ slacks + penalties @ sizes)
        solution = self._solve(costs, penalties, at.solution)
        fall = (before - solution.primal_value) / max(before, np.finfo(np.float64).tiny)
        return self._judged(solution, costs, penalties), fall

    def _solve(self, costs: FloatArray, penalties: FloatArray, near: Solution) -> Solution:
        if self.solver == "simplex":
            if self._sequence is None:
                self._sequence = LinearProgramSequence(
                    self.Phi, self.y, warm_start=near, tol=self.tol
                )
            return self._sequence.solve(costs, penalties)
        return hinge_lasso(self.Phi, self.y, costs, penalties, tol=self.tol, warm_start=near)

    def _arguments(self, solution: Solution) -> tuple[FloatArray, FloatArray]:
        margins = self.y * (self.Phi @ solution.weights + solution.intercept)
        return np.maximum(0.0, 1.0 - margins), np.abs(solution.weights)

    def _judged(
        self, solution: Solution, costs: FloatArray, penalties: FloatArray
    ) -> Linearisation:
        slacks, sizes = self._arguments(solution)
        value = self.costs @ self.loss.smooth(slacks) + self.loss.smooth(sizes).sum()
        return Linearisation(solution, costs, penalties, float(value))
