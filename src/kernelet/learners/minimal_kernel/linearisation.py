r"""Minimal kernel classifiers: as few vectors and errors as successive linear programs can find.

.. math:: \min_{u, b} \sum_i C_i\, (\xi_i)_\# + \sum_j (|u_j|)_\#, \qquad
    \xi_i = \max\bigl(0, 1 - y_i (\textstyle\sum_j k(x_i, z_j) u_j + b)\bigr)

Equation (18) of Fung, Mangasarian and Smola (2002), with the pound loss (19) in its smooth form
(24). Its objective is concave in (|u|, xi), so that linearising it and solving the linear program
that results never raises it, and ends in a vertex after finitely many steps (algorithm 4.2).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np

from kernelet.kernels.numerics.arrays import FloatArray
from kernelet.solvers import Solution, hinge_lasso
from kernelet.solvers.linear_program.sequence import LinearProgramSequence

# A linearisation that falls by less than this share of its value does not fall, (27). Solutions are
# vertices, exact up to rounding errors, which are far below.
STATIONARY = 1e-9


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


class LinearPrograms(Protocol):
    """Programs over the same rows and features, one after the other."""

    def solve(self, costs: FloatArray, penalties: FloatArray, near: Solution) -> Solution:
        """A vertex that is optimal; ``near`` is the solution of a similar program."""
        ...


@dataclass(frozen=True, eq=False)
class InteriorPointPrograms:
    """Each on the rows and columns that matter, from the last vertex or the inside."""

    Phi: FloatArray
    y: FloatArray
    tol: float

    def solve(self, costs: FloatArray, penalties: FloatArray, near: Solution) -> Solution:
        return hinge_lasso(self.Phi, self.y, costs, penalties, tol=self.tol, warm_start=near)


@dataclass(eq=False)
class SimplexPrograms:
    """Each from the basis of the last one."""

    Phi: FloatArray
    y: FloatArray
    tol: float
    _sequence: LinearProgramSequence | None = field(default=None, init=False)

    def solve(self, costs: FloatArray, penalties: FloatArray, near: Solution) -> Solution:
        if self._sequence is None:
            self._sequence = LinearProgramSequence(self.Phi, self.y, warm_start=near, tol=self.tol)
        return self._sequence.solve(costs, penalties)


SOLVERS: dict[str, Callable[[FloatArray, FloatArray, float], LinearPrograms]] = {
    "interior_point": InteriorPointPrograms,
    "simplex": SimplexPrograms,
}


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
    history : tuple of float
        The smooth objective (25) at the solutions so far, from that of (10) on.
    is_stationary : bool
        Whether the step changed nothing, (27).
    machine : int
        Which of the machines it is for.
    """

    solution: Solution
    costs: FloatArray
    penalties: FloatArray
    history: tuple[float, ...]
    is_stationary: bool
    machine: int

    @property
    def value(self) -> float:
        """The smooth objective (25) at the solution."""
        return self.history[-1]

    @property
    def n_linearisations(self) -> int:
        """Linear programs after the first."""
        return len(self.history) - 1

    @property
    def line(self) -> str:
        return (
            f"machine {self.machine + 1:3d}  linear program {self.n_linearisations:3d}  "
            f"value {self.value:.6e}  vectors {np.count_nonzero(self.solution.weights)}  "
            f"gap {self.solution.gap:.0e}"
        )

    @property
    def brief(self) -> str:
        n_vectors = np.count_nonzero(self.solution.weights)
        return f"machine {self.machine + 1}, {n_vectors} vectors, value {self.value:.4g}"


@dataclass(frozen=True, eq=False)
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
    programs : LinearPrograms
        Solves the linear programs.
    machine : int, default=0
        Which of the machines it is.
    """

    Phi: FloatArray
    y: FloatArray
    costs: FloatArray
    loss: PoundLoss
    programs: LinearPrograms
    machine: int = 0

    def start(self, first: Solution) -> Linearisation:
        """Where it begins: the solution of (10)."""
        ones = np.ones(self.Phi.shape[1])
        return Linearisation(first, self.costs, ones, (self._value(first),), False, self.machine)

    def steps(self, at: Linearisation, max_iter: int) -> Iterator[Linearisation]:
        """Linearise and solve until nothing changes, (27)."""
        for _ in range(max_iter):
            at = self.step(at)
            yield at
            if at.is_stationary:
                return

    def step(self, at: Linearisation) -> Linearisation:
        """The next linear program, (26), and whether it lowers the linearisation, (27).

        The scan of the paper prints nu for mu in the second exponential of (27): both terms are
        those of (26) at the two points.
        """
        slacks, sizes = self._arguments(at.solution)
        costs = self.costs * self.loss.slope(slacks)
        penalties = self.loss.slope(sizes)
        before = float(costs @ slacks + penalties @ sizes)
        solution = self.programs.solve(costs, penalties, at.solution)
        fall = (before - solution.primal_value) / max(before, np.finfo(np.float64).tiny)
        history = (*at.history, self._value(solution))
        return Linearisation(solution, costs, penalties, history, fall <= STATIONARY, self.machine)

    def _arguments(self, solution: Solution) -> tuple[FloatArray, FloatArray]:
        margins = self.y * (self.Phi @ solution.weights + solution.intercept)
        return np.maximum(0.0, 1.0 - margins), np.abs(solution.weights)

    def _value(self, solution: Solution) -> float:
        slacks, sizes = self._arguments(solution)
        return float(self.costs @ self.loss.smooth(slacks) + self.loss.smooth(sizes).sum())
