"""The direct method on the SVM from given vectors, with a given kernel: for `compress`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from kernelet.kernels import Kernel
from kernelet.learners.base.training_data import FloatArray
from kernelet.learners.direct.problems.svm import SVMProblem
from kernelet.learners.direct.search.learn import INNER_SHARE, learn_direct
from kernelet.learners.direct.search.result import Descent, Progress


def learn_sparse_svm(
    X: Any,
    Y: FloatArray,
    costs: FloatArray,
    kernel: Kernel,
    vectors: FloatArray,
    *,
    loss: str = "hinge",
    max_iter: int = 300,
    tol: float = 3e-3,
    n_vectors: int | None = None,
    random_state: int = 0,
    on_step: Callable[[Progress], bool | None] | None = None,
) -> Descent:
    """Minimise the sum over the columns of Y of W_k(Z), from the given vectors.

    Parameters
    ----------
    X : array or CSR of shape (n, d)
    Y : ndarray of shape (n, k)
        Labels, -1 or +1; the k machines share the vectors.
    costs : ndarray of shape (n,)
        C times the weight of each row.
    kernel : Kernel
    vectors : ndarray of shape (m, d)
        Where the search starts.
    loss : {"hinge", "squared_hinge"}, default="hinge"
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
    return learn_direct(
        X,
        kernel,
        SVMProblem(Y, costs, loss, INNER_SHARE * tol),
        vectors,
        max_iter=max_iter,
        tol=tol,
        n_vectors=n_vectors,
        random_state=random_state,
        on_step=on_step,
    )
