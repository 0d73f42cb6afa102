"""Positive numbers in a byte each."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kernelet.kernels.numerics.arrays import FloatArray

# Codes per factor of two: neighbours differ by 9 %, so that the nearest is at most 4.4 % away, and
# the 256 codes of a byte span a factor of 4e9.
PER_OCTAVE = 8
LARGEST_CODE = 255
# 2^(-i/8), correctly rounded, so that every machine reads the same numbers.
_FRACTIONS = np.array(
    [
        1.0,
        0.9170040432046712,
        0.8408964152537145,
        0.7711054127039704,
        0.7071067811865476,
        0.6484197773255048,
        0.5946035575013605,
        0.5452538663326288,
    ]
)


@dataclass(frozen=True, eq=False)
class Powers:
    """Numbers base 2^(-code / 8), one for each feature or one for all of them.

    Attributes
    ----------
    base : float
        The largest of them, or more.
    codes : ndarray of shape (n,), uint8

    Examples
    --------
    >>> Powers(4.0, np.array([0, 8, 20], dtype=np.uint8)).values
    array([4.        , 2.        , 0.70710678])
    """

    base: float
    codes: NDArray[np.uint8]

    @property
    def values(self) -> FloatArray:
        """The numbers."""
        octaves, fractions = np.divmod(self.codes.astype(np.int64), PER_OCTAVE)
        numbers: FloatArray = np.ldexp(self.base * _FRACTIONS[fractions], -octaves)
        return numbers

    @property
    def is_one(self) -> bool:
        """Whether all numbers are the same, so that one is stored."""
        return bool((self.codes == self.codes[:1]).all())

    def __getitem__(self, index: NDArray[np.intp]) -> Powers:
        return Powers(self.base, self.codes[index])

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Powers):
            return NotImplemented
        return self.base == other.base and np.array_equal(self.codes, other.codes)

    def __hash__(self) -> int:
        return hash((self.base, self.codes.tobytes()))


def nearest_powers(values: FloatArray) -> Powers:
    """The nearest such numbers; those too small for a byte become the smallest there is.

    Examples
    --------
    >>> nearest_powers(np.array([3.0, 1.51, 1e-30])).codes.tolist()
    [0, 8, 255]
    """
    return _powers(values, np.rint)


def covering_powers(values: FloatArray, base: float | None = None) -> Powers:
    """The least such numbers that are no smaller, up to rounding; ``base`` is at least as large.

    Examples
    --------
    >>> covering_powers(np.array([3.0, 1.51])).values
    array([3.       , 1.6357616])
    """
    # a value that is a power but for its last digits is that power
    return _powers(values, lambda code: np.floor(code + 1e-9), base)


def _powers(
    values: FloatArray, to_whole: Callable[[FloatArray], FloatArray], base: float | None = None
) -> Powers:
    base = float(values.max()) if base is None else base
    with np.errstate(divide="ignore"):
        octaves = np.log2(base) - np.log2(np.maximum(values, np.finfo(float).tiny))
        codes = to_whole(PER_OCTAVE * octaves)
    return Powers(base, np.clip(codes, 0, LARGEST_CODE).astype(np.uint8))
