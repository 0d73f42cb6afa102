"""The norms of w that make hinge problems linear programs, and the balls of their duals.

The multipliers a of the rows obey: Phi'Ya lies in the ball of the dual norm.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from kernelet.kernels.numerics.arrays import BoolArray, FloatArray
from kernelet.solvers.interior_point.regularizers import Lasso, MaxNorm, Regularizer
from kernelet.solvers.linear_program.crossover import LinearProgram, Vertex

# Columns farther than this from the boundary of the dual ball have no weight, by complementarity:
# far more than rounding, and as near as an interior point without a vertex comes to the boundary.
_INSIDE = 1e-6
# Columns smaller than this share of the largest say nothing under a norm that all weights share.
# Far below rounding, and far enough from underflow to be squared.
_NOTHING = 1e-30


class Capacity(Protocol):
    """c(w), and what follows from it."""

    @property
    def is_positive(self) -> bool:
        """Whether every weight costs something."""
        ...

    @property
    def is_separable(self) -> bool:
        """Whether each weight has a cost of its own, so that zeros of w say where a vertex is."""
        ...

    def completed(self, least: FloatArray) -> Capacity:
        """The same with costs for the weights that have none."""
        ...

    def value(self, w: FloatArray) -> float:
        """c(w)."""
        ...

    def shrink(self, q: FloatArray) -> float:
        """The largest t <= 1 with t q in the dual ball, but for weights without cost."""
        ...

    def slip(self, w: FloatArray, q: FloatArray) -> float:
        """What w gains from the part of q outside of the dual ball."""
        ...

    def promising(self, w: FloatArray, q: FloatArray, near: float) -> BoolArray:
        """Columns with weights, or with a q less than near from the boundary of the ball."""
        ...

    def ratios(self, q: FloatArray) -> FloatArray:
        """q over its bound for each column: above 1 in those that keep q outside the dual ball."""
        ...

    def rounded(self, w: FloatArray, q: FloatArray) -> FloatArray:
        """w with the weights that q proves to be zero set to zero."""
        ...

    def units(self, size: FloatArray) -> FloatArray:
        """Units for columns of these sizes, in which the interior point treats them alike."""
        ...

    def scaled(self, columns: BoolArray, d: FloatArray) -> Capacity:
        """The same over some columns, multiplied by d (their weights are divided by it)."""
        ...

    def regularizer(self) -> Regularizer:
        """For the interior point."""
        ...

    def program(self, A: FloatArray, u: FloatArray) -> LinearProgram:
        """The dual, max sum a, over rows A_i = y_i (phi_i, 1): variables a first."""
        ...

    def point(self, v: FloatArray, q: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Variables of the program beyond a, and its multipliers, for v = (w, b) and q = A'a."""
        ...


@dataclass(frozen=True, eq=False)
class HingeProgram:
    """min c(w) + sum_i C_i max(0, 1 - y_i (phi_i'w + b)), but for the rows phi_i themselves."""

    y: FloatArray
    C: FloatArray
    capacity: Capacity


class OneNorm:
    """sum_j c_j |w_j|; its dual ball is |q_j| <= c_j."""

    is_separable = True

    def __init__(self, c: FloatArray) -> None:
        self.c = c

    @property
    def is_positive(self) -> bool:
        return bool((self.c > 0.0).all())

    def completed(self, least: FloatArray) -> OneNorm:
        return OneNorm(np.where(self.c > 0.0, self.c, least))

    def value(self, w: FloatArray) -> float:
        return float(self.c @ np.abs(w))

    def shrink(self, q: FloatArray) -> float:
        return 1.0 / max(1.0, float(np.max(self.ratios(q), initial=0.0)))

    def slip(self, w: FloatArray, q: FloatArray) -> float:
        return float(np.maximum(0.0, np.abs(q) - self.c) @ np.abs(w))

    def promising(self, w: FloatArray, q: FloatArray, near: float) -> BoolArray:
        promising: BoolArray = (np.abs(q) > (1.0 - near) * self.c) | (w != 0.0)
        return promising

    def ratios(self, q: FloatArray) -> FloatArray:
        return np.divide(np.abs(q), self.c, out=np.zeros(q.size), where=self.c > 0.0)

    def rounded(self, w: FloatArray, q: FloatArray) -> FloatArray:
        return np.where(np.abs(q) < (1.0 - _INSIDE) * self.c, 0.0, w)

    def units(self, size: FloatArray) -> FloatArray:
        return size

    def scaled(self, columns: BoolArray, d: FloatArray) -> OneNorm:
        return OneNorm(self.c[columns] * d)

    def regularizer(self) -> Lasso:
        return Lasso(self.c)

    def program(self, A: FloatArray, u: FloatArray) -> LinearProgram:
        radius = np.append(self.c, 0.0)
        return LinearProgram(-np.ones(u.size), A.T, -radius, radius, u)

    def point(self, v: FloatArray, q: FloatArray) -> tuple[FloatArray, FloatArray]:
        return np.empty(0), -v


