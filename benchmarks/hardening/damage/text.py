"""Ways to damage any text: encodings, line ends, quotes, long lines, compression."""

from __future__ import annotations

import bz2
import gzip
import lzma

import numpy as np

from benchmarks.hardening.damage.bytes_of_any import OF_BYTES, with_foreign_digits

# Bytes of a text that is far longer before it is compressed.
_LONG = 2 * 10**7
_ENCODINGS = (
    "utf-16",
    "utf-16-le",
    "utf-32",
    "utf-8-sig",
    "utf-7",
    "cp037",
    "latin-1",
    "shift_jis",
)
_MARKS = (
    b"\xef\xbb\xbf",
    b"\xff\xfe",
    b"\0\0\xfe\xff",
    b"\xef\xbb\xbf\xef\xbb\xbf",
    b"\x1a",
    b"\f",
)
_PIECES = (
    *(
        b'"',
        b"'",
        b"\\",
        b"#",
        b"\0",
        b"\r",
        b"\n\n",
        b"\r\r\n",
        b"\x0b",
        b"\x85",
        b"\t",
        b" " * 50,
    ),
    *(b",", b";", b"|", b":", b"\xed\xa0\x80", b"\xff", "\u2028\u202e\u0661".encode(), b"\x1b[2J"),
)


def encodings(data: bytes, rng: np.random.Generator, others: list[bytes]) -> bytes:
    """The text is in another encoding, or begins with a mark, or has other digits."""
    text, how = data.decode(), rng.integers(3)
    if how == 0:
        codec = _ENCODINGS[int(rng.integers(len(_ENCODINGS)))]
        return text.encode(codec, errors="replace")
    if how == 1:
        return _MARKS[int(rng.integers(len(_MARKS)))] + data
    return with_foreign_digits(text, rng).encode()


def pieces(data: bytes, rng: np.random.Generator, others: list[bytes]) -> bytes:
    """Quotes, separators, line ends and controls where none should be, once or many times."""
    for _ in range(int(rng.integers(1, 5))):
        place, piece = int(rng.integers(len(data) + 1)), _PIECES[int(rng.integers(len(_PIECES)))]
        data = data[:place] + piece * int(rng.choice([1, 1, 2, 1000])) + data[place:]
    return data


def replaced(data: bytes, rng: np.random.Generator, others: list[bytes]) -> bytes:
    """All of one separator, quote or line end become another, or are gone."""
    old = (b",", b";", b"\t", b"\n", b'"', b" ", b":", b".")
    there = [piece for piece in old if piece in data] or [data[:1]]
    new = (*old, b"", b"\r", b"\r\n", b"|", b"\0", b'""', b"\xc2\xa0")
    return data.replace(there[int(rng.integers(len(there)))], new[int(rng.integers(len(new)))])


def lines(data: bytes, rng: np.random.Generator, others: list[bytes]) -> bytes:
    """Lines are missing, there many times, in another order, or joined."""
    rows, how = data.splitlines(keepends=True), rng.integers(5)
    if how == 0:
        del rows[int(rng.integers(len(rows)))]
    elif how == 1:
        place = int(rng.integers(len(rows)))
        rows[place:place] = [rows[place]] * int(rng.choice([1, 10, 500]))
    elif how == 2:
        rows = [rows[place] for place in rng.permutation(len(rows))]
    elif how == 3:
        rows = rows[: int(rng.choice([0, 1, 2]))]
    else:
        place = int(rng.integers(len(rows)))
        rows[place] = rows[place].rstrip(b"\r\n")
    return b"".join(rows)


def long_lines(data: bytes, rng: np.random.Generator, others: list[bytes]) -> bytes:
    """A line is repeated in itself, or a cell is as long as a book."""
    rows, n = data.splitlines(keepends=True), int(10 ** rng.uniform(1, 4))
    place, how = int(rng.integers(len(rows))), rng.integers(3)
    row = rows[place].rstrip(b"\r\n")
    if how == 0:
        rows[place] = row[: max(1, 3_000 // n)] * n + b"\n"
    elif how == 1:
        rows[place] = row + b"9" * n + b"\n"
    else:
        middle = int(rng.integers(len(row) + 1))
        rows[place] = row[:middle] + b"x" * 10 * n + row[middle:] + b"\n"
    return b"".join(rows)


def compressed(data: bytes, rng: np.random.Generator, others: list[bytes]) -> bytes:
    """The text is compressed, and mostly damaged then; sometimes it is far longer before."""
    compress = (gzip.compress, bz2.compress, lzma.compress)[int(rng.integers(3))]
    if rng.random() < 0.005:
        data += b" 1" * (_LONG // 2)  # in one line
    packed = compress(data)
    if rng.random() < 0.2:
        return packed
    begin = packed[:6]  # by which it is known
    return begin + OF_BYTES[int(rng.integers(len(OF_BYTES)))](packed[6:], rng, [packed])


def ending_of(data: bytes) -> str:
    """What the name of a file ends in, by its first bytes: that of its compression."""
    endings = {b"\x1f\x8b": ".gz", b"BZh": ".bz2", b"\xfd7zXZ": ".xz"}
    return next((ending for begin, ending in endings.items() if data.startswith(begin)), "")


def unpacked_size(data: bytes) -> int:
    """Bytes of a text, no less than there are when it is unpacked."""
    return len(data) + (_LONG if ending_of(data) else 0)


OF_TEXT = (encodings, pieces, replaced, lines, long_lines, compressed)
