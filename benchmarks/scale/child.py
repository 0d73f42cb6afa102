"""One fit in a process of its own: `python -m benchmarks.scale.child JSON` prints its figures.

On "threads" the rows are a memory-mapped file and this process has two threads; on "dask" two
worker processes of one thread each have read a half of that file.
"""

from __future__ import annotations

import itertools
import json
import os
import sys
import threading
import time
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

COLUMNS = 20
WORKERS = 2
VECTORS = 20
STEPS = 5


def anonymous_megabytes(pid: int) -> float:
    """Memory of a process that is not a file's."""
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("RssAnon"):
            return int(line.split()[1]) / 1024.0
    return 0.0


@contextmanager
def peaks(pids: list[int]) -> Iterator[dict[int, float]]:
    """The most memory that processes take meanwhile, in megabytes."""
    most = dict.fromkeys(pids, 0.0)
    ended = threading.Event()

    def watch() -> None:
        while not ended.wait(0.02):
            for pid in pids:
                most[pid] = max(most[pid], anonymous_megabytes(pid))

    watching = threading.Thread(target=watch, daemon=True)
    watching.start()
    try:
        yield most
    finally:
        ended.set()
        watching.join()


def loopback_bytes() -> int:
    """Bytes that went through the machine's own network since it was started."""
    for line in Path("/proc/net/dev").read_text().splitlines():
        name, _, numbers = line.partition(":")
        if name.strip() == "lo":
            return int(numbers.split()[0])
    raise RuntimeError("this machine does not tell what its network moves")


def read_rows(path: str, start: int, stop: int) -> np.ndarray:
    """Some rows of the file, in memory."""
    return np.array(np.load(path, mmap_mode="r")[start:stop])


def on_workers(path: str, n_pieces: int) -> tuple[Any, Any]:
    """Rows and labels of a file as arrays of Dask."""
    import dask.array as da
    from dask.delayed import delayed

    mapped = np.load(path, mmap_mode="r")
    bounds = np.linspace(0, mapped.shape[0], n_pieces + 1).astype(int).tolist()
    parts = [
        da.from_delayed(
            delayed(read_rows)(path, start, stop), (stop - start, COLUMNS + 1), mapped.dtype
        )
        for start, stop in itertools.pairwise(bounds)
    ]
    table = da.concatenate(parts)
    return table[:, :COLUMNS], table[:, COLUMNS]


class Clock:
    """How long calls of a method take, by how many passes over the rows."""

    def __init__(self) -> None:
        self.seconds: list[float] = []
        self.passes: list[int] = []
        self.bytes: list[int] = []

    def around(self, cls: type, name: str, count: Any) -> None:
        original = getattr(cls, name)

        def timed(obj: Any, *arguments: Any, **options: Any) -> Any:
            before, moved, start = count(obj), loopback_bytes(), time.perf_counter()
            result = original(obj, *arguments, **options)
            self.seconds.append(time.perf_counter() - start)
            self.bytes.append(loopback_bytes() - moved)
            self.passes.append(count(obj) - before)
            return result

        setattr(cls, name, timed)


def measured(method: str, X: Any, y: Any) -> dict[str, float]:
    """Fit, and tell what one evaluation took: the mean over those after the first."""
    from kernelet import MaxMarginDiscriminantAnalysis, SparseSVC
    from kernelet.learners.direct.search.out_of_core_objective import BlockObjective
    from kernelet.rows import LabelledBlocks

    clock, start = Clock(), time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if method == "SparseSVC":
            clock.around(BlockObjective, "__call__", lambda objective: objective.n_passes)
            # the hinge with a kernel that is given: every step is a pass over all rows
            SparseSVC(
                VECTORS, C=1.0, loss="hinge", learn_kernel=False, max_iter=2 * STEPS, random_state=0
            ).fit(X, y)
        else:
            # a pass over all rows is what there is to count
            clock.around(LabelledBlocks, "total", lambda rows: 0)
            MaxMarginDiscriminantAnalysis(2, random_state=0).fit(X, y)
            clock.passes = [1] * len(clock.passes)
    later = slice(1, None) if len(clock.seconds) > 1 else slice(None)
    return {
        "fit_seconds": time.perf_counter() - start,
        "evaluations": len(clock.seconds),
        "passes": float(np.mean(clock.passes[later])),
        "seconds": float(np.mean(clock.seconds[later])),
        "bytes": float(np.mean(clock.bytes[later])),
        "megabytes": float(np.mean(clock.bytes[later])) / 1e6,
    }


def main(asked: dict[str, Any]) -> dict[str, Any]:
    import kernelet.learners  # what every process takes is not what rows take

    path, n = asked["path"], asked["rows"]
    driver, share = os.getpid(), n * (COLUMNS + 1) * 8 / 2**20
    before = anonymous_megabytes(driver)
    if asked["where"] == "threads":
        mapped = np.load(path, mmap_mode="r")
        with peaks([driver]) as most:
            found = measured(asked["method"], mapped[:, :COLUMNS], mapped[:, COLUMNS])
        memory = {"driver_megabytes": most[driver] - before, "worker_megabytes": 0.0}
    else:
        import dask
        from distributed import Client, LocalCluster

        # else Dask moves rows to a worker that happens to be idle
        dask.config.set({"distributed.scheduler.work-stealing": False})
        with (
            LocalCluster(WORKERS, threads_per_worker=1, dashboard_address=None) as cluster,
            Client(cluster) as client,
        ):
            client.run(lambda: __import__("kernelet.learners"))
            workers = list(client.run(os.getpid).values())
            idle = max(anonymous_megabytes(pid) for pid in workers)
            before = anonymous_megabytes(driver)
            X, y = on_workers(path, asked["pieces"])
            with peaks([driver, *workers]) as most:
                found = measured(asked["method"], X, y)
        largest = max(most[pid] for pid in workers)
        memory = {
            "driver_megabytes": most[driver] - before,
            "worker_megabytes": largest - idle - share / WORKERS,
        }
    del kernelet
    return {**asked, **found, **memory, "share_megabytes": share / WORKERS}


if __name__ == "__main__":
    print(json.dumps(main(json.loads(sys.argv[1]))))
