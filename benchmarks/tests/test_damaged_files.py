"""Campaigns of damaged files: they see what they look for, and files are damaged in earnest."""

from collections import Counter

import numpy as np
import pytest

from benchmarks.hardening import (
    csv_files,
    json_files,
    libsvm_files,
    model_files,
    npz_files,
    readers,
)
from benchmarks.hardening.readers import Reader, of_library

READERS = {
    module.__name__.rpartition(".")[2]: module.READER
    for module in (model_files, json_files, csv_files, libsvm_files, npz_files)
}


@pytest.mark.parametrize("name", READERS)
def test_some_files(name):
    outcomes = [READERS[name].case(number) for number in range(170)]
    assert [outcome for outcome in outcomes if outcome.is_defect] == []
    results = Counter(outcome.result for outcome in outcomes)
    # some of the damage does not show
    assert len(results) > 1 and results["refused"] > 50


@pytest.mark.parametrize("name", READERS)
def test_every_mutation_changes_the_file(name):
    reader = READERS[name]
    originals = list(reader.originals())
    for mutation in reader.mutations.values():
        data = originals[0]
        results = {mutation(data, np.random.default_rng(seed), originals) for seed in range(20)}
        assert len(results - {data}) >= 8, mutation


def made_up(read):
    """A reader of one file, which `read` reads; other errors than ValueError are not promised."""
    mutations = {"none": lambda data, rng, others: data}
    name = lambda data: "a.txt"  # noqa: E731
    calls = []

    def first_well(path, number):
        calls.append(number)
        return "read" if len(calls) <= 2 else read(path)

    return Reader("", name, lambda: [b"abc"], mutations, first_well, of_library(ValueError))


def raising(error):
    def read(path):
        raise error(path)

    return read


def busy(path):
    while readers.time.process_time() < busy.end:
        pass
    return "read"


@pytest.mark.parametrize(
    ("read", "detail"),
    [
        (raising(lambda path: KeyError("odd")), "an error of another kind: KeyError"),
        (raising(lambda path: UnicodeError(path.name)), "an error of another kind: UnicodeError"),
        (raising(lambda path: ValueError("wrong")), "a bad message"),
        (raising(lambda path: ValueError(f"{path.name}\nis wrong")), "a bad message"),
        (raising(lambda path: MemoryError()), "a MemoryError"),
        (lambda path: str(len(bytearray(60 * 2**20))), "bytes of memory for 3"),
        (lambda path: str(len(np.ones(2**25).tobytes())), "bytes of memory for 3"),
        (lambda path: str(len(bytearray(2**33))), "a MemoryError"),
    ],
)
def test_what_is_not_promised_is_a_defect(read, detail):
    outcome = made_up(read).case(0)
    assert outcome.is_defect and detail in outcome.detail


def test_a_slow_file_is_a_defect(monkeypatch):
    monkeypatch.setattr(readers, "SECONDS", 0.05)
    reader = made_up(busy)
    busy.end = readers.time.process_time() + 0.3
    number = next(n for n in range(1000) if n % readers._TRACED)  # not one that is traced
    assert " s" in reader.case(number).detail


def test_what_is_promised_is_none():
    outcome = made_up(raising(lambda path: ValueError(f"{path}: wrong"))).case(0)
    assert (outcome.result, outcome.is_defect) == ("refused", False)
    assert not made_up(lambda path: "read").case(0).is_defect


def test_memory_beside_that_of_python_counts(monkeypatch):
    """As pandas and zlib allocate it, in cases that are not traced."""
    peaks = iter([0, 0, 10**9, 2 * 10**9])  # of the good file, and of the case
    monkeypatch.setattr(readers, "_peak", lambda: next(peaks))
    outcome = made_up(lambda path: "read").case(1)
    assert outcome.detail == "1000000000 bytes of the process for 3"
