"""The arrays of a data set before they are split, and their checksums."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

# Sources round and compute means: what differs beyond this many decimals is no difference.
_DECIMALS = 6


class Unavailable(Exception):
    """The data set cannot be had here; the message says why."""


@dataclass(frozen=True)
class Pool:
    """All rows; the first ``n_train`` are the official training rows (0: no official split).

    ``train`` and ``test`` hold one row of indices per realisation where the source has them.
    """

    X: np.ndarray
    y: np.ndarray
    n_train: int = 0
    train: np.ndarray | None = None
    test: np.ndarray | None = None
    realisation: np.ndarray | None = None
    extra: Mapping[str, Any] = field(default_factory=dict)


def checksum(pool: Pool) -> str:
    """Return the SHA-256 of rows, labels and split, in order."""
    digest = hashlib.sha256()
    for array in (_rounded(pool.X), _labels(pool.y), pool.train, pool.test):
        if array is not None:
            digest.update(str(array.shape).encode())
            digest.update(np.ascontiguousarray(array, dtype="<f8").tobytes())
    digest.update(str(pool.n_train).encode())
    return digest.hexdigest()


def sorted_checksum(pool: Pool) -> str:
    """Return the SHA-256 of the rows with their labels, whatever their order."""
    rows = np.column_stack([_labels(pool.y), _rounded(pool.X)])
    ordered = rows[np.lexsort(rows.T[::-1])]
    digest = hashlib.sha256(str(rows.shape).encode())
    digest.update(np.ascontiguousarray(ordered, dtype="<f8").tobytes())
    return digest.hexdigest()


def _rounded(X: np.ndarray) -> np.ndarray:
    # adding zero turns -0.0 into 0.0
    return np.round(np.asarray(X, dtype=np.float64), _DECIMALS) + 0.0


def _labels(y: np.ndarray) -> np.ndarray:
    return np.asarray(y, dtype=np.float64)
