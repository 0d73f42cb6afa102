"""Telling people and callbacks how a fit goes on."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from kernelet.learners.descent import Progress

try:
    from sklearn.callback import CallbackSupportMixin, with_callbacks

    HAS_CALLBACKS = True
except ImportError:  # scikit-learn before 1.9
    HAS_CALLBACKS = False

    class CallbackSupportMixin:  # type: ignore[no-redef]  # the same name, where there is none
        """Stands in for scikit-learn's mixin where its callback API does not exist."""

    def with_callbacks(method: Callable[..., Any]) -> Callable[..., Any]:
        """Leave the method as it is."""
        return method


Attributes = Callable[[], dict[str, Any]]


@contextmanager
def reporting(
    estimator: Any, verbose: int, max_steps: int, **rows: Any
) -> Iterator[Callable[[Progress, Attributes | None], bool]]:
    """A function to be called after every step; it returns whether a callback wants the end.

    It drives the callbacks registered with ``set_callbacks`` (one subtask per step) and, when
    ``verbose`` is positive, prints every ``verbose``-th step to standard error. Callbacks are
    given ``rows`` (X, y, metadata) and a fitted estimator made from the attributes that the second
    argument returns, where there is one.
    """
    context = None
    if HAS_CALLBACKS:
        context = estimator._init_callback_context(max_subtasks=max_steps)
        context.call_on_fit_task_begin(estimator=estimator, **rows)

    def report(step: Progress, attributes: Attributes | None) -> bool:
        if verbose > 0 and step.n_iter % verbose == 0:
            print(
                f"step {step.n_iter:4d}  evaluations {step.n_evaluations:4d}  W {step.value:.6e}  "
                f"|gradient| {step.gradient_norm:.2e}  rank {step.n_alive}  {step.seconds:.1f} s",
                file=sys.stderr,
            )
        if context is None:
            return False
        task = context.subcontext(task_name="step")
        task.call_on_fit_task_begin(estimator=estimator, **rows)
        wants_end: bool = task.call_on_fit_task_end(
            estimator=estimator, reconstruction_attributes=attributes, **rows
        )
        return wants_end

    try:
        yield report
    finally:
        if context is not None:
            context.call_on_fit_task_end(estimator=estimator, **rows)
