"""Scaling of the columns; what is learned, is learned from the training rows."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from scipy.ndimage import gaussian_filter

Pair = tuple[np.ndarray, np.ndarray]


def scale(X_train: np.ndarray, X_test: np.ndarray, scaling: Mapping[str, Any]) -> Pair:
    """Return both parts as float64, scaled as the data set file says."""
    options = dict(scaling)
    scaled: Pair = _KINDS[options.pop("kind")](
        X_train.astype(np.float64), X_test.astype(np.float64), **options
    )
    return scaled


def _none(X_train: np.ndarray, X_test: np.ndarray) -> Pair:
    return X_train, X_test


def _affine(
    X_train: np.ndarray, X_test: np.ndarray, subtract: float = 0.0, divide: float = 1.0
) -> Pair:
    """One shift and one factor for all columns: distances keep their proportions."""
    return (X_train - subtract) / divide, (X_test - subtract) / divide


def _standard(X_train: np.ndarray, X_test: np.ndarray, log: bool = False) -> Pair:
    """Each column to mean 0 and variance 1, after a logarithm if asked for."""
    if log:
        X_train, X_test = np.log(X_train), np.log(X_test)
    mean, deviation = X_train.mean(axis=0), X_train.std(axis=0)
    deviation[deviation == 0.0] = 1.0
    return (X_train - mean) / deviation, (X_test - mean) / deviation


def _one_hot(X_train: np.ndarray, X_test: np.ndarray) -> Pair:
    """One 0/1 column for each value that a column takes anywhere."""
    both = np.concatenate([X_train, X_test])
    columns = [both[:, [j]] == np.unique(both[:, j]) for j in range(both.shape[1])]
    coded = np.concatenate(columns, axis=1).astype(np.float64)
    return coded[: len(X_train)], coded[len(X_train) :]


def _recode(X_train: np.ndarray, X_test: np.ndarray, codes: list[list[float]]) -> Pair:
    """Other numbers for the codes of categories: pairs of the old and the new one."""
    old, new = np.array(sorted(codes)).T

    def recoded(X: np.ndarray) -> np.ndarray:
        return np.asarray(new[np.searchsorted(old, X)])

    return recoded(X_train), recoded(X_test)


def _smooth(X_train: np.ndarray, X_test: np.ndarray, side: int, sd: float) -> Pair:
    """Square images through a Gaussian filter of ``sd`` pixels, each by itself."""

    def filtered(X: np.ndarray) -> np.ndarray:
        images = X.reshape(-1, side, side)
        return np.asarray(gaussian_filter(images, sigma=(0.0, sd, sd))).reshape(len(X), -1)

    return filtered(X_train), filtered(X_test)


_KINDS: dict[str, Callable[..., Pair]] = {
    "none": _none,
    "affine": _affine,
    "standard": _standard,
    "one_hot": _one_hot,
    "recode": _recode,
    "smooth": _smooth,
}
