"""Checks that every solver makes of its labels, costs and tolerance."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from kernelet.kernels.numerics.arrays import FloatArray
from kernelet.solvers.solution import Solution


def checked_labels(y: ArrayLike, n: int) -> FloatArray:
    """Labels as floats, -1 or +1, one for each of n rows."""
    labels = np.asarray(y, dtype=np.float64)
    if labels.shape != (n,):
        raise ValueError(f"y must have shape ({n},), one label per row of Phi; got {labels.shape}.")
    if not (np.abs(labels) == 1.0).all():
        raise ValueError("y must hold the labels -1 and +1 only.")
    return labels


def checked_costs(C: ArrayLike, n: int) -> FloatArray:
    """Costs C_i, one for each of n rows, from a number or an array."""
    costs = np.asarray(C, dtype=np.float64)
    if costs.ndim not in (0, 1) or (costs.ndim == 1 and costs.shape != (n,)):
        raise ValueError(f"C must be a number or have shape ({n},); got shape {costs.shape}.")
    if not np.isfinite(costs).all() or (costs < 0).any():
        raise ValueError("C must be finite and not negative.")
    if not (costs > 0).any():
        raise ValueError("C must be positive for at least one row.")
    return np.array(np.broadcast_to(costs, (n,)))


def checked_columns(
    Y: ArrayLike, C: ArrayLike, n: int, warm_start: Sequence[Solution] | None
) -> tuple[list[FloatArray], list[FloatArray]]:
    """Labels and costs of one problem for each column of Y; costs that all share are one array."""
    columns = np.asarray(Y)
    if columns.ndim != 2:
        raise ValueError(f"Y must have a column for each problem, got shape {columns.shape}.")
    k = columns.shape[1]
    costs = np.asarray(C, dtype=np.float64)
    if costs.ndim == 2 and costs.shape != (n, k):
        raise ValueError(f"C must have shape ({n}, {k}) as Y has, got {costs.shape}.")
    if warm_start is not None and len(warm_start) != k:
        raise ValueError(f"warm_start must hold one Solution for each of the {k} columns of Y.")
    labels = [checked_labels(columns[:, j], n) for j in range(k)]
    if costs.ndim == 2:
        return labels, [checked_costs(costs[:, j], n) for j in range(k)]
    return labels, [checked_costs(costs, n)] * k


def checked_starts(warm_start: Sequence[Solution] | None, m: int) -> None:
    """Warm starts with as many weights as there are columns."""
    for start in warm_start or ():
        if start.weights.shape != (m,):
            raise ValueError(
                f"warm_start has {start.weights.size} weights but Phi has {m} columns."
            )


def checked_tolerance(tol: float, max_iter: int) -> None:
    """tol in (0, 1) and max_iter of at least 1."""
    if not 0.0 < tol < 1.0:
        raise ValueError(f"tol must lie between 0 and 1, got {tol}.")
    if max_iter < 1:
        raise ValueError(f"max_iter must be at least 1, got {max_iter}.")
