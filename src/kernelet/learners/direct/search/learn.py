"""The direct method for any inner problem: the search over the vectors (section 2)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any, TypeGuard

import numpy as np

from kernelet.kernels import Kernel, require_input_gradient
from kernelet.kernels.radial import RadialKernel
from kernelet.learners.direct.kernel_learning.input_stage import are_distances_precise
from kernelet.learners.direct.kernel_learning.small_scales import without_small_scales
from kernelet.learners.direct.search.descent import minimize_over_vectors
from kernelet.learners.direct.search.ground import Ground
from kernelet.learners.direct.search.joint_objective import JointObjective
from kernelet.learners.direct.search.marginal_objective import MarginalObjective
from kernelet.learners.direct.search.objective import FloatArray, InnerProblem, Objective
from kernelet.learners.direct.search.result import Descent, Progress
from kernelet.learners.direct.search.rows import SearchRows
from kernelet.learners.direct.search.start import KernelTask, SearchStart
from kernelet.learners.direct.search.vector_exchange import resized, revived

# What is called after every step; the search ends when it returns True.
OnStep = Callable[[Progress], bool | None]

# The inner solves need not be more accurate than the search over Z can notice.
INNER_SHARE = 1e-2
# The tolerance of a search that another one goes on from.
_FIRST_TOL = 1e-2
# L-BFGS goes on from a checkpoint without its memory: its first steps are small wherever it is. On
# digits a search that was broken off half way could end after three of them, at a W 11 % above.
UNJUDGED_STEPS = 10


def learn_direct(
    X: Any,
    kernel: Kernel,
    inner: InnerProblem,
    vectors: FloatArray,
    *,
    max_iter: int = 300,
    tol: float = 3e-3,
    n_vectors: int | None = None,
    random_state: int = 0,
    on_step: OnStep | None = None,
) -> Descent:
    """Minimise W(Z) of an inner problem, from the given vectors.

    Parameters
    ----------
    X : array or CSR of shape (n, d)
    kernel : Kernel
    inner : InnerProblem
        The convex (or eigenvalue) problem over the features of the vectors.
    vectors : ndarray of shape (m, d)
        Where the search starts.
    max_iter : int, default=300
    tol : float, default=3e-3
    n_vectors : int, default=None
        Grow or shrink to this many vectors first.
    random_state : int, default=0
        Draws the rows that are looked at as new vectors.
    on_step : callable, default=None
        Called after every step; the search ends when it returns True.

    Returns
    -------
    Descent
    """
    require_input_gradient(kernel, "the direct method")
    return descend(
        MarginalObjective(X, kernel, inner),
        vectors,
        max_iter=max_iter,
        tol=tol,
        n_vectors=n_vectors,
        random_state=random_state,
        on_step=on_step,
    )


def search_vectors(
    ground: Ground,
    task: KernelTask,
    problem: Any,
    start: SearchStart,
    *,
    max_iter: int,
    tol: float,
    seed: int = 0,
    is_trial: bool = False,
    on_step: OnStep | None = None,
) -> Descent:
    """The search over vectors, and over the kernel's scales, for rows wherever they are.

    Where the kernel is radial and the loss is smooth, or has a smooth twin, the search goes over
    both together. A loss that is not smooth is searched from where that ends, with the kernel that
    was found.

    Parameters
    ----------
    ground : Ground
    task : KernelTask
    problem : inner problem of the ground
    start : SearchStart
    max_iter, tol, on_step
        As in `learn_direct`.
    seed : int
    is_trial : bool, default=False
        Whether only the end of the search counts: not what it gains, nor which features are left.
    """
    n_before = min(start.n_steps, max_iter - 1)
    n_unjudged = UNJUDGED_STEPS if n_before else 0
    search = partial(descend, random_state=seed)
    table, at_hand = ground.at_hand(problem)
    is_twin = at_hand.smooth is not at_hand  # another loss, whose end is only a start
    joint = _joint_objective(ground, task, problem, start, seed)
    if joint is None:
        return search(
            ground.objective(task.kernel, problem, seed, start.n_rows or 0),
            start.vectors,
            max_iter=max_iter,
            n_before=n_before,
            n_unjudged=n_unjudged,
            tol=tol,
            n_vectors=start.n_vectors,
            on_step=on_step,
        )
    steps = max(1, max_iter // 2) if is_twin else max_iter
    if start.is_prepared and is_twin:
        steps = n_before
    first = search(
        joint,
        start.vectors,
        max_iter=steps,
        n_before=n_before,
        n_unjudged=n_unjudged,
        tol=max(tol, _FIRST_TOL) if is_twin else tol,
        n_vectors=start.n_vectors,
        on_step=_preliminary(on_step) if is_twin else on_step,
    )
    if task.learn != "nothing" and not is_trial:
        drops = task.learn == "features" and at_hand.smooth.is_sum
        first = _settled(first, joint, drops, seed)
    if not is_twin:
        return first
    end = search(
        ground.objective(first.best.kernel, problem, seed),
        first.best.vectors,
        max_iter=first.n_iter if first.was_ended else max_iter,
        n_before=first.n_iter,
        n_unjudged=n_unjudged if start.is_prepared else 0,
        tol=tol,
        revives=table is ground,  # a sample has shown which vectors help
        on_step=on_step,
    )
    return end.after(first)


def _joint_objective(
    ground: Ground, task: KernelTask, problem: Any, start: SearchStart, seed: int
) -> JointObjective | None:
    """W of the smooth problem in vectors and kernel; None where the search does without it."""
    table, at_hand = ground.at_hand(problem)
    smooth = at_hand.smooth
    is_twin = smooth is not at_hand
    m = start.vectors.shape[0]
    n_vectors = m if start.n_vectors is None else start.n_vectors
    # vectors that are added or dropped are not where a search would end
    is_near = (start.n_vectors == m or start.is_prepared) and task.learn == "nothing"
    if smooth is None or (is_near and is_twin):
        return None
    # the twin of a loss that is not smooth can do with a sample of out-of-core rows
    searched = (table, smooth) if is_twin else (ground, problem)
    rows = searched[0].search_rows(searched[1], seed, n_vectors)
    if not _can_join(task.kernel, rows):
        return None
    solution = start.solution
    if solution is not None and solution[1].size != smooth.n_outputs:
        solution = None  # read from a file that is not to be trusted
    return JointObjective(
        rows,
        task.kernel,
        task.learn,
        n_vectors,
        n_first=start.n_rows,
        learned=start.kernel,
        rank=task.rank,
        unit=start.unit,
        start=solution,
    )


def _can_join(kernel: Kernel, rows: SearchRows) -> TypeGuard[RadialKernel]:
    """Whether `JointObjective` can be computed."""
    return isinstance(kernel, RadialKernel) and are_distances_precise(
        rows.extent, kernel, np.float64
    )


def _settled(end: Descent, objective: JointObjective, drops: bool, seed: int) -> Descent:
    """The end of a search, and what its kernel gains; it may drop features that hardly count."""
    best = end.best
    try:
        if drops:
            best = without_small_scales(objective.source, best, seed)
        gain = objective.kernel_gain(best)
    except KeyboardInterrupt:  # the search is not lost; Ctrl-C once more is passed on
        best, end, gain = end.best, end.interrupted_later(), objective.kernel_gain(end.best)
    return replace(end, best=best, kernel_gain=gain)


def _preliminary(
    on_step: OnStep | None,
) -> OnStep | None:
    """What is called after the steps of a search from where another goes on."""
    if on_step is None:
        return None
    return lambda step: on_step(replace(step, is_preliminary=True))


def descend(
    objective: Objective,
    vectors: FloatArray,
    *,
    max_iter: int,
    n_before: int = 0,
    n_unjudged: int = 0,
    tol: float,
    n_vectors: int | None = None,
    random_state: int = 0,
    revives: bool = True,
    on_step: OnStep | None = None,
) -> Descent:
    """`learn_direct` for an objective, wherever its rows are.

    Unless it ``revives`` vectors that no longer help, the search ends where they come to rest.
    """
    rng = np.random.default_rng(random_state)
    if n_vectors is not None and n_vectors != vectors.shape[0]:
        vectors = resized(objective, objective(vectors), n_vectors, rng)
    return minimize_over_vectors(
        objective,
        vectors,
        max_iter=max_iter,
        n_before=n_before,
        n_unjudged=n_unjudged,
        tol=tol,
        revive=(lambda at: revived(objective, at, rng)) if revives else None,
        on_step=on_step,
    )
