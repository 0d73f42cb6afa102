"""What goes on around the steps of a fit: callbacks, verbosity, Ctrl-C.

The mathematics of an iterative learner yields steps and knows nothing of who watches them::

    def reweight(problem) -> Iterator[Step]:
        ...
        yield step  # always good enough to be the last one

    with Loop(estimator, max_steps, X=X, y=y) as loop:
        run = loop.run(lambda: reweight(problem), attributes)
    run.last, run.interrupted, run.stopped
"""

from __future__ import annotations

import importlib
import importlib.util
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from threading import Event, Lock
from typing import Any, Generic, ParamSpec, Protocol, Self, TypeVar

from kernelet.learners.base.parameters import verbosity
from kernelet.solvers.parallel import map_in_threads

Method = TypeVar("Method", bound=Callable[..., Any])

# scikit-learn has its callback API since 1.9.
HAS_CALLBACKS = importlib.util.find_spec("sklearn.callback") is not None
_callback: Any = importlib.import_module("sklearn.callback") if HAS_CALLBACKS else None


class _NoCallbacks:
    """Replaces scikit-learn's mixin in versions without its callback API."""


CallbackSupportMixin: Any = _callback.CallbackSupportMixin if HAS_CALLBACKS else _NoCallbacks


def with_callbacks(method: Method) -> Method:
    """Let the registered callbacks end with ``fit``, if scikit-learn has callbacks."""
    managed: Method = _callback.with_callbacks(method) if HAS_CALLBACKS else method
    return managed


class Step(Protocol):
    """A step of a fit, good enough to be its last."""

    @property
    def line(self) -> str:
        """What ``verbose`` prints of it."""
        ...

    @property
    def brief(self) -> str:
        """What a progress bar shows of it."""
        ...


# Who watches the steps of all fits, whatever the version of scikit-learn: see `watching`.
_watchers: list[Callable[[Step, str], None]] = []


@contextmanager
def watching(seen: Callable[[Step, str], None]) -> Iterator[None]:
    """Call a function with every step of every fit in the block.

    Its second argument is what a step is for if it is none of the fit itself, such as
    "choosing C: ", otherwise "". Fits in other processes are not seen.
    """
    _watchers.append(seen)
    try:
        yield
    finally:
        _watchers.remove(seen)


S = TypeVar("S", bound=Step)
R = TypeVar("R")
P = ParamSpec("P")
Attributes = Callable[[], dict[str, Any]]


@dataclass(frozen=True, eq=False)
class Run(Generic[S]):
    """The last step of a run, and whether Ctrl-C or a callback ended it."""

    last: S
    interrupted: bool = False
    stopped: bool = False

    @property
    def was_ended(self) -> bool:
        """Whether Ctrl-C or a callback ended it."""
        return self.interrupted or self.stopped


