"""Which budget to choose, given the scores of all."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from numbers import Integral, Real
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import sem

from kernelet.kernels.caller import warn_caller
from kernelet.kernels.numerics.arrays import FloatArray
from kernelet.learners.base.parameters import choice

Rule = str | Callable[[Mapping[str, Any]], int]
RULES = ("one_standard_error", "best", "match")


class LimitError(ValueError):
    """No budget keeps to a limit.

    Parameters
    ----------
    message : str
    parameter : {"max_bytes", "max_microseconds"}
        The limit.
    least : float
        What the cheapest budget costs.
    params : dict
        The parameters that set it.
    """

    def __init__(
        self, message: str, parameter: str, least: float, params: Mapping[str, Any]
    ) -> None:
        super().__init__(message)
        self.parameter, self.least, self.params = parameter, least, params


@dataclass(frozen=True)
class Target:
    """The score to reach; if it has no standard error, that of each budget is used."""

    score: float
    standard_error: float | None = None

    def reached(self, means: FloatArray, errors: FloatArray) -> NDArray[np.bool_]:
        """Which budgets are at most one standard error below it."""
        allowed = errors if self.standard_error is None else self.standard_error
        reached: NDArray[np.bool_] = means >= self.score - allowed
        return reached


def target_of(reference: Any, results: Mapping[str, float] | None) -> Target | None:
    """The score to reach: the reference itself if it is a number, or a model's score."""
    if isinstance(reference, Real):
        return Target(float(reference))
    if results is None:
        return None
    return Target(results["mean_test_score"], results["standard_error_test_score"])


def standard_errors(scores: FloatArray) -> FloatArray:
    """Standard error of the mean over the rows; 0 for a single row, which has none."""
    errors: FloatArray = sem(scores, axis=0) if len(scores) > 1 else np.zeros(scores.shape[1])
    return errors


def check_rule(rule: Any, reference: Any) -> None:
    """Refuse a rule that is not known, or that lacks its reference."""
    if not callable(rule):
        choice("rule", rule, RULES)
    if rule == "match" and reference is None:
        raise ValueError(
            'rule="match" needs a reference: a model such as SVC(), or the score to reach.'
        )


def within_limits(results: Mapping[str, Any], limits: Mapping[str, float]) -> NDArray[np.bool_]:
    """Which budgets have a score and cost no more than each of the limits.

    Parameters
    ----------
    results : dict
        ``cv_results_``.
    limits : dict
        Name of the parameter with the limit ("max_bytes", "max_microseconds") -> limit.
    """
    eligible: NDArray[np.bool_] = np.isfinite(results["mean_test_score"])
    for name, limit in limits.items():
        costs = results["mean_" + name.removeprefix("max_")]
        if np.isnan(costs).all():
            raise ValueError(f"{name} is given, but this kind of model has no such cost.")
        kept = eligible & (costs <= limit)
        if not kept.any():
            # of those that keep to the limits before this one
            cheapest = int(np.nanargmin(np.where(eligible, costs, np.nan)))
            least = float(costs[cheapest])
            text = f"{math.ceil(least)}" if name == "max_bytes" else f"{least:.3g}"
            raise LimitError(
                f"no budget costs at most {name}={limit:g}: the cheapest costs {text}. Raise the "
                "limit or add smaller budgets.",
                name,
                least,
                results["params"][cheapest],
            )
        eligible = kept
    return eligible


@dataclass(frozen=True, eq=False)
class Choice:
    """A rule, and what it chooses from.

    Attributes
    ----------
    results : dict
        ``cv_results_``.
    rule : {"one_standard_error", "best", "match"} or callable
    eligible : ndarray of bool
        The budgets that keep to the limits.
    goal : Target or None
        For "match" to reach.
    by_bytes : bool
        Whether few bytes are cheap, or few vectors.
    """

    results: Mapping[str, Any]
    rule: Rule
    eligible: NDArray[np.bool_]
    goal: Target | None
    by_bytes: bool

    @property
    def index(self) -> int:
        """Of the budget that the rule chooses."""
        order = cheapest_first(self.results, self.by_bytes)
        return chosen_index(self.results, self.rule, self.eligible, self.goal, order)

    def without(self, index: int) -> Choice | None:
        """The choice among the other budgets; None if there are no others."""
        eligible = self.eligible.copy()
        eligible[index] = False
        return replace(self, eligible=eligible) if eligible.any() else None


def cheapest_first(results: Mapping[str, Any], by_bytes: bool) -> NDArray[np.intp]:
    """Indices of the results by their bytes, or as they are: by vectors, then by bits.

    Parameters
    ----------
    results : dict
        ``cv_results_``.
    by_bytes : bool
    """
    if by_bytes:
        return np.argsort(results["mean_bytes"], kind="stable")
    return np.arange(results["mean_test_score"].size)


def chosen_index(
    results: Mapping[str, Any],
    rule: Rule,
    eligible: NDArray[np.bool_],
    target: Target | None,
    order: NDArray[np.intp] | None = None,
) -> int:
    """The index of the budget that the rule chooses.

    Parameters
    ----------
    results : dict
        ``cv_results_``.
    rule : {"one_standard_error", "best", "match"} or callable
        A callable takes ``results`` and returns the index.
    eligible : ndarray of bool
        The budgets to choose from, at least one.
    target : Target or None
        The score for "match" to reach.
    order : ndarray of int or None, default=None
        The budgets from cheap to expensive; None if they are in this order.

    Returns
    -------
    int
    """
    means, errors = results["mean_test_score"], results["standard_error_test_score"]
    if not isinstance(rule, str):
        index = rule(results)
        if not isinstance(index, Integral) or not 0 <= index < means.size:
            raise ValueError(
                f"rule must return an index between 0 and {means.size - 1}; got {index!r}."
            )
        return int(index)
    if order is None:
        order = np.arange(means.size)
    # argmax returns the first of equal scores: the cheapest
    best = int(order[np.argmax(np.where(eligible, means, -np.inf)[order])])
    if rule == "best":
        return best
    goal = Target(means[best], errors[best])
    if rule == "match":
        assert target is not None
        goal = target
    enough = eligible & goal.reached(means, errors)
    if not enough.any():
        warn_caller(
            f"no budget comes within one standard error of the reference's score "
            f"{goal.score:.4g}; the best, {means[best]:.4g}, is taken. Add larger budgets.",
            UserWarning,
        )
        return best
    return int(order[np.argmax(enough[order])])
