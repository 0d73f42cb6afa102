"""The layout of model files, for programs that damage them: headers, and arrays by name."""

from __future__ import annotations

import json
import struct
from typing import Any

import numpy as np

FLOATS = {"F32": "<f4", "F64": "<f8"}
INTEGERS = {"U8": "u1", "I8": "i1", "I16": "<i2", "I32": "<i4", "I64": "<i8", "BOOL": "u1"}


def header_bytes(data: bytes) -> int:
    """The length of the header, by the first eight bytes."""
    return struct.unpack("<Q", data[:8])[0]


def header_of(data: bytes) -> dict[str, Any]:
    """The header: an entry for each array, and the metadata."""
    header: dict[str, Any] = json.loads(data[8 : 8 + header_bytes(data)])
    return header


def with_header(data: bytes, header: str) -> bytes:
    """The file with another header, and its length, in front of the same arrays."""
    text = header.encode()
    return struct.pack("<Q", len(text)) + text + data[8 + header_bytes(data) :]


def repacked(data: bytes, header: dict[str, Any]) -> bytes:
    """The arrays one after the other, in the order and sizes that the header states."""
    old = header_of(data)
    start, pieces, end = 8 + header_bytes(data), [], 0
    for name in old:
        if name == "__metadata__":
            continue
        a, b = header[name]["data_offsets"]
        a0 = old[name]["data_offsets"][0]
        pieces.append(data[start + a0 : start + a0 + (b - a)])
        header[name]["data_offsets"] = [end, end + (b - a)]
        end += b - a
    return with_header(data[:start], json.dumps(header)) + b"".join(pieces)


def itemsize(entry: dict[str, Any]) -> int:
    """Bytes of a number of an array."""
    return np.dtype({**FLOATS, **INTEGERS}.get(entry["dtype"], "u1")).itemsize


def pieces_of(data: bytes) -> dict[str, bytes]:
    """The bytes of every array."""
    start = 8 + header_bytes(data)
    return {
        name: data[start + entry["data_offsets"][0] : start + entry["data_offsets"][1]]
        for name, entry in header_of(data).items()
        if name != "__metadata__"
    }


def joined(header: dict[str, Any], pieces: dict[str, bytes]) -> bytes:
    """A file of a header and the bytes of its arrays, one behind the other."""
    end = 0
    for name, piece in pieces.items():
        header[name]["data_offsets"] = [end, end + len(piece)]
        end += len(piece)
    text = json.dumps(header).encode()
    return struct.pack("<Q", len(text)) + text + b"".join(pieces.values())
