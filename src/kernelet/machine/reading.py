"""How predictions follow from the outputs of a machine."""

from __future__ import annotations

from enum import StrEnum, auto
from itertools import combinations

import numpy as np

from kernelet.kernels.numerics.arrays import FloatArray, IndexArray


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
    scores : ndarray of shape (n, n_classes (n_classes - 1) / 2), or (n,) if there is one pair
        Positive for the earlier class of a pair.
    n_classes : int

    Returns
    -------
    votes, confidence : ndarray of shape (n, n_classes)
    """
    scores = scores.reshape(scores.shape[0], -1)
    votes = np.zeros((scores.shape[0], n_classes))
    confidence = np.zeros_like(votes)
    for column, (i, j) in enumerate(combinations(range(n_classes), 2)):
        first = scores[:, column] > 0
        votes[first, i] += 1
        votes[~first, j] += 1
        confidence[:, i] += scores[:, column]
        confidence[:, j] -= scores[:, column]
    return votes, confidence


def ordered_votes(scores: FloatArray, n_classes: int) -> FloatArray:
    """Votes of the pairs, plus a share below 1/3 of a vote that orders equal counts."""
    votes, confidence = pair_votes(scores, n_classes)
    shares: FloatArray = votes + confidence / (3.0 * (np.abs(confidence) + 1.0))
    return shares


def most_votes(scores: FloatArray, n_classes: int, break_ties: bool) -> IndexArray:
    """The class of most votes of each row; of equal ones the first, or that of higher scores."""
    if break_ties:
        return largest_score(ordered_votes(scores, n_classes))
    return largest_score(pair_votes(scores, n_classes)[0])
