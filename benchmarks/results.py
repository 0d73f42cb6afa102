"""The csv that a run appends to, line by line, and that a killed run continues from."""

from __future__ import annotations

import csv
import fcntl
import io
import json
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent / "results"

FIGURES = ("error", "n_vectors", "kernel_evaluations", "n_bytes", "seconds", "predict_us")
PROVENANCE = ("kernelet", "numpy", "scipy", "sklearn", "commit", "cpu")
COLUMNS = (
    *("dataset", "method", "budget", "parameters", "unit", "source", "split"),
    *(*FIGURES, "other", *PROVENANCE),
)
TABLE_KEY = ("dataset", "method", "parameters", "unit")
FRONTIER_KEY = ("dataset", "method", "budget", "unit")

Record = dict[str, str]
Key = tuple[str, ...]


def canonical(parameters: Mapping[str, Any]) -> str:
    """Return parameters as text that is equal when they are."""
    return json.dumps(parameters, sort_keys=True)


def as_record(labels: Mapping[str, Any], figures: Mapping[str, float]) -> Record:
    """Return a line of the csv; figures without a column of their own go into ``other``."""
    derived = ("accuracy", "correctness")
    other = {k: _short(v) for k, v in figures.items() if k not in (*FIGURES, *derived)}
    cells = {key: str(value) for key, value in labels.items()}
    cells |= {key: str(_short(figures[key])) for key in FIGURES if key in figures}
    return {column: cells.get(column, "") for column in COLUMNS} | {"other": canonical(other)}


def figures_of(record: Record) -> dict[str, float]:
    """Return all figures of a line, the derived ones included."""
    figures = {key: float(record[key]) for key in FIGURES if record[key]}
    figures |= {key: float(value) for key, value in json.loads(record["other"]).items()}
    if "error" in figures:
        figures["accuracy"] = figures["correctness"] = 100.0 - figures["error"]
    return figures


def _short(value: float) -> float:
    """Return six digits of it: a longer number says no more here."""
    return float(f"{float(value):.6g}")


@dataclass(frozen=True)
class Ledger:
    """A csv file to which several processes may append."""

    path: Path
    key_columns: Sequence[str] = TABLE_KEY
    columns: Sequence[str] = COLUMNS

    def key(self, record: Mapping[str, str]) -> Key:
        """Return what makes a line different from all others."""
        return tuple(record[column] for column in self.key_columns)

    def read(self) -> list[Record]:
        """Return all whole lines; one that a kill cut off is not there."""
        if not self.path.is_file():
            return []
        whole, _, _ = self.path.read_text(encoding="utf-8").rpartition("\n")
        return list(csv.DictReader(io.StringIO(whole)))

    def keys(self) -> set[Key]:
        """Return the keys of all lines."""
        return {self.key(record) for record in self.read()}

    def append(self, records: Iterable[Record]) -> int:
        """Write the lines whose keys are not there yet, durably; return how many these were."""
        with self._locked() as descriptor:
            present = self.keys()
            new = [record for record in records if self.key(record) not in present]
            text = io.StringIO()
            writer = csv.DictWriter(text, self.columns, lineterminator="\n")
            if self.path.stat().st_size == 0:
                writer.writeheader()
            writer.writerows(new)
            os.write(descriptor, text.getvalue().encode())
            os.fsync(descriptor)
        return len(new)

    @contextmanager
    def _locked(self) -> Iterator[int]:
        """Hold the file for this process alone, its last line whole."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        descriptor = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o644)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX)
            content = self.path.read_bytes()
            whole = content.rfind(b"\n") + 1
            if whole < len(content):
                os.ftruncate(descriptor, whole)
            yield descriptor
        finally:
            os.close(descriptor)


def table_ledger(name: str, folder: Path = FOLDER) -> Ledger:
    """Return the ledger of a table."""
    return Ledger(folder / f"{name.replace('-', '_')}.csv")


def frontier_ledger(dataset: str, folder: Path = FOLDER) -> Ledger:
    """Return the ledger of a data set's frontier."""
    return Ledger(folder / f"frontier_{dataset}.csv", FRONTIER_KEY)


def bytes_ledger(dataset: str, folder: Path = FOLDER) -> Ledger:
    """Return the ledger of a data set's frontier of bytes; budgets are in kB."""
    return Ledger(folder / f"bytes_{dataset}.csv", FRONTIER_KEY)
