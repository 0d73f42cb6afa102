"""Files that are damaged or lie: one line about the file, in no more memory than it has."""

import bz2
import gzip
import io
import lzma
import struct
import tracemalloc
import zipfile

import numpy as np
import pytest

from command_line import Called
from kernelet.cli import main
from kernelet.cli.errors import DataError
from kernelet.cli.tables.reading import read_table, table_chunks
from kernelet.cli.tables.sources import Source

PLAIN = "a,c,y\n" + "".join(
    f"{i / 7:.3f},{'red' if i % 3 else 'blue'},{i % 2}\n" for i in range(24)
)
MATRIX = np.arange(48.0).reshape(24, 2)


@pytest.fixture
def call(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)

    def call(*arguments, code):
        done = Called(main([str(argument) for argument in arguments]), *capsys.readouterr())
        assert done.code == code, done.err
        return done

    return call


@pytest.fixture
def model(call, tmp_path):
    (tmp_path / "plain.csv").write_text(PLAIN)
    fit = ("--method", "reduced-svc", "-m", "3", "--C", "1", "-q", "-o", "m.kernelet")
    call("fit", "plain.csv", "-t", "y", *fit, code=0)
    return "m.kernelet"


def refused(path, format):
    with pytest.raises(DataError) as caught:
        read_table(Source(str(path), format), "y")
    return str(caught.value)


@pytest.mark.parametrize("format", ["csv", "libsvm"])
@pytest.mark.parametrize("packed", [gzip.compress, bz2.compress, lzma.compress])
def test_compression_that_is_damaged(packed, format, tmp_path):
    ending = {gzip.compress: "gz", bz2.compress: "bz2", lzma.compress: "xz"}[packed]
    data = packed("".join(f"1 1:{i} 2:{i * i}\n" for i in range(300)).encode())
    path = tmp_path / f"a.{format}.{ending}"
    reasons = set()
    for place in range(12, len(data) - 1, 7):
        path.write_bytes(data[:place] + bytes([data[place] ^ 0x55]) + data[place + 1 :])
        reasons.add(refused(path, format).partition(": ")[0])
    assert f"{path} cannot be read as {'a LIBSVM file' if format == 'libsvm' else 'csv'}" in reasons


def test_a_message_is_short_however_long_a_cell_is(call, model, tmp_path):
    cell = "9" + "\x1b[2J" * 20_000
    lines = PLAIN.splitlines()
    (tmp_path / "long.csv").write_text("\n".join([*lines, f'"{cell}",red,0']) + "\n")
    for command in (
        ("fit", "long.csv", "-t", "y", "-o", "n.kernelet"),
        ("predict", model, "long.csv"),
    ):
        (line,) = call(*command, code=3).err.splitlines()
        assert line.isprintable() and len(line) <= 1000
        assert "long.csv has" in line and " [...] " in line
        assert line.endswith(("missing value", "are categories"))


@pytest.mark.parametrize("number", ["1e999", "-inf", "9" * 400])
def test_a_number_beyond_doubles_is_refused_when_it_is_predicted(number, call, model, tmp_path):
    lines = PLAIN.splitlines()
    lines[16] = f"{number},red,0"
    (tmp_path / "far.csv").write_text("\n".join(lines) + "\n")
    said = call("predict", model, "far.csv", "--chunk", "5", code=3).err
    # which numbers are too large to be numbers, pandas decides anew in some versions
    assert "column 'a'" in said and "row 16" in said and "correct it" in said
    (tmp_path / "all.csv").write_text("a,c,y\n" + f"{number},red,0\n" * 3)
    said = call("predict", model, "all.csv", code=3).err
    assert "infinite number in rows 1, 2, 3;" in said or "row 1, where a number is needed" in said
    said = call("predict", model, "all.csv", "--decimal", ",", code=3).err
    assert "infinite" in said or "where a number is needed" in said


def test_a_number_far_from_those_of_training_is_an_error_of_the_table(call, tmp_path):
    (tmp_path / "small.csv").write_text("a,y\n" + "".join(f"{i}e-150,{i % 2}\n" for i in range(24)))
    fit = ("--method", "reduced-svc", "-m", "3", "--C", "1", "-q", "-o", "m.kernelet")
    call("fit", "small.csv", "-t", "y", *fit, code=0)
    (tmp_path / "far.csv").write_text("a\n0\n1e200\n")
    said = call("predict", "m.kernelet", "far.csv", code=3).err
    assert said.startswith("kernelet predict: far.csv, from row 1 counted as 0: column 'a' holds")


class TestLibsvm:
    def test_an_index_of_any_size(self, tmp_path):
        path = tmp_path / "a.libsvm"
        for index in (10**8, 2**31 - 1):
            path.write_text(f"1 1:1 {index}:1\n-1 1:2\n")
            tracemalloc.start()
            try:
                table = read_table(Source(str(path), "libsvm"))
                with pytest.raises(DataError, match="has no column 'z'"):
                    table.without("z")
                assert tracemalloc.get_traced_memory()[1] < 10**6
            finally:
                tracemalloc.stop()
            assert table.rows.shape == (2, index)
        for index in (2**32, 10**20):
            path.write_text(f"1 {index}:1\n")
            assert "cannot be read as a LIBSVM file" in refused(path, "libsvm")

    def test_billions_of_features_are_not_scaled(self, call, tmp_path):
        (tmp_path / "a.libsvm").write_text("1 1:1 1000000000:1\n-1 1:2\n" * 5)
        words = ("--method", "reduced-svc", "-m", "2", "-o", "m.kernelet", "--scaling", "standard")
        said = call("fit", "a.libsvm", *words, code=3).err
        assert "has 1000000000 features, and --scaling would make a column of each" in said

    @pytest.mark.parametrize("value", ["nan", "inf", "1e999"])
    def test_values_are_finite(self, value, tmp_path):
        path = tmp_path / "a.libsvm"
        path.write_text(f"1 1:1\n-1\n1 1:2 3:{value}\n-1 2:1\n")
        assert refused(path, "libsvm") == f"{path} has a value that is no finite number in row 3"


