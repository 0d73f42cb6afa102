"""What JSON says of the columns of a table, or of scalers, in front of an estimator."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler

from kernelet.learners.table_model import TableModel
from kernelet.machine.columns import Category, ColumnEncoder, Number
from kernelet.persistence import ModelFileError, Record
from kernelet.persistence.record import checked


def with_columns(record: Record, estimator: Any) -> Any:
    """The estimator behind the columns or the scalers of a document, if it has any."""
    given = record.optional("columns", list)
    if given is None:
        return estimator
    columns = [_column(Record("a column", checked(entry, dict, "a column"))) for entry in given]
    bare = [c for c in columns if isinstance(c, Number) and np.isnan(c.fill)]
    if len(bare) == len(columns):
        return _pipeline(bare, estimator)
    if bare:
        raise ModelFileError("the fill of a column must be a number, or null in all columns")
    return TableModel(ColumnEncoder(tuple(columns)), estimator, record.optional("target", str))


def _column(told: Record) -> Number | Category:
    name = told.value("name", str)
    if told.value("kind", str) == "number":
        shift, scale = told.value("shift", float), told.value("scale", float)
        fill = told.optional("fill", float)
        if not scale > 0:
            raise ModelFileError(f"the scale of the column {name!r} must be positive")
        return Number(name, shift, scale, np.nan if fill is None else fill)
    if told.value("kind", str) != "category":
        raise ModelFileError(f"the kind of the column {name!r} is not known")
    categories = told.texts("categories")
    if len(set(categories)) < len(categories):
        raise ModelFileError(f"a category of the column {name!r} is there twice")
    return Category(name, tuple(categories), told.value("has_missing", bool))


def _pipeline(columns: list[Number], estimator: Any) -> Pipeline:
    scaler = StandardScaler()
    scaler.mean_ = np.array([column.shift for column in columns])
    scaler.scale_ = np.array([column.scale for column in columns])
    scaler.var_, scaler.n_samples_seen_ = scaler.scale_**2, 1
    scaler.n_features_in_ = len(columns)
    if len(columns) != estimator.n_features_in_:
        raise ModelFileError("there must be a scale for each feature")
    return make_pipeline(scaler, estimator)
