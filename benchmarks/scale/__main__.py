"""Fits on 10^5, 10^6 and 10^7 rows of 20 columns, in one process and on two workers.

`python -m benchmarks.scale` takes a quarter of an hour, 4 GB of memory and 2 GB of disk, and writes
results/speed/scale.csv and its picture; `--exponents 5 6` stays small, `show` prints the figures
that are there and what the model of costs makes of them.
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.scale.child import COLUMNS, WORKERS
from benchmarks.scale.figures import (
    CSV,
    MODEL_CSV,
    PIECES,
    judged,
    model_of_small_runs,
    predicted,
    read,
)
from benchmarks.scale.plot import draw

EXPONENTS = (5, 6, 7)
# More pieces, for what a task costs.
MANY_PIECES = 64
AT_ONCE = 500_000


def write_rows(path: Path, n: int) -> None:
    """Ringnorm with its labels as the last column, a part at a time."""
    from kernelet.datasets import make_ringnorm

    table = np.lib.format.open_memmap(path, mode="w+", dtype=np.float64, shape=(n, COLUMNS + 1))
    for start in range(0, n, AT_ONCE):
        stop = min(start + AT_ONCE, n)
        X, y = make_ringnorm(stop - start, random_state=start)
        table[start:stop, :COLUMNS], table[start:stop, COLUMNS] = X, y > 0
    table.flush()


def cases(exponents: tuple[int, ...]) -> list[dict[str, Any]]:
    """What is measured, the small first."""
    found = []
    for exponent in exponents:
        n = 10**exponent
        for method in ("SparseSVC", "MMDA"):
            for where in ("threads", "dask"):
                found.append({"method": method, "where": where, "rows": n, "pieces": PIECES})
        if n <= 10**6:
            case = {"method": "SparseSVC", "where": "dask", "rows": n, "pieces": MANY_PIECES}
            found.append(case)
    return found


def run(exponents: tuple[int, ...]) -> None:
    """Measure all cases, and keep what there is after each."""
    lines: list[dict[str, Any]] = []
    environment = {**os.environ, "OMP_NUM_THREADS": str(WORKERS)}
    with tempfile.TemporaryDirectory() as folder:
        for case in cases(exponents):
            path = Path(folder) / f"{case['rows']}.npy"
            if not path.exists():
                write_rows(path, case["rows"])
            asked = json.dumps({**case, "path": str(path)})
            command = [sys.executable, "-m", "benchmarks.scale.child", asked]
            out = subprocess.run(
                command, check=True, env=environment, stdout=subprocess.PIPE, text=True
            )
            line = json.loads(out.stdout.splitlines()[-1])
            del line["path"]
            lines.append(line)
            print(summary(line), flush=True)
            write(lines)
    write(predicted(read()), MODEL_CSV)
    draw(lines)


def summary(line: dict[str, Any]) -> str:
    return (
        f"{line['method']:10s} {line['where']:8s} {line['rows']:9d} rows, "
        f"{line['pieces']:3d} pieces  "
        f"{line['seconds']:8.3f} s an evaluation of {line['passes']:.1f} passes  "
        f"{line['bytes'] / 1e6:6.2f} MB moved  driver {line['driver_megabytes']:5.0f} MB  "
        f"worker {line['worker_megabytes']:5.0f} MB beyond {line['share_megabytes']:.0f}"
    )


def write(lines: list[dict[str, Any]], path: Path = CSV) -> None:
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, list(lines[0]), lineterminator="\n")
        writer.writeheader()
        for line in lines:
            row = {k: f"{v:.6g}" if isinstance(v, float) else v for k, v in line.items()}
            writer.writerow(row)


def show() -> int:
    """Print the figures, what is asked of them, and the model's word; the number that miss."""
    lines = read()
    for line in lines:
        print(summary({**line, "rows": int(line["rows"]), "pieces": int(line["pieces"])}))
    print()
    missed = 0
    for what, figure, limit in judged(lines):
        missed += figure > limit
        print(f"{figure:8.2f} <= {limit:<6g} {'ok  ' if figure <= limit else 'MISS'}  {what}")
    print(f"\nmodel of the runs up to 10^6 rows: {model_of_small_runs(lines)}")
    for line in predicted(lines):
        print(
            f"  {line['rows']:.0e} rows on {line['workers']:4d} workers: {line['seconds']:7.1f} s "
            f"({line['compute_seconds']:.1f} s of it on rows, {line['task_seconds']:.1f} s tasks, "
            f"{line['network_seconds']:.1f} s network) and {line['megabytes']:.1f} MB an evaluation"
        )
    return missed


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.scale", description=__doc__)
    parser.add_argument("what", nargs="?", choices=("run", "show"), default="run")
    parser.add_argument("--exponents", nargs="+", type=int, default=list(EXPONENTS))
    arguments = parser.parse_args()
    if arguments.what == "run":
        run(tuple(arguments.exponents))
    return min(1, show())


if __name__ == "__main__":
    sys.exit(main())
