"""A fitted model with all that led to it, and whether another one answers the same."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from benchmarks.hardening.estimators import LEARNERS, Parameters, fit, has_labels
from benchmarks.hardening.oracles import Defect, answers
from benchmarks.hardening.problems import Problem
from kernelet import TableModel

# Differences between two machines whose arithmetic was the same up to the order of a few sums.
NEARLY = 1e-6
# Machines of other digits end elsewhere on flat ground: then their objectives are compared.
SAME_OBJECTIVE = 0.05
# Entries half-way between two of a few grid points are rounded to either: 7 % at 3 bits were seen.
SAME_OBJECTIVE_IN_FEW_BITS = 0.25


@dataclass(frozen=True, eq=False)
class Fit:
    """A model with all that led to it."""

    name: str
    parameters: Parameters
    problem: Problem
    model: Any

    @property
    def is_learner(self) -> bool:
        """Whether it learns by itself, without a model inside."""
        return self.name in LEARNERS

    @property
    def inner(self) -> tuple[str, Parameters]:
        """The estimator that learns, with its parameters."""
        return self.parameters.get("of", (self.name, self.parameters))

    @property
    def is_regression(self) -> bool:
        return not has_labels(self.name, self.parameters)

    def again(self, problem: Problem | None = None, **changes: Any) -> Any:
        """A model from another problem, or with other parameters of the estimator that learns."""
        given = self.problem if problem is None else problem
        parameters = {**self.parameters, **changes}
        return fit(self.name, parameters, given.X, given.y, given.weights)


Property = Callable[[Fit, np.random.Generator], bool]


def difference(one: np.ndarray, other: np.ndarray, scale: float = 0.0) -> float:
    """The largest difference between two answers, as a share of their size."""
    if one.shape != other.shape:
        raise Defect(f"answers of shape {one.shape} and {other.shape}")
    if one.dtype.kind not in "fiu":
        return float((one != other).mean())
    size = max(float(np.abs(one).max()), float(np.abs(other).max()), scale, 1e-300)
    return float(np.abs(one - other).max()) / size


def numbers(model: Any, X: Any) -> dict[str, np.ndarray]:
    """Answers without labels, which jump; they follow from scores."""
    found = answers(model, X)
    if any(method in found for method in ("decision_function", "transform")):
        found.pop("predict", None)
        found.pop("predict_proba", None)
    return found


def sizes_of_terms(model: Any, rows: np.ndarray) -> np.ndarray:
    """The sums of the sizes of what scores are sums of: what cancels in them costs digits."""
    machine = getattr(model, "machine_", None)
    if machine is None or isinstance(model, TableModel):
        return np.zeros((len(rows), 1))
    values = np.abs(machine.kernel(rows, machine.vectors))
    return np.asarray(values @ np.abs(machine.coefficients) + np.abs(machine.intercepts))


def agree(
    one: Any, other: Any, X: Any, most: float, X_other: Any = None, scale: float = 0.0
) -> None:
    """Raise a defect if two models do not answer the same."""
    expected, found = numbers(one, X), answers(other, X if X_other is None else X_other)
    for method in expected.keys() & found.keys():  # a predictor has fewer methods than the model
        apart = difference(expected[method], found[method], scale)
        if not apart <= most:
            raise Defect(f"{method} differs by {apart:.1e}")


def same_or_as_good(fitted: Fit, other: Any, X_other: Any = None) -> None:
    """The same answers; where a search has many ends, one that is as good."""
    try:
        agree(fitted.model, other, fitted.problem.X, NEARLY, X_other)
    except Defect:
        objectives = [getattr(model, "objective_", None) for model in (fitted.model, other)]
        if not all(isinstance(one, float) for one in objectives):
            raise
        first, second = objectives
        is_rounded = fitted.inner[1].get("vector_bits") is not None
        most = SAME_OBJECTIVE_IN_FEW_BITS if is_rounded else SAME_OBJECTIVE
        if abs(first - second) > most * max(abs(first), abs(second)):
            raise
