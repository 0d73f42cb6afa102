"""Losses that the re-weighting is put around, each with a solver for the loss plus a ridge."""

from __future__ import annotations

from typing import Protocol, final

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cho_solve
from sklearn.svm import SVC, SVR

from kernelet.kernels.numerics.arrays import FloatArray
from kernelet.learners.arbitrary_norm.change_of_variables import RidgeFeatures
from kernelet.learners.arbitrary_norm.nearby_hinge import LinearFit, nearby_hinge
from kernelet.solvers import Solution, hinge_ridge
from kernelet.solvers.hinge.interval import interval_ridge
from kernelet.solvers.ridge_system import ridge_triangle

# From this many features on, LIBSVM on their Gram matrix beats Newton systems over the features.
# Hinge loss, measured with 691 to 5920 rows: 8 to 40 times with 700 features, evenly with 100.
# Epsilon loss, with 400 and 1500 rows and costs up to 1: evenly with 150 features, 10 times with as
# many as rows.
_MANY = 150
# Unless it creeps: with m features it may take this share of m^2 steps, by which time the Newton
# systems would be solved (20 products over the features, at ten times the speed of LIBSVM's loops).
# With costs of 1e4 it has not converged after 1000 steps per row.
_PATIENCE = 0.2
# LIBSVM's solution is not accepted if its duality gap is above this share of the value. Far above
# the gap that its tolerance on the KKT conditions leaves, a few 1e-7 for the hinge loss.
_ROUGH = 1e-4
_HINGE_KKT_TOL = 1e-4
# In units of the targets' size.
_EPSILON_KKT_TOL = 1e-5
# Megabytes: enough for the Gram matrix of 11000 rows in single precision, which LIBSVM keeps.
_CACHE_SIZE = 500
# From this many rows on LIBSVM is given those near the margin only. On digits (1197 rows) that
# takes 10 ms where all rows take 60.
_MANY_ROWS = 300
# The first guess comes from every fourth row: a sixteenth of the Gram matrix.
_THINNING = 4
# Rows this far outside the margin are given as well. The solution does not depend on it: rows that
# were left out and violate their margin join in a further round.
_BAND = 0.15
# The solution of the last step is near enough to start from where features are no more than this
# share of the rows. In the first steps, where they are more, the rows change sides by dozens, and
# solving without it takes no longer (colon, lymphoma, digits).
_NEARBY = 0.25
# Relative gap of solutions by Newton systems, below what a step needs: the next one starts from
# which rows are on the margin, and rows hardly outside it look as if they were on it with a gap of
# 1e-6. On digits 123 of 580 steps then end without a solution nearby, 29 with this one, for one or
# two iterations more.
_SHARP = 1e-10
# A guard: all rows that violate their margin join at once, so that a few rounds are enough.
_MAX_ROUNDS = 20


class Loss(Protocol):
    """A loss of f at the rows, and how to minimise 1/2 w'w + loss(rows w + b)."""

    def __call__(self, rows: RidgeFeatures, start: tuple[FloatArray, float] | None) -> LinearFit:
        """The machine with the least value; ``start`` is (w, b) nearby, or None."""
        ...

    @property
    def constant(self) -> float:
        """A constant f with a low loss."""
        ...

    def value(self, scores: FloatArray) -> float:
        """The loss of f with these values at the rows."""
        ...


# LIBSVM without its convergence warnings: the duality gap shows whether it took enough steps. A
# warnings filter would apply to the whole process, and fits may run in several threads.
@final
class _QuietSVC(SVC):
    def _warn_from_fit_status(self) -> None: ...


@final
class _QuietSVR(SVR):
    def _warn_from_fit_status(self) -> None: ...


