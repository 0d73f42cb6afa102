"""A progress bar by rich where it is installed, plain lines where not."""

from __future__ import annotations

import importlib.util
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Protocol


class Progress(Protocol):
    """Something that is notified of every finished task."""

    def step(self, text: str) -> None: ...


@dataclass
class _Plain:
    total: int
    done: int = 0

    def step(self, text: str) -> None:
        self.done += 1
        print(f"[{self.done}/{self.total}] {text}", flush=True)


@dataclass
class _Bar:
    bar: Any
    task: Any

    def step(self, text: str) -> None:
        self.bar.update(self.task, advance=1, description=text)


@contextmanager
def progress(total: int) -> Iterator[Progress]:
    """Show how many of ``total`` tasks are done."""
    if importlib.util.find_spec("rich") is None:
        yield _Plain(total)
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn
    from rich.progress import Progress as RichProgress

    console = Console(stderr=True)
    if not console.is_terminal:
        # a bar in a log file is a thousand lines
        yield _Plain(total)
        return
    columns = (BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with RichProgress(*columns, TextColumn("{task.description}"), console=console) as bar:
        yield _Bar(bar, bar.add_task("", total=total))
