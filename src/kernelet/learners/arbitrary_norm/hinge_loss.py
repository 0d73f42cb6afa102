"""Hinge loss plus a ridge, over few features or as many as there are rows."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from kernelet.learners.arbitrary_norm.change_of_variables import Features
from kernelet.learners.arbitrary_norm.penalties import FloatArray
from kernelet.learners.arbitrary_norm.quiet_libsvm import QuietSVC
from kernelet.learners.arbitrary_norm.reweighting import LinearFit
from kernelet.solvers import Solution, hinge_ridge

# From this many features on, LIBSVM on their Gram matrix beats Newton systems over the features:
# measured with 691 to 5920 rows, 8 to 40 times with 700 features and evenly with 100.
_MANY = 150
# Unless it creeps: with m features it may take this share of m^2 steps, by which time the Newton
# systems would be solved (20 products over the features, at ten times the speed of LIBSVM's loops).
_PATIENCE = 0.2
# LIBSVM's tolerance on the KKT conditions; the gap is then a few 1e-7.
_KKT_TOL = 1e-4
# LIBSVM's solution is not accepted if its duality gap is above this share of the value.
_ROUGH = 1e-4
# From this many rows on it is worth solving on those near the margin only.
_MANY_ROWS = 1500
_THINNING = 4
_BAND = 0.25
_MAX_ROUNDS = 20


class HingeLoss:
    """sum_i C_i max(0, 1 - y_i f(x_i)), for labels -1 and +1.

    Parameters
    ----------
    y : ndarray of shape (n,)
    costs : ndarray of shape (n,)
    tol : float, default=1e-6
        Relative duality gap of the small problems.
    """

    def __init__(self, y: FloatArray, costs: FloatArray, tol: float = 1e-6) -> None:
        self.y = y
        self.costs = costs
        self.tol = tol
        self._creeps = False

    @property
    def constant(self) -> float:
        """The class of the larger cost."""
        return 1.0 if float(self.costs @ self.y) > 0.0 else -1.0

    def value(self, scores: FloatArray) -> float:
        """The loss of f with these values at the rows."""
        return float(self.costs @ np.maximum(0.0, 1.0 - self.y * scores))

    def __call__(self, rows: Features, start: tuple[FloatArray, float] | None) -> LinearFit:
        """The machine with the least 1/2 w'w plus loss."""
        # LIBSVM wants two classes; of one that has no weight there may be no rows
        if rows.shape[1] >= _MANY and not self._creeps and np.ptp(self.y) > 0.0:
            fit = self._by_libsvm(rows, start)
            if fit.gap <= _ROUGH:
                return fit
            # the next problems of the sequence are as hard
            self._creeps = True
            start = fit.weights, fit.intercept
        guess = None if start is None else Solution.guess(*start)
        solution = hinge_ridge(rows.take_all(), self.y, self.costs, tol=self.tol, warm_start=guess)
        w = solution.weights
        loss = solution.primal_value - 0.5 * float(w @ w)
        return LinearFit(w, solution.intercept, loss, solution.gap)

    def _by_libsvm(self, rows: Features, start: tuple[FloatArray, float] | None) -> LinearFit:
        """Theorem 1's dual on rows that can have a multiplier, until no other violates its margin.

        A row outside the working set needs no features: its score comes from the coefficients.
        """
        n = self.y.size
        chosen = np.ones(n, dtype=bool)
        if n > _MANY_ROWS:
            if start is None:
                chosen[:] = False
                for label in (-1.0, 1.0):
                    chosen[np.flatnonzero(self.y == label)[::_THINNING]] = True
                guess = self._solve_on(rows, np.flatnonzero(chosen))
                start = guess[0], guess[1]
            w, b = start
            chosen = self.y * (rows.scores(w) + b) < 1.0 + _BAND
            for label in (-1.0, 1.0):  # LIBSVM wants both
                chosen[np.flatnonzero(self.y == label)[:1]] = True
        for _ in range(_MAX_ROUNDS):
            w, b, total = self._solve_on(rows, np.flatnonzero(chosen))
            hinge = 1.0 - self.y * (rows.scores(w) + b)
            missed = (hinge > 0.0) & ~chosen
            if not missed.any():
                break
            chosen |= missed | (hinge > -_BAND)
        loss = float(self.costs @ np.maximum(hinge, 0.0))
        norm = 0.5 * float(w @ w)
        return LinearFit(w, b, loss, (loss + 2.0 * norm - total) / (loss + norm))

    def _solve_on(self, rows: Features, index: NDArray[np.intp]) -> tuple[FloatArray, float, float]:
        """w, b and the sum of the multipliers."""
        Phi = rows.take_all() if index.size == self.y.size else rows.take(index)
        limit = int(_PATIENCE * Phi.shape[1] ** 2)
        machine = QuietSVC(
            kernel="precomputed", C=1.0, tol=_KKT_TOL, cache_size=500, max_iter=limit
        )
        machine.fit(Phi @ Phi.T, self.y[index], sample_weight=self.costs[index])
        signed = machine.dual_coef_[0]
        w: FloatArray = signed @ Phi[machine.support_]
        return w, float(machine.intercept_[0]), float(np.abs(signed).sum())
