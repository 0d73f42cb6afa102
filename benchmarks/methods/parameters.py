"""Widths and grids that the kernel methods share."""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.methods.base import Parameters

# In units of 1 / (mean squared distance between training rows).
WIDTHS = (0.25, 0.5, 1.0, 2.0, 4.0, 8.0)
COSTS = (1.0, 10.0, 100.0, 1000.0)
KERNEL_GRID = {"gamma": WIDTHS, "C": COSTS}


def mean_distance_gamma(X: np.ndarray) -> float:
    """Return 1 / (mean squared distance between rows), twice the total variance."""
    return float(1.0 / (2.0 * X.var(axis=0).sum()))


def with_number_for_gamma(parameters: Parameters, X: np.ndarray) -> dict[str, Any]:
    """Replace ``gamma = "mean_distance"`` (and a missing gamma) by its value."""
    resolved = dict(parameters)
    if resolved.get("gamma", "mean_distance") == "mean_distance":
        resolved["gamma"] = mean_distance_gamma(X)
    return resolved
