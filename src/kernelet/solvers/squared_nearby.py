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

# The tolerance for a search over features: what is left after the last step is smaller by its
# square. With ten times as much, searches for vectors on letter and usps end early.
SEARCH_TOL = 3e-3

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
    prove: bool = True,
    max_iter: int = 20,
) -> Machines | None:
    """Solve all problems from machines that are nearly theirs.

    Parameters
    ----------
    Phi : ndarray of shape (n, m)
        In single precision, products with it are; sums of losses and factors are in double.
    lower, upper : ndarray of shape (n, k)
        The ends of the intervals, -inf or inf where there is none; a column for each problem.
    C : ndarray of shape (n,)
        Costs, all positive.
    weights : ndarray of shape (m, k)
    intercepts : ndarray of shape (k,)
    tol : float
        Relative duality gap to reach.
    prove : bool, default=True
        Whether to compute duality gaps, and to go on until they are reached. Without, a problem
        ends with the first step that promises less than the tolerance.
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
            if not prove:
                return search.promised()
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


@dataclass(frozen=True, eq=False)
class _Active:
    """The rows of a machine that have a loss, and what their scores lack."""

    mask: NDArray[np.bool_]
    index: IndexArray
    lacks: FloatArray


class _Search:
    """Newton's method for all problems, side by side; a row here is a problem.

    A last feature of one stands for the bias, so that the products of the features hold its part.
    """

    def __init__(
        self,
        Phi: FloatArray,
        lower: FloatArray,
        upper: FloatArray,
        C: FloatArray,
        weights: FloatArray,
        intercepts: FloatArray,
    ) -> None:
        n, m = Phi.shape
        self.Phi = np.ones((n, m + 1), dtype=Phi.dtype)
        self.Phi[:, :m] = Phi
        self.C = C
        self.same_cost = float(C[0]) if (C[0] == C).all() else None
        self.lower = np.ascontiguousarray(lower.T, dtype=Phi.dtype)
        self.upper = np.ascontiguousarray(upper.T, dtype=Phi.dtype)
        self.W = np.concatenate([weights.T, intercepts[:, None]], axis=1)
        self.lacks = self._lacks(self._scores())
        self.values, self.hopes = np.full((2, intercepts.size), np.inf)
        self.active: dict[int, _Active] = {}  # where they are known
        self._products: dict[int, tuple[NDArray[np.bool_], FloatArray]] = {}
        self._rows = np.empty((n, m + 1), dtype=Phi.dtype)
        self.n_iter, self.is_sound = 0, True

    def _scores(self) -> FloatArray:
        self.scores: FloatArray = self.W.astype(self.Phi.dtype) @ self.Phi.T
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
        promised = np.empty(pending.size)
        for j, k in enumerate(pending):
            if k not in self.active:
                self._look(k, self.W[k], self.lacks[k])
            steps[j], promised[j] = self._newton_step(k)
        self.n_iter += pending.size
        if not np.isfinite(promised).all():
            self.is_sound = False
            return pending
        self.hopes[pending] = promised
        # F is quadratic next to the solution: a small promise is kept
        is_open = promised > _SHARE * tol * self.values[pending]
        self.W[pending[~is_open]] += steps[~is_open]
        for k in pending[~is_open]:
            del self.active[k]  # its scores are not needed before all machines are there
        pending, steps, promised = pending[is_open], steps[is_open], promised[is_open]
        if not pending.size:
            return pending
        speeds = steps.astype(self.Phi.dtype) @ self.Phi.T
        for j, k in enumerate(pending):
            self.is_sound = self._search_line(k, steps[j], speeds[j], promised[j])
            if not self.is_sound:
                break
        return pending

    def _search_line(self, k: int, step: FloatArray, speed: FloatArray, promised: float) -> bool:
        """Take as much of a step as lowers F enough; returns whether any of it does."""
        value, length = self.values[k], 1.0
        while length >= _SHORTEST:
            there = self.W[k] + length * step
            scores = self.scores[k] + speed
            lacks = self._lacks(scores, k)
            self._look(k, there, lacks)
            if value - self.values[k] >= _ENOUGH * length * promised:
                self.W[k], self.scores[k], self.lacks[k] = there, scores, lacks
                return True
            length *= 0.5
            speed *= 0.5
        return False

    def _look(self, k: int, w: FloatArray, lacks: FloatArray) -> None:
        """The rows of a machine that have a loss, and its F."""
        is_active = lacks != 0.0
        index = np.flatnonzero(is_active)
        inside = lacks.take(index)
        self.active[k] = _Active(is_active, index, inside)
        squares = np.square(inside, dtype=np.float64)
        if self.same_cost is None:
            loss = float(self.C.take(index) @ squares)
        else:
            loss = self.same_cost * float(squares.sum())
        self.values[k] = 0.5 * float(w[:-1] @ w[:-1]) + loss

    def _newton_step(self, k: int) -> tuple[FloatArray, float]:
        """The step, and twice what the quadratic gains by it; NaN where there is none."""
        active, w = self.active[k], self.W[k]
        A = self._take(active.index)
        if self.same_cost is None:
            pull = (2.0 * self.C.take(active.index) * active.lacks).astype(A.dtype)
            gradient = -(pull @ A).astype(np.float64)
        else:
            gradient = -2.0 * self.same_cost * (active.lacks @ A).astype(np.float64)
        H = self._hessian(k, active, A)
        total = float(H[-1, -1])
        if not total > 0.0:
            return np.append(-w[:-1], 0.0), float(w[:-1] @ w[:-1])
        gradient[:-1] += w[:-1]
        # the bias is eliminated, which leaves the moments about the weighted mean
        mean = H[-1, :-1] / total
        S = H[:-1, :-1] - np.outer(mean, H[-1, :-1])
        S.flat[:: S.shape[0] + 1] += 1.0
        _, dw, fault = dposv(S, mean * gradient[-1] - gradient[:-1], lower=1, overwrite_a=1)
        if fault:
            return w, np.nan
        step = np.append(dw, -gradient[-1] / total - float(mean @ dw))
        return step, -float(gradient @ step)

    def _take(self, index: IndexArray) -> FloatArray:
        """Features of some rows, where they stay until others are asked for."""
        return np.take(self.Phi, index, axis=0, out=self._rows[: index.size], mode="clip")

    def _hessian(self, k: int, active: _Active, A: FloatArray) -> FloatArray:
        """Products of the features of the active rows, times twice their costs.

        A step changes few rows: products of these are added to those of the step before, or taken
        off them.
        """
        if k in self._products:
            before, H = self._products[k]
            changed = np.flatnonzero(before != active.mask)
            if 2 * changed.size < active.index.size:
                is_new = active.mask[changed]
                for index, sign in ((changed[is_new], 1.0), (changed[~is_new], -1.0)):
                    if index.size:
                        H = H + sign * self._product(index, self._take(index))
                self._products[k] = active.mask, H
                return H
        H = self._product(active.index, A)
        self._products[k] = active.mask, H
        return H

    def _product(self, index: IndexArray, A: FloatArray) -> FloatArray:
        if self.same_cost is None:
            A *= np.sqrt(2.0 * self.C[index]).astype(A.dtype)[:, None]
            return (A.T @ A).astype(np.float64)
        H: FloatArray = (A.T @ A).astype(np.float64)
        H *= 2.0 * self.same_cost
        return H

    def promised(self) -> Machines:
        """The machines, with what their last steps promised in the place of gaps."""
        lacks = self._lacks(self._scores())
        values = 0.5 * np.square(self.W[:, :-1]).sum(axis=1) + self._losses(lacks)
        gaps = self.hopes / np.maximum(values, np.finfo(np.float64).tiny)
        lacks *= (2.0 * self.C).astype(lacks.dtype)
        return Machines(self.W[:, :-1].T, self.W[:, -1], lacks.T, values, gaps, self.n_iter)

    def _losses(self, lacks: FloatArray) -> FloatArray:
        if self.same_cost is None:
            losses: FloatArray = np.square(lacks, dtype=np.float64) @ self.C
        else:
            losses = self.same_cost * np.einsum("ij,ij->i", lacks, lacks, dtype=np.float64)
        return losses

    def proven(self) -> Machines:
        """The machines with their duality gaps.

        The pulls g of the side, upwards or downwards, with the larger sum are scaled down, so that
        both are in balance.
        """
        # scores carried along drift from those of the machine
        self.lacks = self._lacks(self._scores())
        self.active.clear()
        W, losses = self.W[:, :-1], self._losses(self.lacks)
        pulls = self.lacks * (2.0 * self.C)
        signed, total = pulls.sum(axis=1), np.abs(pulls).sum(axis=1)
        both = 0.5 * np.stack([total - signed, total + signed])
        share = np.divide(both.min(axis=0), both, out=np.zeros_like(both), where=both > 0.0)
        # with the shares s of the pulls the distance of the dual value is
        # 1/2 |w - Phi'g|^2 + sum_i (1 - s_i)^2 C_i lack_i^2: no term is negative
        balanced = pulls * np.where(pulls > 0.0, share[1][:, None], share[0][:, None])
        rest = W - balanced @ self.Phi[:, :-1]
        upwards = np.square(np.maximum(self.lacks, 0.0)) @ self.C
        distances = 0.5 * np.square(rest).sum(axis=1)
        distances += (1.0 - share[1]) ** 2 * upwards + (1.0 - share[0]) ** 2 * (losses - upwards)
        values = 0.5 * np.square(W).sum(axis=1) + losses
        gaps = np.divide(distances, values, out=np.full(values.size, np.inf), where=values > 0.0)
        gaps[distances == 0.0] = 0.0
        return Machines(W.T, self.W[:, -1], pulls.T, values, gaps, self.n_iter)
