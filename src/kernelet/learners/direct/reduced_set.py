"""Reduced sets: a machine with fewer vectors that computes nearly the same functions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from kernelet.kernels import Gaussian
from kernelet.kernels.numerics.arrays import FloatArray
from kernelet.learners.direct.coefficient_bits import Judge, in_few_bits
from kernelet.learners.direct.problems.reduced_set import ReducedSetProblem
from kernelet.learners.direct.search.descent import minimize_over_vectors
from kernelet.learners.direct.search.marginal_objective import MarginalObjective
from kernelet.learners.direct.search.objective import Evaluation
from kernelet.learners.direct.search.vector_exchange import revived
from kernelet.machine import KernelMachine
from kernelet.machine.rounding import vector_grid
from kernelet.subspace import seed_vectors

# The fixed-point iteration finds vectors one after the other. If it needs more kernel values than
# this for the residual, over all sweeps, the joint search alone is quicker and ends lower.
_FIXED_POINT_WORK = 20_000_000
# The most sweeps for a vector, which is only where the joint search starts, and the rows of large
# residual that they may start from where the denominator crosses zero.
_SWEEPS = 50
_RESTARTS = 3
# A sweep that raises the value by a smaller share is the last.
_LEAST_RISE = 1e-9
# A denominator below this share of its terms has lost half of its digits: the root of the machine
# epsilon.
_CANCELLED = 1e-8
# Singular values of kernel values below this share of the largest are rounding. They come from
# vectors that nearly coincide, and would get huge coefficients of both signs.
_NULL = 1e-10


@dataclass(frozen=True, eq=False)
class ReducedSet:
    """The smaller machine and its error.

    Attributes
    ----------
    machine : KernelMachine
    error_norm : float
        Root of sum_k ||w_k - w'_k||^2 in the feature space; for a kernel that is not positive
        definite, of the squared differences in value at the given vectors.
    relative_error : float
        The same as a share of the original's norm.
    interrupted : bool
        Whether Ctrl-C ended the search; the best vectors so far are kept.
    """

    machine: KernelMachine
    error_norm: float
    relative_error: float
    interrupted: bool = False

    @classmethod
    def of(
        cls,
        machine: KernelMachine,
        squared_error: float,
        squared_norm: float,
        interrupted: bool = False,
    ) -> ReducedSet:
        """From the squares; rounding may leave an error below zero."""
        error = float(np.sqrt(max(squared_error, 0.0)))
        scale = float(np.sqrt(max(squared_norm, np.finfo(float).tiny)))
        return cls(machine, error, error / scale, interrupted)


def learn_reduced_set(
    machine: KernelMachine,
    n_vectors: int,
    *,
    n_init: int = 1,
    max_iter: int = 50,
    tol: float = 1e-3,
    random_state: int = 0,
) -> ReducedSet:
    """The nearest machine with n_vectors vectors, equation (4), in the sum over its outputs.

    Parameters
    ----------
    machine : KernelMachine
    n_vectors : int
    n_init : int, default=1
        Joint searches from k-means with different seeds.
    max_iter : int, default=50
        Steps of each joint search.
    tol : float, default=1e-3
        The joint search ends after three steps in a row that each lower (4) by a share of less
        than ``0.1 * tol``.
    random_state : int, default=0

    Returns
    -------
    ReducedSet
        The nearest of `reduced_sets`.
    """
    found = reduced_sets(
        machine, n_vectors, n_init=n_init, max_iter=max_iter, tol=tol, random_state=random_state
    )
    return nearest_of(found)


def nearest_of(found: Sequence[ReducedSet]) -> ReducedSet:
    """The one with the lowest (4); interrupted if one of them was."""
    nearest = min(found, key=lambda reduced: reduced.error_norm)
    return replace(nearest, interrupted=any(reduced.interrupted for reduced in found))


def reduced_sets(
    machine: KernelMachine,
    n_vectors: int,
    *,
    n_init: int = 1,
    max_iter: int = 50,
    tol: float = 1e-3,
    random_state: int = 0,
) -> list[ReducedSet]:
    """Where the search for a near machine ends, one for each start; parameters as above.

    Vectors come from k-means on the given vectors and from the fixed-point iteration (Gaussian
    kernels and moderate sizes), each followed by joint L-BFGS. Coefficients are (47), the
    projection onto the span. A machine that has no more vectors than asked for is returned as it
    is.
    """
    if machine.n_vectors <= n_vectors:
        return [ReducedSet(machine, 0.0, 0.0)]
    if not machine.coefficients.any():
        first = slice(n_vectors)
        constant = KernelMachine(
            machine.kernel, machine.vectors[first], machine.coefficients[first], machine.intercepts
        )
        return [ReducedSet(constant, 0.0, 0.0)]
    if not machine.kernel.is_positive_definite:
        return [_by_values(machine, n_vectors, random_state)]
    X = np.asarray(machine.vectors, dtype=np.float64)
    a = np.asarray(machine.coefficients, dtype=np.float64)
    intercepts = np.asarray(machine.intercepts, dtype=np.float64)
    scores = KernelMachine(machine.kernel, X, a, np.zeros(a.shape[1])).decision_function(X)
    squared_norm = float((a * scores.reshape(a.shape)).sum())
    objective = MarginalObjective(X, machine.kernel, ReducedSetProblem(a, squared_norm, intercepts))
    # a row that carries more of the functions should attract more vectors
    mass = np.abs(a).sum(axis=1)
    starts = [
        seed_vectors(X, n_vectors, "kmeans", machine.kernel, random_state + trial, mass)
        for trial in range(n_init)
    ]
    if isinstance(machine.kernel, Gaussian) and X.shape[0] * n_vectors**2 <= _FIXED_POINT_WORK:
        starts.append(fixed_point_vectors(X, a, machine.kernel, n_vectors))
    rng = np.random.default_rng(random_state)
    found: list[ReducedSet] = []
    for start in starts:
        end, interrupted = _end_of_search(objective, start, max_iter, tol, rng)
        found.append(ReducedSet.of(end.machine, 2.0 * end.value, squared_norm, interrupted))
        if interrupted:
            break
    return found


def _end_of_search(
    objective: MarginalObjective,
    start: FloatArray,
    max_iter: int,
    tol: float,
    rng: np.random.Generator,
) -> tuple[Evaluation, bool]:
    """Where joint L-BFGS ends, and whether by Ctrl-C; the start, for a kernel without gradients."""
    if not objective.kernel.has_input_gradient:
        return objective.without_gradient(start), False
    search = minimize_over_vectors(
        objective,
        start,
        max_iter=max_iter,
        tol=tol,
        revive=lambda at: revived(objective, at, rng),
    )
    return search.best, search.interrupted


def reduced_set_of(machine: KernelMachine, smaller: KernelMachine) -> ReducedSet:
    """A smaller machine, and its error compared with the given one.

    In the feature space, or in the values at the vectors if the kernels differ or have none.
    """
    X, a = machine.vectors, machine.coefficients
    Z, beta = smaller.vectors, smaller.coefficients
    kernel = machine.kernel
    values = kernel(X, X) @ a
    squared_norm = float((a * values).sum())
    if kernel.is_positive_definite and smaller.kernel == kernel:
        cross = float((a * (kernel(X, Z) @ beta)).sum())
        squared_error = squared_norm - 2.0 * cross + float((beta * (kernel(Z, Z) @ beta)).sum())
    else:
        squared_norm = float(np.square(values).sum())
        squared_error = float(np.square(values - smaller.kernel(X, Z) @ beta).sum())
    return ReducedSet.of(smaller, squared_error, squared_norm)


def rounded_reduced_set(machine: KernelMachine, smaller: KernelMachine, bits: int) -> KernelMachine:
    """The smaller machine with vectors of few bits, and coefficients nearest to the given one."""
    Z = np.asarray(smaller.vectors, dtype=np.float64)
    grid = vector_grid(smaller.kernel, Z, bits)
    X, a = (np.asarray(part, np.float64) for part in (machine.vectors, machine.coefficients))
    kernel, Z = grid.full_kernel, grid.vectors
    if kernel == machine.kernel and kernel.is_positive_definite:
        beta, *_ = np.linalg.lstsq(kernel(Z, Z), kernel(Z, X) @ a, rcond=_NULL)  # (47)
    else:
        beta, *_ = np.linalg.lstsq(kernel(X, Z), machine.kernel(X, X) @ a, rcond=_NULL)
    # without vectors the machine is a constant, which any row judges
    rows = X if len(X) else np.zeros((1, X.shape[1]))
    return in_few_bits(
        grid, KernelMachine(kernel, Z, beta, machine.intercepts), Judge.of_rows(rows)
    )


def _by_values(machine: KernelMachine, n_vectors: int, random_state: int) -> ReducedSet:
    """Least squares in the values at the machine's own vectors, where (4) is not a norm."""
    X = np.asarray(machine.vectors, dtype=np.float64)
    a = np.asarray(machine.coefficients, dtype=np.float64)
    values = (machine.kernel(X, X) @ a).reshape(a.shape)
    Z = seed_vectors(X, n_vectors, "kmeans", machine.kernel, random_state, np.abs(a).sum(axis=1))
    K = machine.kernel(X, Z)
    beta, *_ = np.linalg.lstsq(K, values, rcond=_NULL)
    error = float(np.linalg.norm(values - K @ beta))
    scale = max(float(np.linalg.norm(values)), np.finfo(float).tiny)
    return ReducedSet(
        KernelMachine(machine.kernel, Z, beta, machine.intercepts), error, error / scale
    )


