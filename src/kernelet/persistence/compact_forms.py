"""Compact forms that nobody has checked yet: what makes a machine of them, and what it takes."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from kernelet.machine import CompactForm, KernelMachine
from kernelet.machine.compact import COEFFICIENT_BITS
from kernelet.machine.powers import Powers
from kernelet.machine.rounding import FEWEST_BITS, MOST_BITS
from kernelet.persistence.ranges import check_finite, check_range
from kernelet.persistence.vectors import MAX_GROWTH

# Integers of 32 bits whose absolute value has 32 bits as well.
LARGEST_INTEGER = 2**31 - 1
# Operations for the inverse of a matrix, up to a factor: some ten seconds on one core. Nothing else
# in a file takes more time than its size suggests.
_MOST_OPERATIONS = 2**33
# Bytes that any file may ask for.
ALWAYS = 2**20


@dataclass(frozen=True)
class CompactSizes:
    """How large the machine of a compact form is.

    Attributes
    ----------
    n_vectors, n_features, n_outputs : int
    n_combinations : int
        Rows of the matrix in front of the kernel, 0 if there is none.
    dtype : dtype
        In which it is evaluated.
    """

    n_vectors: int
    n_features: int
    n_outputs: int
    n_combinations: int
    dtype: np.dtype[Any]

    @classmethod
    def of(cls, machine: KernelMachine, form: CompactForm) -> CompactSizes:
        """Of a machine that is there."""
        matrix = form.grid.matrix
        return cls(
            machine.n_vectors,
            machine.n_features,
            machine.n_outputs,
            0 if matrix is None else len(matrix.codes),
            machine.dtype,
        )

    @property
    def in_full(self) -> int:
        """Bytes of all numbers of the machine in memory.

        The vectors and coefficients with their codes of two bytes, the matrix with its codes, and
        what there is for each feature: a scale as one of Python's numbers takes 32 bytes, its
        place, centre and powers 14. Reading takes up to five times as much for a moment: copies of
        the vectors, and what the inverse of the matrix is made of.
        """
        m, d, k, r = self.n_vectors, self.n_features, self.n_outputs, self.n_combinations
        numbers = self.dtype.itemsize * (m * (d + k) + k) + 2 * m * ((r or d) + k)
        return numbers + 10 * r * d + 48 * d

    def stored_at_least(self, growth: int = MAX_GROWTH, always: int = ALWAYS) -> int:
        """How much must be stored, so that a small file cannot ask for all memory."""
        return max(0, -((always - self.in_full) // growth))


def check_bits(vector_bits: int, coefficient_bits: int) -> None:
    """Raise ValueError for other numbers of bits than those that machines have."""
    if not FEWEST_BITS <= vector_bits <= MOST_BITS:
        raise ValueError(
            f"the codes of vectors have {FEWEST_BITS} to {MOST_BITS} bits, not {vector_bits}"
        )
    if coefficient_bits not in COEFFICIENT_BITS:
        known = ", ".join(map(str, COEFFICIENT_BITS))
        raise ValueError(f"coefficients have one of {known} bits, not {coefficient_bits}")


def check_form(form: CompactForm) -> None:
    """Raise ValueError unless all integers of a form are in range and fit together."""
    grid = form.grid
    check_bits(grid.bits, form.coefficient_bits)
    (m, k), u = form.coefficients.shape, grid.used.size
    r = u if grid.matrix is None else len(grid.matrix.codes)
    if k < 1 or u < 1 or r < 1:
        raise ValueError("there must be an output and a feature in use")
    inner = np.concatenate([[-1], grid.used, [grid.n_features]])
    if not (inner[1:] > inner[:-1]).all():
        raise ValueError(f"the features in use must be in order, of {grid.n_features}")
    _whole("codes of the vectors", grid.codes, (m, r), 0, 2**grid.bits - 1)
    _whole("centres", grid.centres, (r,), -LARGEST_INTEGER, LARGEST_INTEGER)
    _powers("steps", grid.steps, r)
    # where the kernel uses no feature at all, one is kept, with a scale of 0
    if grid.scales is not None and not (u == 1 and grid.scales.base == 0.0):
        _powers("scales", grid.scales, u)
    if grid.matrix is not None:
        if grid.scales is not None:
            raise ValueError("there are scales and a matrix, of which one is enough")
        largest = 2 ** (grid.bits - 1) - 1
        _whole("codes of the matrix", grid.matrix.codes, (r, u), -largest, largest)
        _powers("steps of the matrix", grid.matrix.steps, u)
        if r * u * min(r, u) > _MOST_OPERATIONS:
            raise ValueError(f"a matrix of {r} x {u} numbers takes too long; lower its rank")
    largest = 2 ** (form.coefficient_bits - 1) - 1
    _whole("coefficients", form.coefficients, (m, k), -largest, largest)
    _powers("scales of the coefficients", form.scales, m)
    _whole("intercepts", form.intercepts, (k,), -LARGEST_INTEGER, LARGEST_INTEGER)


def checked_machine(form: CompactForm, dtype: DTypeLike) -> KernelMachine:
    """The machine of a form from a file.

    Raises
    ------
    ValueError
        If its integers are out of range, or do not fit together, or if the numbers that are made of
        them overflow.
    """
    check_form(form)
    with np.errstate(all="ignore"):  # what overflows is refused
        machine = KernelMachine.from_compact(form, dtype)
    check_finite(machine)
    check_range(machine)
    return machine


def _whole(what: str, numbers: NDArray[Any], shape: tuple[int, ...], low: int, high: int) -> None:
    if numbers.shape != shape:
        sizes = " x ".join(map(str, shape))
        raise ValueError(f"there must be {sizes} {what}, not {numbers.shape}")
    if numbers.size and not low <= int(numbers.min()) <= int(numbers.max()) <= high:
        raise ValueError(f"the {what} must be from {low} to {high}")


def _powers(what: str, powers: Powers, n: int) -> None:
    if powers.codes.shape != (n,):
        raise ValueError(f"there must be {n} {what}, not {powers.codes.size}")
    if not (math.isfinite(powers.base) and powers.base > 0.0 and (powers.values > 0.0).all()):
        raise ValueError(
            f"the base of the {what} must be positive and finite, and none of them 0; it is "
            f"{powers.base:g}"
        )
