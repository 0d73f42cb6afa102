"""Campaigns of damaged files: each is read within limits, or refused as its reader promises."""

from __future__ import annotations

import resource
import sys
import tempfile
import time
import tracemalloc
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np

from benchmarks.hardening.campaign import Campaign, Outcome
from benchmarks.hardening.damage.bytes_of_any import Mutation

# Of this process, not of the clock: others may be busy on the machine.
SECONDS = 1.0
# Bytes that reading may take, as multiples of the file, and whatever its size.
MEMORY_FACTOR = 3
MEMORY_CONSTANT = 50 * 2**20
# Python's own memory is measured in one of 19 rounds of all kinds of damage: that takes three times
# as long. The peak of the process, in which other memory counts as well, is read always.
_TRACED = 19
# Address space of a process, so that no file takes the memory of the machine.
_MOST = 8 * 2**30
# A process that does not answer at all is given up after this time of the clock: on a machine that
# is busy with other work, it may have a hundredth of it.
_WATCHDOG = 900.0


def memory_for(n_bytes: int) -> int:
    """Bytes of memory that a file of a size may take."""
    return MEMORY_FACTOR * n_bytes + MEMORY_CONSTANT


@dataclass(frozen=True)
class Reader:
    """What is tried of a reader.

    Attributes
    ----------
    title : str
    name : callable
        Returns the name of a file, of which its ending matters.
    originals : callable
        Returns good files.
    mutations : mapping
        Ways to damage them by their names, which are the groups of the campaign.
    read : callable
        ``read(path, number)`` reads a file and uses what is read; returns what it is in a few
        words. ``number``, by its round of all mutations, chooses among ways to read.
    refusal : callable
        ``refusal(path, error)`` returns what is wrong about an error that refuses a file; "" for
        one that the reader promises, None for any other.
    memory : callable
        Bytes of Python's memory that a file may take.
    """

    title: str
    name: Callable[[bytes], str]
    originals: Callable[[], Sequence[bytes]]
    mutations: Mapping[str, Mutation]
    read: Callable[[Path, int], str]
    refusal: Callable[[Path, Exception], str | None]
    memory: Callable[[bytes], int] = lambda data: memory_for(len(data))

    def campaign(self, n: int) -> Campaign:
        """The campaign of this reader."""
        return Campaign(self.title, self.case, self.group_of, n, _WATCHDOG, batch=200)

    def group_of(self, number: int) -> str:
        """How the file is damaged."""
        return list(self.mutations)[number % len(self.mutations)]

    @cached_property
    def _good(self) -> list[bytes]:
        """The originals, which are read once, and the first in two ways: imports take memory."""
        with tempfile.TemporaryDirectory() as folder, measured(is_traced=False):
            for data in (good := list(self.originals())):
                path = Path(folder) / self.name(data)
                path.write_bytes(data)
                self.read(path, 0)
            path.write_bytes(good[0])
            self.read(path, len(self.mutations))
        return good

    def damaged(self, number: int) -> bytes:
        """The file of a case."""
        rng = np.random.default_rng([0, number])
        original = self._good[int(rng.integers(len(self._good)))]
        return self.mutations[self.group_of(number)](original, rng, self._good)

    def case(self, number: int) -> Outcome:
        """Read a file."""
        group, data = self.group_of(number), self.damaged(number)
        is_traced = number // len(self.mutations) % _TRACED == 0
        problem, result = "", "read"
        with tempfile.TemporaryDirectory() as folder, measured(is_traced) as used:
            path = Path(folder) / self.name(data)
            path.write_bytes(data)
            try:
                result = self.read(path, number)
            except MemoryError:
                problem = "a MemoryError"
            except Exception as error:  # any that is not promised is what this looks for
                complaint = self.refusal(path, error)
                result = "refused"
                if complaint is None:
                    complaint = "an error of another kind"
                if complaint:
                    problem = f"{complaint}: {type(error).__name__}: {error}"
        if not problem and used.seconds > SECONDS:
            problem = f"{used.seconds:.1f} s"
        if not problem and used.traced > self.memory(data):
            problem = f"{used.traced} bytes of memory for {len(data)}"
        if not problem and used.growth > max(self.memory(data), memory_for(len(data))):
            problem = f"{used.growth} bytes of the process for {len(data)}"
        if problem:
            return Outcome(group, "a defect", is_defect=True, detail=problem)
        return Outcome(group, result)


@dataclass
class Used:
    """What a case has taken; bytes of Python are 0 where they are not measured."""

    seconds: float = 0.0
    traced: int = 0
    growth: int = 0


@contextmanager
def measured(is_traced: bool) -> Iterator[Used]:
    """Measure what is done, in silence, and with no more address space than `_MOST`."""
    used, limits = Used(), resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (_MOST, limits[1]))
    if is_traced:
        tracemalloc.start()
    peak, began = _peak(), time.process_time()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield used
    finally:
        used.seconds, used.growth = time.process_time() - began, _peak() - peak
        if is_traced:
            used.traced, used.seconds = tracemalloc.get_traced_memory()[1], 0.0
            tracemalloc.stop()
        resource.setrlimit(resource.RLIMIT_AS, limits)


def _peak() -> int:
    """The most memory that this process has had."""
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit


def of_library(*kinds: type[Exception]) -> Callable[[Path, Exception], str | None]:
    """A judge of refusals: errors of some kinds with a message of one line that names the file."""

    def refusal(path: Path, error: Exception) -> str | None:
        if type(error) not in kinds:
            return None
        message = str(error)
        return "" if path.name in message and message.isprintable() else "a bad message"

    return refusal
