"""Losses of regression that the re-weighting is put around, each with its ridge solver."""

from __future__ import annotations

import warnings

import numpy as np
from scipy.linalg import cho_factor, cho_solve
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import SVR

from kernelet.learners.norm_penalty import FloatArray
from kernelet.learners.norm_space import Features
from kernelet.learners.reweighting import LinearFit

# LIBSVM's tolerance on the KKT conditions, in units of the targets' size.
_KKT_TOL = 1e-5


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

    def __call__(self, rows: Features, start: tuple[FloatArray, float] | None) -> LinearFit:
        """The machine with the least 1/2 w'w plus loss; a start is not needed."""
        Phi = rows.take_all()
        middle = self.share @ Phi
        Phi = Phi - middle
        weighted = self.costs[:, None] * Phi
        H = Phi.T @ weighted
        H[np.diag_indices_from(H)] += 1.0
        targets = self.targets - self.centre
        w = cho_solve(cho_factor(H, lower=True, check_finite=False), targets @ weighted)
        rest = targets - Phi @ w
        loss = 0.5 * float(self.costs @ (rest * rest))
        # the dual point C rest proves the value, 1/2 |w - Phi'C rest|^2 below it
        lack = w - (self.costs * rest) @ Phi
        value = loss + 0.5 * float(w @ w)
        gap = 0.5 * float(lack @ lack) / max(value, np.finfo(np.float64).tiny)
        return LinearFit(w, self.centre - float(middle @ w), loss, gap)


class EpsilonLoss:
    """sum_i C_i max(0, |t_i - f(x_i)| - epsilon), by LIBSVM on the Gram matrix of the features.

    Parameters
    ----------
    targets : ndarray of shape (n,)
    costs : ndarray of shape (n,)
    epsilon : float
    size : float
        That of the targets.
    """

    def __init__(self, targets: FloatArray, costs: FloatArray, epsilon: float, size: float) -> None:
        self.targets = targets
        self.costs = costs
        self.epsilon = epsilon
        self.size = size

    def __call__(self, rows: Features, start: tuple[FloatArray, float] | None) -> LinearFit:
        """The machine with the least 1/2 w'w plus loss; LIBSVM takes no start."""
        Phi = rows.take_all()
        machine = SVR(
            kernel="precomputed",
            C=1.0,
            epsilon=self.epsilon / self.size,
            tol=_KKT_TOL,
            cache_size=500,
            max_iter=100_000 + 1000 * self.targets.size,
        )
        # In units of the targets' size s, f/s with the weights w/s costs 1/s^2 of what f costs.
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)  # the gap tells
            machine.fit(Phi @ Phi.T, self.targets / self.size, self.costs / self.size)
        multipliers = self.size * machine.dual_coef_[0]
        w: FloatArray = multipliers @ Phi[machine.support_]
        b = self.size * float(machine.intercept_[0])
        excess = np.abs(self.targets - rows.scores(w) - b) - self.epsilon
        loss = float(self.costs @ np.maximum(excess, 0.0))
        norm = 0.5 * float(w @ w)
        dual = float(multipliers @ self.targets[machine.support_])
        dual -= self.epsilon * float(np.abs(multipliers).sum()) + norm
        value = loss + norm
        gap = (value - dual) / max(abs(value), np.finfo(np.float64).tiny)
        return LinearFit(w, b, loss, gap)
