"""Measurements that are kept: a line of the csv each, taken again only if the sources changed."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any, Self

import numpy as np
import sklearn

from benchmarks.datasets import Unavailable
from benchmarks.results import FOLDER, PROVENANCE, Ledger, canonical
from benchmarks.results_provenance import ROOT, provenance

Row = dict[str, Any]
# The last commit before defaults and solvers were changed.
BEFORE = "d2fac1b"
CSV = FOLDER / "speed" / "direct_method.csv"
FIGURES = ("error", "seconds", "wall", "megabytes")
KEY = ("task", "dataset", "inputs", "method", "parameters", "unit", "sources", "cpu")
COLUMNS = (*KEY[:-1], *FIGURES, "other", *PROVENANCE)
THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")


class Failed(Exception):
    """A measurement ended with an error."""


@dataclass(frozen=True)
class Task:
    """What is measured, see `benchmarks.speed.direct_method.child`.

    ``sources`` are those of "ours", of the commit "before", or "scikit-learn" where nothing but the
    error of one of its models is asked for: it does not change with ours.
    """

    dataset: str
    method: str
    parameters: Mapping[str, Any] = field(default_factory=dict)
    unit: int = 0
    inputs: str = "as they are"
    task: str = "fit"
    sources: str = "ours"

    def __str__(self) -> str:
        words = (self.task, self.method, canonical(self.parameters), f"on {self.dataset}")
        return f"{' '.join(words)} #{self.unit}, {self.inputs}, {self.sources}"


class Bench:
    """Measures tasks; use it as a context, which removes the sources of before at its end."""

    def __init__(self, before: str = BEFORE, path: Path = CSV) -> None:
        self.before = before
        self.ledger = Ledger(path, KEY, COLUMNS)
        self._stack = ExitStack()
        self._folder: Path | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *raised: object) -> None:
        self._stack.close()

    def measure(self, task: Task) -> dict[str, float]:
        """Return the figures of a task, from the csv if they are there."""
        labels = self._labels(task)
        key = self.ledger.key(labels)
        for record in self.ledger.read():
            if self.ledger.key(record) == key:
                return _figures(record)
        print(f"  measuring {task}", file=sys.stderr, flush=True)
        record = _record(labels, self._run(task))
        self.ledger.append([record])
        return _figures(record)

    def mean(self, task: Task, units: Sequence[int]) -> dict[str, float]:
        """Return the mean of each figure over some units."""
        found = [self.measure(Task(**{**vars(task), "unit": unit})) for unit in units]
        return {name: float(np.mean([each[name] for each in found])) for name in found[0]}

    def _labels(self, task: Task) -> dict[str, str]:
        cells = {name: str(value) for name, value in vars(task).items()}
        labels = {**provenance(), **cells, "parameters": canonical(task.parameters)}
        if task.sources == "before":
            labels |= {
                "commit": self.before,
                "sources": git("rev-parse", f"{self.before}:src")[:12],
            }
        elif task.sources == "scikit-learn":
            labels["sources"] = f"scikit-learn {sklearn.__version__}"
        else:
            labels["sources"] = our_sources()
        return labels

    def _run(self, task: Task) -> dict[str, float]:
        sources = self._before_sources() if task.sources == "before" else ROOT / "src"
        environment = {**os.environ, **dict.fromkeys(THREADS, "1"), "PYTHONPATH": str(sources)}
        command = [sys.executable, "-m", "benchmarks.speed.direct_method.child"]
        finished = subprocess.run(
            [*command, json.dumps(vars(task))],
            cwd=ROOT,
            env=environment,
            capture_output=True,
            text=True,
        )
        if finished.returncode:
            lines = finished.stderr.strip().splitlines()
            raise Failed(f"{task}: {lines[-1] if lines else f'exit {finished.returncode}'}")
        answer = json.loads(finished.stdout.splitlines()[-1])
        if "unavailable" in answer:
            raise Unavailable(answer["unavailable"])
        if Path(answer["sources"]) != sources.resolve():
            raise Failed(f"{task}: measured {answer['sources']}, not {sources}")
        figures: dict[str, float] = answer["figures"]
        return figures

    def _before_sources(self) -> Path:
        """Return the sources of the commit, unpacked once."""
        if self._folder is None:
            folder = Path(self._stack.enter_context(tempfile.TemporaryDirectory())).resolve()
            archive = folder / "sources.tar"
            git("archive", "--output", str(archive), self.before, "src")
            subprocess.run(["tar", "-xf", str(archive), "-C", str(folder)], check=True)
            self._folder = folder / "src"
        return self._folder


def git(*arguments: str) -> str:
    """Return what git prints."""
    command = ["git", *arguments]
    finished = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    if finished.returncode:
        raise Failed(f"{' '.join(command)}: {finished.stderr.strip()}")
    return finished.stdout.strip()


@cache
def our_sources() -> str:
    """Return what changes when a file in ``src`` does: git's name of it, or one for the changes."""
    if not git("status", "--porcelain", "--", "src"):
        return git("rev-parse", "HEAD:src")[:12]
    digest = hashlib.sha256(git("diff", "HEAD", "--", "src").encode())
    for name in git("ls-files", "--others", "--exclude-standard", "src").splitlines():
        digest.update(name.encode() + (ROOT / name).read_bytes())
    return f"{git('rev-parse', 'HEAD:src')[:12]}+{digest.hexdigest()[:8]}"


def _record(labels: Mapping[str, str], figures: Mapping[str, float]) -> dict[str, str]:
    rounded = {name: float(f"{value:.6g}") for name, value in figures.items()}
    other = {name: value for name, value in rounded.items() if name not in FIGURES}
    known = {name: str(rounded[name]) for name in FIGURES if name in rounded}
    cells = {**labels, **known, "other": canonical(other)}
    return {column: cells.get(column, "") for column in COLUMNS}


def _figures(record: Mapping[str, str]) -> dict[str, float]:
    figures = {name: float(record[name]) for name in FIGURES if record[name]}
    return figures | json.loads(record["other"])


def time_row(what: str, ours: float, other: float, limit: float | None, holds: bool = True) -> Row:
    """Return a ratio of times in seconds; ``holds`` adds what else has to be true."""
    ratio = ours / other
    return {
        "what": what,
        "ratio": ratio,
        "limit": "" if limit is None else f"<= {limit:.3g}",
        "holds": holds and (limit is None or ratio <= limit),
        "milliseconds": 1e3 * ours,
        "other_milliseconds": 1e3 * other,
    }


def error_row(what: str, error: float, limit: float, seconds: float | None = None) -> Row:
    """Return an error, or another figure, with the most it may be."""
    return {
        "what": what,
        "ratio": error,
        "limit": f"<= {limit:.4g}",
        "holds": error <= limit,
        "milliseconds": None if seconds is None else 1e3 * seconds,
    }
