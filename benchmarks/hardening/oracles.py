"""What a fitted model has to be: finite, consistent, and no worse than the best constant."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.optimize import minimize_scalar

from benchmarks.hardening.estimators import DETECTORS, REGRESSORS, Parameters, columns_of
from benchmarks.hardening.problems import Problem
from kernelet import TableModel

# Of the weight of all rows: a machine that minimises another loss than the share of wrong labels
# may have this much more of them than a constant; beyond, our estimators promise a warning.
SLACK_OF_LABELS = 0.05
# Of the loss of the best constant, beyond the tolerance of the estimator.
SLACK_OF_LOSS = 0.02
# Largest ratio of k(x, x) between rows for a one-class SVM in double precision.
MOST_UNEVEN = 1e8
# Rounding errors of sums, as a share of the largest target.
ROUNDING = 1e-9


class Defect(Exception):
    """What is wrong, in words."""


def rows_for(model: Any, X: Any) -> Any:
    """Rows as the model takes them: those of a table have names."""
    return columns_of(X) if isinstance(model, TableModel) else X


def answers(model: Any, X: Any) -> dict[str, np.ndarray]:
    """What every method of the model answers."""
    rows, found = rows_for(model, X), {}
    for method in ("predict", "decision_function", "predict_proba", "transform", "score_samples"):
        try:
            found[method] = np.asarray(getattr(model, method)(rows))
        except AttributeError as error:
            if method not in str(error) and "probabilities" not in str(error):
                raise
    return found


def check(name: str, parameters: Parameters, model: Any, problem: Problem, is_warned: bool) -> None:
    """Raise a `Defect` if anything is wrong with a model."""
    found = answers(model, problem.X)
    if not found:
        raise Defect("the model has no answers")
    for method, values in found.items():
        if len(values) != len(problem.rows):
            raise Defect(f"{method} answers {values.shape} for {len(problem.rows)} rows")
        if values.dtype.kind == "f" and not np.isfinite(values).all():
            raise Defect(f"{method} is not finite")
    inner, its = parameters.get("of", (name, parameters))
    if "predict_proba" in found:
        _check_probabilities(found["predict_proba"])
    if getattr(model, "classes_", None) is not None:
        is_lost = inner in ("SVC", "NuSVC") and name == "compress" and is_warned
        _check_labels(model, found, problem, is_lost)
    if is_warned or ("of" in parameters and name != "TableModel"):
        return
    weights = problem.positive_weights
    if inner in REGRESSORS:
        _check_regression(inner, its, found["predict"], problem.values, weights)
    elif "decision_function" in found and inner not in DETECTORS:
        _check_classes(inner, its, model, found, problem, weights)
    elif inner in DETECTORS:
        _check_outliers(its, found["decision_function"], weights, model, problem)


def _check_probabilities(shares: np.ndarray) -> None:
    if shares.min() < 0.0 or np.abs(shares.sum(axis=1) - 1.0).max() > 1e-6:
        raise Defect("probabilities do not add up to 1, or are negative")


def _check_labels(
    model: Any, found: dict[str, np.ndarray], problem: Problem, is_lost: bool
) -> None:
    """Labels are those of y, and of the highest score.

    A compressed SVC may have lost a class, and a warning says so.
    """
    classes, y = np.asarray(model.classes_), np.asarray(problem.y)
    known = [np.unique(y)]
    if is_lost:
        # an SVC has no machine of a class without weight, and calls the others by the first labels
        known.append(known[0][: np.unique(y[problem.positive_weights > 0.0]).size])
    if not any(np.array_equal(classes, some) for some in known):
        raise Defect(f"classes_ are {classes.tolist()}")
    if "predict" not in found:
        return
    predicted = found["predict"]
    if not np.isin(predicted, classes).all():
        raise Defect("predict answers labels that y does not hold")
    scores = found.get("decision_function")
    if scores is None or "predict_proba" in found or hasattr(model, "decision_function_shape_"):
        return  # the most probable class wins, or votes do
    if scores.ndim == 1:
        expected = classes[(scores > 0).astype(int)]
    elif scores.shape[1] == classes.size:
        expected = classes[scores.argmax(axis=1)]
    else:
        raise Defect(f"decision_function has the shape {scores.shape}")
    if not np.array_equal(predicted, expected):
        raise Defect("predict is not the class of the highest score")


def class_weights(parameters: Parameters, problem: Problem) -> np.ndarray:
    """Weights of the rows with those of their classes, written a second time."""
    weights, codes = problem.positive_weights, problem.y_codes
    given = parameters.get("class_weight")
    if given == "balanced":
        totals = np.bincount(codes, weights)
        factors = np.divide(1.0, totals, out=np.zeros_like(totals), where=totals > 0)
        return np.asarray(weights * factors[codes] * totals.sum() / np.count_nonzero(totals))
    if isinstance(given, dict):
        return np.asarray(weights * [given.get(one, 1.0) for one in np.asarray(problem.y).tolist()])
    return weights


def hinge_of_constant(plus: float, minus: float) -> float:
    """The lowest sum of max(0, 1 - y b), given the weights of two classes."""
    return 2.0 * min(plus, minus)


def squared_hinge_of_constant(plus: float, minus: float) -> float:
    """The lowest sum of max(0, 1 - y b)^2, at b = (plus - minus) / (plus + minus)."""
    return 4.0 * plus * (minus / (plus + minus))


def _loss_of_classes(
    name: str, parameters: Parameters
) -> tuple[int, Callable[[float, float], float]] | None:
    """Power of the hinge loss, and the best constant's, where the sum is what is minimised."""
    if name == "SparseSVC":
        is_hinge = parameters.get("loss") == "hinge"
        return (1, hinge_of_constant) if is_hinge else (2, squared_hinge_of_constant)
    if name == "ReducedSVC":
        return 1, hinge_of_constant
    has_norm = parameters.get("norm", 1) is not None and "strategy" not in parameters
    if name == "SubspaceLPSVC" and has_norm and parameters.get("n_vectors") is None:
        return 1, hinge_of_constant
    return None


