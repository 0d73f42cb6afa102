"""Solve hinge problems on the rows that matter, and prove the answer on all of them.

Rows far outside the margin have a multiplier of zero and rows far inside it one of C_i, whatever
the exact solution is. Replacing the hinge of the former by 0 and of the latter by its linear piece
1 - y f leaves a problem over the few rows in between (the working set) whose optimum is a lower
bound: its multipliers, extended by 0 and C_i, are feasible for the dual over all rows. One product
with all rows then gives the exact gap,

    P(w, b) - D(a) = (gap on the working set) + sum_i C_i (hinge_i - what replaced it),

and the rows with the largest share in the last sum join the working set. Only rows whose
replacement is exact at the current point leave it, so the lower bound rises and the rounds end.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from kernelet.kernels.numerics.arrays import FloatArray, IndexArray
from kernelet.solvers.rows import Rows
from kernelet.solvers.solution import Solution, Status

# Half-width, in units of the margin, of the band around 1 that rows do not leave.
WARM_BAND = 0.15
# A round that is not the last is solved to this, or to a hundredth of the gap.
GUESS_TOL = 1e-3
# Rounds without a smaller gap after which all rows join.
_PATIENCE = 4
# At least this many rows may join in a round; the worst come first.
_MOST_ADDED = 500
_FEWEST_OF_A_CLASS = 5


@dataclass(frozen=True, eq=False)
class Subproblem:
    """min R(w) - linear'(w, b) + sum_i u_i max(0, 1 - y_i (phi_i'w + b)) over a few rows.

    The tolerance it is solved to is relative to this value plus ``constant``, the value over all
    rows, or to ``unit`` if that is larger.
    """

    Phi: FloatArray
    y: FloatArray
    u: FloatArray
    linear: FloatArray
    constant: float = 0.0
    unit: float = 1.0


@dataclass(frozen=True, eq=False)
class Subsolution:
    """Its answer. The multipliers are feasible for its dual, so the two values enclose it."""

    weights: FloatArray
    intercept: float
    multipliers: FloatArray
    primal_value: float
    dual_value: float
    n_iter: int
    at_limit: bool = False


@dataclass(eq=False)
class WorkingSet:
    """One label vector: which rows are in its working set, and the best answer so far."""

    y: FloatArray
    C: FloatArray
    tol: float
    unit: float
    is_done: bool = False
    sides: NDArray[np.int8] = field(init=False)  # -1: a = 0; 0: working set; 1: a = C
    tolerance: float = field(init=False)
    best: Solution | None = None
    n_iter: int = 0
    n_rounds: int = 0
    at_limit: bool = False
    margins: FloatArray | None = None
    lower: float = -np.inf

    def __post_init__(self) -> None:
        # rows without cost never matter
        self.sides = np.where(self.C > 0, 0, -1).astype(np.int8)
        self.tolerance = self.tol

    def keep_near_margin(self, decisions: FloatArray, band: float) -> None:
        """Keep the rows of the working set whose margin is within band of 1."""
        self._keep(self.y * decisions, band)

    def _keep(self, margins: FloatArray, band: float) -> None:
        inside = self.sides == 0
        self.sides[inside & (margins > 1.0 + band)] = -1
        self.sides[inside & (margins < 1.0 - band)] = 1
        for label in (-1.0, 1.0):
            # a class without a row in the working set would leave the bias without a bound
            mine = (self.y == label) & (self.C > 0)
            if np.count_nonzero(mine & (self.sides == 0)) < _FEWEST_OF_A_CLASS:
                members = np.flatnonzero(mine)
                nearest = np.argsort(np.abs(margins[members] - 1.0), kind="stable")
                self.sides[members[nearest[:_FEWEST_OF_A_CLASS]]] = 0

    @property
    def index(self) -> IndexArray:
        """The rows of the working set."""
        return np.flatnonzero(self.sides == 0)

    @property
    def is_rough(self) -> bool:
        """Whether this round is solved to less than the tolerance asked for."""
        return self.tolerance > self.tol

    @property
    def has_replaced_rows(self) -> bool:
        """Whether a row with a cost is outside of the working set."""
        return bool(np.any((self.sides != 0) & (self.C > 0)))

    def release_imbalance(self) -> None:
        """Take rows back that the working set could hardly balance: the bias would run away."""
        inside = self.sides > 0
        if not inside.any():
            return
        balance = float((self.C * self.y)[inside].sum())
        others = (self.sides == 0) & (self.y != np.sign(balance))
        if abs(balance) > 0.5 * float(self.C[others].sum()):
            self.sides[inside & (self.y == np.sign(balance))] = 0

    def pull(self) -> FloatArray:
        """y_i C_i of the rows whose hinge is replaced by its linear piece."""
        return np.where(self.sides > 0, self.C * self.y, 0.0)

    def subproblem(self, rows: Rows, linear: FloatArray) -> Subproblem:
        """The problem over the working set; ``linear`` is what the rows inside the margin add."""
        index = self.index
        Phi = rows.take(index) if index.size < self.y.size else rows.take_all()
        constant = float(self.C[self.sides > 0].sum())
        return Subproblem(Phi, self.y[index], self.C[index], linear, constant, self.unit)

    def finish(self, answer: Subsolution) -> None:
        """Keep the answer of a round over all rows, of which nothing is left to prove."""
        self._record(answer, 0.0)
        self.is_done = True

    def _record(self, answer: Subsolution, missed: float) -> Solution:
        """The answer for all rows; ``missed`` is the loss that the replaced hinges leave out."""
        inside = self.sides > 0
        constant = float(self.C[inside].sum())
        multipliers = np.where(inside, self.C, 0.0)
        multipliers[self.sides == 0] = answer.multipliers
        self.n_iter += answer.n_iter
        self.n_rounds += 1
        self.at_limit = answer.at_limit
        solution = Solution(
            weights=answer.weights,
            intercept=answer.intercept,
            multipliers=multipliers,
            primal_value=answer.primal_value + constant + missed,
            dual_value=answer.dual_value + constant,
            n_iter=self.n_iter,
            n_rounds=self.n_rounds,
            working_set=self.index,
            unit=self.unit,
        )
        if self.best is None or solution.gap < self.best.gap:
            self.best = solution
        return solution

    def prove(self, answer: Subsolution, scores: FloatArray, m: int) -> None:
        """Prove the answer on all rows, and choose the next working set if it does not hold."""
        C, sides, index = self.C, self.sides, self.index
        margins = self.y * (scores + answer.intercept)
        # what the replacements of the hinge miss at this point
        missed = C * np.maximum(0.0, -sides * (1.0 - margins))
        solution = self._record(answer, float(missed.sum()))
        assert self.best is not None
        violated = missed > 0.0
        # without violated rows the gap is the subsolver's own: only a tighter round could help
        exhausted = not violated.any() and not self.is_rough
        if solution.gap <= self.tol or exhausted:
            self.is_done = True
            return
        if self.n_rounds > self.best.n_rounds + _PATIENCE:
            # whatever goes wrong with the replacements, all rows together leave none
            sides[C > 0] = 0
            self.tolerance = self.tol
            return
        if self.margins is not None and solution.dual_value > self.lower:
            moved = float(np.max(np.abs(margins - self.margins)[index], initial=0.0))
            self._keep(margins, max(2.0 * moved, WARM_BAND))
        self.margins = margins
        self.lower = max(self.lower, solution.dual_value)
        room = max(_MOST_ADDED, 5 * m, index.size)
        if np.count_nonzero(violated) > room:
            violated = missed >= np.partition(missed, -room)[-room]
        sides[violated] = 0
        self.tolerance = max(self.tol, min(GUESS_TOL, 0.01 * solution.gap))

    def solution(self) -> Solution:
        """The best answer, with what a person should know of how it ended."""
        assert self.best is not None
        status = Status.OPTIMAL
        if self.best.gap > self.tol:
            status = Status.short_of_tolerance(self.at_limit)
        return replace(self.best, status=status, n_iter=self.n_iter, n_rounds=self.n_rounds)
