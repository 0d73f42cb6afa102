"""The header of a model file, trusted only after a check against the file's size."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from kernelet.persistence.errors import ModelFileError, one_line
from kernelet.persistence.record import checked
from kernelet.persistence.untrusted import strict_json

FORMAT = "kernelet"
FORMAT_VERSION = 3  # the newest that is read; a file is written in the oldest that can hold it

DTYPES: dict[str, np.dtype[Any]] = {
    "F32": np.dtype("<f4"),
    "F64": np.dtype("<f8"),
    "I64": np.dtype("<i8"),
    "I32": np.dtype("<i4"),
    "I16": np.dtype("<i2"),
    "I8": np.dtype("i1"),
    "U8": np.dtype("u1"),
    "BOOL": np.dtype("?"),
}

# Limits on what a file may ask for before anything in it has been checked.
MAX_HEADER_BYTES = 100_000_000  # as safetensors has it
# Memory that Python takes for an object or a list of JSON, and for any other value: three bytes of
# text can become eighty times as many. What is parsed may take _JSON_FACTOR times the file's bytes
# and _JSON_CONSTANT bytes more.
_CONTAINER_BYTES, _VALUE_BYTES = 240, 64
_JSON_FACTOR, _JSON_CONSTANT = 6, 2 * 2**20
# Ours have two at most, NumPy's up to 32 or 64.
MAX_DIMENSIONS = 8
# An array without entries takes no bytes in the file, whatever its other dimensions are.
MAX_EMPTY_DIMENSION = 2**20


@dataclass(frozen=True)
class Entry:
    """The type and shape of an array, and its position behind the header."""

    dtype: np.dtype[Any]
    shape: tuple[int, ...]
    begin: int
    end: int


@dataclass(frozen=True)
class Header:
    """All that a file says before its arrays.

    Attributes
    ----------
    metadata : dict of str to str
    entries : dict of str to Entry
    model : dict
        The record's tree without arrays.
    n_bytes : int
        Of the whole file.
    """

    metadata: dict[str, str]
    entries: dict[str, Entry]
    model: dict[str, Any]
    n_bytes: int


def parse_header(data: bytes, n_bytes: int) -> Header:
    """Parse and check a header.

    Parameters
    ----------
    data : bytes
        The header without its length.
    n_bytes : int
        Size of the file.

    Raises
    ------
    ModelFileError
        If anything in it is wrong.
    """
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        raise ModelFileError("not a model file: the header is not UTF-8 text") from None
    complaint = "not a model file: the header is not JSON"
    head = checked(_json(text, n_bytes, complaint), dict, "the header")
    metadata = head.pop("__metadata__", None)
    if not isinstance(metadata, dict) or metadata.get("format") != FORMAT:
        raise ModelFileError("a safetensors file, but not one of kernelet")
    for name, value in metadata.items():
        checked(value, str, f"{name!r} in the metadata")
    _check_version(metadata)
    entries = {name: _entry(name, value) for name, value in head.items()}
    _check_places(entries, n_bytes - 8 - len(data))
    if "model" not in metadata:
        raise ModelFileError("the metadata describe no model")
    complaint = "the description of the model is not JSON"
    content = _json(metadata.pop("model"), n_bytes, complaint)
    return Header(metadata, entries, checked(content, dict, "the model"), n_bytes)


def _json(text: str, n_bytes: int, complaint: str) -> object:
    memory = _CONTAINER_BYTES * (text.count("[") + text.count("{")) + _VALUE_BYTES * text.count(",")
    if memory > _JSON_FACTOR * n_bytes + _JSON_CONSTANT:
        raise ModelFileError("the header holds more values than a file of this size may")
    return strict_json(text, complaint)


def _check_version(metadata: dict[str, str]) -> None:
    text = metadata.get("format_version", "")
    if not (text.isascii() and text.isdigit() and 0 < len(text) < 10 and int(text) >= 1):
        raise ModelFileError("the format version is missing or not a number")
    if int(text) > FORMAT_VERSION:
        writer = metadata.get("kernelet_version", "")
        raise ModelFileError(
            f"written by a newer kernelet ({one_line(ValueError(writer))}, format version {text}; "
            f"this one reads up to {FORMAT_VERSION}); upgrade kernelet"
        )


def _entry(name: str, value: object) -> Entry:
    what = f"the array {name!r}"
    entry = checked(value, dict, what)
    dtype, shape, offsets = (entry.get(key) for key in ("dtype", "shape", "data_offsets"))
    if not isinstance(dtype, str) or dtype not in DTYPES:
        raise ModelFileError(f"{what} must be one of {', '.join(DTYPES)}, not {dtype!r}")
    for numbers in (shape, offsets):
        if not isinstance(numbers, list) or not all(type(n) is int and n >= 0 for n in numbers):
            raise ModelFileError(f"{what} has no proper shape or place")
    assert isinstance(shape, list)
    assert isinstance(offsets, list)
    if len(offsets) != 2 or len(shape) > MAX_DIMENSIONS:
        raise ModelFileError(f"{what} has no proper shape or place")
    if math.prod(shape) == 0 and max(shape) > MAX_EMPTY_DIMENSION:
        raise ModelFileError(f"{what} is empty but has a dimension above {MAX_EMPTY_DIMENSION}")
    if math.prod(shape) * DTYPES[dtype].itemsize != offsets[1] - offsets[0]:
        raise ModelFileError(f"{what} has a shape that does not fit its size")
    return Entry(DTYPES[dtype], tuple(shape), offsets[0], offsets[1])


def _check_places(entries: dict[str, Entry], n_bytes: int) -> None:
    """The arrays fill what is behind the header, without gaps and overlaps."""
    end = 0
    for name, entry in sorted(entries.items(), key=lambda item: (item[1].begin, item[1].end)):
        if entry.begin != end:
            raise ModelFileError(f"the array {name!r} does not begin where the one before it ends")
        end = entry.end
    if end != n_bytes:
        what = "was cut off" if end > n_bytes else "is longer than it should be"
        raise ModelFileError(f"the file {what}: {n_bytes} bytes of arrays instead of {end}")
