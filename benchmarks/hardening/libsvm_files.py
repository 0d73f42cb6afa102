"""Files in LIBSVM's format, as the command line and `kernelet.rows.libsvm_chunks` read them."""

from __future__ import annotations

import tempfile
from functools import cache
from pathlib import Path

import numpy as np

from benchmarks.hardening.damage.tables import LIBSVM
from benchmarks.hardening.damage.text import ending_of, unpacked_size
from benchmarks.hardening.readers import Reader, memory_for, of_library
from benchmarks.hardening.table_reading import learned_from, model_of, predicted, refusal
from kernelet.cli.model import Model
from kernelet.rows import libsvm_chunks

_refusal_by_library = of_library(ValueError)


def originals() -> list[bytes]:
    """Sparse rows of a few features, in the ways that programs write them."""
    rng = np.random.default_rng(0)
    lines = []
    for row in range(24):
        chosen = np.flatnonzero(rng.random(9) < 0.5)
        cells = [f"{j + 1}:{rng.normal():.4g}" for j in chosen]
        lines.append(" ".join([f"{(-1) ** row:+d}", *cells]))
    plain = "\n".join([*lines, ""])
    few = "\n".join([*lines[:4], ""])
    commented = "# rows\n" + plain.replace("\n", " # end\n", 3)
    from_zero = plain.replace(" 1:", " 0:")
    asked = "\n".join([line.replace(" ", " qid:1 ", 1) for line in lines] + [""])
    return [text.encode() for text in (plain, few, commented, from_zero, asked)]


@cache
def _model() -> Model:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "plain.libsvm"
        path.write_bytes(originals()[0])
        return model_of(path, ())


def read(path: Path, number: int) -> str:
    """Read a file to learn from, in pieces to predict, or as chunks of rows."""
    turn = number // len(LIBSVM)
    if turn % 3 == 0:
        return learned_from(path, ())
    if turn % 3 == 1:
        return predicted(path, _model(), ())
    try:
        X, y = libsvm_chunks(path, n_features=9 if turn % 2 else None)
        for rows, labels in zip(X, y, strict=True):
            assert rows.shape[0] == len(labels)
    except ValueError as error:
        if (complaint := _refusal_by_library(path, error)) != "":
            raise AssertionError(f"{complaint}: {error!r}") from error
        return "refused by the library"
    return "chunks"


READER = Reader(
    "damaged LIBSVM files",
    lambda data: "damaged.libsvm" + ending_of(data),
    originals,
    LIBSVM,
    read,
    refusal,
    lambda data: memory_for(unpacked_size(data)),
)
CAMPAIGN = READER.campaign(100_000)
