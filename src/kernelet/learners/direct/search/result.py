"""Where a search over vectors stands, and where and why it ended."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from sklearn.exceptions import ConvergenceWarning

from kernelet.kernels.caller import warn_caller
from kernelet.learners.direct.search.objective import Evaluation

INTERRUPTED = "interrupted; the best vectors so far are kept"
OUT_OF_STEPS = "max_iter={} steps taken while W still falls"
NO_STEP = "no step lowers W, though its gradient is above tol; the vectors are those of the start"


@dataclass(frozen=True, eq=False)
class Progress:
    """What is reported after every accepted step.

    ``gain`` is what the step took off W. W is a sum over ``n_used`` of ``n_rows`` rows, whose costs
    stand for all. ``seconds_left`` is what the steps that may follow take at most, as long as rows
    are added as planned. ``rows_per_second`` counts a row as often as it is looked at; None for
    rows in memory. ``is_preliminary`` says that another search goes on from where this one ends.
    """

    n_iter: int
    n_evaluations: int
    value: float
    gradient_norm: float
    n_alive: int
    seconds: float
    best: Evaluation
    gain: float = 0.0
    n_used: int = 0
    n_rows: int = 0
    seconds_left: float = 0.0
    rows_per_second: float | None = None
    is_preliminary: bool = False

    @property
    def line(self) -> str:
        """What ``verbose`` prints."""
        rows = f"rows {self.n_used}"
        if self.n_used != self.n_rows:
            rows += f" of {self.n_rows}"
        pace = self.rows_per_second
        return (
            f"step {self.n_iter:4d}  evaluations {self.n_evaluations:4d}  W {self.value:.6e}  "
            f"gain {self.gain:.1e}  |gradient| {self.gradient_norm:.2e}  rank {self.n_alive}  "
            f"{rows}  {self.seconds:.1f} s, at most {self.seconds_left:.1f} s left"
            + ("" if pace is None else f"  {pace:.2e} rows/s")
        )

    @property
    def brief(self) -> str:
        """What a progress bar shows."""
        rows = "" if self.n_used == self.n_rows else f", {self.n_used} of {self.n_rows} rows in use"
        share = self.gain / (abs(self.value) or 1.0)
        return f"W {self.value:.4g}, gain {share:.1%}, at most {self.seconds_left:.0f} s left{rows}"


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
    stopped: bool = False
    kernel_gain: float = 0.0

    def after(self, first: Descent) -> Descent:
        """The end of a search that went on from where another ended, and counted its steps."""
        end = self
        if first.was_ended:
            end = replace(
                self,
                converged=False,
                interrupted=first.interrupted,
                stopped=first.stopped,
                message=first.message,
            )
        return replace(
            end,
            n_evaluations=self.n_evaluations + first.n_evaluations,
            kernel_gain=first.kernel_gain,
        )

    @property
    def was_ended(self) -> bool:
        """Whether Ctrl-C or a callback ended the search."""
        return self.interrupted or self.stopped

    def interrupted_later(self) -> Descent:
        """The same end, where Ctrl-C came during a search that does not get as far."""
        return replace(self, converged=False, interrupted=True, message=INTERRUPTED)

    def warn_unless_converged(self, who: str) -> None:
        """Warn the user of an estimator's ``fit`` where the search did not end by itself."""
        if not self.converged:
            remedy = (
                "Try another init, gamma or C, or scale the columns of X"
                if self.message == NO_STEP
                else "Raise max_iter or tol"
            )
            warn_caller(
                f"{who} stopped early: {self.message} (W = {self.best.value:.6g} after "
                f"{self.n_iter} steps). {remedy}; the model is usable.",
                ConvergenceWarning,
            )


def best_of(searches: Iterator[Descent]) -> Descent:
    """The best of several searches, each run as it is asked for; after Ctrl-C, of those before."""
    best: Descent | None = None
    while True:
        try:
            descent = next(searches, None)
        except KeyboardInterrupt:
            if best is None:
                raise
            return best.interrupted_later()
        if descent is None:
            break
        if best is None or descent.best.value < best.best.value:
            best = descent
        if descent.interrupted:
            return best.interrupted_later()
    assert best is not None
    return best
