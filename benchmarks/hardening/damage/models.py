"""Ways to damage a model file, from single bits to headers that lie."""

from __future__ import annotations

import json
import struct

import numpy as np

from benchmarks.hardening.damage.bytes_of_any import (
    OF_BYTES,
    by_name,
    flip_bits,
    insert,
    truncate,
)
from benchmarks.hardening.damage.few_bits import compact_numbers
from benchmarks.hardening.damage.json_text import changed_json
from benchmarks.hardening.damage.model_layout import (
    FLOATS,
    INTEGERS,
    header_bytes,
    header_of,
    itemsize,
    repacked,
    with_header,
)

NUMBERS = (
    float("nan"),
    float("inf"),
    -float("inf"),
    1e308,
    -1e308,
    5e-324,
    0.0,
)


def other_arrays(data: bytes, rng: np.random.Generator, others: list[bytes]) -> bytes:
    """The header of one file with the arrays of another."""
    other = others[int(rng.integers(len(others)))]
    return data[: 8 + header_bytes(data)] + other[8 + header_bytes(other) :]


def header_length(data: bytes, rng: np.random.Generator, others: list[bytes]) -> bytes:
    """The first eight bytes lie about the length of the header."""
    true = header_bytes(data)
    lies = (
        0,
        1,
        true - 1,
        true + 1,
        len(data),
        len(data) - 8,
        2**31,
        2**32 + true,
        2**63,
        2**64 - 1,
    )
    lie = lies[int(rng.integers(len(lies)))] if rng.random() < 0.7 else int(rng.integers(2 * true))
    return struct.pack("<Q", lie) + data[8:]


def header_values(data: bytes, rng: np.random.Generator, others: list[bytes]) -> bytes:
    """Values of the header (shapes, places, types, metadata) become hostile ones."""
    header = header_of(data)
    return with_header(data, changed_json(header, rng))


def model_values(data: bytes, rng: np.random.Generator, others: list[bytes]) -> bytes:
    """Values of the description of the model become hostile ones."""
    header = header_of(data)
    metadata = header["__metadata__"]
    metadata["model"] = changed_json(json.loads(metadata["model"]), rng)
    return with_header(data, json.dumps(header))


def sizes(data: bytes, rng: np.random.Generator, others: list[bytes]) -> bytes:
    """Shapes and places of arrays that fit each other, but not the file."""
    header = header_of(data)
    names = [name for name in header if name != "__metadata__"]
    if not names:
        return truncate(data, rng, others)
    entry = header[names[int(rng.integers(len(names)))]]
    item = itemsize(entry)
    shapes = ([2**20, 2**20], [2**31], [2**62, 2], [0, 2**62], [0, 2**40], [2**20, 0], [1] * 40)
    shape = list(shapes[int(rng.integers(len(shapes)))])
    begin = entry["data_offsets"][0]
    n_bytes = int(np.prod(np.array(shape, dtype=object))) * item
    entry["shape"], entry["data_offsets"] = shape, [begin, begin + n_bytes]
    if n_bytes == 0 and rng.random() < 0.5:
        # with the bytes of the other arrays moved to where they are expected
        return repacked(data, header)
    return with_header(data, json.dumps(header))


def reshape(data: bytes, rng: np.random.Generator, others: list[bytes]) -> bytes:
    """Arrays with other shapes of the same size, other types, or other names."""
    header = header_of(data)
    names = [name for name in header if name != "__metadata__"]
    if not names:
        return flip_bits(data, rng, others)
    name = names[int(rng.integers(len(names)))]
    entry, how = header[name], rng.integers(4)
    if how == 0:
        entry["shape"] = entry["shape"][::-1]
    elif how == 1:
        entry["shape"] = [int(np.prod(entry["shape"]))]
    elif how == 2:
        types = ("I64", "I32", "I16", "I8", "U8", "F32", "F64", "BOOL", "BF16")
        entry["dtype"] = types[int(rng.integers(len(types)))]
    else:
        header[("x", "machine/x", "a/b/c/d", "", "/", "vectors")[int(rng.integers(6))]] = entry
        del header[name]
    return with_header(data, json.dumps(header))


