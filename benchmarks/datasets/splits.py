"""Training/test pairs: official, realisations of an archive, seeded folds, seeded subsets."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from sklearn.model_selection import StratifiedKFold, train_test_split

from benchmarks.datasets.pool import Pool
from benchmarks.datasets.scaling import scale
from benchmarks.datasets.specification import Specification


@dataclass(frozen=True)
class Split:
    """One training/test pair, scaled."""

    X_train: np.ndarray
    y_train: np.ndarray
    X_test: np.ndarray
    y_test: np.ndarray


def split_origin(specification: Specification, pool: Pool) -> str:
    """Say where the split comes from: the data set's archive, or a seed of ours."""
    archived = pool.train is not None or pool.n_train > 0
    kind = specification.split["kind"]
    if kind in ("folds", "subsets", "generated"):
        return f"{kind} by seed"
    return kind if archived else "random by seed, the official split is not in this source"


def split_pool(specification: Specification, pool: Pool, unit: int) -> Split:
    """Return one training/test pair of the protocol."""
    train, test, y_train = _indices(specification, pool, unit)
    X_train, X_test = scale(pool.X[train], pool.X[test], specification.scaling)
    return Split(X_train, y_train, X_test, pool.y[test])


def _indices(
    specification: Specification, pool: Pool, unit: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    options = specification.split
    kind = options["kind"]
    everything = np.arange(len(pool.y))
    if kind == "folds":
        folds = StratifiedKFold(options["n"], shuffle=True, random_state=0)
        train, test = list(folds.split(pool.X, pool.y))[unit]
    elif kind == "subsets":
        train, test = _halves(specification, pool, unit)
        train = np.random.default_rng(unit).permutation(train)[: options["n_train"]]
        return train, test, _flipped(pool.y[train], options.get("flip", 0.0), unit)
    elif pool.train is not None and pool.test is not None:
        train, test = pool.train[unit], pool.test[unit]
    elif kind == "official" and pool.n_train:
        # repeats on an official split differ by the method's seed only
        train, test = everything[: pool.n_train], everything[pool.n_train :]
    else:
        train, test = _halves(specification, pool, unit)
    return train, test, pool.y[train]


def _halves(specification: Specification, pool: Pool, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the official halves, or seeded ones of the same proportion."""
    everything = np.arange(len(pool.y))
    if pool.n_train:
        return everything[: pool.n_train], everything[pool.n_train :]
    n_train = int(specification.split.get("n_train", specification.shape.train))
    share = n_train / specification.shape.rows
    train, test = train_test_split(
        everything,
        train_size=round(share * len(everything)),
        random_state=seed,
        stratify=pool.y,
    )
    return train, test


def _flipped(y: np.ndarray, share: float, seed: int) -> np.ndarray:
    """Switch the labels of a share of the rows between the two classes."""
    classes = np.unique(y)
    chosen = np.random.default_rng([seed, 1]).permutation(len(y))[: round(share * len(y))]
    switched = y.copy()
    switched[chosen] = classes.sum() - y[chosen]
    return switched
