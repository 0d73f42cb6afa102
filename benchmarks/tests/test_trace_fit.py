import subprocess
import sys
from pathlib import Path
from threading import Thread

import numpy as np

from benchmarks import trace_fit
from kernelet.kernels import Gaussian

ROOT = Path(__file__).parents[2]


def in_a_thread(work):
    thread = Thread(target=work)
    thread.start()
    thread.join()


def test_threads_count_and_other_packages_do_not():
    rows = np.eye(3)
    kernel = Gaussian(1.0)
    here = trace_fit.modules_called(lambda: kernel(rows, rows))
    there = trace_fit.modules_called(lambda: in_a_thread(lambda: kernel(rows, rows)))
    assert here == there
    assert {"kernels/base", "kernels/radial", "kernels/numerics/distances"} <= set(here)
    assert all((trace_fit.PACKAGE / f"{name}.py").exists() for name in here)


def test_imports_do_not_count():
    """In a process of its own, where the first fit imports modules that the second one has."""
    code = "from benchmarks.trace_fit import digits_fit as f; print(list(f()) == list(f()))"
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, check=True, capture_output=True, text=True
    )
    assert done.stdout == "True\n"


def test_modules_of_a_fit_are_counted_and_listed(capsys):
    trace_fit.main()
    heading, *lines = capsys.readouterr().out.splitlines()
    assert f" {len(lines)} modules" in heading
    assert lines[0].split()[1] == "learners/base/fit_method"
