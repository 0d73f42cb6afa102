"""Norms of the coefficients as penalties that are re-weighted from step to step."""

from __future__ import annotations

from abc import ABC, abstractmethod
from numbers import Real
from typing import Any, final

import numpy as np

from kernelet.kernels.numerics.arrays import FloatArray

# What the weights of `MaxPenalty` add up to at least: too little to be seen in the saddle value,
# and a weight that small is back after a few steps, since it grows by a factor in each.
_LEAST_WEIGHT = 1e-8
# A coefficient is no smaller than this share of the largest, which is near rounding error, nor is
# the largest smaller than the second number: the square of their product is still above zero.
_LEAST_SIZE = 1e-14
_LEAST_LARGEST = 1e-140


class ReweightedPenalty(ABC):
    """A penalty on coefficients, replaced by 1/2 a' Lambda a around the last ones.

    Attributes
    ----------
    is_sparse : bool
        Whether coefficients become zero, so that small ones are dropped.
    stride : float
        By how much of the last step, in logarithms, the weights may run ahead of the coefficients.
    """

    is_sparse: bool
    stride: float = 0.0

    @abstractmethod
    def value(self, alpha: FloatArray) -> float:
        """The penalty itself, for which fixed points of the re-weighting are stationary."""

    @abstractmethod
    def scale(self, alpha: FloatArray) -> tuple[FloatArray, FloatArray]:
        """d > 0 and e = d^2 Lambda, both finite whatever the size of alpha."""

    @abstractmethod
    def is_met(self, alpha: FloatArray, change: float, objective: float, epsilon: float) -> bool:
        """Whether coefficients that changed so little are as good as a fixed point."""


@final
class PowerPenalty(ReweightedPenalty):
    r"""C_norm sum_j |a_j|^p / p, and C_norm sum_j log |a_j| for p = 0.

    :math:`\Lambda = C_{norm} \mathrm{diag}(|\alpha_j|^{-(2-p)})`, proposition 4; with
    :math:`d_j = |\alpha_j|^{(2-p)/2}` nothing is divided by small numbers, as in (3.12).
    """

    def __init__(self, p: float, C_norm: float) -> None:
        self.p = p
        self.C_norm = C_norm
        self.is_sparse = p <= 1.0
        # Coefficients on their way to zero shrink by a constant factor where p > 0; to run ahead
        # takes a third of the steps. For p = 0 they vanish at once.
        self.stride = 1.0 if 0.0 < p < 2.0 else 0.0

    def value(self, alpha: FloatArray) -> float:
        size = np.abs(alpha)
        if self.p == 0.0:
            return self.C_norm * float(np.log(size).sum())
        return self.C_norm * float((size**self.p).sum()) / self.p

    def scale(self, alpha: FloatArray) -> tuple[FloatArray, FloatArray]:
        size = np.abs(alpha)
        size = np.maximum(size, _LEAST_SIZE * max(size.max(initial=0.0), _LEAST_LARGEST))
        return size ** (1.0 - 0.5 * self.p), np.full(size.size, self.C_norm)

    def is_met(self, alpha: FloatArray, change: float, objective: float, epsilon: float) -> bool:
        return change <= epsilon or self.p == 2.0


@final
class MaxPenalty(ReweightedPenalty):
    r"""C_norm max_j |a_j|.

    Section 3.3 puts all weight on the largest coefficient; when that has shrunk another one is
    the largest, and the sequence goes round. The penalty is the saddle value

    .. math:: \min_s \max_\mu \tfrac{C_{norm}}2 \Bigl(s + \tfrac1s \sum_j \mu_j a_j^2\Bigr),
        \qquad \mu_j \ge 0, \; \sum_j \mu_j = 1,

    whose inner maximum is the paper's choice. Here the weights go only part of the way there at
    each step, :math:`\mu_j \leftarrow \mu_j |a_j| / \sum_k \mu_k |a_k|`.

    A step's problem has its minimum where the slope of all else, r, is the opposite of
    :math:`g_j = C_{norm} \mu_j a_j / s`. So r, being convex, lies above
    :math:`r(a) - g'(\cdot - a)`, which with the penalty added is nowhere below
    :math:`r(a) + g'a` as long as :math:`\sum_j |g_j| \le C_{norm}`, and no less than a share of
    it beyond: that bound says how far from the end a step is.
    """

    is_sparse = False

    def __init__(self, C_norm: float) -> None:
        self.C_norm = C_norm
        self._mu: FloatArray | None = None
        self._s = 1.0
        self._above, self._below = np.inf, -np.inf

    def value(self, alpha: FloatArray) -> float:
        return self.C_norm * float(np.abs(alpha).max(initial=0.0))

    def scale(self, alpha: FloatArray) -> tuple[FloatArray, FloatArray]:
        size = np.abs(alpha)
        if self._mu is None:
            self._mu = np.full(size.size, 1.0 / size.size)
        elif size.any():
            moved = self._mu * size
            # no weight becomes zero, or its coefficient could never be the largest again
            moved = np.maximum(moved / moved.sum(), _LEAST_WEIGHT / size.size)
            self._mu = moved / moved.sum()
        self._s = max(float(np.sqrt(self._mu @ (size * size))), np.finfo(np.float64).tiny)
        return np.ones(size.size), self.C_norm * self._mu / self._s

    def is_met(self, alpha: FloatArray, change: float, objective: float, epsilon: float) -> bool:
        assert self._mu is not None
        weight = self._mu * np.abs(alpha) / self._s
        pulled = objective - self.value(alpha) + self.C_norm * float(weight @ np.abs(alpha))
        self._above = min(self._above, objective)
        self._below = max(self._below, pulled / max(1.0, float(weight.sum())))
        # both sides of a saddle come near each other more slowly than coefficients to rest
        return self._above - self._below <= 10.0 * epsilon * abs(objective)


def norm_penalty(p: Any, C_norm: float) -> ReweightedPenalty:
    """The penalty that the parameters p and C_norm of an estimator mean."""
    if isinstance(p, str) and p == "inf":
        return MaxPenalty(C_norm)
    if isinstance(p, Real) and not isinstance(p, bool):
        if float(p) == np.inf:
            return MaxPenalty(C_norm)
        if 0.0 <= float(p) <= 2.0:
            return PowerPenalty(float(p), C_norm)
    raise ValueError(f"p must be a number from 0 to 2, or 'inf'; got {p!r}.")
