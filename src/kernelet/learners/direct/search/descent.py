"""L-BFGS over the expansion vectors, with the care that collapsing vectors need."""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np
from scipy.optimize import minimize

from kernelet.kernels.numerics.arrays import FloatArray
from kernelet.learners.direct.search.objective import Evaluation, Objective
from kernelet.learners.direct.search.result import (
    INTERRUPTED,
    NO_STEP,
    OUT_OF_STEPS,
    Descent,
    Progress,
)

# The search ends after this many steps in a row that lower W by less than a share of it: a single
# short step may come from a line search that was cut short.
_STALL_STEPS = 3
# That share is a tenth of tol, and smaller above ten vectors, by the root of their number: the more
# vectors there are to move, the more steps are left when steps become small.
_QUIET_SHARE = 0.1
_FEW_VECTORS = 10
# Above this many vectors smooth losses end earlier, in proportion: on the training rows of 21 sets
# the error of 50 vectors is then 5.7 % by validation, with the end of 20 vectors 5.9 %, in less
# time. Beyond three times as much, satimage and letter get worse.
_MANY_VECTORS = 20
_EARLIEST_END = 3.0
# Steps that L-BFGS remembers, each as two arrays of the size of the vectors. With 6 or 10 of them
# searches are not faster at the same error, by validation on training rows.
MEMORY = 20
# Evaluations for each step that is allowed. Steps take little more than one on average; the limit
# is for line searches that fail again and again.
_EVALUATIONS_PER_STEP = 3
# The gradient ends a leg at this share of tol: far below it, so that W itself decides in general.
_GRADIENT_SHARE = 1e-2
# How often vectors that no longer help may be replaced, so that a search does not go on replacing
# the same ones; a search that has none to replace ends without it.
_MAX_REVIVALS = 5
# Share by which W may rise when vectors are replaced; the steps that follow have to win it back,
# and the end before is kept where they do not.
_REVIVAL_RISE = 1e-2
# Steps on a sample before they are compared with its error: the first ones of L-BFGS are short for
# lack of curvature, and would all look like noise.
_FIRST_STEPS = 5
# The share of the steps that may be taken on a sample of the rows, so that a search which runs out
# of steps has taken some on all of them.
_SAMPLE_STEPS = 0.75
# Changes of W below this share are rounding: some thousand times the machine epsilon of 2e-16, for
# the sums over rows.
_ROUNDING = 1e-12
# A value this small means that the kernel underflows on all rows; it cannot serve as a unit. The
# least number is 1e-308, and W is divided by its unit.
_NOTHING = 1e-200


def minimize_over_vectors(
    objective: Objective,
    Z: FloatArray,
    *,
    max_iter: int = 200,
    n_before: int = 0,
    n_unjudged: int = 0,
    tol: float = 1e-4,
    revive: Callable[[Evaluation], FloatArray | None] | None = None,
    on_step: Callable[[Progress], bool | None] | None = None,
) -> Descent:
    """Minimise W(Z) from the given vectors.

    Within a leg the rank of the subspace is held fixed, so that W is smooth; a leg ends when the
    rank at an accepted point is another, and L-BFGS starts anew there. ``revive`` may return new
    vectors in place of those that no longer help. Ctrl-C ends the search with the best point.

    Parameters
    ----------
    objective : Objective
    Z : ndarray of shape (m, d)
    max_iter : int, default=200
        Accepted steps in all.
    n_before : int, default=0
        Those of them that an earlier search has taken.
    n_unjudged : int, default=0
        Steps at the beginning that may be as small as they like.
    tol : float, default=1e-4
        The search ends when a step lowers W by less than ``tol`` times its value divided by ten
        (by sqrt(10 m) above ten vectors), three times in a row, or when the largest component of
        the gradient, in units of W per typical distance, is below it.
    revive : callable, default=None
    on_step : callable, default=None
        Called after every step; the search ends when it returns True.

    Returns
    -------
    Descent
    """
    m, d = Z.shape
    with objective.threads(m * (m + d)):
        search = _Search(objective, np.array(Z, dtype=np.float64), max_iter, n_before, tol, on_step)
        search.judged_from = n_before + n_unjudged
        search.run(revive)
        return search.result()


