"""Dask workers killed at random moments of the fits of every estimator that learns there.

A fit must find what it finds undisturbed, bit for bit, or end in a `ClusterError` that says what to
do. The same holds where the scheduler restarts all workers, or is gone.
"""

from __future__ import annotations

import contextlib
import os
import signal
import threading
import time
import warnings
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

import kernelet as kt
from benchmarks.hardening.campaign import Campaign, Outcome
from kernelet.rows import Chunks, ClusterError

CASES_PER_GROUP = 50
_SEED = 27
_N_ROWS, _N_PIECES = 300, 3
# Seconds without a worker after which a fit gives up. Workers that were killed are there again in
# less, unless the scheduler is gone.
_PATIENCE = 20.0
_PATIENCE_WITHOUT_SCHEDULER = 3.0
# Seconds in which a worker that was killed is usually there again, several times over.
_STARTED_WITHIN = 30.0
# Times that workers are asked for their numbers, a second apart.
_ATTEMPTS = 10

ESTIMATORS: dict[str, Callable[[], Any]] = {
    "SparseSVC": lambda: kt.SparseSVC(5, C=1.0, max_iter=6, random_state=0),
    "SparseSVC hinge": lambda: kt.SparseSVC(
        5, C=10.0, kernel="poly", degree=2, coef0=1.0, loss="hinge", max_iter=3, random_state=0
    ),
    "ReducedSVC": lambda: kt.ReducedSVC(10, random_state=0),
    "KernelFisherClassifier": lambda: kt.KernelFisherClassifier(5, max_iter=4, random_state=0),
    "SubspaceLPSVC": lambda: kt.SubspaceLPSVC(n_components=10, random_state=0),
    "CoreVectorSVC": lambda: kt.CoreVectorSVC(max_iter=30, random_state=0),
    "MaxMarginDiscriminantAnalysis": lambda: kt.MaxMarginDiscriminantAnalysis(
        n_components=2, max_iter=20, random_state=0
    ),
    "KernelSubspace": lambda: kt.KernelSubspace(n_components=5, random_state=0),
}
RESTARTS, GONE = "all workers are restarted", "the scheduler is gone"
GROUPS = [*ESTIMATORS, RESTARTS, GONE]


def group_of(number: int) -> str:
    """Return the estimator of a case, or what happens to the scheduler."""
    return GROUPS[number % len(GROUPS)]


@cache
def rows() -> tuple[np.ndarray, np.ndarray]:
    """Return overlapping rows of two classes."""
    rng = np.random.default_rng(0)
    y = np.arange(_N_ROWS) % 2
    return rng.normal(size=(_N_ROWS, 4)) + y[:, None], y


def started() -> Any:
    """Return a cluster of two workers that are started again when they die."""
    import distributed  # only who runs this campaign needs it

    return distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, dashboard_address=":0", silence_logs=50
    )


_shared: list[Any] = []


def client() -> Any:
    """Return the client of a cluster that all cases share, with two workers."""
    if _shared:
        try:
            _shared[0].wait_for_workers(2, timeout=_STARTED_WITHIN)
        except TimeoutError:  # what starts workers again has given up
            connected = _shared.pop()
            connected.close()
            connected.cluster.close()
    if not _shared:
        _shared.append(started().get_client())
        _shared[0].wait_for_workers(2, timeout=10 * _STARTED_WITHIN)
    return _shared[0]


def _pids(connected: Any) -> list[int]:
    """The processes of the workers; one that has just been replaced may not answer at first."""
    for _ in range(_ATTEMPTS - 1):
        with contextlib.suppress(OSError, KeyError):  # a worker is gone before it answers
            return sorted(connected.run(os.getpid).values())
        time.sleep(1.0)
    return sorted(connected.run(os.getpid).values())


def distant() -> tuple[Any, Any]:
    """Return the rows as Dask arrays."""
    import dask.array

    X, y = rows()
    size = _N_ROWS // _N_PIECES
    return dask.array.from_array(X, chunks=(size, -1)), dask.array.from_array(y, chunks=size)


def _fit(name: str, X: Any, y: Any) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return ESTIMATORS[name]().fit(X, y)


@cache
def undisturbed(name: str) -> tuple[Any, float]:
    """Return the machine from the same pieces without a cluster, and the seconds of a fit on it."""
    X, y = rows()
    pieces = (Chunks.of(np.array_split(X, _N_PIECES)), Chunks.of(np.array_split(y, _N_PIECES)))
    machine = _fit(name, *pieces).machine_
    _fit(name, *distant())
    begin = time.perf_counter()
    found = _fit(name, *distant()).machine_
    assert found == machine
    return machine, time.perf_counter() - begin


class Disturbance(threading.Thread):
    """Does something some seconds after its start, unless the fit is over by then."""

    def __init__(self, seconds: float, act: Callable[[], Any]) -> None:
        super().__init__(daemon=True)
        self._seconds, self._act = seconds, act
        self.over, self.acted = threading.Event(), False

    def run(self) -> None:
        """Wait and act."""
        if not self.over.wait(self._seconds):
            self.acted = True
            self._act()


def disturbed(name: str, seconds: float, act: Callable[[], Any]) -> tuple[str, str]:
    """Return what came of a fit, and of a defect what it is."""
    machine = undisturbed(name)[0]
    disturbance = Disturbance(seconds, act)
    disturbance.start()
    detail = ""
    try:
        found = _fit(name, *distant()).machine_
        result = "as undisturbed" if found == machine else "another model"
    except ClusterError as error:
        result = "our error"
        if "Start the cluster again" not in str(error):
            result, detail = "an error without advice", str(error)
    except Exception as error:
        result, detail = "another error", f"{type(error).__name__}: {error}"
    disturbance.over.set()
    disturbance.join(60)
    return (result if disturbance.acted else "not disturbed: the fit was over"), detail


def case(number: int) -> Outcome:
    """Disturb one fit."""
    group, rng = group_of(number), np.random.default_rng([_SEED, number])
    name = group if group in ESTIMATORS else str(rng.choice(list(ESTIMATORS)))
    connected = client()
    seconds = float(rng.uniform(0.0, undisturbed(name)[1]))
    from kernelet.rows import dask_pieces

    dask_pieces.PATIENCE = _PATIENCE
    if group == GONE:
        dask_pieces.PATIENCE = _PATIENCE_WITHOUT_SCHEDULER
        with started() as cluster, cluster.get_client() as own, own.as_current():
            own.wait_for_workers(2, timeout=10 * _STARTED_WITHIN)
            result, detail = disturbed(name, seconds, cluster.close)
    elif group == RESTARTS:
        result, detail = disturbed(name, seconds, connected.restart)
    else:
        pids = _pids(connected)
        victim = pids[int(rng.integers(len(pids)))]
        result, detail = disturbed(name, seconds, lambda: os.kill(victim, signal.SIGKILL))
    good = ("as undisturbed", "our error", "not disturbed: the fit was over")
    if result in good and not detail:
        return Outcome(group, result)
    return Outcome(group, result, True, f"{name}, after {seconds:.2f} s: {detail}")


CAMPAIGN = Campaign(
    "Dask workers killed at random moments",
    case,
    group_of,
    n=CASES_PER_GROUP * len(GROUPS),
    seconds=900.0,
)
