"""Independent small problems side by side, without oversubscribing the cores."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager, nullcontext
from functools import cache
from typing import TypeVar

from threadpoolctl import ThreadpoolController

# Multiplications in a matrix product above which a second thread pays.
_WORTH_A_THREAD = 1_000_000_000

T = TypeVar("T")
R = TypeVar("R")


@cache
def blas_threads() -> ThreadpoolController:
    """The BLAS libraries of this process; looking for them takes milliseconds, so once."""
    return ThreadpoolController()


def one_thread_if_small(n_products: int) -> AbstractContextManager[object]:
    """BLAS on one thread for loops over products of this size, if waking another costs more."""
    if n_products > _WORTH_A_THREAD:
        return nullcontext()
    limit: AbstractContextManager[object] = blas_threads().limit(limits=1, user_api="blas")
    return limit


@contextmanager
def one_thread_but() -> Iterator[Callable[[], AbstractContextManager[object]]]:
    """BLAS on one thread but for what runs in contexts that it gives, with all threads.

    NumPy and SciPy bring a BLAS each, whose threads wait awake for more work: a loop that goes to
    and fro between the two on several threads takes many times as long as on one.
    """
    with blas_threads().limit(limits=1, user_api="blas") as limited:
        before = limited.get_original_num_threads()["blas"] or 1

        def all_threads() -> AbstractContextManager[object]:
            if before == 1:
                return nullcontext()
            limit: AbstractContextManager[object]
            limit = blas_threads().limit(limits=before, user_api="blas")
            return limit

        yield all_threads


def map_in_threads(
    function: Callable[[T], R],
    items: Sequence[T],
    n_jobs: int,
    on_interrupt: Callable[[], None] | None = None,
) -> list[R]:
    """[function(item) for item in items] on n_jobs threads (-1: all cores), BLAS on one each.

    Ctrl-C reaches the thread that waits: ``on_interrupt`` may then tell the others to make haste,
    before they are waited for.
    """
    n_threads = min(len(items), (os.cpu_count() or 1) if n_jobs == -1 else n_jobs)
    if n_threads <= 1:
        return [function(item) for item in items]
    with (
        blas_threads().limit(limits=1, user_api="blas"),
        ThreadPoolExecutor(n_threads) as executor,
    ):
        try:
            return list(executor.map(function, items))
        except KeyboardInterrupt:
            if on_interrupt is not None:
                on_interrupt()
            raise
