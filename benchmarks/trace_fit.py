"""Modules of ours that a fit on digits passes through: ``python -m benchmarks.trace_fit``."""

from __future__ import annotations

import inspect
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any

from sklearn.datasets import load_digits

import kernelet
from kernelet import SparseSVC

PACKAGE = Path(kernelet.__file__).parent


def modules_called(work: Callable[[], object]) -> dict[str, int]:
    """Calls into each module of kernelet, such as ``solvers/rows``, in the order of the first ones.

    What runs during an import does not count, so a first fit and a second one pass the same
    modules. New threads count; compiled loops and threads that are already running do not.
    """
    calls: dict[str, int] = {}
    names: dict[str, str | None] = {}
    imports, lock = threading.local(), threading.Lock()

    def profile(frame: FrameType, event: str, _: Any) -> None:
        code = frame.f_code
        if code.co_name == "<module>":
            imports.depth = getattr(imports, "depth", 0) + {"call": 1, "return": -1}.get(event, 0)
        elif event == "call" and code.co_flags & inspect.CO_OPTIMIZED:
            file = code.co_filename
            if file not in names:
                names[file] = _module(file)
            name = names[file]
            if name is not None and not getattr(imports, "depth", 0):
                with lock:
                    calls[name] = calls.get(name, 0) + 1

    threading.setprofile(profile)
    sys.setprofile(profile)
    try:
        work()
    finally:
        sys.setprofile(None)
        threading.setprofile(None)
    return calls


def _module(file: str) -> str | None:
    """Path of a module inside the package, a folder for an ``__init__``; None for others' files."""
    path = Path(file)
    if not path.is_relative_to(PACKAGE):
        return None
    return path.relative_to(PACKAGE).with_suffix("").as_posix().removesuffix("/__init__")


def digits_fit() -> dict[str, int]:
    """Calls of ``SparseSVC(20).fit`` on digits."""
    X, y = load_digits(return_X_y=True)
    model = SparseSVC(20, random_state=0)
    return modules_called(lambda: model.fit(X, y))


def main() -> None:
    calls = digits_fit()
    print(f"SparseSVC(20).fit on digits passes through {len(calls)} modules (calls, module):")
    for name, n_calls in calls.items():
        print(f"{n_calls:8}  {name}")


if __name__ == "__main__":
    main()
