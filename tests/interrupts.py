"""Ctrl-C, or anything else, at the n-th evaluation of W, whichever objective is evaluated."""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Callable
from typing import Any

import pytest

from kernelet.learners.direct.search.joint_objective import JointObjective
from kernelet.learners.direct.search.marginal_objective import MarginalObjective
from kernelet.learners.direct.search.objective import Evaluation


def watch_evaluations(
    patch: pytest.MonkeyPatch,
    before: Callable[[int], None] | None = None,
    objectives: tuple[type, ...] = (JointObjective, MarginalObjective),
) -> list[Evaluation]:
    """Call ``before(n)`` before the n-th evaluation; returns the list of those that were made."""
    seen: list[Evaluation] = []
    began: list[int] = []

    def watch(objective: type, name: str) -> None:
        evaluate = getattr(objective, name)

        def watched(self: Any, *arguments: Any, **options: Any) -> Evaluation:
            began.append(1)
            if before is not None:
                before(len(began))
            at: Evaluation = evaluate(self, *arguments, **options)
            seen.append(at)
            return at

        patch.setattr(objective, name, watched)

    for objective in objectives:
        # JointObjective.__call__ evaluates by `at`
        watch(objective, "at" if objective is JointObjective else "__call__")
    return seen


def interrupt_after(patch: pytest.MonkeyPatch, n_evaluations: float, **options: Any) -> list[Any]:
    """KeyboardInterrupt after n evaluations, and in all that follow."""

    def before(n: int) -> None:
        if n > n_evaluations:
            raise KeyboardInterrupt

    return watch_evaluations(patch, before, **options)


def ctrl_c_in(patch: pytest.MonkeyPatch, number: int, most: int = 50) -> list[Any]:
    """SIGINT to the main thread in an evaluation; at most ``most`` may follow."""

    def before(n: int) -> None:
        if n == number:
            signal.pthread_kill(threading.main_thread().ident, signal.SIGINT)
            if threading.current_thread() is not threading.main_thread():
                time.sleep(0.5)  # until it is handled
        elif n > number and threading.current_thread() is not threading.main_thread():
            time.sleep(0.02)  # on a busy machine the main thread wakes up late
        assert n < number + most, "the searches go on as if nothing had happened"

    return watch_evaluations(patch, before)
