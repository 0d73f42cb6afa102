"""How the defaults of SparseSVC were settled: errors on training rows that were held out.

`python -m benchmarks.defaults [--only SET ...]` fits 20 vectors with the defaults, and with the
alternatives that were tried, to three quarters of the training rows of every shared set, and prints
the error on the last quarter; test rows are not used. Lines go to `results/choices/defaults.csv`.
"""

from __future__ import annotations

import argparse
import csv
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.datasets import (
    load_breast_cancer,
    load_digits,
    load_iris,
    load_wine,
    make_classification,
)
from sklearn.svm import SVC
from threadpoolctl import threadpool_limits

from benchmarks.datasets import Unavailable, load
from kernelet import SparseSVC

RESULTS = Path(__file__).parent / "results" / "choices" / "defaults.csv"
OFFICIAL = ("optdigits", "pendigits", "satimage", "usps", "letter", "ripley")
REALISATIONS = (
    *("banana", "breast_cancer", "titanic", "waveform", "german", "image", "diabetis"),
    *("flare_solar", "thyroid", "twonorm"),
)
BUNDLED: dict[str, Callable[..., Any]] = {
    "iris": load_iris,
    "wine": load_wine,
    "cancer": load_breast_cancer,
    "digits": load_digits,
}
SETTINGS: dict[str, Callable[[], Any]] = {
    "svc": SVC,
    "defaults": lambda: SparseSVC(20, random_state=0),
    "cost_1": lambda: SparseSVC(20, C=1.0, random_state=0),
    "cost_10": lambda: SparseSVC(20, C=10.0, random_state=0),
    "features": lambda: SparseSVC(20, learn_kernel="features", random_state=0),
    "projection": lambda: SparseSVC(20, learn_kernel="projection", random_state=0),
    "one_width": lambda: SparseSVC(20, learn_kernel=True, random_state=0),
    "fixed": lambda: SparseSVC(20, learn_kernel=False, random_state=0),
    "tol_0.02": lambda: SparseSVC(20, tol=0.02, random_state=0),
}
Pair = tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]


def held_out(X: np.ndarray, y: np.ndarray, seed: int) -> Pair:
    """Three quarters of the rows, and the last quarter."""
    order = np.random.default_rng(seed).permutation(len(X))
    held, kept = order[: len(X) // 4], order[len(X) // 4 :]
    return X[kept], y[kept], X[held], y[held]


def pairs(name: str) -> Iterator[Pair]:
    """Of the training rows of a set: one of the large ones, more of the small ones."""
    if name == "seven":
        X, y = make_classification(
            *(6000, 54), n_informative=12, n_redundant=6, n_classes=7, flip_y=0.05, random_state=0
        )
        yield held_out(X[:4500], y[:4500], 0)
    elif name in BUNDLED:
        X, y = BUNDLED[name](return_X_y=True)
        for seed in range(1 if len(X) > 1000 else 3):
            yield held_out(X, y, seed)
    else:
        dataset = load(name)
        for unit in range(min(4, dataset.specification.n_units)):
            split = dataset.split(unit)
            for seed in range(1 if len(split.X_train) > 2000 else 2):
                yield held_out(split.X_train, split.y_train, seed)


def measure(name: str, make: Callable[[], Any]) -> tuple[float, float]:
    """Mean error in percent, and mean processor seconds of a fit."""
    errors, seconds = [], []
    for X, y, X_held, y_held in pairs(name):
        model, start = make(), time.process_time()
        model.fit(X, y)
        seconds.append(time.process_time() - start)
        errors.append(100.0 * np.mean(model.predict(X_held) != y_held))
    return float(np.mean(errors)), float(np.mean(seconds))


def geometric_mean(errors: list[float]) -> float:
    return float(np.exp(np.mean(np.log(np.maximum(errors, 0.3)))))


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.defaults", description=__doc__)
    parser.add_argument("--only", nargs="+", metavar="SET", help="some of the sets")
    names = parser.parse_args().only or [*OFFICIAL, *REALISATIONS, *BUNDLED, "seven"]
    lines: list[dict[str, Any]] = []
    print(f"{'':14}" + "".join(f"{setting:>12}" for setting in SETTINGS))
    for name in names:
        try:
            found = {setting: measure(name, make) for setting, make in SETTINGS.items()}
        except Unavailable as reason:
            print(f"skipped: {reason}")
            continue
        print(f"{name:14}" + "".join(f"{error:12.2f}" for error, _ in found.values()), flush=True)
        lines += [
            {"set": name, "setting": setting, "error": round(error, 3), "seconds": round(time_, 3)}
            for setting, (error, time_) in found.items()
        ]
    means = [
        geometric_mean([line["error"] for line in lines if line["setting"] == setting])
        for setting in SETTINGS
    ]
    print(f"{'geometric mean':14}" + "".join(f"{mean:12.2f}" for mean in means))
    lines += [
        {"set": "geometric_mean", "setting": setting, "error": round(mean, 3), "seconds": ""}
        for setting, mean in zip(SETTINGS, means, strict=True)
    ]
    with RESULTS.open("w", newline="") as file:
        writer = csv.DictWriter(file, ["set", "setting", "error", "seconds"])
        writer.writeheader()
        writer.writerows(lines)


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    with threadpool_limits(1):
        main()
