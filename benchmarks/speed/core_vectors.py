"""Core sets against the exact solver and kernel PCA, and their time and memory against the rows.

`python -m benchmarks.speed core_vectors` measures the ratios. `python -m
benchmarks.speed.core_vectors scaling [EXPONENT]` goes from 10^3 to 10^7 rows (or to 10^EXPONENT) of
20 columns, from a file above 10^6, each size in a process of its own, and writes
`results/speed/core_vectors_scaling.csv` and its picture. Memory is what Linux reports.
"""

from __future__ import annotations

import csv
import json
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from benchmarks.results import FOLDER

# Table 5 as ratios: data set, features a class, how much faster than the exact solver.
EXACT = (("pendigits", 5, 10.0), ("letter", 1, 10.0))
PRINCIPAL = ("optdigits", "satimage", "pendigits")
N_PRINCIPAL = 50
COLUMNS = 20
EPS = 1e-3
IN_MEMORY = 1_000_000
EXPONENTS = (3.0, 3.5, 4.0, 4.5, 5.0, 5.5, 6.0, 6.5, 7.0)
CHUNK = 500_000
CSV = FOLDER / "speed" / "core_vectors_scaling.csv"
PICTURE = CSV.with_suffix(".png")


def spent(fit: Any, *rows: np.ndarray) -> float:
    """Processor seconds of a fit, on one thread: a second one would count twice."""
    with threadpool_limits(limits=1):
        start = time.process_time()
        fit(*rows)
        return time.process_time() - start


def ratio(what: str, ours: float, other: float, least: float) -> dict[str, object]:
    return {
        "what": what,
        "ratio": other / ours,
        "limit": f">= {least:g}",
        "holds": bool(other / ours >= least),
        "milliseconds": 1e3 * ours,
        "other_milliseconds": 1e3 * other,
    }


def rows() -> Iterator[dict[str, object]]:
    """Core sets against kernel PCA, and against the exact solver."""
    from sklearn.decomposition import KernelPCA

    from benchmarks import datasets
    from benchmarks.methods.parameters import mean_distance_gamma
    from kernelet import MaxMarginDiscriminantAnalysis
    from kernelet.datasets import make_ripley

    MaxMarginDiscriminantAnalysis().fit(*make_ripley(50, random_state=0))  # compiles
    for name in PRINCIPAL:
        split = datasets.load(name).split(0)
        X, y = split.X_train, split.y_train
        core = MaxMarginDiscriminantAnalysis(random_state=0)
        pca = KernelPCA(N_PRINCIPAL, kernel="rbf", gamma=mean_distance_gamma(X))
        ours, other = spent(core.fit, X, y), spent(pca.fit, X)
        what = f"KernelPCA({N_PRINCIPAL}) / core_set at N_c, {name}"
        yield ratio(what, ours, other, 1.0)
    for name, times, least in EXACT:
        split = datasets.load(name).split(0)
        X, y = split.X_train, split.y_train
        n_components = times * np.unique(y).size
        core = MaxMarginDiscriminantAnalysis(n_components, random_state=0)
        exact = MaxMarginDiscriminantAnalysis(n_components, solver="exact")
        ours, other = spent(core.fit, X, y), spent(exact.fit, X, y)
        yield ratio(f"exact / core_set at {times} N_c, {name}", ours, other, least)


def write_rows(folder: Path, n: int) -> tuple[np.memmap[Any, Any], np.memmap[Any, Any]]:
    """Two-norm data in single precision, written and left on disk a part at a time."""
    from kernelet.datasets import make_twonorm

    X = np.memmap(folder / "X", dtype=np.float32, mode="w+", shape=(n, COLUMNS))
    y = np.memmap(folder / "y", dtype=np.int8, mode="w+", shape=(n,))
    for start in range(0, n, CHUNK):
        size = min(CHUNK, n - start)
        part, labels = make_twonorm(size, random_state=start)
        X[start : start + size], y[start : start + size] = part, labels == labels.max()
    X.flush()
    y.flush()
    del X, y
    return (
        np.memmap(folder / "X", dtype=np.float32, mode="r", shape=(n, COLUMNS)),
        np.memmap(folder / "y", dtype=np.int8, mode="r", shape=(n,)),
    )


