"""Tables in npz files, as the command line reads them.

Arrays may be compressed: their bytes are those that the archive says they have, which the reader
refuses to believe beyond what deflate can do.
"""

from __future__ import annotations

import io
import tempfile
import zipfile
from functools import cache
from pathlib import Path

import numpy as np

from benchmarks.hardening.damage.arrays import MUTATIONS
from benchmarks.hardening.readers import Reader, memory_for
from benchmarks.hardening.table_reading import learned_from, model_of, predicted, refusal
from kernelet.cli.model import Model

# Bytes that deflate makes of one, at most (RFC 1951: 258 bytes of two bits).
_DEFLATE = 1032


def originals() -> list[bytes]:
    """A matrix with its labels, in several types, stored and compressed; and columns by name."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(24, 3)).round(2), np.arange(24) % 2
    tables = (
        {"X": X, "y": y},
        {"X": X.astype(np.float32), "y": np.array(["no", "yes"])[y]},
        {"X_train": np.asfortranarray(X), "y": y.astype(float), "weights": np.ones(24)},
        {"a": X[:, 0], "b": (10 * X[:, 1]).astype(int), "c": np.array(["u", "ü"])[y], "y": y > 0},
    )
    files = []
    for table in tables:
        for save in (np.savez, np.savez_compressed):
            file = io.BytesIO()
            save(file, **table)
            files.append(file.getvalue())
    return files


@cache
def _model() -> Model:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "plain.npz"
        path.write_bytes(originals()[0])
        return model_of(path, ("-t", "y"))


def read(path: Path, number: int) -> str:
    """Read a table to learn from, or in pieces to predict."""
    if number // len(MUTATIONS) % 2:
        return predicted(path, _model(), ())
    return learned_from(path, ("-t", "y"))


def unpacked(data: bytes) -> int:
    """Bytes of the members of an archive, no more than can be in it."""
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            said = sum(info.file_size for info in archive.infolist())
    except Exception:  # not an archive: nothing is unpacked
        return len(data)
    return max(len(data), min(said, _DEFLATE * len(data)))


READER = Reader(
    "damaged npz files",
    lambda data: "damaged.npz",
    originals,
    MUTATIONS,
    read,
    refusal,
    lambda data: memory_for(unpacked(data)),
)
CAMPAIGN = READER.campaign(100_000)
