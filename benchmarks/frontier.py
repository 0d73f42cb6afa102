"""Every method over a range of budgets: error against vectors, time and bytes."""

from __future__ import annotations

import importlib.util
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks import datasets, methods
from benchmarks.frontier_limits import against_limits
from benchmarks.frontier_plot import draw
from benchmarks.frontier_tuning import tuned
from benchmarks.methods.base import Classifier
from benchmarks.results import FOLDER as RESULTS
from benchmarks.results import Ledger, Record, as_record, canonical, frontier_ledger
from benchmarks.results_provenance import provenance
from benchmarks.runner import run_tasks, why_not

BUDGETS = (5, 10, 20, 50, 100, 200)
N_SEEDS = 3


@dataclass(frozen=True)
class Point:
    """A method at one budget (None: it has no budget) on a data set."""

    dataset: str
    method: str
    budget: int | None

    @property
    def units(self) -> range:
        """Seeds on an official split, else the first training/test pairs."""
        available = datasets.describe(self.dataset).n_units
        repeated = N_SEEDS if self.budget is not None else 1
        return range(min(available, N_SEEDS) if available > 1 else repeated)

    def __str__(self) -> str:
        return f"{self.dataset} {self.method} {self.budget or ''}"


def points(dataset: str, names: Sequence[str], budgets: Sequence[int] = BUDGETS) -> list[Point]:
    """Return the points of the given methods."""
    return [
        Point(dataset, name, budget)
        for name in names
        for budget in (budgets if methods.get(name).budgeted else (None,))
    ]


def usable_methods(dataset: str, chosen: Sequence[str], slow: bool) -> tuple[list[str], list[str]]:
    """Return the classifiers that can be run, and the reasons why others cannot."""
    usable, reasons = [], []
    for name in chosen or methods.names():
        method = methods.get(name)
        reason = why_not(dataset, name, slow)
        if reason:
            reasons.append(reason)
        elif isinstance(method, Classifier) and (method.budgeted or method.single_point):
            usable.append(name)
    return usable, reasons


def measure_point(point: Point) -> list[Record]:
    """Tune once, then fit with every seed; return a line for each."""
    dataset = datasets.load(point.dataset)
    method = methods.get(point.method)
    assert isinstance(method, Classifier)
    teacher = methods.get(method.tuned_as or method.name)
    assert isinstance(teacher, Classifier)
    parameters = tuned(teacher, dataset.split(0), point.budget)
    lines = []
    for unit in point.units:
        figures = method.measure(dataset.split(unit), parameters, seed=unit)
        labels = {
            "dataset": point.dataset,
            "method": point.method,
            "budget": "" if point.budget is None else point.budget,
            "parameters": canonical(parameters),
            "unit": unit,
            "source": dataset.source,
            "split": dataset.origin,
        }
        lines.append(as_record(labels | provenance(), figures))
    return lines


def missing(wanted: Sequence[Point], ledger: Ledger) -> list[Point]:
    """Return the points that the ledger does not have in full."""
    present = ledger.keys()

    def is_there(point: Point) -> bool:
        budget = "" if point.budget is None else str(point.budget)
        return all(
            (point.dataset, point.method, budget, str(unit)) in present for unit in point.units
        )

    return [point for point in wanted if not is_there(point)]


def run_frontier(
    dataset: str,
    chosen: Sequence[str] = (),
    n_jobs: int = 1,
    slow: bool = False,
    only_draw: bool = False,
    folder: Path = RESULTS,
    budgets: Sequence[int] = BUDGETS,
) -> bool:
    """Run what is missing, then draw; return whether all of it succeeded."""
    ledger = frontier_ledger(dataset, folder)
    succeeded = True
    if not only_draw:
        usable, reasons = usable_methods(dataset, chosen, slow)
        for reason in reasons:
            print(f"skipped: {reason}")
        wanted = points(dataset, usable, budgets)
        tasks = missing(wanted, ledger)
        print(f"{dataset}: {len(wanted) - len(tasks)} points are there, {len(tasks)} to run")
        succeeded = run_tasks(measure_point, tasks, ledger, n_jobs)
    records = ledger.read()
    for sentence in against_limits(dataset, records):
        print(sentence)
    if importlib.util.find_spec("matplotlib") is None:
        print("not drawn: pip install matplotlib")
    elif records:
        draw(datasets.describe(dataset), records, ledger.path.with_suffix(".png"))
        print(f"drawn: {ledger.path.with_suffix('.png').name}")
    return succeeded
