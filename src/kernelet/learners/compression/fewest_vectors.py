"""The fewest vectors that keep the scores of a model within an error."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import ArrayLike

from kernelet.kernels.caller import warn_caller
from kernelet.kernels.numerics.arrays import FloatArray
from kernelet.learners.base.parameters import count
from kernelet.learners.base.validation import check_array
from kernelet.learners.direct.reduced_set import ReducedSet
from kernelet.machine import KernelMachine

# Smaller shares of the error allowed, such as the zero of a model that keeps its vectors, count as
# this one: they say little about numbers in between, and zero has no logarithm.
_LEAST_ERROR = 0.1
# A number after one that was not enough is at most this many times that one: the line through two
# errors may lead too far, to numbers where each try costs most.
_LARGEST_STEP = 6


class ScoreError:
    """How far the scores of a smaller machine are from those of the given one, on some rows.

    The root of the mean squared difference, over rows and outputs, divided by the root of the mean
    squared score of the given machine.

    Parameters
    ----------
    machine : KernelMachine
        The given one.
    X : {array-like, sparse matrix} of shape (n, n_features)
    """

    def __init__(self, machine: KernelMachine, X: ArrayLike) -> None:
        self.rows = check_array(X, accept_sparse="csr", dtype=np.float64)
        self.scores = machine.decision_function(self.rows)
        self.scale = max(_root_mean_square(self.scores), np.finfo(float).tiny)

    def __call__(self, reduced: ReducedSet) -> float:
        """The error of a smaller machine."""
        difference = reduced.machine.decision_function(self.rows) - self.scores
        return _root_mean_square(difference) / self.scale


def fewest_vectors(
    reduced_to: Callable[[int], ReducedSet],
    error: Callable[[ReducedSet], float],
    max_error: float,
    most: int,
) -> ReducedSet:
    """The reduced set of fewest vectors within an error.

    Numbers are tried until one keeps the error and the number before it does not.

    Parameters
    ----------
    reduced_to : callable
        The reduced set of a number of vectors.
    error : callable
        The relative error of a reduced set.
    max_error : float
    most : int
        The vectors of the given machine. If all are needed, a warning says so.

    Raises
    ------
    ValueError
        If not even these keep the error.
    KeyboardInterrupt
        If Ctrl-C ends a search before there is one that keeps the error; later the best is kept.
    """
    bracket = _Bracket(most, (0, -math.log(min(max_error, 0.5))))
    best: ReducedSet | None = None
    reached = math.inf
    while (number := bracket.next_number()) is not None:
        reduced = reduced_to(number)
        if reduced.interrupted:
            if best is None:
                raise KeyboardInterrupt
            return replace(best, interrupted=True)
        reached = error(reduced)
        if bracket.narrow(number, math.log(max(reached / max_error, _LEAST_ERROR))):
            best = reduced
    if best is None:
        raise ValueError(
            f"even all {most} vectors of the model leave an error of {reached:.2g}, more than "
            f"max_error={max_error:g}; allow a larger max_error, or more vector_bits."
        )
    if best.machine.n_vectors >= most:
        warn_caller(
            f"the model needs all of its {most} vectors to keep its scores within "
            f"max_error={max_error:g}, so all of them stay; allow a larger max_error."
        )
    return best


def warn_of_fewer(machine: KernelMachine, n_vectors: int) -> int:
    """The number asked for, with a warning if the machine has fewer vectors.

    Parameters
    ----------
    machine : KernelMachine
    n_vectors : int
    """
    if machine.n_vectors < count("n_vectors", n_vectors):
        warn_caller(
            f"the model has {machine.n_vectors} vectors, fewer than n_vectors={n_vectors}, so the "
            "result has no fewer; take a smaller n_vectors to compress it."
        )
    return int(n_vectors)


@dataclass
class _Bracket:
    """A number of vectors that is not enough, and a larger one that is.

    Errors fall about exponentially with the number of vectors. So the next number to try is where
    the line through the logarithms of two errors reaches the error allowed (regula falsi; by the
    Illinois rule, an end that stays where it is counts half).

    Attributes
    ----------
    most : int
        The largest number to be tried.
    low : tuple of int and float
        The largest number that is not enough, with the logarithm of its error as a multiple of the
        error allowed.
    high : tuple of int and float, or None
        The smallest that is enough, with the same.
    """

    most: int
    low: tuple[int, float]
    high: tuple[int, float] | None = None
    _lower: tuple[int, float] = (0, 0.0)  # the low end before this one
    _was_enough: bool | None = None
    _widths: list[int] = field(default_factory=list)

    def narrow(self, number: int, excess: float) -> bool:
        """Learn the error of a number; whether the number is enough."""
        is_enough = excess <= 0.0
        if is_enough:
            if self._was_enough:
                self.low = (self.low[0], self.low[1] / 2.0)
            self.high = (number, excess)
        else:
            if self.high is not None and not self._was_enough:
                self.high = (self.high[0], self.high[1] / 2.0)
            self._lower, self.low = self.low, (number, excess)
        self._was_enough = is_enough
        if self.high is not None:
            self._widths.append(self.high[0] - self.low[0])
        return is_enough

    def next_number(self) -> int | None:
        """The number to try next; None at the end."""
        low, excess = self.low
        if self.high is None:
            return None if low == self.most else self._further()
        high, slack = self.high
        if high - low == 1:
            return None
        if len(self._widths) > 2 and 2 * self._widths[-1] > self._widths[-3]:
            return (low + high) // 2
        crossing = low + (high - low) * excess / (excess - slack)
        return min(max(round(crossing), low + 1), high - 1)

    def _further(self) -> int:
        """Beyond the low end, as long as nothing was enough."""
        low, excess = self.low
        if low == 0:
            return max(1, math.isqrt(self.most))
        lower, larger = self._lower
        farthest = min(_LARGEST_STEP * low, self.most)
        if excess >= larger:
            return farthest
        crossing = low + (low - lower) * excess / (larger - excess)
        return min(max(math.ceil(crossing), low + 1), farthest)


def _root_mean_square(values: FloatArray) -> float:
    return float(np.sqrt(np.mean(np.square(values))))
