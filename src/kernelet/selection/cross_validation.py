"""All folds of a search, in one process or several, until they are done or Ctrl-C ends them."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from joblib import effective_n_jobs
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.parallel import Parallel, delayed

from kernelet.kernels.caller import warn_caller
from kernelet.selection.callbacks import Report
from kernelet.selection.folds import Fold, FoldTask, run_fold
from kernelet.selection.results import finished

Split = tuple[NDArray[np.intp], NDArray[np.intp]]

# joblib before 1.3 hands out results only when all are there.
_AS_THEY_COME = (
    {"return_as": "generator"} if "return_as" in inspect.signature(Parallel).parameters else {}
)


def run_folds(
    task: FoldTask, X: Any, y: Any, splits: Sequence[Split], n_jobs: int | None, report: Report
) -> list[Fold]:
    """The folds that are finished: all, unless Ctrl-C or a callback ended the search.

    Parameters
    ----------
    task : FoldTask
    X, y : arrays
    splits : sequence of (ndarray, ndarray)
        Training and test rows of each fold.
    n_jobs : int or None
        Number of processes, as in joblib.
    report : callable
        Called after each fold; returns whether to stop.

    Raises
    ------
    KeyboardInterrupt
        If Ctrl-C was pressed before any model was fitted and scored.
    """
    folds: list[Fold] = []
    try:
        for fold in _in_order(task, X, y, splits, n_jobs):
            folds.append(fold)
            if fold.interrupted:
                break
            if task.verbose > 0:
                scores = " ".join(f"{outcome.score:.4f}" for outcome in fold.outcomes)
                print(f"fold {len(folds)} of {len(splits)}: {scores}", file=sys.stderr)
            if report("fold"):
                break
    except KeyboardInterrupt:
        folds.append(Fold(interrupted=True))
    if len(folds) == len(splits) and not folds[-1].interrupted:
        return folds
    kept = finished(folds, len(task.candidates), task.reference is not None)
    if not kept:
        raise KeyboardInterrupt
    warn_caller(
        f"BudgetSearchCV was interrupted: {len(kept)} of {len(splits)} folds are used, with "
        f"{len(kept[0].outcomes)} of {len(task.candidates)} budgets.",
        ConvergenceWarning,
    )
    return kept


def _in_order(
    task: FoldTask, X: Any, y: Any, splits: Sequence[Split], n_jobs: int | None
) -> Iterator[Fold]:
    """Folds in order, each as soon as it is finished."""
    numbered = [(train, test, number) for number, (train, test) in enumerate(splits)]
    # Without joblib, Ctrl-C reaches the fold itself, which keeps the budgets that are done.
    if effective_n_jobs(n_jobs) == 1:
        yield from (run_fold(task, X, y, *split) for split in numbered)
        return
    parallel = Parallel(n_jobs=n_jobs, **_AS_THEY_COME)
    yield from parallel(delayed(run_fold)(task, X, y, *split) for split in numbered)
