"""Parameters for the frontier: a small grid, cross-validated on a part of the training rows.

Every method is tuned for every budget: 3 folds of at most 2000 training rows, or 100 a class if
that is more, over the grid that its file names. ``gamma`` is in units of 1 / (mean squared distance
between training rows), so that one grid serves all data sets.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import Any

import numpy as np
from sklearn.model_selection import StratifiedKFold, train_test_split

from benchmarks.datasets.splits import Split
from benchmarks.methods.base import Classifier
from benchmarks.methods.parameters import mean_distance_gamma

N_FOLDS = 3
N_ROWS = 2000
N_ROWS_PER_CLASS = 100


def tuned(method: Classifier, split: Split, budget: int | None) -> dict[str, Any]:
    """Return the parameters of least cross-validated error; the first of equals."""
    candidates = list(_candidates(method, split.X_train, budget))
    if len(candidates) == 1:
        return candidates[0]
    X, y = _part(split.X_train, split.y_train)
    folds = list(StratifiedKFold(N_FOLDS, shuffle=True, random_state=0).split(X, y))
    errors = [
        np.mean([_error(method, candidate, X, y, *fold) for fold in folds])
        for candidate in candidates
    ]
    return candidates[int(np.argmin(errors))]


def _candidates(method: Classifier, X: np.ndarray, budget: int | None) -> Iterator[dict[str, Any]]:
    unit = mean_distance_gamma(X)
    fixed = {} if budget is None else {"n_vectors": budget}
    for values in product(*method.grid.values()):
        candidate = dict(zip(method.grid, values, strict=True))
        if "gamma" in candidate:
            candidate["gamma"] *= unit
        yield candidate | fixed


def _part(X: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    n_rows = max(N_ROWS, N_ROWS_PER_CLASS * len(np.unique(y)))
    if len(y) <= n_rows:
        return X, y
    part, _ = train_test_split(np.arange(len(y)), train_size=n_rows, random_state=0, stratify=y)
    return X[part], y[part]


def _error(
    method: Classifier,
    parameters: dict[str, Any],
    X: np.ndarray,
    y: np.ndarray,
    train: np.ndarray,
    test: np.ndarray,
) -> float:
    fitted = method.fit(X[train], y[train], parameters, 0)
    return float(np.mean(fitted.predict(X[test]) != y[test]))
