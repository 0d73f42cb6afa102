"""Complementary pairs x_i z_i = 0, x, z > 0, of a primal-dual interior point."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from kernelet.kernels.numerics.arrays import FloatArray

# Products between these shares of the target need no correction, and none is corrected by more than
# LARGEST of it downwards (Gondzio 1996): far off products are not to rule the direction.
SMALLEST, LARGEST = 0.1, 10.0


@dataclass(eq=False)
class Pair:
    """Positive vectors x and z whose products are driven to zero together.

    A Newton direction satisfies z dx + x dz = c, with c chosen by one of the ``aim_`` methods.
    ``x_is_dual`` says which of the two takes the dual step length.
    """

    x: FloatArray
    z: FloatArray
    x_is_dual: bool = True
    dx: FloatArray = field(init=False)
    dz: FloatArray = field(init=False)
    c: FloatArray = field(init=False)

    def __post_init__(self) -> None:
        self.dx, self.dz, self.c = (np.zeros_like(self.x) for _ in range(3))

    def aim_affine(self) -> None:
        """At complementarity itself."""
        self.c = -self.x * self.z

    def aim_centre(self, target: float, weight: float = 1.0) -> None:
        """At equal products, with the second-order term of the last direction (Mehrotra)."""
        self.c = target - self.x * self.z - weight * self.dx * self.dz

    def aim_nearer(self, target: float, primal_step: float, dual_step: float) -> None:
        """Correct the products that would be out of proportion after the step (Gondzio)."""
        product = self._after(primal_step, dual_step)
        least, most = SMALLEST * target, LARGEST * target
        correction = np.minimum(np.maximum(product, least), most) - product
        self.c = self.c + np.maximum(correction, -most)

    def product_after(self, primal_step: float, dual_step: float) -> float:
        """x'z after the step."""
        return float(self._after(primal_step, dual_step).sum())

    def reaches(self) -> tuple[float, float]:
        """Reciprocals of the longest primal and dual steps that keep x and z positive."""
        # ufuncs themselves: the functions around them take as long as a few hundred rows
        x_reach = -float(np.minimum.reduce(self.dx / self.x, axis=None, initial=0.0))
        z_reach = -float(np.minimum.reduce(self.dz / self.z, axis=None, initial=0.0))
        return (z_reach, x_reach) if self.x_is_dual else (x_reach, z_reach)

    def advance(self, primal_step: float, dual_step: float) -> None:
        """Take the step."""
        x_step, z_step = self._split(primal_step, dual_step)
        self.x = self.x + x_step * self.dx
        self.z = self.z + z_step * self.dz

    def _split(self, primal_step: float, dual_step: float) -> tuple[float, float]:
        return (dual_step, primal_step) if self.x_is_dual else (primal_step, dual_step)

    def _after(self, primal_step: float, dual_step: float) -> FloatArray:
        x_step, z_step = self._split(primal_step, dual_step)
        product: FloatArray = (self.x + x_step * self.dx) * (self.z + z_step * self.dz)
        return product


def centred(
    difference: FloatArray, total: FloatArray, mu: float
) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
    """Pairs (x, s) and (t, r) with s - r = difference, x + t = total and all products mu.

    Whatever point an interior point starts from, these are the variables that centre it.
    """
    share = mu / total
    half = 0.5 * np.abs(difference)
    larger = share + np.hypot(half, share) + half
    # their product, (s + r)^2 / 4 - half^2, without cancellation
    smaller = 2.0 * share * (larger - half) / larger
    s = np.where(difference > 0, larger, smaller)
    r = np.where(difference > 0, smaller, larger)
    return mu / s, s, mu / r, r
