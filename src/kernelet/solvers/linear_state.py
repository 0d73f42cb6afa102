"""One linear program in its rounds: which rows and columns it is solved on, and how well it is."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from kernelet.solvers.bias import hinge_bias
from kernelet.solvers.capacity import Capacity, lower_bound
from kernelet.solvers.linear_small import NOISE, UNIT, Answer, SmallProblem
from kernelet.solvers.rows import Rows
from kernelet.solvers.solution import FloatArray, Solution, Status

# Gap from which vertices are tried, the one from which pivots are made to find them, and the most
# vertices.
NEAR = 1e-5
_NEAREST = 1e-7
_MOST_VERTICES = 10
# Gap of the first rounds after a guess.
_FIRST = 1e-2
# A row may be on the margin of a nearby vertex unless its distance from the margin is this many
# times that of its multiplier from its bounds.
_FAR = 1e3
# Nor is one that was not in the working set, and whose multiplier says nothing, so close to it.
_CLOSE = 0.01
# Half-width, in units of the margin, of the band around 1 that rows do not leave the working set in.
_BAND = 0.15
# Distances from the margin that are rounding errors.
_ROUNDING = 1e-9
# Weights below this share of the largest are taken for zero in a guess.
_SLIGHT = 1e-2
# Rows for each column that keep a guess from fitting whatever labels they have, and the share of
# them that does where w = 0 is not far from the optimum.
_ROWS_PER_COLUMN = 8
_FEWER = 4
# Rounds without a smaller gap after which all rows and columns join.
_PATIENCE = 4
# At least so many rows may join in a round; the worst come first.
_MOST_ADDED = 2000
_FEWEST_OF_A_CLASS = 5


@dataclass(eq=False)
class LinearState:
    """A label vector with its costs, and the best answer so far."""

    y: FloatArray
    C: FloatArray
    capacity: Capacity
    m: int
    tol: float
    max_iter: int
    is_guess: bool = False

    def __post_init__(self) -> None:
        # -1: multiplier 0; 0: working set; 1: inside, behind the mean of its class
        self.sides: NDArray[np.int8] = np.where(self.C > 0, 0, -1).astype(np.int8)
        self.columns = np.ones(self.m, dtype=bool)
        self.noise = np.zeros(self.m)
        self.tolerance = self.tol if self.is_guess else max(self.tol, 0.1 * NEAR)
        self.near = NEAR
        self.nearest = min(_NEAREST, self.tol)
        self.stage = self._after_interior
        self.is_done = self.at_limit = self.is_stuck = False
        self.n_iter = self.n_rounds = self.n_vertices = 0
        self.start: tuple[FloatArray, float] | None = None
        self.expected = 0.0
        self.lowest = np.inf
        self.best: Solution | None = None
        self.begin_at_zero()

    # -- starting points

    def begin_at_zero(self) -> None:
        """w = 0, and multipliers that prove it where it is the optimum."""
        totals = {label: float(self.C[self.y == label].sum()) for label in (-1.0, 1.0)}
        least = min(totals.values())
        shares = {label: least / total if total else 0.0 for label, total in totals.items()}
        a = self.C * np.where(self.y > 0, shares[1.0], shares[-1.0])
        self.answer = Answer(np.zeros(self.m), 0.0, a)

    def begin_near(self, nearby: Solution, scores: FloatArray, pull: FloatArray) -> None:
        """Start from the solution of a nearby problem; pull is its Phi'Ya.

        How much its value differs over these rows says how near it is: rows within a band around
        its margin, and columns near the boundary of the dual ball, are kept accordingly.
        """
        w = nearby.weights
        margins = self.y * (scores + nearby.intercept)
        value = self.capacity.value(w) + float(self.C @ np.maximum(0.0, 1.0 - margins))
        excess = value / nearby.primal_value - 1.0 if nearby.primal_value > 0.0 else 0.0
        self.start, self.lowest = (w, nearby.intercept), value
        # a sample has a value below, and its solution one above, the optimum
        self.expected = 0.5 * (value + nearby.primal_value)
        size = np.abs(w)
        kept = np.where(size > _SLIGHT * size.max(initial=0.0), w, 0.0)
        columns = self.capacity.promising(kept, pull, max(0.1, 3.0 * excess))
        if 2 * np.count_nonzero(columns) < self.m:
            self.columns = columns
        # fewer rows than that fit any labels with these columns
        enough = min(self.y.size - 1, _ROWS_PER_COLUMN * np.count_nonzero(self.columns))
        distance = np.abs(margins - 1.0)
        self._drop(
            margins,
            max(
                _BAND,
                2.0 * float(np.sqrt(max(excess, 0.0))),
                float(np.partition(distance, enough)[enough]),
            ),
        )
        self.tolerance = max(self.tolerance, _FIRST)

    def _drop(self, margins: FloatArray, band: float) -> None:
        """Take rows out of the working set whose margin is not within band of 1."""
        inside = self.sides == 0
        self.sides[inside & (margins > 1.0 + band)] = -1
        self.sides[inside & (margins < 1.0 - band)] = 1
        self._keep_both_classes(margins)

    def _keep_both_classes(self, margins: FloatArray) -> None:
        """A few rows of each class, the nearest to the margin, are always in the working set."""
        for label in (-1.0, 1.0):
            members = np.flatnonzero((self.y == label) & (self.C > 0))
            if np.count_nonzero(self.sides[members] == 0) < _FEWEST_OF_A_CLASS:
                nearest = np.argsort(np.abs(margins[members] - 1.0), kind="stable")
                self.sides[members[nearest[:_FEWEST_OF_A_CLASS]]] = 0

    @property
    def rows_per_column(self) -> int:
        """How many rows for each column a sample needs to tell something of the solution."""
        assert self.best is not None
        is_near_zero = self.best.dual_value > 0.1 * self.best.primal_value
        return _ROWS_PER_COLUMN // _FEWER if is_near_zero else _ROWS_PER_COLUMN

    # -- one round

    def inside_weights(self) -> list[FloatArray]:
        """Row weights that average the rows inside the margin, a vector for each class of them."""
        self.groups = []
        weights = []
        for label in (-1.0, 1.0):
            members = np.flatnonzero((self.sides > 0) & (self.y == label))
            if members.size:
                self.groups.append(members)
                weights.append(np.zeros(self.y.size))
                weights[-1][members] = self.C[members] / self.C[members].sum()
        return weights

    def solve(self, rows: Rows, means: FloatArray) -> None:
        """Solve on the rows and columns of the moment; means stand for the rows inside."""
        index = np.flatnonzero(self.sides == 0)
        Phi = rows.take(index) if index.size < self.y.size else rows.take_all()
        totals = [float(self.C[members].sum()) for members in self.groups]
        problem = SmallProblem(
            Phi,
            means,
            np.append(self.y[index], [self.y[members[0]] for members in self.groups]),
            np.append(self.C[index], totals),
            self.capacity,
            self.columns,
        )
        del Phi
        self.noise[self.columns] = problem.noise
        if self.stage == self._after_vertex:
            a = self.answer.multipliers
            nearby = Answer(
                self.answer.weights[self.columns],
                self.answer.intercept,
                np.append(a[index], [a[members].sum() for members in self.groups]),
            )
            found = problem.vertex(nearby, pivots=self.near <= self.nearest)
            if found is None:
                self.n_vertices = _MOST_VERTICES
            answer = nearby if found is None else found
        else:
            start = self.start and (self.start[0][self.columns], self.start[1])
            answer = problem.interior(start, self.expected, 0.5 * self.tolerance, self.max_iter)
            self.n_iter += answer.n_iter
            self.at_limit = answer.n_iter >= self.max_iter
            self.is_stuck = not answer.is_converged
        w, a = np.zeros(self.m), np.zeros(self.y.size)
        w[self.columns] = answer.weights
        a[index] = answer.multipliers[: index.size]
        for members, total, share in zip(
            self.groups, totals, answer.multipliers[index.size :], strict=True
        ):
            a[members] = self.C[members] * (share / total)
        self.answer = Answer(w, answer.intercept, self._balanced(a))

    def _balanced(self, a: FloatArray) -> FloatArray:
        """Multipliers moved by rounding errors so that y'a = 0, those at their bounds last."""
        excess = float(self.y @ a)
        free = np.minimum(a, self.C - a)
        for room in (free, np.where(self.y * excess > 0, a, self.C - a)):
            total = float(room.sum())
            if total > abs(excess):
                return np.clip(a - self.y * room * (excess / total), 0.0, self.C)
        return a

    # -- what it is worth, and what comes next

    def judge(self, scores: FloatArray, pull: FloatArray) -> None:
        """Values of both problems over all rows for the current answer; pull is Phi'Ya."""
        C, a = self.C, self.answer.multipliers
        b = hinge_bias(scores, self.y, C)
        margins = self.y * (scores + b)
        factor = self._tightening(margins) if self.stage == self._after_vertex else 1.0
        w, b, margins = factor * self.answer.weights, factor * b, factor * margins
        self.answer = replace(self.answer, weights=w, intercept=b)
        hinge = np.maximum(0.0, 1.0 - margins)
        value, total = self.capacity.value(w) + float(C @ hinge), float(a.sum())
        noise = self.noise * total
        shrink, lower = lower_bound(
            self.capacity, w, pull, noise, total, aim=(1.0 - self.tol) * value
        )
        self.n_rounds += 1
        solution = Solution(
            weights=w,
            intercept=b,
            multipliers=a if shrink > 1.0 - _ROUNDING else shrink * a,
            primal_value=value,
            dual_value=lower,
            n_iter=self.n_iter,
            n_rounds=self.n_rounds,
            working_set=np.flatnonzero(self.sides == 0),
            unit=UNIT,
        )
        self.is_better = self.best is None or solution.gap < self.best.gap
        if self.is_better:
            self.best, self.best_pull, self.best_margins = solution, pull, margins
        if self.n_rounds == 1:
            # w = 0, before the first round: kept only where it is the optimum
            self.is_done = solution.gap <= 1e-12
            return
        if solution.primal_value < self.lowest:
            self.lowest, self.start = solution.primal_value, (w, b)
        self.expected = float(a.sum())
        far = np.abs(margins - 1.0) > _ROUNDING
        missed = np.where(self.sides < 0, hinge, np.maximum(0.0, margins - 1.0))
        missed *= C * (far & (self.sides != 0))
        known = np.maximum(0.0, np.abs(pull) - noise)
        joining = self.capacity.violated(known) & ~self.columns
        self.stage(solution, margins, missed, joining)

    def _tightening(self, margins: FloatArray) -> float:
        """The factor that lifts rows on the margin over it, where rounding left them below."""
        short = 1.0 - margins
        slight = np.abs(short) < _ROUNDING
        if not slight.any():
            return 1.0
        factor = 1.0 + 2.0 * max(0.0, float(short[slight].max())) + NOISE
        before = self.capacity.value(self.answer.weights) + float(self.C @ np.maximum(0.0, short))
        after = factor * self.capacity.value(self.answer.weights) + float(
            self.C @ np.maximum(0.0, 1.0 - factor * margins)
        )
        return factor if after <= (1.0 + NOISE) * before else 1.0

    def _after_interior(
        self,
        solution: Solution,
        margins: FloatArray,
        missed: FloatArray,
        joining: NDArray[np.bool_],
    ) -> None:
        assert self.best is not None
        is_complete = not missed.any() and not joining.any()
        floor = self.tol if self.is_guess else min(self.tol, 0.1 * self.near)
        is_exhausted = is_complete and (self.tolerance <= floor or self.is_stuck)
        if self.is_guess:
            self.is_done = solution.gap <= self.tol or is_exhausted
        elif self.best.gap <= self.near and is_complete:
            self._approach_vertex()
            return
        elif is_exhausted:
            # as far as the interior point goes: vertices of all rows and columns of the moment
            self.near = self.nearest
            self.kept = (self.sides.copy(), self.columns.copy())
            self.stage = self._after_vertex
            return
        if self.is_done:
            return
        if self.n_rounds > self.best.n_rounds + _PATIENCE:
            self.sides[self.C > 0] = 0
            self.columns[:] = True
            self.start = None
            self.tolerance = floor
            return
        if self.is_better:
            width = 3.0 * float(np.sqrt(solution.gap))
            self._drop(margins, max(_BAND, width))
            self._leave(width)
        self._extend(missed, joining)
        self.tolerance = max(floor, min(_FIRST, 0.01 * self.best.gap))

    def _leave(self, width: float) -> None:
        """Take columns out that have no weight, and are farther than width from having one."""
        size = np.abs(self.answer.weights)
        kept = np.where(size > _SLIGHT * size.max(initial=0.0), self.answer.weights, 0.0)
        columns = self.capacity.promising(kept, self.best_pull, max(0.1, width))
        if 2 * np.count_nonzero(columns) < self.m:
            self.columns &= columns

    def _extend(self, missed: FloatArray, joining: NDArray[np.bool_]) -> None:
        violated = missed > 0.0
        room = max(_MOST_ADDED, 10 * self.m, np.count_nonzero(self.sides == 0))
        if np.count_nonzero(violated) > room:
            violated = missed >= np.partition(missed, -room)[-room]
        self.sides[violated] = 0
        self.columns |= joining
        if 2 * np.count_nonzero(self.columns) >= self.m and self.stage == self._after_interior:
            self.columns[:] = True

    def _approach_vertex(self) -> None:
        """Go on with vertices, over the rows and columns that may matter at the nearest."""
        assert self.best is not None
        best, margins = self.best, self.best_margins
        a = best.multipliers
        self.kept = (self.sides.copy(), self.columns.copy())
        room = np.minimum(a, self.C - a)
        distance = np.abs(margins - 1.0)
        on_margin = _FAR * room >= self.C * distance
        on_margin |= (self.sides != 0) & (distance < _CLOSE)
        on_margin &= self.C > 0
        self.sides = np.where(margins > 1.0, -1, 1).astype(np.int8)
        self.sides[self.C == 0] = -1
        self.sides[on_margin] = 0
        self._keep_both_classes(margins)
        w = best.weights
        size = np.abs(w)
        kept = np.where(size > 1e-6 * size.max(initial=0.0), w, 0.0)
        self.columns = self.capacity.promising(kept, self.best_pull, 0.1) & self.columns
        self.answer = Answer(w, best.intercept, a)
        self.stage = self._after_vertex
        self.n_vertices = 0

    def _after_vertex(
        self,
        solution: Solution,
        margins: FloatArray,
        missed: FloatArray,
        joining: NDArray[np.bool_],
    ) -> None:
        assert self.best is not None
        self.n_vertices += 1
        if solution.gap <= self.tol:
            # exact zeros count for more than the last digits of the gap
            self.best, self.is_done = solution, True
            return
        is_complete = not missed.any() and not joining.any()
        if self.n_vertices <= _MOST_VERTICES and not is_complete:
            self._extend(missed, joining)
            return
        # no vertex in reach: back to the interior point, for a nearer point, if there can be one
        self.is_done = self.near <= self.nearest
        if not self.is_done:
            self.near = max(self.nearest, 0.01 * min(self.near, self.best.gap))
            self.sides, self.columns = self.kept
            self.stage = self._after_interior
            self.tolerance = 0.1 * self.near

    def solution(self) -> Solution:
        """The best answer, with what a person should know of how it ended."""
        assert self.best is not None
        status = Status.OPTIMAL
        if self.best.gap > self.tol:
            status = Status.ITERATION_LIMIT if self.at_limit else Status.NUMERICAL_LIMIT
        return replace(self.best, status=status, n_iter=self.n_iter, n_rounds=self.n_rounds)
