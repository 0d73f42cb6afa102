"""The Newton system of an interior point, solved to the accuracy that the last digits need."""

from __future__ import annotations

import numpy as np
from scipy.linalg.lapack import dpotrf, dpotrs

from kernelet.kernels.numerics.arrays import FloatArray
from kernelet.subspace.eigenpairs import eigenpairs

# Pivots below this share of their diagonal have lost ten of their sixteen digits to cancellation:
# the six that are left are too few for the last iterations.
PIVOT_FLOOR = 1e-10
# Rows of A scaled at a time; fresh memory for all of them costs as much as the product. A block of
# some tens of columns stays in the cache of a core; half or twice as many rows would do as well.
_BLOCK = 2048


def weighted_gram(A: FloatArray, weights: FloatArray) -> FloatArray:
    """A' diag(weights) A, without a second array of the size of A."""
    n, k = A.shape
    roots = np.sqrt(weights)[:, None]
    if n <= _BLOCK:
        rows = A * roots
        gram: FloatArray = rows.T @ rows
        return gram
    block = np.empty((min(n, _BLOCK), k))
    total = np.zeros((k, k))
    for first in range(0, n, _BLOCK):
        rows = A[first : first + _BLOCK]
        scaled = np.multiply(rows, roots[first : first + _BLOCK], out=block[: rows.shape[0]])
        total += scaled.T @ scaled
    return total


class NewtonSystem:
    """Directions (dv, da) with H dv - A'da = r and A dv + da / theta = rho.

    Eliminating da leaves (H + A' Theta A) dv = r + A' Theta rho, factored by Cholesky. Towards the
    end theta spans twenty orders of magnitude and H drowns in the rounding errors of A' Theta A
    wherever the rows on the margin are fewer than the columns. Pivots below ``pivot_floor`` show
    it: the triangle then comes from a QR factorisation of the square root [Theta^1/2 A; H^1/2],
    which does not mix large with small, and every direction is refined once on both equations.
    """

    def __init__(
        self, A: FloatArray, theta: FloatArray, H: FloatArray, pivot_floor: float = PIVOT_FLOOR
    ) -> None:
        self.A, self.theta, self.H = A, theta, H
        M = weighted_gram(A, theta) + H
        # LAPACK itself: the checks around it cost as much as a small system; M is symmetric, and
        # its transpose in the order of LAPACK
        self.upper, fault = dpotrf(M.T, clean=1)
        pivots = self.upper.diagonal() ** 2
        self.is_delicate = bool(fault) or bool((pivots < pivot_floor * M.diagonal()).any())
        if self.is_delicate:
            # a root of H that is accurate for each of its rows, however their sizes differ
            size = np.sqrt(np.diagonal(H))
            size = np.where(size > 0.0, size, 1.0)
            values, vectors = eigenpairs(H / np.outer(size, size), check_finite=False)
            root = (vectors * np.sqrt(np.maximum(values, 0.0))).T * size
            scaled = A * np.sqrt(theta)[:, None]
            self.upper = np.asfortranarray(np.linalg.qr(np.vstack([scaled, root]), mode="r"))

    @property
    def is_regular(self) -> bool:
        """Whether the system has one solution, in double precision."""
        diagonal = np.diagonal(self.upper)
        return bool(np.isfinite(diagonal).all() and (diagonal != 0.0).all())

    def solve(self, r: FloatArray, rho: FloatArray) -> tuple[FloatArray, FloatArray]:
        """The direction (dv, da)."""
        dv, da = self._eliminate(r, rho)
        if self.is_delicate:
            ddv, dda = self._eliminate(
                r - self.H @ dv + da @ self.A, rho - self.A @ dv - da / self.theta
            )
            dv, da = dv + ddv, da + dda
        return dv, da

    def _eliminate(self, r: FloatArray, rho: FloatArray) -> tuple[FloatArray, FloatArray]:
        dv, _ = dpotrs(self.upper, r + (self.theta * rho) @ self.A)
        return dv, self.theta * (rho - self.A @ dv)
