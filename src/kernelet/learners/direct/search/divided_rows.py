"""Rows held out: parts in which every row, or each of the equal rows it stands for, is once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kernelet.kernels.numerics.arrays import FloatArray, IndexArray

# Whole weights above this, on average, are no counts of equal rows: repeated as often, they would
# also take memory.
_MOST_REPETITIONS = 100


@dataclass(frozen=True, eq=False)
class Part:
    """Some rows, each with a share of its weight."""

    index: IndexArray
    shares: FloatArray


def repetitions(weights: FloatArray) -> IndexArray:
    """How many equal rows each row stands for.

    Weights that are whole numbers count equal rows, which are kept and held out in part; a weight
    means the same as a repetition. Other weights, and very uneven ones, say how much rows matter.
    """
    is_count = (weights == np.round(weights)).all() and weights.min() >= 1.0
    if is_count and weights.sum() <= _MOST_REPETITIONS * weights.size:
        return weights.astype(np.intp)
    return np.ones(weights.size, dtype=np.intp)


def kept_and_held(parts: list[IndexArray], counts: IndexArray) -> list[tuple[Part, Part]]:
    """For each of several parts, all others together and itself.

    Parameters
    ----------
    parts : list of ndarray
        Rows by number; one that stands for several is named as often.
    counts : ndarray of shape (n,)
        How many rows each stands for.
    """
    return [
        (_part(np.concatenate([*parts[:k], *parts[k + 1 :]]), counts), _part(parts[k], counts))
        for k in range(len(parts))
    ]


def folds(
    labels: NDArray[Any], counts: IndexArray, n_folds: int, seed: int
) -> list[tuple[Part, Part]]:
    """Folds in which each label has its share, drawn with a seed; rows kept and held out of each.

    Parameters
    ----------
    labels : ndarray of shape (n,)
    counts : ndarray of shape (n,)
        How many rows each stands for.
    n_folds : int
    seed : int
    """
    rows = np.random.default_rng(seed).permutation(np.repeat(np.arange(counts.size), counts))
    rows = rows[np.argsort(labels[rows], kind="stable")]
    return kept_and_held([rows[k::n_folds] for k in range(n_folds)], counts)


def _part(rows: IndexArray, counts: IndexArray) -> Part:
    index, times = np.unique(rows, return_counts=True)
    return Part(index, times / counts[index])
