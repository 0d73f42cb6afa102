"""Which numbers of vectors to try, and which of them to take."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

# What is tried, from few to many: each about twice the one before, as errors fall with the
# logarithm of the number.
BUDGETS = (5, 10, 20, 50, 100, 200)
COLUMNS = ("n_vectors", "score", "standard_error", "bytes")
# The path ends after this many numbers in a row that gain no standard error.
_PATIENCE = 2
# Machines that take too many bytes before one between them and the largest that fits is left to the
# last fit, which takes fewer vectors where it has to.
_MOST_TOO_LARGE = 3


@dataclass(frozen=True)
class Tried:
    """How well machines with a number of vectors predict the rows held out, and their cost.

    Attributes
    ----------
    n_vectors : int
    score, standard_error : float
        Over all rows held out.
    n_bytes : float
        The mean over the folds.
    fits : bool
        Whether that is allowed.
    room : float
        How many vectors would fit, by what these take.
    """

    n_vectors: int
    score: float
    standard_error: float
    n_bytes: float
    fits: bool = True
    room: float = np.inf


def next_budget(tried: Sequence[Tried], most: int) -> int | None:
    """The number of vectors to try next, of at most ``most``; None at the end of the path."""
    listed = [budget for budget in BUDGETS if budget <= most] or [most]
    if not tried:
        return listed[0]
    last = tried[-1]
    too_large = [one.n_vectors for one in tried if not one.fits]
    if too_large:
        between = int(min(max(last.room, 1.0), min(too_large) - 1))
        largest = max((one.n_vectors for one in tried if one.fits), default=0)
        return between if between > largest and len(too_large) < _MOST_TOO_LARGE else None
    above = [budget for budget in listed if budget > last.n_vectors]
    if last.n_vectors not in listed or not above or _has_settled(tried):
        return None
    budget = int(min(above[0], last.room))
    return budget if budget > last.n_vectors else None


def _has_settled(tried: Sequence[Tried]) -> bool:
    """Whether the last few are no better than the one before them, by a standard error."""
    best, n_idle = tried[0], 0
    for one in tried[1:]:
        n_idle += 1
        if one.score > best.score + best.standard_error:
            best, n_idle = one, 0
    return n_idle >= _PATIENCE


def chosen_budget(tried: Sequence[Tried], has_limit: bool) -> int:
    """The fewest vectors within a standard error of the best; the best of those that fit a limit.

    Where none fits, the fewest that were tried.
    """
    fitting = [one for one in tried if one.fits]
    if not fitting:
        return min(one.n_vectors for one in tried)
    best = max(fitting, key=lambda one: (one.score, -one.n_vectors))
    if has_limit:
        return best.n_vectors
    return min(t.n_vectors for t in fitting if t.score >= best.score - best.standard_error)


def ends_at_limit(tried: Sequence[Tried], budget: int) -> bool:
    """Whether it is the limit that keeps the path from going beyond this many vectors."""
    own = [one for one in tried if one.n_vectors == budget]
    above = [one.fits for one in tried if one.n_vectors > budget]
    following = min((listed for listed in BUDGETS if listed > budget), default=0)
    return bool(own) and not any(above) and (bool(above) or own[0].room < following)


def table(tried: Sequence[Tried]) -> NDArray[np.float64]:
    """A row for each number, ascending, with the columns of `path_of`."""
    rows = [(one.n_vectors, one.score, one.standard_error, one.n_bytes) for one in tried]
    return np.array(sorted(rows), dtype=np.float64).reshape(-1, len(COLUMNS))


def path_of(rows: NDArray[np.float64]) -> dict[str, NDArray[Any]]:
    """The attribute ``path_``, from such a table."""
    columns = dict(zip(COLUMNS, rows.T.copy(), strict=True))
    return {**columns, "n_vectors": columns["n_vectors"].astype(np.int64)}
