"""Losses of regression that the re-weighting is put around, each with its ridge solver."""

from __future__ import annotations

import numpy as np
from scipy.linalg import cho_solve

from kernelet.learners.arbitrary_norm.change_of_variables import Features
from kernelet.learners.arbitrary_norm.penalties import FloatArray
from kernelet.learners.arbitrary_norm.quiet_libsvm import QuietSVR
from kernelet.learners.arbitrary_norm.reweighting import LinearFit
from kernelet.solvers.hinge.interval import interval_ridge
from kernelet.solvers.ridge_system import ridge_triangle

# From this many features on, LIBSVM on their Gram matrix beats Newton systems over the features:
# measured with 400 and 1500 rows and costs up to 1, evenly with 150 and 10 times with as many
# features as rows.
_MANY = 150
# Unless it creeps: with m features it may take this share of m^2 steps, by which time the Newton
# systems would be solved. With costs of 1e4 it has not converged after 1000 steps per row.
_PATIENCE = 0.2
# LIBSVM's tolerance on the KKT conditions, in units of the targets' size.
_KKT_TOL = 1e-5
# LIBSVM's solution is not accepted if its duality gap is above this share of the value.
_ROUGH = 1e-4


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
        self.centre = float(self.share @ targets)

    @property
    def constant(self) -> float:
        """The mean."""
        return self.centre

    def value(self, scores: FloatArray) -> float:
        """The loss of f with these values at the rows."""
        return 0.5 * float(self.costs @ np.square(self.targets - scores))

    def __call__(self, rows: Features, start: tuple[FloatArray, float] | None) -> LinearFit:
        """The machine with the least 1/2 w'w plus loss; a start is not needed."""
        Phi = rows.take_all()
        middle = self.share @ Phi
        Phi = Phi - middle
        triangle = ridge_triangle(Phi, self.costs)
        w = cho_solve((triangle, False), ((self.targets - self.centre) * self.costs) @ Phi)
        rest = self.targets - self.centre - Phi @ w
        loss = 0.5 * float(self.costs @ np.square(rest))
        # the dual point C rest proves the value, 1/2 |w - Phi'C rest|^2 below it
        lack = w - (self.costs * rest) @ Phi
        value = loss + 0.5 * float(w @ w)
        gap = 0.5 * float(lack @ lack) / max(value, np.finfo(np.float64).tiny)
        return LinearFit(w, self.centre - float(middle @ w), loss, gap)


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
        """The loss of f with these values at the rows."""
        excess = np.abs(self.targets - scores) - self.epsilon
        return float(self.costs @ np.maximum(excess, 0.0))

    def __call__(self, rows: Features, start: tuple[FloatArray, float] | None) -> LinearFit:
        """The machine with the least 1/2 w'w plus loss; neither solver takes a start."""
        Phi = rows.take_all()
        if Phi.shape[1] >= _MANY and not self._creeps:
            fit = self._by_libsvm(Phi)
            if fit.gap <= _ROUGH:
                return fit
            # the next problems of the sequence are as hard
            self._creeps = True
        t, C = self.targets, self.costs
        solution = interval_ridge(
            Phi, t - self.epsilon, t + self.epsilon, C, C, size=self.size, tol=self.tol
        )
        w = solution.weights
        loss = solution.primal_value - 0.5 * float(w @ w)
        return LinearFit(w, solution.intercept, loss, solution.gap)

    def _by_libsvm(self, Phi: FloatArray) -> LinearFit:
        """The same on the Gram matrix of the features."""
        machine = QuietSVR(
            kernel="precomputed",
            C=1.0,
            epsilon=self.epsilon / self.size,
            tol=_KKT_TOL,
            cache_size=500,
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
