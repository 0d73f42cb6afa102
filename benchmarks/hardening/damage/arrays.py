"""Ways to damage npz files: what the archive, its members and the headers of arrays say."""

from __future__ import annotations

import io
import struct
import warnings
import zipfile

import numpy as np

from benchmarks.hardening.damage.bytes_of_any import OF_BYTES, by_name

_SHAPES = (
    *(
        "()",
        "(0,)",
        "(1,)",
        "(24, 0)",
        "(0, 9223372036854775807)",
        "(-1, 2)",
        "(2, 3, 4)",
        "(24.0,)",
    ),
    *("(1099511627776,)", "(4294967296, 4294967296)", "(9223372036854775808,)", "(24, True)", "24"),
    *("[24]", "(" * 300 + ")" * 300, "(" + "1, " * 70 + ")", "(" + "9" * 5000 + ",)", "None"),
)
_TYPES = (
    *("'|O'", "'<U1000000000'", "'<U0'", "'|S5'", "'<c16'", "'<f2'", "'<f16'", "'>f8'", "'|b1'"),
    *("'<M8[s]'", "'<m8'", "'|V8'", "'<i8'", "'|u1'", "[('a', '<f8'), ('b', '<f8')]", "'x'", "8"),
    *(
        "[('a', '|O')]",
        "('<f8', (1000, 1000))",
        "'<f8' * 9",
        "{'names': [], 'formats': []}",
        "None",
    ),
)
_NAMES = (
    "X",
    "X_train",
    "y",
    "",
    "a/b",
    "../up",
    "x" * 3000,
    "\x1b[2J",
    "\u202e",
    "1",
    "y.npy",
    "/",
)
_METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA)
# Numbers of a bomb: 40 MB of zeros, which deflate makes 40 kB of.
_BOMB = 5_000_000


def headers(data: bytes, rng: np.random.Generator, others: list[bytes]) -> bytes:
    """The header of an array lies about its shape or type, or has other fields."""
    members = _members(data)
    name = _chosen(list(members), rng)
    array = members[name]
    start = array.index(b"{")
    end = array.index(b"\n") + 1
    header, how = array[start:end].decode("latin-1"), rng.integers(4)
    shape = header[header.index("(") : header.index(")") + 1]
    if how == 0:
        header = header.replace(shape, _chosen(_SHAPES, rng))
    elif how == 1:
        kind = header.split("'descr': ")[1].split(", 'fortran")[0]
        header = header.replace(kind, _chosen(_TYPES, rng))
    elif how == 2:
        header = header.replace("False", _chosen(("True", "1", "None", "[]", "-1"), rng))
    else:
        header = _chosen(
            ("{}\n", "[" * 5000 + "\n", "1\n", "{'shape': ()}\n", "9" * 9999, "{'\0'\n"), rng
        )
    text, version = header.encode("latin-1"), int(rng.choice([1, 1, 1, 2, 3, 9]))
    size = struct.pack("<H" if version == 1 else "<I", min(len(text), 65_535))
    members[name] = b"\x93NUMPY" + bytes([version, 0]) + size + text + array[end:]
    return _packed(members, rng)


def members(data: bytes, rng: np.random.Generator, others: list[bytes]) -> bytes:
    """Members have other names, other content, or are there twice."""
    found = _members(data)
    name, how = _chosen(list(found), rng), rng.integers(4)
    if how == 0:
        found[_chosen(_NAMES, rng) + _chosen((".npy", ".txt", ""), rng)] = found.pop(name)
    elif how == 1:
        found[name] = rng.bytes(int(rng.integers(300)))
    elif how == 2:
        found[name] = data  # an archive in an archive
    else:
        odd = (
            np.array([{"a": 1}, None], dtype=object),
            rng.normal(size=(24, 3, 2)),
            np.array(["a\0b", "\U0001f600" * 9] * 12),
            np.full(24, np.nan),
            np.full((24, 2), 1e308),
            np.arange(24).astype("datetime64[s]"),
            rng.normal(size=24) * 1j,
            np.array(7.0),
            rng.normal(size=(3, 24)).T,
        )
        found[name] = _array(odd[int(rng.integers(len(odd)))])
    return _packed(found, rng, twice=name if rng.random() < 0.1 else None)


def sizes(data: bytes, rng: np.random.Generator, others: list[bytes]) -> bytes:
    """The directory of the archive lies about sizes, places and methods."""
    changed = bytearray(_packed(_members(data), rng))
    lies = (0, 1, 2**16, 2**31 - 1, 2**32 - 2, 2**32 - 1, len(data))
    for begin, places in ((b"PK\x01\x02", (20, 24, 42)), (b"PK\x03\x04", (18, 22))):
        at = changed.find(begin)
        for _ in range(int(rng.integers(1, 8))):
            following = changed.find(begin, at + 4)
            at = at if following < 0 or rng.random() < 0.5 else following
        place = at + int(rng.choice(places))
        if rng.random() < 0.7 and place + 4 <= len(changed):
            struct.pack_into("<I", changed, place, int(rng.choice(lies)))
    if rng.random() < 0.3:
        at = changed.find(b"PK\x01\x02")
        struct.pack_into("<HH", changed, at + 8, int(rng.choice([0, 1, 8])), int(rng.integers(100)))
    return bytes(changed)


def bombs(data: bytes, rng: np.random.Generator, others: list[bytes]) -> bytes:
    """Zeros that are far longer when they are unpacked, rarely as long as can be."""
    found = _members(data)
    n = _BOMB if rng.random() < 0.02 else 50_000
    name, zeros = _chosen(list(found), rng), np.zeros(n)
    where = _chosen(("array", "behind", "rows"), rng)
    if where == "behind":
        found[name] += zeros.tobytes()
    else:
        found[name] = _array(
            zeros.reshape(24 if n % 24 == 0 else 25, -1) if where == "rows" else zeros
        )
    return _packed(found, rng, method=int(rng.choice(_METHODS[1:])))


MUTATIONS = by_name((*OF_BYTES, headers, members, sizes, bombs))


def _members(data: bytes) -> dict[str, bytes]:
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        return {info.filename: archive.read(info) for info in archive.infolist()}


def _packed(
    found: dict[str, bytes],
    rng: np.random.Generator,
    twice: str | None = None,
    method: int | None = None,
) -> bytes:
    file = io.BytesIO()
    chosen = int(rng.choice(_METHODS, p=[0.5, 0.4, 0.05, 0.05])) if method is None else method
    with zipfile.ZipFile(file, "w", chosen) as archive, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of names that are there twice
        for name, content in found.items():
            archive.writestr(name or "_", content)
            if name == twice:
                archive.writestr(name, content[::-1])
    return file.getvalue()


def _array(array: np.ndarray) -> bytes:
    file = io.BytesIO()
    np.save(file, array)
    return file.getvalue()


def _chosen(texts: list[str] | tuple[str, ...], rng: np.random.Generator) -> str:
    return texts[int(rng.integers(len(texts)))]
