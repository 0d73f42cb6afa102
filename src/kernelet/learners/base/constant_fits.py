"""Warnings about fits that are no better than a constant.

A kernel that does not distinguish the rows, or a penalty that outweighs every coefficient, leaves a
machine whose scores are all the same. It is a correct solution, so no solver warns: only its
predictions of the training rows show that it is useless.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import is_classifier, is_outlier_detector

from kernelet.kernels import ProjectedFeatures, ScaledFeatures
from kernelet.kernels.caller import warn_caller
from kernelet.kernels.numerics.arrays import FloatArray

IndexArray = NDArray[np.intp]

# Rows of all classes that are checked first; all rows are only checked if these leave a doubt. On
# 1e5 rows and 1000 vectors that is 1 % of what one prediction of all rows takes.
_SAMPLE_ROWS = 1000
# Scores whose differences are at most this share of their size differ only by the tolerance of the
# solver: one-vs-rest hinge losses that are lowest at a constant end with differences of 1e-3.
_SAME = 1e-2
# Features and scores that have no unit are the same if float32, in which machines are exported and
# which keeps about seven digits, does not distinguish them.
_SAME_IN_FLOAT32 = 1e-6
# Differences between doubles that are rounding errors: 1000 sums of numbers of either sign.
_ROUNDING = 1e-13
# Nine of ten targets lie between these quantiles.
_USUAL = (0.05, 0.95)
# Share of the rows by which an error is clearly above that of a constant, or a class clearly lost.
_CLEARLY_WORSE = 0.05
_CLEARLY_LOST = 0.25

# What lets a machine follow the rows more closely, by the name of the parameter.
_REMEDIES = {
    "C": "a larger",
    "C_norm": "a smaller",
    "mu": "a smaller",
    "epsilon": "a smaller",
}


def warn_if_constant(
    estimator: Any,
    X: Any,
    codes: IndexArray | None = None,
    weights: FloatArray | None = None,
    targets: FloatArray | None = None,
) -> None:
    """Warn if a fitted estimator is no better than a constant on its training rows.

    Parameters
    ----------
    estimator : estimator
        With ``machine_``.
    X : ndarray or CSR of shape (n, d)
        Training rows of positive weight, or some of them.
    codes : ndarray of shape (n,), default=None
        Their classes, as indices into ``classes_``.
    weights : ndarray of shape (n,), default=None
        Their weights.
    targets : ndarray of shape (n,) or (n, n_outputs), default=None
        Their targets.
    """
    problem = None
    for rows in _looked_at(X.shape[0], codes):
        scores = estimator.machine_.decision_function(X[rows])
        scores = scores.reshape(scores.shape[0], -1)
        if targets is not None:
            problem = _of_values(scores, targets.reshape(targets.shape[0], -1))
        elif is_classifier(estimator):
            known = None
            if codes is not None and weights is not None:
                known = codes[rows], _in_proportion(weights, codes, rows)
            problem = _of_classes(scores, estimator.classes_, known)
            if problem is None and known is not None and _has_enough_vectors(estimator):
                problem = _of_lost_classes(scores, estimator.classes_, *known)
        elif X.shape[0] > 1:
            is_detector = is_outlier_detector(estimator)
            offsets = estimator.machine_.intercepts if is_detector else 0.0
            problem = _of_features(scores - offsets, "scores" if is_detector else "features")
        if problem is None:
            return
    if problem is not None:
        warn_caller(f"{type(estimator).__name__}: {problem} {_advice(estimator)}")


def _looked_at(n: int, codes: IndexArray | None) -> Iterator[Any]:
    """Some rows of every class, spread evenly, and then all; all at once if there are few."""
    if n > _SAMPLE_ROWS:
        groups = [np.arange(n)]
        if codes is not None:
            groups = [np.flatnonzero(codes == code) for code in np.unique(codes)]
        each = max(1, _SAMPLE_ROWS // len(groups))
        yield np.concatenate([rows[:: max(1, rows.size // each)] for rows in groups])
    yield slice(None)


def _in_proportion(weights: FloatArray, codes: IndexArray, rows: Any) -> FloatArray:
    """Weights of some rows, such that every class has the share that it has of all rows."""
    of_all = np.bincount(codes, weights)
    of_some = np.bincount(codes[rows], weights[rows], minlength=of_all.size)
    ratio = np.divide(of_all, of_some, out=np.zeros_like(of_all), where=of_some > 0.0)
    scaled: FloatArray = weights[rows] * ratio[codes[rows]] / of_all.sum()
    return scaled


def _of_classes(
    scores: FloatArray, classes: NDArray[Any], known: tuple[IndexArray, FloatArray] | None
) -> str | None:
    """What is wrong with the scores of a classifier, given the classes and weights of the rows."""
    if scores.shape[1] == 1:
        relative, predicted = scores, (scores[:, 0] > 0).astype(np.intp)
    else:
        # a class wins by how far its score is above the others
        relative = scores - scores.mean(axis=1, keepdims=True)
        predicted = scores.argmax(axis=1)
    if known is not None and np.unique(known[0]).size < 2:
        return None  # a constant is all that can be learned of one class
    spread, size = float(np.ptp(relative, axis=0).max()), float(np.abs(relative).max())
    is_rounding = spread <= _ROUNDING * float(np.abs(scores).max())
    if np.unique(predicted).size == 1 and (is_rounding or spread <= _SAME * size):
        return (
            f"the scores are {'' if is_rounding else 'nearly '}the same for all rows: the model "
            f"predicts class {_label(classes, predicted[0])} for every row."
        )
    if is_rounding:
        return "the scores are the same for all rows, up to rounding, which decides their classes."
    if known is None:
        return None
    codes, weights = known
    shares = np.bincount(codes, weights, minlength=classes.size)
    error, best = float(weights @ (predicted != codes)), int(shares.argmax())
    if error > 1.0 - shares[best] + _CLEARLY_WORSE:
        return (
            f"the model is wrong on {error:.0%} of the training rows, by weight; predicting class "
            f"{_label(classes, best)} for every row is wrong on {1.0 - shares[best]:.0%}."
        )
    return None


def _has_enough_vectors(estimator: Any) -> bool:
    """Whether there are enough vectors to separate all classes; with fewer, no warning is due."""
    return bool(estimator.machine_.n_vectors >= estimator.classes_.size > 2)


def _of_lost_classes(
    scores: FloatArray, classes: NDArray[Any], codes: IndexArray, weights: FloatArray
) -> str | None:
    """Missed classes whose score hardly changes between rows, while that of another class does."""
    spread = np.ptp(scores, axis=0)
    least = _SAME * np.minimum(np.abs(scores).max(axis=0), spread.max())
    lost = np.intersect1d(np.flatnonzero(spread <= least), codes)
    of_lost = np.isin(codes, lost)
    missed = of_lost & (scores.argmax(axis=1) != codes)
    if float(weights @ missed) <= _CLEARLY_LOST * float(weights @ of_lost):
        return None
    named = ", ".join(_label(classes, code) for code in lost[:5])
    return (
        f"the scores of {lost.size} of {classes.size} classes "
        f"({named}{', ...' if lost.size > 5 else ''}) are nearly the same for all rows: against "
        "the other classes, these are constants."
    )


def _of_values(values: FloatArray, targets: FloatArray) -> str | None:
    """What is wrong with the predictions of a regressor."""
    # without the most extreme: a machine need not meet a single target far from all others
    low, high = np.quantile(targets, _USUAL, axis=0)
    wanted = high - low
    varies = wanted > _ROUNDING * np.abs(targets).max(axis=0)
    found = np.ptp(values, axis=0)
    if not varies.any() or (found > _SAME * wanted)[varies].any():
        return None
    return (
        f"the predictions are nearly the same for all training rows, from {values.min():.6g} to "
        f"{values.max():.6g}, but the targets are not, from {targets.min():.6g} to "
        f"{targets.max():.6g}."
    )


def _of_features(features: FloatArray, name: str) -> str | None:
    """What is wrong with features, or with the scores of a detector before their offset."""
    if (np.ptp(features, axis=0) > _SAME_IN_FLOAT32 * np.abs(features).max(axis=0)).any():
        return None
    return f"the {name} are the same for all training rows, to six digits."


def _label(classes: NDArray[Any], code: Any) -> str:
    return repr(classes[code].item() if hasattr(classes[code], "item") else classes[code])


def _advice(estimator: Any) -> str:
    """What to try, by the names of the parameters that the estimator has."""
    given, kernel = estimator.get_params(deep=False), estimator.machine_.kernel
    if isinstance(kernel, ScaledFeatures | ProjectedFeatures):  # learned around the one given
        kernel = kernel.kernel
    steps = []
    if hasattr(kernel, "gamma"):
        steps.append(f"another gamma (now {kernel.gamma:.3g})")
    if getattr(kernel, "coef0", None) == 0.0:
        steps.append("a positive coef0")
    for name, direction in _REMEDIES.items():
        # the value found for None is a fitted attribute
        value = getattr(estimator, f"{name}_", given.get(name))
        if name in given and isinstance(value, int | float):
            steps.append(f"{direction} {name} (now {value:g})")
    if given.get("loss") == "hinge":
        steps.append('loss="squared_hinge"')
    if given.get("vectors") == "shared":
        steps.append('vectors="per_class"')
    tried = "; or try " + ", ".join(steps) if steps else ""
    return f"Scale the columns of X, so that {kernel!r} distinguishes the rows{tried}."
