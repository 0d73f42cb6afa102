"""Newton's method for many squared losses over the same rows, side by side.

On the rows outside of their intervals, with the ends t that they miss, F is the quadratic

    1/2 w'w + sum_i C_i (t_i - f_i)^2 = 1/2 (b, w)' H (b, w) - r'(b, w) + constant,

so that a step needs H and r alone. Both are sums over rows: from one step to the next those of the
few rows that came in or went out are added or taken off, and all rows are needed for one product,
the scores, of all problems together.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg.lapack import dposv

from kernelet.kernels.numerics.arrays import FloatArray, IndexArray

# A step is taken if it gains at least this share of what the quadratic promises (Armijo's rule),
# and one of half the length is tried otherwise. Below _SHORTEST, ten halvings, the start was not
# nearby.
_ENOUGH = 0.1
_SHORTEST = 1e-3
# A step that promises less than this share of the tolerance is the last one: the promise is about
# twice what is gained, and what is left after the step is smaller still.
_SHARE = 0.3
# Rows that change sides are added to the sums or taken off them while they are fewer than one in
# this many of the rows with a loss. Each costs as much as a row of a fresh sum, which also sheds
# rounding.
_FEW_CHANGES = 3

# +1 for a score below its interval, -1 above, 0 within.
Sides = NDArray[np.int8]


class Intervals:
    """Where scores have no loss.

    Parameters
    ----------
    lower, upper : ndarray of shape (k, n)
        The ends, -inf or inf where there is none; a row for each problem.
    """

    def __init__(self, lower: FloatArray, upper: FloatArray) -> None:
        self.lower, self.upper = lower, upper
        # the one end of each interval, where all have one
        self._only_ends: FloatArray | None = None
        has_lower = np.isfinite(lower)
        if (has_lower != np.isfinite(upper)).all():
            self._only_ends = np.where(has_lower, lower, upper)

    @classmethod
    def of_labels(cls, Y: FloatArray) -> Intervals:
        """Those of the hinge: at least 1 for labels +1, at most -1 for labels -1.

        Parameters
        ----------
        Y : ndarray of shape (n, k)

        Examples
        --------
        >>> intervals = Intervals.of_labels(np.array([[-1.0], [1.0]]))
        >>> intervals.lower, intervals.upper
        (array([[-inf,   1.]]), array([[-1.,  inf]]))
        """
        labels = np.ascontiguousarray(Y.T)
        return cls(np.where(labels > 0.0, 1.0, -np.inf), np.where(labels > 0.0, np.inf, -1.0))

    def astype(self, dtype: Any) -> Intervals:
        return Intervals(self.lower.astype(dtype), self.upper.astype(dtype))

    def lacks(self, scores: FloatArray, k: int | slice = slice(None)) -> FloatArray:
        """What scores lack to their intervals: positive below, negative above, 0 within."""
        lacks = np.maximum(scores, self.lower[k])
        np.minimum(lacks, self.upper[k], out=lacks)
        lacks -= scores
        return lacks

    def missed(self, k: int, index: IndexArray, sides: Sides) -> FloatArray:
        """The ends that the scores of some rows miss."""
        ends: FloatArray
        if self._only_ends is not None:
            ends = self._only_ends[k].take(index)
        else:
            ends = np.where(sides > 0, self.lower[k].take(index), self.upper[k].take(index))
        return ends


@dataclass(eq=False)
class _Quadratic:
    """F on the rows that have a loss."""

    sides: Sides
    n_active: int
    H: FloatArray
    r: FloatArray


class NearbyNewton:
    """Machines on their way; a row here is a problem.

    The first feature is one and stands for the bias: factors then eliminate it first, which leaves
    the moments about the weighted mean.

    Parameters
    ----------
    Phi, intervals, C, weights, intercepts, slopes
        As in `kernelet.solvers.squared_hinge.nearby.squared_losses_nearby`.

    Attributes
    ----------
    W : ndarray of shape (k, 1 + m)
        Intercepts and weights.
    lacks : ndarray of shape (k, n)
        What the scores lack to their intervals.
    losses, values : ndarray of shape (k,)
        The losses in sum, and F.
    hopes : ndarray of shape (k,)
        What the last steps promised.
    n_iter : int
    is_sound : bool
        Whether all steps so far lowered F.
    """

    def __init__(
        self,
        Phi: FloatArray,
        intervals: Intervals,
        C: FloatArray,
        weights: FloatArray,
        intercepts: FloatArray,
        slopes: FloatArray | None,
    ) -> None:
        n, m = Phi.shape
        self.Phi = np.empty((n, m + 1), dtype=Phi.dtype)
        self.Phi[:, 0] = 1.0
        self.Phi[:, 1:] = Phi
        self.C, self._intervals = C, intervals
        self._cost = float(C[0]) if (C[0] == C).all() else None
        self.W = np.concatenate([intercepts[:, None], weights.T], axis=1)
        self.hopes = np.full(intercepts.size, np.inf)
        self._quadratics: dict[int, _Quadratic] = {}
        self._whole: FloatArray | None = None
        self._rows = np.empty_like(self.Phi)
        self.n_iter, self.is_sound = 0, True
        if slopes is not None:
            self._begin_with(_sides(-slopes.T))
        self.look()

    @property
    def weights(self) -> FloatArray:
        return self.W[:, 1:]

    @property
    def intercepts(self) -> FloatArray:
        return self.W[:, 0]

    def _begin_with(self, sides: Sides) -> None:
        """The machines that these rows want, if no others have a loss."""
        for k in range(len(sides)):
            quadratic = self._quadratic(k, sides[k])
            if quadratic.n_active:
                w, is_found = _solved(quadratic.H, quadratic.r)
                if is_found:
                    self.W[k] = w
        self.n_iter += len(sides)

    def look(self) -> None:
        """Scores of all machines, and what they cost."""
        self.scores: FloatArray = self.W.astype(self.Phi.dtype) @ self.Phi.T
        self.lacks = self._intervals.lacks(self.scores)
        self._sides = _sides(self.lacks)
        self.losses = self._losses(self.lacks)
        self.values = self.losses + 0.5 * np.einsum("ij,ij->i", self.weights, self.weights)

    def _losses(self, lacks: FloatArray) -> FloatArray:
        squares = np.square(lacks)
        if self._cost is None:
            squares *= self.C.astype(squares.dtype)
        # NumPy adds in pairs, and so to nearly all digits of the squares
        losses: FloatArray = squares.sum(axis=-1).astype(np.float64)
        return losses if self._cost is None else self._cost * losses

    def step(self, pending: IndexArray, tol: float) -> IndexArray:
        """A step of some problems; returns those that it may not have brought to their end."""
        still: list[int] = []
        steps: list[FloatArray] = []
        for k in pending:
            step, promised = self._newton_step(k)
            if not np.isfinite(promised):
                self.is_sound = False
                return pending
            self.hopes[k] = promised
            # F is quadratic next to the solution: a small promise is kept, and the scores are not
            # needed before all machines are there
            if promised <= _SHARE * tol * self.values[k]:
                self.W[k] += step
            else:
                still.append(k)
                steps.append(step)
        self.n_iter += pending.size
        if still:
            speeds = np.array(steps, dtype=self.Phi.dtype) @ self.Phi.T
            for k, step, speed in zip(still, steps, speeds, strict=True):
                self.is_sound = self._search_line(k, step, speed)
                if not self.is_sound:
                    break
        return np.array(still, dtype=np.intp)

    def _search_line(self, k: int, step: FloatArray, speed: FloatArray) -> bool:
        """Take as much of a step as lowers F enough; returns whether any of it does."""
        length = 1.0
        while length >= _SHORTEST:
            there = self.W[k] + length * step
            scores = self.scores[k] + speed
            lacks = self._intervals.lacks(scores, k)
            value = 0.5 * float(there[1:] @ there[1:]) + float(self._losses(lacks))
            if self.values[k] - value >= _ENOUGH * length * self.hopes[k]:
                self.W[k], self.scores[k], self.lacks[k] = there, scores, lacks
                self._sides[k], self.values[k] = _sides(lacks), value
                return True
            length *= 0.5
            speed *= 0.5
        return False

    def _newton_step(self, k: int) -> tuple[FloatArray, float]:
        """The step, and twice what the quadratic gains by it; NaN where there is none."""
        quadratic, w = self._quadratic(k, self._sides[k]), self.W[k]
        if not quadratic.n_active:
            step = -w
            step[0] = 0.0
            return step, float(w[1:] @ w[1:])
        gradient = quadratic.H @ w - quadratic.r
        step, is_found = _solved(quadratic.H, -gradient)
        return step, -float(gradient @ step) if is_found else np.nan

    def _quadratic(self, k: int, sides: Sides) -> _Quadratic:
        """F on the rows of these sides."""
        before = self._quadratics.get(k)
        if before is not None:
            changed = (sides != before.sides).nonzero()[0]
            if _FEW_CHANGES * changed.size < before.n_active:
                if changed.size:
                    self._exchange(before, k, sides, changed)
                return before
        index = (sides != 0).nonzero()[0]
        A, ends = self._take(index), self._intervals.missed(k, index, sides.take(index))
        if self._cost is None:
            root = np.sqrt(2.0 * self.C.take(index)).astype(A.dtype)
            A *= root[:, None]
            r, H = (root * ends) @ A, (A.T @ A).astype(np.float64)
        else:
            r, H = 2.0 * self._cost * (ends @ A).astype(np.float64), self._products(A)
        H.flat[H.shape[0] + 1 :: H.shape[0] + 1] += 1.0
        # sides are written to when a step is taken
        quadratic = _Quadratic(sides.copy(), index.size, H, r.astype(np.float64))
        self._quadratics[k] = quadratic
        return quadratic

    def _products(self, A: FloatArray) -> FloatArray:
        """2 C A'A; where all rows have a loss, the same for all problems."""
        assert self._cost is not None
        if A.shape[0] < self.Phi.shape[0]:
            H: FloatArray = (A.T @ A).astype(np.float64)
            H *= 2.0 * self._cost
            return H
        if self._whole is None:
            self._whole = 2.0 * self._cost * (A.T @ A).astype(np.float64)
        return self._whole.copy()

    def _exchange(self, quadratic: _Quadratic, k: int, sides: Sides, changed: IndexArray) -> None:
        """Add what rows that came in have, and take off that of rows that went out."""
        A, before, after = self._take(changed), quadratic.sides[changed], sides[changed]
        was_in, is_in = before != 0, after != 0
        costs = 2.0 * (self.C[changed] if self._cost is None else self._cost)
        sign = costs * (is_in.astype(np.float64) - was_in)
        ends = np.where(is_in, self._intervals.missed(k, changed, after), 0.0)
        ends -= np.where(was_in, self._intervals.missed(k, changed, before), 0.0)
        quadratic.H += (sign.astype(A.dtype) * A.T) @ A
        quadratic.r += (costs * ends).astype(A.dtype) @ A
        quadratic.sides[changed] = after
        quadratic.n_active += int(is_in.sum()) - int(was_in.sum())

    def _take(self, index: IndexArray) -> FloatArray:
        """Features of some rows, where they stay until others are asked for."""
        return np.take(self.Phi, index, axis=0, out=self._rows[: index.size], mode="clip")


def _sides(lacks: FloatArray) -> Sides:
    return (lacks > 0.0).view(np.int8) - (lacks < 0.0).view(np.int8)


def _solved(H: FloatArray, right: FloatArray) -> tuple[FloatArray, bool]:
    _, x, fault = dposv(H, right, lower=1)
    return x, not fault
