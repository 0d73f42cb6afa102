"""Hinge loss plus a norm that is not squared: the 2-norm machine of the LP subspace paper."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike

from kernelet.kernels.numerics.arrays import FloatArray
from kernelet.solvers.bias import hinge_bias
from kernelet.solvers.checks import (
    checked_costs,
    checked_labels,
    checked_starts,
    checked_tolerance,
)
from kernelet.solvers.hinge.ridge import hinge_ridge
from kernelet.solvers.rounding import NOISE, TINY
from kernelet.solvers.rows import Rows, as_rows
from kernelet.solvers.solution import Solution, Status
from kernelet.solvers.thinning import evenly_spaced

# Ridge problems solved in the search for the one with the right norm. An interval of kappa that
# covers all of double precision, 1e600, is halved on a logarithmic scale to 1e-14 after 57 steps.
_MAX_SOLVES = 60
# The norm grows like a power of kappa between 0 and 1. The square root is taken for it, so that
# kappa moves by the square of the missing factor, itself cut at _STRIDE; going _BEYOND that makes
# it likely that the next problem is on the other side.
_STRIDE = 10.0
_BEYOND = 1.5
# Kappa from which its inverse, and with it the costs, may overflow.
_LARGEST = 1e280
# Share of the tolerance that the ridge problems are solved to, and the least that is asked of them:
# some fifty units in the last place.
_FINER = 0.1
_FINEST = 1e-14
# Rows from which the length of rows is estimated. It gives a first kappa and the size of rounding
# errors; a factor of two in either does no harm.
_SAMPLE = 1000


def hinge_norm(
    Phi: ArrayLike | Rows,
    y: ArrayLike,
    C: ArrayLike = 1.0,
    penalty: float = 1.0,
    *,
    tol: float = 1e-8,
    max_iter: int = 200,
    warm_start: Solution | None = None,
) -> Solution:
    r"""Solve hinge loss plus a multiple of the 2-norm of the weights, not squared.

    .. math:: \min_{w, b} c\,\|w\|_2 + \sum_i C_i \max(0, 1 - y_i(\phi_i'w + b))

    The dual is (2.13)-(2.15) of Yajima, Ohi and Mori (2003), :math:`\max \sum_i a_i` subject to
    :math:`\|\Phi'Ya\|_2 \le c`, :math:`y'a = 0` and :math:`0 \le a \le C`. By their lemma 2.1 the
    solution of the ridge problem with weight kappa on :math:`\tfrac12\|w\|^2` solves it for
    :math:`c = \kappa \|w\|`, which grows with kappa. Multipliers are piecewise linear in kappa, so
    once two ridge problems enclose the right one on the same piece, it lies between them exactly.

    Parameters
    ----------
    Phi : array of shape (n, m) or Rows
        Features.
    y : array of shape (n,)
        Labels, -1 or +1.
    C : float or array of shape (n,), default=1.0
        Cost of each row; rows of cost 0 are ignored.
    penalty : float, default=1.0
        The factor c of the norm.
    tol : float, default=1e-8
        Relative duality gap to reach.
    max_iter : int, default=200
        Newton systems allowed for each working set of each ridge problem.
    warm_start : Solution, default=None
        Solution of a nearby problem over as many features.

    Returns
    -------
    Solution
        Values are those of this problem; ``n_rounds`` counts ridge problems.

    Examples
    --------
    >>> solution = hinge_norm([[0.0], [1.0], [3.0], [4.0]], [-1, -1, 1, 1], C=10.0)
    >>> print(solution.weights.round(6), round(solution.primal_value, 6))
    [1.] 1.0
    """
    rows = as_rows(Phi)
    n, m = rows.shape
    labels, costs = checked_labels(y, n), checked_costs(C, n)
    checked_tolerance(tol, max_iter)
    if not 0.0 < penalty < np.inf:
        raise ValueError(f"penalty must be a finite number above zero, got {penalty}.")
    checked_starts(None if warm_start is None else [warm_start], m)
    return _KappaSearch(rows, labels, costs, penalty, tol, max_iter).run(warm_start)


@dataclass(frozen=True, eq=False)
class _Visit:
    """Multipliers a of the ridge problem for kappa, their pull Phi'Ya, q = kappa w and Phi q.

    Pull and q are equal but for errors, which are those of a in the one and of w in the other.
    """

    kappa: float
    a: FloatArray
    pull: FloatArray
    q: FloatArray
    scores: FloatArray

    @property
    def norm(self) -> float:
        return float(np.linalg.norm(self.q))

    def towards(self, other: _Visit, share: float) -> _Visit:
        """The point between the two, on the same piece of the path if they are on one."""
        return _Visit(
            (1.0 - share) * self.kappa + share * other.kappa,
            (1.0 - share) * self.a + share * other.a,
            (1.0 - share) * self.pull + share * other.pull,
            (1.0 - share) * self.q + share * other.q,
            (1.0 - share) * self.scores + share * other.scores,
        )


class _KappaSearch:
    """The ridge problems visited, and the best of both values among them."""

    def __init__(
        self, rows: Rows, y: FloatArray, C: FloatArray, penalty: float, tol: float, max_iter: int
    ) -> None:
        self.rows, self.y, self.C, self.penalty, self.tol = rows, y, C, penalty, tol
        self.max_iter = max_iter
        self.fineness = max(_FINEST, _FINER * tol)
        n, m = rows.shape
        sample = rows.take(evenly_spaced(n, _SAMPLE))
        self.spread = float(np.linalg.norm(sample.std(axis=0)))
        self.length = float(np.linalg.norm(sample)) / np.sqrt(len(sample))
        self.best = Solution(
            np.zeros(m), 0.0, np.zeros(n), np.inf, 0.0, n_iter=0, n_rounds=0, unit=TINY
        )

    def run(self, warm_start: Solution | None) -> Solution:
        """Search until the gap is closed."""
        self._offer_primal(np.zeros(self.rows.shape[1]), np.zeros(self.y.size))
        last = warm_start
        below: _Visit | None = None
        above: _Visit | None = None
        kappa = self._first(warm_start)
        width = np.inf
        while self.best.gap > self.tol and self.best.n_rounds < _MAX_SOLVES:
            visit, last = self._visit(kappa, last)
            if visit.norm <= self.penalty:
                below = visit
            else:
                above = visit
            if below is None or above is None:
                ratio = np.clip(self.penalty / max(visit.norm, TINY), 1.0 / _STRIDE, _STRIDE)
                kappa *= float(ratio) ** 2 * (_BEYOND if above is None else 1.0 / _BEYOND)
                if not 1.0 / _LARGEST < kappa < _LARGEST:
                    break
                continue
            between = below.towards(above, self._share(below, above))
            self._offer(between)
            kappa = between.kappa
            width, before = np.log(above.kappa / below.kappa), width
            if width > 0.5 * before:  # interpolation halves it; if not, bisection does
                kappa = float(np.sqrt(below.kappa * above.kappa))
            if min(kappa / below.kappa, above.kappa / kappa) < 1.0 + self.fineness:
                # the right kappa, but multipliers that do not prove it yet
                if self.fineness <= _FINEST:
                    break
                self.fineness = max(_FINEST, _FINER * self.fineness)
                below, above, width = None, None, np.inf
        if self.best.gap <= self.tol:
            return replace(self.best, status=Status.OPTIMAL)
        is_slow = last is not None and last.status is Status.ITERATION_LIMIT
        return replace(self.best, status=Status.short_of_tolerance(is_slow))

    def _first(self, warm_start: Solution | None) -> float:
        """The kappa to begin with, from the size that the weights will have."""
        if warm_start is not None and warm_start.weights.any():
            return self.penalty / float(np.linalg.norm(warm_start.weights))
        return self.penalty * (self.spread if self.spread > 0.0 else 1.0)

    def _visit(self, kappa: float, start: Solution | None) -> tuple[_Visit, Solution]:
        """Solve the ridge problem with weight kappa."""
        ridge = hinge_ridge(
            self.rows,
            self.y,
            self.C / kappa,
            tol=self.fineness,
            max_iter=self.max_iter,
            warm_start=start,
        )
        self.best = replace(
            self.best,
            n_iter=self.best.n_iter + ridge.n_iter,
            n_rounds=self.best.n_rounds + 1,
            working_set=ridge.working_set,
        )
        a = np.minimum(kappa * ridge.multipliers, self.C)
        pull = self.rows.weighted_sum(self.y * a)
        scores = kappa * self.rows.scores(ridge.weights)
        visit = _Visit(kappa, a, pull, kappa * ridge.weights, scores)
        self._offer(visit)
        return visit, ridge

    def _share(self, below: _Visit, above: _Visit) -> float:
        """How far from below to above the norm reaches the penalty."""
        step = above.q - below.q
        # |below + share step|^2 = penalty^2, by the root without cancellation
        square, half = float(step @ step), float(below.q @ step)
        missing = (self.penalty - below.norm) * (self.penalty + below.norm)
        root = float(np.sqrt(max(half * half + square * missing, 0.0)))
        share = missing / (half + root) if half + root > 0.0 else 0.5
        return min(max(share, 0.0), 1.0)

    def _offer(self, visit: _Visit) -> None:
        """Consider the weights and the multipliers of a point on the path."""
        self._offer_primal(visit.q / visit.kappa, visit.scores / visit.kappa)
        total, size = float(visit.a.sum()), float(np.linalg.norm(visit.pull))
        shrink = min(1.0, self.penalty / max(size, TINY))
        dual = shrink * total
        if size <= self.penalty + NOISE * self.length * total:
            # Outside by no more than the rounding errors of the pull: taken as it is, less what it
            # gains at w.
            slack = total - max(0.0, size - self.penalty) * visit.norm / visit.kappa
            shrink, dual = (1.0, slack) if slack > dual else (shrink, dual)
        if dual > self.best.dual_value:
            self.best = replace(self.best, multipliers=shrink * visit.a, dual_value=dual)

    def _offer_primal(self, w: FloatArray, scores: FloatArray) -> None:
        b = hinge_bias(scores, self.y, self.C)
        loss = float(self.C @ np.maximum(0.0, 1.0 - self.y * (scores + b)))
        value = self.penalty * float(np.linalg.norm(w)) + loss
        if value < self.best.primal_value:
            self.best = replace(self.best, weights=w, intercept=b, primal_value=value)
