"""Tables in csv files: refused in one line, or rows to learn from and to predict."""

from __future__ import annotations

import tempfile
from collections.abc import Iterable
from functools import cache
from pathlib import Path

import numpy as np

from benchmarks.hardening.damage.tables import CSV
from benchmarks.hardening.damage.text import ending_of, unpacked_size
from benchmarks.hardening.readers import Reader, memory_for
from benchmarks.hardening.table_reading import learned_from, model_of, predicted, refusal
from kernelet.cli.model import Model

# What a person may say of a table; most say nothing.
_WORDS: tuple[tuple[str, ...], ...] = (
    *((), (), ("--no-header",), ("--encoding", "latin-1"), ("--encoding", "utf-16"), ()),
    *(("--decimal", ","), ("--thousands", "'"), ("--missing", "?"), ("--separator", ";"), ()),
)


def originals() -> list[bytes]:
    """Tables of the columns a, b, c and y in several notations, and one of other columns."""
    rng = np.random.default_rng(0)
    n = 24
    a, b = rng.normal(size=n).round(3), 1000.0 * rng.integers(1, 2000, n) + 0.5
    c, y = rng.choice(["red", "blue", "größe"], n), np.arange(n) % 2
    rows = list(zip(a, b, c, y, strict=True))
    names = ("a", "b", "c", "y")
    plain = _text(",", names, rows)
    texts = [
        plain,
        plain.replace("\n", "\r\n"),
        _text(";", names, rows).replace(".", ","),
        _text(",", [f'"{name}"' for name in names], [(*r[:2], f'"{r[2]}"', r[3]) for r in rows]),
        _text("|", names, [(r[0], f"{r[1]:,}", *r[2:]) for r in rows]),
        _text(
            "\t", names, [("" if r[3] else r[0], r[1], r[2] if r[3] else "NA", r[3]) for r in rows]
        ),
        _text(
            ",", ("id", "day", "y"), [(i, f"2024-01-{i + 1:02}", r[3]) for i, r in enumerate(rows)]
        ),
    ]
    return [text.encode() for text in texts]


def _text(separator: str, names: Iterable[str], rows: Iterable[Iterable[object]]) -> str:
    lines = [separator.join(map(str, cells)) for cells in (names, *rows)]
    return "\n".join([*lines, ""])


@cache
def _model() -> Model:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "plain.csv"
        path.write_bytes(originals()[0])
        return model_of(path, ("-t", "y"))


def read(path: Path, number: int) -> str:
    """Read a table to learn from, or in pieces to predict."""
    turn = number // len(CSV)
    words = _WORDS[turn % len(_WORDS)]
    if turn % 2:
        return predicted(path, _model(), words)
    target = "4" if "--no-header" in words else "y"
    return learned_from(path, ("-t", target, *words))


READER = Reader(
    "damaged csv files",
    lambda data: "damaged.csv" + ending_of(data),
    originals,
    CSV,
    read,
    refusal,
    lambda data: memory_for(unpacked_size(data)),
)
CAMPAIGN = READER.campaign(100_000)
