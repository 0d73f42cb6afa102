"""Branches of generated C that are taken, and generated C under sanitizers.

`python -m benchmarks.hardening.generated_c` exports a hundred models: every kernel, type, reading
and width, such that each line of the templates is in one of the files. Their program is compiled
with gcc's ``--coverage``, asked about ordinary rows and about rows of huge, tiny, infinite and
missing numbers, and prints which branches of the generated files were not taken, with the reason.
Then it is compiled with AddressSanitizer and UndefinedBehaviorSanitizer by every compiler that is
here, without and with optimisation, and has to give the same answers. It writes
`results/hardening/generated_c.csv` and `sanitized_c.csv`.
"""

from __future__ import annotations

import csv
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchmarks.hardening.counts import RESULTS
from benchmarks.results_provenance import ROOT, provenance

sys.path.append(str(ROOT / "tests"))  # the models, and what compiles them, belong to the tests
import generated_c
import generated_coverage
from run_c import compilers
from run_c_program import SANITIZED

LEVELS = ("-O0", "-O2")


def branches(folder: Path) -> tuple[list[dict[str, Any]], list[Any]]:
    """A line for each template, and what the models said."""
    with generated_coverage.marked():
        said = generated_c.answers(folder, generated_coverage.FLAGS, "gcc")
    found = generated_coverage.coverage(folder, generated_c.names())
    explained = generated_coverage.EXPLAINED
    for place, files in sorted(found.missed.items()):
        reason = explained.get(place, "NOT EXPLAINED")
        print(f"{place.template}, {place.function}: {place.text}")
        print(f"    in {len(files)} files, such as {min(files)!r}: {reason}")
    for place in found.nowhere:
        print(f"{place.template}, {place.function}: {place.text}\n    IN NO FILE")
    lines = []
    for template, n in sorted(found.n_branches.items()):
        missed = {place for place in found.missed if place.template == template}
        line = {"template": template, "branches": n, "taken": found.n_taken[template]}
        line["explained"] = len(missed & set(explained))
        line["unexplained"] = len(missed - set(explained))
        line["nowhere"] = sum(place.template == template for place in found.nowhere)
        lines.append(line)
    return lines, said


def sanitized(folder: Path, expected: Sequence[Any]) -> list[dict[str, Any]]:
    """A line for each compiler and level: models, rows, and models with a finding."""
    lines = []
    cases = generated_c.cases()
    for compiler in compilers():
        version = subprocess.run([compiler, "--version"], capture_output=True, text=True).stdout
        for level in LEVELS:
            place = folder / f"{compiler}{level}"
            found = 0
            made = generated_c.program_of(place, [*SANITIZED, level], compiler)
            for i, case in enumerate(cases):
                try:
                    said = made.run(i, generated_c.rows_for(case))
                    generated_c.assert_same(case, expected[i], said)
                except AssertionError as error:
                    found += 1
                    print(f"{compiler} {level}, {case.name}: {error}")
            rows = sum(len(generated_c.rows_for(case)) for case in cases)
            line = {"compiler": version.splitlines()[0], "level": level}
            lines.append(line | {"models": len(cases), "rows": rows, "findings": found})
    return lines


def write(name: str, lines: list[dict[str, Any]]) -> None:
    """Write a csv, and print it."""
    for line in lines:
        print(", ".join(f"{key} {value}" for key, value in line.items()), flush=True)
    own = {key: provenance()[key] for key in ("kernelet", "commit")}
    with (RESULTS / name).open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, [*lines[0], *own], lineterminator="\n")
        writer.writeheader()
        writer.writerows(line | own for line in lines)


def main() -> int:
    """Return 1 if a branch has no reason, or a sanitizer found something."""
    RESULTS.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        taken, said = branches(Path(folder) / "covered")
        write("generated_c.csv", taken)
        checked = sanitized(Path(folder), said)
        write("sanitized_c.csv", checked)
    defects = sum(line["unexplained"] + line["nowhere"] for line in taken)
    return int(bool(defects or sum(line["findings"] for line in checked)))


if __name__ == "__main__":
    raise SystemExit(main())
