"""Fits of the papers' classifiers on digits, next to SVC and to our sources of an earlier commit.

1197 standardised rows, ten classes, default parameters, processor time on one thread, best of
three. Ours and the earlier sources are measured in turn, each fit in a process of its own after a
small one that loads compiled loops. The limits in seconds were set before the fits were made
faster; a ratio to SVC does not depend on the machine as much.

Run `python -m benchmarks.speed papers_on_digits` from the top of the repository.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.datasets import load_digits
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from benchmarks.results_provenance import ROOT

# The last commit before these fits were made faster.
BEFORE = "b52a298"
# Seconds that a fit may take.
LIMITS = {
    "RelevanceVectorClassifier": 2.0,
    "NormSVC": 1.0,
    "CoreVectorSVC": 0.5,
    "MinimalKernelSVC": 0.5,
}
N_ROWS, N_WARM, REPETITIONS = 1197, 60, 3
THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")


def digits() -> tuple[np.ndarray, ...]:
    """Training rows and labels, test rows and labels."""
    X, y = load_digits(return_X_y=True)
    order = np.random.default_rng(0).permutation(len(y))
    X, y = X[order], y[order]
    X = StandardScaler().fit(X[:N_ROWS]).transform(X)
    return X[:N_ROWS], y[:N_ROWS], X[N_ROWS:], y[N_ROWS:]


def measured(name: str) -> dict[str, float]:
    """Seconds of a fit, wrong labels in percent, and vectors if it reports them."""
    import kernelet

    maker = SVC if name == "SVC" else getattr(kernelet, name)
    X, y, X_test, y_test = digits()
    model: Any = maker()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        maker().fit(X[:N_WARM], y[:N_WARM])
        start = time.process_time()
        model.fit(X, y)
        seconds = time.process_time() - start
    error = 100.0 * float(np.mean(model.predict(X_test) != y_test))
    figures = {"seconds": seconds, "error": error, "vectors": getattr(model, "n_vectors_", np.nan)}
    return {**figures, "objective": float(getattr(model, "objective_", np.nan))}


def in_child(name: str, sources: Path) -> dict[str, float]:
    """The same in a process of its own."""
    path = os.pathsep.join([str(sources), str(ROOT)])
    finished = subprocess.run(
        [sys.executable, "-m", "benchmarks.speed.papers_on_digits", name],
        cwd=ROOT,
        env={**os.environ, **dict.fromkeys(THREADS, "1"), "PYTHONPATH": path},
        capture_output=True,
        text=True,
        check=True,
    )
    found: dict[str, float] = json.loads(finished.stdout.splitlines()[-1])
    return found


def unpacked(commit: str, folder: Path) -> Path:
    """The sources of a commit."""
    archive = folder / "sources.tar"
    command = ["git", "archive", "--output", str(archive), commit, "src"]
    subprocess.run(command, cwd=ROOT, check=True)
    subprocess.run(["tar", "-xf", str(archive), "-C", str(folder)], check=True)
    return folder / "src"


def rows(before: str = BEFORE) -> Iterator[dict[str, object]]:
    """Seconds with their limit, and the ratios to SVC and to the sources before."""
    with tempfile.TemporaryDirectory() as folder:
        earlier, ours = unpacked(before, Path(folder)), ROOT / "src"
        for name, limit in LIMITS.items():
            found: dict[str, list[dict[str, float]]] = {"SVC": [], "before": [], "ours": []}
            for _ in range(REPETITIONS):
                found["SVC"].append(in_child("SVC", ours))
                found["before"].append(in_child(name, earlier))
                found["ours"].append(in_child(name, ours))
            best = {who: min(runs, key=lambda run: run["seconds"]) for who, runs in found.items()}
            now, then = best["ours"], best["before"]
            what = f"{name} in seconds ({now['error']:.1f} % errors, {now['vectors']:g} vectors)"
            yield {
                "what": what,
                "ratio": now["seconds"],
                "limit": f"<= {limit:g}",
                "holds": now["seconds"] <= limit,
                "milliseconds": 1e3 * now["seconds"],
            }
            before_it = f"{before} ({then['error']:.1f} % errors, {then['vectors']:g} vectors)"
            for other, of in (("SVC", best["SVC"]), (before_it, then)):
                yield {
                    "what": f"{name} / {other}",
                    "ratio": now["seconds"] / of["seconds"],
                    "limit": "",
                    "holds": True,
                    "milliseconds": 1e3 * now["seconds"],
                    "other_milliseconds": 1e3 * of["seconds"],
                }


if __name__ == "__main__":
    print(json.dumps(measured(sys.argv[1])))
