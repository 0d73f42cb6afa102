"""A table in memory: named columns, or the sparse rows of a LIBSVM file."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kernelet.cli.errors import DataError, listed, no_column
from kernelet.cli.tables.notation import Notation
from kernelet.machine.cells import is_missing


@dataclass(frozen=True, eq=False)
class Table:
    """Columns by name; numbers are float or integer arrays, text an array of objects.

    What is missing is NaN in either. A column without a name is called by its place, from 1.

    Attributes
    ----------
    source : str
        The file, for messages.
    columns : dict of str to ndarray
    rows : CSR array or None
        The features of a LIBSVM file; ``columns`` then holds its labels alone.
    first_row : int
        Number of the first row in the file, for messages; rows are counted from 1.
    share : float or None
        How much of the file has been read with the end of this piece, where that is known.
    notation : Notation or None
        How numbers in columns of text are written, where the file or the command line shows it.
    remarks : tuple of str
        What a person should know of how the file was read; the first piece has it.
    """

    source: str
    columns: dict[str, NDArray[Any]]
    rows: Any = None
    first_row: int = 1
    share: float | None = None
    notation: Notation | None = None
    remarks: tuple[str, ...] = ()

    def __len__(self) -> int:
        if self.rows is not None:
            return int(self.rows.shape[0])
        return max((len(values) for values in self.columns.values()), default=0)

    @property
    def names(self) -> list[str]:
        """All columns, those of a LIBSVM file by their index."""
        if self.rows is None:
            return list(self.columns)
        return [*self.columns, *(str(j + 1) for j in range(self.rows.shape[1]))]

    def column(self, name: str) -> NDArray[Any]:
        """A column, or an error that suggests the nearest name."""
        if name in self.columns:
            return self.columns[name]
        if self.rows is not None and self._is_sparse_column(name):
            return self._select_sparse([name])[name]
        raise no_column(name, list(self.columns), self.source)

    def _select_sparse(self, names: list[str]) -> dict[str, NDArray[Any]]:
        sparse = {name: int(name) - 1 for name in names if self._is_sparse_column(name)}
        n_rows, n_columns = self.rows.shape
        places = [j for j in sparse.values() if j < n_columns]
        found = dict(zip(places, self.rows[:, places].toarray().T, strict=True))
        # absent in every row of this file: zero, as LIBSVM has it
        return {
            name: found.get(sparse[name], np.zeros(n_rows)) if name in sparse else self.column(name)
            for name in names
        }

    def _is_sparse_column(self, name: str) -> bool:
        return name not in self.columns and name.isdecimal() and int(name) >= 1

    def select(self, names: Iterable[str]) -> dict[str, NDArray[Any]]:
        """Some columns, in the order asked for."""
        if self.rows is not None:  # all at once: each by itself is a pass over all rows
            return self._select_sparse(list(names))
        return {name: self.column(name) for name in names}

    def plus(self, name: str, values: NDArray[Any]) -> Table:
        """The table with one more column, or with another one in its place."""
        return replace(self, columns={**self.columns, name: values})

    def without(self, *names: str | None) -> Table:
        """The table without some columns, all of which it must have; None is ignored."""
        columns = dict(self.columns)
        for name in dict.fromkeys(names):
            if name is not None and columns.pop(name, None) is None:
                raise no_column(name, list(self.columns), self.source)
        return replace(self, columns=columns)

    def take(self, chosen: Any) -> Table:
        """Some rows, by index or mask."""
        return replace(
            self,
            columns={name: values[chosen] for name, values in self.columns.items()},
            rows=None if self.rows is None else self.rows[chosen],
        )

    def slices(self, length: int) -> Iterator[Table]:
        """The table in pieces of `length` rows."""
        for start in range(0, len(self), length):
            stop = min(start + length, len(self))
            yield replace(
                self.take(slice(start, stop)),
                first_row=self.first_row + start,
                share=stop / len(self),
            )

    def require_rows(self) -> None:
        """Refuse a table without rows."""
        if len(self) == 0:
            raise DataError(f"{self.source} has no rows")


def is_text(values: NDArray[Any]) -> bool:
    """Whether a column holds text."""
    return values.dtype.kind in "OUSb"


def is_number(value: object) -> bool:
    """Whether a cell is a number, or a text that Python reads as one."""
    try:
        float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        return False
    return True


def missing_cells(values: NDArray[Any]) -> NDArray[Any]:
    """Which cells of a column are missing, by the rule of `kernelet.TableModel`."""
    if values.dtype.kind == "f":
        return np.asarray(np.isnan(values))
    if values.dtype.kind == "O":
        return np.fromiter(map(is_missing, values), dtype=bool, count=len(values))
    return np.zeros(len(values), dtype=bool)


def row_numbers(table: Table, mask: NDArray[Any], most: int = 5) -> str:
    """The rows of a mask for a sentence: "row 3", "rows 3, 7 and 12 more"."""
    rows = (np.flatnonzero(mask) + table.first_row).tolist()
    return f"row{'s' if len(rows) > 1 else ''} {listed(rows, most)}"