def fixed_point_vectors(
    X: FloatArray, a: FloatArray, kernel: Gaussian, n_vectors: int
) -> FloatArray:
    """Vectors one after the other, each a fixed point of the residual's weighted mean.

    For the residual functions r_k = sum_i a_ik k(., x_i) a stationary point of sum_k r_k(z)^2 is
    z = sum_i c_i k(x_i, z) x_i / sum_i c_i k(x_i, z) with c_i = sum_k a_ik r_k(z). The denominator
    can cross zero: the search then starts again from the next row with a large residual. A vector
    that does not become better than its start stays there.
    """
    points, weights = X, a
    Z = np.empty((0, X.shape[1]))
    for _ in range(n_vectors):
        residual = kernel(X, points) @ weights
        strength = np.square(residual).sum(axis=1)
        z = X[int(np.argmax(strength))]
        reached = float(strength.max())
        for start in np.argsort(-strength, kind="stable")[:_RESTARTS]:
            end, value = _fixed_point(X[int(start)], points, weights, kernel)
            if value > reached:
                z, reached = end, value
                break
        Z = np.concatenate([Z, z[None, :]])
        # projecting out all vectors found so far is a least-squares problem in their coefficients
        K, Kx = kernel(Z, Z), kernel(Z, X)
        beta, *_ = np.linalg.lstsq(K, Kx @ a, rcond=_NULL)
        points, weights = np.concatenate([X, Z]), np.concatenate([a, -beta])
    return Z


def _fixed_point(
    z: FloatArray, points: FloatArray, weights: FloatArray, kernel: Gaussian
) -> tuple[FloatArray, float]:
    value = -np.inf
    for _ in range(_SWEEPS):
        k = kernel(points, z[None, :])[:, 0]
        residual = k @ weights
        reached = float(residual @ residual)
        if reached <= value * (1.0 + _LEAST_RISE):
            break
        best, value = z, reached
        mass = (weights @ residual) * k
        total = float(mass.sum())
        if abs(total) <= _CANCELLED * float(np.abs(mass).sum()):
            break
        z = (mass @ points) / total
    return best, value
