"""What fits into few kilobytes: ``names()`` and ``get(name)``; every module with a ``METHOD``."""

from __future__ import annotations

import importlib
import pkgutil
from functools import cache

from benchmarks.small.base import DoesNotFit, Small, SmallMethod

__all__ = ["DoesNotFit", "Small", "SmallMethod", "get", "names"]


@cache
def _methods() -> dict[str, SmallMethod]:
    modules = (
        importlib.import_module(f"{__name__}.{m.name}") for m in pkgutil.iter_modules(__path__)
    )
    found = (vars(module).get("METHOD") for module in modules)
    return {method.name: method for method in found if isinstance(method, SmallMethod)}


def names() -> list[str]:
    """Return the ids of all methods."""
    return sorted(_methods())


def get(name: str) -> SmallMethod:
    """Return a method by its id."""
    if name not in _methods():
        raise KeyError(f"No small method {name!r}; there are: {', '.join(names())}.")
    return _methods()[name]
