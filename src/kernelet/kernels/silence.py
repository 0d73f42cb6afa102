"""Warnings of other libraries that kernelet handles itself, silenced for a moment."""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock

# Warning filters belong to the whole process: two threads that change them at once would leave them
# changed.
_lock = Lock()
_open: warnings.catch_warnings[None] | None = None


@contextmanager
def silenced(category: type[Warning], message: str) -> Iterator[None]:
    """Ignore warnings of a category that begin with a message, one thread at a time.

    Parameters
    ----------
    category : type of Warning
    message : str
        A regular expression. Filters hold for all threads, so it should match no other warning.
    """
    global _open
    filters = warnings.catch_warnings()
    with _lock, filters:
        _open = filters
        warnings.filterwarnings("ignore", message, category)
        try:
            yield
        finally:
            _open = None


def _begin_anew() -> None:
    """Reset the lock in a process that was forked while another thread held it."""
    global _lock, _open
    _lock = Lock()
    if _open is not None:
        _open.__exit__(None, None, None)
        _open = None


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_begin_anew)