def _check_classes(
    name: str,
    parameters: Parameters,
    model: Any,
    found: dict[str, np.ndarray],
    problem: Problem,
    weights: np.ndarray,
) -> None:
    codes, weights = problem.y_codes, class_weights(parameters, problem)
    wrong = float(weights @ (found["predict"] != np.asarray(problem.y))) / weights.sum()
    constant = 1.0 - np.bincount(codes, weights).max() / weights.sum()
    if wrong > constant + SLACK_OF_LABELS + ROUNDING:
        raise Defect(f"{wrong:.3f} of the labels are wrong, {constant:.3f} by a constant")
    loss = _loss_of_classes(name, parameters)
    scores = found.get("decision_function")
    if loss is None or scores is None or parameters.get("vector_bits") is not None:
        return
    power, of_constant = loss
    scores = scores[:, None] if scores.ndim == 1 else scores
    slack = 1.0 + SLACK_OF_LOSS + parameters.get("tol", 1e-2)
    for column in range(scores.shape[1]):
        of_class = codes == (1 if scores.shape[1] == 1 else column)
        margins = np.where(of_class, 1.0, -1.0) * scores[:, column]
        ours = float(weights @ np.maximum(0.0, 1.0 - margins) ** power)
        best = of_constant(float(weights @ of_class), float(weights @ ~of_class))
        if ours > slack * best + ROUNDING * weights.sum():
            raise Defect(f"the loss of output {column} is {ours:.6g}, {best:.6g} by a constant")


def _loss_of_values(name: str, parameters: Parameters) -> Callable[[np.ndarray], np.ndarray]:
    """The loss of residuals y - f."""
    epsilon = parameters.get("epsilon", 0.1)
    kind = parameters.get("loss", "epsilon_insensitive")
    if name in ("SparseKernelRidge", "NormKernelRidge", "RelevanceVectorRegressor"):
        return np.square
    if kind == "quantile":
        share = parameters.get("quantile", 0.5)
        return lambda r: np.where(r > 0, share * r, (share - 1.0) * r)
    power = 2 if kind == "squared_epsilon_insensitive" else 1
    return lambda r: np.maximum(0.0, np.abs(r) - epsilon) ** power


def _check_regression(
    name: str,
    parameters: Parameters,
    predicted: np.ndarray,
    values: np.ndarray,
    weights: np.ndarray,
) -> None:
    loss = _loss_of_values(name, parameters)
    weights = weights / weights.sum()
    ours = float(weights @ loss(values - predicted))
    if parameters.get("fit_intercept", True):
        kept = values[weights > 0]
        # a convex function of one number: its end points and the best between them
        within = minimize_scalar(
            lambda b: weights @ loss(values - b), bounds=(kept.min(), kept.max()), method="bounded"
        )
        constants = [*kept, float(weights @ values), float(within.x)]
        best = min(float(weights @ loss(values - b)) for b in constants)
    else:
        best = float(weights @ loss(values))
    scale = np.abs(values).max() * ROUNDING
    slack = 1.0 + SLACK_OF_LOSS + parameters.get("tol", 1e-2)
    if ours > slack * best + float(loss(np.array([scale]))[0]) + scale * best**0.5 + scale**2:
        raise Defect(f"the loss is {ours:.6g}, {best:.6g} by a constant")


def _check_outliers(
    parameters: Parameters, scores: np.ndarray, weights: np.ndarray, model: Any, problem: Problem
) -> None:
    """At most a share nu of the rows lies outside."""
    nu, size = parameters.get("nu", 0.5), np.abs(scores - model.machine_.intercepts).max()
    lengths = model.machine_.kernel.diagonal(problem.rows)
    if np.abs(lengths).max() > MOST_UNEVEN * np.abs(lengths).min():
        return  # W is known up to a rounding error of the longest rows, where others are nothing
    outside = float(weights @ (scores < -1e-3 * size)) / weights.sum()
    if parameters.get("vector_bits") is None and outside > nu + SLACK_OF_LABELS:
        raise Defect(f"{outside:.3f} of the rows lie outside, nu is {nu}")
