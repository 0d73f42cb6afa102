"""Hinge loss plus a norm that is not squared: the 2-norm machine of the LP subspace paper."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike

from kernelet.solvers.bias import hinge_bias
from kernelet.solvers.hinge_ridge import hinge_ridge
from kernelet.solvers.problem import checked_costs, checked_labels, checked_tolerance
from kernelet.solvers.rows import Rows, as_rows
from kernelet.solvers.solution import FloatArray, Solution, Status

# Ridge problems solved in the search for the one with the right norm.
_MAX_SOLVES = 100
# Factor by which the search for a bracket goes on, and how far.
_STRIDE = 8.0
_FARTHEST = 1e12
# The ridge problems are solved this much finer than the answer is asked for.
_FINER = 1e-2


def hinge_norm(
    Phi: ArrayLike | Rows,
    y: ArrayLike,
    C: ArrayLike = 1.0,
    penalty: float = 1.0,
    *,
    tol: float = 1e-6,
    max_iter: int = 200,
    warm_start: Solution | None = None,
) -> Solution:
    r"""Solve hinge loss plus a multiple of the 2-norm of the weights, not squared.

    .. math:: \min_{w, b} c\,\|w\|_2 + \sum_i C_i \max(0, 1 - y_i(\phi_i'w + b))

    The dual is (2.13)-(2.15) of Yajima, Ohi and Mori (2003), :math:`\max \sum_i a_i` subject to
    :math:`\|\Phi'Ya\|_2 \le c`, :math:`y'a = 0` and :math:`0 \le a \le C`. By their lemma 2.1 every
    solution of the ridge problem with weight kappa on :math:`\tfrac12\|w\|^2` solves it for
    :math:`c = \kappa \|w\|`, which grows with kappa: the right kappa is found by a secant search
    with warm starts.

    Parameters
    ----------
    Phi : array of shape (n, m) or Rows
        Features.
    y : array of shape (n,)
        Labels, -1 or +1.
    C : float or array of shape (n,), default=1.0
        Cost of each row.
    penalty : float, default=1.0
        The factor c of the norm.
    tol : float, default=1e-6
        Relative duality gap to reach.
    max_iter : int, default=200
        Newton systems allowed for each working set of each ridge problem.
    warm_start : Solution, default=None
        Solution of a nearby problem over as many features.

    Returns
    -------
    Solution
        Values are those of this problem, not of the ridge problem.

    Examples
    --------
    >>> solution = hinge_norm([[0.0], [1.0], [3.0], [4.0]], [-1, -1, 1, 1], C=10.0)
    >>> bool(abs(solution.weights[0] - 1.0) < 1e-5), bool(abs(solution.primal_value - 1.0) < 1e-5)
    (True, True)
    """
    rows = as_rows(Phi)
    n, _ = rows.shape
    labels, costs = checked_labels(y, n), checked_costs(C, n)
    checked_tolerance(tol, max_iter)
    if not 0.0 < penalty < np.inf:
        raise ValueError(f"penalty must be a finite number above zero, got {penalty}.")
    search = _Search(rows, labels, costs, penalty, tol, max_iter, warm_start)
    return search.run()


class _Search:
    """kappa -> kappa ||w(kappa)||, and the best answer among the points visited."""

    def __init__(
        self,
        rows: Rows,
        y: FloatArray,
        C: FloatArray,
        penalty: float,
        tol: float,
        max_iter: int,
        last: Solution | None,
    ) -> None:
        self.rows, self.y, self.C, self.penalty, self.tol = rows, y, C, penalty, tol
        self.max_iter = max_iter
        self.last = last
        self.n_iter = 0
        self.n_solves = 0
        self.best: Solution | None = None

    def run(self) -> Solution:
        low = high = None  # (log kappa, log of norm over penalty) on either side of the root
        log_kappa = np.log(max(self.penalty, np.finfo(float).tiny))
        start = log_kappa
        while self.n_solves < _MAX_SOLVES:
            excess = self._visit(float(np.exp(log_kappa)))
            assert self.best is not None
            if self.best.gap <= self.tol:
                return self.best
            if excess < 0:
                low = (log_kappa, excess)
            else:
                high = (log_kappa, excess)
            if low is None or high is None:
                log_kappa += np.log(_STRIDE) * (1.0 if high is None else -1.0)
                if abs(log_kappa - start) > np.log(_FARTHEST):
                    break
                continue
            width = high[0] - low[0]
            if width < 1e-14:
                break
            # the secant, kept away from the ends so that the bracket always shrinks
            share = -low[1] / (high[1] - low[1]) if np.isfinite(low[1]) else 0.5
            if self.n_solves % 3 == 0:
                share = 0.5
            log_kappa = low[0] + width * min(max(share, 0.02), 0.98)
        assert self.best is not None
        return replace(self.best, status=Status.NUMERICAL_LIMIT)

    def _visit(self, kappa: float) -> float:
        """Solve the ridge problem with weight kappa; log of ||Phi'Ya|| over the penalty."""
        self.n_solves += 1
        answer = hinge_ridge(
            self.rows,
            self.y,
            self.C / kappa,
            tol=max(_FINER * self.tol, 1e-12),
            max_iter=self.max_iter,
            warm_start=self.last,
        )
        self.last = answer
        self.n_iter += answer.n_iter
        multipliers = kappa * answer.multipliers
        norm = float(np.linalg.norm(self.rows.weighted_sum(self.y * multipliers)))
        if norm > self.penalty:
            multipliers = multipliers * (self.penalty / norm)
        dual = float(multipliers.sum())
        # w = 0 is a candidate of its own: it is the answer for every penalty that is large enough
        for weights in (answer.weights, np.zeros_like(answer.weights)):
            scores = self.rows.scores(weights)
            b = hinge_bias(scores, self.y, self.C)
            loss = float(self.C @ np.maximum(0.0, 1.0 - self.y * (scores + b)))
            primal = self.penalty * float(np.linalg.norm(weights)) + loss
            candidate = Solution(
                weights,
                b,
                multipliers,
                primal,
                dual,
                self.n_iter,
                self.n_solves,
                answer.working_set,
            )
            if self.best is None or candidate.gap < self.best.gap:
                self.best = candidate
        with np.errstate(divide="ignore"):
            return float(np.log(norm / self.penalty))
