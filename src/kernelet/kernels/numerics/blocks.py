"""Row blocks, processed by a few threads.

NumPy's BLAS has its own threads, but exp and similar functions have none. So the rows are split
into blocks that fit the cache, each thread takes the next block, and BLAS is limited to one thread
meanwhile. The split does not depend on the number of threads, so neither does the result.
"""

from __future__ import annotations

import functools
import os
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager
from typing import Any

import numpy as np

from kernelet.kernels.numerics.arrays import FloatArray
from kernelet.kernels.numerics.shared_setting import SharedSetting
from kernelet.kernels.numerics.starting_threads import ctrl_c_waits

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
        n_threads = available_threads() if large and _thread_controller() is not None else 1
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
        with ctrl_c_waits():
            futures = [pool.submit(work) for _ in range(n_threads)]
        for future in futures:
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
def _thread_controller() -> Any:
    """threadpoolctl's view of the loaded libraries, or None if it is not installed.

    The search takes milliseconds, so it is done once; call `find_libraries_again` after loading
    another.
    """
    try:
        from threadpoolctl import ThreadpoolController
    except ImportError:
        return None
    return ThreadpoolController()


def find_libraries_again() -> None:
    """Forget which were loaded: SciPy has its own BLAS, and scikit-learn brings OpenMP."""
    _thread_controller.cache_clear()


def _threads_of(user_api: str) -> list[tuple[Any, int]]:
    """Each loaded library of a kind, and how many threads it has."""
    controller = _thread_controller()
    if controller is None:
        return []
    libraries = controller.select(user_api=user_api).lib_controllers
    return [(library, library.num_threads) for library in libraries]


class _OneBlasThread(SharedSetting):
    """The threads of BLAS, limited to one."""

    def __init__(self) -> None:
        super().__init__()
        self.original: list[tuple[Any, int]] = []  # each library, and the threads that it had

    def change(self) -> None:
        if not self.original:
            self.original = _threads_of("blas")
        self._limit()

    def _limit(self) -> None:
        for library, _ in self.original:
            library.set_num_threads(1)

    def restore(self) -> None:
        self._lift()
        self.original = []

    def _lift(self) -> None:
        for library, n_threads in self.original:
            library.set_num_threads(n_threads)

    @contextmanager
    def lifted(self) -> Iterator[None]:
        """Inside `changed`, lift the limit, if no other caller relies on it."""
        with self._lock:
            lifts = sum(self.users.values()) == 1
            if lifts:
                self._lift()
        try:
            yield
        finally:
            if lifts:
                with self._lock:
                    self._limit()


_one_blas_thread = _OneBlasThread()


def one_blas_thread() -> AbstractContextManager[None]:
    """Limit BLAS to one thread; without effect if threadpoolctl is not installed.

    The limit holds for the whole process, as long as any caller relies on it.
    """
    return _one_blas_thread.changed()


@contextmanager
def one_openmp_thread() -> Iterator[None]:
    """Limit OpenMP to one thread where this thread calls it: its limits are of the caller only."""
    with _openmp_as_before():
        for library, _ in _threads_of("openmp"):
            library.set_num_threads(1)
        yield


def all_blas_threads() -> AbstractContextManager[None]:
    """Inside `one_blas_thread`, give BLAS its threads back, if no other caller has the limit."""
    return _one_blas_thread.lifted()


@contextmanager
def threads_as_before() -> Iterator[None]:
    """Lift limits at the end that Ctrl-C kept from being lifted, in this thread."""
    with _one_blas_thread.as_before(), _openmp_as_before():
        yield


@contextmanager
def _openmp_as_before() -> Iterator[None]:
    before = _threads_of("openmp")
    try:
        yield
    finally:
        for library, n_threads in before:
            library.set_num_threads(n_threads)
