"""A machine whose numbers are small integers: what a microcontroller, a page or a file holds."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kernelet.kernels.numerics.arrays import FloatArray
from kernelet.machine.vector_grid import VectorGrid


@dataclass(frozen=True, eq=False)
class CompactForm:
    """The integers of a machine.

    Coefficients and intercepts are multiples of one unit.

    Attributes
    ----------
    grid : VectorGrid
        The vectors, and the scales or the matrix of the kernel.
    coefficient_bits : int
        8 or 16, of a signed integer.
    coefficients : ndarray of shape (m, k), int16
    intercepts : ndarray of shape (k,), int32
    unit : float
    """

    grid: VectorGrid
    coefficient_bits: int
    coefficients: NDArray[np.int16]
    intercepts: NDArray[np.int32]
    unit: float

    @property
    def coefficient_values(self) -> FloatArray:
        """beta."""
        values: FloatArray = self.coefficients * self.unit
        return values

    @property
    def intercept_values(self) -> FloatArray:
        """b."""
        values: FloatArray = self.intercepts * self.unit
        return values

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, CompactForm):
            return NotImplemented
        return (
            self.grid == other.grid
            and self.coefficient_bits == other.coefficient_bits
            and self.unit == other.unit
            and np.array_equal(self.coefficients, other.coefficients)
            and np.array_equal(self.intercepts, other.intercepts)
        )

    def __hash__(self) -> int:
        return hash((self.grid, self.unit, self.coefficients.tobytes()))
