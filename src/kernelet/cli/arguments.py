"""Arguments that several commands take, and the numbers that the command line accepts."""

from __future__ import annotations

import argparse
import re
from collections.abc import Callable
from typing import TypeVar

SCALINGS = ("standard", "minmax", "none")
# Vectors that are not rounded, among numbers of bits.
FLOATS = "float32"
# Those of kernelet.machine.rounding, repeated because --help imports no NumPy; a test compares the
# two.
FEWEST_BITS, MOST_BITS = 2, 16
# A kB is 1000 bytes, as for everything in kernelet that prints bytes.
_BYTES = re.compile(r"(\d+(?:\.\d+)?) ?(k|M)?B?", re.IGNORECASE)
_UNITS = {"": 1, "k": 1000, "m": 1_000_000}
Number = TypeVar("Number", int, float)


def _checked(
    kind: type[Number], is_valid: Callable[[Number], bool], wanted: str
) -> Callable[[str], Number]:
    """A function for argparse that reads a number, or says what is wanted instead."""

    def read(text: str) -> Number:
        try:
            value = kind(text)
        except ValueError:
            value = None
        if value is None or not is_valid(value):
            raise argparse.ArgumentTypeError(f"must be {wanted}, got {text!r}")
        return value

    return read


count = _checked(int, lambda value: value >= 1, "a whole number of at least 1")
_count_unless_auto = _checked(
    int, lambda value: value >= 1, "a whole number of at least 1, or auto"
)
positive = _checked(float, lambda value: 0.0 < value < float("inf"), "a number above zero")
share = _checked(float, lambda value: 0.0 <= value < 1.0, "a number between 0 and 1")
# the seeds of NumPy's RandomState, which scikit-learn uses
seed = _checked(int, lambda value: 0 <= value < 2**32, "a whole number from 0 to 2^32 - 1")


def gamma(text: str) -> float | str:
    """A number above zero, or a name that scikit-learn knows too."""
    return text if text in ("scale", "auto") else positive(text)


def count_or_auto(text: str) -> int | str:
    """A whole number of at least 1, or "auto"."""
    return text if text == "auto" else _count_unless_auto(text)


def counts(text: str) -> list[int]:
    """Numbers of at least 1 between commas, in order and each once.

    Examples
    --------
    >>> counts("20, 5,10,5")
    [5, 10, 20]
    """
    try:
        return sorted({count(part) for part in text.split(",")})
    except argparse.ArgumentTypeError:
        raise argparse.ArgumentTypeError(
            f"must be whole numbers between commas, got {text!r}"
        ) from None


def n_bytes(text: str) -> int:
    """A number of bytes.

    Examples
    --------
    >>> n_bytes("4096"), n_bytes("4k"), n_bytes("1.5 kB")
    (4096, 4000, 1500)
    """
    found = _BYTES.fullmatch(text.strip())
    value = int(float(found[1]) * _UNITS[(found[2] or "").lower()]) if found else 0
    if value < 1:
        raise argparse.ArgumentTypeError(
            f"must be a number of bytes such as 4096, 4k or 4kB (4000 bytes), got {text!r}"
        )
    return value


def bits(text: str) -> list[int | None]:
    """Numbers of bits between commas, in order and each once; None for float32, the last.

    Examples
    --------
    >>> bits("8,float32,4")
    [4, 8, None]
    """
    parts = [part.strip() for part in text.split(",")]
    known = {str(number): number for number in range(FEWEST_BITS, MOST_BITS + 1)}
    if not {*parts} <= {*known, FLOATS}:
        raise argparse.ArgumentTypeError(
            f"must be numbers of bits from {FEWEST_BITS} to {MOST_BITS} between commas, or "
            f"{FLOATS}; got {text!r}"
        )
    rounded = sorted(known[part] for part in {*parts} - {FLOATS})
    return [*rounded, *([None] if FLOATS in parts else [])]


def names(text: str) -> list[str]:
    """Names between commas.

    Examples
    --------
    >>> names("age, sex")
    ['age', 'sex']
    """
    return [name.strip() for name in text.split(",") if name.strip()]


def add_model_argument(parser: argparse.ArgumentParser) -> None:
    """The file of a model that is read."""
    parser.add_argument("model", metavar="MODEL", help="a file that `kernelet fit` has saved")


def add_model_output(parser: argparse.ArgumentParser, default: str) -> None:
    """The file of a model that is written; ``default`` says which it is where none is named."""
    text = (
        f"a model file, or an export: .c, .onnx, .mjs, .json (default: {default}, or the next name "
        "that is free)"
    )
    parser.add_argument("-o", "--output", metavar="FILE", help=text)


def add_output_options(parser: argparse.ArgumentParser) -> None:
    """``--json``, ``--quiet`` and ``--debug``, which every command understands."""
    add = parser.add_argument_group("output").add_argument
    add("--json", action="store_true", help="print one JSON document to stdout, nothing else")
    add("-q", "--quiet", action="store_true", help="no remarks, warnings or progress bars")
    add("--debug", action="store_true", help="show the traceback of an error")


def add_data_options(parser: argparse.ArgumentParser) -> None:
    """The target and the columns to learn from."""
    add = parser.add_argument
    add("table", metavar="TABLE", help="csv, tsv, parquet, npz or LIBSVM file")
    text = "column of the classes or numbers (default: y in npz files; LIBSVM files need none)"
    add("-t", "--target", metavar="COLUMN", help=text)
    add = parser.add_argument_group("columns").add_argument
    for option, text in (
        ("--drop", "columns to leave out, such as names and ids"),
        ("--only", "columns to learn from, and no others"),
        ("--text", "columns of codes that look like numbers but are categories"),
    ):
        add(option, type=names, default=[], metavar="A,B", help=text)
    add("--scaling", choices=SCALINGS, help="of numbers (default: standard; none for LIBSVM)")
    add("--drop-missing", action="store_true", help="leave out rows in which a value is missing")
    text = "use this many of the rows, drawn at random with each class in proportion"
    add("--sample", type=count, metavar="N", help=text)
    add("--max-classes", type=count, metavar="N", help="most values that the target may have")
