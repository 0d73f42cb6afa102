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
from kernelet.learners.direct.search.objective import FloatArray, InnerProblem, Objective, Start
from kernelet.learners.direct.search.result import Descent, Progress
from kernelet.learners.direct.search.rows import SearchRows
from kernelet.learners.direct.search.vector_exchange import resized, revived

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
    on_step: Callable[[Progress], bool | None] | None = None,
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
    kernel: Kernel,
    problem: Any,
    vectors: FloatArray,
    *,
    learn: str = "nothing",
    learned: Kernel | None = None,
    rank: int | None = None,
    is_trial: bool = False,
    max_iter: int,
    tol: float,
    n_vectors: int | None = None,
    seed: int = 0,
    n_before: int = 0,
    is_prepared: bool = False,
    unit: float | None = None,
    n_first: int | None = None,
    solution: Start | None = None,
    on_step: Callable[[Progress], bool | None] | None = None,
) -> Descent:
    """The search over vectors, and over the kernel's scales, for rows wherever they are.

    Where the kernel is radial and the loss is smooth, or has a smooth twin, the search goes over
    both together. A loss that is not smooth is searched from where that ends, with the kernel that
    was found.

    Parameters
    ----------
    ground : Ground
    kernel : Kernel
    problem : inner problem of the ground
    vectors : ndarray of shape (m, d)
        Where the search starts.
    learn : {"features", "width", "projection", "nothing"}
        What is learned of the kernel.
    learned : Kernel, default=None
        The kernel of an earlier search, to start from.
    rank : int, default=None
        Of a projection.
    is_trial : bool, default=False
        Whether only the end of the search counts: not what it gains, nor which features are left.
    max_iter, tol, n_vectors, on_step
        As in `learn_direct`.
    seed : int
    n_before : int, default=0
        Steps of a search that was broken off, from the vectors of which this one goes on.
    is_prepared : bool, default=False
        Whether that was beyond the preliminary search, which then takes no step.
    unit : float, default=None
        What that measured its regulariser in.
    n_first : int, default=None
        Rows that it had in use.
    solution : tuple of ndarray, default=None
        Its coefficients and intercepts.
    """
    n_unjudged = UNJUDGED_STEPS if n_before else 0
    search = partial(descend, random_state=seed)
    table, at_hand = ground.at_hand(problem)
    smooth = at_hand.smooth
    is_twin = smooth is not at_hand  # another loss, whose end is only a start
    # vectors that are added or dropped are not where a search would end
    is_near = (n_vectors == vectors.shape[0] or is_prepared) and learn == "nothing"
    rows: SearchRows | None = None
    if smooth is not None and not (is_near and is_twin):
        # the twin of a loss that is not smooth can do with a sample of out-of-core rows
        rows = table.search_rows(smooth, seed) if is_twin else ground.search_rows(problem, seed)
    if rows is None or not _can_join(kernel, rows):
        return search(
            ground.objective(kernel, problem, seed, n_first or 0),
            vectors,
            max_iter=max_iter,
            n_before=n_before,
            n_unjudged=n_unjudged,
            tol=tol,
            n_vectors=n_vectors,
            on_step=on_step,
        )
    m = vectors.shape[0] if n_vectors is None else n_vectors
    if solution is not None and solution[1].size != smooth.n_outputs:
        solution = None  # read from a file that is not to be trusted
    joint = JointObjective(
        rows,
        kernel,
        learn,
        m,
        n_first=n_first,
        learned=learned,
        rank=rank,
        unit=unit,
        start=solution,
    )
    steps = max(1, max_iter // 2) if is_twin else max_iter
    if is_prepared and is_twin:
        steps = n_before
    first = search(
        joint,
        vectors,
        max_iter=steps,
        n_before=n_before,
        n_unjudged=n_unjudged,
        tol=max(tol, _FIRST_TOL) if is_twin else tol,
        n_vectors=n_vectors,
        on_step=_preliminary(on_step) if is_twin else on_step,
    )
    if learn != "nothing" and not is_trial:
        first = _settled(first, joint, learn == "features" and smooth.is_sum, seed)
    if not is_twin:
        return first
    end = search(
        ground.objective(first.best.kernel, problem, seed),
        first.best.vectors,
        max_iter=first.n_iter if first.was_ended else max_iter,
        n_before=first.n_iter,
        n_unjudged=n_unjudged if is_prepared else 0,
        tol=tol,
        revives=table is ground,  # a sample has shown which vectors help
        on_step=on_step,
    )
    return end.after(first)


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
    on_step: Callable[[Progress], bool | None] | None,
) -> Callable[[Progress], bool | None] | None:
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
    on_step: Callable[[Progress], bool | None] | None = None,
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