def numbers(data: bytes, rng: np.random.Generator, others: list[bytes]) -> bytes:
    """Numbers in the arrays become NaN, infinite or extreme."""
    start = 8 + header_bytes(data)
    n = (len(data) - start) // 8
    if n == 0:
        return insert(data, rng, others)
    changed = bytearray(data)
    for place in rng.integers(n, size=rng.integers(1, 4)):
        value = NUMBERS[int(rng.integers(len(NUMBERS)))]
        struct.pack_into("<d", changed, start + 8 * int(place), value)
    return bytes(changed)


def extremes(data: bytes, rng: np.random.Generator, others: list[bytes]) -> bytes:
    """Entries of one array become numbers at the ends of their range, all of them finite."""
    header = header_of(data)
    entries = [
        entry
        for name, entry in header.items()
        if name != "__metadata__" and entry["dtype"] in FLOATS and np.prod(entry["shape"])
    ]
    if not entries:
        return flip_bits(data, rng, others)
    entry = entries[int(rng.integers(len(entries)))]
    start, (begin, end) = 8 + header_bytes(data), entry["data_offsets"]
    dtype = np.dtype(FLOATS[entry["dtype"]])
    changed = np.frombuffer(data[start + begin : start + end], dtype=dtype).copy()
    places = rng.random(changed.size) < rng.choice([0.05, 0.5, 1.0])
    places[int(rng.integers(changed.size))] = True
    limits = np.finfo(dtype)
    sizes = [limits.max, limits.max / 2, limits.max**0.5, limits.max**0.9, limits.tiny, 1e-30]
    values = rng.choice(np.array(sizes, dtype=dtype), places.sum())
    changed[places] = values * rng.choice([-1, 1], places.sum()).astype(dtype)
    return data[: start + begin] + changed.tobytes() + data[start + end :]


def integers(data: bytes, rng: np.random.Generator, others: list[bytes]) -> bytes:
    """Entries of one array of integers become the ends of their range, or anything."""
    header = header_of(data)
    entries = [
        entry
        for name, entry in header.items()
        if name != "__metadata__" and entry["dtype"] in INTEGERS and np.prod(entry["shape"])
    ]
    if not entries:
        return extremes(data, rng, others)
    entry = entries[int(rng.integers(len(entries)))]
    start, (begin, end) = 8 + header_bytes(data), entry["data_offsets"]
    dtype = np.dtype(INTEGERS[entry["dtype"]])
    changed = np.frombuffer(data[start + begin : start + end], dtype=dtype).copy()
    places = rng.random(changed.size) < rng.choice([0.05, 0.5, 1.0])
    places[int(rng.integers(changed.size))] = True
    limits = np.iinfo(dtype)
    ends = [limits.min, limits.max, 0, int(rng.integers(limits.min, limits.max, endpoint=True))]
    changed[places] = rng.choice(np.array(ends, dtype=dtype), places.sum())
    return data[: start + begin] + changed.tobytes() + data[start + end :]


def many_values(data: bytes, rng: np.random.Generator, others: list[bytes]) -> bytes:
    """A description that is long, wide or deep."""
    header = header_of(data)
    n = int(rng.integers(1, 20_000))
    piece = ("[],", '"ab",', "257,", "{},", '{"a":[]},')[int(rng.integers(5))]
    texts = (
        "[" + piece * n + "0]",
        "[" * n + "]" * n,
        '{"kind":"KernelMachine","fields":{"kernel":'
        + '{"name":"scale","factor":1.0,"kernel":' * n,
        '{"kind":"KernelMachine","parts":{},"fields":{"kernel":{"name":"sum","terms":['
        + ",".join(['{"name":"rbf","gamma":1.0}'] * (n % 2000 + 1))
        + "]}}}",
        '{"kind":"TableModel","fields":{},"parts":{"estimator":' * (n % 100)
        + "1"
        + "}}" * (n % 100),
    )
    header["__metadata__"]["model"] = texts[int(rng.integers(len(texts)))]
    return with_header(data, json.dumps(header))


MUTATIONS = by_name(
    (
        *OF_BYTES,
        other_arrays,
        header_length,
        header_values,
        model_values,
        sizes,
        reshape,
        numbers,
        extremes,
        integers,
        compact_numbers,
        many_values,
    )
)
