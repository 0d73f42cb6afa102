"""The path of searches over the rows that a fold keeps, from few vectors to many."""

from __future__ import annotations

from dataclasses import dataclass, replace

from kernelet.learners.base.progress import Loop, Step
from kernelet.learners.direct.learn import PATH_TOL, LearnedVectors, SearchPlan
from kernelet.learners.direct.search.divided_rows import Part
from kernelet.learners.direct.search.inner_problem import LossProblem
from kernelet.learners.direct.search.learn import SearchStart, search_vectors
from kernelet.learners.direct.search.result import Descent
from kernelet.learners.direct.search.rows import RowsInMemory, SearchRows, at_hand
from kernelet.subspace import canonical_rows


class FoldPath:
    """Searches over the rows kept in a fold, each from where the one before ended."""

    def __init__(self, plan: SearchPlan, kept: Part, seed: int) -> None:
        near = at_hand(plan.rows[0])
        assert isinstance(near.inner, LossProblem)
        problem = near.inner.subset(kept.index, kept.shares)
        weights = near.weights[kept.index] * kept.shares
        self.rows = RowsInMemory(near.X[kept.index], weights, problem)
        # what was found with the rows held out is no start
        self._plan = replace(plan, rows=[self.rows], starts=[None], found=None)
        self._seed = seed
        self._last: Descent | None = None

    def search(
        self, budget: int, loop: Loop, doing: str, share: float = 1.0
    ) -> LearnedVectors | None:
        """The search for this many vectors; None if a callback ended it, or a share of the time."""
        settings = self._plan.settings
        if self._last is None:
            start = replace(self._plan, budgets=[budget]).start(0, self._seed)
        else:
            best = self._last.best
            start = SearchStart(best.vectors, best.kernel, budget)
        end = search_vectors(
            self.rows,
            settings.task,
            start,
            max_iter=settings.max_iter,
            tol=PATH_TOL * settings.tol,
            seed=self._seed,
            on_step=lambda step: (
                loop.report(_Stage(doing, step), step.n_iter) or not loop.has_time_to_choose(share)
            ),
        )
        if end.interrupted:
            raise KeyboardInterrupt
        if end.stopped:
            return None
        self._last = end
        return LearnedVectors([end], [self.rows], self._plan.cost, end.kernel_gain, False)


@dataclass(frozen=True, eq=False)
class _Stage:
    """A step of a search that only helps to choose."""

    doing: str
    step: Step

    @property
    def line(self) -> str:
        return self.doing + self.step.line

    @property
    def brief(self) -> str:
        return self.doing + self.step.brief


def n_distinct(rows: SearchRows) -> int:
    """How many different rows are at hand, of which vectors can be made."""
    return int(canonical_rows(rows.X).costs.size)
