"""Fields of a model in JSON, and which of them a model of some kind may have."""

from __future__ import annotations

import math
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from kernelet.learners.compression.compressed_models import READINGS
from kernelet.persistence import ModelFileError, Record
from kernelet.persistence.values import check_classes

T = TypeVar("T")
_LABELS = (bool, int, float, str)


def nullable(record: Record, name: str, kind: type[T]) -> T | None:
    """A field of the given type, or None where it is null; it must be there."""
    if name in record.fields and record.fields[name] is None:
        return None
    return record.value(name, kind)


def only(record: Record, *names: str) -> None:
    """Refuse fields that mean nothing here: they would mean something to the writer."""
    unknown = set(record.fields) - {*names}
    if unknown:
        raise ModelFileError(f"{record.kind} has no {min(unknown)!r}")


def check_reading(record: Record, reading: str) -> None:
    """Refuse what a model of this kind has no use for: it would mean something to its writer."""
    if reading != "scores" and reading not in READINGS:
        raise ModelFileError(f"the reading {reading!r} is not known")
    allowed = {
        "classes": ("classes", "pairs"),
        "votes": ("pairs",),
        "break_ties": ("pairs",),
        "calibration": ("classes", "pairs", "scores"),
        "columns": ("classes", "pairs", "outliers", "values"),
    }
    for name, readings in allowed.items():
        if name not in record.fields and name in ("classes", "calibration", "columns"):
            raise ModelFileError(f"{name!r} of the model is missing; it may be null")
        if record.fields.get(name) is not None and reading not in readings:
            raise ModelFileError(f"{name!r} must be null for {reading}")
    if record.fields.get("calibration") is not None and record.fields.get("votes") is False:
        raise ModelFileError("a calibration of pairs is of their votes, so 'votes' must be true")
    has_shares = reading == "classes" and record.fields.get("calibration") is not None
    if record.optional("labels_by_scores", bool) and not has_shares:
        raise ModelFileError("labels_by_scores has no meaning without a calibration of classes")


def feature_names(record: Record, n_features: int) -> list[str] | None:
    """The names of the features, one for each, if there are any."""
    if record.optional("feature_names", list) is None:
        return None
    names = record.texts("feature_names")
    if len(names) != n_features:
        raise ModelFileError("there must be a name for each feature")
    return names


def labels_of(record: Record) -> NDArray[Any]:
    """The classes: numbers, truth values or texts, two at least and no two equal."""
    values = record.value("classes", list)
    kinds = {type(value) for value in values}
    if not kinds <= {*_LABELS}:
        raise ModelFileError("the classes must be numbers, truth values or texts")
    if any(isinstance(value, float) and not math.isfinite(value) for value in values):
        raise ModelFileError("a label must be finite")
    labels: NDArray[Any] = np.empty(len(values), dtype=object)
    labels[:] = values
    check_classes(labels)
    if len(kinds) == 1 or kinds == {int, float}:
        alike = np.array(values)
        # numbers of different types may have become the same, and texts lose zeros at their ends
        if alike.dtype.kind in "biufU" and alike.tolist() == values:
            return alike
    return labels
