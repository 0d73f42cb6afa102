"""From the columns of a table to the rows of a matrix, with NumPy alone."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from kernelet.machine.cells import (
    MissingColumnError,
    as_numbers,
    as_texts,
    is_numeric,
    table_columns,
)

FloatArray = NDArray[np.float64]
__all__ = ["Category", "ColumnEncoder", "MissingColumnError", "Number", "UnknownCategoryWarning"]

SCALINGS = ("standard", "minmax", "none")


class UnknownCategoryWarning(UserWarning):
    """A column holds a value that was not there in training."""


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
        codes[None] = len(self.categories) if self.has_missing else -1
        texts = as_texts(column)
        found = np.array([codes.get(text, -2) for text in texts], dtype=np.intp)
        unknown = np.flatnonzero(found == -2)
        if unknown.size:
            warnings.warn(
                f"column {self.name!r} holds {texts[unknown[0]]!r}, which was not there in "
                f"training; {unknown.size} of {len(texts)} rows have no known value of it.",
                UnknownCategoryWarning,
                stacklevel=3,
            )
        out[:] = 0.0
        rows = np.flatnonzero(found >= 0)
        out[rows, found[rows]] = 1.0


@dataclass(frozen=True)
class ColumnEncoder:
    """What is done to a table before it is a matrix; made by `ColumnEncoder.fit`.

    Numbers are scaled, and where they are missing the mean of the training column stands for them.
    Texts, truth values and pandas' categories become one indicator for each value; a value that was
    not there in training gives zeros and an `UnknownCategoryWarning`. A missing text has an
    indicator of its own if there was one in training, and gives zeros otherwise. Columns are found
    by name: their order does not matter, and those that are not needed are ignored.

    Parameters
    ----------
    columns : tuple of Number or Category
        In the order of their features.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelet.machine.columns import ColumnEncoder
    >>> table = {"age": np.array([20.0, 40.0, np.nan]), "colour": np.array(["red", "blue", "red"])}
    >>> encoder = ColumnEncoder.fit(table)
    >>> encoder.feature_names
    ['age', 'colour=blue', 'colour=red']
    >>> encoder.transform(table)
    array([[-1.,  0.,  1.],
           [ 1.,  1.,  0.],
           [ 0.,  0.,  1.]])
    """

    columns: tuple[Number | Category, ...]

    def __post_init__(self) -> None:
        if not self.columns:
            raise ValueError("there is no column to make features of.")
        names = self.names
        if len(set(names)) != len(names):
            twice = next(name for name in names if names.count(name) > 1)
            raise ValueError(f"the column {twice!r} is there twice.")

    @classmethod
    def fit(
        cls,
        columns: Mapping[str, Any] | Any,
        *,
        scaling: str = "standard",
        max_categories: int = 1000,
    ) -> Self:
        """Learn the scales and the categories of a table.

        Parameters
        ----------
        columns : mapping of str to 1-D array, or pandas DataFrame
        scaling : {"standard", "minmax", "none"}, default="standard"
            Numbers to mean 0 and standard deviation 1, to the range from 0 to 1, or as they are.
            A constant column becomes 0 in the first two.
        max_categories : int, default=1000
            A column of more different texts is refused: most often it is a name or a number of
            the row, from which nothing can be learned.

        Returns
        -------
        ColumnEncoder
        """
        if scaling not in SCALINGS:
            raise ValueError(f"scaling must be one of {', '.join(SCALINGS)}, got {scaling!r}.")
        table, _ = table_columns(columns)
        return cls(
            tuple(
                _number(name, column, scaling)
                if is_numeric(name, column)
                else _category(name, column, max_categories)
                for name, column in table.items()
            )
        )

    @property
    def names(self) -> list[str]:
        """Of the columns that a table must have."""
        return [column.name for column in self.columns]

    @property
    def feature_names(self) -> list[str]:
        """Of the columns of the matrix: the column's name, or "column=value" for an indicator."""
        return [name for column in self.columns for name in column.feature_names]

    @property
    def n_features(self) -> int:
        """Columns of the matrix."""
        return len(self.feature_names)

    def transform(self, columns: Mapping[str, Any] | Any) -> FloatArray:
        """The matrix of a table.

        Parameters
        ----------
        columns : mapping of str to 1-D array, or pandas DataFrame

        Returns
        -------
        ndarray of shape (n_rows, n_features)

        Raises
        ------
        MissingColumnError
            If a column is not there.
        ValueError
            If a column of numbers holds something else, or columns differ in length.
        """
        table, n_rows = table_columns(columns, self.names)
        matrix = np.empty((n_rows, self.n_features))
        start = 0
        for column in self.columns:
            stop = start + len(column.feature_names)
            column.write(table[column.name], matrix[:, start:stop])
            start = stop
        return matrix

    def state(self) -> tuple[dict[str, Any], dict[str, FloatArray]]:
        """JSON values and arrays from which `from_state` makes the encoder again."""
        numbers = [column for column in self.columns if isinstance(column, Number)]
        fields = {"columns": [_plain(column) for column in self.columns]}
        arrays = {
            key: np.array([getattr(column, key) for column in numbers], dtype=np.float64)
            for key in ("shift", "scale", "fill")
        }
        return fields, arrays

    @classmethod
    def from_state(cls, fields: Mapping[str, Any], arrays: Mapping[str, FloatArray]) -> Self:
        """The inverse of `state`; raises ValueError for anything that `state` does not return."""
        described = fields.get("columns")
        triples = [arrays[key].tolist() for key in ("shift", "scale", "fill")]
        n_numbers = len(triples[0])
        if not isinstance(described, list) or {len(values) for values in triples} != {n_numbers}:
            raise ValueError("the columns are not described as they should be.")
        if not all(scale > 0 for scale in triples[1]):
            raise ValueError("the scale of a column must be positive.")
        shift, scale, fill = (np.asarray(arrays[key]) for key in ("shift", "scale", "fill"))
        with np.errstate(over="ignore"):
            if not np.isfinite([shift / scale, (fill - shift) / scale]).all():
                raise ValueError("the scale of a column is too small for its numbers.")
        numbers = iter(zip(*triples, strict=True))
        columns = tuple(_column(entry, numbers) for entry in described)
        if sum(isinstance(column, Number) for column in columns) != n_numbers:
            raise ValueError("there are more scales than columns of numbers.")
        return cls(columns)


