"""Balls that grow around the rows: the core vector machine as a function."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from kernelet.learners.base.progress import Attributes, Loop
from kernelet.learners.core_vectors.result import BallOutcome, CoreSetSettings, LearnedBalls
from kernelet.learners.core_vectors.rows import CoreSetData
from kernelet.machine import KernelMachine
from kernelet.solvers.enclosing_ball.ball import Ball
from kernelet.solvers.enclosing_ball.expansions import Directions, Expansion
from kernelet.solvers.enclosing_ball.growth import enclose, hurry


@dataclass(frozen=True)
class Round:
    """A ball after another round of growth.

    Attributes
    ----------
    code : int
        The class that it separates from the rest.
    n_vectors : int
        Points of its core set, or rows with a multiplier.
    reach, gap : float
        As in `BallOutcome`.
    seconds : float
        Since the growth began.
    """

    code: int
    n_vectors: int
    reach: float
    gap: float
    seconds: float

    @property
    def line(self) -> str:
        """What ``verbose`` prints."""
        return (
            f"class {self.code}  core vectors {self.n_vectors:5d}  reach {self.reach:.6f}  "
            f"gap {self.gap:.1e}  {self.seconds:.1f} s"
        )

    @property
    def brief(self) -> str:
        """What a progress bar shows."""
        return f"{self.n_vectors} core vectors"


@dataclass
class Growth:
    """Grows balls around rows, one after the other or side by side.

    After Ctrl-C, or when a callback asked to stop, those that follow are made of few rows.

    Attributes
    ----------
    data : CoreSetData
    settings : CoreSetSettings
    loop : Loop
        Watches the rounds.
    stopped : bool
        Whether a callback asked to stop.
    """

    data: CoreSetData
    settings: CoreSetSettings
    loop: Loop
    stopped: bool = False
    _n_rounds: int = 0
    _begin: float = field(default_factory=time.perf_counter)

    @property
    def is_ended(self) -> bool:
        """Whether there is no more time."""
        return self.loop.interrupted or self.stopped

    def grow(
        self,
        codes: Sequence[int],
        directions: Sequence[Directions | None],
        attributes: Callable[[Sequence[Ball]], dict[str, Any]] | None = None,
        eps: float | None = None,
    ) -> list[Ball]:
        """A ball for each class against the rest, orthogonal to directions.

        ``attributes`` makes those of a fitted estimator from the balls as they are, for callbacks.
        None is the ``eps`` of the settings.
        """
        data, settings = self.data, self.settings
        balls = [
            Ball(
                data.kernel,
                data.rows.shape[1],
                data.lift(settings.C),
                settings.eps if eps is None else eps,
                C=settings.C,
                code=code,
                directions=earlier,
            )
            for code, earlier in zip(codes, directions, strict=True)
        ]
        if self.is_ended:
            hurry(balls, data.rows, data.near.rng, settings.sample_size)
            return balls

        def on_round(ball: Ball) -> bool:
            made = None if attributes is None else (lambda: attributes(balls))
            return self.report(ball.code, ball.core.size, ball.reach, ball.gap, made)

        interrupted = enclose(
            balls,
            data.rows,
            data.near.rng,
            tol=settings.tol,
            sample_size=settings.sample_size,
            exact_sweep=settings.exact_sweep,
            max_iter=settings.max_iter,
            on_round=on_round,
        )
        if interrupted:
            self.loop.interrupt()
        return balls

    def report(
        self,
        code: int,
        n_vectors: int,
        reach: float,
        gap: float,
        attributes: Attributes | None = None,
    ) -> bool:
        """Show a round to whoever watches; whether a callback asked to stop."""
        self._n_rounds += 1
        step = Round(code, n_vectors, reach, gap, time.perf_counter() - self._begin)
        self.stopped = self.loop.report(step, self._n_rounds, attributes) or self.stopped
        return self.stopped

    def learned(
        self, machine: KernelMachine, outcomes: list[BallOutcome], overlap: float = 0.0
    ) -> LearnedBalls:
        """What came out."""
        interrupted = self.loop.interrupted
        return LearnedBalls(machine, outcomes, self.settings, interrupted, self.stopped, overlap)


def learn_core_vectors(data: CoreSetData, settings: CoreSetSettings, loop: Loop) -> LearnedBalls:
    """The machine of each class against the rest, (10), all of them side by side."""
    growth = Growth(data, settings, loop)

    def attributes(balls: Sequence[Ball]) -> dict[str, Any]:
        parts = [ball.expansion() for ball in balls]
        return {"machine_": Expansion.joined(parts).machine(data.kernel)}

    balls = growth.grow(data.codes, [None] * len(data.codes), attributes)
    outcomes = [BallOutcome.of(ball) for ball in balls]
    return growth.learned(attributes(balls)["machine_"], outcomes)
