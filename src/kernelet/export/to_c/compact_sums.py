"""Coefficients of few bits times kernel values, in integers."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kernelet.kernels.numerics.arrays import FloatArray
from kernelet.machine import CompactForm
from kernelet.machine.compact import INTERCEPT_STEPS

_WORD = 31  # bits of int32_t without the sign
# Of a kernel value: the table of powers has 15, and more than 24 serve no scale that matters.
_FEWEST_DIGITS, _MOST_DIGITS = 15, 24  # less than MANTISSA_DIGITS
_INTERCEPT_DIGITS = INTERCEPT_STEPS.bit_length() - 1


@dataclass(frozen=True)
class Sums:
    """How a score is added up.

    Attributes
    ----------
    digits : int
        A kernel value of 1 is 2^digits.
    is_wide : bool
        Whether the sums take 64 bits; of products of 32.
    intercept_factor : int
        Of the stored intercepts, which are in units of their own.
    score_shift : int
        What makes 32 bits of wide sums.
    score_unit : float
    """

    digits: int
    is_wide: bool
    intercept_factor: int
    score_shift: int
    score_unit: float


def sums_of(form: CompactForm) -> Sums:
    """Sums of 32 bits if kernel values keep the digits of the table of powers, else of 64."""
    digits = _MOST_DIGITS
    while digits > _INTERCEPT_DIGITS and _largest(form, digits).bit_length() > _WORD:
        digits -= 1
    # without vectors there are no kernel values, and intercepts fit as they are stored
    is_wide = digits < _FEWEST_DIGITS and bool(form.coefficients.size)
    score_shift = 0
    if is_wide:
        # so that a product, of a coefficient and a value, fits 32 bits
        digits = min(_MOST_DIGITS, _WORD + 1 - form.coefficient_bits)
        score_shift = max(0, _largest(form, digits).bit_length() - _WORD)
    return Sums(
        digits,
        is_wide,
        1 << (digits - _INTERCEPT_DIGITS),
        score_shift,
        form.scales.base * 2.0 ** (score_shift - digits),
    )


def score_errors(form: CompactForm, errors: FloatArray) -> float:
    """The largest error of a score, given those of kernel values times scales."""
    largest = np.abs(form.coefficients.astype(np.float64)).T @ errors
    return form.scales.base * float(largest.max(initial=0.0))


def _largest(form: CompactForm, digits: int) -> int:
    """A bound of the sizes of all sums, also of those of some of the vectors."""
    sizes = np.abs(form.coefficients.astype(np.int64)).sum(axis=0) << digits
    sizes += np.abs(form.intercepts.astype(np.int64)) << (digits - _INTERCEPT_DIGITS)
    return int(sizes.max())
