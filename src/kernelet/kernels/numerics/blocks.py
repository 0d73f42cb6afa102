"""Row blocks, processed by a few threads.

NumPy's BLAS has its own threads, but exp and similar functions have none. So the rows are split
into blocks that fit the cache, each thread takes the next block, and BLAS is limited to one thread
meanwhile. The split does not depend on the number of threads, so neither does the result.
"""

from __future__ import annotations

import functools
import os
import threading
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any

import numpy as np

from kernelet.kernels.numerics.arrays import FloatArray

# Below this many elements of scratch and output (16 MB in double precision, some milliseconds of
# work), starting threads costs more than they save.
THREADED_ELEMENTS = 2_000_000


class Workspace:
    """Scratch arrays that are allocated for the first block and used for all others.

    Each thread has its own.
    """

    __slots__ = ("_arrays",)

    def __init__(self) -> None:
        self._arrays: dict[tuple[int, str], FloatArray] = {}

    def take(
        self, owner: object, name: str, rows: int, columns: int, dtype: np.dtype[Any]
    ) -> FloatArray:
        """An array of shape (rows, columns) with arbitrary content, for `owner` alone."""
        key = (id(owner), name)
        array = self._arrays.get(key)
        if (
            array is None
            or array.shape[0] < rows
            or array.shape[1] != columns
            or array.dtype != dtype
        ):
            array = np.empty((rows, columns), dtype=dtype)
            self._arrays[key] = array
        return array if array.shape[0] == rows else array[:rows]


Task = Callable[[int, int, Workspace], None]


def run_blocks(
    task: Task, n_rows: int, length: int, row_elements: int, n_threads: int | None = None
) -> None:
    """Call task(start, stop, workspace) for every block of `length` rows.

    Parameters
    ----------
    task : callable
        Must only write to its own rows.
    n_rows, length : int
        The rows start, ..., min(start + length, n_rows) for start = 0, length, 2 length, ...
    row_elements : int
        Elements that one row touches, to judge whether threads are worthwhile.
    n_threads : int or None, default=None
        None means one per core if there is enough work and BLAS can be limited to one thread,
        else one.
    """
    starts = range(0, n_rows, length)
    if n_threads is None:
        large = len(starts) > 1 and n_rows * row_elements > THREADED_ELEMENTS
        # If the products in every thread start further threads, all are slower than one thread, and
        # without threadpoolctl nothing can stop BLAS from starting them.
        n_threads = available_threads() if large and _blas_controller() is not None else 1
    n_threads = min(n_threads, len(starts))
    if n_threads <= 1:
        workspace = Workspace()
        for start in starts:
            task(start, min(start + length, n_rows), workspace)
        return
    queue = deque(starts)
    handling = np.geterr()  # of the caller: a new thread has NumPy's own

    def work() -> None:
        workspace = Workspace()
        with np.errstate(**handling):
            while True:
                try:
                    start = queue.popleft()
                except IndexError:
                    return
                task(start, min(start + length, n_rows), workspace)

    with one_blas_thread(), ThreadPoolExecutor(n_threads) as pool:
        for future in [pool.submit(work) for _ in range(n_threads)]:
            future.result()


def available_threads() -> int:
    """Cores that this process may use, or OMP_NUM_THREADS if that is less."""
    if hasattr(os, "sched_getaffinity"):
        cores = len(os.sched_getaffinity(0))
    else:
        cores = os.cpu_count() or 1
    limit = os.environ.get("OMP_NUM_THREADS", "")
    return min(cores, int(limit)) if limit.isdecimal() and int(limit) > 0 else cores


@functools.cache
def _blas_controller() -> Any:
    """threadpoolctl's view of the loaded BLAS, or None if it is not installed.

    The search takes milliseconds, so it is done once; call `find_blas_again` after loading another.
    """
    try:
        from threadpoolctl import ThreadpoolController
    except ImportError:
        return None
    return ThreadpoolController()


def find_blas_again() -> None:
    """Forget which BLAS was loaded: SciPy loads its own in addition to NumPy's."""
    _blas_controller.cache_clear()


class _SharedLimit:
    """The limit that this package has set on BLAS, and the number of callers that rely on it."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.users = 0
        self.limit: Any = None

    def lift(self) -> None:
        if self.limit is not None:
            self.limit.restore_original_limits()
            self.limit = None


_shared = _SharedLimit()


def _begin_anew() -> None:
    """Reset the limit in a process that was forked while other threads held it."""
    global _shared
    left, _shared = _shared, _SharedLimit()
    left.lock = threading.Lock()  # for the caller that forked, and has yet to leave
    left.lift()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_begin_anew)


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Limit BLAS to one thread; without effect if threadpoolctl is not installed.

    The limit holds for the whole process. Callers that overlap in time share it: the first sets it
    and the last lifts it, so that none mistakes another's limit for the original setting.
    """
    shared = _shared
    with shared.lock:
        controller = _blas_controller()
        if shared.users == 0 and controller is not None:
            shared.limit = controller.limit(limits=1, user_api="blas")
        shared.users += 1
    try:
        yield
    finally:
        with shared.lock:
            shared.users -= 1
            if shared.users == 0:
                shared.lift()


@contextmanager
def all_blas_threads() -> Iterator[None]:
    """Inside `one_blas_thread`, give BLAS its threads back, if no other caller has the limit."""
    shared = _shared
    with shared.lock:
        lifts = shared.users == 1 and shared.limit is not None
        if lifts:
            shared.limit.restore_original_limits()
    try:
        yield
    finally:
        if lifts:
            with shared.lock:
                _blas_controller().limit(limits=1, user_api="blas")
