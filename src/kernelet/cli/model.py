"""A model from a file, how it is applied to a table, and warnings of values unknown to it."""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from kernelet.cli.errors import DataError, ModelError, listed, nearest, no_column, one_line
from kernelet.cli.output import Output
from kernelet.cli.tables.sources import check_file
from kernelet.cli.tables.table import Table, is_text, missing_cells, row_numbers
from kernelet.cli.tables.text import as_numbers
from kernelet.cli.writing import writing_errors
from kernelet.export import read_json
from kernelet.learners.compression.unwrapping import unwrapped
from kernelet.learners.wrappers.table_model import TableModel
from kernelet.machine import KernelMachine
from kernelet.machine.cells import as_texts
from kernelet.machine.columns import Category, ColumnEncoder, UnknownCategoryWarning
from kernelet.persistence import ModelFileError, load, save

# Lacking columns that are named in a message, and other columns that are compared with each: a wide
# table has more pairs of names than anybody waits for.
_SHOWN, _MOST_NEAR = 8, 1000


def read_model(path: str) -> Model:
    """Read a model file, or a file of `kernelet export --to json`."""
    check_file(path, ModelError)
    is_json = Path(path).suffix.lower() == ".json"
    try:
        content = read_json(path) if is_json else load(path)
    except ModelFileError as error:
        raise ModelError(one_line(error).rstrip(".")) from error
    except OSError as error:
        reason = (error.strerror or one_line(error)).lower()
        raise ModelError(f"{path} cannot be read: {reason}") from error
    return Model(path, content)


def saved_model(
    path: str, estimator: Any, encoder: ColumnEncoder | None, target: str | None
) -> Model:
    """Save an estimator, with the encoding of its columns where there is one."""
    model = Model.of(estimator, encoder, target, path)
    with writing_errors(path):
        save(model.content, path)
    return model


@dataclass(frozen=True, eq=False)
class Model:
    """What a file held: a model of tables, an estimator over a matrix, or a bare machine."""

    path: str
    content: Any

    @classmethod
    def of(
        cls, estimator: Any, encoder: ColumnEncoder | None, target: str | None, path: str = ""
    ) -> Model:
        """An estimator, as a model of tables where there are columns to encode."""
        return cls(path, estimator if encoder is None else TableModel(encoder, estimator, target))

    @property
    def encoder(self) -> Any:
        """The encoder of the columns, if the model takes tables."""
        return getattr(self.content, "encoder", None)

    @property
    def estimator(self) -> Any:
        """What is inside a model of tables, or the model itself."""
        return self.content if self.encoder is None else self.content.estimator

    @property
    def machine(self) -> Any:
        """The kernel machine."""
        inner = unwrapped(self.estimator).model
        for name in ("machine_", "machine"):  # of an estimator, of a calibrated machine
            inner = getattr(inner, name, inner)
        if not isinstance(inner, KernelMachine):
            raise ModelError(f"{self.path} holds a {type(self.content).__name__} without a machine")
        return inner

    @property
    def target(self) -> str | None:
        """The column that it predicts, if it knows its name."""
        if self.encoder is None:  # the `target` of an estimator is that of its bytes
            return None
        target: str | None = self.content.target
        return target

    @property
    def classes(self) -> NDArray[Any]:
        """The labels; a model without any cannot classify."""
        classes: NDArray[Any] | None = getattr(self.estimator, "classes_", None)
        if classes is None:
            raise ModelError(
                f"{self.path} holds a {type(self.estimator).__name__}, which knows no classes; "
                "save the classifier that it belongs to"
            )
        return classes

    @property
    def categories(self) -> dict[str, set[str]]:
        """Columns of the table that hold text, and the texts that they had in training."""
        columns = () if self.encoder is None else self.encoder.columns
        return {c.name: set(c.categories) for c in columns if isinstance(c, Category)}

    @property
    def number_columns(self) -> list[str]:
        """Columns of the table that hold numbers."""
        if self.encoder is None:
            return list(getattr(self.estimator, "feature_names_in_", []))
        return [c.name for c in self.encoder.columns if not isinstance(c, Category)]

    def predict(self, rows: Any, method: str = "predict") -> NDArray[Any]:
        """What a method of the estimator returns for the result of `rows`."""
        with warnings.catch_warnings():
            # the columns were found by name before they became a matrix
            warnings.filterwarnings("ignore", "X does not have valid feature names")
            try:
                return np.asarray(getattr(self.estimator, method)(rows))
            except (AttributeError, ValueError) as error:
                raise ModelError(f"{self.path}: {one_line(error)}") from error

    def rows(self, table: Table) -> Any:
        """The table as the estimator takes it."""
        if self.encoder is not None:
            names = self.encoder.names
            self._require(table, names)
            columns = table.select(names)
            for name in self.number_columns:
                if is_text(columns[name]):
                    columns[name] = as_numbers(table, name)
                _refuse_infinite(table, name, columns[name])
            try:
                return self.encoder.transform(columns)
            except ValueError as error:
                where = f"{table.source}, from row {table.first_row} counted as 0"
                raise DataError(f"{where}: {one_line(error)}") from error
        names = self.number_columns
        if names and table.rows is None:
            self._require(table, names)
            return _stacked(table, names)
        n_features = int(self.machine.n_features)
        if table.rows is not None:
            return _widened(table.rows, n_features)
        names = [name for name in table.columns if name != self.target]
        if len(names) != n_features and any(name.isdecimal() for name in names):
            names = [name for name in names if name.isdecimal()]
        if len(names) != n_features:
            raise DataError(
                f"{table.source} has {len(names)} columns of features, the model in {self.path} "
                f"takes {n_features} without names; give it these alone, in the order of training"
            )
        return _stacked(table, names)

    def _require(self, table: Table, names: list[str]) -> None:
        known = set(table.columns)
        lacking = [name for name in names if name not in known]
        if table.rows is not None:  # what a LIBSVM file does not name is zero
            lacking = [name for name in lacking if not name.isdecimal()]
        if not lacking:
            return
        others = [name for name in table.columns if name not in set(names)]
        if len(lacking) == 1:
            why = ", which the model needs"
            raise no_column(lacking[0], list(table.columns), table.source, why, others)
        near = {name: nearest(name, others[:_MOST_NEAR]) for name in lacking[:_SHOWN]}
        pairs = [f"{there!r} for {name!r}" for name, there in near.items() if there]
        hint = f"rename {', '.join(pairs)}?" if pairs else f"it has {listed(table.columns)}"
        raise DataError(
            f"{table.source} lacks {len(lacking)} of the {len(names)} columns that the model "
            f"needs: {listed(lacking)}; {hint}"
        )


