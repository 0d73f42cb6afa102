"""Warnings of other libraries that kernelet handles itself, silenced for a moment."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from functools import wraps
from typing import ParamSpec, TypeVar

from kernelet.kernels.numerics.shared_setting import SharedSetting


class _Filters(SharedSetting):
    """Warning filters, which belong to the whole process."""

    def __init__(self) -> None:
        super().__init__()
        self._original: warnings.catch_warnings[None] | None = None

    def change(self) -> None:
        if self._original is None:
            original = warnings.catch_warnings()
            original.__enter__()
            self._original = original

    def restore(self) -> None:
        if self._original is not None:
            self._original.__exit__(None, None, None)
            self._original = None


_filters = _Filters()
filters_as_before = _filters.as_before
# From Python 3.14 on, filters may belong to the caller's context; free-threaded builds have it so.
_BELONG_TO_CONTEXTS = bool(getattr(sys.flags, "context_aware_warnings", 0))


def _changed() -> AbstractContextManager[object]:
    return warnings.catch_warnings() if _BELONG_TO_CONTEXTS else _filters.changed()


P = ParamSpec("P")
R = TypeVar("R")


def restoring_filters(function: Callable[P, R]) -> Callable[P, R]:
    """Restore warning filters after a function that changes them, in whatever threads it runs.

    Calls that overlap share one original, which the last of them restores.
    """

    @wraps(function)
    def restoring(*arguments: P.args, **options: P.kwargs) -> R:
        with _changed():
            return function(*arguments, **options)

    return restoring


@contextmanager
def silenced(category: type[Warning], message: str) -> Iterator[None]:
    """Ignore warnings of a category that begin with a message.

    Parameters
    ----------
    category : type of Warning
    message : str
        A regular expression. Filters hold for all threads, so it should match no other warning.
    """
    with _changed():
        warnings.filterwarnings("ignore", message, category)
        yield
