"""Checks of kernel parameters, with messages that name the parameter."""

from __future__ import annotations

import math
from numbers import Integral, Real

# Characters, about a line: for longer parameters, the repr of a kernel shows only their number.
LONGEST_TEXT = 100


def positive(name: str, value: object) -> float:
    """The value as a float, if it is a finite number above zero."""
    number = finite(name, value)
    if number <= 0.0:
        raise ValueError(f"{name} must be a finite number above 0, got {value!r}.")
    return number


def finite(name: str, value: object) -> float:
    """The value as a float, if it is a finite number."""
    # True is an integer to Python, and never meant as a width.
    if not isinstance(value, bool) and isinstance(value, Real):
        try:
            number = float(value)
        except OverflowError:  # an integer beyond the range of floats
            number = math.inf
        if math.isfinite(number):
            return number
    raise ValueError(f"{name} must be a finite number, got {value!r}.")


def positive_integer(name: str, value: object) -> int:
    """The value as an int, if it is an integer of at least 1 (3.0 counts as one)."""
    number = finite(name, value)
    if number < 1.0 or not number.is_integer():
        raise ValueError(f"{name} must be an integer of at least 1, got {value!r}.")
    return int(value) if isinstance(value, Integral) else int(number)
