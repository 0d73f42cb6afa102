"""From the columns of a table to the rows of a matrix, with NumPy alone."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from kernelet.kernels.numerics.arrays import FloatArray
from kernelet.machine.cells import MissingColumnError, is_numeric, table_columns
from kernelet.machine.column_kinds import (
    SCALINGS,
    Category,
    Number,
    UnknownCategoryWarning,
    category_column,
    number_column,
)
from kernelet.machine.rounded_columns import with_rounded_numbers

__all__ = ["Category", "ColumnEncoder", "MissingColumnError", "Number", "UnknownCategoryWarning"]


@dataclass(frozen=True)
class ColumnEncoder:
    """What is done to a table before it is a matrix; made by `ColumnEncoder.fit`.

    Numbers are scaled, and missing ones replaced by the mean of the training column. Texts, truth
    values and pandas' categories become one indicator for each value; a value not seen in training
    gives zeros and an `UnknownCategoryWarning`. A missing text has an indicator of its own if one
    was missing in training, and gives zeros otherwise. Columns are found by name: their order does
    not matter, and those that are not needed are ignored.

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
            twice = next(name for name, times in Counter(names).items() if times > 1)
            raise ValueError(f"the column {twice!r} appears twice.")

    @classmethod
    def fit(
        cls,
        columns: Mapping[str, Any] | Any,
        *,
        scaling: str = "standard",
        max_categories: int = 1000,
        rounded: bool = False,
    ) -> Self:
        """Learn the scales and the categories of a table.

        Parameters
        ----------
        columns : mapping of str to 1-D array, or pandas DataFrame
        scaling : {"standard", "minmax", "none"}, default="standard"
            Numbers to mean 0 and standard deviation 1, to the range from 0 to 1, or as they are.
            A constant column becomes 0 in the first two.
        max_categories : int, default=1000
            A column with more different texts is refused: it is most often a name or an identifier,
            from which nothing can be learned.
        rounded : bool, default=False
            Round scales to 4 % and shifts to a 16th of a scale, so that C stores two or three bytes
            for a column instead of eight.

        Returns
        -------
        ColumnEncoder
        """
        if scaling not in SCALINGS:
            raise ValueError(f"scaling must be one of {', '.join(SCALINGS)}, got {scaling!r}.")
        table, _ = table_columns(columns)
        learned = tuple(
            number_column(name, column, scaling)
            if is_numeric(name, column)
            else category_column(name, column, max_categories)
            for name, column in table.items()
        )
        return cls(with_rounded_numbers(learned) if rounded else learned)

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
        with np.errstate(over="ignore"):
            for column in self.columns:
                stop = start + len(column.feature_names)
                column.write(table[column.name], matrix[:, start:stop])
                start = stop
            # the sum of squares is quicker than np.isfinite, and finite unless it overflows
            is_finite = np.isfinite(np.vdot(matrix, matrix))
        if not is_finite and not np.isfinite(matrix).all():
            self._refuse_far_numbers(table, matrix)
        return matrix

    def _refuse_far_numbers(self, table: Mapping[str, Any], matrix: FloatArray) -> None:
        row, place = np.argwhere(~np.isfinite(matrix))[0]
        name = self.feature_names[place]
        value = float(np.asarray(table[name])[row])
        raise ValueError(
            f"column {name!r} holds {value:.0e} in row {row}, which divided by the scale of its "
            "training values is not finite; is it in the units of training?"
        )

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
        or "" in categories  # which is a missing value
        or not isinstance(has_missing, bool)
    ):
        raise ValueError(f"the column {name!r} is not described as it should be.")
    return Category(name, tuple(categories), has_missing)
