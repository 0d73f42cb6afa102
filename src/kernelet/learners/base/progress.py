"""Reports of a running fit, to people and to callbacks."""

from __future__ import annotations

import importlib
import importlib.util
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Protocol, TypeVar

Method = TypeVar("Method", bound=Callable[..., Any])

# scikit-learn has its callback API since 1.9.
HAS_CALLBACKS = importlib.util.find_spec("sklearn.callback") is not None
_callback: Any = importlib.import_module("sklearn.callback") if HAS_CALLBACKS else None


class _NoCallbacks:
    """Stands in for scikit-learn's mixin where its callback API does not exist."""


CallbackSupportMixin: Any = _callback.CallbackSupportMixin if HAS_CALLBACKS else _NoCallbacks


def with_callbacks(method: Method) -> Method:
    """Let the registered callbacks end with ``fit``, where there are callbacks."""
    managed: Method = _callback.with_callbacks(method) if HAS_CALLBACKS else method
    return managed


class Step(Protocol):
    """What is printed of a step of a search."""

    @property
    def n_iter(self) -> int: ...
    @property
    def n_evaluations(self) -> int: ...
    @property
    def value(self) -> float: ...
    @property
    def gradient_norm(self) -> float: ...
    @property
    def n_alive(self) -> int: ...
    @property
    def seconds(self) -> float: ...
    @property
    def n_used(self) -> int: ...
    @property
    def n_rows(self) -> int: ...
    @property
    def gain(self) -> float: ...
    @property
    def seconds_left(self) -> float: ...
    @property
    def rows_per_second(self) -> float | None: ...


Attributes = Callable[[], dict[str, Any]]


def show_step(step: Step, verbose: int, doing: str = "") -> None:
    """Print every ``verbose``-th step to standard error, behind what it is a step of."""
    if verbose <= 0 or step.n_iter % verbose:
        return
    pace = step.rows_per_second
    print(
        f"{doing}step {step.n_iter:4d}  evaluations {step.n_evaluations:4d}  W {step.value:.6e}  "
        f"gain {step.gain:.1e}  |gradient| {step.gradient_norm:.2e}  rank {step.n_alive}  "
        f"{rows_text(step)}  {step.seconds:.1f} s, at most {step.seconds_left:.1f} s left"
        + ("" if pace is None else f"  {pace:.2e} rows/s"),
        file=sys.stderr,
    )


def rows_text(step: Step) -> str:
    """The rows in use, and of how many, where not all are."""
    return f"rows {step.n_used}" + ("" if step.n_used == step.n_rows else f" of {step.n_rows}")


@contextmanager
def reporting(
    estimator: Any, verbose: int, max_steps: int | None, **rows: Any
) -> Iterator[Callable[[Step | None, Attributes | None], bool]]:
    """A function to be called after every step; it returns whether a callback asks to stop.

    It drives the callbacks registered with ``set_callbacks`` (one subtask per step) and, when
    ``verbose`` is positive, prints every ``verbose``-th step to standard error (methods whose steps
    are of another kind print themselves, and give None for the step). Callbacks find the step as
    ``estimator._last_step``. They are given ``rows`` (X, y, metadata) and a fitted estimator made
    from the attributes that the second argument returns, where there is one.
    """
    context = None
    if HAS_CALLBACKS:
        context = estimator._init_callback_context(max_subtasks=max_steps)
        context.call_on_fit_task_begin(estimator=estimator, **rows)

    def report(step: Step | None, attributes: Attributes | None) -> bool:
        if step is not None:
            show_step(step, verbose)
        if context is None:
            return False
        estimator._last_step = step
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
            vars(estimator).pop("_last_step", None)
            context.call_on_fit_task_end(estimator=estimator, **rows)
