"""What the interior point needs to know of a regulariser R(w).

q = linear + Phi'Ya is the vector that stationarity sets equal to a subgradient of R.
"""

from __future__ import annotations

from typing import Protocol

import numpy as np

from kernelet.solvers.pairs import Pair
from kernelet.solvers.solution import FloatArray


class Regularizer(Protocol):
    """R(w), its conjugate, and its share of the Newton system."""

    is_linear: bool

    def start(self, scale: float) -> list[Pair]:
        """Complementary pairs of its own, at a starting point; scale is the size of the costs."""
        ...

    def primal(self, w: FloatArray) -> float:
        """R(w)."""
        ...

    def dual(self, q: FloatArray) -> float:
        """-R*(q), on the domain of R*."""
        ...

    def dual_slip(self, w: FloatArray, q: FloatArray) -> float:
        """What the dual value may be wrong by while q is outside the domain of R*."""
        ...

    def add_hessian(self, M: FloatArray) -> None:
        """Add H to the leading block of M."""
        ...

    def right_side(self, w: FloatArray, q: FloatArray) -> FloatArray:
        """Its share of the right-hand side for the current aims of its pairs."""
        ...

    def recover(self, dw: FloatArray) -> None:
        """Set the directions of its pairs from dw."""
        ...


class Ridge:
    """R(w) = 1/2 w'w."""

    is_linear = False

    def start(self, scale: float) -> list[Pair]:
        return []

    def primal(self, w: FloatArray) -> float:
        return 0.5 * float(w @ w)

    def dual(self, q: FloatArray) -> float:
        return -0.5 * float(q @ q)

    def dual_slip(self, w: FloatArray, q: FloatArray) -> float:
        return 0.0

    def add_hessian(self, M: FloatArray) -> None:
        m = M.shape[0] - 1
        M[np.arange(m), np.arange(m)] += 1.0

    def right_side(self, w: FloatArray, q: FloatArray) -> FloatArray:
        return q - w

    def recover(self, dw: FloatArray) -> None:
        return None


class Lasso:
    """R(w) = sum_j c_j |w_j|, by w = w+ - w- and q = c - z+ = z- - c."""

    is_linear = True

    def __init__(self, c: FloatArray) -> None:
        self.c = c

    def start(self, scale: float) -> list[Pair]:
        size = scale / (2.0 * self.c)
        self.plus = Pair(size.copy(), self.c.copy(), x_is_dual=False)
        self.minus = Pair(size.copy(), self.c.copy(), x_is_dual=False)
        return [self.plus, self.minus]

    def primal(self, w: FloatArray) -> float:
        return float(self.c @ np.abs(w))

    def dual(self, q: FloatArray) -> float:
        return 0.0

    def dual_slip(self, w: FloatArray, q: FloatArray) -> float:
        return float(np.maximum(0.0, np.abs(q) - self.c) @ (1.0 + np.abs(w)))

    def add_hessian(self, M: FloatArray) -> None:
        self.spread = self.plus.x / self.plus.z + self.minus.x / self.minus.z
        m = M.shape[0] - 1
        M[np.arange(m), np.arange(m)] += 1.0 / self.spread

    def right_side(self, w: FloatArray, q: FloatArray) -> FloatArray:
        self.slip = q - 0.5 * (self.minus.z - self.plus.z)
        self.shift = self.plus.c / self.plus.z - self.minus.c / self.minus.z
        return self.shift / self.spread + self.slip

    def recover(self, dw: FloatArray) -> None:
        dq = (dw - self.shift) / self.spread
        for pair, sign in ((self.plus, -1.0), (self.minus, 1.0)):
            pair.dz = sign * dq
            pair.dx = (pair.c - pair.x * pair.dz) / pair.z


class MaxNorm:
    """R(w) = c max_j |w_j|, by tau >= w, tau >= -w with multipliers of sum c."""

    is_linear = True

    def __init__(self, c: float, m: int) -> None:
        self.c = c
        self.m = m

    def start(self, scale: float) -> list[Pair]:
        half = np.full(self.m, self.c / (2.0 * self.m))
        room = np.full(self.m, max(1.0, scale / self.c))
        self.plus = Pair(half.copy(), room.copy())
        self.minus = Pair(half.copy(), room.copy())
        return [self.plus, self.minus]

    def primal(self, w: FloatArray) -> float:
        return self.c * float(np.max(np.abs(w), initial=0.0))

    def dual(self, q: FloatArray) -> float:
        return 0.0

    def dual_slip(self, w: FloatArray, q: FloatArray) -> float:
        excess = max(0.0, float(np.abs(q).sum()) - self.c)
        return excess * (1.0 + float(np.max(np.abs(w), initial=0.0)))

    def add_hessian(self, M: FloatArray) -> None:
        plus, minus = self.plus.x / self.plus.z, self.minus.x / self.minus.z
        self.both, self.tilt = plus + minus, plus - minus
        self.total = float(self.both.sum())
        m = self.m
        M[np.arange(m), np.arange(m)] += self.both
        M[:m, :m] -= np.outer(self.tilt, self.tilt / self.total)

    def right_side(self, w: FloatArray, q: FloatArray) -> FloatArray:
        plus, minus = self.plus.c / self.plus.z, self.minus.c / self.minus.z
        missing = self.c - float(self.plus.x.sum() + self.minus.x.sum())
        # tau's own Newton equation, d_tau = (rise + tilt'dw) / total, is eliminated
        self.rise = float(plus.sum() + minus.sum()) - missing
        slip = q - self.plus.x + self.minus.x
        # tau - w and tau + w may be off their slacks by a constant per coordinate: both are
        # carried exactly, since the start is consistent and every direction keeps it so
        return slip - (plus - minus) + self.tilt * (self.rise / self.total)

    def recover(self, dw: FloatArray) -> None:
        d_tau = (self.rise + float(self.tilt @ dw)) / self.total
        for pair, sign in ((self.plus, -1.0), (self.minus, 1.0)):
            pair.dz = d_tau + sign * dw
            pair.dx = (pair.c - pair.x * pair.dz) / pair.z
