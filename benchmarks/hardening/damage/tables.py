"""Ways to damage text files of tables: csv, and the sparse rows of LIBSVM."""

from __future__ import annotations

import re

import numpy as np

from benchmarks.hardening.damage.bytes_of_any import OF_BYTES, by_name
from benchmarks.hardening.damage.text import OF_TEXT

# What may stand where a number or a text should.
_CELLS = (
    *(
        "",
        " ",
        "nan",
        "-NaN",
        "NA",
        "null",
        "inf",
        "-Infinity",
        "1e999",
        "1e308",
        "-1e308",
        "5e-324",
    ),
    *("9" * 400, "9" * 5000, "0." + "0" * 400 + "1", "1_000", "0x10", "1e", "--1", "+-1", "1.2.3"),
    *("1,5", "1.234,5", "1 000", "1'000", "\u0661\u0662", "\uff11", "1\u00a0000", "1\0", "TRUE"),
    *("2024-01-31", "31.12.24", "12:30", "20240131", "=1+1", "@x", "'1", '"', '""', '"a', 'a"b"c'),
    *('"a\nb"', '"a\rb"', '"1\n2\n3"', "x" * 5000, "\u202ea", "\ud7ff", "\U0001f600", "<b>", "a\\"),
    *(
        "18446744073709551616",
        "-9223372036854775809",
        "9007199254740993",
        "1e-400",
        "\x1b[31m",
        "y",
    ),
)
_NAMES = ("", "y", "a", " a ", "1", "1.5", "x" * 3000, '"a""b"', '"a\nb"', "\x1b[2J", "\u202e", "0")
# Features, as LIBSVM writes them, that are none, or more than any file has.
_FEATURES = (
    *("0:1", "-1:1", "1:1", "1:1 1:2", "9:1 3:1", "2147483647:1", "2147483648:1", "4294967297:1"),
    *("9223372036854775807:1", "9223372036854775808:1", "99999999999999999999:1", "1000000:1"),
    *("200000000:1", "1:", ":1", "1", "1:2:3", "1:nan", "1:inf", "1:1e999", "1:1e308", "1:-1e308"),
    *("1:x", "x:1", "1.5:1", "qid:3", "qid:", "qid:x 1:2", "#", "# 1:2", "1:0x10", "1:0x1p-3"),
    *("1 :1", "1: 1", "1:5e-324", "1:" + "9" * 400, "\u0661:\u0662", "+1:1", "01:1", "1:1,2:1"),
    *("1:1_0", "1:\0", "\0", "1:1;2:1", "'1':1", '"1:1"', "x" * 3000, "9" * 3000 + ":1"),
)
_LABELS = (
    "",
    "nan",
    "inf",
    "1e999",
    "1,2",
    "1,2,3",
    ",",
    "x",
    "0",
    "1.5",
    "9" * 400,
    "1:1",
    "\u0661",
)


def cells(data: bytes, rng: np.random.Generator, others: list[bytes]) -> bytes:
    """Cells become hostile ones: a few anywhere, or all of a column."""
    separator, rows = _split(data)
    column = int(rng.integers(len(rows[0]))) if rng.random() < 0.3 else None
    hostile = [_chosen(_CELLS, rng) for _ in range(int(rng.integers(1, 4)))]
    for row in rows[1:] if column is not None else (rows[int(rng.integers(len(rows)))],):
        place = int(rng.integers(len(row))) if column is None else min(column, len(row) - 1)
        row[place] = _chosen(hostile, rng)
    return _joined(separator, rows)


def ragged(data: bytes, rng: np.random.Generator, others: list[bytes]) -> bytes:
    """Rows have more cells, or fewer."""
    separator, rows = _split(data)
    for _ in range(int(rng.integers(1, 4))):
        row = rows[int(rng.integers(len(rows)))]
        how = rng.integers(3)
        if how == 0:
            del row[int(rng.integers(len(row) + 1)) :]
        elif how == 1:
            row += ["7"] * int(rng.choice([1, 3, 300]))
        else:
            row.insert(int(rng.integers(len(row) + 1)), "")
    return _joined(separator, rows)


def headings(data: bytes, rng: np.random.Generator, others: list[bytes]) -> bytes:
    """Names of columns that are double, empty, numbers, long, or missing."""
    separator, rows = _split(data)
    if rng.random() < 0.2:
        return _joined(separator, rows[1:])
    for _ in range(int(rng.integers(1, 4))):
        rows[0][int(rng.integers(len(rows[0])))] = _chosen(_NAMES, rng)
    return _joined(separator, rows)


def wide(data: bytes, rng: np.random.Generator, others: list[bytes]) -> bytes:
    """Thousands of columns."""
    separator, rows = _split(data)
    n = int(10 ** rng.uniform(1, 3))
    rows = rows[: max(3, 20_000 // n)]
    cell = _chosen(("1", "0.5", "", "a", "9" * 30), rng)
    names = [f"c{place}" if rng.random() < 0.999 else "" for place in range(n)]
    extra = [names, *([cell] * n for _ in rows[1:])]
    return _joined(separator, [[*row, *more] for row, more in zip(rows, extra, strict=True)])


def features(data: bytes, rng: np.random.Generator, others: list[bytes]) -> bytes:
    """Features and labels become hostile ones."""
    rows = [line.split(" ") for line in data.decode().splitlines()]
    for _ in range(int(rng.integers(1, 4))):
        row = rows[int(rng.integers(len(rows)))]
        if rng.random() < 0.2:
            row[0] = _chosen(_LABELS, rng)
        else:
            row.insert(int(rng.integers(1, len(row) + 1)), _chosen(_FEATURES, rng))
    return "\n".join(" ".join(row) for row in [*rows, []]).encode()


def indices(data: bytes, rng: np.random.Generator, others: list[bytes]) -> bytes:
    """All indices are moved, or multiplied; or a row has thousands of features."""
    how, by = rng.integers(3), int(10 ** rng.uniform(0, 12))
    if how == 2:
        n = int(10 ** rng.uniform(1, 4))
        return b"1 " + b" ".join(b"%d:1" % (by + place) for place in range(n)) + b"\n" + data
    return re.sub(
        rb"\b(\d+):", lambda i: b"%d:" % (int(i[1]) * by if how else int(i[1]) + by), data
    )


CSV = by_name((*OF_BYTES, *OF_TEXT, cells, ragged, headings, wide))
LIBSVM = by_name((*OF_BYTES, *OF_TEXT, features, indices))


def _chosen(texts: list[str] | tuple[str, ...], rng: np.random.Generator) -> str:
    return texts[int(rng.integers(len(texts)))]


def _split(data: bytes) -> tuple[str, list[list[str]]]:
    """The separator that occurs most often in the first line, and the cells of all lines."""
    text = data.decode().splitlines()
    separator = max(",;\t|", key=text[0].count)
    return separator, [line.split(separator) for line in text]


def _joined(separator: str, rows: list[list[str]]) -> bytes:
    return "\n".join(separator.join(row) for row in [*rows, []]).encode()
