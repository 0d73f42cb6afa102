"""Columns of a sparse Bayesian model, and how their precisions are brought to rest."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.linalg.blas import dger

from kernelet.kernels.numerics.arrays import FloatArray
from kernelet.learners.relevance.likelihoods import Likelihood, Posterior

# Precisions beyond these are taken for zero and infinite, for columns of mean square one: weights
# of size 1e5, and of 1e-5, against scores of size one.
LEAST, MOST = 1e-10, 1e10
# The precision of the first column's weight, the bias: it may have any size.
FREE = 1e-12
# The change of a log precision that counts as rest; at a maximum the evidence changes with its
# square. Sweeps over the columns inside, at most: a guard, as the next step goes on from there.
_AT_REST = 1e-2
MAX_SWEEPS = 50
# Rounding error of an evidence, in shares of it.
_NOISE = 1e-10
# Half a step raises a precision tenfold at most, the root of this; to be deleted means infinite.
_LARGEST_STEP = 1e2


@dataclass(frozen=True, eq=False)
class State:
    """Columns that are in the model, their precisions, and the posterior of their weights."""

    likelihood: Likelihood
    index: NDArray[np.intp]
    alpha: FloatArray
    posterior: Posterior

    @property
    def evidence(self) -> float:
        """The log marginal likelihood, which is maximised."""
        return self.posterior.evidence

    def is_better_than(self, other: State) -> bool:
        """By more than rounding error."""
        return self.evidence > other.evidence + _NOISE * abs(other.evidence)


def settled(
    Phi: FloatArray,
    likelihood: Likelihood,
    index: NDArray[np.intp],
    alpha: FloatArray,
    start: FloatArray,
    n_sweeps: int = MAX_SWEEPS,
) -> State:
    """Some columns at rest, from given precisions and weights near the mode.

    With fewer sweeps they may not be at rest yet.
    """
    # each column contiguous
    inside = Phi.T[index].T
    posterior = likelihood.posterior(inside, alpha, start)
    return _at_rest(inside, State(likelihood, index, alpha, posterior), n_sweeps)


def _at_rest(inside: FloatArray, state: State, n_sweeps: int) -> State:
    """Re-estimate and delete columns inside until nothing moves; the evidence never falls."""
    for _ in range(n_sweeps):
        alpha, weights = swept(state)
        kept = alpha < np.inf
        columns = inside if kept.all() else inside.T[kept].T
        moved = _moved(state.likelihood, columns, state.index[kept], alpha[kept], weights[kept])
        if not moved.is_better_than(state):
            # half of the way, without deletions: the quadratic around the mode promised too much
            half = np.sqrt(np.minimum(alpha, _LARGEST_STEP * state.alpha) * state.alpha)
            columns = inside
            moved = _moved(state.likelihood, inside, state.index, half, state.posterior.weights)
            if not moved.is_better_than(state):
                return state
        change = np.inf
        if moved.index.size == state.index.size:
            change = float(np.abs(np.log(moved.alpha / state.alpha)).max())
            if moved.likelihood is not state.likelihood:
                change = max(change, 2.0 * _AT_REST)
        state, inside = moved, columns
        if change <= _AT_REST:
            break
    return state


def _moved(
    likelihood: Likelihood,
    columns: FloatArray,
    index: NDArray[np.intp],
    alpha: FloatArray,
    start: FloatArray,
) -> State:
    posterior = likelihood.posterior(columns, alpha, start)
    moved = State(likelihood, index, alpha, posterior)
    other = likelihood.refined(columns, alpha, posterior)
    if other is likelihood:
        return moved
    refined = State(other, index, alpha, other.posterior(columns, alpha, posterior.weights))
    return refined if refined.is_better_than(moved) else moved


def swept(state: State) -> tuple[FloatArray, FloatArray]:
    """The best precision of one column after the other, infinite for those to be deleted.

    The quadratic around the mode is kept; covariance and mean follow each change by a rank-one
    update. With s = 1/Sigma_jj - alpha_j and q = mu_j/Sigma_jj the best precision is
    s^2 / (q^2 - s).
    """
    alpha = state.alpha.tolist()
    # a column for each: its covariances with all of them, and its mean
    joint = np.empty((len(alpha) + 1, len(alpha)), order="F")
    joint[:-1], joint[-1] = state.posterior.covariance(), state.posterior.weights
    for j in range(1, len(alpha)):
        own = joint[:, j].copy()
        variance, mean = own.item(j), own.item(-1)
        s = max(1.0 / variance - alpha[j], 0.0)
        q = mean / variance
        surplus = q * q - s
        best = max(s * s / surplus, LEAST) if surplus > 0.0 else np.inf
        best = best if best < MOST else np.inf
        if best < np.inf:
            shift = best - alpha[j]
            share = shift / (1.0 + shift * variance)
        else:
            share = 1.0 / variance
        joint = dger(-share, own, own[:-1], a=joint, overwrite_a=1)
        alpha[j] = best
        if best == np.inf:
            # gone: nothing that follows may depend on it
            joint[j, j] = 1.0
    return np.array(alpha), joint[-1].copy()
