"""The direct method as a function: from rows and settings to the results of its searches.

A fit first decides on a kernel, a cost and starting points. Then it searches for each set of
vectors, and keeps the best of several starts.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

# Seeding needs it. If a thread imported it, a process forked at that moment would hang on the lock.
import sklearn.cluster  # noqa: F401
from numpy.typing import NDArray

from kernelet.kernels import Kernel
from kernelet.kernels.numerics.arrays import FloatArray
from kernelet.kernels.width import require_width
from kernelet.learners.base.progress import Loop
from kernelet.learners.direct.kernel_learning.choice import KernelTask, LearnedPart
from kernelet.learners.direct.kernel_learning.guards import Guard, HeldOutLoss
from kernelet.learners.direct.kernel_learning.learn import learn_widths
from kernelet.learners.direct.search.checkpoint import Checkpoint
from kernelet.learners.direct.search.cost_path import choose_cost, cost_unit, searched_rows
from kernelet.learners.direct.search.inner_problem import LossProblem
from kernelet.learners.direct.search.learn import SearchLimits, SearchStart, search_vectors
from kernelet.learners.direct.search.result import Descent, Progress, best_of
from kernelet.learners.direct.search.rows import RowsInMemory, SearchRows, at_hand
from kernelet.subspace import seed_vectors

# The tolerance of searches for a cost, in units of tol. In validation on the training rows of 21
# sets, rougher tolerances chose other costs and finer ones the same.
_COST_TOL = 3.0

# In a path, the tolerance of all models but the largest, in units of tol. On digits, pendigits and
# satimage a path then costs about as much as its largest model alone, and its models have the
# errors of separate fits.
PATH_TOL = 5.0

# Where there is a limit to the seconds of all choices, the cost may take this share of them; the
# number of vectors has the rest.
_COST_SHARE = 0.5

# Makes what judges widths on held-out rows, from the rows, their problem, the held-out indices and
# a seed.
MakeGuard = Callable[[Any, Any, NDArray[np.intp], int], Guard]


def held_out_loss(X: Any, problem: Any, held: NDArray[np.intp], seed: int) -> Guard:
    """The loss on the held-out rows."""
    return HeldOutLoss(X[held], problem.subset(held))


@dataclass(frozen=True, eq=False)
class DirectSettings:
    """What the searches of a fit have to do: the parameters of the estimator, checked.

    Attributes
    ----------
    budgets : list of int
        The number of vectors of each search.
    task : KernelTask
        The kernel, and what is learned of it.
    max_iter, tol, init, n_init, n_jobs
        As the estimators describe them.
    chooses_cost : bool
        Whether held-out rows choose the cost; problems then have a cost of one.
    cost : float or None
        The cost, if it has been chosen before.
    late_cost : float or None
        The cost, if there is no time left to choose it.
    guard : callable
        Judges the width of a kernel if the loss is not smooth.
    """

    budgets: list[int]
    task: KernelTask
    max_iter: int
    tol: float
    init: Any = "kmeans"
    n_init: int = 1
    n_jobs: int = 1
    chooses_cost: bool = False
    cost: float | None = None
    late_cost: float | None = None
    guard: MakeGuard = held_out_loss


@dataclass(frozen=True, eq=False)
class LastFit:
    """What a warm start continues from: vectors for each search, their kernel and their cost."""

    vectors: list[FloatArray | None]
    kernel: Kernel | None = None
    cost: float | None = None


@dataclass(frozen=True, eq=False)
class LearnedVectors:
    """Where the searches ended, the chosen cost, and what learning the kernel gained.

    ``rows`` are those of each search, with the problem at the chosen cost.
    """

    searches: list[Descent]
    rows: list[SearchRows]
    cost: float | None
    kernel_gain: float
    interrupted: bool


@dataclass(frozen=True, eq=False)
class SearchPlan:
    """What is decided on before the searches begin: kernel, cost and starting points."""

    settings: DirectSettings
    rows: list[SearchRows]
    budgets: list[int]
    seeds: NDArray[np.int64]
    starts: list[FloatArray | None]
    found: Kernel | None = None
    cost: float | None = None
    kernel_gain: float = 0.0

    def start(self, k: int, seed: int) -> SearchStart:
        """Where a search begins: at known vectors, or at vectors drawn with a seed."""
        vectors = self.starts[k]
        if vectors is not None:
            return SearchStart(vectors, self.found, self.budgets[k])
        return SearchStart(_seeded(self.rows[k], self.budgets[k], self.settings, seed), self.found)


def learn_vectors(
    rows: Sequence[SearchRows],
    whole: SearchRows,
    settings: DirectSettings,
    rng: np.random.RandomState,
    loop: Loop,
    *,
    last: LastFit | None = None,
    saved: Checkpoint | None = None,
    attributes: Callable[[Progress], dict[str, Any]] | None = None,
) -> LearnedVectors:
    """One set of vectors for each inner problem, the best of ``n_init`` searches.

    Parameters
    ----------
    rows : sequence of SearchRows
        The same rows with each of the problems.
    whole : SearchRows
        The rows with the problem that decides on cost and kernel.
    settings : DirectSettings
    rng : RandomState
    loop : Loop
        Watches the steps. Ctrl-C ends all searches; those that have not begun take a step.
    last : LastFit, default=None
        Vectors to start from.
    saved : Checkpoint, default=None
        Where to continue from, and to write steps to.
    attributes : callable, default=None
        Makes the attributes of a fitted model from a step, if one search makes a model.

    Returns
    -------
    LearnedVectors
    """
    plan = plan_searches(list(rows), whole, settings, rng, loop, last, saved)
    watch = _Watch(loop, plan.settings.task.kernel, saved, attributes)
    ends = loop.each(lambda k: _search(plan, k, watch), len(rows), settings.n_jobs)
    if loop.interrupted and not any(end.interrupted for end in ends):
        # Ctrl-C reached the thread that waits, when the others were done
        ends[-1] = ends[-1].interrupted_later()
    if saved is not None and not loop.interrupted:
        saved.remove()
    gain = plan.kernel_gain
    if not plan.settings.task.learn.is_nothing:
        gain = ends[0].kernel_gain
    return LearnedVectors(ends, plan.rows, plan.cost, gain, loop.interrupted)


@dataclass(frozen=True, eq=False)
class _Watch:
    """What happens after the steps of a search: checkpoints, callbacks, the end after Ctrl-C."""

    loop: Loop
    kernel: Kernel
    saved: Checkpoint | None
    attributes: Callable[[Progress], dict[str, Any]] | None

    def start(self, k: int) -> SearchStart | None:
        """Where a search was interrupted, by the checkpoint."""
        return None if self.saved is None else self.saved.start(k)

    def step(self, k: int, step: Progress) -> bool:
        """Report a step of a search; returns whether a callback asks for its end."""
        if self.loop.interrupted:  # in another search
            raise KeyboardInterrupt
        make, keep = self.attributes, None
        model = None if make is None else lambda: make(step)
        if (saved := self.saved) is not None:
            keep = lambda: saved.write(k, step, self.kernel)  # noqa: E731
        return self.loop.report(step, step.n_iter, model, keep)


def _search(plan: SearchPlan, k: int, watch: _Watch) -> Descent:
    """The best of the searches for one set of vectors."""
    kept = watch.start(k)

    def descend_from(seed: int) -> Descent:
        return search_vectors(
            plan.rows[k],
            plan.settings.task,
            kept or plan.start(k, seed),
            max_iter=plan.settings.max_iter,
            tol=plan.settings.tol,
            seed=seed,
            on_step=lambda step: watch.step(k, step),
        )

    # known vectors are the same start for every seed
    chances = plan.seeds[k] if plan.starts[k] is None else plan.seeds[k][:1]
    end = best_of(descend_from(int(seed)) for seed in chances)
    if end.interrupted:
        watch.loop.interrupt()
    return end


def plan_searches(
    rows: list[SearchRows],
    whole: SearchRows,
    settings: DirectSettings,
    rng: np.random.RandomState,
    loop: Loop,
    last: LastFit | None = None,
    saved: Checkpoint | None = None,
) -> SearchPlan:
    """Where searches start and what they learn; chooses cost and widths by held-out rows."""
    seeds = rng.randint(np.iinfo(np.int32).max, size=(len(rows), settings.n_init))
    starts: list[FloatArray | None] = [None] * len(rows) if last is None else last.vectors
    found = last.kernel if last is not None and starts[0] is not None else None
    plan = SearchPlan(settings, rows, settings.budgets, seeds, starts, found)
    near = at_hand(whole)
    if not settings.task.learn.is_nothing and near.inner.smooth is None:
        plan = _with_widths(plan, near, int(seeds[0, 0]), loop)
    if not settings.chooses_cost:
        return plan
    known = settings.cost if saved is None else saved.cost
    if known is not None:
        plan = replace(plan, cost=known)
    else:
        before = last.cost if last is not None and starts[0] is not None else None
        plan = _with_cost(plan, near, before, loop)
    assert plan.cost is not None
    if saved is not None:
        saved.cost = plan.cost
    return replace(plan, rows=[each.scaled(plan.cost) for each in plan.rows])


def _with_widths(plan: SearchPlan, near: RowsInMemory, seed: int, loop: Loop) -> SearchPlan:
    """A plan with the widths that are best on held-out rows, for a loss that is not smooth."""
    settings, task = plan.settings, plan.settings.task
    learned = learn_widths(
        near.X,
        require_width(task.kernel, "learn_kernel"),
        near.inner,
        _seeded(near, plan.budgets[0], settings, seed),
        lambda held: settings.guard(near.X, near.inner, held, seed),
        SearchLimits(settings.max_iter, settings.tol),
        per_feature=task.learn.has_scale_per_feature,
        seed=seed,
    )
    if learned.interrupted:  # the searches end after a step
        loop.interrupt()
    task = replace(task, kernel=learned.kernel, learn=LearnedPart.NOTHING)
    return replace(plan, settings=replace(settings, task=task), kernel_gain=learned.gain)


def _with_cost(
    plan: SearchPlan, near: RowsInMemory, before: float | None, loop: Loop
) -> SearchPlan:
    """A plan with the cost that is best on held-out rows, starting where it was found."""
    settings = plan.settings
    seed = int(plan.seeds[0, 0])
    start = plan.starts[0]
    # seeding gives as many vectors as there can be; they are far from the end of a search
    n_vectors = None if start is None else plan.budgets[0]
    if start is None:
        few = near.some(searched_rows(near.weights, seed), near.inner)
        start = _seeded(few, plan.budgets[0], settings, seed)

    share = _COST_SHARE if settings.late_cost is None else 1.0

    def ends_after(step: Progress) -> bool:
        loop.show(step, step.n_iter, "choosing C: ")
        return not loop.has_time_to_choose(share)

    def search(
        index: NDArray[np.intp], part: LossProblem, vectors: FloatArray, found: Kernel | None
    ) -> Descent:
        return search_vectors(
            near.some(index, part),
            settings.task,
            SearchStart(vectors, found or plan.found, n_vectors),
            max_iter=settings.max_iter,
            tol=_COST_TOL * settings.tol,
            seed=seed,
            is_trial=True,
            on_step=ends_after,
        )

    first = before or cost_unit(near.weights)
    chosen = choose_cost(near.X, near.weights, near.inner, start, search, seed, first)
    if settings.late_cost is not None and not loop.has_time_to_choose():
        chosen = replace(chosen, cost=settings.late_cost)
    loop.say(f"choosing C: {chosen.cost:g} is taken")
    if chosen.interrupted:
        loop.interrupt()
    plan = replace(plan, cost=chosen.cost)
    # vectors of the last fit were found on all rows at its cost, those of the cost path on fewer
    is_better_start = chosen.kernel is not None and chosen.cost != before
    if is_better_start and len(plan.rows) == 1 and settings.n_init == 1:
        if plan.starts[0] is None:  # with fewer rows than vectors there are fewer vectors
            plan = replace(plan, budgets=[chosen.vectors.shape[0]])
        plan = replace(plan, starts=[chosen.vectors], found=chosen.kernel)
    return plan


def _seeded(rows: SearchRows, n_vectors: int, settings: DirectSettings, seed: int) -> FloatArray:
    kernel = settings.task.kernel
    return seed_vectors(rows.X, n_vectors, settings.init, kernel, seed, rows.weights)
