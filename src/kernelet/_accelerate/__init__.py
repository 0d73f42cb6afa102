"""Compiled training loops, each with a NumPy twin in the solver that calls it.

They need numba, which the extra `fast` installs. It is imported when the first training loop asks
for one of these modules and not before; without it the NumPy twin serves.
"""

from __future__ import annotations

import importlib
from functools import cache
from types import ModuleType


@cache
def accelerated(name: str) -> ModuleType | None:
    """The compiled module ``kernelet._accelerate.<name>``, or None where numba is missing."""
    try:
        importlib.import_module("numba")
    except ImportError:
        return None
    return importlib.import_module(f"kernelet._accelerate.{name}")


def interruption(error: SystemError) -> BaseException:
    """What to raise for a SystemError of a jitted function: Ctrl-C, if that is what is behind it.

    A KeyboardInterrupt that comes while numba hands values over is replaced by a SystemError
    ("returned a result with an exception set"), at the end of a chain of causes that it begins.
    """
    behind: BaseException | None = error
    while behind is not None and not isinstance(behind, KeyboardInterrupt):
        behind = behind.__cause__ or behind.__context__
    return error if behind is None else behind
