"""The two kinds of columns, and what each becomes in a matrix."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from kernelet.kernels.caller import warn_caller
from kernelet.kernels.numerics.arrays import FloatArray
from kernelet.machine.cells import as_numbers, as_texts

SCALINGS = ("standard", "minmax", "none")


# A column whose deviation is below this share of its numbers is constant: the mean of a column is
# exact to a few units in the last place, and the deviation of a constant one is that error.
_CONSTANT = 10 * float(np.finfo(np.float64).eps)
# In the place of an indicator: a missing value that has none, and a value that is not known.
_NO_INDICATOR, _UNKNOWN = -1, -2


class UnknownCategoryWarning(UserWarning):
    """A column holds a value that was not seen in training."""


@dataclass(frozen=True)
class Number:
    """A column of numbers: (x - shift) / scale, with ``fill`` for x where it is missing."""

    name: str
    shift: float
    scale: float
    fill: float

    @property
    def feature_names(self) -> list[str]:
        """Of the one feature it gives."""
        return [self.name]

    def write(self, column: Any, out: FloatArray) -> None:
        """Fill the features of all rows."""
        numbers = as_numbers(self.name, column)
        out[:, 0] = (np.where(np.isnan(numbers), self.fill, numbers) - self.shift) / self.scale


@dataclass(frozen=True)
class Category:
    """A column of texts: one indicator for each, and one for missing where training had any."""

    name: str
    categories: tuple[str, ...]
    has_missing: bool

    @property
    def feature_names(self) -> list[str]:
        """Of the indicators."""
        names = [f"{self.name}={category}" for category in self.categories]
        return [*names, f"{self.name} missing"] if self.has_missing else names

    def write(self, column: Any, out: FloatArray) -> None:
        """Fill the features of all rows."""
        codes: dict[str | None, int] = {text: i for i, text in enumerate(self.categories)}
        # a missing value without an indicator is none of the known ones, and no surprise
        codes[None] = len(self.categories) if self.has_missing else _NO_INDICATOR
        texts = as_texts(column)
        found = np.array([codes.get(text, _UNKNOWN) for text in texts], dtype=np.intp)
        unknown = np.flatnonzero(found == _UNKNOWN)
        if unknown.size:
            warn_caller(
                f"column {self.name!r} holds {texts[unknown[0]]!r}, which was not seen in "
                f"training; {unknown.size} of {len(texts)} rows have no known value of it.",
                UnknownCategoryWarning,
            )
        out[:] = 0.0
        rows = np.flatnonzero(found >= 0)
        out[rows, found[rows]] = 1.0


def number_column(name: str, column: Any, scaling: str) -> Number:
    """Learn the scale of a column of numbers."""
    numbers = as_numbers(name, column)
    present = numbers[~np.isnan(numbers)]
    if present.size == 0:
        warn_caller(f"column {name!r} has no values.", UserWarning)
        return Number(name, 0.0, 1.0, 0.0)
    low, high = float(present.min()), float(present.max())
    with np.errstate(over="ignore", invalid="ignore"):
        mean, deviation = float(present.mean()), float(present.std())
    shift, scale = (mean, deviation) if scaling == "standard" else (low, high - low)
    if scaling == "none":
        shift, scale = 0.0, 1.0
    if not np.isfinite([mean, shift, scale]).all():
        raise ValueError(f"column {name!r} holds numbers that are too large to be scaled.")
    # A constant column has a deviation of rounding errors, which must not be divided by.
    if scaling != "none" and scale <= _CONSTANT * max(abs(low), abs(high)):
        shift, scale = mean, 1.0
    return Number(name, shift, scale, mean)


def category_column(name: str, column: Any, max_categories: int) -> Category:
    """Learn the categories of a column of texts."""
    texts = set(as_texts(column))
    categories = sorted(text for text in texts if text is not None)
    if len(categories) > max_categories:
        raise ValueError(
            f"column {name!r} holds {len(categories)} different texts, more than "
            f"max_categories={max_categories}; leave it out, or raise the limit."
        )
    if not categories:
        warn_caller(f"column {name!r} has no values.", UserWarning)
    return Category(name, tuple(categories), has_missing=None in texts)
