r"""Problems with squared losses over the same rows, from the solutions of nearby problems.

.. math:: F_k(w, b) = \tfrac12 w^\top w + \sum_i C_i\, \bigl(f_{ik} - [f_{ik}]_{l_{ik}}^{u_{ik}}
    \bigr)^2, \qquad f_{ik} = \phi_i^\top w + b

A score costs the square of its distance from an interval: that around a target for regression, all
that is at least 1 or at most -1 for the squared hinge. In a search over vectors each problem
differs little from the one before, so Newton's method begins next to the solution and takes one to
three steps. A step needs the rows outside of their interval only; what needs all rows is one
product for all problems together. Where a step does not lower F enough, or digits run out, the
answer is None, and a solver that takes nothing for granted has to be asked
(`kernelet.solvers.squared_hinge_ridge_many`, `squared_interval_ridge`).
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
    pulls : ndarray of shape (n, k)
        2 C_i times what the scores lack to their intervals: minus the derivatives of the losses.
    values : ndarray of shape (k,)
        F of each.
    gaps : ndarray of shape (k,)
        Relative duality gaps.
    n_iter : int
        Newton systems, in all.
    """

    weights: FloatArray
    intercepts: FloatArray
    pulls: FloatArray
    values: FloatArray
    gaps: FloatArray
    n_iter: int


def squared_losses_nearby(
    Phi: FloatArray,
    lower: FloatArray,
    upper: FloatArray,
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
    lower, upper : ndarray of shape (n, k)
        The ends of the intervals, -inf or inf where there is none; a column for each problem.
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
    >>> Phi = np.array([[0.0], [1.0], [3.0], [4.0]])
    >>> y, C = np.array([[-1.0], [-1.0], [1.0], [1.0]]), np.full(4, 10.0)
    >>> lower, upper = label_intervals(y)
    >>> found = squared_losses_nearby(
    ...     Phi, lower, upper, C, np.array([[0.9]]), np.array([-1.9]), tol=1e-9
    ... )
    >>> print(found.weights.round(6), found.intercepts.round(6), bool(found.gaps.max() < 1e-9))
    [[0.97561]] [-1.95122] True
    """
    if not Phi.shape[1]:  # the kernel is zero: a bias is all there is to find
        return None
    search = _Search(Phi, lower, upper, C, weights, intercepts)
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


def label_intervals(Y: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Ends of the intervals in which scores have no hinge loss, for labels -1 and +1.

    Examples
    --------
    >>> label_intervals(np.array([-1.0, 1.0]))
    (array([-inf,   1.]), array([-1., inf]))
    """
    # columns, one for each problem, are gone through by themselves
    labels = np.asfortranarray(Y)
    return np.where(labels > 0.0, 1.0, -np.inf), np.where(labels > 0.0, np.inf, -1.0)


class _Search:
    """Newton's method for all problems, side by side; a row here is a problem."""

    def __init__(
        self,
        Phi: FloatArray,
        lower: FloatArray,
        upper: FloatArray,
        C: FloatArray,
        weights: FloatArray,
        intercepts: FloatArray,
    ) -> None:
        self.Phi, self.C = Phi, C
        self.lower, self.upper = np.ascontiguousarray(lower.T), np.ascontiguousarray(upper.T)
        self.W, self.b = np.array(weights.T, order="C"), intercepts.copy()
        self.lacks = self._lacks(self._scores())
        self.n_iter, self.is_sound = 0, True

    def _scores(self) -> FloatArray:
        self.scores = self.W @ self.Phi.T
        self.scores += self.b[:, None]
        return self.scores

    def _lacks(self, scores: FloatArray, k: int | slice = slice(None)) -> FloatArray:
        """What scores lack to their intervals: positive below, negative above, 0 within."""
        lacks = np.maximum(scores, self.lower[k])
        np.minimum(lacks, self.upper[k], out=lacks)
        lacks -= scores
        return lacks

    def step(self, pending: IndexArray, tol: float) -> IndexArray:
        """A step of some problems; returns those that it may not have brought to their end."""
        steps = np.empty((pending.size, self.W.shape[1]))
        shifts, promised, values = np.empty((3, pending.size))
        for j, k in enumerate(pending):
            values[j] = self._value(self.W[k], self.lacks[k])
            steps[j], shifts[j], promised[j] = self._newton_step(k)
        self.n_iter += pending.size
        if not np.isfinite(promised).all():
            self.is_sound = False
            return pending
        # F is quadratic next to the solution: a small promise is kept
        is_open = promised > _SHARE * tol * values
        speeds = steps @ self.Phi.T if is_open.any() else steps
        for j, k in enumerate(pending):
            if not is_open[j]:  # its scores are not needed before all machines are proven
                self.W[k] += steps[j]
                self.b[k] += shifts[j]
                continue
            speed = speeds[j]
            speed += shifts[j]
            length = 1.0
            while True:
                there = self.W[k] + length * steps[j]
                scores = self.scores[k] + length * speed
                lacks = self._lacks(scores, k)
                if values[j] - self._value(there, lacks) >= _ENOUGH * length * promised[j]:
                    break
                length *= 0.5
                if length < _SHORTEST:
                    self.is_sound = False
                    return pending
            self.W[k], self.scores[k], self.lacks[k] = there, scores, lacks
            self.b[k] += length * shifts[j]
        return pending[is_open]

    def _value(self, w: FloatArray, lacks: FloatArray) -> float:
        return 0.5 * float(w @ w) + float(self.C @ np.square(lacks))

    def _newton_step(self, k: int) -> tuple[FloatArray, float, float]:
        """dw, db, and twice what the quadratic gains by it; NaN where there is none."""
        active = np.flatnonzero(self.lacks[k])
        w, A, d = self.W[k], self.Phi[active], 2.0 * self.C[active]
        total = float(d.sum())
        if not total > 0.0:
            return -w, 0.0, float(w @ w)
        pull = d * self.lacks[k, active]
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

        The pulls g of the side, upwards or downwards, with the larger sum are scaled down, so that
        both are in balance.
        """
        # scores carried along drift from those of the machine
        self.lacks = self._lacks(self._scores())
        losses = np.square(self.lacks) @ self.C
        pulls = self.lacks * (2.0 * self.C)
        signed, total = pulls.sum(axis=1), np.abs(pulls).sum(axis=1)
        both = 0.5 * np.stack([total - signed, total + signed])
        share = np.divide(both.min(axis=0), both, out=np.zeros_like(both), where=both > 0.0)
        # with the shares s of the pulls the distance of the dual value is
        # 1/2 |w - Phi'g|^2 + sum_i (1 - s_i)^2 C_i lack_i^2: no term is negative
        balanced = pulls * np.where(pulls > 0.0, share[1][:, None], share[0][:, None])
        rest = self.W - balanced @ self.Phi
        upwards = np.square(np.maximum(self.lacks, 0.0)) @ self.C
        distances = 0.5 * np.square(rest).sum(axis=1)
        distances += (1.0 - share[1]) ** 2 * upwards + (1.0 - share[0]) ** 2 * (losses - upwards)
        values = 0.5 * np.square(self.W).sum(axis=1) + losses
        gaps = np.divide(distances, values, out=np.full(values.size, np.inf), where=values > 0.0)
        gaps[distances == 0.0] = 0.0
        return Machines(self.W.T, self.b, pulls.T, values, gaps, self.n_iter)
