"""Parameters, labels and names as JSON, and back with their types."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from kernelet.kernels import Kernel
from kernelet.persistence.errors import ModelFileError
from kernelet.persistence.kernels import decode_kernel, encode_kernel
from kernelet.persistence.record import Array, Record, checked

# Depth of nested lists and the like: parameters have two or three levels, Python can read hundreds.
_MAX_DEPTH = 20
# NumPy's type of labels -> JSON's type of each
_LABEL_TYPES: dict[str, Any] = {
    "bool": bool,
    "str": str,
    **dict.fromkeys(("float16", "float32", "float64"), float),
    **dict.fromkeys(("int8", "int16", "int32", "int64"), int),
    **dict.fromkeys(("uint8", "uint16", "uint32", "uint64"), int),
}


def encode_labels(labels: Array) -> dict[str, Any]:
    """Class labels: truth values, numbers or texts, or several of these in an object array."""
    name = "str" if labels.dtype.kind == "U" else labels.dtype.name
    if name in _LABEL_TYPES:
        return {"dtype": name, "values": labels.tolist()}
    values = [value.item() if isinstance(value, np.generic) else value for value in labels.tolist()]
    strange = [value for value in values if type(value) not in (bool, int, float, str)]
    if strange:
        raise ValueError(
            "a model file holds labels that are numbers, truth values or texts, not "
            f"{type(strange[0]).__name__}: {strange[0]!r}."
        )
    return {"dtype": "object", "values": values}


def decode_labels(value: object) -> Array:
    """The inverse of `encode_labels`."""
    coded = Record("labels", checked(value, dict, "labels"))
    dtype, values = coded.value("dtype", str), coded.value("values", list)
    for item in values:
        if type(item) not in (bool, int, float, str):
            raise ModelFileError("a label must be a number, a truth value or text")
        if type(item) is float and not math.isfinite(item):
            raise ModelFileError("a label must be finite")
    if dtype == "object":
        labels: Array = np.empty(len(values), dtype=object)
        labels[:] = values
        return labels
    if dtype not in _LABEL_TYPES:
        raise ModelFileError(f"labels of the unknown type {dtype!r}")
    plain = [checked(item, _LABEL_TYPES[dtype], "a label") for item in values]
    if dtype.startswith(("int", "uint")):
        limits = np.iinfo(dtype)
        if not all(limits.min <= number <= limits.max for number in plain):
            raise ModelFileError(f"a label does not fit into {dtype}")
    return np.array(plain, dtype=dtype)


def check_classes(labels: Array) -> None:
    """Raise ModelFileError unless there are two labels or more, no two of them equal."""
    if labels.size < 2:
        raise ModelFileError("there must be at least two classes")
    if len(set(labels.tolist())) < labels.size:  # True is 1, and 1 is 1.0
        raise ModelFileError("the classes must be different")


def encode_value(value: object, name: str, arrays: dict[str, Array]) -> Any:
    """A parameter as JSON; its arrays are stored separately, under names that begin with ``name``.

    Raises
    ------
    TypeError
        For what a file cannot hold: functions, generators of random numbers, models.
    """
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else {"float": repr(value)}
    if isinstance(value, Kernel):
        return {"kernel": encode_kernel(value, name, arrays)}
    if isinstance(value, list | tuple):
        items = [encode_value(item, f"{name}.{i}", arrays) for i, item in enumerate(value)]
        return {type(value).__name__: items} if type(value) in (list, tuple) else items
    if isinstance(value, Mapping):
        pairs = [
            [encode_value(key, f"{name}.{i}", arrays), encode_value(item, f"{name}.{i}", arrays)]
            for i, (key, item) in enumerate(value.items())
        ]
        return {"dict": pairs}
    if isinstance(value, np.ndarray) and value.dtype.kind in "fiub":
        # files hold these four types, the numbers of all others fit into one of them
        kept = (np.float32, np.float64, np.int64, np.bool_)
        wide = np.float64 if value.dtype.kind == "f" else np.int64
        arrays[name] = value if value.dtype in kept else value.astype(wide, casting="safe")
        return {"array": name}
    if isinstance(value, np.ndarray) and value.ndim == 1:
        return {"labels": encode_labels(value)}
    raise TypeError(f"a model file cannot hold {type(value).__name__} objects")


def decode_value(value: object, record: Record, depth: int = 0) -> Any:
    """The inverse of `encode_value`."""
    if depth > _MAX_DEPTH:
        raise ModelFileError(f"a value is nested more than {_MAX_DEPTH} levels deep")
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, float):
        return checked(value, float, "a value")
    coded = checked(value, dict, "a value")
    if len(coded) != 1:
        raise ModelFileError("a value has no known type")
    ((tag, inner),) = coded.items()
    if tag == "float" and inner in ("nan", "inf", "-inf"):
        return float(inner)
    if tag == "kernel":
        return decode_kernel(checked(inner, dict, "a kernel"), record)
    if tag in ("list", "tuple"):
        items = [decode_value(item, record, depth + 1) for item in checked(inner, list, "a list")]
        return items if tag == "list" else tuple(items)
    if tag == "dict":
        return dict(_pair(pair, record, depth) for pair in checked(inner, list, "a dict"))
    if tag == "labels":
        return decode_labels(inner)
    if tag == "array" and isinstance(inner, str) and inner in record.arrays:
        return np.array(record.arrays[inner])
    raise ModelFileError("a value has no known type")


def _pair(pair: object, record: Record, depth: int) -> tuple[Any, Any]:
    items = checked(pair, list, "an entry of a dict")
    if len(items) != 2 or isinstance(items[0], dict | list):
        raise ModelFileError("an entry of a dict must be a plain key and a value")
    return items[0], decode_value(items[1], record, depth + 1)
