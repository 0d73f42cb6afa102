"""The direct method for any inner problem: the search over the vectors (section 2)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from kernelet.kernels import Kernel, require_input_gradient
from kernelet.learners.descent import Descent, Progress, minimize_over_vectors
from kernelet.learners.exchange import resized, revived
from kernelet.learners.marginal import FloatArray, InnerProblem, MarginalObjective, Objective

# The inner solves need not be finer than the search over Z can tell.
INNER_SHARE = 1e-2


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


def descend(
    objective: Objective,
    vectors: FloatArray,
    *,
    max_iter: int,
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
        tol=tol,
        revive=lambda at: revived(objective, at, rng),
        on_step=on_step,
    )
