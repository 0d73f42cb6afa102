"""The cost C chosen by rows held out.

Small noisy sets want a cost of 0.1, many classes 100. After a search at one cost the loss of rows
held out is known for other costs at the price of a convex problem each, over the vectors found. The
next search starts there, at the cost that was best, until none is better than the one searched at.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from kernelet.kernels import Kernel
from kernelet.kernels.numerics.arrays import FloatArray, IndexArray, Rows
from kernelet.learners.direct.search.divided_rows import Part, kept_and_held, repetitions
from kernelet.learners.direct.search.inner_problem import LossProblem, SearchProblem, Start
from kernelet.learners.direct.search.result import Descent
from kernelet.subspace import WhitenedMap

# Costs on the path are powers of ten. Half powers were tried on diabetes, and not chosen.
_FACTOR = 10.0
# Where the path ends, for weights of one: far beyond the 0.1 of small noisy sets and the 100 of
# many classes.
_LOWEST, _HIGHEST = 1e-3, 1e5
# The most costs that are searched at: each takes as long as a fit on 4000 rows, at most.
_SEARCHES = 3
# A quarter of the rows is held out; with many rows, a quarter of 4000 of them. Fewer rows are not
# faster at the same error (by validation on training rows).
_PARTS = 4
_MOST_ROWS = 4000
# Where fewer rows are held out, all quarters are, one after the other: an error of 10 % of 150 rows
# has a standard error of 2.4 points, and four times the searches halve it.
_ENOUGH_HELD_OUT = 150
# Of less than two rows held out no mean is worth anything.
_FEWEST = 2
# The share by which rows held out have to cost less, for a cost next to the one searched at, and
# for one beyond that: a search at too high a cost takes long, and the next search can still go
# there. Settled by validation on training rows; a smaller gain is noise.
_WORTH = 1e-2
_WORTH_MORE = 0.1
# What is left of the first risk below this is nothing: data without noise would ask for ever higher
# costs, as their risk falls by the same share each time.
_NOTHING_LEFT = 1e-3
# Digits that a cost is rounded to: more than anybody writes, and fewer than the 16 of a double.
_DIGITS = 12

# A search over some rows, for the problem over them, from vectors and a kernel found before.
Search = Callable[[IndexArray, LossProblem, FloatArray, Kernel | None], Descent]


@dataclass(frozen=True, eq=False)
class ChosenCost:
    """A cost, and where a search at this cost ended."""

    cost: float
    vectors: FloatArray
    kernel: Kernel | None
    interrupted: bool = False
    risk: float = np.inf


def choose_cost(
    X: Rows,
    weights: FloatArray,
    problem: SearchProblem,
    vectors: FloatArray,
    search: Search,
    seed: int,
    first: float = 1.0,
) -> ChosenCost:
    """The cost at which rows held out cost least.

    Parameters
    ----------
    X : array or CSR of shape (n, d)
    weights : ndarray of shape (n,)
    problem : LossProblem
        At a cost of one.
    vectors : ndarray of shape (m, d)
        Where the first search starts.
    search : callable
    seed : int
        Draws the rows.
    first : float, default=1.0
        Where the path begins.

    Returns
    -------
    ChosenCost
        The first cost, without a kernel, where there are too few rows to hold any out. After
        Ctrl-C, the best until then.
    """
    parts = divided(weights, seed)
    if min(held.index.size for _, held in parts) < _FEWEST:
        return ChosenCost(first, vectors, None)
    assert isinstance(problem, LossProblem)
    path = _Path(X, problem, search, parts, vectors, cost_unit(weights))
    best = ChosenCost(first, vectors, None)
    try:
        best = path.search(first)
        while path.n_searches < _SEARCHES and not best.interrupted:
            cost = path.descend_from(best.cost)
            if cost == best.cost:
                break
            end = path.search(cost)
            if end.interrupted or end.risk > (1.0 - _WORTH) * best.risk:
                return replace(best, interrupted=end.interrupted)
            best = end
    except KeyboardInterrupt:  # between two searches, or before there is anything of the first
        return replace(best, interrupted=True)
    return best


def cost_unit(weights: FloatArray) -> float:
    """A power of ten by which costs are multiplied where weights are very small or large."""
    size = round(float(np.log10(weights).mean()))
    return float(f"1e{-size}") if abs(size) > 1 else 1.0


def searched_rows(weights: FloatArray, seed: int) -> IndexArray:
    """The rows that are kept or held out: all of them, or a sample."""
    kept, held = divided(weights, seed)[0]
    return np.union1d(kept.index, held.index)


def divided(weights: FloatArray, seed: int) -> list[tuple[Part, Part]]:
    """Rows that are kept and rows held out, once or in turn."""
    counts = repetitions(weights)
    rows = np.repeat(np.arange(weights.size), counts)
    rows = np.random.default_rng(seed).permutation(rows)[:_MOST_ROWS]
    parts = np.array_split(rows, _PARTS)
    n_times = 1 if parts[0].size >= _ENOUGH_HELD_OUT else _PARTS
    return kept_and_held(parts, counts)[:n_times]


class _Path:
    """Searches over the rows kept, and risks on those held out."""

    def __init__(
        self,
        X: Rows,
        problem: LossProblem,
        search: Search,
        parts: list[tuple[Part, Part]],
        vectors: FloatArray,
        unit: float,
    ) -> None:
        self.X, self.problem, self._search, self.parts = X, problem, search, parts
        self.unit = unit
        self.n_searches = 0
        self._first_risk = 0.0
        # where the next searches start: each with what was found without the rows held out of it
        self._starts: list[tuple[FloatArray, Kernel | None]] = [(vectors, None)] * len(parts)

    def search(self, cost: float) -> ChosenCost:
        """A search at a cost for each division of the rows."""
        self.n_searches += 1
        self._solved: list[_Solved] = []
        interrupted = False
        for j, (kept, held) in enumerate(self.parts):
            problem = self.problem.subset(kept.index, cost * kept.shares)
            end = self._search(kept.index, problem, *self._starts[j])
            self._starts[j] = end.best.vectors, end.best.kernel
            space = WhitenedMap.from_vectors(end.best.kernel, end.best.vectors)
            self._solved.append(
                _Solved(
                    space.features(self.X[kept.index]),
                    space.features(self.X[held.index]),
                    (space.weights(end.best.coefficients), end.best.intercepts),
                )
            )
            interrupted = end.interrupted
            if interrupted:
                break
        return ChosenCost(cost, *self._starts[0], interrupted, self._risk(cost))

    def _risk(self, cost: float) -> float:
        """What rows held out cost, over the vectors found."""
        risk = 0.0
        for (kept, held), solved in zip(self.parts, self._solved, strict=False):
            problem = self.problem.subset(kept.index, cost * kept.shares)
            solution = problem.solve(solved.kept, solved.start)
            solved.start = solution.weights, solution.intercepts
            scores = solved.held @ solution.weights + solution.intercepts
            risk += self.problem.subset(held.index, held.shares).loss(scores)
        return risk

    def descend_from(self, cost: float) -> float:
        """The cost nearby at which rows held out cost least, over the vectors found."""
        best, least = cost, self._risk(cost)
        self._first_risk = self._first_risk or least
        for factor in (_FACTOR, 1.0 / _FACTOR):
            there = _rounded(cost * factor)
            while _LOWEST * self.unit <= there <= _HIGHEST * self.unit:
                risk = self._risk(there)
                if risk > (1.0 - (_WORTH if best == cost else _WORTH_MORE)) * least:
                    break
                if least - risk < _NOTHING_LEFT * self._first_risk:
                    break
                best, least = there, risk
                there = _rounded(there * factor)
            if best != cost:
                break
        return best


def _rounded(cost: float) -> float:
    """A power of ten as it is written: 0.1, not 0.1 and a rounding error."""
    return float(f"{cost:.{_DIGITS}g}")


@dataclass(eq=False)
class _Solved:
    """Features of the rows kept and held out, and the machine over them."""

    kept: FloatArray
    held: FloatArray
    start: Start
