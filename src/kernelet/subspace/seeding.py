"""Where the expansion vectors z_1, ..., z_m start: rows of the data, or points among them."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from kernelet.kernels import Kernel
from kernelet.kernels.caller import warn_caller
from kernelet.kernels.numerics.blocks import (
    find_libraries_again,
    one_blas_thread,
    one_openmp_thread,
)
from kernelet.kernels.silence import silenced
from kernelet.subspace.canonical import CanonicalRows, canonical_rows
from kernelet.subspace.greedy import dense_rows, pivoted_cholesky, sparse_greedy_approximation

Seeder = Callable[[CanonicalRows, int, Kernel | None, np.random.RandomState], NDArray[Any]]

# Rows of which k-means finds the centres, for each vector and at least: more of them hardly move
# the centres, which are only a start (FAISS takes 256 for each centre, too).
KMEANS_ROWS_PER_VECTOR = 256
KMEANS_LEAST_SAMPLE = 20_000


def seed_vectors(
    X: Any,
    n_vectors: int | None,
    method: Any = "kmeans",
    kernel: Kernel | None = None,
    random_state: int | np.random.RandomState | None = None,
    sample_weight: Any = None,
) -> NDArray[Any]:
    """Choose the vectors with which a method starts.

    The rows are made canonical first (`canonical_rows`): rows of weight zero do not count, a weight
    counts as a repetition, and the order of the rows does not matter.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n, d)
    n_vectors : int or None
        How many; None only with an array as `method`.
    method : {"kmeans", "random", "greedy", "sgma"} or array, default="kmeans"
        - "kmeans": the centres of scikit-learn's k-means from a k-means++ start, on a random sample
          of max(20000, 256 n_vectors) distinct rows when there are more. One thread, because the
          order in which threads add up changes the last digits.
        - "random": distinct rows, drawn with probability proportional to their weight.
        - "greedy": the pivots of the Cholesky decomposition of the Gram matrix.
        - "sgma": sparse greedy matrix approximation; of 59 random rows the one that lowers the
          approximation error most, at each step.
        - an array of shape (n_vectors, d): these vectors, checked.
    kernel : Kernel, default=None
        Needed by "greedy" and "sgma".
    random_state : int, RandomState or None, default=None
    sample_weight : float or array-like of shape (n,), default=None

    Returns
    -------
    ndarray of shape (m, d)
        Dense, in the precision of X. Fewer than `n_vectors`, with a warning, where X has fewer
        distinct rows or the kernel fewer independent functions.

    Examples
    --------
    >>> X = [[0.0], [0.2], [5.0], [5.2]]
    >>> np.sort(seed_vectors(X, 2, "kmeans", random_state=0), axis=0)
    array([[0.1],
           [5.1]])
    """
    # Imported here and below: `import kernelet` and prediction do without scikit-learn.
    from sklearn.utils import check_random_state

    rows = canonical_rows(X, None, sample_weight)
    if not isinstance(method, str):
        return _given(method, n_vectors, rows.X)
    if method not in SEEDERS:
        known = ", ".join(repr(name) for name in sorted(SEEDERS))
        raise ValueError(f"init must be one of {known}, or an array; got {method!r}.")
    if n_vectors is None or n_vectors < 1:
        raise ValueError(f"n_vectors must be at least 1, got {n_vectors}.")
    vectors = SEEDERS[method](rows, n_vectors, kernel, check_random_state(random_state))
    if len(vectors) < n_vectors:
        warn_caller(
            f"n_vectors={n_vectors} was asked for, {len(vectors)} are used: the data have "
            f"{rows.X.shape[0]} distinct rows, and {method!r} finds no more that differ. "
            "Lower n_vectors to silence this.",
            UserWarning,
        )
    return vectors


def _random_rows(
    rows: CanonicalRows,
    n_vectors: int,
    kernel: Kernel | None,
    random_state: np.random.RandomState,
) -> NDArray[Any]:
    n = rows.costs.size
    if n <= n_vectors:
        return dense_rows(rows.X, np.arange(n))
    # The n_vectors smallest of exponential waiting times: drawing one by one without replacement,
    # with probability proportional to the weights.
    waiting = random_state.standard_exponential(n) / rows.costs
    return dense_rows(rows.X, np.sort(np.argsort(waiting, kind="stable")[:n_vectors]))


def _kmeans_centres(
    rows: CanonicalRows,
    n_vectors: int,
    kernel: Kernel | None,
    random_state: np.random.RandomState,
) -> NDArray[Any]:
    from sklearn.exceptions import ConvergenceWarning

    n = rows.costs.size
    if n <= n_vectors:
        return dense_rows(rows.X, np.arange(n))
    X, costs = rows.X, rows.costs
    limit = max(KMEANS_LEAST_SAMPLE, KMEANS_ROWS_PER_VECTOR * n_vectors)
    if n > limit:
        sample = np.sort(random_state.choice(n, limit, replace=False))
        X, costs = X[sample], costs[sample]
    clusters = _kmeans()(n_vectors, n_init=1, random_state=random_state)
    # Centres that coincide are merged and reported below, by the name of our parameter.
    quiet = silenced(ConvergenceWarning, "Number of distinct clusters")
    with quiet, one_blas_thread(), one_openmp_thread():
        clusters.fit(X, sample_weight=costs / costs.mean())
    centres: NDArray[Any] = canonical_rows(clusters.cluster_centers_).X
    return centres


@cache
def _kmeans() -> Any:
    """KMeans; loading it brings OpenMP, whose threads can be limited once it is found."""
    from sklearn.cluster import KMeans

    find_libraries_again()
    return KMeans


def _cholesky_pivots(
    rows: CanonicalRows,
    n_vectors: int,
    kernel: Kernel | None,
    random_state: np.random.RandomState,
) -> NDArray[Any]:
    chosen = pivoted_cholesky(_needed(kernel, "greedy"), rows.X, n_vectors)
    return dense_rows(rows.X, chosen if chosen.size else np.array([0]))


def _sparse_greedy(
    rows: CanonicalRows,
    n_vectors: int,
    kernel: Kernel | None,
    random_state: np.random.RandomState,
) -> NDArray[Any]:
    chosen = sparse_greedy_approximation(
        _needed(kernel, "sgma"), rows.X, rows.costs, n_vectors, random_state
    )
    return dense_rows(rows.X, chosen if chosen.size else np.array([0]))


SEEDERS: dict[str, Seeder] = {
    "random": _random_rows,
    "kmeans": _kmeans_centres,
    "greedy": _cholesky_pivots,
    "sgma": _sparse_greedy,
}


def _needed(kernel: Kernel | None, method: str) -> Kernel:
    if kernel is None:
        raise ValueError(f"seeding by {method!r} compares kernel functions: give the kernel.")
    return kernel


def _given(vectors: Any, n_vectors: int | None, X: Any) -> NDArray[Any]:
    vectors = vectors.toarray() if sparse.issparse(vectors) else vectors
    Z = np.array(vectors, dtype=X.dtype)
    if Z.ndim != 2 or Z.shape[0] == 0 or Z.shape[1] != X.shape[1]:
        raise ValueError(
            "vectors given as init or landmarks must have shape "
            f"(n_vectors, {X.shape[1]}) for rows of {X.shape[1]} columns, got {Z.shape}."
        )
    if not np.isfinite(Z).all():
        raise ValueError("the vectors given as init or landmarks contain NaN or infinity.")
    if n_vectors is not None and n_vectors != Z.shape[0]:
        raise ValueError(
            f"n_vectors={n_vectors}, but {Z.shape[0]} vectors are given; make the two agree."
        )
    return Z
