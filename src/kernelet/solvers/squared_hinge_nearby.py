r"""Squared hinge problems over the same rows, all together, from the solution of a nearby problem.

.. math:: F_k(w, b) = \tfrac12 w^\top w + \sum_i C_i \max(0, 1 - y_{ik} (\phi_i^\top w + b))^2

In a search over vectors each problem differs little from the one before, so Newton's method begins
next to the solution and takes one to three steps. A step needs the rows inside the margin only, a
few of a hundred for each of many classes; what needs all rows is one product for all problems
together. Where a step does not lower F enough, or digits run out, the answer is None, and a solver
that takes nothing for granted has to be asked (`kernelet.solvers.squared_hinge_ridge_many`).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.linalg.lapack import dposv

from kernelet.solvers.solution import FloatArray

# A step is taken if it gains at least this share of what the quadratic promises; one of half the
# length is tried otherwise.
_ENOUGH = 0.1
_SHORTEST = 1e-3
# A step that promises less than this share of the tolerance is the last one.
_SHARE = 0.3

IndexArray = NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class Machines:
    """Machines over the same rows, and what proves them.

    Attributes
    ----------
    weights : ndarray of shape (m, k)
    intercepts : ndarray of shape (k,)
    slacks : ndarray of shape (n, k)
        max(0, 1 - y f).
    values : ndarray of shape (k,)
        F of each.
    gaps : ndarray of shape (k,)
        Relative duality gaps.
    n_iter : int
        Newton systems, in all.
    """

    weights: FloatArray
    intercepts: FloatArray
    slacks: FloatArray
    values: FloatArray
    gaps: FloatArray
    n_iter: int


def squared_hinge_nearby(
    Phi: FloatArray,
    Y: FloatArray,
    C: FloatArray,
    weights: FloatArray,
    intercepts: FloatArray,
    *,
    tol: float,
    max_iter: int = 20,
) -> Machines | None:
    """Solve all problems from machines that are nearly theirs.

    Parameters
    ----------
    Phi : ndarray of shape (n, m)
    Y : ndarray of shape (n, k)
        Labels, -1 or +1, a column for each problem.
    C : ndarray of shape (n,)
        Costs, all positive.
    weights : ndarray of shape (m, k)
    intercepts : ndarray of shape (k,)
    tol : float
        Relative duality gap to reach.
    max_iter : int, default=20
        Newton systems allowed for each problem.

    Returns
    -------
    Machines or None
        None if the tolerance was not reached.

    Examples
    --------
    >>> Phi, Y = np.array([[0.0], [1.0], [3.0], [4.0]]), np.array([[-1.0], [-1.0], [1.0], [1.0]])
    >>> found = squared_hinge_nearby(
    ...     Phi, Y, np.full(4, 10.0), np.array([[0.9]]), np.array([-1.9]), tol=1e-9
    ... )
    >>> print(found.weights.round(6), found.intercepts.round(6), bool(found.gaps.max() < 1e-9))
    [[0.97561]] [-1.95122] True
    """
    if not Phi.shape[1]:  # the kernel is zero: a bias is all there is to find
        return None
    search = _Search(Phi, Y, C, weights, intercepts)
    pending = np.arange(intercepts.size)
    for _ in range(max_iter):
        pending = search.step(pending, tol)
        if not search.is_sound:
            return None
        if not pending.size:
            found = search.proven()
            if found.gaps.max(initial=0.0) <= tol:
                return found
            pending = np.flatnonzero(found.gaps > tol)
    return None


class _Search:
    """Newton's method for all problems, side by side; a row here is a problem."""

    def __init__(
        self,
        Phi: FloatArray,
        Y: FloatArray,
        C: FloatArray,
        weights: FloatArray,
        intercepts: FloatArray,
    ) -> None:
        self.Phi, self.C = Phi, C
        self.Y = np.ascontiguousarray(Y.T)
        self.W, self.b = np.array(weights.T, order="C"), intercepts.copy()
        self.residuals = self._residuals()
        self.n_iter, self.is_sound = 0, True

    def _residuals(self) -> FloatArray:
        """1 - y f."""
        residuals = self.W @ self.Phi.T
        residuals += self.b[:, None]
        residuals *= self.Y
        return np.subtract(1.0, residuals, out=residuals)

    def step(self, pending: IndexArray, tol: float) -> IndexArray:
        """A step of some problems; returns those that it may not have brought to their end."""
        steps = np.empty((pending.size, self.W.shape[1]))
        shifts, promised = np.empty(pending.size), np.empty(pending.size)
        for j, k in enumerate(pending):
            steps[j], shifts[j], promised[j] = self._newton_step(k)
        self.n_iter += pending.size
        if not np.isfinite(promised).all():
            self.is_sound = False
            return pending
        speeds = steps @ self.Phi.T
        is_open = np.empty(pending.size, dtype=bool)
        for j, k in enumerate(pending):
            speed = speeds[j]
            speed += shifts[j]
            speed *= self.Y[k]
            value = self._value(self.W[k], self.residuals[k])
            # F is quadratic next to the solution: a small promise is kept
            is_open[j] = promised[j] > _SHARE * tol * value
            length = 1.0
            while True:
                there = self.W[k] + length * steps[j]
                residuals = self.residuals[k] - length * speed
                if not is_open[j]:
                    break
                if value - self._value(there, residuals) >= _ENOUGH * length * promised[j]:
                    break
                length *= 0.5
                if length < _SHORTEST:
                    self.is_sound = False
                    return pending
            self.W[k], self.residuals[k] = there, residuals
            self.b[k] += length * shifts[j]
        return pending[is_open]

    def _value(self, w: FloatArray, residuals: FloatArray) -> float:
        slacks = np.maximum(residuals, 0.0)
        slacks *= slacks
        return 0.5 * float(w @ w) + float(self.C @ slacks)

    def _newton_step(self, k: int) -> tuple[FloatArray, float, float]:
        """dw, db, and twice what the quadratic gains by it; NaN where there is none."""
        active = np.flatnonzero(self.residuals[k] > 0.0)
        w, A, d = self.W[k], self.Phi[active], 2.0 * self.C[active]
        total = float(d.sum())
        if not total > 0.0:
            return -w, 0.0, float(w @ w)
        pull = d * self.Y[k, active] * self.residuals[k, active]
        gradient, gradient_intercept = w - pull @ A, -float(pull.sum())
        # the bias is eliminated, which leaves the moments about the weighted mean
        mean = (d @ A) / total
        A -= mean
        A *= np.sqrt(d)[:, None]
        H = A.T @ A
        H.flat[:: H.shape[0] + 1] += 1.0
        _, dw, fault = dposv(H, mean * gradient_intercept - gradient, lower=1, overwrite_a=1)
        if fault:
            return w, 0.0, np.nan
        db = -gradient_intercept / total - float(mean @ dw)
        return dw, db, -float(gradient @ dw) - gradient_intercept * db

    def proven(self) -> Machines:
        """The machines with their duality gaps.

        The multipliers 2 C_i xi_i of the class with the larger sum are scaled down, so that both
        are in balance.
        """
        # residuals carried along drift from those of the machine
        self.residuals = self._residuals()
        slacks = np.maximum(self.residuals, 0.0)
        a = slacks * (2.0 * self.C)
        a *= self.Y
        signed, total = a.sum(axis=1), np.abs(a).sum(axis=1)
        both = 0.5 * np.stack([total - signed, total + signed])
        share = np.divide(both.min(axis=0), both, out=np.zeros_like(both), where=both > 0.0)
        losses = np.square(slacks) @ self.C
        # with the shares s of the multipliers the distance of the dual value is
        # 1/2 |w - Phi'Ya|^2 + sum_i (1 - s_i)^2 C_i xi_i^2: no term is negative
        positive = self.Y > 0.0
        a *= np.where(positive, share[1][:, None], share[0][:, None])
        lack = self.W - a @ self.Phi
        ones = np.square(np.where(positive, slacks, 0.0)) @ self.C
        distances = 0.5 * np.square(lack).sum(axis=1)
        distances += (1.0 - share[1]) ** 2 * ones + (1.0 - share[0]) ** 2 * (losses - ones)
        values = 0.5 * np.square(self.W).sum(axis=1) + losses
        gaps = np.divide(distances, values, out=np.full(values.size, np.inf), where=values > 0.0)
        gaps[distances == 0.0] = 0.0
        return Machines(self.W.T, self.b, slacks.T, values, gaps, self.n_iter)
