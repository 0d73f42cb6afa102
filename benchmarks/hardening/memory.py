"""A thousand fits of every estimator, whose memory must not grow.

A case is one estimator. After fits that fill caches, Python must hold as many blocks of memory at
the end as before, and the process as many bytes, but for what is left to chance.
"""

from __future__ import annotations

import gc
import os
import resource
import sys
import warnings
from pathlib import Path

from benchmarks.hardening.campaign import Campaign, Outcome
from benchmarks.hardening.small_fits import FITS, answers

# Take ten times as long as most, and come last.
_SLOW = ("SparseSVC", "MinimalKernelSVC", "SparseKernelRidge", "BudgetSearchCV")
NAMES = sorted(FITS, key=lambda name: (name in _SLOW) + 2 * ("auto" in name))
NAMES.insert(0, NAMES.pop(NAMES.index("KernelSubspace")))  # the quickest
N_FITS = 1000
_N_WARM = 200
# More steps of a fit only repeat what these do.
_N_STEPS = 2
# Blocks that a fit may leave with Python. One object that leaks is one or more; free lists and
# caches that still fill are some hundred in all.
_BLOCKS = 0.9
# Bytes that all fits together may add to the process. Fragments of its heap come and go, by some
# hundred kilobytes; a leak of one array of 90 x 90 numbers a fit would be 65 MB.
_RESIDENT = 4 * 2**20


def resident_bytes() -> int:
    """Return what the process has in memory."""
    if os.path.exists("/proc/self/statm"):
        pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
        return pages * resource.getpagesize()
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss  # of macOS, in bytes


def _fits(name: str, n: int) -> None:
    fit = FITS[name]
    for _ in range(n):
        estimator = fit.make()
        if "max_iter" in estimator.get_params():
            estimator.set_params(max_iter=_N_STEPS)
        answers(estimator.fit(*fit.rows(0)), fit)
    gc.collect()


def group_of(number: int) -> str:
    """Return the estimator of a case."""
    return NAMES[number % len(NAMES)]


def case(number: int) -> Outcome:
    """Fit one estimator many times."""
    name = group_of(number)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        _fits(name, _N_WARM)
        resident, blocks = resident_bytes(), sys.getallocatedblocks()
        _fits(name, N_FITS)
        resident = resident_bytes() - resident
        left = (sys.getallocatedblocks() - blocks) / N_FITS
    text = f"{resident / 2**20:.1f} MB of the process, {left:.2f} blocks a fit of Python's"
    if resident > _RESIDENT or left > _BLOCKS:
        return Outcome(name, "memory grows", True, text)
    return Outcome(name, "memory stays", detail=text)


CAMPAIGN = Campaign(
    f"{N_FITS} fits of each estimator in one process", case, group_of, n=len(NAMES), seconds=7200.0
)
