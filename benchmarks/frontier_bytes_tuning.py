"""Parameters of a small model, by validation on a held-out quarter of the training rows.

Every method is tuned in the same way for every budget: one axis after the other, the values of the
others being the best found so far, on at most 2000 training rows (or 100 per class, if that is
more). Candidates that do not fit into the budget are left out.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.model_selection import train_test_split

from benchmarks.datasets.splits import Split
from benchmarks.small import DoesNotFit, SmallMethod
from benchmarks.small.base import Axis, Task

N_ROWS = 2000
N_ROWS_PER_CLASS = 100
HELD_OUT = 0.25


def tuned(method: SmallMethod, split: Split, task: Task) -> tuple[dict[str, Any], float]:
    """Return the parameters of least error in percent, and that error; the first of equals."""
    X, y = _part(split.X_train, split.y_train)
    task = replace(task, approximate=True)
    kept, held = train_test_split(np.arange(len(y)), test_size=HELD_OUT, random_state=0, stratify=y)

    def error(parameters: dict[str, Any]) -> float:
        try:
            model = method.fit(X[kept], y[kept], task, parameters, 0)
        except DoesNotFit:
            return np.inf
        return 100.0 * float(np.mean(model.predict(X[held]) != y[held]))

    return search(method.axes(task), error)


def search(axes: tuple[Axis, ...], error: Any) -> tuple[dict[str, Any], float]:
    """Go along the axes once; an axis none of whose values fits leaves the next to find one."""
    best: dict[str, Any] = {}
    for axis in axes:
        best |= axis[0]
    least = error(best)
    for axis in axes:
        start = dict(best)
        for alternative in axis[1:]:
            found = error(start | dict(alternative))
            if found < least:
                best, least = start | dict(alternative), found
    if not np.isfinite(least):
        raise DoesNotFit("no candidate fits into the budget")
    return best, least


def _part(X: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    n_rows = max(N_ROWS, N_ROWS_PER_CLASS * len(np.unique(y)))
    if len(y) <= n_rows:
        return X, y
    part, _ = train_test_split(np.arange(len(y)), train_size=n_rows, random_state=0, stratify=y)
    return X[part], y[part]
