"""Methods: ``names()`` and ``get(name)``; every module here with a ``METHOD`` is found."""

from __future__ import annotations

import importlib
import importlib.util
import pkgutil
from functools import cache

from benchmarks.methods.base import Method

__all__ = ["Method", "get", "names"]

# A module is named as its method, save where that is no name for a module.
_MODULES = {"1nn": "nearest_neighbour"}


@cache
def names() -> list[str]:
    """Return the ids of all methods, planned ones included."""
    modules = [_method_of(module.name) for module in pkgutil.iter_modules(__path__)]
    return sorted({method.name for method in modules if method} | _planned().keys())


@cache
def get(name: str) -> Method:
    """Return a method by its id; no other method's module is imported."""
    # a file of its own takes the place of the planned entry
    method = _method_of(_MODULES.get(name, name)) or _planned().get(name)
    if method is None or method.name != name:
        raise KeyError(f"No method {name!r}; there are: {', '.join(names())}.")
    return method


def _method_of(module: str) -> Method | None:
    path = f"{__name__}.{module}"
    if importlib.util.find_spec(path) is None:
        return None
    method = vars(importlib.import_module(path)).get("METHOD")
    return method if isinstance(method, Method) else None


def _planned() -> dict[str, Method]:
    from benchmarks.methods.planned import METHODS

    return {method.name: method for method in METHODS}