def _refuse_infinite(table: Table, name: str, values: NDArray[Any]) -> None:
    is_infinite = np.isinf(values) if values.dtype.kind == "f" else np.zeros(len(values), bool)
    if is_infinite.any():
        raise DataError(
            f"column {name!r} of {table.source} has an infinite number in "
            f"{row_numbers(table, is_infinite)}; correct it, or leave the row out"
        )


def _stacked(table: Table, names: list[str]) -> NDArray[Any]:
    columns = [
        as_numbers(table, name) if is_text(values) else np.asarray(values, dtype=np.float64)
        for name, values in table.select(names).items()
    ]
    for name, values in zip(names, columns, strict=True):
        _refuse_infinite(table, name, values)
    rows = np.column_stack(columns)
    if np.isnan(rows).any():
        name = names[int(np.flatnonzero(np.isnan(rows).any(axis=0))[0])]
        raise DataError(f"{table.source} misses numbers in column {name!r}; fill them in")
    return rows


def _widened(rows: Any, n_features: int) -> Any:
    """Sparse rows with as many features as the model has: unknown ones dropped, others zero."""
    if rows.shape[1] >= n_features:
        return rows[:, :n_features]
    return csr_array((rows.data, rows.indices, rows.indptr), shape=(rows.shape[0], n_features))


class Surprises:
    """Values that a model has not seen in training: counted over all pieces, reported once."""

    def __init__(self, output: Output) -> None:
        self.output = output
        self.unknown: Counter[str] = Counter()
        self.missing: Counter[str] = Counter()
        self.examples: dict[str, list[str]] = {}

    @contextmanager
    def noted(self, model: Model, table: Table) -> Iterator[None]:
        """Count what the encoding of a piece of the table, in the block, would warn about.

        How the file was read, where a person should know that, is remarked on at once.
        """
        for remark in table.remarks:
            self.output.remark(remark)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("default")
            warnings.simplefilter("always", UnknownCategoryWarning)
            yield
        if model.encoder is None:
            return
        if any(issubclass(item.category, UnknownCategoryWarning) for item in caught):
            for name, known in model.categories.items():
                cells = as_texts(table.column(name))
                texts = [text for text in cells if text is not None and text not in known]
                self.unknown[name] += len(texts)
                # three are shown, a fourth is "..."
                seen = dict.fromkeys([*self.examples.get(name, ()), *texts])
                self.examples[name] = list(seen)[:4]
        for name in model.number_columns:
            if name in table.columns:
                self.missing[name] += int(missing_cells(table.columns[name]).sum())

    def warn(self, n_rows: int) -> None:
        """Print one warning for each column."""
        for name, count in (+self.unknown).items():
            some = self.examples[name]
            shown = listed(some[:3]) + (" ..." if len(some) > 3 else "")
            self.output.warn(
                f"column {name!r} has values that were not there in training ({shown}) in {count} "
                f"of {n_rows} rows; they count as none of the known ones"
            )
        for name, count in (+self.missing).items():
            self.output.warn(
                f"column {name!r} misses {count} of {n_rows} numbers; the mean of the training "
                "rows replaces them"
            )
