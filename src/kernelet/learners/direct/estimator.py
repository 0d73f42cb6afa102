"""What all estimators of the direct method have in common: the searches and what is kept."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from threading import Event, Lock
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.linalg import block_diag

from kernelet.kernels import Kernel, require_input_gradient
from kernelet.kernels.width import require_width
from kernelet.learners.base.parameters import count, positive
from kernelet.learners.base.progress import reporting, show_step
from kernelet.learners.direct.kernel_learning.choice import learned_part, rank_of
from kernelet.learners.direct.kernel_learning.guards import Guard, HeldOutLoss
from kernelet.learners.direct.kernel_learning.learn import LearnedKernel, learn_widths
from kernelet.learners.direct.kernel_learning.reach import warn_of_flat_kernel, warn_of_outliers
from kernelet.learners.direct.plan import Plan
from kernelet.learners.direct.search.checkpoint import Checkpoint, checkpoint_of
from kernelet.learners.direct.search.cost_path import choose_cost, cost_unit, searched_rows
from kernelet.learners.direct.search.ground import Ground, TableGround
from kernelet.learners.direct.search.learn import search_vectors
from kernelet.learners.direct.search.objective import FloatArray
from kernelet.learners.direct.search.result import Descent, Progress
from kernelet.learners.direct.search.start import SearchStart
from kernelet.learners.direct.warm_start import WarmStarted
from kernelet.machine import KernelMachine
from kernelet.solvers.parallel import map_in_threads

# The tolerance of searches for a cost, in units of tol.
_COST_TOL = 3.0

# What files hold of every such estimator.
FITTED: dict[str, type] = {
    "C_": float,
    "objective_": float,
    "history_": list,
    "n_iter_": int,
    "n_evaluations_": int,
    "interrupted_": bool,
    "_set_sizes": np.ndarray,
}


class DirectEstimator(WarmStarted):
    """An estimator that learns its vectors by gradient on W(Z); a mixin.

    The class that it is mixed into has ``fit(X, y, sample_weight)`` and the parameters
    ``n_vectors``, ``init``, ``n_init``, ``max_iter``, ``tol``, ``warm_start``, ``verbose``, where
    there can be several searches ``n_jobs``, and where rows held out can judge a kernel
    ``learn_kernel``, with the inner problem a `LossProblem` or a `_guard` of its own. Its learning
    consists of stating the inner problems and calling `_search_vectors` and `_store`.
    """

    init: str | ArrayLike
    n_init: int
    max_iter: int
    verbose: int
    learn_kernel: bool | str
    _learns_features = True

    def _search_vectors(
        self,
        ground: Ground,
        kernel: Kernel,
        problems: Sequence[Any],
        rng: np.random.RandomState,
        whole: Any = None,
    ) -> list[Descent]:
        """One set of vectors for each inner problem, the best of ``n_init`` searches.

        Callbacks are shown a model after every step where one problem is all there is. Ctrl-C ends
        all searches; those that have not begun take a step. With ``C="auto"`` the problems have a
        cost of one, and ``whole`` is the one to choose the cost by if there are several.
        """
        positive("tol", self.tol)
        count("max_iter", self.max_iter)
        count("n_init", self.n_init)
        require_input_gradient(kernel, type(self).__name__)
        saved = checkpoint_of(self, ground.shape)
        plan = self._plan(ground, kernel, problems, whole or problems[0], rng, saved)
        lock, interrupted = Lock(), Event()
        if plan.interrupted:  # the searches end after a step
            interrupted.set()
        ends: dict[int, Descent] = {}
        max_steps = self.max_iter * self.n_init * len(problems)
        with reporting(self, self.verbose, max_steps, **ground.callback_data) as report:

            def search(k: int) -> None:
                kept = None if saved is None else saved.start(k)

                def on_step(step: Progress) -> bool:
                    if interrupted.is_set():
                        raise KeyboardInterrupt
                    # one machine of several is no model
                    attributes = self._step_attributes(step) if len(problems) == 1 else None
                    with lock:
                        if saved is not None:
                            saved.write(k, step, plan.kernel)
                        return report(step, attributes)

                def descend_from(seed: int) -> Descent:
                    return search_vectors(
                        ground,
                        plan.task,
                        plan.problems[k],
                        kept or self._start(plan, k, ground, seed),
                        max_iter=self.max_iter,
                        tol=self.tol,
                        seed=seed,
                        on_step=on_step,
                    )

                chances = plan.seeds[k] if plan.starts[k] is None else plan.seeds[k][:1]
                ends[k] = _best_of(descend_from, chances)
                if ends[k].interrupted:  # the others end after a step
                    interrupted.set()

            n_jobs = getattr(self, "n_jobs", None) or 1
            try:
                map_in_threads(search, range(len(problems)), n_jobs, interrupted.set)
            except KeyboardInterrupt:
                # a step of each that has not begun makes a model; Ctrl-C once more is passed on
                interrupted.set()
                for k in range(len(problems)):
                    if k not in ends:
                        search(k)
        if saved is not None and not interrupted.is_set():
            saved.remove()
        if plan.learn != "nothing":
            self.kernel_gain_ = ends[0].kernel_gain
        if not interrupted.is_set():
            at_hand = ground.at_hand(whole or problems[0])[0].X
            warn_of_outliers(self, at_hand)
            warn_of_flat_kernel(self, at_hand, kernel, [end.best for end in ends.values()])
        return [ends[k] for k in range(len(problems))]

    def _start(self, plan: Plan, k: int, ground: Ground, seed: int) -> SearchStart:
        """Where a search begins: at the vectors of the plan, or at a seed."""
        vectors = plan.starts[k]
        if vectors is None:
            vectors = ground.seed(plan.budgets[k], self.init, plan.kernel, seed)
            return SearchStart(vectors, plan.found)
        return SearchStart(vectors, plan.found, plan.budgets[k])

    def _plan(
        self,
        ground: Ground,
        kernel: Kernel,
        problems: Sequence[Any],
        whole: Any,
        rng: np.random.RandomState,
        saved: Checkpoint | None,
    ) -> Plan:
        """Where searches start and what they learn; chooses what held-out rows have to choose."""
        budgets = self._budgets(len(problems))
        seeds = rng.randint(np.iinfo(np.int32).max, size=(len(problems), self.n_init))
        starts = self._last_vectors(ground.shape[1], len(problems))
        table, at_hand = ground.at_hand(whole)
        is_smooth = at_hand.smooth is not None
        learn = learned_part(
            self, kernel, ground.shape, len(problems), is_smooth, self._learns_features
        )
        rank = rank_of(self)
        plan = Plan(kernel, learn, list(problems), budgets, seeds, starts, rank)
        if hasattr(self, "learn_kernel"):
            self.kernel_gain_ = 0.0
        seed = int(seeds[0, 0])
        if learn != "nothing" and not is_smooth:
            start = table.seed(budgets[0], self.init, kernel, seed)
            learned = self._learned_widths(table, kernel, at_hand, start, learn, seed)
            self.kernel_gain_ = learned.gain
            plan = replace(
                plan, kernel=learned.kernel, learn="nothing", interrupted=learned.interrupted
            )
        if starts[0] is not None:
            plan = replace(plan, found=self._last_kernel())
        if not isinstance(getattr(self, "C", 1.0), str):
            if hasattr(self, "C"):
                self.C_ = float(self.C)
            return plan
        if saved is None or saved.cost is None:
            plan, self.C_ = self._with_cost(plan, table, at_hand)
        else:
            self.C_ = saved.cost
        if saved is not None:
            saved.cost = self.C_
        return replace(plan, problems=[problem.scaled(self.C_) for problem in plan.problems])

    def _with_cost(self, plan: Plan, table: TableGround, problem: Any) -> tuple[Plan, float]:
        """The cost that serves rows held out best, and a plan that starts where it was found."""
        seed = int(plan.seeds[0, 0])
        start = plan.starts[0]
        # vectors of a seed are as many as there can be, and far from the end of a search
        n_vectors = None if start is None else plan.budgets[0]
        if start is None:
            rows = searched_rows(table.weights, seed)
            seeded = TableGround(table.X[rows], table.weights[rows])
            start = seeded.seed(plan.budgets[0], self.init, plan.kernel, seed)

        def search(
            rows: NDArray[np.intp], part: Any, vectors: FloatArray, found: Kernel | None
        ) -> Descent:
            return search_vectors(
                TableGround(table.X[rows], table.weights[rows]),
                plan.task,
                part,
                SearchStart(vectors, found or plan.found, n_vectors),
                max_iter=self.max_iter,
                tol=_COST_TOL * self.tol,
                seed=seed,
                is_trial=True,
                on_step=lambda step: show_step(step, self.verbose, "choosing C: "),
            )

        before = getattr(self, "C_", None) if plan.starts[0] is not None else None
        first = before or cost_unit(table.weights)
        chosen = choose_cost(table.X, table.weights, problem, start, search, seed, first)
        if self.verbose > 0:
            print(f"choosing C: {chosen.cost:g} is taken", file=sys.stderr)
        plan = replace(plan, interrupted=plan.interrupted or chosen.interrupted)
        # vectors of the last fit were found at its cost for all rows, those of the path for fewer
        is_better_start = chosen.kernel is not None and chosen.cost != before
        if is_better_start and len(plan.problems) == 1 and self.n_init == 1:
            if plan.starts[0] is None:  # fewer rows than vectors leave fewer vectors
                plan = replace(plan, budgets=[chosen.vectors.shape[0]])
            plan = replace(plan, starts=[chosen.vectors], found=chosen.kernel)
        return plan, chosen.cost

    def _learned_widths(
        self,
        table: TableGround,
        kernel: Kernel,
        problem: Any,
        vectors: FloatArray,
        learn: str,
        seed: int,
    ) -> LearnedKernel:
        """The widths that serve rows held out best, where the loss is not smooth."""
        return learn_widths(
            table.X,
            require_width(kernel, type(self).__name__),
            problem,
            vectors,
            lambda held: self._guard(table.X, problem, held, seed),
            per_feature=learn == "features",
            max_iter=self.max_iter,
            tol=self.tol,
            seed=seed,
        )

    def _guard(self, X: Any, problem: Any, held: NDArray[np.intp], seed: int) -> Guard:
        """What rows held out judge widths by."""
        return HeldOutLoss(X[held], problem.subset(held))

    def _step_attributes(self, step: Progress) -> Callable[[], dict[str, Any]]:
        """What makes a fitted model of the best vectors so far."""
        return lambda: {"machine_": step.best.machine}

    def _store(self, searches: list[Descent], kernel: Kernel) -> KernelMachine:
        """Set the fitted attributes, warn of an early end, and return the machine."""
        ends = [search.best for search in searches]
        self._vector_sets = [end.vectors for end in ends]
        self._set_sizes = np.array([end.vectors.shape[0] for end in ends], dtype=np.int64)
        self.objective_ = float(sum(end.value for end in ends))
        self.history_ = [np.array(search.history) for search in searches]
        self.n_iter_ = sum(search.n_iter for search in searches)
        self.n_evaluations_ = sum(search.n_evaluations for search in searches)
        self.interrupted_ = any(search.interrupted for search in searches)
        for search in searches:
            search.warn_unless_converged(type(self).__name__)
        if len(ends) == 1:
            return ends[0].machine
        return KernelMachine(
            kernel,
            np.concatenate([end.vectors for end in ends]),
            block_diag(*[end.coefficients for end in ends]),
            np.concatenate([end.intercepts for end in ends]),
        )


def _best_of(descend: Callable[[int], Descent], seeds: Any) -> Descent:
    """The best of several descents; Ctrl-C in a later one leaves the best before."""
    best: Descent | None = None
    for seed in seeds:
        try:
            descent = descend(int(seed))
        except KeyboardInterrupt:
            if best is None:
                raise
            return best.interrupted_later()
        if best is None or descent.best.value < best.best.value:
            best = descent
        if descent.interrupted:
            return best.interrupted_later()
    assert best is not None
    return best
