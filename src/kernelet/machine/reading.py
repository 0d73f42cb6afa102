"""How predictions follow from the outputs of a machine."""

from __future__ import annotations

from enum import StrEnum, auto
from itertools import combinations
from typing import Any

import numpy as np

from kernelet.kernels.numerics.arrays import FloatArray, IndexArray
from kernelet.machine.array_api import array_namespace, like


class Reading(StrEnum):
    """What is predicted from the outputs of a machine."""

    SCORES = auto()  # nothing: a machine by itself
    VALUES = auto()  # targets of a regression
    FEATURES = auto()  # of a transformer
    OUTLIERS = auto()  # +1 or -1
    CLASSES = auto()  # the class of the largest score, or of the sign where there is one
    PAIRS = auto()  # the class of most votes of the pairs


def largest_score(scores: FloatArray) -> IndexArray:
    """The class of each row: that of the largest score, or of the sign where there is one."""
    codes: IndexArray = (scores > 0).astype(np.intp) if scores.ndim == 1 else scores.argmax(axis=1)
    return codes


def pair_votes(scores: FloatArray, n_classes: int) -> tuple[FloatArray, FloatArray]:
    """Votes of the pairs for each class, and the sums of their scores.

    Parameters
    ----------
    scores : array of shape (n, n_classes (n_classes - 1) / 2), or (n,) if there is one pair
        Positive for the earlier class of a pair. Of NumPy, or of another library of the array API.
    n_classes : int

    Returns
    -------
    votes, confidence : array of shape (n, n_classes)
    """
    if scores.ndim == 1:
        scores = scores[:, None]
    one_hot = np.eye(n_classes)
    pairs = zip(*combinations(range(n_classes), 2), strict=True)
    first, second = (one_hot[list(classes)] for classes in pairs)
    xp: Any = array_namespace(scores)
    # three times a sum of them must not overflow, which would make NaN of a share
    largest = float((np if xp is None else xp).finfo(scores.dtype).max) / (4 * n_classes)
    scores = (np if xp is None else xp).clip(scores, -largest, largest)
    if xp is None:
        wins: Any = (scores > 0).astype(np.float64)
    else:
        wins = xp.asarray(scores > 0, dtype=scores.dtype)
        first, second = (like(each, scores, xp, scores.dtype) for each in (first, second))
    return wins @ first + (1.0 - wins) @ second, scores @ (first - second)


def ordered_votes(scores: FloatArray, n_classes: int) -> FloatArray:
    """Votes of the pairs, plus a share below 1/3 of a vote that orders equal counts."""
    votes, confidence = pair_votes(scores, n_classes)
    shares: FloatArray = votes + confidence / (3.0 * (abs(confidence) + 1.0))
    return shares


def deciding_votes(scores: FloatArray, n_classes: int, break_ties: bool) -> FloatArray:
    """The votes whose largest is the prediction; of equal ones the first, or of higher scores."""
    return ordered_votes(scores, n_classes) if break_ties else pair_votes(scores, n_classes)[0]


def most_votes(scores: FloatArray, n_classes: int, break_ties: bool) -> IndexArray:
    """The class of most votes of each row."""
    return largest_score(deciding_votes(scores, n_classes, break_ties))
