"""The weight of a penalty at which a machine has no more vectors than it may have."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from kernelet.learners.arbitrary_norm.learn import NormMachine

# The search ends when two weights on either side of the answer are nearer than this factor: six
# halvings, in logarithms, of the factor between two weights that find the sides.
_NEAR = 1.05
_FACTOR = 10.0
# The range that is searched, in shares of the first weight; from good first weights the answer is
# found long before its end.
_RANGE = 1e12
# Weights tried in all: ten to find the sides, and the halvings.
MAX_TRIES = 16


def within_budget(
    fit: Callable[[float, bool], NormMachine], budget: int, start: float
) -> Iterator[tuple[NormMachine, bool]]:
    """Fits with ever more vectors, but no more than the budget, from a search over weights.

    A larger weight gives fewer vectors, by and large: the weight goes up or down by factors of ten
    until the budget lies between two of them, and then the interval is halved in logarithms.

    Parameters
    ----------
    fit : callable
        Takes the weight, and whether there is a fit within the budget already.
    budget : int
        At least 1.
    start : float
        The first weight that is tried.

    Yields
    ------
    fitted : NormMachine
        The best fit so far. One that was cut short ends the search, and counts only if there is
        none within the budget.
    is_cut : bool
        Whether that is how it ended.
    """
    best: NormMachine | None = None
    too_small: float | None = None
    small_enough: float | None = None
    weight = start
    for _ in range(MAX_TRIES):
        fitted = fit(weight, best is not None)
        if fitted.is_cut:
            yield fitted if best is None else best, True
            return
        n_vectors = fitted.machine.n_vectors
        if n_vectors <= budget:
            small_enough = weight if small_enough is None else min(weight, small_enough)
            if best is None or n_vectors >= best.machine.n_vectors:
                best = fitted
                yield best, False
            if n_vectors == budget:
                return
        else:
            too_small = weight if too_small is None else max(weight, too_small)
        if too_small is not None and small_enough is not None:
            if small_enough <= too_small * _NEAR:
                return
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
