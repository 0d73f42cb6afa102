"""The weight of a penalty at which a machine has no more vectors than it may have."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol, TypeVar

from kernelet.machine import KernelMachine

# Weights tried in all, and the range that is looked through, in shares of the first one.
MAX_TRIES = 16
_RANGE = 1e12
_FACTOR = 10.0
# The search ends when two weights on either side of the answer are nearer than this factor.
_NEAR = 1.05


class HasMachine(Protocol):
    """What is fitted for a weight."""

    @property
    def machine(self) -> KernelMachine:
        """The machine that counts."""
        ...

    @property
    def is_cut(self) -> bool:
        """Whether Ctrl-C or a callback stopped it early."""
        ...


Fitted = TypeVar("Fitted", bound=HasMachine)


def largest_within(
    fit: Callable[[float], Fitted], budget: int, start: float
) -> tuple[Fitted, bool]:
    """The fit with the most vectors, but no more than the budget, that a search over weights finds.

    A larger weight gives fewer vectors, by and large: the weight goes up or down by factors of ten
    until the budget lies between two of them, and then the interval is halved in logarithms.

    Parameters
    ----------
    fit : callable
        Takes the weight.
    budget : int
        At least 1.
    start : float
        The first weight that is tried.

    Returns
    -------
    fitted : object
        What ``fit`` returned for the weight that was chosen. A fit that was cut short, or Ctrl-C,
        ends the search, with the best before it or, where there is none, with itself.
    is_cut : bool
        Whether that is how it ended.
    """
    best: Fitted | None = None
    too_small: float | None = None
    small_enough: float | None = None
    weight = start
    for _ in range(MAX_TRIES):
        try:
            fitted = fit(weight)
        except KeyboardInterrupt:
            if best is None:
                raise
            return best, True
        if fitted.is_cut:
            return fitted if best is None else best, True
        n_vectors = fitted.machine.n_vectors
        if n_vectors <= budget:
            small_enough = weight if small_enough is None else min(weight, small_enough)
            if best is None or n_vectors >= best.machine.n_vectors:
                best = fitted
            if n_vectors == budget:
                break
        else:
            too_small = weight if too_small is None else max(weight, too_small)
        if too_small is not None and small_enough is not None:
            if small_enough <= too_small * _NEAR:
                break
            weight = (too_small * small_enough) ** 0.5
        elif small_enough is None:
            weight *= _FACTOR
        else:
            weight /= _FACTOR
        if not start / _RANGE <= weight <= start * _RANGE:
            break
    if best is None:
        raise ValueError(
            f"no C_norm up to {weight:g} leaves at most n_vectors={budget}; raise n_vectors, or "
            "scale the data."
        )
    return best, False
