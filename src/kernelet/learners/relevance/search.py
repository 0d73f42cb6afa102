"""The fast sequential search for the precisions that make the data most probable.

Tipping and Faul (2003): columns are added, re-estimated and deleted one at a time, each time with
the closed form of the precision that is best while all others stay. Columns that are inside cost
next to nothing to re-estimate, so they are brought to rest before all others are looked at.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.linalg.lapack import dtrtrs

from kernelet.kernels.numerics.arrays import FloatArray
from kernelet.learners.relevance.likelihoods import Likelihood, solved
from kernelet.learners.relevance.precisions import (
    FREE,
    LEAST,
    MAX_SWEEPS,
    MOST,
    State,
    settled,
)

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
# How much it may still lose after one sweep over the columns inside to be brought to rest.
_HOPE_LEFT = 0.5
# From this many columns on, those that promise most are looked at again first, as long as they
# promise more than all others did when these were last looked at.
_MANY_COLUMNS = 500
_N_PROMISING = 100

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
    promising: Promising | None = None
    for _ in range(max_iter):
        better = None if promising is None else promising.grown(Phi, state, tol)
        if better is None:
            found = candidates(Phi, squares, state, threads)
            promising = Promising.of(Phi, squares, found)
            better = _with_another(Phi, state, found, tol) or _exchanged(Phi, state, found, tol)
        if better is None:
            return
        state = better
        yield state


@dataclass(frozen=True, eq=False)
class Promising:
    """The columns that promised most, and the most that any other promised."""

    index: NDArray[np.intp]
    columns: FloatArray
    squares: FloatArray
    others: float

    @classmethod
    def of(cls, Phi: FloatArray, squares: FloatArray, found: ColumnStatistics) -> Promising | None:
        """The best of many columns."""
        if Phi.shape[1] < _MANY_COLUMNS:
            return None
        gains = gains_of_adding(*found[:3])
        order = gains.argpartition(-_N_PROMISING)
        index, others = np.sort(order[-_N_PROMISING:]), float(gains[order[:-_N_PROMISING]].max())
        return cls(index, Phi.T[index].T, squares.T[index].T, others)

    def grown(self, Phi: FloatArray, state: State, tol: float) -> State | None:
        """The state with one more of these columns, if it promises more than all others did."""
        place = np.searchsorted(self.index, state.index)
        inside = place[self.index.take(place, mode="clip") == state.index]
        found = candidates(self.columns, self.squares, state, within=Phi, is_inside=inside)
        return _with_another(Phi, state, found, max(tol, self.others), self.index)


def best_gain(Phi: FloatArray, state: State, threads: Threads = nullcontext) -> float:
    """What the best column outside promises to add to the evidence."""
    return float(gains_of_adding(*candidates(Phi, Phi * Phi, state, threads)[:3]).max())


def _with_another(
    Phi: FloatArray,
    state: State,
    found: ColumnStatistics,
    tol: float,
    index: NDArray[np.intp] | None = None,
) -> State | None:
    """With the column that promises most, and keeps its promise; of all, or those of an index."""
    S, Q, usable, _ = found
    gains = gains_of_adding(S, Q, usable)
    for _ in range(_MAX_REFUSALS + 1):
        best = int(gains.argmax())
        if gains[best] <= tol:
            return None
        column = best if index is None else int(index[best])
        grown = with_column(Phi, state, column, float(S[best]), float(Q[best]))
        if grown.is_better_than(state):
            return grown
        gains[best] = 0.0
    return None


def _exchanged(Phi: FloatArray, state: State, found: ColumnStatistics, tol: float) -> State | None:
    """With one column replaced by another, where that raises the evidence."""
    for place, column, S, Q in exchanges(state, *found):
        changed = with_column(Phi, state, column, S, Q, place, n_sweeps=1)
        if changed.evidence > state.evidence - _HOPE_LEFT:
            changed = at_rest(Phi, changed)
        if changed.evidence > state.evidence + tol:
            return changed
    return None


def candidates(
    Phi: FloatArray,
    squares: FloatArray,
    state: State,
    threads: Threads = nullcontext,
    within: FloatArray | None = None,
    is_inside: NDArray[np.intp] | None = None,
) -> ColumnStatistics:
    """Sparsity S and quality Q of all columns, which of them may be added, and L^-1 Phi'B phi_m.

    S_m = phi_m'(B - B Phi Sigma Phi'B) phi_m, and Q_m = phi_m'B(t - Phi w) at the mode. If these
    are only some of all columns ``within`` which the state is, ``is_inside`` says which of them are
    inside.
    """
    posterior = state.posterior
    inside = (Phi if within is None else within).T[state.index]
    with threads():
        cross = (posterior.curvature * inside) @ Phi
        whole = posterior.curvature @ squares
        Q = posterior.residual @ Phi
    explained, _ = dtrtrs(posterior.factor, cross, lower=1)
    S = whole - np.einsum("jm,jm->m", explained, explained)
    usable = (_PARALLEL * whole < S) & (whole > 0.0)
    usable[state.index if is_inside is None else is_inside] = False
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


def at_rest(Phi: FloatArray, state: State) -> State:
    """The same columns, or fewer, at rest."""
    return settled(Phi, state.likelihood, state.index, state.alpha, state.posterior.weights)


def with_column(
    Phi: FloatArray,
    state: State,
    column: int,
    S: float,
    Q: float,
    gone: int | None = None,
    n_sweeps: int = MAX_SWEEPS,
) -> State:
    """The state with one more column, perhaps in place of one inside, at rest.

    S and Q are those without the one that is ``gone``.
    """
    posterior, index, alpha = state.posterior, state.index, state.alpha
    best = min(max(S * S / (Q * Q - S), LEAST), MOST)
    mean = Q / (best + S)
    # where the quadratic around the mode moves the other weights
    cross = Phi.T[index] @ (posterior.curvature * Phi[:, column])
    weights, pull = posterior.weights, solved(posterior.factor, cross)
    if gone is not None:
        own = solved(posterior.factor, np.eye(1, index.size, gone)[0])
        weights = weights - own * (weights[gone] / own[gone])
        pull = pull - own * (pull[gone] / own[gone])
    start = np.append(weights - mean * pull, mean)
    index, alpha = np.append(index, column), np.append(alpha, best)
    if gone is not None:
        index, alpha, start = (np.delete(each, gone) for each in (index, alpha, start))
    return settled(Phi, state.likelihood, index, alpha, start, n_sweeps)