class _Search:
    def __init__(
        self,
        objective: Objective,
        Z: FloatArray,
        max_iter: int,
        n_before: int,
        tol: float,
        on_step: Callable[[Progress], bool | None] | None,
    ) -> None:
        self.objective = objective
        self.max_iter = max_iter
        self.tol = tol
        m = Z.shape[0] if objective.holds_rank else min(Z.shape[0], _MANY_VECTORS)
        self.quiet_drop = _QUIET_SHARE * tol * min(1.0, (_FEW_VECTORS / m) ** 0.5)
        if not objective.holds_rank:
            self.quiet_drop *= min(_EARLIEST_END, max(1.0, Z.shape[0] / _MANY_VECTORS))
        self.on_step = on_step
        self.started = time.perf_counter()
        self.n_iter = self.judged_from = n_before
        self.interrupted = False
        self.stopped = False
        self.history: list[float] = []
        self.n_samples = 0
        self.has_enough_rows = False
        self._begin(objective(Z))

    def _begin(self, at: Evaluation) -> None:
        """Go on from a point whose W cannot be compared with those before."""
        self.best = self.before_revival = self.last = at
        self.history.append(at.value)
        self.first = at.value
        # W may come in any unit, and end at zero: it is measured by where the search began
        self.unit = abs(at.value) if abs(at.value) > _NOTHING else 1.0
        self.rank = at.rank
        self.n_samples += 1
        self.n_iter_before = self.n_iter
        self.begun = time.perf_counter()
        self.quiet, self.revivals = 0, 0
        self.converged = self.wants_rows = False

    def run(self, revive: Callable[[Evaluation], FloatArray | None] | None) -> None:
        try:
            while self.n_iter < self.max_iter and not self.stopped:
                self._leg()
                if self.stopped:
                    break
                if self._goes_on_with_more_rows():
                    continue
                if self.n_iter < self.max_iter and self.converged and not self._revive(revive):
                    break
        except KeyboardInterrupt:
            self.interrupted = True

    def _goes_on_with_more_rows(self) -> bool:
        few_left = self._has_few_steps_left()
        if self.has_enough_rows or not (self.wants_rows or self.converged or few_left):
            return False
        gain = self.first - self._lowest().value
        if self.n_samples > 1 and not few_left and gain < self.tol * abs(self.first):
            # twice the rows were worth next to nothing: more are for the machine alone
            self.has_enough_rows, self.converged = True, True
            return False
        more = self.objective.on_more_rows(self._lowest(), all_rows=few_left)
        if more is None:
            self.has_enough_rows, self.wants_rows = True, False
            return False
        self._begin(more)
        return True

    def _has_few_steps_left(self) -> bool:
        """Whether the steps that are left are for all rows."""
        return not self.has_enough_rows and self.n_iter >= _SAMPLE_STEPS * self.max_iter

    def _revive(self, revive: Callable[[Evaluation], FloatArray | None] | None) -> bool:
        """Replace vectors that no longer help; returns whether there were any."""
        if revive is None or self.revivals >= _MAX_REVIVALS:
            return False
        fresh = revive(self.best)
        if fresh is None:
            return False
        self.revivals += 1
        at = self.objective(fresh, like=self.best)
        if at.value >= self.best.value + _REVIVAL_RISE * abs(self.best.value):
            return False
        self.before_revival = self._lowest()
        self.best, self.rank = at, at.rank
        self.history.append(self._lowest().value)
        self.converged, self.quiet = False, 0
        return True

    def _lowest(self) -> Evaluation:
        return min(self.before_revival, self.best, key=lambda at: at.value)

    def _leg(self) -> None:
        """L-BFGS, until it converges, the rank or the rows change or the budget is spent."""
        start = self.last = self.best
        chart = self.objective.around(start)

        def value(x: FloatArray) -> tuple[float, FloatArray]:
            # L-BFGS asks first for the point where the last leg ended
            at = chart.at(x, self.rank) if x.any() else start
            if at.value < self.best.value:
                self.best = at
            return at.value / self.unit, chart.slopes(at) / self.unit

        # SciPy divides by what a step changed in the gradient, for a Hessian that nobody asks for
        with np.errstate(divide="ignore"):
            result = minimize(
                value,
                np.zeros(chart.size),
                jac=True,
                method="L-BFGS-B",
                bounds=chart.bounds,
                callback=self._accepted,
                options={
                    "maxiter": self.max_iter - self.n_iter,
                    "maxfun": _EVALUATIONS_PER_STEP * self.max_iter,
                    "maxcor": MEMORY,
                    "ftol": 0.0,
                    "gtol": self.tol * _GRADIENT_SHARE,
                },
            )
        if self._has_another_rank() and self.quiet < _STALL_STEPS:
            self.rank = self.best.natural_rank
            if self.best.value < start.value - _ROUNDING * abs(start.value):
                return
        self.converged = not (self.stopped or self.wants_rows) and (
            self.n_iter < self.max_iter or result.success
        )

    def _has_another_rank(self) -> bool:
        return self.objective.holds_rank and self.best.natural_rank != self.rank

    def _has_fallen(self) -> bool:
        """Whether W is lower than at the start by more than its rounding."""
        return self._lowest().value < self.first - _ROUNDING * abs(self.first)

    def _took_no_step(self) -> bool:
        """Whether no step has lowered W, on the only sample there was, though it has a slope."""
        is_first = self.converged and self.n_samples == 1
        return is_first and not self._has_fallen() and self._slope() > self.tol

    def _slope(self) -> float:
        """The largest component of the gradient, in units of W per typical distance."""
        slopes = self.objective.around(self.best).slopes(self.best)
        return float(np.abs(slopes).max()) / self.unit

    def _accepted(self, intermediate_result: object) -> None:
        self.n_iter += 1
        before, self.last = self.last, self.best
        drop = before.value - self.best.value
        is_quiet = drop < self.quiet_drop * abs(self.best.value) and self.n_iter > self.judged_from
        self.quiet = self.quiet + 1 if is_quiet else 0
        can_judge = not self.has_enough_rows and self.n_iter >= self.n_iter_before + _FIRST_STEPS
        self.wants_rows = can_judge and self.objective.is_noise(before, self.best)
        if self._has_few_steps_left() and self.objective.is_sample:
            self.wants_rows = True
        self.history.append(self._lowest().value)
        if self.on_step is not None and self.on_step(self._progress(drop)):
            self.stopped = True
        if self.stopped or self.wants_rows or self.quiet >= _STALL_STEPS:
            raise StopIteration
        if self._has_another_rank():
            raise StopIteration

    def _progress(self, gain: float) -> Progress:
        return Progress(
            n_iter=self.n_iter,
            n_evaluations=self.objective.n_evaluations,
            value=self._lowest().value,
            gradient_norm=float(np.linalg.norm(self.best.gradient)),
            n_alive=self.rank,
            seconds=time.perf_counter() - self.started,
            best=self._lowest(),
            gain=gain,
            n_used=self.objective.n_used,
            n_rows=max(self.objective.n_used, self.objective.n_rows),
            seconds_left=self._seconds_left(),
            rows_per_second=self._rows_per_second(),
        )

    def _seconds_left(self) -> float:
        """Of the steps up to max_iter, at the pace of those on as many rows."""
        n_steps = self.n_iter - self.n_iter_before
        pace = (time.perf_counter() - self.begun) / max(1, n_steps)
        left, on_all = self.max_iter - self.n_iter, 0
        if self.objective.is_sample:  # the last steps take all rows
            on_all = min(left, self.max_iter - int(_SAMPLE_STEPS * self.max_iter))
        return pace * (left - on_all + on_all * self.objective.n_rows / self.objective.n_used)

    def _rows_per_second(self) -> float | None:
        """How fast out-of-core rows are gone through."""
        read = self.objective.rows_read
        # the clock may not have moved yet
        seconds = max(time.perf_counter() - self.started, np.finfo(np.float64).eps)
        return None if read is None else read / seconds

    def result(self) -> Descent:
        try:
            end = self.objective.proven(self._lowest())
        except KeyboardInterrupt:  # a model is left all the same; Ctrl-C once more is passed on
            self.interrupted = True
            end = self.objective.proven(self._lowest())
        if self.interrupted:
            message = INTERRUPTED
        elif self.stopped:
            message = "a callback asked for the end; the best vectors so far are kept"
        elif self._took_no_step():
            # a line search that fails looks like one that has nothing left to find
            self.converged, message = False, NO_STEP
        elif self.converged:
            message = "W no longer falls"
        else:
            message = OUT_OF_STEPS.format(self.max_iter)
        return Descent(
            best=end,
            n_iter=self.n_iter,
            n_evaluations=self.objective.n_evaluations,
            converged=self.converged,
            interrupted=self.interrupted,
            message=message,
            history=tuple(self.history),
            stopped=self.stopped,
        )
