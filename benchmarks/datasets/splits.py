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
        y = pool.y if options.get("balanced") else np.zeros_like(pool.y)
        train = _drawn(train, y[train], options["n_train"], np.random.default_rng(unit))
        flip = round(options.get("flip", 0.0) * len(train))
        return train, test, _flipped(pool.y[train], y[train], flip, unit)
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


def _drawn(
    rows: np.ndarray, groups: np.ndarray, n_rows: int, rng: np.random.Generator
) -> np.ndarray:
    """Draw rows at random, as many from each group as from the others."""
    order = rng.permutation(len(rows))
    names = np.unique(groups)
    counts = [len(part) for part in np.array_split(np.arange(n_rows), len(names))]
    chosen = [order[groups[order] == g][:n] for g, n in zip(names, counts, strict=True)]
    return rows[np.concatenate(chosen)]


def _flipped(y: np.ndarray, groups: np.ndarray, n_rows: int, seed: int) -> np.ndarray:
    """Switch the labels of some rows between the two classes, as many in each group."""
    classes = np.unique(y)
    rng = np.random.default_rng([seed, 1])
    chosen = _drawn(np.arange(len(y)), groups, n_rows, rng)
    switched = y.copy()
    switched[chosen] = classes.sum() - y[chosen]
    return switched
