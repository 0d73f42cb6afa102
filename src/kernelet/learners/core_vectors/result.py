"""What is asked of the binary machines, and what became of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from kernelet.kernels import Kernel
from kernelet.kernels.caller import warn_caller
from kernelet.learners.base.parameters import count, factor, positive
from kernelet.machine import KernelMachine
from kernelet.solvers.enclosing_ball.ball import Ball
from kernelet.solvers.enclosing_ball.exact_margin import ExactMargin
from kernelet.solvers.solution import Status

# Products of directions below this, the rounding of single precision, are as good as none.
_ORTHOGONAL = 1e-7
# The gap to reach where no tol is given and k(x, x) varies: eps is then relative to the longest
# row, and balls within 1e-3 of raw breast cancer have machines four times as bad as w = 0.
_TOL_OF_LONG_ROWS = 0.1


@dataclass(frozen=True, eq=False)
class CoreSetSettings:
    """How far balls grow: the parameters of an estimator, checked.

    Attributes
    ----------
    C, eps, tol, sample_size, exact_sweep, max_iter
        As the estimators describe them.
    """

    C: float
    eps: float
    tol: float | None
    sample_size: int | None
    exact_sweep: bool
    max_iter: int

    @classmethod
    def of(cls, estimator: Any, kernel: Kernel) -> CoreSetSettings:
        """The parameters of an estimator, for rows with this kernel."""
        C, eps = factor("C", estimator.C), positive("eps", estimator.eps)
        max_iter = count("max_iter", estimator.max_iter, least=2)
        tol = None if estimator.tol is None else positive("tol", estimator.tol)
        if tol is None and not kernel.has_constant_diagonal:
            tol = _TOL_OF_LONG_ROWS
        size = estimator.sample_size
        size = None if size is None else count("sample_size", size)
        return cls(C, eps, tol, size, bool(estimator.exact_sweep), max_iter)


@dataclass(frozen=True)
class BallOutcome:
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
    def of(cls, ball: Ball) -> BallOutcome:
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

    @classmethod
    def of_exact(cls, machine: ExactMargin, lift: float) -> BallOutcome:
        """Of a machine that is solved exactly: the smallest ball has |c|^2 = 1 / (2 value)."""
        value = machine.primal_value
        radius = float(np.sqrt(lift - 0.5 / value))
        gap = (value - machine.dual_value) / value
        return cls(machine.n_vectors, radius, 1.0, gap, value, machine.n_iter, machine.status)


@dataclass(frozen=True, eq=False)
class LearnedBalls:
    """A machine, and what became of the binary machines that it is made of.

    Attributes
    ----------
    machine : KernelMachine
    outcomes : list of BallOutcome
        One for each binary machine.
    settings : CoreSetSettings
    interrupted, stopped : bool
        Whether Ctrl-C, or a callback, ended the growth.
    overlap : float
        The largest product of two directions that are to be orthogonal.
    """

    machine: KernelMachine
    outcomes: list[BallOutcome]
    settings: CoreSetSettings
    interrupted: bool
    stopped: bool
    overlap: float = 0.0

    @property
    def reach(self) -> float:
        """The largest of all."""
        return float(np.max([outcome.reach for outcome in self.outcomes]))

    @property
    def gap(self) -> float:
        """The largest of all."""
        return float(np.max([outcome.gap for outcome in self.outcomes]))

    def warn_unless_done(self, who: str) -> None:
        """Warn about everything that did not reach its tolerance."""
        settings = self.settings
        if self.overlap > _ORTHOGONAL:
            warn_caller(
                f"features of {who} are only orthogonal to {self.overlap:.1e}, because of rounding "
                f"errors: scale the rows, or lower C ({settings.C:g}).",
                ConvergenceWarning,
            )
        statuses = {outcome.status for outcome in self.outcomes}
        if statuses <= {Status.OPTIMAL}:
            return
        why = f"max_iter={settings.max_iter} was reached"
        why = "there are no digits left" if Status.NUMERICAL_LIMIT in statuses else why
        why = "a callback asked to stop" if self.stopped else why
        why = "interrupted" if self.interrupted else why
        reached = "not all rows were looked at since"
        if np.isfinite([self.reach, self.gap]).all():
            reached = (
                f"the furthest row is at {self.reach:.6g} radii (eps={settings.eps:g}), and the "
                f"relative gap is {self.gap:.1e} (tol={settings.tol})"
            )
        warn_caller(
            f"{who} stopped early: {why}; {reached}. Raise max_iter, eps or tol; the model is "
            "usable.",
            ConvergenceWarning,
        )
