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
        Relative duality gaps; without a proof, what the last steps promised.
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
    prove: bool = True,
    max_iter: int = 20,
) -> Machines | None:
    """Solve all problems from machines that are nearly theirs.

    Parameters
    ----------
    Phi : ndarray of shape (n, m)
        In single precision, products with it are; sums over rows and factors are in double.
    Y : ndarray of shape (n, k)
        Labels, -1 or +1, a column for each problem.
    C : ndarray of shape (n,)
        Costs, all positive.
    weights : ndarray of shape (m, k)
    intercepts : ndarray of shape (k,)
    tol : float
        Relative duality gap to reach.
    prove : bool, default=True
        Whether to compute duality gaps, and to go on until they are reached. Without, the search
        ends with the first step that promises less than the tolerance.
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
            if not prove:
                return search.promised()
            found = search.proven()
            if found.gaps.max(initial=0.0) <= tol:
                return found
            pending = np.flatnonzero(found.gaps > tol)
    return None


class _Search:
    """Newton's method for all problems, side by side; a row here is a problem.

    A last feature of one stands for the bias, so that the products of the features hold its part.
    """

    def __init__(
        self,
        Phi: FloatArray,
        Y: FloatArray,
        C: FloatArray,
        weights: FloatArray,
        intercepts: FloatArray,
    ) -> None:
        n, m = Phi.shape
        self.Phi = np.ones((n, m + 1), dtype=Phi.dtype)
        self.Phi[:, :m] = Phi
        self.C = C
        self.same_cost = float(C[0]) if (C[0] == C).all() else None
        self.Y = np.ascontiguousarray(Y.T, dtype=Phi.dtype)
        self.W = np.concatenate([weights.T, intercepts[:, None]], axis=1)
        self.residuals = self._residuals()
        self.values = np.full(intercepts.size, np.inf)
        self.hopes = np.full(intercepts.size, np.inf)
        self.active: dict[int, IndexArray] = {}  # rows inside the margin, where they are known
        self._rows = np.empty((n, m + 1), dtype=Phi.dtype)
        self.n_iter, self.is_sound = 0, True

    def _residuals(self) -> FloatArray:
        """1 - y f."""
        residuals: FloatArray = self.W.astype(self.Phi.dtype) @ self.Phi.T
        residuals *= self.Y
        np.subtract(1.0, residuals, out=residuals)
        return residuals

    def step(self, pending: IndexArray, tol: float) -> IndexArray:
        """A step of some problems; returns those that it may not have brought to their end."""
        steps = np.empty((pending.size, self.W.shape[1]))
        promised = np.empty(pending.size)
        for j, k in enumerate(pending):
            if k not in self.active:
                self._look(k, self.W[k], self.residuals[k])
            steps[j], promised[j] = self._newton_step(k)
        self.n_iter += pending.size
        if not np.isfinite(promised).all():
            self.is_sound = False
            return pending
        speeds = steps.astype(self.Phi.dtype) @ self.Phi.T
        speeds *= self.Y if pending.size == self.Y.shape[0] else self.Y[pending]
        self.hopes[pending] = promised
        # F is quadratic next to the solution: a small promise is kept
        is_open = promised > _SHARE * tol * self.values[pending]
        for j, k in enumerate(pending):
            if not is_open[j]:
                self.W[k] += steps[j]
                self.residuals[k] -= speeds[j]
                del self.active[k]
                continue
            length = 1.0
            value = self.values[k]
            while True:
                there = self.W[k] + length * steps[j]
                speed = (
                    speeds[j]
                    if length == 1.0
                    else np.float64(length).astype(speeds.dtype) * speeds[j]
                )
                residuals = self.residuals[k] - speed
                self._look(k, there, residuals)
                if value - self.values[k] >= _ENOUGH * length * promised[j]:
                    break
                length *= 0.5
                if length < _SHORTEST:
                    self.is_sound = False
                    return pending
            self.W[k], self.residuals[k] = there, residuals
        return pending[is_open]

    def _look(self, k: int, w: FloatArray, residuals: FloatArray) -> None:
        """The rows inside the margin of a machine, and its F."""
        active = np.flatnonzero(residuals > 0.0)
        inside = residuals[active].astype(np.float64)
        inside *= inside
        loss = (
            inside.sum() * self.same_cost if self.same_cost is not None else self.C[active] @ inside
        )
        self.active[k] = active
        self.values[k] = 0.5 * float(w[:-1] @ w[:-1]) + float(loss)

    def _newton_step(self, k: int) -> tuple[FloatArray, float]:
        """The step, and twice what the quadratic gains by it; NaN where there is none."""
        active, w = self.active[k], self.W[k]
        A = np.take(self.Phi, active, axis=0, out=self._rows[: active.size], mode="clip")
        pull = self.Y[k, active] * self.residuals[k, active]
        if self.same_cost is not None:
            H = (A.T @ A).astype(np.float64)
            gradient = (pull @ A).astype(np.float64)
            H *= 2.0 * self.same_cost
            gradient *= -2.0 * self.same_cost
        else:
            d = 2.0 * self.C[active]
            gradient = -((pull * d).astype(A.dtype) @ A).astype(np.float64)
            A *= np.sqrt(d).astype(A.dtype)[:, None]
            H = (A.T @ A).astype(np.float64)
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

    def promised(self) -> Machines:
        """The machines as they are, with what the last steps promised in the place of gaps."""
        slacks = np.maximum(self.residuals, 0.0)
        W = self.W[:, :-1]
        values = 0.5 * np.square(W).sum(axis=1) + self._losses(slacks)
        gaps = self.hopes / np.maximum(values, np.finfo(np.float64).tiny)
        return Machines(W.T, self.W[:, -1], slacks.T, values, gaps, self.n_iter)

    def _losses(self, slacks: FloatArray) -> FloatArray:
        if self.same_cost is None:
            losses: FloatArray = np.square(slacks, dtype=np.float64) @ self.C
        else:
            losses = self.same_cost * np.einsum("ij,ij->i", slacks, slacks, dtype=np.float64)
        return losses

    def proven(self) -> Machines:
        """The machines with their duality gaps.

        The multipliers 2 C_i xi_i of the class with the larger sum are scaled down, so that both
        are in balance.
        """
        # residuals carried along drift from those of the machine
        self.residuals = self._residuals()
        self.active.clear()
        W, slacks = self.W[:, :-1], np.maximum(self.residuals, 0.0)
        a = slacks * (2.0 * self.C)
        a *= self.Y
        signed, total = a.sum(axis=1), np.abs(a).sum(axis=1)
        both = 0.5 * np.stack([total - signed, total + signed])
        share = np.divide(both.min(axis=0), both, out=np.zeros_like(both), where=both > 0.0)
        losses = self._losses(slacks)
        # with the shares s of the multipliers the distance of the dual value is
        # 1/2 |w - Phi'Ya|^2 + sum_i (1 - s_i)^2 C_i xi_i^2: no term is negative
        positive = self.Y > 0.0
        a *= np.where(positive, share[1][:, None], share[0][:, None])
        lack = W - a @ self.Phi[:, :-1]
        ones = np.square(np.where(positive, slacks, 0.0)) @ self.C
        distances = 0.5 * np.square(lack).sum(axis=1)
        distances += (1.0 - share[1]) ** 2 * ones + (1.0 - share[0]) ** 2 * (losses - ones)
        values = 0.5 * np.square(W).sum(axis=1) + losses
        gaps = np.divide(distances, values, out=np.full(values.size, np.inf), where=values > 0.0)
        gaps[distances == 0.0] = 0.0
        return Machines(W.T, self.W[:, -1], slacks.T, values, gaps, self.n_iter)
