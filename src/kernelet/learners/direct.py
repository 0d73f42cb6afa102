"""The direct method for any inner problem: the search over the vectors (section 2)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from kernelet.kernels import Kernel, require_input_gradient
from kernelet.kernels.radial import RadialKernel
from kernelet.learners.descent import Descent, Progress, minimize_over_vectors
from kernelet.learners.exchange import resized, revived
from kernelet.learners.ground import Ground
from kernelet.learners.joint_objective import JointObjective
from kernelet.learners.marginal import FloatArray, InnerProblem, MarginalObjective, Objective

# The inner solves need not be finer than the search over Z can tell.
INNER_SHARE = 1e-2
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
        Grow or shrink to so many vectors first.
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
    max_iter: int,
    tol: float,
    n_vectors: int | None = None,
    seed: int = 0,
    n_before: int = 0,
    is_prepared: bool = False,
    unit: float | None = None,
    on_step: Callable[[Progress], bool | None] | None = None,
) -> Descent:
    """The search over vectors, and over the kernel's scales, for rows wherever they are.

    Where the kernel is radial and the loss is smooth, or has a smooth twin, the search goes over
    both together on rows in memory: all of them, or a sample of rows that are elsewhere. A loss
    that is not smooth, and all rows that are elsewhere, are searched from where that ends, with the
    kernel that was found.

    Parameters
    ----------
    ground : Ground
    kernel : Kernel
    problem : inner problem of the ground
    vectors : ndarray of shape (m, d)
        Where the search starts.
    learn : {"features", "width", "nothing"}
        What is learned of the kernel.
    learned : Kernel, default=None
        The kernel of an earlier search, to start from.
    max_iter, tol, n_vectors, on_step
        As in `learn_direct`.
    seed : int
    n_before : int, default=0
        Steps of a search that was broken off, from the vectors of which this one goes on.
    is_prepared : bool, default=False
        Whether that was beyond the preliminary search, which then takes no step.
    unit : float, default=None
        What that measured its regulariser in.
    """
    n_unjudged = UNJUDGED_STEPS if n_before else 0
    search = partial(descend, tol=tol, random_state=seed)
    first: Descent | None = None
    table, at_hand = ground.at_hand(problem)
    smooth, is_last = at_hand.smooth, at_hand.smooth is problem
    # the end of a search for another budget, or of one that was broken off
    is_near = (n_vectors is not None or is_prepared) and learn == "nothing"
    if smooth is not None and isinstance(kernel, RadialKernel) and (is_last or not is_near):
        m = vectors.shape[0] if n_vectors is None else n_vectors
        joint = JointObjective(table.X, kernel, smooth, learn, m, seed, learned=learned, unit=unit)
        first = search(
            joint,
            vectors,
            max_iter=n_before if is_prepared and not is_last else max_iter,
            n_before=n_before,
            n_unjudged=n_unjudged,
            n_vectors=n_vectors,
            on_step=on_step if is_last else _preliminary(on_step),
        )
        if learn != "nothing":
            first = _with_gain(first, joint)
        if is_last:
            return first
        vectors, kernel, n_vectors = first.best.vectors, first.best.kernel, None
        n_before = first.n_iter
        if first.was_ended:
            max_iter = n_before
    end = search(
        ground.objective(kernel, problem),
        vectors,
        max_iter=max_iter,
        n_before=n_before,
        n_unjudged=n_unjudged if first is None or is_prepared else 0,
        n_vectors=n_vectors,
        on_step=on_step,
    )
    return end if first is None else end.after(first)


def _preliminary(
    on_step: Callable[[Progress], bool | None] | None,
) -> Callable[[Progress], bool | None] | None:
    """What is called after the steps of a search from where another goes on."""
    if on_step is None:
        return None
    return lambda step: on_step(replace(step, is_preliminary=True))


def _with_gain(end: Descent, objective: JointObjective) -> Descent:
    try:
        gain = objective.kernel_gain(end.best)
    except KeyboardInterrupt:  # the search is not lost; Ctrl-C once more is passed on
        end, gain = end.interrupted_later(), objective.kernel_gain(end.best)
    return replace(end, kernel_gain=gain)


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
    on_step: Callable[[Progress], bool | None] | None = None,
) -> Descent:
    """`learn_direct` for an objective, wherever its rows are."""
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
        revive=lambda at: revived(objective, at, rng),
        on_step=on_step,
    )
