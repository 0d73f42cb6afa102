"""Iterated re-weighting: any norm of the coefficients by a sequence of ridge problems.

Nothing here knows which loss is minimised: a learner passes a solver for its loss plus 1/2 w'w over
explicit features (Huang, Zheng, King, Lyu 2009, propositions 3 and 4).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kernelet.kernels.numerics.arrays import FloatArray
from kernelet.learners.arbitrary_norm.change_of_variables import (
    REGULARIZERS,
    CoefficientRegularizer,
    RidgeFeatures,
    SharedFeatures,
)
from kernelet.learners.arbitrary_norm.kept_candidates import KeptColumns, KeptGram
from kernelet.learners.arbitrary_norm.losses import Loss
from kernelet.learners.arbitrary_norm.penalties import ReweightedPenalty
from kernelet.solvers.parallel import one_thread_if_small

# How far weights may run ahead of the coefficients in a step. Only coefficients that jump reach
# these bounds, and for those the last step says little about the next.
_AHEAD = (1e-2, 1e2)
# A relative duality gap above this is no solution: solvers are asked for 1e-6, and accept LIBSVM's
# up to 1e-4.
ROUGH = 1e-3
# After this many problems in a row without a solution the weights are made of rounding errors, and
# the sequence goes nowhere; a few may fail on the way to fewer vectors.
_MOST_UNSOLVED = 10


@dataclass(frozen=True, eq=False)
class NormProblem:
    """f = K a + b over candidates, and when their coefficients count.

    Attributes
    ----------
    values : ndarray of shape (n, m)
        Kernel values of the rows and the candidates.
    gram : ndarray of shape (m, m)
        Kernel values of the candidates among themselves.
    regularizer : CoefficientRegularizer
        R of 1/2 a'R a.
    epsilon : float, default=1e-4
        Coefficients smaller than this share of the largest are dropped, and the sequence ends when
        none moves by more.
    first : float, default=1.0
        The size of all coefficients before the first step.
    floor : float, default=0.0
        All coefficients are dropped when none is larger: they change nothing.
    """

    values: FloatArray
    gram: FloatArray
    regularizer: CoefficientRegularizer = REGULARIZERS["kernel"]
    epsilon: float = 1e-4
    first: float = 1.0
    floor: float = 0.0


class FirstFeatures:
    """The features of the first step, whose weights do not depend on the loss."""

    def __init__(self, problem: NormProblem) -> None:
        self._problem = problem
        self._features: SharedFeatures | None = None

    def __call__(self, d: FloatArray, e: FloatArray) -> SharedFeatures:
        """For what the penalty makes of the first coefficients, which are all alike."""
        if self._features is None:
            problem = self._problem
            space = problem.regularizer.space(KeptGram(problem.gram), d, e)
            self._features = SharedFeatures(KeptColumns(problem.values), space)
        return self._features


@dataclass(frozen=True, eq=False)
class SparseFit:
    """Which candidates are used, and how; ``change`` is that of the last step's coefficients."""

    index: NDArray[np.intp]
    coefficients: FloatArray
    intercept: float
    objective: float
    change: float
    gap: float


@dataclass(frozen=True, eq=False)
class ReweightedStep:
    """A step of the sequence.

    Attributes
    ----------
    at : SparseFit
        The machine after it.
    best : SparseFit
        The one to end with: the last one, or where all coefficients stay that of least objective.
    path : tuple of (int, float)
        Vectors left and the objective after each step so far.
    converged, unsolved : bool
        Whether the sequence ends here: at rest, or because its problems cannot be solved.
    """

    at: SparseFit
    best: SparseFit
    path: tuple[tuple[int, float], ...]
    converged: bool
    unsolved: bool

    @property
    def n_iter(self) -> int:
        """Which step it is."""
        return len(self.path)


def reweight(
    problem: NormProblem,
    loss: Loss,
    penalty: ReweightedPenalty,
    max_iter: int = 100,
    first: FirstFeatures | None = None,
) -> Iterator[ReweightedStep]:
    r"""Solve (3.7) again and again, each time with the weights of the last coefficients.

    .. math:: \min_{\alpha, b} \tfrac12 \alpha'(R + \Lambda_t)\alpha
        + \mathrm{loss}(K\alpha + b), \qquad
        \Lambda_t = C_{norm} \, \mathrm{diag}(|\alpha_{t,j}|^{-(2-p)})

    over the coefficients above epsilon times the largest, steps 1-8 of the paper. A change of
    variables makes each problem a ridge problem over as many features as there are coefficients.
    Several losses with the same penalty share ``first``.
    """
    K, gram = KeptColumns(problem.values), KeptGram(problem.gram)
    epsilon, (n, m) = problem.epsilon, problem.values.shape
    index, alpha, intercept = np.arange(m), np.full(m, problem.first), 0.0
    anchor = alpha
    path: tuple[tuple[int, float], ...] = ()
    best: SparseFit | None = None
    n_unsolved = 0
    for n_iter in range(1, max_iter + 1):
        scale = penalty.scale(anchor)
        with one_thread_if_small(n * index.size**2):
            if first is not None and n_iter == 1:
                rows: RidgeFeatures = first(*scale)
            else:
                rows = RidgeFeatures(K, problem.regularizer.space(gram, *scale))
            start = None if n_iter == 1 else (rows.space.weights(alpha), intercept)
            fit = loss(rows, start)
        last, alpha, intercept = alpha, rows.space.coefficients(fit.weights), fit.intercept
        size = np.abs(alpha)
        largest = float(size.max(initial=0.0))
        change = float(np.abs(alpha - last).max(initial=0.0)) / largest if largest else 0.0
        norm = problem.regularizer.norm(gram, alpha)
        kept = np.full(size.size, largest > problem.floor)
        if penalty.is_sparse:
            kept &= size > epsilon * largest
        if not kept.all():
            index, alpha, last = index[kept], alpha[kept], last[kept]
            (left,) = kept.nonzero()
            K, gram = K.keep(left), gram.keep(left)
        objective = norm + penalty.value(alpha) + fit.loss
        rose = bool(path) and objective > path[-1][1]
        at = SparseFit(index, alpha, intercept, objective, change, fit.gap)
        if best is None or penalty.is_sparse or objective <= best.objective:
            best = at
        path = (*path, (index.size, objective))
        converged = not index.size or (
            bool(kept.all()) and penalty.is_met(alpha, change, objective, epsilon)
        )
        n_unsolved = 0 if fit.gap <= ROUGH else n_unsolved + 1
        unsolved = n_unsolved >= _MOST_UNSOLVED and not converged
        yield ReweightedStep(at, best, path, converged, unsolved)
        if converged or unsolved:
            return
        anchor = np.abs(alpha)
        if penalty.stride and n_iter > 1 and not rose:
            ratio = np.clip(anchor / np.maximum(np.abs(last), np.finfo(np.float64).tiny), *_AHEAD)
            anchor = anchor * ratio**penalty.stride
