"""Fits on 10^5, 10^6 and 10^7 rows of 20 columns, in one process and on two workers.

`python -m benchmarks.scale` takes a quarter of an hour, 4 GB of memory and 2 GB of disk, and writes
results/scale.csv and its picture; `--exponents 5 6` stays small, `show` prints the figures that are
there and what the model of costs makes of them.
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

from benchmarks.results import FOLDER
from benchmarks.scale.child import COLUMNS, WORKERS
from benchmarks.scale.cost import BANDWIDTH, PIECES_PER_WORKER, CostModel

CSV = FOLDER / "scale.csv"
PICTURE = CSV.with_suffix(".png")
EXPONENTS = (5, 6, 7)
PIECES = 8
# More pieces, for what a task costs.
MANY_PIECES = 64
AT_ONCE = 500_000
SLOWER = 1.5
WORKER_MEGABYTES = 500.0
LATER = ((1e9, 10), (1e9, 100), (1e9, 1000))


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
            print(told(line), flush=True)
            write(lines)
    draw(lines)


def told(line: dict[str, Any]) -> str:
    return (
        f"{line['method']:10s} {line['where']:8s} {line['rows']:9d} rows {line['pieces']:3d} pieces  "
        f"{line['seconds']:8.3f} s an evaluation of {line['passes']:.1f} passes  "
        f"{line['bytes'] / 1e6:6.2f} MB moved  driver {line['driver_megabytes']:5.0f} MB  "
        f"worker {line['worker_megabytes']:5.0f} MB beyond {line['share_megabytes']:.0f}"
    )


def write(lines: list[dict[str, Any]]) -> None:
    with CSV.open("w", newline="") as file:
        writer = csv.DictWriter(file, list(lines[0]), lineterminator="\n")
        writer.writeheader()
        for line in lines:
            row = {k: f"{v:.6g}" if isinstance(v, float) else v for k, v in line.items()}
            writer.writerow(row)


def read() -> list[dict[str, Any]]:
    """The figures that are there."""
    with CSV.open(newline="") as file:
        return [
            {
                name: text if name in ("method", "where") else float(text)
                for name, text in line.items()
            }
            for line in csv.DictReader(file)
        ]


def some(lines: list[dict[str, Any]], **wanted: Any) -> list[dict[str, Any]]:
    return [line for line in lines if all(line[name] == value for name, value in wanted.items())]


def model_of_small_runs(lines: list[dict[str, Any]]) -> CostModel:
    """From the runs of SparseSVC on workers with at most 10^6 rows."""
    small = [line for line in some(lines, method="SparseSVC", where="dask") if line["rows"] <= 1e6]
    return CostModel.fitted(small, WORKERS)


def show() -> int:
    """Print the figures, what is asked of them, and the model's word; the number that miss."""
    lines = read()
    for line in lines:
        print(told({**line, "rows": int(line["rows"]), "pieces": int(line["pieces"])}))
    print()
    missed = 0
    for what, figure, limit in judged(lines):
        missed += figure > limit
        print(f"{figure:8.2f} <= {limit:<6g} {'ok  ' if figure <= limit else 'MISS'}  {what}")
    model = model_of_small_runs(lines)
    print(f"\nmodel of the runs up to 10^6 rows: {model}")
    for n, workers in LATER:
        pieces = PIECES_PER_WORKER * workers
        seconds = model.seconds(n, workers, pieces, BANDWIDTH)
        megabytes = model.bytes(pieces) / 1e6
        print(
            f"  {n:.0e} rows on {workers:4d} workers: {seconds:7.1f} s and {megabytes:.1f} MB an "
            "evaluation"
        )
    return missed


def judged(lines: list[dict[str, Any]]) -> list[tuple[str, float, float]]:
    """What is asked for: a name, the figure, and its limit."""
    found = []
    for method in ("SparseSVC", "MMDA"):
        on = {
            where: sorted(
                some(lines, method=method, where=where, pieces=PIECES), key=lambda l: l["rows"]
            )
            for where in ("threads", "dask")
        }
        for where, runs in on.items():
            a_pass = [line["seconds"] / line["passes"] for line in runs]
            slope = np.log10(a_pass[-1] / a_pass[-2])
            found.append((f"{method}, {where}: exponent of time in rows, last tenfold", slope, 1.1))
            growth = runs[-1]["driver_megabytes"] - runs[-2]["driver_megabytes"]
            name = f"{method}, {where}: MB that the driver grows by, last tenfold"
            found.append((name, growth, 50.0))
        last = on["dask"][-1]
        name = f"{method}: MB of a worker beyond its share, {last['rows']:.0e} rows"
        found.append((name, max(line["worker_megabytes"] for line in on["dask"]), WORKER_MEGABYTES))
        ratio = last["seconds"] / on["threads"][-1]["seconds"]
        found.append(
            (f"{method}: two workers / two threads, {last['rows']:.0e} rows", ratio, SLOWER)
        )
        moved = [line["bytes"] / line["passes"] for line in on["dask"]]
        found.append((f"{method}: bytes of a pass, most / least rows", moved[-1] / moved[0], 1.5))
    last = some(lines, method="SparseSVC", where="dask", pieces=PIECES)[-1]
    model = model_of_small_runs(lines)
    predicted = model.seconds(last["rows"], WORKERS, PIECES, 1e9) / model.passes
    ratio = predicted / (last["seconds"] / last["passes"])
    found.append(
        ("the model's word on the largest run, or its inverse", max(ratio, 1 / ratio), 1.3)
    )
    return found


def draw(lines: list[dict[str, Any]]) -> None:
    """Seconds, memory and bytes of an evaluation against the rows."""
    import matplotlib.pyplot as plt

    figure, panels = plt.subplots(1, 3, figsize=(13.0, 4.2), layout="constrained")
    for number, method in enumerate(("SparseSVC", "MMDA")):
        for where, style in (("threads", "--"), ("dask", "-")):
            runs = some(lines, method=method, where=where, pieces=PIECES)
            rows = [line["rows"] for line in runs]
            label = f"{method}, {'two workers' if where == 'dask' else 'two threads'}"
            look = {"color": f"C{number}", "linestyle": style, "marker": "o", "label": label}
            panels[0].plot(rows, [line["seconds"] / line["passes"] for line in runs], **look)
            panels[1].plot(rows, [line["driver_megabytes"] for line in runs], **look)
            if where == "dask":
                panels[2].plot(
                    rows, [line["bytes"] / line["passes"] / 1e6 for line in runs], **look
                )
    for panel, title in zip(
        panels,
        ("seconds of a pass", "MB that the driver takes", "MB over the network, a pass"),
        strict=True,
    ):
        panel.set(xscale="log", xlabel="rows", title=title)
        panel.grid(alpha=0.3)
    panels[0].set(yscale="log")
    for panel in panels[1:]:
        panel.set_ylim(bottom=0.0)
    panels[0].legend()
    figure.savefig(PICTURE, dpi=90)


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
