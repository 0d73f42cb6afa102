"""How loops are compiled: once for all processes where that can be stored, else once for each."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from numba import njit

Function = Callable[..., Any]


def compiled(*, fastmath: set[str] | bool = False) -> Callable[[Function], Function]:
    """A decorator: machine code that lets other threads run, from numba's cache if there is one."""

    def decorate(function: Function) -> Function:
        try:
            return njit(cache=True, nogil=True, fastmath=fastmath)(function)
        except RuntimeError:
            # "no locator available": no folder that numba would store machine code in is writable
            return njit(nogil=True, fastmath=fastmath)(function)

    return decorate
