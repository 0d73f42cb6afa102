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

from kernelet.kernels.numerics.arrays import FloatArray
from kernelet.solvers.chosen_rows import ChosenRows
from kernelet.solvers.rounding import TINY
from kernelet.solvers.rows import Rows
from kernelet.solvers.solution import Solution, Status

# Half-width, in units of the margin, of the band around 1 that rows do not leave. It decides how
# many rows a round solves and how many rounds there are, never the answer, which is proven on all
# rows.
WARM_BAND = 0.15
# A round that is not the last is solved to this, or to a hundredth of the gap: more digits would be
# lost as soon as rows join, fewer would choose the wrong rows.
GUESS_TOL = 1e-3
_SHARE_OF_GAP = 0.01
# Rounds without a smaller gap after which all rows join.
_PATIENCE = 4
# Rows that may join in a round, in all or for each column, whichever is more. The worst come first;
# many of the others have no loss at the next point.
_MOST_ADDED = 500
_MOST_PER_COLUMN = 5


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
    is_done: bool = False
    chosen: ChosenRows = field(init=False)
    tolerance: float = field(init=False)
    best: Solution | None = None
    n_iter: int = 0
    n_rounds: int = 0
    at_limit: bool = False
    margins: FloatArray | None = None
    lower: float = -np.inf

    def __post_init__(self) -> None:
        self.chosen = ChosenRows(self.y, self.C)
        self.tolerance = self.tol

    @property
    def is_rough(self) -> bool:
        """Whether this round is solved to less than the tolerance asked for."""
        return self.tolerance > self.tol

    @property
    def has_replaced_rows(self) -> bool:
        """Whether a row with a cost is outside of the working set."""
        return bool(np.any((self.chosen.sides != 0) & (self.C > 0)))

    def release_imbalance(self) -> None:
        """Take rows back that the working set could hardly balance: the bias would run away."""
        inside = self.chosen.inside
        if not inside.any():
            return
        balance = float((self.C * self.y)[inside].sum())
        others = (self.chosen.sides == 0) & (self.y != np.sign(balance))
        # half of what the other class has in the working set is left to be divided freely
        if abs(balance) > 0.5 * float(self.C[others].sum()):
            self.chosen.sides[inside & (self.y == np.sign(balance))] = 0

    def pull(self) -> FloatArray:
        """y_i C_i of the rows whose hinge is replaced by its linear piece."""
        return np.where(self.chosen.inside, self.C * self.y, 0.0)

    def subproblem(self, rows: Rows, linear: FloatArray) -> Subproblem:
        """The problem over the working set; ``linear`` is what the rows inside the margin add."""
        index = self.chosen.index
        Phi = rows.take(index) if index.size < self.y.size else rows.take_all()
        constant = float(self.C[self.chosen.inside].sum())
        return Subproblem(Phi, self.y[index], self.C[index], linear, constant, TINY)

    def finish(self, answer: Subsolution) -> None:
        """Keep the answer of a round over all rows, of which nothing is left to prove."""
        self._record(answer, 0.0)
        self.is_done = True

    def _record(self, answer: Subsolution, missed: float) -> Solution:
        """The answer for all rows; ``missed`` is the loss that the replaced hinges leave out."""
        inside = self.chosen.inside
        constant = float(self.C[inside].sum())
        multipliers = np.where(inside, self.C, 0.0)
        multipliers[self.chosen.sides == 0] = answer.multipliers
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
            working_set=self.chosen.index,
            unit=TINY,
        )
        if self.best is None or solution.gap < self.best.gap:
            self.best = solution
        return solution

    def prove(self, answer: Subsolution, scores: FloatArray, m: int) -> None:
        """Prove the answer on all rows, and choose the next working set if it does not hold."""
        index = self.chosen.index
        margins = self.y * (scores + answer.intercept)
        missed = self.chosen.missed(margins)
        solution = self._record(answer, float(missed.sum()))
        assert self.best is not None
        # without violated rows the gap is the subsolver's own: only a tighter round could help
        exhausted = not missed.any() and not self.is_rough
        if solution.gap <= self.tol or exhausted:
            self.is_done = True
            return
        if self.n_rounds > self.best.n_rounds + _PATIENCE:
            # whatever goes wrong with the replacements, all rows together leave none
            self.chosen.add_all()
            self.tolerance = self.tol
            return
        if self.margins is not None and solution.dual_value > self.lower:
            # rows that are farther from the margin than any row has moved twice over are safe
            moved = float(np.max(np.abs(margins - self.margins)[index], initial=0.0))
            self.chosen.drop(margins, max(2.0 * moved, WARM_BAND))
        self.margins = margins
        self.lower = max(self.lower, solution.dual_value)
        self.chosen.add(missed, max(_MOST_ADDED, _MOST_PER_COLUMN * m, index.size))
        self.tolerance = max(self.tol, min(GUESS_TOL, _SHARE_OF_GAP * solution.gap))

    def solution(self) -> Solution:
        """The best answer, with its status."""
        assert self.best is not None
        status = Status.OPTIMAL
        if self.best.gap > self.tol:
            status = Status.short_of_tolerance(self.at_limit)
        return replace(self.best, status=status, n_iter=self.n_iter, n_rounds=self.n_rounds)