def archive(path, members, method=zipfile.ZIP_STORED):
    with zipfile.ZipFile(path, "w", method) as file:
        for name, data in members.items():
            file.writestr(name, data)


def array(values, shape=None, kind=None):
    """An array as NumPy writes it, with another shape or type in its header."""
    file = io.BytesIO()
    np.save(file, values)
    data = file.getvalue()
    header = data[10 : data.index(b"\n")].decode()
    for old, new in ((repr(values.shape), shape), (repr(values.dtype.str), kind)):
        header = header if new is None else header.replace(old, new)
    text = header.encode() + b"\n"
    return data[:8] + struct.pack("<H", len(text)) + text + data[data.index(b"\n") + 1 :]


class TestNpz:
    @pytest.mark.parametrize(
        "X",
        [
            array(MATRIX, shape="(24, 20000000)"),
            array(MATRIX, shape="(0, 9223372036854775807)"),
            array(MATRIX, shape="(1099511627776, 0)"),
            array(MATRIX, kind="'<U1000000000'"),
            array(MATRIX, shape="(1099511627776, 2)", kind="'|V0'"),
            array(MATRIX, shape="(" * 200 + ")"),
            array(MATRIX)[:100],
            b"",
        ],
    )
    def test_headers_that_lie(self, X, tmp_path):
        path = tmp_path / "a.npz"
        archive(path, {"X.npy": X, "y.npy": array(np.arange(24) % 2)}, zipfile.ZIP_DEFLATED)
        tracemalloc.start()
        try:
            assert refused(path, "npz").startswith(f"{path} ")
            assert tracemalloc.get_traced_memory()[1] < 3 * 10**6
        finally:
            tracemalloc.stop()

    @pytest.mark.parametrize("method", [zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
    def test_compression_that_numpy_does_not_use(self, method, tmp_path):
        path = tmp_path / "a.npz"
        archive(path, {"X.npy": array(MATRIX)}, method)
        assert "compressed in another way" in refused(path, "npz")

    @pytest.mark.parametrize(
        ("at", "value"), [(20, 2**30), (24, 2**30), (8, 1), (10, 77), (8, 32), (6, 99)]
    )
    def test_directories_that_lie(self, at, value, tmp_path):
        """About the sizes of a member, or that it is encrypted, patched, or of another age."""
        path = tmp_path / "a.npz"
        archive(path, {"X.npy": array(MATRIX), "y.npy": array(np.arange(24) % 2)})
        data = bytearray(path.read_bytes())
        entry = data.index(b"PK\x01\x02")
        struct.pack_into("<I" if value > 2**16 else "<H", data, entry + at, value)
        path.write_bytes(data)
        assert refused(path, "npz").startswith(f"{path} ")

    def test_a_matrix_without_rows_has_none(self, tmp_path):
        path = tmp_path / "a.npz"
        np.savez(path, X=np.zeros((0, 3)), y=np.zeros(0))
        assert refused(path, "npz") == f"{path} has no rows"

    def test_dates_are_texts_and_complex_numbers_left_out(self, tmp_path):
        path = tmp_path / "a.npz"
        days = np.array(["2024-01-31", "2024-02-01"], dtype="datetime64[D]")
        np.savez(path, day=days, z=np.array([1j, 2j]), y=np.array([0, 1]))
        columns = read_table(Source(str(path), "npz")).columns
        assert columns["day"].tolist() == ["2024-01-31", "2024-02-01"]
        assert sorted(columns) == ["day", "y"]

    def test_honest_zeros_are_read(self, tmp_path):
        path = tmp_path / "a.npz"
        np.savez_compressed(path, X=np.zeros((1000, 300)), y=np.arange(1000) % 2)
        assert path.stat().st_size < 6000
        assert len(read_table(Source(str(path), "npz")).columns) == 301


def test_columns_are_the_same_in_pieces(tmp_path):
    """Texts, integers, truths and numbers, some of them missing."""
    path = tmp_path / "a.csv"
    path.write_text("t,i,b,x,e\nu,1,True,0.5,\n,2,False,,\nv,3,True,1.5,\n")
    whole = read_table(Source(str(path), "csv")).columns
    assert [whole[name].dtype.kind for name in "tibxe"] == ["O", "i", "O", "f", "f"]
    assert whole["t"][[0, 2]].tolist() == ["u", "v"] and np.isnan(whole["t"][1])
    assert whole["b"].tolist() == ["True", "False", "True"]
    pieces = list(table_chunks(Source(str(path), "csv"), length=2))
    assert [len(piece) for piece in pieces] == [2, 1]
    assert pieces[0].columns["x"][0] == 0.5 and np.isnan(pieces[0].columns["x"][1])
