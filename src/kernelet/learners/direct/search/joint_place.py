"""Where a search over vectors and kernel stands, and the coordinates in which it takes steps."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, Self

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import Bounds

from kernelet.learners.direct.search.objective import Evaluation, FloatArray, InnerSolution, Start

if TYPE_CHECKING:
    from kernelet.learners.direct.search.joint_objective import JointObjective


class SmoothProblem(Protocol):
    """An inner problem whose value has a derivative.

    Attributes
    ----------
    is_sum : bool
        Whether it is a sum over rows, so that a sample can stand for all.
    """

    is_sum: bool

    def solve(self, Phi: FloatArray, start: Start | None) -> InnerSolution:
        """Solve it, with a certificate."""
        ...

    def approximate(
        self, Phi: FloatArray, start: Start | None, slopes: FloatArray | None = None
    ) -> InnerSolution:
        """Solve it as exactly as a search over vectors needs, in the precision of Phi.

        ``slopes`` is the score gradient of a nearby problem over the same rows.
        """
        ...

    def subset(self, index: NDArray[np.intp], scale: float = 1.0) -> Self:
        """The problem over some of its rows, whose costs are multiplied."""
        ...

    def row_losses(self, solution: InnerSolution) -> FloatArray | None:
        """What each row costs at the solution; None where the value is no sum over rows."""
        ...


@dataclass(frozen=True, eq=False)
class Place:
    """Parameters of the input stage, and coordinates of the vectors behind it."""

    parameters: FloatArray
    v: FloatArray


@dataclass(frozen=True, eq=False)
class JointEvaluation(Evaluation):
    """W at a place, with its gradient there; ``value`` includes the regulariser.

    Attributes
    ----------
    place : Place
    slopes : ndarray
        In the parameters, then in the coordinates of the vectors.
    regulariser : float
    unit : float
        W at the start of the search, in which the regulariser is measured.
    row_losses : ndarray or None
        Of the rows of the sample, where not all rows are in use.
    """

    place: Place
    slopes: FloatArray
    regulariser: float
    unit: float
    row_losses: FloatArray | None


class PlaceChart:
    """Changes of the parameters, then of the coordinates of the vectors."""

    def __init__(self, objective: JointObjective, place: Place) -> None:
        self._objective, self._start = objective, place
        self.size = place.parameters.size + place.v.size
        lower, upper = objective.stage.bounds(place.parameters)
        self.bounds: Bounds | None = None
        if np.isfinite(lower).any():  # without any, L-BFGS need not look at bounds
            free = np.full(place.v.size, np.inf)
            self.bounds = Bounds(np.append(lower, -free), np.append(upper, free))

    def at(self, x: FloatArray, rank: int | None) -> JointEvaluation:
        split = self._start.parameters.size
        v = self._start.v + x[split:].reshape(self._start.v.shape)
        return self._objective.at(Place(self._start.parameters + x[:split], v))

    def slopes(self, at: Evaluation) -> FloatArray:
        assert isinstance(at, JointEvaluation)
        return at.slopes
