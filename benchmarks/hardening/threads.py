"""Fits and predictions side by side: in eight threads, by joblib, and in forked processes.

Each must find what it finds alone, bit for bit if BLAS has one thread. Half of the cases give it
two, which a limit must not be left on; whether BLAS uses them depends on who else is at work, and
with the number of its threads its rounding differs. Afterwards BLAS, OpenMP, warning filters and
NumPy's error handling are as they were before.
"""

from __future__ import annotations

import os
import pickle
import sys
import warnings
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache, partial
from threading import Barrier
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from threadpoolctl import threadpool_limits

from benchmarks.hardening.campaign import Campaign, Outcome
from benchmarks.hardening.small_fits import FITS, answers, settings

N_THREADS = 8
_SEED = 25
# Seconds between switches of threads: Python's own, and such that they switch within a few lines.
_SWITCH_INTERVALS = (0.005, 0.0005, 1e-5)
# What a model says, and which settings its fit has left changed.
_Found = tuple[Any, list[str]]


@cache
def alone(name: str) -> Any:
    """Return what a model says that was fitted with nothing beside it."""
    FITS[name].fitted()  # the first in a process loads and compiles
    return answers(FITS[name].fitted(), FITS[name])


def fit_and_answer(name: str) -> Any:
    """Fit, and return what the model says, with warnings as the process has them."""
    fit = FITS[name]
    return answers(fit.make().fit(*fit.rows(0)), fit)


def in_threads(names: Sequence[str]) -> list[Any]:
    """Fit all at once, each in its own thread."""
    together = Barrier(len(names))

    def task(name: str) -> Any:
        together.wait()
        return fit_and_answer(name)

    with ThreadPoolExecutor(len(names)) as pool:
        return list(pool.map(task, names))


def predictions(names: Sequence[str]) -> list[Any]:
    """Let all threads ask one model, many times."""
    fit = FITS[names[0]]
    model = fit.fitted()
    together = Barrier(len(names))

    def task(_: str) -> Any:
        together.wait()
        found = [answers(model, fit) for _ in range(200)]
        return next((other for other in found if not np.array_equal(other, found[0])), found[0])

    with ThreadPoolExecutor(len(names)) as pool:
        return list(pool.map(task, names))


def by_joblib_threads(names: Sequence[str]) -> list[Any]:
    """Fit in joblib's threads."""
    return list(Parallel(n_jobs=4, backend="threading")(delayed(fit_and_answer)(n) for n in names))


def _in_process(name: str) -> _Found:
    warnings.simplefilter("ignore")
    before = settings()
    found = fit_and_answer(name)
    after = settings()
    return found, [key for key in before if before[key] != after[key]]


def by_joblib_processes(names: Sequence[str]) -> list[Any]:
    """Fit in joblib's processes."""
    for name in names:  # what loads a library for the first time changes what there is to limit
        alone(name)
    tasks = (delayed(_in_process)(name) for name in names[:4])
    # twice in each process: the first time may load libraries
    list(Parallel(n_jobs=2, backend="loky")(delayed(_in_process)(name) for name in names[:4]))
    found = list(Parallel(n_jobs=2, backend="loky")(tasks))
    changed = sorted({key for _, keys in found for key in keys})
    assert not changed, f"left changed in a process: {', '.join(changed)}"
    return [said for said, _ in found]


def after_forks(names: Sequence[str]) -> list[Any]:
    """Fit here, then in a process that is forked."""
    found = []
    for name in names[:3]:
        fit_and_answer(name)
        reading, writing = os.pipe()
        pid = os.fork()
        if pid == 0:
            try:
                os.write(writing, pickle.dumps(fit_and_answer(name)))
            finally:
                os._exit(0)
        os.close(writing)
        with os.fdopen(reading, "rb") as answer:
            found.append(pickle.loads(answer.read()))
        os.waitpid(pid, 0)
    return found


WAYS: dict[str, Callable[[Sequence[str]], list[Any]]] = {
    "fits in 8 threads": in_threads,
    "predictions in 8 threads": predictions,
    "joblib, threading": by_joblib_threads,
    "joblib, loky": by_joblib_processes,
    "fork after a fit": after_forks,
}


def group_of(number: int) -> str:
    """Return the way of a case."""
    return list(WAYS)[number % len(WAYS)]


def case(number: int) -> Outcome:
    """Fit eight random estimators in one of the ways."""
    way, rng = group_of(number), np.random.default_rng([_SEED, number])
    names = [str(name) for name in rng.choice(list(FITS), N_THREADS)]
    if way == "predictions in 8 threads":
        names = names[:1] * N_THREADS
    expected = [alone(name) for name in names]
    usual_interval = sys.getswitchinterval()
    n_blas_threads = 1 + (number // len(WAYS)) % 2
    equal = np.array_equal if n_blas_threads == 1 else partial(np.allclose, rtol=1e-6, atol=1e-9)
    with warnings.catch_warnings(), threadpool_limits(n_blas_threads):
        warnings.simplefilter("ignore")
        before = settings()
        sys.setswitchinterval(float(rng.choice(_SWITCH_INTERVALS)))
        try:
            found = WAYS[way](names)
        finally:
            sys.setswitchinterval(usual_interval)
        after = settings()
    other = [
        name
        for name, one, wanted in zip(names, found, expected, strict=False)
        if not equal(one, wanted)
    ]
    changed = [key for key in before if before[key] != after[key]]
    problems = [f"{name} answers otherwise than alone" for name in other]
    problems += [f"left changed: {key}, {before[key]} to {after[key]}" for key in changed]
    if problems:
        return Outcome(way, "a defect", True, f"{'; '.join(problems)} (of {', '.join(names)})")
    return Outcome(way, "as alone")


CAMPAIGN = Campaign(
    "fits and predictions side by side, in threads and processes",
    case,
    group_of,
    n=200 * len(WAYS),
    seconds=900.0,
)
