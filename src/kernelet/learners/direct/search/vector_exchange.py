"""Which vector is missed least, and which row would help most.

Both answers come from W's behaviour to second order in the coefficients, so they cost a few kernel
evaluations and no solve. They revive vectors that no longer help, grow a machine to a larger
budget and shrink it to a smaller one.
"""

from __future__ import annotations

import numpy as np

from kernelet.kernels.numerics.arrays import FloatArray, IndexArray, quiet
from kernelet.learners.direct.search.objective import Evaluation, Objective
from kernelet.subspace import WhitenedMap
from kernelet.subspace.eigenpairs import eigenpairs

# Rows looked at as candidates. Their Gram matrix, 2 MB, is updated for each row that is chosen; the
# best of 500 random rows is among the best one percent of all with a probability of 0.99.
_CANDIDATES = 500
# Squared distances below this share of k(z, z) count as zero: the vector is in the others' span.
# Differences of kernel values have lost ten of their sixteen digits there.
_NULL = 1e-10
# A vector whose removal would raise W by less than this share of it is spare: at most what a step
# lowers W by that counts as none, for a tol down to 1e-4.
_SPARE = 1e-5
# Both estimates are of second order, and rough: a row has to promise this many times what the
# vector in its place is worth.
_BETTER = 10.0
# Unit functions k(., z) that are nearer than this have merged, and so far they are moved apart.
# Their difference has lost three digits by then, and six in its square; a tenth of a unit is still
# nearly the derivative that they stand for.
_MERGED = 1e-3
_APART = 0.1
# The share of the vectors that is dropped at a time: estimates hold near this machine only. With
# half of them, a machine of three vectors from six ended above one of two.
_DROPPED = 0.25


@quiet
def removals(at: Evaluation, n_vectors: int) -> tuple[IndexArray, FloatArray]:
    """The vectors to take away one after the other, and how much W rises each time.

    To second order, and the other coefficients adapt: only the part of beta_u k(., z_u) outside
    the span of the vectors that are left is lost, 1/2 |beta_u|^2 / [(K^z)^-1]_uu. Of two equal
    vectors the first to go costs nothing, the second all that both are worth.
    """
    K = at.kernel(at.vectors, at.vectors)
    # a kernel that is not positive definite may have negative values on its diagonal
    scale = np.sqrt(np.maximum(np.abs(np.diag(K)), np.finfo(float).tiny))
    values, V = eigenpairs(K / np.outer(scale, scale))
    inverse = (V / np.maximum(values, _NULL)) @ V.T
    beta = at.coefficients * scale[:, None]
    # squares of coefficients beyond 1e154 overflow; a power of two rounds nothing
    unit = 2.0 ** (float(np.frexp(np.abs(beta).max(initial=0.0))[1]) - 1.0)
    beta = beta / unit
    left = np.ones(scale.size, dtype=bool)
    order, losses = np.empty(n_vectors, dtype=np.intp), np.empty(n_vectors)
    for step in range(n_vectors):
        diagonal = np.where(left, np.diag(inverse), 1.0)
        loss = np.where(left, 0.5 * np.square(beta).sum(axis=1) / diagonal, np.inf)
        u = int(np.argmin(loss))
        order[step], losses[step] = u, loss[u] * unit * unit
        left[u] = False
        column = inverse[:, u] / inverse[u, u]
        beta = beta - np.outer(column, beta[u])
        inverse = inverse - np.outer(column, inverse[u])
    return order, losses


@quiet
def best_rows(
    objective: Objective, at: Evaluation, n_rows: int, rng: np.random.Generator
) -> tuple[FloatArray, FloatArray]:
    """Rows of X which, added to the vectors, lower W most, and the gain of each.

    A new direction e outside the span has the derivative r = sum_i dF/df_i <k(., x_i), e> and
    W falls by 1/2 r^2 for a unit e. Rows are taken one after the other, as pivots: what a chosen
    row explains is taken out of the others.
    """
    candidates = objective.candidates(_CANDIDATES, rng)
    kernel = at.kernel
    values = kernel(candidates, at.vectors)
    slope = objective.slope_at(at, candidates)
    slope += values @ (at.coefficients * at.norm_gradient)
    phi = WhitenedMap.from_vectors(kernel, at.vectors).features_from_values(values)
    R = kernel(candidates, candidates) - phi @ phi.T
    smallest = _NULL * np.maximum(kernel.diagonal(candidates), np.finfo(float).tiny)
    chosen: list[int] = []
    gains: list[float] = []
    for _ in range(min(n_rows, candidates.shape[0])):
        outside = np.diag(R)
        free = outside > smallest
        gain = np.where(free, 0.5 * np.square(slope).sum(1) / np.where(free, outside, 1.0), 0.0)
        j = int(np.argmax(gain))
        if gain[j] <= 0.0:
            break
        chosen.append(j)
        gains.append(float(gain[j]))
        column = R[:, j] / R[j, j]
        slope = slope - np.outer(column, slope[j])
        R = R - np.outer(column, R[j])
    return candidates[chosen], np.array(gains)


def revived(objective: Objective, at: Evaluation, rng: np.random.Generator) -> FloatArray | None:
    """The vectors with spare ones replaced by rows that help, or None when there are none."""
    order, losses = removals(at, max(1, at.vectors.shape[0] // 2))
    n_spare = int(np.argmin(np.append(losses < _SPARE * abs(at.value), False)))
    if n_spare == 0:
        return _pulled_apart(at)
    rows, gains = best_rows(objective, at, n_spare, rng)
    count = int(np.count_nonzero(gains > _BETTER * losses[: gains.size] + _SPARE * abs(at.value)))
    if count == 0:
        return None
    vectors = at.vectors.copy()
    vectors[order[:count]] = rows[:count]
    return vectors


def _pulled_apart(at: Evaluation) -> FloatArray | None:
    """Vectors that ran into each other, moved apart along their difference.

    Such a pair stands for a derivative of k(., z), by coefficients so large that the search no
    longer moves. A difference over a fraction of a width is nearly the same function.
    """
    K = at.kernel(at.vectors, at.vectors)
    scale = np.sqrt(np.maximum(np.diag(K), np.finfo(float).tiny))
    cosines = np.tril(K / np.outer(scale, scale), -1)
    first = cosines.argmax(axis=1)
    distance = np.sqrt(np.maximum(2.0 - 2.0 * cosines.max(axis=1), np.finfo(float).eps))
    second = np.flatnonzero(distance < _MERGED)
    if second.size == 0:
        return None
    vectors = at.vectors.copy()
    difference = at.vectors[second] - at.vectors[first[second]]
    vectors[second] += difference * (_APART / distance[second] - 1.0)[:, None]
    return vectors


def resized(
    objective: Objective, at: Evaluation, n_vectors: int, rng: np.random.Generator
) -> FloatArray:
    """Vectors for another budget: the best rows added, or the least useful vectors dropped."""
    vectors = at.vectors
    while vectors.shape[0] > n_vectors:
        surplus = vectors.shape[0] - n_vectors
        batch = min(surplus, max(1, int(_DROPPED * vectors.shape[0])))
        vectors = np.delete(vectors, removals(at, batch)[0], axis=0)
        at = objective(vectors, like=at)
    while vectors.shape[0] < n_vectors:
        missing = n_vectors - vectors.shape[0]
        rows, _ = best_rows(objective, at, min(missing, max(1, vectors.shape[0])), rng)
        if rows.shape[0] == 0:
            break
        vectors = np.concatenate([vectors, rows])
        if vectors.shape[0] < n_vectors:
            at = objective(vectors, like=at)
    return vectors
