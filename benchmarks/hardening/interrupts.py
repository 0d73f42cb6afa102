"""Ctrl-C at random moments of the fits of every estimator that iterates.

A fit must end in a model that works, with a warning, or in a KeyboardInterrupt that leaves the
estimator as it was before. BLAS, warning filters and NumPy's error handling are then as they were,
and another fit of the same estimator finds what it would have found.

Half of the interrupts come from a timer, as they would from a person; these moments differ from
run to run. The others come after an exact number of calls, at one of the points where Python looks
for signals, so that a defect can be repeated.
"""

from __future__ import annotations

import signal
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from types import FrameType
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

import kernelet as kt
from benchmarks.hardening.campaign import Campaign, Outcome
from benchmarks.hardening.small_fits import FITS, SmallFit, answers, settings

NAMES = list(FITS)
CASES_PER_GROUP = 200
_SEED = 24
# The estimator had been fitted before, on other columns and classes.
_SHARE_FITTED_BEFORE = 0.5
# Functions that the detail of a defect names, the innermost first.
_NAMES_SHOWN = 8


def group_of(number: int) -> str:
    """Return the estimator of a case."""
    return NAMES[number % len(NAMES)]


@dataclass
class Watch:
    """What happened while a fit was being disturbed.

    Attributes
    ----------
    where : str
        The functions that were being run when the interrupt came; "" if the fit was over by then.
    lost : list of str
        Where Python could only print it, as in a destructor.
    """

    where: str = ""
    lost: list[str] = field(default_factory=list)

    def press(self, frame: FrameType | None) -> None:
        """Interrupt, as Python does for Ctrl-C."""
        names = []
        while frame is not None and frame.f_code is not _disturbed.__code__:
            names.append(f"{Path(frame.f_code.co_filename).stem}.{frame.f_code.co_name}")
            frame = frame.f_back
        self.where = " < ".join(names[:_NAMES_SHOWN])
        signal.raise_signal(signal.SIGINT)  # whose handler may be another one for a moment


@contextmanager
def after_calls(n_calls: int, watch: Watch) -> Iterator[None]:
    """Interrupt the n-th call of a Python function or return from one of C."""
    left = n_calls

    def count(frame: Any, event: str, argument: object) -> None:
        nonlocal left
        if event in ("call", "c_return"):
            left -= 1
            if left == 0:
                sys.setprofile(None)
                watch.press(frame)

    sys.setprofile(count)
    try:
        yield
    finally:
        sys.setprofile(None)


@contextmanager
def after_seconds(seconds: float, watch: Watch) -> Iterator[None]:
    """Interrupt after some time, wherever the fit is then."""
    is_inside = True

    def press(number: int, frame: FrameType | None) -> None:
        if is_inside:
            watch.press(frame)

    signal.signal(signal.SIGALRM, press)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        is_inside = False
        signal.setitimer(signal.ITIMER_REAL, 0.0)


@contextmanager
def seeing_what_is_lost(watch: Watch) -> Iterator[None]:
    """Note interrupts that Python could not pass on."""
    before = sys.unraisablehook
    sys.unraisablehook = lambda found: watch.lost.append(str(found.object)[:80])
    try:
        yield
    finally:
        sys.unraisablehook = before


