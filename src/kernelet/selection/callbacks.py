"""Report the progress of a search to scikit-learn's callbacks."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from kernelet.learners.base.progress import HAS_CALLBACKS

Report = Callable[[str], bool]


@contextmanager
def reporting(search: Any, n_tasks: int, **rows: Any) -> Iterator[Report]:
    """A function to call with "fold" or "refit" after each fold and after the refit.

    It drives the callbacks registered with ``set_callbacks`` (scikit-learn 1.9 and newer), one
    subtask each, and returns whether one of them asks to stop.

    Parameters
    ----------
    search : estimator
    n_tasks : int
        Folds and refit together.
    **rows : dict
        X and y, for the callbacks.
    """
    if not HAS_CALLBACKS:
        yield lambda name: False
        return
    context = search._init_callback_context(max_subtasks=n_tasks)
    context.call_on_fit_task_begin(estimator=search, **rows)

    def report(name: str) -> bool:
        task = context.subcontext(task_name=name)
        task.call_on_fit_task_begin(estimator=search, **rows)
        wants_end: bool = task.call_on_fit_task_end(estimator=search, **rows)
        return wants_end

    try:
        yield report
    finally:
        context.call_on_fit_task_end(estimator=search, **rows)
