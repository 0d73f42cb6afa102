"""Records in files of the safetensors layout.

Eight bytes with the length of the header, the header as JSON, and the arrays one after the other.
"""

from __future__ import annotations

import datetime
import json
import os
from typing import Any, BinaryIO

import numpy as np
from safetensors import SafetensorError
from safetensors.numpy import load as from_bytes
from safetensors.numpy import save as to_bytes

from kernelet._hooks import hooks
from kernelet.persistence.atomic import write_atomically
from kernelet.persistence.errors import ModelFileError, one_line
from kernelet.persistence.header import (
    DTYPES,
    FORMAT,
    MAX_HEADER_BYTES,
    Header,
    parse_header,
)
from kernelet.persistence.record import Array, Record, checked
from kernelet.persistence.untrusted import opened, read_exactly, size_of

# A table model of a calibrated classifier of a machine is four deep; files are not trusted.
MAX_PARTS_DEPTH = 8


def write_record(record: Record, path: str | os.PathLike[str]) -> None:
    """Write a record to a file, atomically.

    Raises
    ------
    ValueError
        If the file could not be read again, because it exceeds the limits of model files.
    OSError
        If it cannot be written.
    """
    arrays: dict[str, Array] = {}
    tree = _tree(record, "", arrays)
    content = json.dumps(tree, allow_nan=False, separators=(",", ":"))
    metadata = {
        "format": FORMAT,
        "format_version": str(_version(record)),
        "kernelet_version": hooks.version,
        "saved": now(),
        "model": content,
    }
    data = to_bytes(arrays, metadata=metadata)
    end = 8 + int.from_bytes(data[:8], "little")
    try:
        if end > MAX_HEADER_BYTES:
            raise ModelFileError("names, labels and categories take too many bytes")
        parse_header(data[8:end], len(data))
    except ModelFileError as error:
        raise ValueError(f"this model does not fit into a model file: {error}.") from None
    write_atomically(path, data)


def now() -> str:
    """The time in UTC, as files hold it."""
    return datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")


def _version(record: Record) -> int:
    """The oldest version that can hold a record, so that older readers can read it if possible."""
    return max([record.version, *map(_version, record.parts.values())])


def _tree(record: Record, prefix: str, arrays: dict[str, Array]) -> dict[str, Any]:
    for name, array in record.arrays.items():
        little = array.dtype.newbyteorder("<")
        assert little in DTYPES.values(), f"{name} is of {array.dtype}"
        arrays[prefix + name] = np.array(array, dtype=little, order="C")
    parts = {name: _tree(part, f"{prefix}{name}/", arrays) for name, part in record.parts.items()}
    return {"kind": record.kind, "fields": record.fields, "parts": parts}


def read_header(path: str | os.PathLike[str]) -> Header:
    """Everything but the arrays, with all sizes checked against the size of the file."""
    with opened(path) as stream:
        return _read_header(stream)[1]


def read_record(path: str | os.PathLike[str]) -> Record:
    """The record in a file.

    Raises
    ------
    ModelFileError
        If the file does not hold a record.
    OSError
        If there is no such file, or it cannot be opened.
    """
    with opened(path) as stream:
        start, header = _read_header(stream)
        data = start + read_exactly(stream, header.n_bytes - len(start))
    try:
        found = from_bytes(data)
    except SafetensorError as error:
        raise ModelFileError(f"not in the safetensors layout: {one_line(error)}") from None
    del data
    for name, array in found.items():
        if array.dtype == np.bool_ and array.size and array.view(np.uint8).max() > 1:
            raise ModelFileError(f"the array {name!r} holds a truth value that is neither 0 nor 1")
    record = record_of_tree(header.model, "", found)
    if found:
        raise ModelFileError(f"the array {min(found)!r} belongs to nothing")
    return record


def record_of_tree(tree: object, prefix: str, arrays: dict[str, Array], depth: int = 0) -> Record:
    """A record from its tree; its arrays are removed from the given ones."""
    if depth > MAX_PARTS_DEPTH:
        raise ModelFileError(f"models inside models are more than {MAX_PARTS_DEPTH} levels deep")
    node = Record("a model", checked(tree, dict, "a model"))
    kind, fields = node.value("kind", str), node.value("fields", dict)
    parts = {
        name: record_of_tree(part, f"{prefix}{name}/", arrays, depth + 1)
        for name, part in node.value("parts", dict).items()
    }
    own = [name for name in arrays if name.startswith(prefix) and "/" not in name[len(prefix) :]]
    return Record(kind, fields, {name[len(prefix) :]: arrays.pop(name) for name in own}, parts)


def _read_header(stream: BinaryIO) -> tuple[bytes, Header]:
    n_bytes = size_of(stream)
    length = stream.read(8)
    n_header = int.from_bytes(length, "little")
    if length.startswith(b"{") and n_header > n_bytes - 8:
        raise ModelFileError("not a model file but a text; kernelet.export.read_json reads JSON")
    if len(length) < 8 or n_header > n_bytes - 8:
        raise ModelFileError("not a model file, or one that was cut off")
    if n_header > MAX_HEADER_BYTES:
        raise ModelFileError(f"the header is longer than {MAX_HEADER_BYTES} bytes")
    data = stream.read(n_header)
    return length + data, parse_header(data, n_bytes)
