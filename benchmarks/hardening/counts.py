"""The csv of what was counted, from which a run that was stopped goes on."""

from __future__ import annotations

import csv
import os
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

from benchmarks.hardening.campaign import Outcome
from benchmarks.results import FOLDER
from benchmarks.results_provenance import provenance

RESULTS = FOLDER / "hardening"
Line = tuple[str, str, str]


@dataclass
class Counts:
    """How often each outcome was found in cases 0 to ``n_done`` - 1, and the defects one by one.

    Attributes
    ----------
    path : Path
        The csv; defects are beside it.
    counted : Counter
        By group, result and the commit that was tried.
    defects : dict
        Outcome of each number.
    """

    path: Path
    counted: Counter[Line] = field(default_factory=Counter)
    defects: dict[int, Outcome] = field(default_factory=dict)

    @classmethod
    def read(cls, name: str, folder: Path = RESULTS) -> Counts:
        """Return what is there of a campaign."""
        found = cls(folder / f"{name.rpartition('.')[2]}.csv")
        for row in _rows(found.path):
            found.counted[row["group"], row["result"], row["commit"]] += int(row["n"])
        for row in _rows(found.path_of_defects):
            outcome = Outcome(row["group"], row["result"], is_defect=True, detail=row["detail"])
            found.defects[int(row["number"])] = outcome
        return found

    @property
    def path_of_defects(self) -> Path:
        """Where defects are written."""
        return self.path.with_name(f"{self.path.stem}_defects.csv")

    @property
    def n_done(self) -> int:
        """Number of cases: each has one outcome."""
        return self.counted.total()

    def add(self, number: int, outcome: Outcome) -> None:
        """Count a case; one that was a defect before replaces that."""
        if number in self.defects:
            self._forget(self.defects.pop(number))
        self.counted[outcome.group, outcome.result, provenance()["commit"]] += 1
        if outcome.is_defect:
            self.defects[number] = outcome

    def _forget(self, defect: Outcome) -> None:
        """Take a defect off the counts of whichever commit had it."""
        lines = (line for line in self.counted if line[:2] == (defect.group, defect.result))
        line = next(lines)
        self.counted[line] -= 1
        self.counted += Counter()  # lines of zero go

    def write(self) -> None:
        """Write both files, each as a whole."""
        lines = [[*line, str(n)] for line, n in sorted(self.counted.items())]
        _write(self.path, ["group", "result", "commit", "n"], lines)
        defects = [
            [str(number), o.group, o.result, o.detail] for number, o in sorted(self.defects.items())
        ]
        if defects or self.path_of_defects.is_file():
            _write(self.path_of_defects, ["number", "group", "result", "detail"], defects)


def _rows(path: Path) -> list[dict[str, str]]:
    if not path.is_file():
        return []
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def _write(path: Path, header: list[str], lines: list[list[str]]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_suffix(".partial")
    with partial.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file, lineterminator="\n").writerows([header, *lines])
        file.flush()
        os.fsync(file.fileno())
    partial.replace(path)
