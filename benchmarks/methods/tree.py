"""A decision tree pruned by cost complexity, in the place of C4.5."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.tree import DecisionTreeClassifier

from benchmarks.methods.base import Classifier, Figures, Parameters, Size

N_CANDIDATES = 12
# feature and children as 16-bit integers, threshold or label as float32
BYTES_PER_NODE = 10


def fit(X: np.ndarray, y: np.ndarray, parameters: Parameters, seed: int) -> Any:
    """Choose the complexity cost by 5-fold cross-validation among those that change the tree."""
    tree = DecisionTreeClassifier(random_state=seed, **parameters)
    costs = np.unique(np.maximum(tree.cost_complexity_pruning_path(X, y).ccp_alphas, 0.0))
    # equally spaced ranks: the costs crowd at the small end
    ranks = np.unique(np.linspace(0, len(costs) - 1, N_CANDIDATES + 1).astype(int))[:-1]
    candidates = costs[ranks] if len(ranks) else costs
    folds = StratifiedKFold(5, shuffle=True, random_state=seed)
    search = GridSearchCV(tree, {"ccp_alpha": candidates}, cv=folds).fit(X, y)
    return search.best_estimator_


def size(fitted: Any) -> Size:
    """A tree has no vectors."""
    return Size(np.nan, 0, BYTES_PER_NODE * fitted.tree_.node_count)


def figures(fitted: Any) -> Figures:
    return {"tree_size": fitted.tree_.node_count}


METHOD = Classifier(
    "tree",
    "Decision tree, pruned by cost complexity",
    "L. Breiman, J. Friedman, R. Olshen, C. Stone 1984",
    fit,
    size,
    figures,
    single_point=True,
)
