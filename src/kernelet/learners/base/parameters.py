"""Checks of constructor parameters, with one-sentence messages."""

from __future__ import annotations

from collections.abc import Iterable
from numbers import Integral, Real
from typing import Any

from kernelet.machine.rounding import FEWEST_BITS, MOST_BITS

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


def threads(value: Any) -> int:
    """n_jobs: None for one thread, a number of them, or -1 for one on each core."""
    if value is None:
        return 1
    is_whole = isinstance(value, Integral) and not isinstance(value, bool)
    if not is_whole or (value < 1 and value != -1):
        raise ValueError(
            "n_jobs must be a whole number of at least 1, -1 for all cores, or None; got "
            f"{value!r}."
        )
    return int(value)


def verbosity(value: Any) -> int:
    """verbose: every how many steps a line is printed; 0 or False for none, True for each."""
    if not isinstance(value, Real):
        raise ValueError(f"verbose must be a whole number, or 0 for silence; got {value!r}.")
    return int(float(value))


def bits_or_none(name: str, value: Any) -> int | None:
    """None, or a number of bits that vectors can be rounded to."""
    if value is None:
        return None
    is_whole = isinstance(value, Integral) and not isinstance(value, bool)
    if not is_whole or not FEWEST_BITS <= value <= MOST_BITS:
        raise ValueError(
            f"{name} must be None, or a whole number from {FEWEST_BITS} to {MOST_BITS}; "
            f"got {value!r}."
        )
    return int(value)


def positive(name: str, value: Any) -> float:
    """A finite number above zero."""
    is_number = isinstance(value, Real) and not isinstance(value, bool)
    if not is_number or not 0.0 < float(value) < float("inf"):
        raise ValueError(f"{name} must be a finite number above zero; got {value!r}.")
    return float(value)


def factor(name: str, value: Any, unit: float = 1.0, advice: str = "Take a smaller one.") -> float:
    """A number above zero by which sums are multiplied; unit is the size of 1 in them."""
    number = positive(name, value)
    if number > LARGEST_COST * unit:
        raise ValueError(
            f"{name} must be at most {LARGEST_COST * unit:g}, beyond which sums overflow; got "
            f"{value!r}. {advice}"
        )
    return number


def cost(value: Any) -> float:
    """C, a finite number above zero; 1 for "auto", until the cost is chosen."""
    if isinstance(value, str):
        if value != "auto":
            raise ValueError(f'C must be a finite number above zero, or "auto"; got {value!r}.')
        return 1.0
    advice = 'Useful costs lie between 1e-3 and 1e5; C="auto" chooses one.'
    return factor("C", value, advice=advice)
