"""The data: splits by seed, columns and targets standardised by the training rows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from sklearn.datasets import (
    load_diabetes,
    load_digits,
    make_friedman1,
    make_friedman2,
    make_friedman3,
)
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler

from benchmarks import datasets
from kernelet.datasets import make_banana

N_TRAIN, N_TEST = 400, 2000
# Rows of USPS that are trained on: the full methods take a Gram matrix of them.
N_DIGITS = 2000


@dataclass(frozen=True, eq=False)
class Split:
    """Rows to learn from and rows to be judged by; ``y`` is a target, a mark of outliers, or none.

    ``X_other`` are outliers that only the choice of parameters may look at.
    """

    X_train: np.ndarray
    y_train: np.ndarray | None
    X_test: np.ndarray
    y_test: np.ndarray | None
    X_other: np.ndarray | None = None


def standardised(X: np.ndarray, y: np.ndarray, X_test: np.ndarray, y_test: np.ndarray) -> Split:
    columns, target = StandardScaler().fit(X), StandardScaler().fit(y[:, None])
    return Split(
        columns.transform(X),
        target.transform(y[:, None])[:, 0],
        columns.transform(X_test),
        target.transform(y_test[:, None])[:, 0],
    )


def friedman(make: Callable[..., tuple[np.ndarray, np.ndarray]], noise: float, unit: int) -> Split:
    train = make(N_TRAIN, noise=noise, random_state=2 * unit)
    return standardised(*train, *make(N_TEST, noise=noise, random_state=2 * unit + 1))


def diabetes(unit: int) -> Split:
    X, y = load_diabetes(return_X_y=True)
    X, X_test, y, y_test = train_test_split(X, y, train_size=300, random_state=unit)
    return standardised(X, y, X_test, y_test)


def sinc(unit: int) -> Split:
    rng = np.random.default_rng(unit)
    X = rng.uniform(-10.0, 10.0, (N_TRAIN // 2 + N_TEST, 1))
    y = np.sinc(X[:, 0] / np.pi) + 0.1 * rng.normal(size=len(X))
    cut = N_TRAIN // 2
    return standardised(X[:cut], y[:cut], X[cut:], y[cut:])


def surface(unit: int) -> Split:
    """Ridges of falling height across the plane, and a bump, under noise."""
    rng = np.random.default_rng(unit)
    X = rng.uniform(-3.0, 3.0, (N_TRAIN + N_TEST, 2))
    y = np.cos(2.0 * X[:, 0] + X[:, 1]) * np.exp(-0.1 * (X**2).sum(axis=1))
    y += 1.5 * np.exp(-2.0 * ((X - [1.0, -1.0]) ** 2).sum(axis=1))
    y += 0.2 * rng.normal(size=len(X))
    return standardised(X[:N_TRAIN], y[:N_TRAIN], X[N_TRAIN:], y[N_TRAIN:])


def digits(unit: int) -> Split:
    X, y = load_digits(return_X_y=True)
    X, X_test, y, y_test = train_test_split(X / 16.0, y, train_size=600, random_state=unit)
    return Split(X, y, X_test, y_test)


def noisy_banana(unit: int) -> Split:
    """Two columns that tell the classes apart, and eight that say nothing."""
    X, y = make_banana(N_TRAIN + N_TEST, random_state=unit)
    X = np.hstack([X, np.random.default_rng(unit).normal(size=(len(X), 8))])
    return Split(X[:N_TRAIN], y[:N_TRAIN], X[N_TRAIN:], y[N_TRAIN:])


def digits_without(unit: int) -> Split:
    X, y = load_digits(return_X_y=True)
    X, X_test, y, y_test = train_test_split(X / 16.0, y, train_size=0.7, random_state=0)
    return _without(unit, X, y, X_test, y_test)


def usps_without(unit: int) -> Split:
    split = datasets.load("usps").split(0)
    return _without(unit, split.X_train, split.y_train, split.X_test, split.y_test)


def _without(
    digit: int, X: np.ndarray, y: np.ndarray, X_test: np.ndarray, y_test: np.ndarray
) -> Split:
    """One digit is left out of the training rows and is to be found among the others."""
    label = np.unique(y)[digit]
    known = X[y != label]
    if len(known) > N_DIGITS:
        known = known[np.random.default_rng(digit).choice(len(known), N_DIGITS, replace=False)]
    return Split(known, None, X_test, (y_test == label).astype(int), X[y == label])


def usps_rows(unit: int) -> Split:
    split = datasets.load("usps").split(0)
    chosen = np.random.default_rng(unit).choice(len(split.X_train), N_DIGITS, replace=False)
    return Split(split.X_train[chosen], None, split.X_test, None)


REGRESSION: dict[str, Callable[[int], Split]] = {
    "diabetes": diabetes,
    "friedman1": lambda unit: friedman(make_friedman1, 1.0, unit),
    "friedman2": lambda unit: friedman(make_friedman2, 125.0, unit),
    "friedman3": lambda unit: friedman(make_friedman3, 0.1, unit),
    "sinc": sinc,
    "surface": surface,
}
CLASSES: dict[str, Callable[[int], Split]] = {"digits": digits, "noisy_banana": noisy_banana}
NOVELTY: dict[str, Callable[[int], Split]] = {"digits": digits_without, "usps": usps_without}
FEATURES: dict[str, Callable[[int], Split]] = {"usps": usps_rows}
