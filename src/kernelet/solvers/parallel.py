"""Independent small problems side by side, without oversubscribing the cores."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import CancelledError, ThreadPoolExecutor, wait
from contextlib import AbstractContextManager, contextmanager, nullcontext
from importlib import import_module
from threading import Event
from typing import TypeVar

from kernelet.kernels.numerics.blocks import all_blas_threads, find_libraries_again, one_blas_thread
from kernelet.kernels.numerics.starting_threads import ctrl_c_waits

# SciPy's BLAS is held to one thread as well as NumPy's.
import_module("scipy.linalg")
find_libraries_again()

# Multiplications in a loop of matrix products above which a second thread pays: about a tenth of a
# second on one core. Threads of BLAS wait awake, and below that the waiting costs more than the
# help.
_WORTH_A_THREAD = 1_000_000_000
# Seconds. Ctrl-C that comes just before a thread begins to wait is noticed when the wait ends; a
# tenth of a second feels immediate.
_NOTICED_WITHIN = 0.1

T = TypeVar("T")
R = TypeVar("R")


def one_thread_if_small(n_products: int) -> AbstractContextManager[None]:
    """BLAS on one thread for loops over products of this size, if waking another costs more."""
    return nullcontext() if n_products > _WORTH_A_THREAD else one_blas_thread()


@contextmanager
def one_thread_but() -> Iterator[Callable[[], AbstractContextManager[None]]]:
    """BLAS on one thread but for what runs in contexts that it gives, with all threads.

    NumPy and SciPy bring a BLAS each, whose threads wait awake for more work: a loop that goes to
    and fro between the two on several threads takes many times as long as on one.
    """
    with one_blas_thread():
        yield all_blas_threads


def map_in_threads(
    function: Callable[[T], R],
    items: Sequence[T],
    n_jobs: int,
    on_interrupt: Callable[[], None] | None = None,
) -> list[R]:
    """[function(item) for item in items] on n_jobs threads (-1: all cores), BLAS on one each.

    Ctrl-C reaches the thread that waits; ``on_interrupt`` can then make the others finish early,
    before it waits for them.
    """
    n_threads = min(len(items), (os.cpu_count() or 1) if n_jobs == -1 else n_jobs)
    if n_threads <= 1:
        return [function(item) for item in items]
    # Nothing begins before all threads are there: an error while one is being started, as where the
    # system has no more, leaves it out of the executor's list, which would not wait for it. Then
    # nothing begins at all.
    all_there, is_given_up = Event(), Event()

    def begin(item: T) -> R:
        all_there.wait()
        if is_given_up.is_set():
            raise CancelledError
        return function(item)

    with one_blas_thread(), ThreadPoolExecutor(n_threads) as executor:
        try:
            with ctrl_c_waits():
                futures = [executor.submit(begin, item) for item in items]
            all_there.set()
            results = []
            for future in futures:
                while wait([future], _NOTICED_WITHIN).not_done:
                    pass
                results.append(future.result())
            return results
        except BaseException as error:
            if not all_there.is_set():
                is_given_up.set()
            if isinstance(error, KeyboardInterrupt) and on_interrupt is not None:
                on_interrupt()
            executor.shutdown(wait=False, cancel_futures=True)
            raise
        finally:
            all_there.set()
