"""Training and test rows by the name of a set: shared sets, scikit-learn's and generated ones."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import numpy as np
from sklearn.datasets import load_digits, make_classification
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler

from benchmarks import datasets
from benchmarks.datasets import Split, Unavailable
from benchmarks.datasets.specification import VARIABLE
from benchmarks.direct_rest.data import REGRESSION
from kernelet.datasets import make_twonorm

N_TEST = 100_000


def load(name: str, unit: int, inputs: str) -> Split:
    """Return a split.

    Parameters
    ----------
    name : str
        A data set of ``benchmarks.datasets``, "digits", "seven", "twonorm_<rows>" or a set of
        ``benchmarks.direct_rest``.
    unit : int
        Which split of a set that has several; ones that have fewer begin again.
    inputs : {"as they are", "standardised"}
        The latter by the training rows.
    """
    split = _load(name, unit)
    if inputs == "as they are":
        return split
    scaler = StandardScaler().fit(split.X_train)
    return replace(
        split, X_train=scaler.transform(split.X_train), X_test=scaler.transform(split.X_test)
    )


def _load(name: str, unit: int) -> Split:
    if name == "digits":
        X, y = load_digits(return_X_y=True)
        return _ordered(train_test_split(X / 16.0, y, random_state=unit))
    if name == "seven":
        return _seven()
    if name == "mnist":
        return _mnist()
    if name.startswith("twonorm_"):
        n = int(name.removeprefix("twonorm_"))
        return Split(*make_twonorm(n, random_state=0), *make_twonorm(N_TEST, random_state=1))
    if name in REGRESSION:
        found = REGRESSION[name](unit)
        assert found.y_train is not None and found.y_test is not None
        return Split(found.X_train, found.y_train, found.X_test, found.y_test)
    return _archived(name, unit)


def _ordered(parts: list[np.ndarray]) -> Split:
    X, X_test, y, y_test = parts
    return Split(X, y, X_test, y_test)


def _seven() -> Split:
    """Seven classes in 54 unscaled columns, most of which say nothing."""
    X, y = make_classification(
        6000,
        54,
        n_informative=12,
        n_redundant=6,
        n_classes=7,
        n_clusters_per_class=2,
        flip_y=0.05,
        random_state=0,
    )
    return Split(X[:4500], y[:4500], X[4500:], y[4500:])


def _mnist() -> Split:
    """Pixels in [0, 1]; not verified as other sets are, which takes more memory than a fit."""
    pool = datasets.READERS["folder"]({"file": "mnist.npz"})
    cut = pool.n_train
    return Split(pool.X[:cut] / 255.0, pool.y[:cut], pool.X[cut:] / 255.0, pool.y[cut:])


def _archived(name: str, unit: int) -> Split:
    """The official split or a realisation, also of sets that the tables cut into folds."""
    dataset = datasets.load(name)
    pool, n_splits = dataset.pool, dataset.specification.n_units
    if dataset.specification.split["kind"] in ("official", "realisations"):
        return dataset.split(unit % n_splits)
    if pool.n_train:
        cut = pool.n_train
        return Split(pool.X[:cut], pool.y[:cut], pool.X[cut:], pool.y[cut:])
    if dataset.source != "folder":
        raise Unavailable(f"{name}: its realisations are not in {dataset.source}")
    source = next(each for each in dataset.specification.sources if each.kind == "folder")
    with np.load(Path(os.environ[VARIABLE]) / source.options["file"]) as arrays:
        place = unit % len(arrays["train"])
        train, test = arrays["train"][place], arrays["test"][place]
    return Split(pool.X[train], pool.y[train], pool.X[test], pool.y[test])
