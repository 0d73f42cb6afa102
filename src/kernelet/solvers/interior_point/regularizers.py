"""What the interior point needs to know of a regulariser R(w).

q = linear + Phi'Ya is the vector that stationarity sets equal to a subgradient of R.
"""

from __future__ import annotations

from typing import Protocol

import numpy as np

from kernelet.kernels.numerics.arrays import FloatArray
from kernelet.solvers.interior_point.complementarity import Pair, centred

# Halvings of the interval in which tau of the infinity norm starts: 2^-60 of it is below rounding.
_HALVINGS = 60


class Regularizer(Protocol):
    """R(w), its conjugate, and its share of the Newton system."""

    is_linear: bool

    def start(self, w: FloatArray, mu: float) -> list[Pair]:
        """Complementary pairs of its own, with products mu, that agree with w."""
        ...

    def primal(self, w: FloatArray) -> float:
        """R(w)."""
        ...

    def dual(self, q: FloatArray) -> float:
        """-R*(q), on the domain of R*."""
        ...

    def shrink(self, q: FloatArray, noise: float) -> float:
        """The largest t <= 1 for which t q is in the domain of R*, if q is known up to noise."""
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

    def start(self, w: FloatArray, mu: float) -> list[Pair]:
        return []

    def primal(self, w: FloatArray) -> float:
        return 0.5 * float(w @ w)

    def dual(self, q: FloatArray) -> float:
        return -0.5 * float(q @ q)

    def shrink(self, q: FloatArray, noise: float) -> float:
        return 1.0

    def add_hessian(self, M: FloatArray) -> None:
        m = M.shape[0] - 1
        M[np.arange(m), np.arange(m)] += 1.0

    def right_side(self, w: FloatArray, q: FloatArray) -> FloatArray:
        return q - w

    def recover(self, dw: FloatArray) -> None:
        return None


class Lasso:
    """R(w) = sum_j c_j |w_j|, c > 0, by w = w+ - w- and q = c - z+ = z- - c."""

    is_linear = True

    def __init__(self, c: FloatArray) -> None:
        self.c = c

    def start(self, w: FloatArray, mu: float) -> list[Pair]:
        z_plus, w_plus, z_minus, w_minus = centred(w, 2.0 * self.c, mu)
        self.plus = Pair(w_plus, z_plus, x_is_dual=False)
        self.minus = Pair(w_minus, z_minus, x_is_dual=False)
        return [self.plus, self.minus]

    def primal(self, w: FloatArray) -> float:
        return float(self.c @ np.abs(w))

    def dual(self, q: FloatArray) -> float:
        return 0.0

    def shrink(self, q: FloatArray, noise: float) -> float:
        return 1.0 / max(1.0, float(np.max((np.abs(q) - noise) / self.c, initial=0.0)))

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
    """R(w) = c max_j d_j |w_j|, by tau >= d w, tau >= -d w with multipliers of sum c > 0."""

    is_linear = True

    def __init__(self, c: float, d: FloatArray) -> None:
        self.c = c
        self.d = d

    def start(self, w: FloatArray, mu: float) -> list[Pair]:
        size = np.abs(self.d * w)
        # tau at which the multipliers mu / (tau -+ d w) add up to c: between these two
        low = float(np.max(size, initial=0.0))
        high = low + 2.0 * size.size * mu / self.c
        for _ in range(_HALVINGS):
            tau = 0.5 * (low + high)
            total = float(np.sum(mu / (tau - size) + mu / (tau + size)))
            low, high = (tau, high) if total > self.c else (low, tau)
        self.plus, self.minus = (
            Pair(mu / (high - sign * self.d * w), high - sign * self.d * w) for sign in (1.0, -1.0)
        )
        return [self.plus, self.minus]

    def primal(self, w: FloatArray) -> float:
        return self.c * float(np.max(np.abs(self.d * w), initial=0.0))

    def dual(self, q: FloatArray) -> float:
        return 0.0

    def shrink(self, q: FloatArray, noise: float) -> float:
        known = np.maximum(0.0, np.abs(q) - noise)
        return 1.0 / max(1.0, float(np.sum(known / self.d)) / self.c)

    def add_hessian(self, M: FloatArray) -> None:
        plus, minus = self.plus.x / self.plus.z, self.minus.x / self.minus.z
        self.tilt = self.d * (plus - minus)
        self.total = float(np.sum(plus + minus))
        m = self.d.size
        M[np.arange(m), np.arange(m)] += self.d**2 * (plus + minus)
        M[:m, :m] -= np.outer(self.tilt, self.tilt / self.total)

    def right_side(self, w: FloatArray, q: FloatArray) -> FloatArray:
        plus, minus = self.plus.c / self.plus.z, self.minus.c / self.minus.z
        missing = self.c - float(self.plus.x.sum() + self.minus.x.sum())
        # tau's own Newton equation, d_tau = (rise + tilt'dw) / total, is eliminated
        self.rise = float(plus.sum() + minus.sum()) - missing
        slip = q - self.d * (self.plus.x - self.minus.x)
        # tau - d w and tau + d w are their slacks exactly: so they start, and every direction
        # keeps it so
        right: FloatArray = slip - self.d * (plus - minus) + self.tilt * (self.rise / self.total)
        return right

    def recover(self, dw: FloatArray) -> None:
        d_tau = (self.rise + float(self.tilt @ dw)) / self.total
        for pair, sign in ((self.plus, -1.0), (self.minus, 1.0)):
            pair.dz = d_tau + sign * self.d * dw
            pair.dx = (pair.c - pair.x * pair.dz) / pair.z
