"""The fast sequential search for the precisions that make the data most probable.

Tipping and Faul (2003): columns are added, re-estimated and deleted one at a time, each time with
the closed form of the precision that is best while all others stay. Columns that are inside cost
next to nothing to re-estimate, so they are brought to rest before all others are looked at.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.linalg.lapack import dtrtrs

from kernelet.learners.relevance.likelihoods import FloatArray, Likelihood
from kernelet.learners.relevance.precisions import FREE, LEAST, MOST, State, settled
from kernelet.solvers.parallel import one_thread_but

# A column of which no more than this share lies outside the span of those inside is left out.
_PARALLEL = 1e-7
# Candidates in a row that may turn out not to raise the evidence.
_MAX_REFUSALS = 20
# Exchanges that are tried before there is said to be none, and how much an exchange may seem to
# lose: what the other columns win when they have come to rest is not foreseen.
_MAX_EXCHANGES = 16
_FEW = 2
_HOPE = 2.0
_ALL = slice(None)
# Numbers in all columns, beyond which products with them are worth a second thread.
_MANY_NUMBERS = 2_000_000

Candidates = tuple[FloatArray, FloatArray, NDArray[np.bool_], FloatArray]


@dataclass(frozen=True, eq=False)
class Relevance:
    """Where the search ended, and how.

    Attributes
    ----------
    state : State
    n_iter : int
        How many columns were added or exchanged.
    gain : float
        What the best column still outside promised at the end; infinite if none was looked at.
    converged, interrupted : bool
    path : ndarray of shape (n_iter, 2)
        Columns inside, without the bias, and evidence, after each.
    """

    state: State
    n_iter: int
    gain: float
    converged: bool
    interrupted: bool
    path: FloatArray


def most_probable(
    Phi: FloatArray,
    likelihood: Likelihood,
    *,
    tol: float = 1e-3,
    max_iter: int = 1000,
    on_step: Callable[[State], bool | None] | None = None,
) -> Relevance:
    r"""Maximise the marginal likelihood over the precision of each column's weight.

    .. math:: \max_\alpha \log \int p(t \mid \Phi w) \prod_j N(w_j; 0, \alpha_j^{-1}) \, dw

    Most precisions become infinite, and their columns are not needed.

    Parameters
    ----------
    Phi : ndarray of shape (n, m)
        Columns of mean square about one. The first is the bias, which is not penalised.
    likelihood : Likelihood
    tol : float, default=1e-3
        The search ends when no column promises to raise the evidence by more.
    max_iter : int, default=1000
        Additions and exchanges, at most.
    on_step : callable, default=None
        Called after each; the search ends when it returns True.

    Returns
    -------
    Relevance
    """
    first, alpha = np.zeros(1, dtype=np.intp), np.full(1, FREE)
    with one_thread_but() as all_threads:
        search = _Search(Phi, settled(Phi, likelihood, first, alpha, np.zeros(1)))
        search.tol, search.max_iter, search.on_step = tol, max_iter, on_step
        search.threads = all_threads if Phi.size > _MANY_NUMBERS else nullcontext
        try:
            search.run()
            if search.is_stopped:
                search.gain = float(gains_of_adding(*search.candidates()[:3]).max())
        except KeyboardInterrupt:
            search.interrupted = True
    return Relevance(
        search.state,
        len(search.path),
        search.gain,
        search.converged,
        search.interrupted,
        np.array(search.path, dtype=np.float64).reshape(-1, 2),
    )


class _Search:
    """Additions until none helps, then exchanges until none helps."""

    tol: float
    max_iter: int
    on_step: Callable[[State], bool | None] | None
    threads: Callable[[], AbstractContextManager[object]]

    def __init__(self, Phi: FloatArray, state: State) -> None:
        self.Phi = Phi
        self.squares = Phi * Phi
        self.state = state
        self.path: list[tuple[int, float]] = []
        self.looked: tuple[State, Candidates] | None = None
        self.gain = np.inf
        self.converged = self.interrupted = self.is_stopped = False

    def run(self) -> None:
        """The whole search."""
        while True:
            while self.add():
                pass
            if self.is_stopped or not self.exchange():
                break
        self.converged = not self.is_stopped

    def add(self) -> bool:
        """Add the column that promises most, if it keeps its promise."""
        refused: set[int] = set()
        while len(refused) <= _MAX_REFUSALS:
            grown, self.gain = self.grown(refused)
            if grown is None:
                return False
            if grown.is_better_than(self.state):
                return self.accept(grown)
        return False

    def exchange(self) -> bool:
        """Replace a column by another, where that raises the evidence."""
        S, Q, usable, cross = self.candidates()
        for place, column, S_new, Q_new in exchanges(self.state, S, Q, usable, cross):
            kept = np.arange(self.state.index.size) != place
            changed = with_column(self.Phi, self.state, column, S_new, Q_new, kept)
            if changed.evidence > self.state.evidence + self.tol:
                return self.accept(changed)
        return False

    def accept(self, state: State) -> bool:
        """Go on from there, unless this was the last step."""
        self.state = state
        self.path.append((state.index.size - 1, state.evidence))
        wants_end = self.on_step is not None and bool(self.on_step(state))
        self.is_stopped = wants_end or len(self.path) >= self.max_iter
        return not self.is_stopped

    def candidates(self) -> Candidates:
        """Those of the state, looked at once."""
        if self.looked is None or self.looked[0] is not self.state:
            found = candidates(self.Phi, self.squares, self.state, self.threads)
            self.looked = self.state, found
        return self.looked[1]

    def grown(self, refused: set[int]) -> tuple[State | None, float]:
        """The state with the best column added that is not refused, and what that promised."""
        S, Q, usable, _ = self.candidates()
        gains = gains_of_adding(S, Q, usable)
        gains[list(refused)] = 0.0
        best = int(gains.argmax())
        gain = float(gains[best])
        if gain <= self.tol:
            return None, gain
        refused.add(best)
        return with_column(self.Phi, self.state, best, float(S[best]), float(Q[best])), gain


def candidates(
    Phi: FloatArray,
    squares: FloatArray,
    state: State,
    threads: Callable[[], AbstractContextManager[object]] = nullcontext,
) -> Candidates:
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
