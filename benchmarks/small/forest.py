"""A forest of trees of few leaves, as many as fit; leaves are votes or shares of the classes.

A vote is the number of a class, in the split (emlearn's default). Shares of the classes are a byte
each for every leaf (emlearn's ``leaf_bits=8``); of two classes one share is enough.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.ensemble import ExtraTreesClassifier, RandomForestClassifier

from benchmarks.small.base import (
    LABEL_BYTES,
    Axis,
    DoesNotFit,
    Parameters,
    Small,
    SmallMethod,
    Task,
    one_of,
)
from benchmarks.small.flat_trees import Columns, FlatTree, flat_sklearn, split_bytes, splits_bytes

KINDS: dict[str, Any] = {"forest": RandomForestClassifier, "extra": ExtraTreesClassifier}
# More trees lower the error little and take long.
MOST_TREES = 1000
SHARE_STEPS = 255


@dataclass(frozen=True)
class Forest:
    """``leaves`` of a tree are whole numbers for every class, which are added up."""

    columns: Columns
    trees: Sequence[FlatTree]
    classes: np.ndarray

    def predict(self, X: np.ndarray) -> np.ndarray:
        integers = self.columns(X)
        scores = sum(tree.leaves[tree.leaf_of(integers)] for tree in self.trees)
        return self.classes[np.asarray(scores).argmax(axis=1)]


def leaf_values(shares: np.ndarray, leaf: str) -> np.ndarray:
    """Of the shares of the classes: a vote for the largest, or bytes."""
    if leaf == "vote":
        return np.eye(shares.shape[1], dtype=np.int32)[shares.argmax(axis=1)]
    return np.rint(shares * SHARE_STEPS).astype(np.int32)


def forest_bytes(trees: Sequence[FlatTree], task: Task, leaf: str) -> int:
    """Of splits, leaves and labels."""
    n_leaves = sum(len(tree.leaves) for tree in trees)
    return (
        splits_bytes(trees, task.n_columns)
        + leaf_bytes(task, leaf) * n_leaves
        + LABEL_BYTES * task.n_classes
    )


def leaf_bytes(task: Task, leaf: str) -> int:
    """Of a leaf, beyond its place in the split."""
    return 0 if leaf == "vote" else task.n_outputs


def fit(X: np.ndarray, y: np.ndarray, task: Task, parameters: Parameters, seed: int) -> Small:
    settings = dict(parameters)
    n_leaves, leaf = settings.pop("max_leaf_nodes"), settings.pop("leaf")
    kind = KINDS[settings.pop("kind")]
    n_splits = n_leaves - 1
    per_tree = n_splits * split_bytes(n_splits, task.n_columns) + 2
    per_tree += n_leaves * leaf_bytes(task, leaf)
    n_trees = min(MOST_TREES, task.n_free // per_tree)
    if n_trees < 1:
        raise DoesNotFit(f"a tree takes {per_tree} bytes")
    columns = Columns.of(X)
    model = kind(n_trees, max_leaf_nodes=n_leaves, random_state=seed, n_jobs=1, **settings)
    model.fit(columns(X), y)
    trees = []
    for each in model.estimators_:
        shares = each.tree_.value[:, 0] / each.tree_.value[:, 0].sum(axis=1, keepdims=True)
        trees.append(flat_sklearn(each.tree_, leaf_values(shares, leaf)))
    n_bytes = forest_bytes(trees, task, leaf)
    return Small(Forest(columns, trees, model.classes_), n_bytes, len(trees))


def axes(task: Task) -> tuple[Axis, ...]:
    leaves = tuple({"max_leaf_nodes": n} for n in (32, 8, 16, 64, 128, 256, 512))
    return (
        leaves,
        one_of("leaf", "vote", "share"),
        one_of("max_features", "sqrt", 0.3),
        one_of("kind", "forest", "extra"),
    )


METHOD = SmallMethod(
    "forest",
    "Random forest",
    "L. Breiman 2001; P. Geurts, D. Ernst, L. Wehenkel 2006",
    fit,
    axes,
)
