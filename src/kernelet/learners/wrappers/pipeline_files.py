"""Models of scikit-learn in model files: scalers, pipelines of them, and what becomes a machine."""

from __future__ import annotations

import inspect
import math
from typing import Any

import numpy as np
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import MaxAbsScaler, MinMaxScaler, RobustScaler, StandardScaler

from kernelet.kernels.silence import silenced
from kernelet.learners.base.model_file import read_common, write_common
from kernelet.learners.compression.column_steps import table_encoder
from kernelet.learners.compression.compressed_models import CompressedRegressor
from kernelet.learners.compression.exact_conversion import (
    converted,
    in_units_of_targets,
    warn_of_losses,
)
from kernelet.learners.compression.sklearn_adapters import adapt
from kernelet.learners.compression.unwrapping import Unwrapped, unwrapped
from kernelet.learners.wrappers.table_model import TableModel
from kernelet.persistence import ModelFileError, Record, from_record, register, to_record
from kernelet.persistence.predictors import ORDINARY_NUMBERS
from kernelet.persistence.values import decode_value, encode_value

# The fitted numbers of each scaler, one for each column, and the parameter without which they may
# be missing.
_FITTED: dict[type, dict[str, str | None]] = {
    StandardScaler: {"mean_": "with_mean", "scale_": "with_std"},
    MinMaxScaler: {"min_": None, "scale_": None, "data_min_": None},
    MaxAbsScaler: {"scale_": None},
    RobustScaler: {"center_": "with_centering", "scale_": "with_scaling"},
}


def savable(model: object) -> object:
    """A model that predicts the same, of a kind that files can hold.

    Parameters
    ----------
    model : fitted estimator
        That files cannot hold as it is.

    Raises
    ------
    TypeError
        If there is none; the message says what to do instead.
    """
    try:
        inner = unwrapped(model)
        warn_of_losses(inner)
        estimator = inner.calibrated(_estimator(inner))
    except TypeError as error:
        raise TypeError(
            f"a model file cannot hold {type(model).__name__} objects: {error} Other models can be "
            "saved with skops.io."
        ) from error
    if not inner.steps:
        return estimator
    encoder = table_encoder(inner.steps)
    if encoder is not None:
        return TableModel(encoder, estimator, getattr(model, "target", None))
    last = model.steps[-1][0] if isinstance(model, Pipeline) else "model"
    names = [*(name for name, _ in inner.steps), last]
    steps = [*(step for _, step in inner.steps), estimator]
    if len({*names}) < len(names):
        return make_pipeline(*steps)
    return Pipeline(list(zip(names, steps, strict=True)))


def _estimator(inner: Unwrapped) -> Any:
    """The innermost model as an estimator, its values in the units of the targets."""
    if not inner.targets:
        return converted(inner.model)
    machine = in_units_of_targets(adapt(inner.model).machine, inner)
    figures = {"error_norm_": 0.0, "relative_error_": 0.0}
    return CompressedRegressor.from_machine(machine, inner.model, **figures)


def _write_pipeline(pipeline: Pipeline) -> Record:
    flat = savable(pipeline)
    if not isinstance(flat, Pipeline):  # there was nothing in front of the estimator
        return to_record(flat)
    *before, (_, last) = flat.steps
    parts = {f"step{place}": _scaler_record(*step) for place, step in enumerate(before)}
    parts["estimator"] = to_record(last)
    return Record("Pipeline", {"steps": [name for name, _ in flat.steps]}, parts=parts)


def _scaler_record(name: str, step: Any) -> Record:
    if type(step) not in _FITTED:
        raise TypeError(
            f"a model file cannot hold the step {name!r} of the pipeline, {type(step).__name__}; "
            "it holds StandardScaler, MinMaxScaler, MaxAbsScaler, RobustScaler and a "
            "ColumnTransformer of these and OneHotEncoder. Save the last step, kernelet.save("
            "pipeline[-1], path), and the others with skops.io; or fit a kernelet.TableModel, "
            "which encodes the columns of a data frame itself."
        )
    return to_record(step)


