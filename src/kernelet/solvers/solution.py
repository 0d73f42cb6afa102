"""What every solver returns."""

from __future__ import annotations

import enum
from dataclasses import dataclass, field

import numpy as np

from kernelet.kernels.numerics.arrays import FloatArray, IndexArray


def relative_gap(primal_value: float, dual_value: float, unit: float) -> float:
    """``(primal - dual) / max(unit, |primal|)``, and 0 for equal values."""
    distance = primal_value - dual_value
    return distance / max(unit, abs(primal_value)) if distance else 0.0


class Status(enum.Enum):
    """How a solver ended; the value is advice for a person."""

    OPTIMAL = "solved to the tolerance asked for"
    GUESS = "a starting point, not an answer"
    ITERATION_LIMIT = (
        "stopped at max_iter before the tolerance was met; raise max_iter, raise tol, or lower C"
    )
    NUMERICAL_LIMIT = (
        "no further progress is possible in double precision; the answer is the best one found: "
        "scale the features, lower C, or raise tol to the gap reported"
    )

    @classmethod
    def short_of_tolerance(cls, at_limit: bool) -> Status:
        """Why the tolerance was not met: out of iterations, or out of digits."""
        return cls.ITERATION_LIMIT if at_limit else cls.NUMERICAL_LIMIT


@dataclass(frozen=True, eq=False)
class Solution:
    """The answer to a convex problem over the rows of Phi, and the proof of how good it is.

    Attributes
    ----------
    weights : ndarray of shape (m,)
        The coefficients w of the features.
    intercept : float
        The bias b. Where no multiplier is free it is the midpoint of its KKT interval.
    multipliers : ndarray of shape (n,)
        The dual variables alpha, one per row, feasible for the dual problem.
    primal_value, dual_value : float
        Values of the two problems at these points; the optimum lies between them.
    n_iter : int
        Newton systems solved, over all rounds.
    n_rounds : int
        How many times the working set was extended, the first one included.
    working_set : ndarray of int
        Rows that were variables of the last round: those that can matter near this solution.
    status : Status
        Whether the tolerance was met, with advice when it was not.
    unit : float
        Values below this count as zero: the gap is relative to the value only above it.
    """

    weights: FloatArray
    intercept: float
    multipliers: FloatArray
    primal_value: float
    dual_value: float
    n_iter: int
    n_rounds: int = 1
    working_set: IndexArray = field(default_factory=lambda: np.empty(0, dtype=np.intp))
    status: Status = Status.OPTIMAL
    unit: float = 1.0

    @classmethod
    def guess(cls, weights: FloatArray, intercept: float) -> Solution:
        """A starting point for `warm_start` of which nothing is claimed."""
        return cls(weights, intercept, np.empty(0), np.inf, -np.inf, 0, 0, status=Status.GUESS)

    @property
    def gap(self) -> float:
        """Relative duality gap, ``(primal - dual) / max(unit, |primal|)``."""
        return relative_gap(self.primal_value, self.dual_value, self.unit)

    @property
    def is_optimal(self) -> bool:
        """Whether the tolerance asked for was met."""
        return self.status is Status.OPTIMAL
