"""Iterated re-weighting: any norm of the coefficients by a sequence of ridge problems.

Nothing here knows which loss is minimised: a learner hands in a solver for its loss plus
1/2 w'w over explicit features (Huang, Zheng, King, Lyu 2009, propositions 3 and 4).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from kernelet.learners.arbitrary_norm.change_of_variables import SPACES, Features
from kernelet.learners.arbitrary_norm.penalties import FloatArray, NormPenalty
from kernelet.solvers.parallel import one_thread_if_small

# How far weights may run ahead of the coefficients in a step.
_AHEAD = (1e-2, 1e2)
# A relative duality gap above this is no solution.
ROUGH = 1e-3
# After this many problems in a row without a solution the weights are made of rounding errors, and
# the sequence goes nowhere; a few may fail on the way to fewer vectors.
_MOST_UNSOLVED = 10


@dataclass(frozen=True, eq=False)
class LinearFit:
    """A linear machine over features, the value of its loss, and how exact it is."""

    weights: FloatArray
    intercept: float
    loss: float
    gap: float


class RidgeSolver(Protocol):
    """min 1/2 w'w + loss(rows w + b) for one loss; ``start`` is (w, b) nearby, or None."""

    def __call__(self, rows: Features, start: tuple[FloatArray, float] | None) -> LinearFit: ...

    @property
    def constant(self) -> float:
        """A constant f with a low loss."""
        ...

    def value(self, scores: FloatArray) -> float:
        """The loss of f with these values at the rows."""
        ...


@dataclass(frozen=True, eq=False)
class Step:
    """The machine after a step: which candidates it uses, and how."""

    n_iter: int
    index: NDArray[np.intp]
    coefficients: FloatArray
    intercept: float
    objective: float
    change: float
    gap: float


@dataclass(frozen=True, eq=False)
class Reweighted:
    """Where the sequence of problems ended, and how.

    Attributes
    ----------
    end : Step
    path : ndarray of shape (n_iter, 2)
        Vectors left and the objective after each step.
    converged, interrupted, stopped, unsolved : bool
        At rest, by Ctrl-C, by a callback, or since its problems could not be solved; max_iter was
        reached if none of them.
    is_lost : bool
        Whether rounding left nothing better than a constant.
    """

    end: Step
    path: FloatArray
    converged: bool
    interrupted: bool = False
    stopped: bool = False
    unsolved: bool = False
    is_lost: bool = False


def reweight(
    values: FloatArray,
    gram: FloatArray,
    solve: RidgeSolver,
    penalty: NormPenalty,
    *,
    regularizer: str = "kernel",
    epsilon: float = 1e-4,
    first: float = 1.0,
    floor: float = 0.0,
    max_iter: int = 100,
    on_step: Callable[[Step], bool | None] | None = None,
) -> Reweighted:
    r"""Solve (3.7) again and again, each time with the weights of the last coefficients.

    .. math:: \min_{\alpha, b} \tfrac12 \alpha'(R + \Lambda_t)\alpha
        + \mathrm{loss}(K\alpha + b), \qquad
        \Lambda_t = C_{norm} \, \mathrm{diag}(|\alpha_{t,j}|^{-(2-p)})

    over the coefficients above epsilon times the largest, steps 1-8 of the paper. A change of
    variables makes each problem a ridge problem over as many features as there are coefficients.
    Ctrl-C ends the sequence with the last machine.

    Parameters
    ----------
    values : ndarray of shape (n, m)
        Kernel values of the rows and the candidates.
    gram : ndarray of shape (m, m)
        Kernel values of the candidates among themselves.
    solve : RidgeSolver
    penalty : NormPenalty
    regularizer : {"kernel", "ridge"}, default="kernel"
        R is the Gram matrix, or the identity of section 3.4.3.
    epsilon : float, default=1e-4
        Coefficients smaller than this share of the largest are dropped, and the sequence ends when
        none moves by more.
    first : float, default=1.0
        The size of all coefficients before the first step.
    floor : float, default=0.0
        All coefficients are dropped when none is larger: they change nothing.
    max_iter : int, default=100
    on_step : callable, default=None
        Called after every step; the sequence ends when it returns True.

    Returns
    -------
    Reweighted
    """
    m = gram.shape[0]
    index, alpha, intercept = np.arange(m), np.full(m, first), 0.0
    anchor = alpha
    path: list[tuple[int, float]] = []
    best: Step | None = None
    converged = interrupted = stopped = unsolved = False
    n_unsolved = 0
    try:
        for n_iter in range(1, max_iter + 1):
            is_whole = index.size == m
            K = values if is_whole else values[:, index]
            R = gram if is_whole else gram[np.ix_(index, index)]
            with one_thread_if_small(K.size * index.size):
                space = SPACES[regularizer](R, *penalty.scale(anchor))
                start = None if n_iter == 1 else (space.weights(alpha), intercept)
                fit = solve(Features(K, space), start)
            last, alpha, intercept = alpha, space.coefficients(fit.weights), fit.intercept
            size = np.abs(alpha)
            largest = float(size.max(initial=0.0))
            change = float(np.abs(alpha - last).max(initial=0.0)) / largest if largest else 0.0
            norm = 0.5 * float(alpha @ (R @ alpha if regularizer == "kernel" else alpha))
            kept = np.full(size.size, largest > floor)
            if penalty.is_sparse:
                kept &= size > epsilon * largest
            index, alpha, last = index[kept], alpha[kept], last[kept]
            objective = norm + penalty.value(alpha) + fit.loss
            step = Step(n_iter, index, alpha, intercept, objective, change, fit.gap)
            rose = bool(path) and objective > path[-1][1]
            path.append((index.size, objective))
            if best is None or penalty.is_sparse or objective <= best.objective:
                best = step
            converged = not index.size or (
                bool(kept.all()) and penalty.is_met(alpha, change, objective, epsilon)
            )
            stopped = on_step is not None and bool(on_step(step)) and not converged
            n_unsolved = 0 if fit.gap <= ROUGH else n_unsolved + 1
            unsolved = n_unsolved >= _MOST_UNSOLVED and not (stopped or converged)
            if stopped or converged or unsolved:
                break
            anchor = np.abs(alpha)
            if penalty.stride and n_iter > 1 and not rose:
                ratio = np.clip(
                    anchor / np.maximum(np.abs(last), np.finfo(np.float64).tiny), *_AHEAD
                )
                anchor = anchor * ratio**penalty.stride
    except KeyboardInterrupt:
        if best is None:
            raise
        interrupted, converged = True, False
    assert best is not None
    end = replace(best, n_iter=len(path))
    steps = np.array(path, dtype=np.float64)
    return Reweighted(end, steps, converged, interrupted, stopped, unsolved)
