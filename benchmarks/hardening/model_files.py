"""Model files: refused in one line, or a model that predicts finite numbers.

Every file is read by `kernelet.load` and by `kernelet.load_predictor`. Reading takes at most 10
times its size of memory plus a constant; a machine in few bits may take five times its numbers in
full on top of that.
"""

from __future__ import annotations

import contextlib
import tempfile
from pathlib import Path

import kernelet
from benchmarks.hardening.answers import answer
from benchmarks.hardening.damage.models import MUTATIONS
from benchmarks.hardening.readers import Reader, of_library
from benchmarks.hardening.small_models import small_models
from kernelet.machine import KernelMachine
from kernelet.persistence import ModelFileError, read_summary
from kernelet.persistence.compact_forms import ALWAYS
from kernelet.persistence.vectors import MAX_GROWTH

MEMORY_FACTOR = 10
# What Python takes whatever the size of the file: parsed JSON, tracebacks, small objects.
MEMORY_CONSTANT = 3 * 2**20
# What reading takes for a machine in few bits, in units of its numbers in full.
COMPACT_FACTOR = 5


def originals() -> list[bytes]:
    """The files of small models."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "small.kernelet"
        files = []
        for model in small_models():
            kernelet.save(model, path)
            files.append(path.read_bytes())
    return files


def memory(data: bytes) -> int:
    """Bytes that reading a file may take.

    In few bits, there are at most `MAX_GROWTH` times as many numbers in full, or `ALWAYS`.
    """
    limit = MEMORY_FACTOR * len(data) + MEMORY_CONSTANT
    return limit + COMPACT_FACTOR * (MAX_GROWTH * len(data) + ALWAYS) * (b"compact" in data)


def read(path: Path, number: int) -> str:
    """Read a file in all ways, and let what is read predict."""
    with contextlib.suppress(ModelFileError):  # load says why
        read_summary(path)
    try:
        model = kernelet.load(path)
    except ModelFileError:
        # without the class of the model, whose parameters may be all that is damaged
        answer(kernelet.load_predictor(path))
        return "a predictor alone"
    answer(model)
    try:
        predictor = kernelet.load_predictor(path)
    except ModelFileError as error:
        # compressed pairs of classes and the like have no predictor
        is_machine = isinstance(model, KernelMachine) or hasattr(model, "machine_")
        if is_machine:
            raise AssertionError(f"a model, but not a predictor: {error}") from error
    else:
        answer(predictor)
    return "a model"


READER = Reader(
    "damaged model files",
    lambda data: "damaged.kernelet",
    originals,
    MUTATIONS,
    read,
    of_library(ModelFileError),
    memory,
)
CAMPAIGN = READER.campaign(1_000_000)