class Loop:
    """Drives the steps of a fit; a context, within which callbacks see the fit as one task.

    It prints every ``verbose``-th step to standard error and gives callbacks registered with
    ``set_callbacks`` one subtask per step; these find the step as ``estimator._last_step``. Runs
    may go side by side in threads. Ctrl-C ends all of them with the last step that each has taken;
    those that have not begun take one step, so that there is a model. A second Ctrl-C is passed on.

    Parameters
    ----------
    estimator : estimator with callbacks
    max_steps : int or None
        The largest possible number of steps, for progress bars.
    verbose : int, default=0
    choice_seconds : float, default=inf
        How long searches may take that only help to choose; see `has_time_to_choose`.
    **rows : X, y, metadata
        Shown to callbacks.
    """

    def __init__(
        self,
        estimator: Any,
        max_steps: int | None = 0,
        verbose: int = 0,
        choice_seconds: float = float("inf"),
        **rows: Any,
    ) -> None:
        self._estimator, self._verbose, self._rows = estimator, verbosity(verbose), rows
        self._max_steps, self._choice_seconds = max_steps, choice_seconds
        self._context: Any = None
        self._lock, self._interrupted = Lock(), Event()
        self._begin = time.perf_counter()

    def __enter__(self) -> Self:
        if HAS_CALLBACKS:
            self._context = self._estimator._init_callback_context(max_subtasks=self._max_steps)
            self._context.call_on_fit_task_begin(estimator=self._estimator, **self._rows)
        return self

    def __exit__(self, *error: object) -> None:
        if self._context is not None:
            vars(self._estimator).pop("_last_step", None)
            self._context.call_on_fit_task_end(estimator=self._estimator, **self._rows)

    @property
    def interrupted(self) -> bool:
        """Whether Ctrl-C was pressed."""
        return self._interrupted.is_set()

    @property
    def seconds(self) -> float:
        """Seconds since the start."""
        return time.perf_counter() - self._begin

    def has_time_to_choose(self, share: float = 1.0) -> bool:
        """Whether searches that only help to choose may go on, in a share of their seconds."""
        return self.seconds < share * self._choice_seconds

    def interrupt(self) -> None:
        """Let all runs end with their current step."""
        self._interrupted.set()

    def run(
        self,
        begin: Callable[[], Iterator[S]],
        attributes: Callable[[S], dict[str, Any]] | None = None,
        *,
        start: S | None = None,
        n_hurried: int = 1,
        n_before: int = 0,
        is_needed: bool = True,
    ) -> Run[S]:
        """Take the steps that ``begin()`` yields, until one is the last.

        Parameters
        ----------
        begin : callable
        attributes : callable, default=None
            Turns a step into the attributes of a fitted estimator, for callbacks; None where a step
            is no model by itself.
        start : Step, default=None
            Where the run begins, if that is good enough to be left by Ctrl-C.
        n_hurried : int, default=1
            Steps of a run that begins after Ctrl-C; 0 leaves ``start``.
        n_before : int, default=0
            Steps of other runs that count for ``verbose``.
        is_needed : bool, default=True
            Whether the model needs this run. If so, its first step is repeated after Ctrl-C; if
            not, Ctrl-C before the end of that step is passed on.
        """
        last = start
        n_least = n_hurried if self.interrupted else 0
        if self.interrupted and start is None and not is_needed:
            raise KeyboardInterrupt
        if self.interrupted and start is not None and not n_hurried:
            return Run(start, interrupted=True)
        try:
            for n_steps, last in enumerate(begin(), start=1):
                made = None if attributes is None else _later(attributes, last)
                wants_end = self.report(last, n_before + n_steps, made)
                if self.interrupted and n_steps >= n_least:
                    return Run(last, interrupted=True)
                if wants_end:
                    return Run(last, stopped=True)
        except KeyboardInterrupt:
            may_begin_again = is_needed and not self.interrupted
            self.interrupt()
            if last is None and not may_begin_again:
                raise
            return Run(next(begin()) if last is None else last, interrupted=True)
        assert last is not None
        return Run(last)

    def last_of(self, results: Iterator[R]) -> R:
        """The last of several results; after Ctrl-C the one before, or Ctrl-C is passed on."""
        found: list[R] = []
        try:
            for result in results:
                found = [result]
        except KeyboardInterrupt:
            self.interrupt()
            if not found:
                raise
        return found[0]

    def each(self, function: Callable[[int], R], n: int, n_jobs: int = 1) -> list[R]:
        """[function(k) for k in range(n)] in threads; Ctrl-C lets them end as `run` does.

        The functions watch ``interrupted``; those that did not return because of Ctrl-C are called
        again.
        """
        found: dict[int, R] = {}

        def call(k: int) -> None:
            found[k] = function(k)

        try:
            map_in_threads(call, range(n), n_jobs, self.interrupt)
        except KeyboardInterrupt:
            self.interrupt()
            for k in range(n):
                if k not in found:
                    call(k)
        return [found[k] for k in range(n)]

    def finish(self, function: Callable[P, R], *arguments: P.args, **options: P.kwargs) -> R:
        """function(...), called once more if Ctrl-C interrupts it.

        It may watch ``interrupted`` to take a shorter way then.
        """
        return self.each(lambda _: function(*arguments, **options), 1)[0]

    def say(self, text: str) -> None:
        """Print a line if ``verbose`` is not 0."""
        if self._verbose > 0:
            print(text, file=sys.stderr)

    def show(self, step: Step, n_steps: int, doing: str = "") -> None:
        """Print every ``verbose``-th step to standard error, with a prefix.

        Those who are `watching` see all of them.
        """
        for seen in _watchers:
            seen(step, doing)
        if self._verbose > 0 and n_steps % self._verbose == 0:
            print(doing + step.line, file=sys.stderr)

    def report(
        self,
        step: Step,
        n_steps: int,
        attributes: Attributes | None = None,
        keep: Callable[[], None] | None = None,
    ) -> bool:
        """Print the n-th step and show it to callbacks; returns whether one asks to stop.

        ``keep`` writes a checkpoint, one thread at a time.
        """
        with self._lock:
            if keep is not None:
                keep()
            self.show(step, n_steps)
            if self._context is None:
                return False
            self._estimator._last_step = step
            task = self._context.subcontext(task_name="step")
            task.call_on_fit_task_begin(estimator=self._estimator, **self._rows)
            wants_end: bool = task.call_on_fit_task_end(
                estimator=self._estimator, reconstruction_attributes=attributes, **self._rows
            )
            return wants_end


def _later(attributes: Callable[[S], dict[str, Any]], step: S) -> Attributes:
    return lambda: attributes(step)
