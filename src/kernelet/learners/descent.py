"""L-BFGS over the expansion vectors, with the care that collapsing vectors need."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from scipy.optimize import minimize
from sklearn.exceptions import ConvergenceWarning

from kernelet.kernels.caller import warn_caller
from kernelet.learners.marginal import Evaluation, FloatArray, Objective
from kernelet.solvers.parallel import one_thread_if_small

# Steps that change W by less than this share of it, over a whole leg, end the search.
_STALL_STEPS = 3
_MEMORY = 20
# How often vectors that no longer help may be replaced.
_MAX_REVIVALS = 5
# What W may rise by when vectors are replaced; the steps that follow win it back, or are in vain.
_REVIVAL_RISE = 1e-2
# A value as small is one of a kernel that has underflown on all rows, and is no unit.
_NOTHING = 1e-200
_INTERRUPTED = "interrupted; the best vectors so far are kept"
_NO_STEP = "no step lowers W, though its gradient is above tol; the vectors are those of the start"


@dataclass(frozen=True, eq=False)
class Progress:
    """What a person is told after every accepted step.

    ``rows_per_second`` counts a row as often as it is looked at; None for rows in memory.
    """

    n_iter: int
    n_evaluations: int
    value: float
    gradient_norm: float
    n_alive: int
    seconds: float
    best: Evaluation
    rows_per_second: float | None = None


@dataclass(frozen=True, eq=False)
class Descent:
    """Where the search ended, and why."""

    best: Evaluation
    n_iter: int
    n_evaluations: int
    converged: bool
    interrupted: bool
    message: str
    history: tuple[float, ...]

    def interrupted_later(self) -> Descent:
        """The same end, where Ctrl-C came during a search that does not get as far."""
        return replace(self, converged=False, interrupted=True, message=_INTERRUPTED)

    def warn_unless_converged(self, who: str) -> None:
        """Warn the user of an estimator's ``fit`` where the search did not end by itself."""
        if not self.converged:
            remedy = (
                "Try another init, gamma or C, or a loss that is smooth"
                if self.message == _NO_STEP
                else "Raise max_iter or tol"
            )
            warn_caller(
                f"{who} stopped early: {self.message} (W = {self.best.value:.6g} after "
                f"{self.n_iter} steps). {remedy}; the model is usable.",
                ConvergenceWarning,
            )


