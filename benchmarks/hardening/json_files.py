"""Models in JSON: refused in one line, or a model that predicts finite numbers."""

from __future__ import annotations

import contextlib
import tempfile
from pathlib import Path

from benchmarks.hardening.answers import answer
from benchmarks.hardening.damage.json_text import MUTATIONS
from benchmarks.hardening.readers import Reader, of_library
from benchmarks.hardening.small_models import small_models
from kernelet.export import json, read_json
from kernelet.persistence import ModelFileError

# Bytes of a file that is damaged, at most: a larger one takes longer, and has nothing new.
_MOST = 20_000


def originals() -> list[bytes]:
    """The documents of small models, without those that are not exported."""
    files = []
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "small.json"
        for model in small_models():
            with contextlib.suppress(TypeError, ValueError):
                json(model, path)
                files.append(path.read_bytes())
    return [data for data in files if len(data) <= _MOST]


def read(path: Path, number: int) -> str:
    """Read a file, and let what is read predict."""
    answer(read_json(path))
    return "a model"


READER = Reader(
    "damaged models in JSON",
    lambda data: "damaged.json",
    originals,
    MUTATIONS,
    read,
    of_library(ModelFileError),
)
CAMPAIGN = READER.campaign(100_000)