class HingeLoss:
    """sum_i C_i max(0, 1 - y_i f(x_i)), for labels -1 and +1.

    Parameters
    ----------
    y : ndarray of shape (n,)
    costs : ndarray of shape (n,)
    tol : float, default=1e-6
        Relative duality gap of the small problems, at most.
    """

    def __init__(self, y: FloatArray, costs: FloatArray, tol: float = 1e-6) -> None:
        self.y = y
        self.costs = costs
        self.tol = tol
        self._creeps = False
        self._multipliers: FloatArray | None = None

    @property
    def constant(self) -> float:
        """The class of the larger cost."""
        return 1.0 if float(self.costs @ self.y) > 0.0 else -1.0

    def value(self, scores: FloatArray) -> float:
        return float(self.costs @ np.maximum(0.0, 1.0 - self.y * scores))

    def __call__(self, rows: RidgeFeatures, start: tuple[FloatArray, float] | None) -> LinearFit:
        fit = None
        is_near = start is not None and rows.shape[1] <= _NEARBY * rows.shape[0]
        if is_near and self._multipliers is not None:
            fit = nearby_hinge(rows, self.y, self.costs, self._multipliers, self.tol)
        fit = self._from_afar(rows, start) if fit is None else fit
        self._multipliers = fit.multipliers
        return fit

    def _from_afar(self, rows: RidgeFeatures, start: tuple[FloatArray, float] | None) -> LinearFit:
        """With LIBSVM, or by Newton systems over the features."""
        # LIBSVM needs two classes; of one that has no weight there may be no rows
        if rows.shape[1] >= _MANY and not self._creeps and np.ptp(self.y) > 0.0:
            fit = self._by_libsvm(rows, start)
            if fit.gap <= _ROUGH:
                return fit
            # the next problems of the sequence are as hard
            self._creeps = True
            start = fit.weights, fit.intercept
        guess = None if start is None else Solution.guess(*start)
        tol = min(self.tol, _SHARP)
        solution = hinge_ridge(rows.take_all(), self.y, self.costs, tol=tol, warm_start=guess)
        return _fit_of(solution)

    def _by_libsvm(self, rows: RidgeFeatures, start: tuple[FloatArray, float] | None) -> LinearFit:
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
            for label in (-1.0, 1.0):  # LIBSVM needs both
                chosen[np.flatnonzero(self.y == label)[:1]] = True
        for _ in range(_MAX_ROUNDS):
            w, b, multipliers = self._solve_on(rows, np.flatnonzero(chosen))
            hinge = 1.0 - self.y * (rows.scores(w) + b)
            missed = (hinge > 0.0) & ~chosen
            if not missed.any():
                break
            chosen |= missed | (hinge > -_BAND)
        loss = float(self.costs @ np.maximum(hinge, 0.0))
        norm = 0.5 * float(w @ w)
        gap = (loss + 2.0 * norm - float(multipliers.sum())) / (loss + norm)
        return LinearFit(w, b, loss, gap, multipliers)

    def _solve_on(
        self, rows: RidgeFeatures, index: NDArray[np.intp]
    ) -> tuple[FloatArray, float, FloatArray]:
        """w, b and the multipliers."""
        limit = int(_PATIENCE * rows.shape[1] ** 2)
        machine = _QuietSVC(
            kernel="precomputed", C=1.0, tol=_HINGE_KKT_TOL, cache_size=_CACHE_SIZE, max_iter=limit
        )
        machine.fit(rows.products(index), self.y[index], sample_weight=self.costs[index])
        signed = np.zeros(self.y.size)
        signed[index[machine.support_]] = machine.dual_coef_[0]
        return rows.weighted_sum(signed), float(machine.intercept_[0]), np.abs(signed)


