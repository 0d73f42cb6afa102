"""Settings of the whole process that a computation changes for a moment, in several threads."""

from __future__ import annotations

import os
import threading
import weakref
from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager


class SharedSetting(ABC):
    """A setting that callers change for a moment; those that overlap in time share the change.

    The first changes it and the last restores it, so that none mistakes another's change for the
    original setting. No lock is held in between. Ctrl-C may come between any two steps: `as_before`
    finishes what was interrupted.

    Attributes
    ----------
    users : dict
        How many callers in each thread rely on the change, where there are any.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self.users: dict[int, int] = {}
        _settings.add(self)

    @abstractmethod
    def change(self) -> None:
        """Note what is there, unless that is noted, and change it."""

    @abstractmethod
    def restore(self) -> None:
        """Restore what is noted, and forget it."""

    @contextmanager
    def changed(self) -> Iterator[None]:
        """Change the setting."""
        thread = threading.get_ident()
        entered = False
        try:
            with self._lock:
                if not self.users:
                    self.change()
                self.users[thread] = self.users.get(thread, 0) + 1
                entered = True
            yield
        finally:
            if entered:
                self._leave(thread, self.users.get(thread, 1) - 1)

    @contextmanager
    def as_before(self) -> Iterator[None]:
        """Restore the setting if Ctrl-C kept `changed` from doing so, in this thread."""
        thread = threading.get_ident()
        n_users = self.users.get(thread, 0)
        try:
            yield
        finally:
            self._leave(thread, n_users)

    def _leave(self, thread: int, n_users: int) -> None:
        """Leave a number of callers in a thread; the last of all restores the setting."""
        with self._lock:
            if n_users:
                self.users[thread] = n_users
            else:
                self.users.pop(thread, None)
            if not self.users:
                self.restore()

    def begin_anew(self) -> None:
        """Restore the setting in a process that was forked while other threads had changed it."""
        self._lock = threading.Lock()
        self.users = {}
        self.restore()


_settings: weakref.WeakSet[SharedSetting] = weakref.WeakSet()


def _begin_anew() -> None:
    for setting in _settings:
        setting.begin_anew()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_begin_anew)
