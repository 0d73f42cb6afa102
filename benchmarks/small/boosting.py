"""Gradient-boosted trees, as many rounds as fit; a leaf is an int16 in the split itself."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from sklearn.ensemble import HistGradientBoostingClassifier

from benchmarks.small.base import (
    LABEL_BYTES,
    SCALE_BYTES,
    Axis,
    DoesNotFit,
    Parameters,
    Small,
    SmallMethod,
    Task,
    one_of,
)
from benchmarks.small.flat_trees import (
    ROOT_BYTES,
    THRESHOLD_BYTES,
    Columns,
    FlatTree,
    feature_bytes,
    flat,
)

# A place for a child is an int16: a split of the tree, or the value of a leaf; which of both it is
# takes a bit of the two that children below 2^14 leave free.
CHILD_BYTES = 2
LARGEST_VALUE = 2**14 - 1
# What a round adds at the start, one number for each score.
BASELINE_BYTES = 4
MOST_ROUNDS = 300
# Scores are logarithms of odds. A fit with a leaf beyond this diverges, as it may on many rows with
# a penalty that suits few; it is repeated with ten times the penalty.
LARGEST_LEAF = 50.0


@dataclass(frozen=True)
class Boosted:
    """``rounds[i][k]`` is a tree whose leaves are whole numbers, added to the score of class k."""

    columns: Columns
    rounds: Sequence[Sequence[FlatTree]]
    baseline: np.ndarray
    classes: np.ndarray

    def scores(self, X: np.ndarray) -> np.ndarray:
        integers = self.columns(X)
        scores = np.tile(self.baseline, (len(X), 1))
        for trees in self.rounds:
            for k, tree in enumerate(trees):
                scores[:, k] += tree.leaves[tree.leaf_of(integers)]
        return scores

    def predict(self, X: np.ndarray) -> np.ndarray:
        scores = self.scores(X)
        if scores.shape[1] == 1:
            return self.classes[(scores[:, 0] > 0).astype(int)]
        return self.classes[scores.argmax(axis=1)]


def tree_bytes(n_splits: int, n_columns: int) -> int:
    """Of the splits of a tree, and where it begins."""
    split = feature_bytes(n_columns) + THRESHOLD_BYTES + 2 * CHILD_BYTES
    return ROOT_BYTES + n_splits * split


def overhead_bytes(task: Task) -> int:
    """Labels, the scores before the first round, and the unit of the leaves."""
    return LABEL_BYTES * task.n_classes + BASELINE_BYTES * task.n_outputs + SCALE_BYTES


def fit(X: np.ndarray, y: np.ndarray, task: Task, parameters: Parameters, seed: int) -> Small:
    settings = dict(parameters)
    n_leaves = settings.pop("max_leaf_nodes")
    free = task.n_bytes - overhead_bytes(task)
    n_rounds = free // (task.n_outputs * tree_bytes(n_leaves - 1, task.n_columns))
    if n_rounds < 1:
        raise DoesNotFit(f"a round of trees of {n_leaves} leaves takes more")
    columns = Columns.of(X)
    penalty = settings.pop("l2_regularization")
    nodes: list[list[np.ndarray]] = []
    while not nodes or _largest_leaf(nodes) > LARGEST_LEAF:
        model = HistGradientBoostingClassifier(
            max_iter=min(MOST_ROUNDS, n_rounds),
            max_leaf_nodes=n_leaves,
            min_samples_leaf=5,
            l2_regularization=penalty,
            early_stopping=False,
            random_state=seed,
            **settings,
        ).fit(columns(X), y)
        # scikit-learn shows the fitted trees nowhere else
        nodes = [[p.nodes for p in trees] for trees in model._predictors]
        penalty *= 10.0
    unit = (_largest_leaf(nodes) or 1.0) / LARGEST_VALUE
    rounds = [[_flat(n, unit) for n in trees] for trees in nodes]
    baseline = np.rint(np.asarray(model._baseline_prediction).reshape(-1) / unit).astype(np.int64)
    n_splits = [tree.n_splits for trees in rounds for tree in trees]
    n_bytes = overhead_bytes(task) + sum(tree_bytes(n, task.n_columns) for n in n_splits)
    return Small(Boosted(columns, rounds, baseline, model.classes_), n_bytes, len(rounds))


def _largest_leaf(nodes: Sequence[Sequence[np.ndarray]]) -> float:
    leaves = np.concatenate([n["value"][n["is_leaf"] == 1] for trees in nodes for n in trees])
    return float(np.abs(leaves).max())


def _flat(nodes: np.ndarray, unit: float) -> FlatTree:
    is_leaf = nodes["is_leaf"] == 1
    return flat(
        nodes["feature_idx"],
        nodes["num_threshold"],
        nodes["left"].astype(np.int64),
        nodes["right"].astype(np.int64),
        is_leaf,
        np.rint(nodes["value"][is_leaf] / unit).astype(np.int64),
    )


def axes(task: Task) -> tuple[Axis, ...]:
    leaves = tuple({"max_leaf_nodes": n} for n in (4, 2, 3, 8, 16))
    penalties = one_of("l2_regularization", 10.0, 1.0, 100.0)
    return leaves, one_of("learning_rate", 0.3, 0.1, 0.6), penalties


METHOD = SmallMethod(
    "boosting",
    "Gradient boosting",
    "G. Ke et al., LightGBM, 2017 (scikit-learn's histogram version)",
    fit,
    axes,
)
