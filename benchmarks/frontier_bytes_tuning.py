"""Parameters of a small model, by validation on held-out quarters of the training rows.

Every method is tuned in the same way for every budget: one axis after the other, the values of the
others being the best found so far, on at most 2000 training rows (or 100 per class, if that is
more). One quarter is held out, or each of four in turn where there are few rows. Candidates that do
not fit into the budget are left out.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.model_selection import StratifiedKFold, train_test_split

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
    divisions = _divisions(y, several=task.few_rows)

    def error(parameters: dict[str, Any]) -> float:
        wrong = 0
        for kept, held in divisions:
            try:
                model = method.fit(X[kept], y[kept], task, parameters, 0)
            except DoesNotFit:
                return np.inf
            wrong += np.count_nonzero(model.predict(X[held]) != y[held])
        return 100.0 * wrong / sum(len(held) for _, held in divisions)

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


def has_few_rows(y: np.ndarray) -> bool:
    """Return whether a quarter of them is too few to choose by."""
    return len(y) < N_ROWS


def _divisions(y: np.ndarray, several: bool) -> list[tuple[np.ndarray, np.ndarray]]:
    """Rows to fit and rows to validate on."""
    if several:
        folds = StratifiedKFold(round(1.0 / HELD_OUT), shuffle=True, random_state=0)
        return list(folds.split(y, y))
    rows = np.arange(len(y))
    kept, held = train_test_split(rows, test_size=HELD_OUT, random_state=0, stratify=y)
    return [(kept, held)]


def _part(X: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    n_rows = max(N_ROWS, N_ROWS_PER_CLASS * len(np.unique(y)))
    if len(y) <= n_rows:
        return X, y
    part, _ = train_test_split(np.arange(len(y)), train_size=n_rows, random_state=0, stratify=y)
    return X[part], y[part]
