"""SIGKILL at random moments of `save`, of fits with a checkpoint, and of the run of a table.

What was written before is there afterwards, whole, and what was killed can go on.
"""

from __future__ import annotations

import io
import os
import signal
import struct
import tempfile
import time
import warnings
from collections.abc import Callable
from contextlib import redirect_stdout
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

import kernelet as kt
from benchmarks.hardening.campaign import Campaign, Outcome
from benchmarks.hardening.small_fits import FITS, N_ROWS, SmallFit, two_classes
from benchmarks.results import Ledger, Record, as_record
from benchmarks.results_provenance import provenance
from benchmarks.runner import run_tasks
from kernelet.learners.direct.search.checkpoint import Checkpoint, checkpoint_of
from kernelet.learners.direct.search.result import Progress

_SEED = 26
# Seconds within which saves and lines of tables are killed: some tens of either.
_LONGEST = 0.1
_N_TASKS = 20

CHECKPOINTED = {
    **{name: FITS[name] for name in ("SparseSVC", "SparseSVC hinge", "SparseSVC in chunks")},
    "KernelFisherClassifier": FITS["KernelFisherClassifier"],
    "SparseSVC per class": SmallFit(
        lambda: kt.SparseSVC(3, vectors="per_class", C=1.0, max_iter=8, random_state=0),
        FITS["SparseSVC"].rows,
    ),
    "SparseSVC 4 bits": SmallFit(
        lambda: kt.SparseSVC(4, vector_bits=4, max_iter=8, random_state=0), two_classes
    ),
}

Say = Callable[[int], None]


@dataclass(frozen=True)
class Killed:
    """What a child had said before it was killed, and whether it was at its end by then."""

    said: list[int]
    ended: bool


