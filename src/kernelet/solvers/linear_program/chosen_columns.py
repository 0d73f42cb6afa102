"""The columns that a linear program is solved on: those with weights, and those near to having one.

Few weights differ from zero, and a Newton system costs the square of the columns it has.
"""

from __future__ import annotations

import numpy as np

from kernelet.kernels.numerics.arrays import BoolArray, FloatArray
from kernelet.solvers.chosen_rows import worst
from kernelet.solvers.linear_program.crossover import ROUNDING
from kernelet.solvers.linear_program.norms import Capacity

# Columns of the first round without a guess, and those that may join at once, or as many as there
# are. On digits 20 to 60 take a third of the time of all 240; with twice as many columns at least,
# a choice is worth the rounds.
_FIRST = 40
# Distance from the boundary of the dual ball that columns stay in.
_SHELL = 0.1
# Weights below this share of the largest are taken for zero, far from the optimum and near to it.
_SLIGHT = 1e-2
_SLIGHTEST = 1e-6


class ChosenColumns:
    """Which of m columns are in the problem, at first all.

    Examples
    --------
    >>> from kernelet.solvers.linear_program.norms import OneNorm
    >>> columns = ChosenColumns(OneNorm(np.ones(100)), 100)
    >>> columns.begin_with_most_pulled(np.arange(100.0))
    True
    >>> columns.n_chosen, float(columns.missing(np.full(100, 2.0)).max())
    (40, 2.0)
    """

    def __init__(self, capacity: Capacity, m: int) -> None:
        self._capacity = capacity
        self.mask: BoolArray = np.ones(m, dtype=bool)

    def copy(self) -> ChosenColumns:
        """The same choice, to come back to."""
        other = ChosenColumns(self._capacity, self.mask.size)
        other.mask = self.mask.copy()
        return other

    @property
    def n_chosen(self) -> int:
        """How many."""
        return int(np.count_nonzero(self.mask))

    def begin_with_most_pulled(self, pull: FloatArray) -> bool:
        """Choose the columns that are farthest outside of the dual ball; whether that is worth it.

        ``pull`` is Phi'Ya.
        """
        if self.mask.size <= 2 * _FIRST:
            return False
        self.mask = worst(self._capacity.ratios(pull), _FIRST)
        return True

    def missing(self, pull: FloatArray) -> FloatArray:
        """How far those that were not chosen are outside of the dual ball; 0 inside of it."""
        ratios = np.where(self.mask, 0.0, self._capacity.ratios(pull))
        return np.where(ratios > 1.0 + ROUNDING, ratios, 0.0)

    def add(self, missing: FloatArray) -> None:
        """Choose those that are missing; the worst if more than are chosen."""
        self.mask |= worst(missing, max(_FIRST, self.n_chosen))

    def add_if_most(self) -> bool:
        """Choose all if half of them are chosen; whether some were not."""
        some = not self.mask.all()
        if 2 * self.n_chosen < self.mask.size:
            return False
        self.mask[:] = True
        return some

    def add_all(self) -> None:
        """Choose every column."""
        self.mask[:] = True

    def restrict(
        self, w: FloatArray, pull: FloatArray, shell: float, *, is_vertex: bool = False
    ) -> None:
        """Leave out columns that have no weight and are not near to having one, if most are so.

        At a vertex the weights that are not zero are not slight.
        """
        promising = self._promising(w, pull, shell, 0.0 if is_vertex else _SLIGHT)
        if 2 * np.count_nonzero(promising) < self.mask.size:
            self.mask &= promising

    def narrow(self, w: FloatArray, pull: FloatArray) -> None:
        """Leave them out however many they are, next to the optimum."""
        self.mask &= self._promising(w, pull, _SHELL, _SLIGHTEST)

    def _promising(self, w: FloatArray, pull: FloatArray, shell: float, slight: float) -> BoolArray:
        size = np.abs(w)
        kept = np.where(size > slight * size.max(initial=0.0), w, 0.0)
        return self._capacity.promising(kept, pull, max(_SHELL, shell))