class SquaredLoss:
    """sum_i C_i/2 (t_i - f(x_i))^2, whose ridge problem is a linear system.

    Parameters
    ----------
    targets : ndarray of shape (n,)
    costs : ndarray of shape (n,)
    """

    def __init__(self, targets: FloatArray, costs: FloatArray) -> None:
        self.targets = targets
        self.costs = costs
        self.share = costs / costs.sum()
        # the mean
        self.constant = float(self.share @ targets)

    def value(self, scores: FloatArray) -> float:
        return 0.5 * float(self.costs @ np.square(self.targets - scores))

    def __call__(self, rows: RidgeFeatures, start: tuple[FloatArray, float] | None) -> LinearFit:
        Phi = rows.take_all()
        middle = self.share @ Phi
        Phi = Phi - middle
        triangle = ridge_triangle(Phi, self.costs)
        w = cho_solve((triangle, False), ((self.targets - self.constant) * self.costs) @ Phi)
        rest = self.targets - self.constant - Phi @ w
        loss = 0.5 * float(self.costs @ np.square(rest))
        # the dual point C rest proves the value, 1/2 |w - Phi'C rest|^2 below it
        lack = w - (self.costs * rest) @ Phi
        value = loss + 0.5 * float(w @ w)
        gap = 0.5 * float(lack @ lack) / max(value, np.finfo(np.float64).tiny)
        return LinearFit(w, self.constant - float(middle @ w), loss, gap)


class EpsilonLoss:
    """sum_i C_i max(0, |t_i - f(x_i)| - epsilon), over few features or as many as rows.

    Parameters
    ----------
    targets : ndarray of shape (n,)
    costs : ndarray of shape (n,)
    epsilon : float
    size : float
        That of the targets.
    tol : float, default=1e-6
        Relative duality gap of the small problems.
    """

    def __init__(
        self,
        targets: FloatArray,
        costs: FloatArray,
        epsilon: float,
        size: float,
        tol: float = 1e-6,
    ) -> None:
        self.targets = targets
        self.costs = costs
        self.epsilon = epsilon
        self.size = size
        self.tol = tol
        # what the bias takes up is taken off first: targets far from zero keep their digits
        self.middle = float(targets.mean())
        self._creeps = False

    @property
    def constant(self) -> float:
        """The median, by costs."""
        order = np.argsort(self.targets)
        below = np.cumsum(self.costs[order])
        return float(self.targets[order[np.searchsorted(below, 0.5 * below[-1])]])

    def value(self, scores: FloatArray) -> float:
        excess = np.abs(self.targets - scores) - self.epsilon
        return float(self.costs @ np.maximum(excess, 0.0))

    def __call__(self, rows: RidgeFeatures, start: tuple[FloatArray, float] | None) -> LinearFit:
        Phi = rows.take_all()
        if Phi.shape[1] >= _MANY and not self._creeps:
            fit = self._by_libsvm(Phi)
            if fit.gap <= _ROUGH:
                return fit
            # the next problems of the sequence are as hard
            self._creeps = True
        t, C = self.targets, self.costs
        return _fit_of(
            interval_ridge(
                Phi, t - self.epsilon, t + self.epsilon, C, C, size=self.size, tol=self.tol
            )
        )

    def _by_libsvm(self, Phi: FloatArray) -> LinearFit:
        """The same on the Gram matrix of the features."""
        machine = _QuietSVR(
            kernel="precomputed",
            C=1.0,
            epsilon=self.epsilon / self.size,
            tol=_EPSILON_KKT_TOL,
            cache_size=_CACHE_SIZE,
            max_iter=int(_PATIENCE * Phi.shape[1] ** 2),
        )
        # In units of the targets' size s, f/s with the weights w/s costs 1/s^2 of what f costs.
        t = self.targets - self.middle
        machine.fit(Phi @ Phi.T, t / self.size, self.costs / self.size)
        multipliers = self.size * machine.dual_coef_[0]
        w: FloatArray = multipliers @ Phi[machine.support_]
        b = self.size * float(machine.intercept_[0])
        loss = self.value(self.middle + Phi @ w + b)
        norm = 0.5 * float(w @ w)
        dual = float(multipliers @ t[machine.support_])
        dual -= self.epsilon * float(np.abs(multipliers).sum()) + norm
        value = loss + norm
        gap = (value - dual) / max(abs(value), np.finfo(np.float64).tiny)
        return LinearFit(w, b + self.middle, loss, gap)


def _fit_of(solution: Solution) -> LinearFit:
    w = solution.weights
    loss = solution.primal_value - 0.5 * float(w @ w)
    return LinearFit(w, solution.intercept, loss, solution.gap, solution.multipliers)
