"""Where a search over vectors and kernel stands, and the coordinates in which it takes steps."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy.optimize import Bounds

from kernelet.kernels.numerics.arrays import FloatArray
from kernelet.learners.direct.search.objective import Evaluation

if TYPE_CHECKING:
    from kernelet.learners.direct.search.joint_objective import JointObjective


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
