"""One linear program in its rounds: the rows and columns it is solved on, and the gap reached."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from kernelet.kernels.numerics.arrays import FloatArray
from kernelet.solvers.chosen_rows import ChosenRows
from kernelet.solvers.linear_program.chosen_columns import ChosenColumns
from kernelet.solvers.linear_program.crossover import ROUNDING
from kernelet.solvers.linear_program.norms import HingeProgram
from kernelet.solvers.linear_program.proof import prove, zero_answer
from kernelet.solvers.linear_program.small import Answer, SmallProblem
from kernelet.solvers.rows import Rows
from kernelet.solvers.solution import Solution, Status

# None of these decides the answer, which is proven on all rows and columns; they decide how many
# rounds it takes, and how large the problem of a round is.
#
# Gap from which vertices are tried, and the one from which pivots are made to find them: nearer,
# the first guess of a basis is most often right. After _MOST_VERTICES in a row the interior point
# goes on, to a gap a hundred times smaller. Rounds of it are solved to a tenth of the gap that is
# wanted from them, so that what is left is due to the rows and columns.
_NEAR = 1e-6
_NEAREST = 1e-7
_MOST_VERTICES = 10
_NEARER = 0.01
_FINER = 0.1
# Gap of the first rounds after a guess, whose rows and columns will change anyway. Later ones are
# solved to a hundredth of the gap, or to much less once nothing is missed: with the right rows and
# columns there is no reason to stop on the way.
_FIRST = 1e-2
_SHARE_OF_GAP = 0.01
_TO_THE_END = 1e-5
# The same without a guess, as long as columns join: only which ones is of use. On digits a quarter
# of the time is saved.
_ROUGH = 0.2
_SHARE_WHILE_JOINING = 0.05
# The gap at which w = 0, tried before the first round, is taken for the optimum: it has to be
# exact.
_EXACT = 1e-12
# A row may be on the margin of a nearby vertex unless its distance from the margin is this many
# times that of its multiplier from its bounds: of the two one is zero at the vertex.
_FAR = 1e3
# A row that was not chosen has no such multiplier; it may be there if it is this close to it.
_CLOSE = 0.01
# Half-width, in units of the margin, of the band around 1 that rows stay chosen in. It and the
# shell that columns stay in grow with the distance from the optimum, for which the relative excess
# of the value stands, or its root, as for a smooth function.
_BAND = 0.15
_ROWS_MOVE = 2.0
_COLUMNS_MOVE = 3.0
# How much more than the optimum a warm start is taken to be.
_WARM_EXCESS = 0.02
# Rows for each column that keep a guess from fitting whatever labels they have. A quarter of them
# does where w = 0 is not far from the optimum, its dual value above a tenth of the primal one: few
# weights will differ from zero then.
_ROWS_PER_COLUMN = 8
_FEWER = 4
_NEAR_ZERO = 0.1
# Rounds without a smaller gap after which all rows and columns join.
_PATIENCE = 4
# Rows that may join at once, in all or for each column, whichever is more; the worst come first.
_MOST_ADDED = 2000
_MOST_PER_COLUMN = 10


@dataclass(eq=False)
class LinearState:
    """A label vector with its costs, and the best answer so far."""

    problem: HingeProgram
    m: int
    tol: float
    max_iter: int
    is_guess: bool = False

    def __post_init__(self) -> None:
        self.y, self.C, self.capacity = self.problem.y, self.problem.C, self.problem.capacity
        self.rows = ChosenRows(self.y, self.C)
        self.columns = ChosenColumns(self.capacity, self.m)
        self.noise = np.zeros(self.m)
        self.tolerance = self.tol if self.is_guess else max(self.tol, _FINER * _NEAR)
        self.near = _NEAR
        self.nearest = min(_NEAREST, self.tol)
        self.at_vertex = self.is_rounding = self.follows = False
        self.is_done = self.at_limit = self.is_stuck = False
        self.n_iter = self.n_rounds = self.n_vertices = 0
        self.start: tuple[FloatArray, float] | None = None
        self.expected = 0.0
        self.lowest = np.inf
        self.best: Solution | None = None
        self.answer = zero_answer(self.problem, self.m)

    # -- starting points

    def begin_at_zero(self) -> None:
        """Start among the columns that the multipliers of w = 0 pull at most."""
        assert self.best is not None
        if self.columns.begin_with_most_pulled(self.best_pull):
            self.tolerance = max(self.tolerance, _ROUGH)

    def begin_near(
        self, w: FloatArray, b: float, scores: FloatArray, pull: FloatArray, value: float | None
    ) -> None:
        """Start from (w, b) of a nearby problem; pull is its Phi'Ya.

        ``value`` is that of a problem over a sample of these rows. How much more it is over all of
        them says how near it is: rows within a band around the margin, and columns in a shell
        at the boundary of the dual ball, are kept accordingly.
        """
        margins = self.y * (scores + b)
        here = self.capacity.value(w) + float(self.C @ np.maximum(0.0, 1.0 - margins))
        excess = _WARM_EXCESS if not value else max(0.0, here / value - 1.0)
        self.start, self.lowest = (w, b), here
        # the optimum lies between the value of a sample and that of its solution
        self.expected = here / (1.0 + 0.5 * excess)
        self.columns.restrict(w, pull, _COLUMNS_MOVE * excess, is_vertex=value is None)
        # fewer rows than that fit any labels with these columns
        enough = min(self.y.size - 1, _ROWS_PER_COLUMN * self.columns.n_chosen)
        least = float(np.partition(np.abs(margins - 1.0), enough)[enough]) if value else 0.0
        self.rows.drop(margins, max(_BAND, _ROWS_MOVE * float(np.sqrt(excess)), least))
        self.tolerance = max(self.tolerance, _FIRST)
        if value is None and self.capacity.is_separable:
            self.answer = Answer(w, b, np.zeros(self.y.size))
            self._go_to_vertices()
            self.follows = True

    @property
    def rows_per_column(self) -> int:
        """How many rows per column a sample needs to say something about the solution."""
        assert self.best is not None
        is_near_zero = self.best.dual_value > _NEAR_ZERO * self.best.primal_value
        return _ROWS_PER_COLUMN // _FEWER if is_near_zero else _ROWS_PER_COLUMN

    # -- one round

    def solve(self, rows: Rows, means: FloatArray) -> None:
        """Solve on the current rows and columns; means stand for the rows inside."""
        if self.is_rounding:
            return
        index = self.rows.index
        Phi = rows.take(index) if index.size < self.y.size else rows.take_all()
        labels, costs = self.rows.labels_and_costs()
        problem = SmallProblem(Phi, means, labels, costs, self.capacity, self.columns.mask)
        self.noise[self.columns.mask] = problem.noise
        next_vertex = self._followed(problem) if self.follows else None
        if next_vertex is not None:
            answer = next_vertex
            self.n_vertices += 1
        elif self.at_vertex:
            nearby = Answer(
                self.answer.weights[self.columns.mask],
                self.answer.intercept,
                self.rows.gathered(self.answer.multipliers),
            )
            found = problem.vertex(nearby, pivots=self.near <= self.nearest)
            self.is_stuck = found is None
            self.n_vertices += 1
            answer = nearby if found is None else found
        else:
            start = self.start and (self.start[0][self.columns.mask], self.start[1])
            # the other half is for multipliers that are moved onto their equality
            answer = problem.interior(start, self.expected, 0.5 * self.tolerance, self.max_iter)
            self.n_iter += answer.n_iter
            self.at_limit = answer.n_iter >= self.max_iter
            self.is_stuck = not answer.is_converged
        w = np.zeros(self.m)
        w[self.columns.mask] = answer.weights
        a = self.rows.spread(answer.multipliers)
        self.answer = Answer(w, answer.intercept, a)
        # rows outside pull at nothing, those inside at their means: this is Phi'Ya over all rows
        pulls = labels * self.rows.gathered(a)
        self.pull = pulls[: index.size] @ Phi + pulls[index.size :] @ means

    def _followed(self, problem: SmallProblem) -> Answer | None:
        """The vertex after the last; where it is out of reach, the interior point is next."""
        found = problem.next_vertex(self.answer.weights[self.columns.mask], self.answer.intercept)
        self.follows = self.at_vertex = found is not None
        return found

    def judge(self, scores: FloatArray) -> None:
        """Values of both problems over all rows for the current answer (w, a); scores are Phi w."""
        pull = self.pull
        solution, margins = prove(
            self.problem, self.answer, scores, pull, self.noise, self.tol, self.at_vertex
        )
        self.n_rounds += 1
        solution = replace(
            solution, n_iter=self.n_iter, n_rounds=self.n_rounds, working_set=self.rows.index
        )
        w, b, value = solution.weights, solution.intercept, solution.primal_value
        total = float(self.answer.multipliers.sum())
        found = self.answer
        if not self.follows:  # the next vertex is sought from that of this round's rows
            self.answer = replace(found, weights=w, intercept=b)
        is_better = self.best is None or solution.gap < self.best.gap
        if is_better:
            self.best, self.best_margins = solution, margins
            # the multipliers of the solution may have been shrunk into the dual ball
            share = float(solution.multipliers.sum()) / total if total else 1.0
            self.best_pull = share * pull
        if self.n_rounds == 1:
            # w = 0, before the first round: kept only where it is the optimum
            self.is_done = solution.gap <= _EXACT
            return
        if value < self.lowest:
            self.lowest, self.start = value, (w, b)
        self.expected = total
        known = np.maximum(0.0, np.abs(pull) - self.noise * total)
        missed = self.rows.missed(margins, ROUNDING)
        if solution.gap > max(self.tol, self.tolerance) and not missed.any():
            # the best bias for all rows may suit those that were left out, at the expense of the
            # chosen: they were missed at the bias that was found without them
            missed = self.rows.missed(self.y * (scores + found.intercept), ROUNDING)
        joining = self.columns.missing(known)
        if joining.any():
            # multipliers that other columns will lower prove nothing yet
            self.expected = solution.dual_value
        if self.at_vertex:
            self._after_vertex(solution, missed, joining)
        else:
            self._after_interior(solution, margins if is_better else None, missed, joining)

    # -- what comes next

    def _after_interior(
        self,
        solution: Solution,
        margins: FloatArray | None,
        missed: FloatArray,
        joining: FloatArray,
    ) -> None:
        """Go on to vertices if that is near enough; otherwise choose rows, columns, tolerance."""
        assert self.best is not None
        is_complete = not missed.any() and not joining.any()
        floor = self.tol if self.is_guess else min(self.tol, _FINER * self.near)
        is_exhausted = is_complete and (self.tolerance <= floor or self.is_stuck)
        if self.is_guess and (solution.gap <= self.tol or is_exhausted):
            self.is_done = True
        elif not self.is_guess and is_complete and self.best.gap <= self.near:
            self._approach_vertex()
        elif is_exhausted:
            # as far as the interior point goes: vertices of all current rows and columns
            self.near = self.nearest
            self._go_to_vertices()
        elif self.n_rounds > self.best.n_rounds + _PATIENCE:
            self.rows.add_all()
            self.columns.add_all()
            self.start = None
            self.tolerance = floor
        else:
            if margins is not None:
                width = _COLUMNS_MOVE * float(np.sqrt(solution.gap))
                self.rows.drop(margins, max(_BAND, width))
                self.columns.restrict(solution.weights, self.best_pull, width)
            self._add(missed, joining)
            if self.columns.add_if_most():
                # margins over few columns said little about which rows matter
                self.rows.add_all()
            is_right = is_complete and self.best.gap < _FIRST
            share = _TO_THE_END if is_right else _SHARE_OF_GAP
            self.tolerance = max(floor, min(_FIRST, share * self.best.gap))
            if joining.any():
                self.tolerance = max(self.tolerance, _SHARE_WHILE_JOINING * self.best.gap)

    def _add(self, missed: FloatArray, joining: FloatArray) -> None:
        """Rows and columns that spoil the proof join, the worst first."""
        self.rows.add(missed, max(_MOST_ADDED, _MOST_PER_COLUMN * self.m))
        self.columns.add(joining)

    def _go_to_vertices(self) -> None:
        self.kept = (self.rows.copy(), self.columns.copy())
        self.at_vertex, self.n_vertices = True, 0

    def _approach_vertex(self) -> None:
        """Go on with vertices, over the rows and columns that may matter at the nearest."""
        assert self.best is not None
        self._go_to_vertices()
        w, a = self.best.weights, self.best.multipliers
        distance = np.abs(self.best_margins - 1.0)
        on_margin = _FAR * np.minimum(a, self.C - a) >= self.C * distance
        on_margin |= (self.rows.sides != 0) & (distance < _CLOSE)
        self.rows.narrow(on_margin, self.best_margins)
        self.columns.narrow(w, self.best_pull)
        self.answer = Answer(w, self.best.intercept, a)

    def _after_vertex(self, solution: Solution, missed: FloatArray, joining: FloatArray) -> None:
        """Take the vertex if it proves itself; otherwise the next one, or back to the interior."""
        assert self.best is not None
        if self.is_rounding:
            self.best = solution if solution.gap <= max(self.tol, self.best.gap) else self.best
            self.is_done = True
        elif solution.gap <= self.tol and not self.is_stuck:
            # exact zeros count for more than the last digits of the gap
            self.best, self.is_done = solution, True
        elif (missed.any() or joining.any()) and not (
            self.is_stuck or self.n_vertices >= _MOST_VERTICES
        ):
            self._add(missed, joining)
        elif self.follows:
            self.follows = self.at_vertex = False
        elif self.near <= self.nearest:
            # without a vertex, zeros that the multipliers prove
            w = self.capacity.rounded(self.best.weights, self.best_pull)
            self.answer = Answer(w, self.best.intercept, self.best.multipliers)
            self.pull = self.best_pull
            self.is_rounding = True
        else:
            # no vertex in reach: a point nearer to it, by the interior point
            self.near = max(self.nearest, _NEARER * min(self.near, self.best.gap))
            self.rows, self.columns = self.kept
            self.at_vertex = False
            self.tolerance = _FINER * self.near

    def solution(self) -> Solution:
        """The best answer, with its status."""
        assert self.best is not None
        status = Status.OPTIMAL
        if self.best.gap > self.tol:
            status = Status.short_of_tolerance(self.at_limit)
        return replace(self.best, status=status, n_iter=self.n_iter, n_rounds=self.n_rounds)
