"""Methods: ``names()`` and ``get(name)``; every module here with a ``METHOD`` is found."""

from __future__ import annotations

import importlib
import pkgutil
from functools import cache

from benchmarks.methods.base import Method

__all__ = ["Method", "get", "names"]


@cache
def _registry() -> dict[str, Method]:
    from benchmarks.methods.planned import METHODS

    # a file of its own takes the place of the planned entry
    found = {method.name: method for method in METHODS}
    for module in pkgutil.iter_modules(__path__, f"{__name__}."):
        method = vars(importlib.import_module(module.name)).get("METHOD")
        if isinstance(method, Method):
            found[method.name] = method
    return found


def names() -> list[str]:
    """Return the ids of all methods, planned ones included."""
    return sorted(_registry())


def get(name: str) -> Method:
    """Return a method by its id."""
    try:
        return _registry()[name]
    except KeyError:
        raise KeyError(f"No method {name!r}; there are: {', '.join(names())}.") from None