@cache
def undisturbed(name: str) -> tuple[Any, float, int]:
    """Return the model of an estimator, the seconds of its fit, and its calls."""
    fit = FITS[name]
    fit.fitted()  # the first in a process loads and compiles
    begin = time.perf_counter()
    model = fit.fitted()
    seconds = time.perf_counter() - begin
    n_calls = 0

    def count(frame: Any, event: str, argument: object) -> None:
        nonlocal n_calls
        n_calls += event in ("call", "c_return")

    estimator, rows = fit.make(), fit.rows(0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        sys.setprofile(count)
        try:
            estimator.fit(*rows)
        finally:
            sys.setprofile(None)
    return model, seconds, n_calls


def case(number: int) -> Outcome:
    """Interrupt one fit."""
    name = group_of(number)
    fit, rng = FITS[name], np.random.default_rng([_SEED, number])
    expected, seconds, n_calls = undisturbed(name)
    was_fitted = rng.random() < _SHARE_FITTED_BEFORE
    model = fit.fitted(1) if was_fitted else fit.make()
    before = dict(vars(model))
    said = answers(model, fit, 1) if was_fitted else None
    moment, by_calls = rng.random(), (number // len(NAMES)) % 2 == 0
    watch = Watch()
    # more threads than the one that workers have, to see whether a limit of ours is left
    with threadpool_limits(2), warnings.catch_warnings():
        warnings.simplefilter("always")
        usual = settings()
        disturb: Callable[[], Any] = (
            (lambda: after_calls(1 + int(moment * n_calls), watch))
            if by_calls
            else (lambda: after_seconds(moment * seconds, watch))
        )
        error, messages = _disturbed(model, fit.rows(0), disturb, watch)
        changed = [key for key, value in settings().items() if value != usual[key]]
    found = _judge(name, model, before, error, messages, watch)
    problems = [found.detail] if found.is_defect else []
    if changed:
        problems.append(f"left changed: {', '.join(changed)}")
    if isinstance(error, KeyboardInterrupt):
        if said is not None and not (
            found.is_defect or np.array_equal(answers(model, fit, 1), said)
        ):
            problems.append("answers otherwise than before")
    elif error is None:
        problems += _unusable(model, fit)
    problems += _unequal_refit(model, fit, expected)
    if not problems:
        return found
    how = f"call {1 + int(moment * n_calls)}" if by_calls else f"{moment * seconds:.4f} s"
    state = "fitted before" if was_fitted else "not fitted"
    detail = f"{'; '.join(problems)} ({how}, {state}, in {watch.where})"
    return Outcome(name, found.result if found.is_defect else "a defect", True, detail)


def _disturbed(
    model: Any, rows: Any, disturb: Callable[[], Any], watch: Watch
) -> tuple[BaseException | None, list[str]]:
    """Fit, and return the error, and the warnings' messages."""
    shown, original = [], warnings.showwarning

    def keep(message: Warning | str, *rest: Any, **options: Any) -> None:
        shown.append(str(message))

    warnings.showwarning = keep
    error: BaseException | None = None
    try:
        with seeing_what_is_lost(watch), disturb():
            model.fit(*rows)
    except BaseException as caught:
        error = caught
    finally:
        warnings.showwarning = original
    return error, shown


def _judge(
    name: str,
    model: Any,
    before: dict[str, Any],
    error: BaseException | None,
    messages: list[str],
    watch: Watch,
) -> Outcome:
    """Return what came of the fit itself."""
    if isinstance(error, KeyboardInterrupt):
        after = vars(model)
        other = sorted(
            key for key in {*before, *after} if before.get(key, before) is not after.get(key, after)
        )
        if other:
            text = f"KeyboardInterrupt changed {', '.join(other)}"
            return Outcome(name, "half a fit", True, text)
        return Outcome(name, "KeyboardInterrupt, as before")
    if error is not None:
        text = f"{type(error).__name__}: {error}"
        return Outcome(name, "another error", True, text)
    if not watch.where:
        return Outcome(name, "not interrupted: the fit was over")
    if watch.lost:
        return Outcome(name, "not interrupted: lost by Python in a destructor or callback of C")
    if not any("interrupt" in text.lower() or "Ctrl-C" in text for text in messages):
        return Outcome(name, "no warning", True, f"a model, but no warning among {messages}")
    return Outcome(name, "a model and a warning")


def _unusable(model: Any, fit: SmallFit) -> list[str]:
    """Return what a model that was returned cannot do."""
    found = []
    if not np.all(np.isfinite(answers(model, fit)) if answers(model, fit).dtype.kind == "f" else 1):
        found.append("answers are not finite")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.kernelet"
        saved = model.best_estimator_ if hasattr(model, "best_estimator_") else model
        saved.save(path)
        if not np.array_equal(answers(kt.load(path), fit), answers(model, fit)):
            found.append("the saved model answers otherwise")
    return found


def _unequal_refit(model: Any, fit: SmallFit, expected: Any) -> list[str]:
    """Fit the same estimator once more."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(*fit.rows(0))
    same = np.array_equal(answers(model, fit), answers(expected, fit))
    return [] if same else ["another fit finds another model"]


CAMPAIGN = Campaign(
    "Ctrl-C at random moments of fits",
    case,
    group_of,
    n=CASES_PER_GROUP * len(NAMES),
    seconds=900.0,
)
