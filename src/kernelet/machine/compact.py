"""A machine whose numbers are small integers: what a microcontroller, a page or a file holds."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kernelet.kernels.numerics.arrays import FloatArray
from kernelet.machine.powers import Powers
from kernelet.machine.vector_grid import VectorGrid

# Intercepts are whole numbers of this many to the largest of the scales: half of it is a 500th of
# what the coarsest coefficient is rounded to.
INTERCEPT_STEPS = 256
# Of a coefficient, with the sign.
COEFFICIENT_BITS = (4, 5, 6, 8, 16)


@dataclass(frozen=True, eq=False)
class CompactForm:
    r"""The integers of a machine.

    .. math:: \beta_{jk} = s_j c_{jk}

    Attributes
    ----------
    grid : VectorGrid
        The vectors, and the scales or the matrix of the kernel.
    coefficient_bits : int
        Of c, with the sign: 4, 5, 6, 8 or 16.
    coefficients : ndarray of shape (m, k), int16
        c.
    scales : Powers of m vectors
        s.
    intercepts : ndarray of shape (k,), int32
        In units of ``scales.base / 256``.
    """

    grid: VectorGrid
    coefficient_bits: int
    coefficients: NDArray[np.int16]
    scales: Powers
    intercepts: NDArray[np.int32]

    @property
    def coefficient_values(self) -> FloatArray:
        """beta."""
        values: FloatArray = self.coefficients * self.scales.values[:, np.newaxis]
        return values

    @property
    def intercept_values(self) -> FloatArray:
        """b."""
        values: FloatArray = self.intercepts * self.intercept_unit
        return values

    @property
    def intercept_unit(self) -> float:
        """What an intercept is a multiple of."""
        return self.scales.base / INTERCEPT_STEPS

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, CompactForm):
            return NotImplemented
        return (
            self.grid == other.grid
            and self.coefficient_bits == other.coefficient_bits
            and self.scales == other.scales
            and np.array_equal(self.coefficients, other.coefficients)
            and np.array_equal(self.intercepts, other.intercepts)
        )

    def __hash__(self) -> int:
        return hash((self.grid, self.scales, self.coefficients.tobytes()))
