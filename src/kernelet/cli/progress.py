"""A long computation and the person who waits: progress bars on a terminal, and Ctrl-C."""

from __future__ import annotations

import importlib.util
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from kernelet.cli.output import Output
from kernelet.cli.tables.sources import Source

if TYPE_CHECKING:
    from kernelet.cli.tables.table import Table

_LINE_SECONDS = 0.2  # between two prints of the plain line, enough to see it move


class Bar:
    """Shows how far the work is; the base class shows nothing, for when nobody looks."""

    def advance(self, steps: float) -> None:
        """Move by a number of steps."""

    def say(self, text: str) -> None:
        """Show what is being done."""


class LineBar(Bar):
    """A line on a terminal that is overwritten, where rich is not installed."""

    def __init__(self, text: str, unit: str) -> None:
        self.doing, self.unit = text, unit
        self.done, self.printed, self.width = 0.0, 0.0, 0

    def advance(self, steps: float) -> None:
        """Count, and print now and then."""
        self.done += steps
        if time.monotonic() - self.printed > _LINE_SECONDS:
            self.printed = time.monotonic()
            self._print(f"{self.doing}: {self.done:.0f} {self.unit}" if self.unit else self.doing)

    def say(self, text: str) -> None:
        """Another text in front of the count."""
        self.doing = text

    def close(self) -> None:
        """Wipe the line."""
        self._print("")
        sys.stderr.write("\r")
        sys.stderr.flush()

    def _print(self, text: str) -> None:
        sys.stderr.write("\r" + text.ljust(self.width))
        sys.stderr.flush()
        self.width = len(text)


class RichBar(Bar):
    """One task of rich's progress display."""

    def __init__(self, progress: Any, task: Any) -> None:
        self.progress, self.task = progress, task

    def advance(self, steps: float) -> None:
        """Move the bar."""
        self.progress.advance(self.task, steps)

    def say(self, text: str) -> None:
        """Another description."""
        self.progress.update(self.task, description=text)


@contextmanager
def progress_bar(output: Output, text: str, total: int | None, unit: str) -> Iterator[Bar]:
    """A bar on stderr while the block runs; it is gone afterwards.

    Parameters
    ----------
    output : Output
    text : str
        What is being done.
    total : int or None
        Steps in all; None where that cannot be known.
    unit : str
        What a step is ("rows", "steps", "%"); "" where nothing is counted.
    """
    from kernelet.machine.texts import visible

    text = visible(text)
    if output.quiet or not sys.stderr.isatty():
        yield Bar()
    elif importlib.util.find_spec("rich") is None:
        line = LineBar(text, unit)
        try:
            yield line
        finally:
            line.close()
    else:
        with _rich_progress(unit, total) as progress:
            yield RichBar(progress, progress.add_task(text, total=total))


@contextmanager
def rows_bar(output: Output, source: Source) -> Iterator[Callable[[Table], None]]:
    """A bar for predictions of a table; call the function with each piece that is done."""
    from kernelet.machine.texts import visible

    text, share = visible(f"predicting {source.name}"), 0.0
    # percent of the file, where its size is known
    with progress_bar(output, text, *((None, "") if source.n_bytes is None else (100, "%"))) as bar:

        def piece_done(table: Table) -> None:
            nonlocal share
            bar.say(f"{text}: {table.first_row - 1 + len(table)} rows")
            bar.advance(100 * ((table.share or 0.0) - share))
            share = table.share or 0.0

        yield piece_done


def _rich_progress(unit: str, total: int | None) -> Any:
    from rich import progress
    from rich.console import Console

    count = "{task.completed:.0f} " + unit
    if total is not None and unit != "%":
        count += " of at most {task.total:.0f}"
    columns: list[Any] = [
        progress.SpinnerColumn(),
        progress.TextColumn("{task.description}", markup=False),  # it may name a file
        progress.BarColumn(),
        progress.TimeElapsedColumn(),
    ]
    if unit:
        columns.insert(3, progress.TextColumn(count))
    return progress.Progress(*columns, console=Console(stderr=True), transient=True)


class FitSteps:
    """A scikit-learn callback that moves a bar with every step of a fit."""

    def __init__(self, bar: Bar, text: str) -> None:
        self.bar, self.text = bar, text

    def setup(self, estimator: Any, context: Any) -> None:
        """Nothing to prepare."""

    def teardown(self, estimator: Any, context: Any) -> None:
        """Nothing to clean up."""

    def on_fit_task_begin(self, estimator: Any, context: Any) -> None:
        """A step begins; the bar moves when it ends."""

    def on_fit_task_end(self, estimator: Any, context: Any) -> bool:
        """Move the bar; False lets the fit go on."""
        if context.parent is not None:
            step = getattr(estimator, "_last_step", None)
            self.bar.say(self.text if step is None else f"{self.text}: {step.brief}")
            self.bar.advance(1)
        return False


def watched(estimator: Any, bar: Bar, text: str) -> None:
    """Let the steps of ``estimator.fit`` move the bar, where scikit-learn has callbacks (1.9)."""
    if hasattr(estimator, "set_callbacks") and type(bar) is not Bar:
        # no step is taken before the cost is chosen
        chooses = estimator.get_params(deep=False).get("C") == "auto"
        bar.say(f"{text}: choosing C" if chooses else text)
        bar.advance(0)
        estimator.set_callbacks(FitSteps(bar, text))


@contextmanager
def hearing_interrupts() -> Iterator[list[int]]:
    """Record every Ctrl-C in the block, even if a fit catches it to keep its best machine."""
    heard: list[int] = []

    def hear(number: int, frame: Any) -> None:
        heard.append(number)
        signal.default_int_handler(number, frame)

    # only the main thread hears signals; nohup and others may have turned this one off
    is_heard = (
        threading.current_thread() is threading.main_thread()
        and signal.getsignal(signal.SIGINT) is signal.default_int_handler
    )
    try:
        if is_heard:
            signal.signal(signal.SIGINT, hear)
        yield heard
    finally:
        if is_heard:
            signal.signal(signal.SIGINT, signal.default_int_handler)