def _read_pipeline(record: Record) -> Pipeline:
    names = record.texts("steps")
    if not names or len({*names}) < len(names) or any(not name or "__" in name for name in names):
        raise ModelFileError("the steps of a pipeline must have names, no two of them equal")
    kinds = tuple(_FITTED)
    steps = [from_record(record.part(f"step{place}"), kinds) for place, _ in enumerate(names[:-1])]
    estimator = from_record(record.part("estimator"))
    if not hasattr(estimator, "n_features_in_") or not hasattr(estimator, "machine_"):
        raise ModelFileError(f"a {record.part('estimator').kind} where an estimator should be")
    if any(step.n_features_in_ != estimator.n_features_in_ for step in steps):
        raise ModelFileError("the steps of the pipeline are for different numbers of features")
    for size in (-ORDINARY_NUMBERS, ORDINARY_NUMBERS):
        _check_range(steps, size, estimator.n_features_in_)
    return Pipeline(list(zip(names, [*steps, estimator], strict=True)))


def _check_range(steps: list[Any], size: float, n_features: int) -> None:
    """Refuse scales so small that rows of ordinary size become infinite."""
    rows = np.full((1, n_features), size)
    with np.errstate(all="ignore"), silenced(UserWarning, "X does not have valid feature names"):
        for step in steps:
            rows = step.transform(rows)
            if not np.isfinite(rows).all():
                raise ModelFileError("a scale of the pipeline is too small for its numbers")


def _write_scaler(scaler: Any) -> Record:
    record = write_common(scaler)
    defaults = inspect.signature(type(scaler)).parameters
    # without defaults, so that versions of scikit-learn that lack a parameter can read the file
    record.fields["params"] = {
        name: encode_value(value, f"params.{name}", record.arrays)
        for name, value in scaler.get_params().items()
        if value != defaults[name].default
    }
    for name in _FITTED[type(scaler)]:
        numbers = getattr(scaler, name, None)
        if numbers is None:
            continue
        if not np.isfinite(numbers).all():
            raise ValueError(
                f"{name} of {type(scaler).__name__} holds NaN or infinity, which a model file "
                "cannot hold; leave out columns without numbers."
            )
        record.arrays[name] = np.asarray(numbers)
    return record


def _read_scaler(kind: type, record: Record) -> Any:
    params = record.value("params", dict)
    unknown = {*params} - {*inspect.signature(kind).parameters}
    if unknown:
        raise ModelFileError(
            f"{record.kind} has no parameter {min(unknown)!r} here; upgrade scikit-learn"
        )
    scaler: Any = kind(**{name: decode_value(value, record) for name, value in params.items()})
    scaler._validate_params()
    read_common(scaler, record)
    for name in _FITTED[kind]:
        setattr(scaler, name, _numbers(scaler, record, name) if name in record.arrays else None)
    _complete(scaler)
    return scaler


def _numbers(scaler: Any, record: Record, name: str) -> Any:
    numbers = np.array(record.floats(name, 1))
    if numbers.shape != (scaler.n_features_in_,):
        raise ModelFileError(f"{name!r} of {record.kind} must hold a number for each feature")
    if name == "scale_" and not (numbers > 0.0).all():
        raise ModelFileError(f"the scales of {record.kind} must be positive")
    return numbers


def _complete(scaler: Any) -> None:
    """Check what is there, and set the attributes that follow from it."""
    kind = type(scaler)
    for name, switch in _FITTED[kind].items():
        if getattr(scaler, name) is None and (switch is None or getattr(scaler, switch)):
            raise ModelFileError(f"the array {name!r} of {kind.__name__} is missing")
    if kind is MaxAbsScaler:
        scaler.max_abs_ = scaler.scale_
    elif kind is MinMaxScaler:
        low, high = scaler.feature_range
        if not (math.isfinite(low) and math.isfinite(high) and low < high):
            raise ModelFileError("the feature_range of MinMaxScaler must be two numbers in order")
        scaler.data_range_ = (high - low) / scaler.scale_
        scaler.data_max_ = scaler.data_min_ + scaler.data_range_
    elif kind is StandardScaler:
        scaler.var_ = None if scaler.scale_ is None else scaler.scale_**2


def _reader(kind: type) -> Any:
    return lambda record: _read_scaler(kind, record)


register(Pipeline, _write_pipeline, _read_pipeline)
for _scaler in _FITTED:
    register(_scaler, _write_scaler, _reader(_scaler))
