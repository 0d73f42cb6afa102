"""Tasks in this process or in several; a worker ends when its parent is killed."""

from __future__ import annotations

import multiprocessing
import os
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor, as_completed
from multiprocessing.connection import wait
from typing import TypeVar

from threadpoolctl import threadpool_limits

Task = TypeVar("Task")
Result = TypeVar("Result")


def outcomes(
    work: Callable[[Task], Result], tasks: Sequence[Task], n_jobs: int
) -> Iterator[tuple[Task, Result | Exception]]:
    """Yield every task with its result, or with the error it raised, as they finish."""
    if n_jobs == 1:
        for task in tasks:
            yield task, _attempt(work, task)
        return
    # spawn: forked children share the state of BLAS and OpenMP threads
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(n_jobs, mp_context=context, initializer=end_with_parent) as pool:
        futures: dict[Future[Result | Exception], Task] = {
            pool.submit(_attempt, work, task): task for task in tasks
        }
        for future in as_completed(futures):
            yield futures[future], future.result()


def _attempt(work: Callable[[Task], Result], task: Task) -> Result | Exception:
    """Run one task on one thread: times are then comparable, and jobs do not fight for cores."""
    with threadpool_limits(limits=1):
        try:
            return work(task)
        except Exception as error:  # one bad row must not end a run of hours; it is reported
            return error


def end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    assert parent is not None

    def watch() -> None:
        wait([parent.sentinel])
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()
