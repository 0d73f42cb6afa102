"""A process that is forked while another thread fits can fit by itself."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

# Processes are started.
pytestmark = pytest.mark.slow

# What is imported or compiled at first use is there before anything is forked: that Python cannot
# import in a child what another thread was importing in its parent is not ours to mend.
START = """
import faulthandler, os, sys, threading, time, warnings
import numpy as np
from kernelet.kernels.numerics import blocks
from kernelet.learners import SparseSVC
from sklearn.cluster import KMeans
from threadpoolctl import threadpool_info

X = np.random.default_rng(0).normal(size=(2000, 4))
y = (X[:, 0] * X[:, 1] > 0).astype(int)
large = np.tile(X, (40, 1))

def fit(n_rows):
    model = SparseSVC(8, max_iter=2, random_state=0)
    return model.fit(X[:n_rows], y[:n_rows])

def settings():
    # what a fit changes for a moment
    threads = [pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"]
    return threads, list(warnings.filters)

def child_fits():
    pid = os.fork()
    if pid == 0:
        faulthandler.dump_traceback_later(20, exit=True)
        found = settings()
        fit(60).decision_function(large)
        if HELD and found != usual:
            print("found", found, "usual", usual, file=sys.stderr, flush=True)
            os._exit(3)
        os._exit(0)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])

fit(200).decision_function(large)
usual = settings()
"""

# A thread that is held where it has a lock, or has changed something of the process.
HELD = """
HELD = True
reached, go_on = threading.Event(), threading.Event()

def hold(function):
    def held(*args, **kwargs):
        if threading.current_thread() is worker:
            reached.set()
            go_on.wait()
        return function(*args, **kwargs)
    return held

{patch}
worker = threading.Thread(target=fit, args=(200,))
worker.start()
assert reached.wait(20)
code = child_fits()
go_on.set()
worker.join()
os._exit(code)
"""
IN_SEEDING = "KMeans.fit = hold(KMeans.fit)"
IN_BLAS = "blocks._thread_controller = hold(blocks._thread_controller)"

ANY_TIME = """
HELD = False  # forked in the moment of a change, a child may keep it: all that counts is an end
end = threading.Event()

def work():
    while not end.is_set():
        fit(2000).decision_function(large)

worker = threading.Thread(target=work)
worker.start()
codes = []
for k in range(10):
    time.sleep(0.02 + 0.03 * (k % 5))
    codes.append(child_fits())
end.set()
worker.join()
os._exit(max(map(abs, codes)))
"""


def run(program: str, n_blas_threads: int = 2) -> None:
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", START + program],
        env={**os.environ, "OMP_NUM_THREADS": str(n_blas_threads)},
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("patch", [IN_SEEDING, IN_BLAS], ids=["seeding", "blas"])
def test_fork_while_a_thread_holds_a_lock(patch):
    run(HELD.format(patch=patch))


def test_forks_at_any_time():
    # OpenBLAS ends its threads before a fork, and a thread that computes starts them again: while
    # it allocates memory for them it holds a lock that no child can ever take. That is not ours
    # to mend, and does not happen with one thread.
    run(ANY_TIME, n_blas_threads=1)
