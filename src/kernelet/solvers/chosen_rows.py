"""The rows that a hinge problem is solved on, and what stands for the others.

Rows far outside the margin are left out: their multiplier is 0. Those far inside it have one of
C_i. Their hinges are linear there, and a solver replaces all of them by a linear term, or by the
mean of their class with the sum of their costs.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from kernelet.kernels.numerics.arrays import BoolArray, FloatArray, IndexArray

# A class without a chosen row would leave the bias without a bound. One would do; a few more keep
# the bias from being what a single row wants.
_FEWEST_OF_A_CLASS = 5


class ChosenRows:
    """The working set among rows with labels y and costs C, at first all rows that have a cost.

    Examples
    --------
    >>> import numpy as np
    >>> rows = ChosenRows(np.tile([1.0, -1.0], 20), np.ones(40))
    >>> rows.drop(np.linspace(0.0, 2.0, 40), band=0.5)
    >>> print(len(rows.index), [len(members) for members in rows.groups])
    20 [5, 5]
    """

    def __init__(self, y: FloatArray, C: FloatArray) -> None:
        self.y, self.C = y, C
        # -1: outside, multiplier 0; 0: chosen; 1: inside, behind the mean of its class
        self.sides: NDArray[np.int8] = np.where(C > 0, 0, -1).astype(np.int8)

    @property
    def index(self) -> IndexArray:
        """The chosen rows."""
        return np.flatnonzero(self.sides == 0)

    @property
    def inside(self) -> BoolArray:
        """Rows with a multiplier of C_i."""
        return self.sides > 0

    @property
    def groups(self) -> list[IndexArray]:
        """The rows behind each mean."""
        groups = [np.flatnonzero(self.inside & (self.y == label)) for label in (-1.0, 1.0)]
        return [members for members in groups if members.size]

    def copy(self) -> ChosenRows:
        """The same choice, to come back to."""
        other = ChosenRows(self.y, self.C)
        other.sides = self.sides.copy()
        return other

    # -- choosing

    def drop(self, margins: FloatArray, band: float) -> None:
        """Leave out the rows whose margin is not within band of 1."""
        chosen = self.sides == 0
        self.sides[chosen & (margins > 1.0 + band)] = -1
        self.sides[chosen & (margins < 1.0 - band)] = 1
        self._keep_both_classes(margins)

    def narrow(self, chosen: BoolArray, margins: FloatArray) -> None:
        """Choose these rows, and for the others the side that their margin is on."""
        self.sides = np.where(margins > 1.0, -1, 1).astype(np.int8)
        self.sides[chosen] = 0
        self.sides[self.C == 0] = -1
        self._keep_both_classes(margins)

    def add(self, missed: FloatArray, room: int) -> None:
        """Choose the rows that miss something; the worst if more than room, or than are chosen."""
        room = max(room, int(np.count_nonzero(self.sides == 0)))
        self.sides[worst(missed, room)] = 0

    def add_all(self) -> None:
        """Choose every row that has a cost."""
        self.sides[self.C > 0] = 0

    def _keep_both_classes(self, margins: FloatArray) -> None:
        """A few rows of each class, the nearest to the margin, are always chosen."""
        for label in (-1.0, 1.0):
            members = np.flatnonzero((self.y == label) & (self.C > 0))
            if np.count_nonzero(self.sides[members] == 0) < _FEWEST_OF_A_CLASS:
                nearest = np.argsort(np.abs(margins[members] - 1.0), kind="stable")
                self.sides[members[nearest[:_FEWEST_OF_A_CLASS]]] = 0

    # -- the small problem, and back

    def mean_weights(self) -> list[FloatArray]:
        """Row weights that give the mean of each group."""
        weights = []
        for members in self.groups:
            weight = np.zeros(self.y.size)
            weight[members] = self.C[members] / self.C[members].sum()
            weights.append(weight)
        return weights

    def labels_and_costs(self) -> tuple[FloatArray, FloatArray]:
        """Of the chosen rows, followed by those of the means."""
        index, groups = self.index, self.groups
        return (
            np.append(self.y[index], [self.y[members[0]] for members in groups]),
            np.append(self.C[index], [self.C[members].sum() for members in groups]),
        )

    def gathered(self, a: FloatArray) -> FloatArray:
        """Multipliers of the small problem from those of all rows."""
        return np.append(a[self.index], [a[members].sum() for members in self.groups])

    def spread(self, small: FloatArray) -> FloatArray:
        """Multipliers of all rows from those of the small problem, with y'a = 0 but for rounding.

        Excess is taken from multipliers between their bounds, as far as they have room.
        """
        index = self.index
        a = np.zeros(self.y.size)
        a[index] = small[: index.size]
        for members, total in zip(self.groups, small[index.size :], strict=True):
            a[members] = self.C[members] * (total / self.C[members].sum())
        excess = float(self.y @ a)
        free = np.minimum(a, self.C - a)
        for room in (free, np.where(self.y * excess > 0, a, self.C - a)):
            available = float(room.sum())
            if available > abs(excess):
                return np.clip(a - self.y * room * (excess / available), 0.0, self.C)
        return a

    def missed(self, margins: FloatArray, rounding: float = 0.0) -> FloatArray:
        """By how much the loss of each row that was not chosen exceeds what stood for it."""
        distance = np.where(self.sides < 0, 1.0 - margins, margins - 1.0)
        return np.where((self.sides != 0) & (distance > rounding), self.C * distance, 0.0)


def worst(excess: FloatArray, most: int) -> BoolArray:
    """Where the excess is positive and, if that is more often than wanted, among the largest."""
    positive = excess > 0.0
    if np.count_nonzero(positive) > most:
        positive &= excess >= np.partition(excess, -most, axis=None)[-most]
    return positive