def _number(name: str, column: Any, scaling: str) -> Number:
    numbers = as_numbers(name, column)
    present = numbers[~np.isnan(numbers)]
    if present.size == 0:
        warnings.warn(f"column {name!r} has no values.", UserWarning, stacklevel=4)
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
    if scaling != "none" and scale <= 10 * np.finfo(np.float64).eps * max(abs(low), abs(high)):
        shift, scale = mean, 1.0
    return Number(name, shift, scale, mean)


def _category(name: str, column: Any, max_categories: int) -> Category:
    texts = set(as_texts(column))
    categories = sorted(text for text in texts if text is not None)
    if len(categories) > max_categories:
        raise ValueError(
            f"column {name!r} holds {len(categories)} different texts, more than "
            f"max_categories={max_categories}; leave it out, or raise the limit."
        )
    if not categories:
        warnings.warn(f"column {name!r} has no values.", UserWarning, stacklevel=4)
    return Category(name, tuple(categories), has_missing=None in texts)


def _plain(column: Number | Category) -> dict[str, Any]:
    if isinstance(column, Number):
        return {"name": column.name, "kind": "number"}
    return {
        "name": column.name,
        "kind": "category",
        "categories": list(column.categories),
        "has_missing": column.has_missing,
    }


def _column(entry: object, numbers: Iterator[tuple[float, ...]]) -> Number | Category:
    if not isinstance(entry, dict) or not isinstance(entry.get("name"), str):
        raise ValueError("a column has no name.")
    name = entry["name"]
    if entry.get("kind") == "number":
        values = next(numbers, None)
        if values is None:
            raise ValueError("there are fewer scales than columns of numbers.")
        return Number(name, *values)
    categories, has_missing = entry.get("categories"), entry.get("has_missing")
    if (
        entry.get("kind") != "category"
        or not isinstance(categories, list)
        or not all(isinstance(category, str) for category in categories)
        or len(set(categories)) != len(categories)
        or not isinstance(has_missing, bool)
    ):
        raise ValueError(f"the column {name!r} is not described as it should be.")
    return Category(name, tuple(categories), has_missing)
