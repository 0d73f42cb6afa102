"""What the measured lines say: figures that are asked for, and the word of the model of costs."""

from __future__ import annotations

import csv
from typing import Any

import numpy as np

from benchmarks.results import FOLDER
from benchmarks.scale.child import COLUMNS, WORKERS
from benchmarks.scale.cost import BANDWIDTH, PIECES_PER_WORKER, CostModel
from kernelet.solvers.blocks.hinge import NEAR_ROWS

CSV = FOLDER / "speed" / "scale.csv"
MODEL_CSV = FOLDER / "speed" / "scale_model.csv"
PIECES = 8
SLOWER = 1.5
WORKER_MEGABYTES = 500.0
# Sample and rows near the margin grow with the rows up to a cap; so does what is made of them here.
DRIVER_MEGABYTES = 250.0
# Rows near the margin that a pass may bring back, with their labels and weights, from a worker to
# the scheduler and from there to the driver.
MOST_BYTES = 2 * NEAR_ROWS * (COLUMNS + 3) * 8
LATER = ((1e9, 10), (1e9, 100), (1e9, 1000))


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


def predicted(lines: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """What the model of the small runs makes of more rows and workers."""
    model = model_of_small_runs(lines)
    found = []
    for n, workers in LATER:
        pieces = PIECES_PER_WORKER * workers
        found.append(
            {
                "rows": n,
                "workers": workers,
                "seconds": model.seconds(n, workers, pieces, BANDWIDTH),
                "compute_seconds": model.passes * model.compute * n / workers,
                "task_seconds": model.passes * (model.fixed + model.task * pieces),
                "network_seconds": model.bytes(pieces) / BANDWIDTH,
                "megabytes": model.bytes(pieces) / 1e6,
            }
        )
    return found


def judged(lines: list[dict[str, Any]]) -> list[tuple[str, float, float]]:
    """What is asked for: a name, the figure, and its limit."""
    found = []
    for method in ("SparseSVC", "MMDA"):
        on = {
            where: sorted(
                some(lines, method=method, where=where, pieces=PIECES),
                key=lambda line: line["rows"],
            )
            for where in ("threads", "dask")
        }
        for where, runs in on.items():
            slope = np.log10(runs[-1]["seconds"] / runs[-2]["seconds"])
            found.append((f"{method}, {where}: exponent of time in rows, last tenfold", slope, 1.1))
            most = max(line["driver_megabytes"] for line in runs)
            found.append((f"{method}, {where}: MB of the driver, at most", most, DRIVER_MEGABYTES))
        last = on["dask"][-1]
        name = f"{method}: MB of a worker beyond its share, {last['rows']:.0e} rows"
        found.append((name, max(line["worker_megabytes"] for line in on["dask"]), WORKER_MEGABYTES))
        ratio = last["seconds"] / on["threads"][-1]["seconds"]
        found.append(
            (f"{method}: two workers / two threads, {last['rows']:.0e} rows", ratio, SLOWER)
        )
        moved = max(line["bytes"] / line["passes"] for line in on["dask"]) / MOST_BYTES
        found.append((f"{method}: bytes of a pass in units of their cap", moved, 1.2))
    last = some(lines, method="SparseSVC", where="dask", pieces=PIECES)[-1]
    model = model_of_small_runs(lines)
    predicted = model.seconds(last["rows"], WORKERS, PIECES, 1e9) / model.passes
    ratio = predicted / (last["seconds"] / last["passes"])
    found.append(
        ("the model's word on the largest run, or its inverse", max(ratio, 1 / ratio), 1.3)
    )
    return found
