"""Checks of constructor parameters, with one-sentence messages."""

from __future__ import annotations

from collections.abc import Iterable
from numbers import Integral, Real
from typing import Any

# Costs, summed over rows and multiplied by kernel values, must not overflow in single precision.
LARGEST_COST = 1e30


def choice(name: str, value: Any, known: Iterable[str]) -> str:
    """One of a few strings."""
    names = sorted(known)
    if not isinstance(value, str) or value not in names:
        raise ValueError(f"{name} must be one of {', '.join(map(repr, names))}; got {value!r}.")
    return value


def count(name: str, value: Any, least: int = 1) -> int:
    """A whole number of at least ``least``."""
    if isinstance(value, bool) or not isinstance(value, Integral) or value < least:
        raise ValueError(f"{name} must be a whole number of at least {least}; got {value!r}.")
    return int(value)


def positive(name: str, value: Any) -> float:
    """A finite number above zero."""
    is_number = isinstance(value, Real) and not isinstance(value, bool)
    if not is_number or not 0.0 < float(value) < float("inf"):
        raise ValueError(f"{name} must be a finite number above zero; got {value!r}.")
    return float(value)


def cost(value: Any) -> float:
    """C, a finite number above zero; 1 for "auto", until the cost is chosen."""
    if isinstance(value, str):
        if value != "auto":
            raise ValueError(f'C must be a finite number above zero, or "auto"; got {value!r}.')
        return 1.0
    number = positive("C", value)
    if number > LARGEST_COST:
        raise ValueError(
            f"C must be at most {LARGEST_COST:g}, beyond which sums overflow; got "
            f'{value!r}. Useful costs lie between 1e-3 and 1e5; C="auto" chooses one.'
        )
    return number
