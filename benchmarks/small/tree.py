"""A decision tree with as many splits as fit; a leaf is the number of its class, in the split."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from sklearn.tree import DecisionTreeClassifier

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
from benchmarks.small.flat_trees import (
    SPLITS_OF_A_BYTE,
    Columns,
    FlatTree,
    flat_sklearn,
    split_bytes,
    splits_bytes,
)


@dataclass(frozen=True)
class Tree:
    columns: Columns
    tree: FlatTree
    classes: np.ndarray

    def predict(self, X: np.ndarray) -> np.ndarray:
        return self.classes[self.tree.leaves[self.tree.leaf_of(self.columns(X))]]


def most_splits(task: Task) -> int:
    """How many splits fit: with children of two bytes, or else of one."""
    long = task.n_free // split_bytes(SPLITS_OF_A_BYTE + 1, task.n_columns)
    if long > SPLITS_OF_A_BYTE:
        return long
    return min(SPLITS_OF_A_BYTE, task.n_free // split_bytes(1, task.n_columns))


def fit(X: np.ndarray, y: np.ndarray, task: Task, parameters: Parameters, seed: int) -> Small:
    n_splits = most_splits(task)
    if n_splits < 1:
        raise DoesNotFit("not even one split")
    columns = Columns.of(X)
    model = DecisionTreeClassifier(max_leaf_nodes=n_splits + 1, random_state=seed, **parameters)
    nodes = model.fit(columns(X), y).tree_
    tree = flat_sklearn(nodes, nodes.value[:, 0].argmax(axis=1))
    n_bytes = splits_bytes([tree], task.n_columns) + LABEL_BYTES * task.n_classes
    return Small(Tree(columns, tree, model.classes_), n_bytes, tree.n_splits + 1)


def axes(task: Task) -> tuple[Axis, ...]:
    return (
        one_of("criterion", "gini", "entropy"),
        one_of("min_samples_leaf", 1, 2, 4, 8, 16),
        one_of("ccp_alpha", 0.0, 1e-4, 3e-4, 1e-3, 3e-3),
    )


METHOD = SmallMethod(
    "tree",
    "Decision tree",
    "L. Breiman, J. Friedman, R. Olshen, C. Stone 1984",
    fit,
    axes,
)
