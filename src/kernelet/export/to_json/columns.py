"""What JSON says of the columns of a table, or of scalers, in front of an estimator."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler

from kernelet.export.to_json.fields import nullable, only
from kernelet.learners.wrappers.table_model import TableModel
from kernelet.machine.columns import ColumnEncoder
from kernelet.persistence import ModelFileError, Record
from kernelet.persistence.record import checked


def with_columns(record: Record, estimator: Any) -> Any:
    """The estimator behind the columns or the scalers of a document, if it has any."""
    given = nullable(record, "columns", list)
    if given is None:
        return estimator
    columns = [Record("a column", checked(entry, dict, "a column")) for entry in given]
    numbers = [column for column in columns if _is_number(column)]
    fills = [nullable(column, "fill", float) for column in numbers]
    arrays = {
        "shift": np.array([column.value("shift", float) for column in numbers]),
        "scale": np.array([column.value("scale", float) for column in numbers]),
    }
    # a scaler leaves what is missing
    is_scaler = len(numbers) == len(columns) and all(fill is None for fill in fills)
    if not is_scaler and None in fills:
        raise ModelFileError("the fill of a column must be a number, or null in all columns")
    arrays["fill"] = np.array([0.0 if fill is None else fill for fill in fills])
    # as model files have it, with all that is checked there
    fields = {"columns": [column.fields for column in columns]}
    encoder = ColumnEncoder.from_state(fields, arrays)
    if is_scaler:
        return _pipeline(arrays["shift"], arrays["scale"], estimator)
    return TableModel(encoder, estimator, record.optional("target", str))


def _is_number(column: Record) -> bool:
    kind = column.value("kind", str)
    if kind == "number":
        only(column, "name", "kind", "shift", "scale", "fill")
    elif kind == "category":
        only(column, "name", "kind", "categories", "has_missing")
    else:
        raise ModelFileError(f"the kind {kind!r} of a column is not known")
    return kind == "number"


def _pipeline(shift: NDArray[Any], scale: NDArray[Any], estimator: Any) -> Pipeline:
    scaler = StandardScaler()
    scaler.mean_, scaler.scale_ = shift, scale
    scaler.var_, scaler.n_samples_seen_ = scale**2, 1
    scaler.n_features_in_ = len(scale)
    if len(scale) != estimator.n_features_in_:
        raise ModelFileError("there must be a scale for each feature")
    return make_pipeline(scaler, estimator)