class LargestNorm:
    """c max_j d_j |w_j|; its dual ball is sum_j |q_j| / d_j <= c."""

    is_separable = False

    def __init__(self, c: float, d: FloatArray) -> None:
        self.c = c
        self.d = d

    @property
    def is_positive(self) -> bool:
        return self.c > 0.0

    def completed(self, least: FloatArray) -> LargestNorm:
        return self if self.is_positive else LargestNorm(float(np.mean(least)), self.d)

    def value(self, w: FloatArray) -> float:
        return self.c * float(np.max(self.d * np.abs(w), initial=0.0))

    def shrink(self, q: FloatArray) -> float:
        size = float(np.sum(np.abs(q) / self.d))
        return 1.0 / max(1.0, size / self.c) if self.is_positive else 1.0

    def slip(self, w: FloatArray, q: FloatArray) -> float:
        return max(0.0, float(np.abs(q) @ np.abs(w)) - self.value(w))

    def promising(self, w: FloatArray, q: FloatArray, near: float) -> BoolArray:
        return np.ones(w.size, dtype=bool)

    def ratios(self, q: FloatArray) -> FloatArray:
        return np.full(q.size, float(np.sum(np.abs(q) / self.d)) / self.c)

    def rounded(self, w: FloatArray, q: FloatArray) -> FloatArray:
        return w

    def units(self, size: FloatArray) -> FloatArray:
        least = _NOTHING * float(np.max(size, initial=0.0))
        return np.where(size > 0.0, np.maximum(size, least), 0.0)

    def scaled(self, columns: BoolArray, d: FloatArray) -> LargestNorm:
        return LargestNorm(self.c, self.d[columns] * d)

    def regularizer(self) -> MaxNorm:
        return MaxNorm(self.c, self.d)

    def program(self, A: FloatArray, u: FloatArray) -> LinearProgram:
        # A'a = d (r - s) with r, s >= 0 and sum r + s <= c
        m = self.d.size
        K = np.zeros((m + 2, u.size + 2 * m))
        K[:m, : u.size] = A[:, :m].T
        K[np.arange(m), u.size + np.arange(m)] = -self.d
        K[np.arange(m), u.size + m + np.arange(m)] = self.d
        K[m, u.size :] = 1.0
        K[m + 1, : u.size] = A[:, m]
        upper = np.zeros(m + 2)
        upper[m] = self.c
        return LinearProgram(
            cost=np.append(-np.ones(u.size), np.zeros(2 * m)),
            K=K,
            lower=np.zeros(m + 2),
            upper=upper,
            bound=np.append(u, np.full(2 * m, self.c)),
        )

    def point(self, v: FloatArray, q: FloatArray) -> tuple[FloatArray, FloatArray]:
        ratio = q[:-1] / self.d
        extra = np.append(np.maximum(ratio, 0.0), np.maximum(-ratio, 0.0))
        tau = float(np.max(self.d * np.abs(v[:-1]), initial=0.0))
        return extra, -np.concatenate([v[:-1], [tau, v[-1]]])


def lower_bound(
    capacity: Capacity, w: FloatArray, pull: FloatArray, noise: FloatArray, total: float, aim: float
) -> tuple[float, float]:
    """The share of multipliers with sum total that is feasible, and the dual value it proves.

    ``pull`` is their Phi'Ya, which is known up to ``noise``. Where that spoils a dual value beyond
    ``aim``, multipliers outside of the dual ball by no more than the noise are taken as they are,
    less what they gain at w.
    """
    shrink = capacity.shrink(pull)
    lower = shrink * total - capacity.slip(w, shrink * pull)
    if lower < aim:
        slack = capacity.shrink(np.maximum(0.0, np.abs(pull) - noise))
        close = slack * total - capacity.slip(w, slack * pull)
        if close > lower:
            return slack, close
    return shrink, lower


def variables_of(vertex: Vertex, k: int) -> FloatArray:
    """v = (w, b) from the multipliers of the program; k is the number of weights."""
    # from 0 rather than by negation, which makes zeros of -0
    return 0.0 - np.append(vertex.multipliers[:k], vertex.multipliers[-1])
