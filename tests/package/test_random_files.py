"""Files of any content: what is written is read, and damage is found or does no harm."""

from __future__ import annotations

import csv
from unittest import mock

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

import kernelet
from export_bounds import KERNELS
from kernelet.cli.tables.reading import read_table, table_chunks
from kernelet.cli.tables.sources import Source
from kernelet.kernels import ProjectedFeatures, ScaledFeatures
from kernelet.rows import libsvm_chunks, libsvm_files
from random_examples import examples

pytestmark = pytest.mark.slow
NUMBERS = st.floats(allow_nan=False, allow_infinity=False)


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    return tmp_path_factory.mktemp("files") / "file.csv"


@st.composite
def machines(draw):
    kernel = draw(st.sampled_from([k for k in KERNELS if k.n_features is None]))
    m, d, k = draw(st.integers(0, 5)), draw(st.integers(1, 4)), draw(st.integers(1, 3))
    if draw(st.booleans()):
        scale = st.floats(1e-3, 1e3)
        kernel = ScaledFeatures(kernel, draw(st.lists(scale, min_size=d, max_size=d)))
    if draw(st.booleans()):
        d, rank = draw(st.integers(1, 4)), d
        entries = draw(st.lists(st.floats(-0.25, 0.25), min_size=d * rank, max_size=d * rank))
        kernel = ProjectedFeatures(kernel, np.array(entries).reshape(rank, d))
    dtype = draw(st.sampled_from([np.float64, np.float32]))
    width = np.dtype(dtype).itemsize * 8
    # numbers whose squares overflow are refused when a file is read
    cell = st.floats(-(2.0**50), 2.0**50, width=width)
    cells = draw(st.lists(cell, min_size=m * (d + k) + k, max_size=m * (d + k) + k))
    Z, beta, b = np.split(np.array(cells, dtype=dtype), [m * d, m * (d + k)])
    return kernelet.KernelMachine(kernel, Z.reshape(m, d), beta.reshape(m, k), b)


@examples(50)
@given(machine=machines())
def test_machines_come_back_to_the_last_bit(path, machine):
    kernelet.save(machine, path)
    again = kernelet.load(path)
    assert again == machine
    assert again.kernel == machine.kernel
    for name in ("vectors", "coefficients", "intercepts"):
        written, read = getattr(machine, name), getattr(again, name)
        assert written.dtype == read.dtype
        assert written.tobytes() == read.tobytes()  # zeros keep their sign


@examples(100)
@given(machine=machines(), data=st.data())
def test_damaged_model_files(path, machine, data):
    kernelet.save(machine, path)
    content = bytearray(path.read_bytes())
    for _ in range(data.draw(st.integers(1, 3))):
        # the beginning says what all the rest is
        end = data.draw(st.sampled_from([16, len(content)]))
        content[data.draw(st.integers(0, min(end, len(content)) - 1))] = data.draw(
            st.integers(0, 255)
        )
    path.write_bytes(content[: data.draw(st.sampled_from([len(content), len(content) // 2]))])
    try:
        again = kernelet.load(path)
    except kernelet.ModelFileError:
        return
    try:
        assert len(again.decision_function(np.ones((2, again.n_features)))) == 2
    except ValueError as error:  # the values of a kernel without a bound may overflow
        assert "not finite" in str(error)


@examples(50)
@given(
    rows=st.lists(
        st.tuples(NUMBERS, st.dictionaries(st.integers(1, 9), NUMBERS, max_size=5)),
        min_size=1,
        max_size=12,
    ),
    length=st.integers(1, 200),
    zero_based=st.booleans(),
    end=st.sampled_from(["", "\n"]),
)
def test_libsvm_files_in_chunks(path, rows, length, zero_based, end):
    expected = np.zeros((len(rows), 10))
    lines = []
    for i, (label, cells) in enumerate(rows):
        for column, value in cells.items():
            expected[i, column if zero_based else column - 1] = value
        pairs = [f"{column}:{value!r}" for column, value in sorted(cells.items())]
        lines.append(" ".join([repr(label), *pairs]))
    path.write_text("\n".join(lines) + end)
    with mock.patch.object(libsvm_files, "CHUNK_TEXT", length):
        X, y = libsvm_chunks(path, n_features=10, zero_based=zero_based)
        assert_array_equal(np.vstack([chunk.toarray() for chunk in X]), expected)
        assert_array_equal(np.concatenate(list(y)), [label for label, _ in rows])


# Nothing that means a missing cell or a number, but everything special in csv files.
WORDS = st.text(alphabet='xyé,;"\t \n', max_size=5).map(lambda text: f"w{text}w")


@examples(60)
@given(
    names=st.lists(
        WORDS.filter(lambda text: "\n" not in text), min_size=2, max_size=2, unique=True
    ),
    rows=st.lists(st.tuples(WORDS, NUMBERS), min_size=1, max_size=12),
    length=st.integers(1, 5),
    separator=st.sampled_from([",", ";", "\t"]),
)
def test_tables_of_any_words_and_numbers(path, names, rows, length, separator):
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, delimiter=separator)
        writer.writerow(names)
        writer.writerows((word, repr(number)) for word, number in rows)
    source = Source(str(path), "csv", separator=separator)
    table = read_table(source)
    assert table.names == names
    assert_array_equal(table.column(names[0]), [word for word, _ in rows])
    assert_array_equal(table.column(names[1]), [number for _, number in rows])
    pieces = list(table_chunks(source, [names[0]], [names[1]], length=length))
    assert [len(piece) for piece in pieces[:-1]] == [length] * (len(pieces) - 1)
    for name in names:
        joined = np.concatenate([piece.column(name) for piece in pieces])
        assert_array_equal(joined, table.column(name))
