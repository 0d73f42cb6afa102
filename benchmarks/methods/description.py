"""No method: the shape of the data, for tables that describe data sets."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from benchmarks.datasets.splits import Split
from benchmarks.methods.base import Figures, Method, Parameters


@dataclass(frozen=True)
class Description(Method):
    """Counts of rows, columns and classes."""

    def measure(self, split: Split, parameters: Parameters, seed: int) -> Figures:
        classes, counts = np.unique(split.y_train, return_counts=True)
        n_train, n_test = len(split.y_train), len(split.y_test)
        figures: Figures = {
            "n_features": split.X_train.shape[1],
            "n_classes": len(classes),
            "n_train": n_train,
            "n_test": n_test,
            "n_rows": n_train + n_test,
        }
        if len(classes) == 2:
            figures["n_negative"], figures["n_positive"] = counts.tolist()
        return figures


METHOD = Description("description", "The shape of the data", "none")