def killed(work: Callable[[Say], None], seconds: float) -> Killed:
    """Run work in a forked process, and kill that some seconds after its first word."""
    reading, writing = os.pipe()
    pid = os.fork()
    if pid == 0:
        code = 1
        try:
            os.close(reading)
            warnings.simplefilter("ignore")
            os.write(writing, struct.pack("<q", -1))
            with redirect_stdout(io.StringIO()):
                work(lambda number: _written(writing, number))
            code = 0
        finally:
            os._exit(code)
    os.close(writing)
    with os.fdopen(reading, "rb") as pipe:
        pipe.read(8)
        time.sleep(seconds)
        os.kill(pid, signal.SIGKILL)
        said = pipe.read()
    status = os.waitpid(pid, 0)[1]
    numbers = [number for (number,) in struct.iter_unpack("<q", said[: len(said) // 8 * 8])]
    ended = os.WIFEXITED(status)
    assert not ended or os.WEXITSTATUS(status) == 0, "the child failed by itself"
    return Killed(numbers, ended)


def _written(pipe: int, number: int) -> None:
    os.write(pipe, struct.pack("<q", number))


@cache
def models() -> tuple[Any, Any]:
    """Return a small model, and one that takes a while to write."""
    X, y = two_classes(0)
    rng = np.random.default_rng(0)
    large = kt.KernelMachine(kt.kernels.Gaussian(1.0), rng.normal(size=(4000, 50)), np.ones(4000))
    return kt.SparseSVC(3, C=1.0, max_iter=2, random_state=0).fit(X, y).machine_, large


def during_save(folder: Path, rng: np.random.Generator) -> list[str]:
    """Save two models in turn; the file must hold the last that was saved, or the next."""
    path = folder / "model.kernelet"
    both = models()

    def work(say: Say) -> None:
        for number in range(10**6):
            both[number % 2].save(path)
            say(number)

    both[1].save(path)  # as number -1
    child = killed(work, rng.uniform(0.0, _LONGEST))
    last = len(child.said) - 1
    found = kt.load(path)
    problems = []
    if found not in (both[last % 2], both[(last + 1) % 2]):
        problems.append(f"neither save {last} nor {last + 1} is in the file")
    others = sorted(other for other in os.listdir(folder) if other != path.name)
    if len(others) > 1 or not all(o.startswith(".model") and o.endswith(".tmp") for o in others):
        problems.append(f"left in the folder: {others}")
    both[0].save(path)
    if kt.load(path) != both[0]:
        problems.append("the next save is not in the file")
    return problems


@cache
def undisturbed(name: str) -> tuple[Any, float]:
    """Return a model, and the seconds of its fit with a checkpoint."""
    CHECKPOINTED[name].fitted()
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = CHECKPOINTED[name].make().set_params(checkpoint=Path(folder) / "checkpoint")
        begin = time.perf_counter()
        model.fit(*CHECKPOINTED[name].rows(0))
        return model, time.perf_counter() - begin


def during_fit(folder: Path, rng: np.random.Generator) -> list[str]:
    """Fit with a checkpoint; it must hold the last step that was written, and the fit go on."""
    name = str(rng.choice(list(CHECKPOINTED)))
    fit, (whole, seconds) = CHECKPOINTED[name], undisturbed(name)
    path = folder / "checkpoint"
    model, rows = fit.make().set_params(checkpoint=path), fit.rows(0)
    write = Checkpoint.write

    def work(say: Say) -> None:
        def reported(self: Checkpoint, search: int, step: Progress, given: Any) -> None:
            write(self, search, step, given)
            say(1000 * search + step.n_iter)

        Checkpoint.write = reported  # type: ignore[method-assign]
        model.fit(*rows)

    child = killed(work, rng.uniform(0.0, seconds))
    problems = []
    if path.exists() and child.said:
        kept = checkpoint_of(model, (N_ROWS, whole.n_features_in_))
        assert kept is not None
        search, step = divmod(child.said[-1], 1000)
        start = kept.start(search)
        if start is None or (start.n_steps < step and not start.is_preliminary):
            problems.append(f"step {step} of search {search} is lost")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(*rows)
    if path.exists():
        problems.append("the checkpoint is still there after the fit")
    # a search that goes on has lost its curvature, and may end elsewhere
    if not model.objective_ <= whole.objective_ + 0.2 * abs(whole.objective_):
        problems.append(f"W = {model.objective_:g}, undisturbed {whole.objective_:g}")
    return [f"{name}: {problem}" for problem in problems]


def measured(task: int) -> list[Record]:
    """Return the line of a task that takes no time."""
    labels = {"dataset": "made up", "method": "none", "parameters": "{}", "unit": task}
    return [as_record(labels | provenance(), {"error": task / 7.0, "n_vectors": task})]


def during_table(folder: Path, rng: np.random.Generator) -> list[str]:
    """Run a table; every line that was appended must be there once, and a run finish the rest."""
    ledger = Ledger(folder / "table.csv")
    provenance()

    class Reporting(Ledger):
        def append(self, records: Any) -> int:
            n = super().append(records)
            said(int(records[0]["unit"]))
            return n

    said: Say = lambda number: None  # noqa: E731

    def work(say: Say) -> None:
        nonlocal said
        said = say
        run_tasks(measured, range(_N_TASKS), Reporting(ledger.path), 1)

    child = killed(work, rng.uniform(0.0, _LONGEST))
    kept = [int(line["unit"]) for line in ledger.read()]
    problems = []
    lost = sorted(set(child.said) - set(kept))
    if lost:
        problems.append(f"lines {lost} are lost")
    left = [task for task in range(_N_TASKS) if task not in kept]
    with redirect_stdout(io.StringIO()):
        run_tasks(measured, left, ledger, 1)
    wanted = [line for task in range(_N_TASKS) for line in measured(task)]
    if ledger.read() != wanted:
        problems.append("the table that was finished is not that of one run")
    return problems


WAYS: dict[str, Callable[[Path, np.random.Generator], list[str]]] = {
    "save": during_save,
    "a fit with a checkpoint": during_fit,
    "the run of a table": during_table,
}


def group_of(number: int) -> str:
    """Return what is killed in a case."""
    return list(WAYS)[number % len(WAYS)]


def case(number: int) -> Outcome:
    """Kill once."""
    name, rng = group_of(number), np.random.default_rng([_SEED, number])
    with tempfile.TemporaryDirectory() as folder:
        problems = WAYS[name](Path(folder), rng)
    if problems:
        return Outcome(name, "something is lost", True, "; ".join(problems))
    return Outcome(name, "nothing is lost")


CAMPAIGN = Campaign("SIGKILL at random moments", case, group_of, n=200 * len(WAYS))
