"""The fast sequential search for the precisions that make the data most probable.

Tipping and Faul (2003): columns are added, re-estimated and deleted one at a time, each time with
the closed form of the precision that is best while all others stay. Columns that are inside cost
next to nothing to re-estimate, so they are brought to rest before all others are looked at.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import solve_triangular

from kernelet.learners.relevance_likelihood import FloatArray, Likelihood, Posterior

# Precisions beyond these are taken for zero and infinite, for columns of mean square one.
_LEAST, _MOST = 1e-10, 1e10
# The precision of the first column's weight, the bias: it may have any size.
FREE = 1e-12
# Sweeps over the columns inside, at most, before others are looked at again, and the change of a
# log precision that counts as rest.
_MAX_SWEEPS = 50
_AT_REST = 1e-2
# A column of which no more than this share lies outside the span of those inside is left out.
_PARALLEL = 1e-7
# Candidates in a row that may turn out not to raise the evidence.
_MAX_REFUSALS = 20
# Exchanges that are tried before there is said to be none, and how much an exchange may seem to
# lose: what the other columns win when they have come to rest is not foreseen.
_MAX_EXCHANGES = 16
_FEW = 2
_HOPE = 2.0
# Rounding error of an evidence, in shares of it.
_NOISE = 1e-10


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

    def restricted(self, kept: NDArray[np.bool_]) -> State:
        """Without some columns; the posterior is only where the next one starts."""
        posterior = replace(self.posterior, weights=self.posterior.weights[kept])
        return State(self.likelihood, self.index[kept], self.alpha[kept], posterior)

    def is_better_than(self, other: State) -> bool:
        """By more than rounding error."""
        return self.evidence > other.evidence + _NOISE * abs(other.evidence)


@dataclass(frozen=True, eq=False)
class Relevance:
    """Where the search ended, and how.

    Attributes
    ----------
    state : State
    n_iter : int
        How many times all columns were looked at.
    gain : float
        What the best column still outside promised at the end.
    converged, interrupted : bool
    path : ndarray of shape (n_iter, 2)
        Columns inside and evidence, each time.
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
        How many times all columns are looked at, at most.
    on_step : callable, default=None
        Called each time; the search ends when it returns True.

    Returns
    -------
    Relevance
    """
    squares = Phi * Phi
    first, alpha = np.zeros(1, dtype=np.intp), np.full(1, FREE)
    posterior = likelihood.posterior(Phi[:, first], alpha, np.zeros(1))
    search = _Search(Phi, squares, at_rest(Phi, State(likelihood, first, alpha, posterior)))
    search.tol, search.max_iter, search.on_step = tol, max_iter, on_step
    try:
        search.run()
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

    def __init__(self, Phi: FloatArray, squares: FloatArray, state: State) -> None:
        self.Phi = Phi
        self.squares = squares
        self.state = state
        self.path: list[tuple[int, float]] = []
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
            grown, self.gain = self.grown(self.state, refused)
            if grown is None:
                return False
            if grown.is_better_than(self.state):
                return self.accept(grown)
        return False

    def exchange(self) -> bool:
        """Replace a column by another, where that raises the evidence."""
        S, Q, usable, cross = candidates(self.Phi, self.squares, self.state)
        for place, column, S_new, Q_new in exchanges(self.state, S, Q, usable, cross):
            kept = np.arange(self.state.index.size) != place
            without = self.state.restricted(kept)
            changed = at_rest(self.Phi, with_column(self.Phi, without, column, S_new, Q_new))
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

    def grown(self, state: State, refused: set[int]) -> tuple[State | None, float]:
        """The state with the best column added that is not refused, and what that promised."""
        S, Q, usable, _ = candidates(self.Phi, self.squares, state)
        usable[list(refused)] = False
        gains = gains_of_adding(S, Q, usable)
        best = int(gains.argmax())
        gain = float(gains[best])
        if gain <= self.tol:
            return None, gain
        refused.add(best)
        column = with_column(self.Phi, state, best, float(S[best]), float(Q[best]))
        return at_rest(self.Phi, column), gain


def candidates(
    Phi: FloatArray, squares: FloatArray, state: State
) -> tuple[FloatArray, FloatArray, NDArray[np.bool_], FloatArray]:
    """Sparsity S and quality Q of all columns, which of them may be added, and L^-1 Phi'B phi_m.

    S_m = phi_m'(B - B Phi Sigma Phi'B) phi_m, and Q_m = phi_m'B(t - Phi w) at the mode.
    """
    posterior = state.posterior
    inside = Phi[:, state.index]
    cross = (posterior.curvature[:, None] * inside).T @ Phi
    explained = solve_triangular(posterior.factor, cross, lower=True, check_finite=False)
    whole = posterior.curvature @ squares
    S = whole - np.einsum("jm,jm->m", explained, explained)
    Q = posterior.residual @ Phi
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
    root = solve_triangular(
        state.posterior.factor, explained, lower=True, trans="T", check_finite=False
    )
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


def with_column(Phi: FloatArray, state: State, column: int, S: float, Q: float) -> State:
    """The state with one more column, at the precision that is best for it."""
    alpha = min(max(S * S / (Q * Q - S), _LEAST), _MOST)
    index, precisions = np.append(state.index, column), np.append(state.alpha, alpha)
    start = np.append(state.posterior.weights, Q / (alpha + S))
    posterior = state.likelihood.posterior(Phi[:, index], precisions, start)
    return State(state.likelihood, index, precisions, posterior)


def at_rest(Phi: FloatArray, state: State) -> State:
    """Re-estimate and delete columns inside until nothing moves; the evidence never falls."""
    for _ in range(_MAX_SWEEPS):
        alpha, weights = swept(state)
        kept = alpha < np.inf
        moved = _moved(Phi, state, kept, alpha, weights)
        if not moved.is_better_than(state):
            # half of the way, without deletions: the quadratic around the mode promised too much
            half = np.sqrt(np.minimum(alpha, 1e2 * state.alpha) * state.alpha)
            moved = _moved(
                Phi, state, np.ones(kept.size, dtype=bool), half, state.posterior.weights
            )
            if not moved.is_better_than(state):
                return state
        change = np.inf
        if moved.index.size == state.index.size:
            change = float(np.abs(np.log(moved.alpha / state.alpha)).max())
            if moved.likelihood is not state.likelihood:
                change = max(change, 2.0 * _AT_REST)
        state = moved
        if change <= _AT_REST:
            break
    return state


def _moved(
    Phi: FloatArray,
    state: State,
    kept: NDArray[np.bool_],
    alpha: FloatArray,
    weights: FloatArray,
) -> State:
    index, alpha, inside = state.index[kept], alpha[kept], Phi[:, state.index[kept]]
    posterior = state.likelihood.posterior(inside, alpha, weights[kept])
    moved = State(state.likelihood, index, alpha, posterior)
    likelihood = state.likelihood.refined(inside, alpha, posterior)
    if likelihood is not state.likelihood:
        refined = State(
            likelihood, index, alpha, likelihood.posterior(inside, alpha, posterior.weights)
        )
        return refined if refined.is_better_than(moved) else moved
    return moved


def swept(state: State) -> tuple[FloatArray, FloatArray]:
    """The best precision of one column after the other, infinite for those to be deleted.

    The quadratic around the mode is kept; covariance and mean follow each change by a rank-one
    update. With s = 1/Sigma_jj - alpha_j and q = mu_j/Sigma_jj the best precision is
    s^2 / (q^2 - s).
    """
    alpha, mu = state.alpha.copy(), state.posterior.weights.copy()
    Sigma = state.posterior.covariance()
    for j in range(1, alpha.size):
        variance = float(Sigma[j, j])
        s = max(1.0 / variance - alpha[j], 0.0)
        q = float(mu[j]) / variance
        surplus = q * q - s
        best = max(s * s / surplus, _LEAST) if surplus > 0.0 else np.inf
        best = best if best < _MOST else np.inf
        if best < np.inf:
            shift = best - alpha[j]
            share = shift / (1.0 + shift * variance)
        else:
            share = 1.0 / variance
        column = Sigma[:, j].copy()
        mu -= share * mu[j] * column
        Sigma -= (share * column)[:, None] * column
        alpha[j] = best
        if best == np.inf:
            # gone: nothing that follows may depend on it
            Sigma[j, j] = 1.0
    return alpha, mu