def measure(n: int) -> dict[str, float]:
    """One size: the core-set phase alone, all of the fit, reading alone, memory of its own."""
    from kernelet import CoreVectorSVC
    from kernelet.datasets import make_ripley
    from kernelet.solvers.enclosing_ball.ball import Ball

    CoreVectorSVC().fit(*make_ripley(2000, random_state=0))  # compiles
    growing: list[float] = []
    for name in ("sample", "absorb"):
        setattr(Ball, name, _timed(getattr(Ball, name), growing))
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as place:
        X, y = write_rows(Path(place), n)
        start = time.process_time()
        sum(float(X[k : k + CHUNK].sum()) for k in range(0, n, CHUNK))
        reading = time.process_time() - start
        if n <= IN_MEMORY:
            X, y = np.array(X), np.array(y)
        model = CoreVectorSVC(eps=EPS, tol=None, gamma="mean_distance", random_state=0)
        with _Watch() as watch:
            start = time.process_time()
            model.fit(X, y)
            total = time.process_time() - start
        return {
            "n": n,
            "growing_seconds": sum(growing),
            "total_seconds": total,
            "reading_seconds": reading,
            "megabytes": watch.most - watch.before,
            "data_megabytes": X.nbytes / 2**20,
            "in_memory": float(n <= IN_MEMORY),
            "n_vectors": model.n_vectors_,
            "reach": model.reach_,
        }


def _timed(function: Any, seconds: list[float]) -> Any:
    def wrapped(*arguments: Any, **options: Any) -> Any:
        start = time.process_time()
        try:
            return function(*arguments, **options)
        finally:
            seconds.append(time.process_time() - start)

    return wrapped


class _Watch:
    """The most memory of the process's own while something runs; pages of files do not count."""

    def __enter__(self) -> _Watch:
        self.before = self.most = self._now()
        self._done = threading.Event()
        self._thread = threading.Thread(target=self._look, daemon=True)
        self._thread.start()
        return self

    def _look(self) -> None:
        while not self._done.wait(0.02):
            self.most = max(self.most, self._now())

    def __exit__(self, *_: object) -> None:
        self._done.set()
        self._thread.join()
        self.most = max(self.most, self._now())

    @staticmethod
    def _now() -> float:
        lines = Path("/proc/self/status").read_text(encoding="utf-8").splitlines()
        sizes = dict(line.split(":", 1) for line in lines if ":" in line)
        return float(sizes["RssAnon"].split()[0]) / 1024


def scaling(largest: float = EXPONENTS[-1]) -> list[dict[str, float]]:
    """All sizes, each in its own process; the csv and the picture."""
    results = []
    for exponent in EXPONENTS:
        if exponent > largest:
            break
        command = [sys.executable, "-m", "benchmarks.speed.core_vectors", str(round(10**exponent))]
        output = subprocess.run(command, check=True, capture_output=True, text=True).stdout
        results.append(json.loads(output))
        print({key: round(value, 3) for key, value in results[-1].items()}, flush=True)
    CSV.parent.mkdir(exist_ok=True)
    with CSV.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, list(results[0]))
        writer.writeheader()
        writer.writerows(
            [{key: f"{value:.6g}" for key, value in result.items()} for result in results]
        )
    draw(results)
    return results


def draw(results: list[dict[str, float]]) -> None:
    """Seconds and memory against rows."""
    import matplotlib as mpl

    mpl.use("Agg")
    from matplotlib import pyplot as plt

    n = [result["n"] for result in results]
    figure, axes = plt.subplots(1, 2, figsize=(10, 4.2), layout="constrained")
    for key, label in (
        ("total_seconds", "all"),
        ("growing_seconds", "core sets"),
        ("reading_seconds", "reading the rows once"),
    ):
        axes[0].loglog(n, [result[key] for result in results], "o-", label=label)
    axes[0].set_ylabel("processor seconds")
    for key, label in (("data_megabytes", "the rows"), ("megabytes", "memory of the fit")):
        values = [max(result[key], 0.1) for result in results]
        axes[1].loglog(n, values, "o-", label=label)
    axes[1].axvline(IN_MEMORY, linestyle=":", color="grey")
    axes[1].set_ylabel("megabytes")
    for axis in axes:
        axis.set_xlabel("rows (from a file beyond 10^6)")
        axis.legend()
    figure.suptitle(f"CoreVectorSVC, two-norm data of {COLUMNS} columns, eps = {EPS:g}")
    figure.savefig(PICTURE, dpi=80)


def main() -> int:
    if sys.argv[1:2] == ["scaling"]:
        scaling(float(sys.argv[2]) if len(sys.argv) > 2 else EXPONENTS[-1])
        return 0
    if len(sys.argv) > 1:
        print(json.dumps(measure(int(sys.argv[1]))))
        return 0
    holds = True
    for row in rows():
        print(f"{row['ratio']:8.2f}  limit {row['limit']:<8} {row['what']}", flush=True)
        holds = holds and bool(row["holds"])
    return 0 if holds else 1


if __name__ == "__main__":
    raise SystemExit(main())
