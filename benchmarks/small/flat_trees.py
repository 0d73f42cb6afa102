"""Trees as emlearn stores them: an array of splits of small integers, and an array of leaves.

emlearn's node (``eml_trees.h``) is a feature (int8), a threshold and two children (int16 each); a
child below zero is a leaf, and leaves that are equal are stored once. Its thresholds were float32
until 2024 and are int16 since. C compilers align the nodes, which is not counted here, and where a
tree has so few splits that a child is a byte, as a jump within the tree, a byte is counted; m2cgen
and emlearn's inlined form are code, an instruction or two for every field, and take more.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

THRESHOLD_BYTES = 2
# Where a tree begins: nodes are numbered by int16.
ROOT_BYTES = 2
# A child is int8 if it names at most this many splits of its tree, and leaves below zero.
SPLITS_OF_A_BYTE = 127
# Columns are int16, the largest entry of the training rows near its end; rows beyond saturate.
REACH = 32000


@dataclass(frozen=True)
class Columns:
    """Rows as integers; one unit for all columns."""

    unit: float

    @classmethod
    def of(cls, X: np.ndarray) -> Columns:
        largest = float(np.abs(X).max())
        return cls((largest or 1.0) / REACH)

    def __call__(self, X: np.ndarray) -> np.ndarray:
        return np.clip(np.rint(X / self.unit), -32768, 32767).astype(np.int16)


@dataclass(frozen=True)
class FlatTree:
    """Splits, the root first; child c >= 0 is a split, child c < 0 the leaf -1 - c.

    A row goes left if its feature is at most the threshold.
    """

    features: np.ndarray
    thresholds: np.ndarray
    left: np.ndarray
    right: np.ndarray
    leaves: np.ndarray

    @property
    def n_splits(self) -> int:
        return len(self.features)

    def leaf_of(self, X: np.ndarray) -> np.ndarray:
        """The number of the leaf of each row of integers."""
        at = np.zeros(len(X), dtype=np.int64) if self.n_splits else np.full(len(X), -1)
        moving = np.flatnonzero(at >= 0)
        while moving.size:
            here = at[moving]
            goes_left = X[moving, self.features[here]] <= self.thresholds[here]
            at[moving] = np.where(goes_left, self.left[here], self.right[here])
            moving = moving[at[moving] >= 0]
        return -1 - at


def split_bytes(n_splits: int, n_columns: int) -> int:
    """Of a split of a tree with that many."""
    child = 1 if n_splits <= SPLITS_OF_A_BYTE else 2
    return feature_bytes(n_columns) + THRESHOLD_BYTES + 2 * child


def feature_bytes(n_columns: int) -> int:
    """Of the number of a column."""
    return 1 if n_columns <= 256 else 2


def splits_bytes(trees: Sequence[FlatTree], n_columns: int) -> int:
    """Of all splits, and of where trees begin if there are several."""
    splits = sum(tree.n_splits * split_bytes(tree.n_splits, n_columns) for tree in trees)
    return splits + (ROOT_BYTES * len(trees) if len(trees) > 1 else 0)


def flat(
    features: np.ndarray,
    thresholds: np.ndarray,
    left: np.ndarray,
    right: np.ndarray,
    is_leaf: np.ndarray,
    leaves: np.ndarray,
) -> FlatTree:
    """Of a tree whose nodes are splits and leaves in one array, with a value for every leaf."""
    number = np.where(is_leaf, -np.cumsum(is_leaf), np.cumsum(~is_leaf) - 1)
    splits = np.flatnonzero(~is_leaf)
    return FlatTree(
        features[splits].astype(np.int16),
        # integers at most 12.5 are those at most 12
        np.clip(np.floor(thresholds[splits]), -32768, 32767).astype(np.int16),
        number[left[splits]].astype(np.int16),
        number[right[splits]].astype(np.int16),
        leaves,
    )


def flat_sklearn(tree: object, leaves: np.ndarray) -> FlatTree:
    """Of scikit-learn's ``tree_``; ``leaves`` has a row for every node."""
    is_leaf = tree.children_left < 0  # type: ignore[attr-defined]
    return flat(
        tree.feature,  # type: ignore[attr-defined]
        tree.threshold,  # type: ignore[attr-defined]
        tree.children_left,  # type: ignore[attr-defined]
        tree.children_right,  # type: ignore[attr-defined]
        is_leaf,
        leaves[is_leaf],
    )
