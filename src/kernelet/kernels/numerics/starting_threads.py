"""Ctrl-C while threads are being started."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def ctrl_c_waits() -> Iterator[None]:
    """Ctrl-C takes effect at the end of the context.

    In the main thread it may come while Python holds the locks of a thread that is being started.
    That thread then never begins, and the process never ends.
    """
    before = signal.getsignal(signal.SIGINT)
    is_main = threading.current_thread() is threading.main_thread()
    if not (is_main and callable(before)):  # no handler of Python's that could come between
        yield
        return
    heard: list[int] = []
    try:
        signal.signal(signal.SIGINT, lambda number, frame: heard.append(number))
        yield
    finally:
        signal.signal(signal.SIGINT, before)
        if heard:
            signal.raise_signal(signal.SIGINT)
