"""Scales and shifts of columns that are stored in a byte or two."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from kernelet.machine.column_kinds import Category, Number
from kernelet.machine.powers import Powers, nearest_powers

# Shifts are multiples of the scale divided by this. Of a standardised column the mean is then
# within a 16th of the deviation of 0, and a mean of 4000 deviations fits into 16 bits.
SHIFTS_PER_SCALE = 8
_LARGEST_SHIFT = 2**15 - 1
# A neighbouring power differs by 9 %, so the nearest is this near unless it is out of range.
_NEAREST = 0.05
# Numbers that were rounded and then computed with are these powers but for their last digits.
_SAME = 1e-12


@dataclass(frozen=True)
class RoundedNumbers:
    """The scales and shifts of columns of numbers as integers.

    Attributes
    ----------
    scales : Powers
    shifts : ndarray of int16
        In eighths of the scales.
    """

    scales: Powers
    shifts: NDArray[np.int16]


def with_rounded_numbers(columns: Sequence[Number | Category]) -> tuple[Number | Category, ...]:
    """The columns with scales and shifts that `rounded_numbers` finds, or as they are if none can.

    Examples
    --------
    >>> with_rounded_numbers([Number("length", 5.1, 2.0, 5.1)])
    (Number(name='length', shift=5.0, scale=2.0, fill=5.0),)
    """
    numbers = [column for column in columns if isinstance(column, Number)]
    found = _nearest(numbers)
    if found is None or not _is_near(found.scales.values, numbers, _NEAREST):
        return tuple(columns)
    shifts = found.shifts / SHIFTS_PER_SCALE * found.scales.values
    rounded = {
        number.name: replace(
            number,
            scale=float(scale),
            shift=float(shift),
            # what is missing becomes 0 as before
            fill=float(shift) if number.fill == number.shift else number.fill,
        )
        for number, scale, shift in zip(numbers, found.scales.values, shifts, strict=True)
    }
    return tuple(rounded.get(column.name, column) for column in columns)


def rounded_numbers(columns: Sequence[Number | Category]) -> RoundedNumbers | None:
    """The integers of all columns of numbers, if all of them are rounded.

    Examples
    --------
    >>> found = rounded_numbers([Number("length", 5.0, 2.0, 5.0), Number("width", -0.5, 1.0, 0.0)])
    >>> found.scales.codes.tolist(), found.shifts.tolist()
    ([0, 8], [20, -4])
    >>> rounded_numbers([Number("length", 5.1, 2.0, 5.1)])
    """
    numbers = [column for column in columns if isinstance(column, Number)]
    found = _nearest(numbers)
    if found is None or not _is_near(found.scales.values, numbers, _SAME):
        return None
    multiples = [SHIFTS_PER_SCALE * number.shift / number.scale for number in numbers]
    is_same = np.abs(found.shifts - multiples) <= _SAME * np.abs(multiples)
    return found if is_same.all() else None


def _nearest(numbers: Sequence[Number]) -> RoundedNumbers | None:
    if not numbers:
        return None
    scales = nearest_powers(np.array([number.scale for number in numbers]))
    shifts = np.array([number.shift for number in numbers])
    multiples = np.rint(SHIFTS_PER_SCALE * shifts / scales.values)
    if np.abs(multiples).max() > _LARGEST_SHIFT:
        return None
    return RoundedNumbers(scales, multiples.astype(np.int16))


def _is_near(scales: NDArray[np.float64], numbers: Sequence[Number], share: float) -> bool:
    return all(
        abs(scale - number.scale) <= share * number.scale
        for scale, number in zip(scales, numbers, strict=True)
    )