def minimize_over_vectors(
    objective: Objective,
    Z: FloatArray,
    *,
    max_iter: int = 200,
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
    with one_thread_if_small(objective.n_rows * m * (m + d)):
        search = _Search(objective, np.array(Z, dtype=np.float64), max_iter, tol, on_step)
        search.run(revive)
    return search.result()


class _Search:
    def __init__(
        self,
        objective: Objective,
        Z: FloatArray,
        max_iter: int,
        tol: float,
        on_step: Callable[[Progress], bool | None] | None,
    ) -> None:
        self.objective = objective
        self.shape = Z.shape
        self.max_iter = max_iter
        self.tol = tol
        # the more vectors there are to move, the more steps are left when steps become small
        self.quiet_drop = 0.1 * tol * min(1.0, (10 / Z.shape[0]) ** 0.5)
        self.on_step = on_step
        self.started = time.perf_counter()
        self.n_iter = 0
        self.quiet = 0
        self.interrupted = False
        self.stopped = False
        self.converged = False
        self.best = objective(Z)
        self.before_revival = self.best
        self.history = [self.best.value]
        # W may come in any unit, and end at zero: it is measured by where the search began
        self.unit = abs(self.best.value) if abs(self.best.value) > _NOTHING else 1.0
        self.rank = self.best.rank
        self._start = np.empty(0)
        self._last_value = self.best.value

    def run(self, revive: Callable[[Evaluation], FloatArray | None] | None) -> None:
        revivals = 0
        try:
            while self.n_iter < self.max_iter:
                self._leg()
                if self.n_iter >= self.max_iter or self.stopped:
                    break
                if self.converged:
                    fresh = revive(self.best) if revive and revivals < _MAX_REVIVALS else None
                    if fresh is None:
                        break
                    revivals += 1
                    at = self.objective(fresh)
                    if at.value >= self.best.value + _REVIVAL_RISE * abs(self.best.value):
                        break
                    self.before_revival = self._lowest()
                    self.best, self.rank = at, at.rank
                    self.history.append(self._lowest().value)
                    self.converged, self.quiet = False, 0
        except KeyboardInterrupt:
            self.interrupted = True

    def _lowest(self) -> Evaluation:
        return min(self.before_revival, self.best, key=lambda at: at.value)

    def _leg(self) -> None:
        """L-BFGS at a fixed rank, until it converges, the rank changes or the budget is spent."""
        before = self._last_value = self.best.value
        scale = self._scale()
        self._start = self.best.vectors.ravel() / scale
        # SciPy divides by what a step changed in the gradient, for a Hessian that nobody asks for
        with np.errstate(divide="ignore"):
            result = minimize(
                self._value,
                self._start,
                args=(scale,),
                jac=True,
                method="L-BFGS-B",
                callback=self._accepted,
                options={
                    "maxiter": self.max_iter - self.n_iter,
                    "maxfun": 3 * self.max_iter,
                    "maxcor": _MEMORY,
                    "ftol": 0.0,
                    "gtol": self.tol * 1e-2,
                },
            )
        natural = self.best.natural_rank
        if natural != self.rank and self.quiet < _STALL_STEPS:
            self.rank = natural
            if self.best.value < before - 1e-12 * abs(before):
                return
        self.converged = not self.stopped and (self.n_iter < self.max_iter or result.success)

    def _has_fallen(self) -> bool:
        """Whether W is lower than at the start by more than its rounding."""
        return self._lowest().value < self.history[0] - 1e-12 * abs(self.history[0])

    def _slope(self) -> float:
        """The largest component of the gradient, in units of W per typical distance."""
        return float(np.abs(self.best.gradient).max()) * self._scale() / self.unit

    def _scale(self) -> float:
        """A typical distance, so that L-BFGS's first step is of a sensible length."""
        spread = float(np.sqrt(np.mean(np.var(self.best.vectors, axis=0)))) or 1.0
        return spread

    def _value(self, z: FloatArray, scale: float) -> tuple[float, FloatArray]:
        if np.array_equal(z, self._start):
            at = self.best  # where the last leg ended: L-BFGS asks for it first
        else:
            at = self.objective(z.reshape(self.shape) * scale, self.rank)
        if at.value < self.best.value:
            self.best = at
        return at.value / self.unit, at.gradient.ravel() * (scale / self.unit)

    def _accepted(self, intermediate_result: object) -> None:
        self.n_iter += 1
        value = self.best.value
        drop = self._last_value - value
        self.quiet = self.quiet + 1 if drop < self.quiet_drop * abs(value) else 0
        self._last_value = value
        self.history.append(self._lowest().value)
        if self.on_step is not None and self.on_step(self._progress()):
            self.stopped = True
        if self.stopped or self.quiet >= _STALL_STEPS or self.best.natural_rank != self.rank:
            raise StopIteration

    def _progress(self) -> Progress:
        return Progress(
            n_iter=self.n_iter,
            n_evaluations=self.objective.n_evaluations,
            value=self._lowest().value,
            gradient_norm=float(np.linalg.norm(self.best.gradient)),
            n_alive=self.rank,
            seconds=time.perf_counter() - self.started,
            best=self._lowest(),
            rows_per_second=self._rows_per_second(),
        )

    def _rows_per_second(self) -> float | None:
        """How fast rows that are elsewhere are gone through."""
        read = self.objective.rows_read
        return None if read is None else read / max(time.perf_counter() - self.started, 1e-9)

    def result(self) -> Descent:
        if self.interrupted:
            message = _INTERRUPTED
        elif self.stopped:
            message = "a callback asked for the end; the best vectors so far are kept"
        elif self.converged and not self._has_fallen() and self._slope() > self.tol:
            # a line search that fails looks like one that has nothing left to find
            self.converged, message = False, _NO_STEP
        elif self.converged:
            message = "W no longer falls"
        else:
            message = f"max_iter={self.max_iter} steps taken while W still falls"
        return Descent(
            best=self._lowest(),
            n_iter=self.n_iter,
            n_evaluations=self.objective.n_evaluations,
            converged=self.converged,
            interrupted=self.interrupted,
            message=message,
            history=tuple(self.history),
        )
