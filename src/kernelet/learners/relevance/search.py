"""The fast sequential search for the precisions that make the data most probable.

Tipping and Faul (2003): columns are added, re-estimated and deleted one at a time, each time with
the closed form of the precision that is best while all others stay. Columns that are inside cost
next to nothing to re-estimate, so they are brought to rest before all others are looked at.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, nullcontext

import numpy as np
from numpy.typing import NDArray
from scipy.linalg.lapack import dtrtrs

from kernelet.kernels.numerics.arrays import FloatArray
from kernelet.learners.relevance.likelihoods import Likelihood
from kernelet.learners.relevance.precisions import FREE, LEAST, MOST, State, settled

# A column of which no more than this share lies outside the span of those inside is left out. The
# share is what cancellation leaves: of sixteen digits about nine at this size.
_PARALLEL = 1e-7
# Candidates in a row that may turn out not to raise the evidence. For labels a gain is that of a
# quadratic around the mode, and may not come true; the next best often does.
_MAX_REFUSALS = 20
# Exchanges that are tried before there is said to be none, the best of them by what they promise,
# and the columns that are considered in place of each one inside.
_MAX_EXCHANGES = 16
_FEW = 2
# How much an exchange may seem to lose, in units of log evidence: what the other columns win when
# they have come to rest is not foreseen.
_HOPE = 2.0
_ALL = slice(None)

Threads = Callable[[], AbstractContextManager[object]]
ColumnStatistics = tuple[FloatArray, FloatArray, NDArray[np.bool_], FloatArray]


def bias_alone(Phi: FloatArray, likelihood: Likelihood) -> State:
    """Where the search begins: the first column, which is not penalised."""
    first = np.zeros(1, dtype=np.intp)
    return settled(Phi, likelihood, first, np.full(1, FREE), np.zeros(1))


def most_probable(
    Phi: FloatArray,
    state: State,
    *,
    tol: float = 1e-3,
    max_iter: int = 1000,
    threads: Threads = nullcontext,
) -> Iterator[State]:
    r"""Maximise the marginal likelihood over the precision of each column's weight.

    .. math:: \max_\alpha \log \int p(t \mid \Phi w) \prod_j N(w_j; 0, \alpha_j^{-1}) \, dw

    Most precisions become infinite, and their columns are not needed. Columns are added until none
    helps, and then one is exchanged for another, if that helps.

    Parameters
    ----------
    Phi : ndarray of shape (n, m)
        Columns of mean square about one. The first is the bias.
    state : State
        Where to begin, `bias_alone`.
    tol : float, default=1e-3
        The search ends when no column promises to raise the evidence by more.
    max_iter : int, default=1000
        Additions and exchanges, at most.
    threads : callable, default=nullcontext
        A context for products with all columns.

    Yields
    ------
    State
        After each addition or exchange.
    """
    squares = Phi * Phi
    for _ in range(max_iter):
        found = candidates(Phi, squares, state, threads)
        better = _with_another(Phi, state, found, tol) or _exchanged(Phi, state, found, tol)
        if better is None:
            return
        state = better
        yield state


def best_gain(Phi: FloatArray, state: State, threads: Threads = nullcontext) -> float:
    """What the best column outside promises to add to the evidence."""
    return float(gains_of_adding(*candidates(Phi, Phi * Phi, state, threads)[:3]).max())


def _with_another(
    Phi: FloatArray, state: State, found: ColumnStatistics, tol: float
) -> State | None:
    """With the column that promises most, and keeps its promise."""
    S, Q, usable, _ = found
    gains = gains_of_adding(S, Q, usable)
    for _ in range(_MAX_REFUSALS + 1):
        best = int(gains.argmax())
        if gains[best] <= tol:
            return None
        grown = with_column(Phi, state, best, float(S[best]), float(Q[best]))
        if grown.is_better_than(state):
            return grown
        gains[best] = 0.0
    return None


def _exchanged(Phi: FloatArray, state: State, found: ColumnStatistics, tol: float) -> State | None:
    """With one column replaced by another, where that raises the evidence."""
    for place, column, S, Q in exchanges(state, *found):
        kept = np.arange(state.index.size) != place
        changed = with_column(Phi, state, column, S, Q, kept)
        if changed.evidence > state.evidence + tol:
            return changed
    return None


def candidates(
    Phi: FloatArray,
    squares: FloatArray,
    state: State,
    threads: Threads = nullcontext,
) -> ColumnStatistics:
    """Sparsity S and quality Q of all columns, which of them may be added, and L^-1 Phi'B phi_m.

    S_m = phi_m'(B - B Phi Sigma Phi'B) phi_m, and Q_m = phi_m'B(t - Phi w) at the mode.
    """
    posterior = state.posterior
    inside = Phi[:, state.index]
    with threads():
        cross = (posterior.curvature[:, None] * inside).T @ Phi
        whole = posterior.curvature @ squares
        Q = posterior.residual @ Phi
    explained, _ = dtrtrs(posterior.factor, cross, lower=1)
    S = whole - np.einsum("jm,jm->m", explained, explained)
    usable = (_PARALLEL * whole < S) & (whole > 0.0)
    usable[state.index] = False
    return S, Q, usable, explained


def gains_of_adding(S: FloatArray, Q: FloatArray, usable: NDArray[np.bool_]) -> FloatArray:
    """What adding each column with its best precision does to the evidence, 0 if nothing."""
    gains = np.zeros(S.size)
    ratio = np.divide(Q * Q, S, out=np.zeros(S.size), where=usable)
    better = ratio > 1.0
    gains[better] = 0.5 * (ratio[better] - 1.0 - np.log(ratio[better]))
    return gains


def exchanges(
    state: State,
    S: FloatArray,
    Q: FloatArray,
    usable: NDArray[np.bool_],
    explained: FloatArray,
) -> list[tuple[int, int, float, float]]:
    """Which column inside might be replaced by which other, with S and Q then, the best first.

    Without column j, S_m and Q_m grow by c^2/Sigma_jj and c w_j/Sigma_jj, c = phi_m'B Phi Sigma_j:
    all pairs take no more than the columns alone.
    """
    Sigma = state.posterior.covariance()
    root, _ = dtrtrs(state.posterior.factor, explained, lower=1, trans=1)
    found = []
    few = min(_FEW, S.size)
    for j in range(1, state.index.size):
        variance, weight = float(Sigma[j, j]), float(state.posterior.weights[j])
        S_j, Q_j = S + root[j] ** 2 / variance, Q + root[j] * (weight / variance)
        gains = gains_of_adding(S_j, Q_j, usable)
        worth = 0.5 * (weight * weight / variance + float(np.log(state.alpha[j] * variance)))
        for best in np.argpartition(gains, -few)[-few:].tolist():
            net = float(gains[best]) - worth
            if gains[best] > 0.0 and net > -_HOPE:
                found.append((net, j, best, float(S_j[best]), float(Q_j[best])))
    found.sort(reverse=True)
    return [pair[1:] for pair in found[:_MAX_EXCHANGES]]


def with_column(
    Phi: FloatArray,
    state: State,
    column: int,
    S: float,
    Q: float,
    kept: NDArray[np.bool_] | slice = _ALL,
) -> State:
    """The state with one more column, and those inside that are kept, at rest."""
    best = min(max(S * S / (Q * Q - S), LEAST), MOST)
    index, alpha = np.append(state.index[kept], column), np.append(state.alpha[kept], best)
    start = np.append(state.posterior.weights[kept], Q / (best + S))
    return settled(Phi, state.likelihood, index, alpha, start)
