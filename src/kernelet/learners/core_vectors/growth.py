"""What `CoreVectorSVC` and `MaxMarginDiscriminantAnalysis` share: growth and reports."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning

from kernelet.kernels.caller import warn_caller
from kernelet.learners.base.parameters import count, positive
from kernelet.learners.core_vectors.sources import Source
from kernelet.solvers.enclosing_ball.ball import Ball
from kernelet.solvers.enclosing_ball.expansions import Directions
from kernelet.solvers.enclosing_ball.growth import enclose, hurry
from kernelet.solvers.solution import Status

FloatArray = NDArray[np.float64]
# Products of directions below this, the rounding of single precision, are as good as none.
_ORTHOGONAL = 1e-7
# The gap to reach where no tol is given and k(x, x) varies: eps is then relative to the longest
# row, and balls within 1e-3 of raw breast cancer have machines four times as bad as w = 0.
_TOL_OF_LONG_ROWS = 0.1


@dataclass(frozen=True)
class Outcome:
    """What became of one binary machine.

    Attributes
    ----------
    n_vectors : int
        Rows with a multiplier.
    radius : float
    reach : float
        Distance of the furthest row over the radius.
    gap : float
        Relative duality gap.
    value : float
        Of the problem, or its lower bound.
    n_iter : int
    status : Status
    """

    n_vectors: int
    radius: float
    reach: float
    gap: float
    value: float
    n_iter: int
    status: Status

    @classmethod
    def of(cls, ball: Ball) -> Outcome:
        """Of a ball."""
        is_known = np.isfinite(ball.primal_value)
        return cls(
            ball.core.free.size,
            ball.radius,
            ball.reach,
            ball.gap,
            ball.primal_value if is_known else ball.dual_value,
            ball.core.size,
            ball.status,
        )


@dataclass
class Growth:
    """Balls around the rows of a source, with the parameters of an estimator.

    The estimator has the parameters ``C``, ``eps``, ``tol``, ``sample_size``, ``exact_sweep``,
    ``max_iter`` and ``verbose``.

    Attributes
    ----------
    estimator : object
    source : Source
    report : callable
        Of `kernelet.learners.base.progress.reporting`.
    interrupted, ended : bool
        Whether Ctrl-C, or a callback, ended the growth.
    overlap : float
        The largest product of two directions that are to be orthogonal.
    """

    estimator: Any
    source: Source
    report: Callable[..., bool]
    interrupted: bool = False
    ended: bool = False
    overlap: float = 0.0

    def __post_init__(self) -> None:
        self.C, self.eps = positive("C", self.estimator.C), positive("eps", self.estimator.eps)
        self.max_iter = count("max_iter", self.estimator.max_iter, least=2)
        self.tol = None if self.estimator.tol is None else positive("tol", self.estimator.tol)
        if self.tol is None and not self.source.kernel.has_constant_diagonal:
            self.tol = _TOL_OF_LONG_ROWS
        size = self.estimator.sample_size
        self.sample_size = None if size is None else count("sample_size", size)
        self._begin, self._n_rounds = time.perf_counter(), 0

    def grow(
        self,
        codes: Sequence[int],
        directions: Sequence[Directions | None],
        attributes: Callable[[Sequence[Ball]], dict[str, Any]] | None = None,
        eps: float | None = None,
    ) -> list[Ball]:
        """A ball for each class against the rest, orthogonal to directions; hasty after Ctrl-C.

        ``attributes`` makes those of a fitted estimator from the balls as they are. None is the
        ``eps`` of the estimator.
        """
        source = self.source
        balls = [
            Ball(
                source.kernel,
                source.rows.shape[1],
                source.lift(self.C),
                self.eps if eps is None else eps,
                C=self.C,
                code=code,
                directions=earlier,
            )
            for code, earlier in zip(codes, directions, strict=True)
        ]
        if self.interrupted or self.ended:
            hurry(balls, source.rows, source.rng, self.sample_size)
            return balls

        def on_round(ball: Ball) -> bool:
            made = None if attributes is None else (lambda: attributes(balls))
            return self.report_round(ball.code, ball.core.size, ball.reach, ball.gap, made)

        self.interrupted = enclose(
            balls,
            source.rows,
            source.rng,
            tol=self.tol,
            sample_size=self.sample_size,
            exact_sweep=bool(self.estimator.exact_sweep),
            max_iter=self.max_iter,
            on_round=on_round,
        )
        return balls

    def report_round(
        self,
        code: int,
        n_vectors: int,
        reach: float,
        gap: float,
        attributes: Callable[[], dict[str, Any]] | None = None,
    ) -> bool:
        """Print a round and call the callbacks; whether one of them asks to stop."""
        self._n_rounds += 1
        verbose = self.estimator.verbose
        if verbose > 0 and self._n_rounds % verbose == 0:
            print(
                f"class {code}  core vectors {n_vectors:5d}  reach {reach:.6f}  gap {gap:.1e}  "
                f"{time.perf_counter() - self._begin:.1f} s",
                file=sys.stderr,
            )
        self.ended = self.report(None, attributes) or self.ended
        return self.ended

    def store(self, outcomes: Sequence[Outcome]) -> None:
        """Set what came out as attributes of the estimator, and warn if it is not what was asked.

        Parameters
        ----------
        outcomes : sequence of Outcome
            One for each binary machine.
        """
        estimator = self.estimator
        estimator.n_core_vectors_ = np.array([outcome.n_vectors for outcome in outcomes])
        estimator.radii_ = np.array([outcome.radius for outcome in outcomes])
        estimator.reach_ = float(np.max([outcome.reach for outcome in outcomes]))
        estimator.gap_ = float(np.max([outcome.gap for outcome in outcomes]))
        estimator.objective_ = float(sum(outcome.value for outcome in outcomes))
        estimator.n_iter_ = int(sum(outcome.n_iter for outcome in outcomes))
        estimator.interrupted_ = self.interrupted
        if self.overlap > _ORTHOGONAL:
            warn_caller(
                f"features of {type(estimator).__name__} are orthogonal to {self.overlap:.1e} "
                "only, because of rounding errors: scale the rows, or lower C "
                f"({self.C:g}).",
                ConvergenceWarning,
            )
        statuses = {outcome.status for outcome in outcomes}
        if statuses <= {Status.OPTIMAL}:
            return
        why = f"max_iter={self.max_iter} was reached"
        why = "there are no digits left" if Status.NUMERICAL_LIMIT in statuses else why
        why = "a callback asked to stop" if self.ended else why
        why = "interrupted" if self.interrupted else why
        reached = "not all rows were looked at since"
        if np.isfinite([estimator.reach_, estimator.gap_]).all():
            reached = (
                f"the furthest row is at {estimator.reach_:.6g} radii (eps={self.eps:g}), and the "
                f"relative gap is {estimator.gap_:.1e} (tol={self.tol})"
            )
        warn_caller(
            f"{type(estimator).__name__} stopped early: {why}; {reached}. Raise max_iter, eps or "
            "tol; the model is usable.",
            ConvergenceWarning,
        )
