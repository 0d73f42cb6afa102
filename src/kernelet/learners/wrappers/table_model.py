"""A model that takes raw tables: an encoder of the columns, and the estimator behind it."""

from __future__ import annotations

import copy
import os
from collections.abc import Mapping
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import is_regressor
from sklearn.utils.validation import check_is_fitted

from kernelet.learners.base.lazy_prediction import Call
from kernelet.machine import KernelMachine
from kernelet.machine.cells import as_numbers, as_texts, is_missing, is_numeric, table_columns
from kernelet.machine.columns import ColumnEncoder
from kernelet.persistence import ModelFileError, Record, from_record, register, save, to_record
from kernelet.rows import Chunks
from kernelet.rows.opening import is_dask


class TableModel:
    """An encoder of columns with an estimator that is fitted on the encoded columns.

    Parameters
    ----------
    encoder : ColumnEncoder
    estimator : fitted estimator
        For the features of the encoder.
    target : str or None, default=None
        Name of the column that is predicted.

    Attributes
    ----------
    encoder, estimator, target
        As given.
    machine_ : KernelMachine
        Of the estimator.
    classes_ : ndarray of shape (n_classes,)
        Labels of a classifier.
    n_vectors_ : int
        Number of expansion vectors.

    Examples
    --------
    >>> from kernelet import SparseSVC, TableModel
    >>> table = {
    ...     "length": [1.0, 1.2, 0.9, 3.1, 2.8, 3.0],
    ...     "colour": ["red", "red", "blue", "blue", "blue", "red"],
    ...     "fruit": ["cherry", "cherry", "plum", "plum", "plum", "cherry"],
    ... }
    >>> model = TableModel.fit(table, "fruit", SparseSVC(2, C=100.0, random_state=0))
    >>> model.encoder.feature_names
    ['length', 'colour=blue', 'colour=red']
    >>> model.predict({"colour": ["blue", "red"], "length": [2.9, 1.1]}).tolist()
    ['plum', 'cherry']
    """

    def __init__(self, encoder: ColumnEncoder, estimator: Any, target: str | None = None) -> None:
        check_is_fitted(estimator)
        if estimator.n_features_in_ != encoder.n_features:
            raise ValueError(
                f"the estimator is fitted on {estimator.n_features_in_} features, but the columns "
                f"give {encoder.n_features}."
            )
        self.encoder = encoder
        self.estimator = estimator
        self.target = target

    @classmethod
    def fit(
        cls,
        columns: Mapping[str, Any] | Any,
        target: str,
        estimator: Any,
        *,
        scaling: str = "standard",
        max_categories: int = 1000,
        sample_weight: Any = None,
    ) -> Self:
        """Fit an estimator to predict one column of a table from all others.

        Parameters
        ----------
        columns : mapping of str to 1-D array, or pandas DataFrame
        target : str
            The column to be predicted. None of its cells may be missing.
        estimator : estimator of kernelet
            It is fitted in place, not cloned.
        scaling : {"standard", "minmax", "none"}, default="standard"
            How numbers are scaled, see `ColumnEncoder.fit`.
        max_categories : int, default=1000
            See `ColumnEncoder.fit`.
        sample_weight : array-like of shape (n_rows,), default=None
            Weights of the rows.

        Returns
        -------
        TableModel
        """
        if not isinstance(target, str):
            raise TypeError(
                "target must be the name of a column of the table; got "
                f"{type(target).__name__}. Add the targets to the table."
            )
        if not hasattr(estimator, "fit"):
            raise TypeError(
                "estimator must be an estimator of kernelet; got "
                f"{estimator!r}. The order is TableModel.fit(table, target, estimator)."
            )
        table, n_rows = table_columns(columns)
        if n_rows == 0:
            raise ValueError("the table has no rows.")
        labels = read_target(columns, target, numbers=is_regressor(estimator))
        inputs = {name: column for name, column in table.items() if name != target}
        in_few_bits = getattr(estimator, "vector_bits", None) is not None
        encoder = ColumnEncoder.fit(
            inputs, scaling=scaling, max_categories=max_categories, rounded=in_few_bits
        )
        weights = {} if sample_weight is None else {"sample_weight": sample_weight}
        estimator.fit(encoder.transform(inputs), labels, **weights)
        return cls(encoder, estimator, target)

    @property
    def machine_(self) -> KernelMachine:
        """The machine of the estimator."""
        machine: KernelMachine = self.estimator.machine_
        return machine

    @property
    def classes_(self) -> NDArray[Any]:
        """The labels of a classifier."""
        labels: NDArray[Any] = self.estimator.classes_
        return labels

    @property
    def n_vectors_(self) -> int:
        """How many expansion vectors the machine has."""
        return self.machine_.n_vectors

    def predict(self, columns: Mapping[str, Any] | Any) -> NDArray[Any]:
        """The estimator's predictions for the rows of a table.

        Parameters
        ----------
        columns : mapping of str to 1-D array, or pandas DataFrame
            In any order; columns that are not needed are ignored. For a Dask data frame the result
            is a Dask array, and for `Chunks` of data frames it is `Chunks`.

        Returns
        -------
        ndarray of shape (n_rows,)
        """
        predicted: NDArray[Any] = self._outputs("predict", columns)
        return predicted

    def decision_function(self, columns: Mapping[str, Any] | Any) -> NDArray[np.float64]:
        """The estimator's scores, see `predict`."""
        scores: NDArray[np.float64] = self._outputs("decision_function", columns)
        return scores

    def predict_proba(self, columns: Mapping[str, Any] | Any) -> NDArray[np.float64]:
        """The estimator's probabilities, if it has them, see `predict`."""
        if not hasattr(self.estimator, "predict_proba"):
            raise AttributeError(
                f"{type(self.estimator).__name__} has no probabilities; calibrate it first: "
                "kernelet.calibrate."
            )
        shares: NDArray[np.float64] = self._outputs("predict_proba", columns)
        return shares

    def _outputs(self, name: str, columns: Mapping[str, Any] | Any) -> Any:
        method = getattr(self.estimator, name)
        if isinstance(columns, Chunks) or is_dask(columns):
            nothing = method(np.zeros((1, self.encoder.n_features)))[:0]
            return Call(copy.copy(self), name, nothing=nothing).over(columns)
        return method(self.encoder.transform(columns))

    def score(self, columns: Mapping[str, Any] | Any) -> float:
        """The estimator's score on a table that also holds the target: accuracy, or R^2."""
        if self.target is None:
            raise ValueError("the model does not know the name of its target.")
        truth = read_target(columns, self.target, numbers=is_regressor(self.estimator))
        return float(self.estimator.score(self.encoder.transform(columns), truth))

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write encoder and estimator to one file that `kernelet.load` reads.

        Parameters
        ----------
        path : path-like
            By convention it ends in ".kernelet".
        """
        save(self, path)

    def __repr__(self) -> str:
        return (
            f"TableModel({len(self.encoder.names)} columns, {self.encoder.n_features} features, "
            f"{self.estimator!r}, target={self.target!r})"
        )


def read_target(
    columns: Mapping[str, Any] | Any, target: str, *, numbers: bool = False
) -> NDArray[Any]:
    """The column to be predicted: numbers and truth values as they are, all else as texts.

    Raises
    ------
    MissingColumnError
        If there is no such column.
    ValueError
        If a cell is missing, or is not a number where ``numbers`` asks for them.
    """
    column = table_columns(columns, [target])[0][target]
    array = np.asarray(column)
    if array.dtype.kind not in "iub":
        missing = [row for row, cell in enumerate(array.tolist()) if is_missing(cell)]
        if missing:
            raise ValueError(
                f"the target {target!r} is missing in {len(missing)} rows, first in row "
                f"{missing[0]}; leave these rows out."
            )
    if numbers or array.dtype.kind in "iub":
        return as_numbers(target, column) if numbers else array
    if is_numeric(target, column):
        values = as_numbers(target, column)
        whole = values.astype(np.int64)
        # class labels 0, 1, 2 that some reader has turned into floats
        return whole if (whole == values).all() else values
    if array.dtype.kind == "O" and all(isinstance(cell, bool) for cell in array.tolist()):
        return array.astype(bool)
    return np.array(as_texts(column), dtype=str)


def _write(model: TableModel) -> Record:
    parts = {"encoder": to_record(model.encoder), "estimator": to_record(model.estimator)}
    if parts["estimator"].kind in ("Pipeline", "TableModel"):
        raise TypeError(
            "a model file cannot hold a TableModel around a pipeline; fit TableModel with the last "
            "step alone, as it scales the columns itself."
        )
    return Record("TableModel", {"target": model.target}, parts=parts)


def _read(record: Record) -> TableModel:
    estimator = from_record(record.part("estimator"))
    if not hasattr(estimator, "n_features_in_") or not hasattr(estimator, "machine_"):
        raise ModelFileError(f"a {record.part('estimator').kind} where an estimator should be")
    encoder: ColumnEncoder = from_record(record.part("encoder"), ColumnEncoder)
    return TableModel(encoder, estimator, record.optional("target", str))


register(TableModel, _write, _read)
