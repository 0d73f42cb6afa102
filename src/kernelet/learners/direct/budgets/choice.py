"""How many vectors a machine should have, chosen in folds.

In three folds, one path of searches each goes from few vectors to many, and shows how well the rows
held out are predicted. The number that is chosen is then searched for on all rows, as if it had
been given.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from copy import deepcopy
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from kernelet.kernels.numerics.arrays import FloatArray
from kernelet.learners.base.progress import Loop
from kernelet.learners.base.training_data import TrainingData
from kernelet.learners.direct.budgets.fold_path import FoldPath, n_distinct
from kernelet.learners.direct.budgets.kernel import (
    MOST_COMPARED,
    N_SEARCHES,
    ComparedKernel,
    kernels_to_compare,
    kernels_to_try,
    worth_it,
)
from kernelet.learners.direct.budgets.shipping import Shipped, Shipping, within_limit
from kernelet.learners.direct.budgets.tried import (
    BUDGETS,
    Tried,
    chosen_budget,
    ends_at_limit,
    next_budget,
)
from kernelet.learners.direct.few_bits import Rounded
from kernelet.learners.direct.learn import (
    DirectSettings,
    LearnedVectors,
    SearchPlan,
    plan_searches,
)
from kernelet.learners.direct.search.divided_rows import Part, folds, repetitions
from kernelet.learners.direct.search.rows import SearchRows
from kernelet.machine import KernelMachine

# With this many vectors C is chosen for the path. On six sets, machines of 5 to 100 vectors were as
# good with the C of 20 vectors as with their own.
USUAL = 20
N_FOLDS = 3
# Where all choices have a limit of time, that of the kernel ends at this share of it.
_KERNEL_SHARE = 0.75
# Of less than two rows no fold is worth anything.
_FEWEST = 2

# Searches on all rows, with these settings, from this generator.
Learn = Callable[[DirectSettings, np.random.RandomState], LearnedVectors]


@dataclass
class TimedChoice:
    """A choice that has to end in time, and what is known of it.

    Attributes
    ----------
    seconds : float
        How long searches that only help to choose may take.
    is_late : bool
        Whether time ran out before all was tried.
    kernels : list of ComparedKernel
        What held-out rows have compared, the default first.
    """

    seconds: float
    is_late: bool = False
    kernels: list[ComparedKernel] = field(default_factory=list)


@dataclass(eq=False)
class BudgetChoice:
    """A fit whose number of vectors is chosen.

    Attributes
    ----------
    data : TrainingData
        Rows at hand.
    counts : ndarray of shape (n,)
        How many equal rows each stands for.
    shipping : Shipping
    chooses_kernel : bool
        Whether held-out rows decide what is learned of the kernel, too.
    tried : list of Tried
        What the choice was made from.
    rounded : Rounded or None
        The machine in few bits that came of it.
    timed : TimedChoice or None
        Where there is a limit of time.
    """

    data: TrainingData
    counts: NDArray[np.intp]
    shipping: Shipping
    chooses_kernel: bool = False
    tried: list[Tried] = field(default_factory=list)
    rounded: Rounded | None = None
    timed: TimedChoice | None = None

    @classmethod
    def over(
        cls,
        data: TrainingData,
        shipping: Shipping,
        is_sample: bool,
        chooses_kernel: bool,
        timed: TimedChoice | None = None,
    ) -> BudgetChoice:
        """By the rows of a training set, or a sample, whose weights stand for others."""
        counts = np.ones(data.weights.size, dtype=np.intp)
        if not is_sample:
            counts = repetitions(data.weights)
        return cls(data, counts, shipping, chooses_kernel, timed=timed)

    @property
    def n_searches(self) -> int:
        """How many there may be beside the last one."""
        return N_FOLDS * len(BUDGETS) + (N_SEARCHES if self.chooses_kernel else 0)

    def learn(
        self,
        learn: Learn,
        whole: SearchRows,
        settings: DirectSettings,
        rng: np.random.RandomState,
        loop: Loop,
    ) -> LearnedVectors:
        """Choose a number of vectors, and search on all rows.

        Ctrl-C ends the choice with what has been tried, and the search after a step.
        """
        before = deepcopy(rng)
        usual = min(USUAL, n_distinct(whole))
        plan = plan_searches([whole], whole, replace(settings, budgets=[usual]), rng, loop)
        tried = self.tried
        try:
            if self.chooses_kernel:
                has_limit = np.isfinite(self.shipping.max_bytes)
                choose = self._with_kernel if has_limit else self._with_compared_kernel
                plan = choose(plan, loop)
            for one in self._along_path(plan, loop):
                tried.append(one)
                loop.say(
                    f"choosing n_vectors: {one.n_vectors} have a score of {one.score:.4f} +- "
                    f"{one.standard_error:.4f} and take {one.n_bytes:.0f} bytes"
                )
        except KeyboardInterrupt:
            loop.interrupt()
        settings = replace(settings, task=plan.settings.task)
        has_limit = np.isfinite(self.shipping.max_bytes)
        is_late = not loop.has_time_to_choose()
        if self.timed is not None:
            self.timed.is_late = is_late
        untried = usual if is_late else min(BUDGETS[0], usual)
        budget = chosen_budget(tried, has_limit) if tried else untried
        loop.say(f"choosing n_vectors: {budget} is taken")
        settings = replace(settings, late_cost=plan.cost)

        def make(budget: int) -> Shipped:
            rng.set_state(before.get_state())  # as if there had been no choice
            if loop.interrupted:  # what has been found is not looked for again
                learned = learn(replace(plan.settings, budgets=[budget], cost=plan.cost), rng)
            else:
                learned = learn(replace(settings, budgets=[budget]), rng)
            return self._shipped(learned, loop)

        # machines on all rows often use fewer features than those of the folds
        grows = not loop.interrupted and ends_at_limit(tried, budget)
        most = min(n_distinct(whole), BUDGETS[-1]) if grows else 0
        made = within_limit(make, budget, self.shipping, most)
        self.rounded = made.rounded
        return made.learned

    def _shipped(self, learned: LearnedVectors, loop: Loop) -> Shipped:
        shipped = self.shipping.ship(learned)
        if shipped.interrupted:
            loop.interrupt()
        return shipped

    def _along_path(self, plan: SearchPlan, loop: Loop) -> Iterator[Tried]:
        """What comes of one number of vectors after the other."""
        if loop.interrupted or not loop.has_time_to_choose():  # while C was chosen
            return
        seed, parts = int(plan.seeds[0, 0]), self._folds(plan)
        if not parts:
            return
        paths = [FoldPath(plan, kept, seed) for kept, _ in parts]
        most = min(n_distinct(path.rows) for path in paths)
        while (budget := next_budget(self.tried, most)) is not None:
            machines = []
            for k, path in enumerate(paths):
                doing = f"choosing n_vectors: {budget}, fold {k + 1} of {N_FOLDS}: "
                learned = path.search(budget, loop, doing)
                if learned is None:
                    return
                machines.append(self._shipped(learned, loop).machine)
                if loop.interrupted:
                    return
            yield self._scored(budget, machines, [held for _, held in parts])

    def _folds(self, plan: SearchPlan) -> list[tuple[Part, Part]]:
        """Rows to learn from, and those held out; none if there are too few rows."""
        labels = self.data.codes if self.data.n_classes else np.zeros(self.counts.size)
        parts = folds(labels, self.counts, N_FOLDS, int(plan.seeds[0, 0]))
        has_rows = min(len(part.index) for pair in parts for part in pair) >= _FEWEST
        return parts if has_rows else []

    def _with_kernel(self, plan: SearchPlan, loop: Loop) -> SearchPlan:
        """The plan with what is best learned of the kernel, by one fold, within the bytes."""
        tasks, parts = kernels_to_try(plan.settings.task, plan.rows[0].shape[1]), self._folds(plan)
        if len(tasks) == 1 or not parts or loop.interrupted:
            return plan
        plans = [replace(plan, settings=replace(plan.settings, task=task)) for task in tasks]
        scores = [self._score_within_limit(each, *parts[0], loop) for each in plans]
        best = plans[int(np.argmax(scores))]
        loop.say(f"choosing the kernel: {best.settings.task.text} is taken")
        return best

    def _with_compared_kernel(self, plan: SearchPlan, loop: Loop) -> SearchPlan:
        """The plan with what is usually learned of the kernel, or with what is clearly better."""
        tasks, parts = (
            kernels_to_compare(plan.settings.task, plan.rows[0].shape[1]),
            self._folds(plan),
        )
        if len(tasks) == 1 or not parts or loop.interrupted:
            return plan
        plans = [replace(plan, settings=replace(plan.settings, task=task)) for task in tasks]
        tried: list[Tried] = []
        for each in plans:
            one = self._cross_validated(each, parts, loop)
            if one is None:
                break
            tried.append(one)
        if not tried:
            return plan
        best = worth_it(tried)
        loop.say(f"choosing the kernel: {tasks[best].text} is taken")
        if self.timed is not None:
            self.timed.kernels[:] = [
                ComparedKernel(tasks[k].learn, one.score, one.standard_error, k == best)
                for k, one in enumerate(tried)
            ]
        return plans[best]

    def _cross_validated(
        self, plan: SearchPlan, parts: Sequence[tuple[Part, Part]], loop: Loop
    ) -> Tried | None:
        """How well the usual number of vectors does; None if there is no time for it."""
        budget, machines = USUAL, []
        for k, (kept, _) in enumerate(parts):
            path = FoldPath(plan, kept, int(plan.seeds[0, 0]))
            budget = min(budget, n_distinct(path.rows))
            text = f"choosing the kernel: {plan.settings.task.text}, fold {k + 1} of {N_FOLDS}: "
            learned = path.search(budget, loop, text, _KERNEL_SHARE)
            if learned is None:
                return None
            machines.append(self._shipped(learned, loop).machine)
        return self._scored(budget, machines, [held for _, held in parts])

    def _score_within_limit(self, plan: SearchPlan, kept: Part, held: Part, loop: Loop) -> float:
        """How well about as many vectors as fit predict the rows held out."""
        path, score = FoldPath(plan, kept, int(plan.seeds[0, 0])), -np.inf
        budget, n_distinct_rows = BUDGETS[0], n_distinct(path.rows)
        for _ in range(2):
            budget = min(budget, n_distinct_rows)
            learned = path.search(budget, loop, f"choosing the kernel: {budget} vectors: ")
            if learned is None:
                break
            one = self._scored(budget, [self._shipped(learned, loop).machine], [held])
            if not one.fits:
                break
            score = max(score, one.score)
            budget = int(min(one.room, MOST_COMPARED))
            if budget <= one.n_vectors:
                break
        return score

    def _scored(
        self, budget: int, machines: Sequence[KernelMachine], held: Sequence[Part]
    ) -> Tried:
        rows, shares = (np.concatenate([getattr(p, a) for p in held]) for a in ("index", "shares"))
        values = np.concatenate(
            [self._quality(m, part) for m, part in zip(machines, held, strict=True)]
        )
        weights = self.data.weights[rows] * shares
        weights = weights / weights.sum()
        score = float(weights @ values)
        # the variance of a mean over equal rows, each with its part of the weight
        times = shares * self.counts[rows]
        variance = float(weights @ np.square(values - score)) * float(weights @ (weights / times))
        n_bytes = float(np.mean([self.shipping.n_bytes(machine) for machine in machines]))
        return Tried(
            budget,
            score,
            float(np.sqrt(variance)),
            n_bytes,
            n_bytes <= self.shipping.max_bytes,
            min(self.shipping.room(machine) for machine in machines),
        )

    def _quality(self, machine: KernelMachine, part: Part) -> FloatArray:
        """What each row adds to the accuracy, or to R2."""
        data, index = self.data, part.index
        scores = machine.decision_function(data.X[index])
        if data.n_classes:
            codes = scores > 0.0 if scores.ndim == 1 else scores.argmax(axis=1)
            return np.asarray(codes == data.codes[index], dtype=np.float64)
        targets = data.targets.reshape(len(data.weights), -1)
        share = data.weights / data.weights.sum()
        spread = share @ np.square(targets - share @ targets)
        missed = np.square(targets[index] - scores.reshape(index.size, -1))
        # a target that is always the same is missed in its own units
        lost: FloatArray = (missed / np.where(spread > 0.0, spread, 1.0)).mean(axis=1)
        return 1.0 - lost
