"""Class weights, and kernel widths that a weighted row counts for."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]

# Numbers that are looked at together.
_BLOCK = 1 << 20
# A column that deviates less from its mean is constant up to the rounding of that mean.
_CONSTANT = 1e-13


def class_weights(
    class_weight: Mapping[Any, float] | str | None,
    classes: NDArray[Any],
    codes: NDArray[np.intp],
    sample_weight: FloatArray,
) -> FloatArray:
    """The weight of each row's class.

    "balanced" makes the total weight of all classes equal, counting rows by their sample weight,
    so that a weight still equals repetition; a mapping gives the weights, 1 for classes it does
    not name.
    """
    if class_weight is None:
        return np.ones(codes.size)
    if isinstance(class_weight, Mapping):
        unknown = [label for label in class_weight if label not in classes]
        if unknown:
            raise ValueError(f"class_weight names {unknown!r}, which y does not contain.")
        weights = np.array([float(class_weight.get(label, 1.0)) for label in classes.tolist()])
        if not np.isfinite(weights).all() or (weights < 0).any():
            raise ValueError("class_weight must hold finite weights that are not negative.")
    elif class_weight == "balanced":
        totals = np.bincount(codes, weights=sample_weight, minlength=classes.size)
        weights = np.zeros(classes.size)
        seen = totals > 0
        weights[seen] = totals.sum() / (np.count_nonzero(seen) * totals[seen])
    else:
        raise ValueError(
            f"class_weight must be 'balanced', a dict of weights or None, got {class_weight!r}."
        )
    chosen: FloatArray = weights[codes]
    return chosen


def gamma_of_weighted_rows(gamma: float | str, X: Any, weights: FloatArray) -> float | str:
    """A number for the gammas that depend on the rows, where a row of weight 2 counts as two.

    "scale" with equal weights is scikit-learn's 1 / (n_features * X.var()); "mean_distance" is one
    over the mean squared distance between two rows, which is twice the sum of the columns'
    variances. Anything else is left as it is.
    """
    if not isinstance(gamma, str) or gamma not in ("scale", "mean_distance"):
        return gamma
    share = weights / weights.sum()
    if gamma == "mean_distance":
        centre = np.asarray(share @ X).ravel()
        if isinstance(X, np.ndarray):
            spread = _mean_square(X, centre, share)
        else:
            spread = float((share @ X.multiply(X)).sum()) - float(centre @ centre)
        return 1.0 / (2.0 * spread) if spread > 0 else 1.0
    d = X.shape[1]
    mean = float((share @ X).sum()) / d
    if isinstance(X, np.ndarray):
        variance = _mean_square(X, mean, share) / d
    else:
        variance = float((share @ X.multiply(X)).sum()) / d - mean * mean
    return 1.0 / (d * variance) if variance > 0 else 1.0


def _mean_square(X: FloatArray, centre: float | FloatArray, share: FloatArray) -> float:
    """The mean squared distance of rows from a point, in blocks.

    A copy of all of a million rows takes five times as long as the sums.
    """
    step = max(1, _BLOCK // X.shape[1])
    total = 0.0
    for start in range(0, X.shape[0], step):
        rows = slice(start, start + step)
        total += float((share[rows] @ np.square(X[rows] - centre)).sum())
    return total


def without_rounding(mean: FloatArray, spread: FloatArray) -> FloatArray:
    """Standard deviations of columns, 0 for those that are constant up to rounding.

    Examples
    --------
    >>> rows = np.full((3000, 1), 0.1)
    >>> bool(rows.std(axis=0)[0] > 0.0), without_rounding(rows.mean(axis=0), rows.std(axis=0))
    (True, array([0.]))
    """
    return np.where(spread > _CONSTANT * np.abs(mean), spread, 0.0)
