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
def starting(text: str, quiet: bool) -> Iterator[None]:
    """A line on a terminal while Python imports what a command needs, which may take seconds."""
    from kernelet.machine.texts import visible

    if quiet or not sys.stderr.isatty():
        yield
        return
    line = LineBar(visible(text), "")
    try:
        line.advance(0)
        yield
    finally:
        line.close()


@contextmanager
def bytes_bar(output: Output, source: Source) -> Iterator[Callable[[int], None]]:
    """A bar for a table that is read; call the function with the bytes of the file so far."""
    from kernelet.cli.output import size
    from kernelet.machine.texts import visible

    text, done = visible(f"reading {source.name}"), 0.0
    n_bytes = source.n_bytes_on_disk
    # a pipe has no size, and the text alone counts what has come
    with progress_bar(output, text, *((None, "") if n_bytes is None else (100, "%"))) as bar:
        bar.advance(0)

        def read(n_read: int) -> None:
            nonlocal done
            of = "" if n_bytes is None else f" of {size(n_bytes)}"
            bar.say(f"{text}: {size(n_read)}{of}")
            share = 100 * n_read / max(n_bytes or n_read, 1)
            bar.advance(share - done)
            done = share

        yield read


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
    from rich.table import Column

    count = "{task.completed:.0f} " + unit
    if total is not None and unit != "%":
        count = "{task.completed:.0f}/{task.total:.0f} " + unit
    columns: list[Any] = [
        progress.SpinnerColumn(),
        progress.TextColumn("{task.description}", markup=False),  # it may name a file
        # what the text leaves: W, gain and the time left are more than a longer bar
        progress.BarColumn(bar_width=None, table_column=Column(ratio=1)),
        progress.TimeElapsedColumn(),
    ]
    if unit:
        columns.insert(3, progress.TextColumn(count))
    console = Console(stderr=True)
    return progress.Progress(*columns, console=console, transient=True, expand=True)


@contextmanager
def watched(estimator: Any, bar: Bar, text: str) -> Iterator[list[Any]]:
    """Let the steps of ``estimator.fit`` in the block move the bar; the list holds the last one.

    The bar shows what the search minimises, by how much the last step lowered it, and how long it
    takes at most from there. Steps of the choice of a cost do not count.
    """
    from kernelet.learners.base.progress import watching

    last: list[Any] = []

    def seen(step: Any, doing: str) -> None:
        last[:] = [step]
        bar.say(f"{text}: {doing}{step.brief}")
        bar.advance(0 if doing else 1)

    # no step is taken before the cost is chosen
    chooses = estimator.get_params(deep=False).get("C") == "auto"
    bar.say(f"{text}: choosing C" if chooses else text)
    bar.advance(0)
    with watching(seen):
        yield last


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
