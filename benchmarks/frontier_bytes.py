"""Error against bytes: small machines and what people ship instead, at budgets of 1 to 64 kB."""

from __future__ import annotations

import importlib.util
import json
import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np

from benchmarks import datasets, small
from benchmarks.datasets.splits import Split
from benchmarks.frontier import N_SEEDS
from benchmarks.frontier_bytes_plot import draw, draw_together
from benchmarks.frontier_bytes_tuning import has_few_rows, tuned
from benchmarks.results import FOLDER as RESULTS
from benchmarks.results import Ledger, Record, as_record, bytes_ledger, canonical, figures_of
from benchmarks.results_admitted import read_lines
from benchmarks.results_provenance import provenance
from benchmarks.runner import run_tasks
from benchmarks.small.base import Task

# In kilobytes of 1000 bytes.
BUDGETS = (1, 2, 4, 8, 16, 32, 64)
KILOBYTE = 1000
# Test sets of divided data have as few as 77 rows.
N_PAIRS = 10
# Their frontiers are drawn together on the front page.
FRONT_PAGE = ("optdigits", "pendigits", "satimage", "letter", "usps", "mnist")


@dataclass(frozen=True)
class Point:
    """A method with a number of kilobytes on a data set."""

    dataset: str
    method: str
    kilobytes: float
    # lines that a run which was killed has left
    measured: tuple[Record, ...] = field(default=(), compare=False, repr=False)

    @property
    def units(self) -> range:
        """Seeds on an official split, else the first training/test pairs."""
        available = datasets.describe(self.dataset).n_units
        return range(min(available, N_PAIRS) if available > 1 else N_SEEDS)

    @property
    def missing_units(self) -> list[int]:
        """Return the seeds or pairs without a line."""
        present = {record["unit"] for record in self.measured}
        return [unit for unit in self.units if str(unit) not in present]

    def __str__(self) -> str:
        return f"{self.dataset} {self.method} {self.kilobytes} kB"


def task_of(split: Split, kilobytes: float) -> Task:
    """What decides how large a model can be."""
    n_classes = len(np.unique(split.y_train))
    n_bytes = round(KILOBYTE * kilobytes)
    few_rows = has_few_rows(split.y_train)
    return Task(split.X_train.shape[1], n_classes, n_bytes, few_rows=few_rows)


def measure_point(point: Point) -> list[Record]:
    """Tune once, then fit with every seed; no lines if nothing fits into the budget.

    What was tuned before some of the seeds were measured is not tuned again.
    """
    dataset = datasets.load(point.dataset)
    method = small.get(point.method)
    task = task_of(dataset.split(0), point.kilobytes)
    try:
        if point.measured:
            parameters = json.loads(point.measured[0]["parameters"])
            validation = figures_of(point.measured[0])["validation"]
        else:
            parameters, validation = tuned(method, dataset.split(0), task)
        return [_line(point, parameters, validation, unit) for unit in point.missing_units]
    except small.DoesNotFit as reason:
        print(f"{point}: {reason}", flush=True)
        return []


def _line(point: Point, parameters: dict[str, object], validation: float, unit: int) -> Record:
    dataset = datasets.load(point.dataset)
    split = dataset.split(unit)
    task = task_of(split, point.kilobytes)
    start = time.process_time()
    model = small.get(point.method).fit(split.X_train, split.y_train, task, parameters, unit)
    seconds = time.process_time() - start
    figures = {
        "error": 100.0 * float(np.mean(model.predict(split.X_test) != split.y_test)),
        "n_vectors": model.size,
        "n_bytes": model.n_bytes,
        "seconds": seconds,
        "validation": validation,
        "n_rows": len(split.y_train),
    }
    if model.n_bytes > task.n_bytes:
        raise ValueError(f"{point}: {model.n_bytes} bytes are more than the budget")
    labels = {
        "dataset": point.dataset,
        "method": point.method,
        "budget": point.kilobytes,
        "parameters": canonical(parameters),
        "unit": unit,
        "source": dataset.source,
        "split": dataset.origin,
    }
    return as_record(labels | provenance(), figures)


def missing(wanted: Sequence[Point], ledger: Ledger) -> list[Point]:
    """Return the points that the ledger does not have in full, with the lines that it has.

    A method of one size is measured once, at the least budget that it fits into.
    """
    records = ledger.read()
    least = {
        m: min((float(r["budget"]) for r in records if r["method"] == m), default=0)
        for m in small.names()
    }
    found = []
    for point in wanted:
        if small.get(point.method).one_size and 0 < least[point.method] < point.kilobytes:
            continue
        labels = (point.dataset, point.method, str(point.kilobytes))
        lines = (r for r in records if (r["dataset"], r["method"], r["budget"]) == labels)
        started = replace(point, measured=tuple(lines))
        if started.missing_units:
            found.append(started)
    return found


def run_frontier_bytes(
    dataset: str,
    chosen: Sequence[str] = (),
    budgets: Sequence[float] = (),
    n_jobs: int = 1,
    only_draw: bool = False,
    folder: Path = RESULTS,
) -> bool:
    """Run what is missing, then draw; return whether all of it succeeded."""
    ledger = bytes_ledger(dataset, folder)
    succeeded = True
    if not only_draw:
        datasets.load(dataset)
        for kilobytes in budgets or BUDGETS:
            # one budget after the other: what is there after a kill is complete up to one
            wanted = [Point(dataset, name, kilobytes) for name in chosen or small.names()]
            tasks = missing(wanted, ledger)
            print(f"{dataset}, {kilobytes} kB: {len(tasks)} to run", flush=True)
            succeeded &= run_tasks(measure_point, tasks, ledger, n_jobs)
    records = read_lines(ledger.path)
    if importlib.util.find_spec("matplotlib") is None:
        print("not drawn: pip install matplotlib")
    elif records:
        draw(datasets.describe(dataset), records, ledger.path.with_suffix(".png"))
        print(f"drawn: {ledger.path.with_suffix('.png').name}")
    return succeeded


def draw_front_page(folder: Path = RESULTS) -> None:
    """Draw the frontiers of several data sets in one picture."""
    if importlib.util.find_spec("matplotlib") is None:
        return
    found = {name: read_lines(bytes_ledger(name, folder).path) for name in FRONT_PAGE}
    measured = {name: records for name, records in found.items() if records}
    if measured:
        draw_together(measured, folder / "bytes_frontier.png")
        print("drawn: bytes_frontier.png")
