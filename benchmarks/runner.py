"""Run a table: plan what is missing, measure it, append it."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks import datasets, methods
from benchmarks.results import FOLDER as RESULTS
from benchmarks.results import Ledger, Record, as_record, canonical, table_ledger
from benchmarks.results_provenance import provenance
from benchmarks.runner_pool import outcomes
from benchmarks.runner_progress import progress
from benchmarks.runner_tables import Row, Table


@dataclass(frozen=True)
class Task:
    """One row of a table on one training/test pair."""

    dataset: str
    method: str
    parameters: Mapping[str, Any]
    unit: int

    def __str__(self) -> str:
        return f"{self.dataset} {self.method} {canonical(self.parameters)} #{self.unit}"


@dataclass(frozen=True)
class Plan:
    """What is to be run, how much is there already, and what cannot be run, and why."""

    tasks: tuple[Task, ...]
    n_present: int
    skipped: tuple[str, ...]


def row_parameters(row: Row) -> dict[str, Any]:
    """Return the row's parameters on top of those the method takes from the data set's file."""
    inherits = methods.get(row.method).inherits
    own = datasets.describe(row.dataset).parameters
    return {k: v for k, v in own.items() if k in inherits} | dict(row.parameters)


def n_units(row: Row) -> int:
    """Return over how many training/test pairs (or seeds, on one split) a row is averaged."""
    return max(datasets.describe(row.dataset).n_units, row.repeats)


def why_not(dataset: str, method: str, slow: bool = False) -> str | None:
    """Return why a method cannot be run on a data set, or None."""
    chosen = methods.get(method)
    shape = datasets.describe(dataset).shape
    if chosen.two_classes_only and shape.classes > 2:
        return f"{method} on {dataset}: two classes only"
    reason = chosen.why_unavailable()
    if reason:
        return f"{method}: {reason}"
    if chosen.max_rows and shape.train > chosen.max_rows and not slow:
        return f"{method} on {dataset}: more than {chosen.max_rows} rows take hours (--slow)"
    try:
        datasets.load(dataset)
    except datasets.Unavailable as unavailable:
        return str(unavailable)
    return None


def plan(
    table: Table,
    ledger: Ledger,
    only: Sequence[str] = (),
    chosen_methods: Sequence[str] = (),
    slow: bool = False,
) -> Plan:
    """Return what is missing in the ledger."""
    tasks: dict[tuple[str, ...], Task] = {}
    skipped: dict[str, None] = {}
    present = ledger.keys()
    n_present = 0
    for row in table.rows:
        if (only and row.dataset not in only) or (
            chosen_methods and row.method not in chosen_methods
        ):
            continue
        reason = why_not(row.dataset, row.method, slow)
        if reason:
            skipped[reason] = None
            continue
        parameters = row_parameters(row)
        for unit in range(n_units(row)):
            key = (row.dataset, row.method, canonical(parameters), str(unit))
            if key in present:
                n_present += 1
            else:
                tasks[key] = Task(row.dataset, row.method, parameters, unit)
    return Plan(tuple(tasks.values()), n_present, tuple(skipped))


def measure(task: Task) -> list[Record]:
    """Return the line of the csv for a task."""
    dataset = datasets.load(task.dataset)
    figures = methods.get(task.method).measure(
        dataset.split(task.unit), task.parameters, seed=task.unit
    )
    labels = {
        "dataset": task.dataset,
        "method": task.method,
        "parameters": canonical(task.parameters),
        "unit": task.unit,
        "source": dataset.source,
        "split": dataset.origin,
    }
    return [as_record(labels | provenance(), figures)]


def take_from_other_tables(table: Table, ledger: Ledger, folder: Path = RESULTS) -> int:
    """Append lines that were measured for another table; return how many these were."""
    asked = {
        (row.dataset, row.method, canonical(row_parameters(row)), str(unit))
        for row in table.rows
        if methods.get(row.method).why_unavailable() is None
        for unit in range(n_units(row))
    }
    names = (path.stem for path in sorted(folder.glob("*.csv")))
    frontiers = ("frontier_", "bytes_")
    others = (table_ledger(name, folder) for name in names if not name.startswith(frontiers))
    lines = [line for other in others if other.path != ledger.path for line in other.read()]
    found = {ledger.key(line): line for line in lines if ledger.key(line) in asked}
    return ledger.append(found.values()) if found else 0


def run_table(
    table: Table,
    only: Sequence[str] = (),
    chosen_methods: Sequence[str] = (),
    n_jobs: int = 1,
    slow: bool = False,
    folder: Path = RESULTS,
) -> bool:
    """Run what is missing of a table; return whether all of it succeeded."""
    ledger = table_ledger(table.name, folder)
    n_shared = take_from_other_tables(table, ledger, folder)
    if n_shared:
        print(f"{n_shared} lines taken over from other tables that ask for the same")
    planned = plan(table, ledger, only, chosen_methods, slow)
    for reason in planned.skipped:
        print(f"skipped: {reason}")
    print(f"{planned.n_present} lines are there, {len(planned.tasks)} to run -> {ledger.path.name}")
    return run_tasks(measure, planned.tasks, ledger, n_jobs)


def run_tasks(
    work: Callable[[Any], list[Record]], tasks: Sequence[Any], ledger: Ledger, n_jobs: int
) -> bool:
    """Run tasks and append their lines as they come; return whether all succeeded."""
    failures = []
    start = time.perf_counter()
    with progress(len(tasks)) as shown:
        for task, outcome in outcomes(work, tasks, n_jobs):
            if isinstance(outcome, Exception):
                failures.append(f"failed: {task}: {type(outcome).__name__}: {outcome}")
            else:
                ledger.append(outcome)
            shown.step(str(task))
    for failure in failures:
        print(failure)
    print(f"{len(tasks) - len(failures)} done in {time.perf_counter() - start:.0f} s")
    return not failures
