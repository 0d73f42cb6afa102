"""Files as systems and people make them: line ends, wide tables, long names, full disks."""

import errno
import gzip
import io
import os
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_matrix

import kernelet as package
from command_line import Called, kernelet, write_flowers
from kernelet.cli import main
from kernelet.cli import model as models
from kernelet.cli.errors import DataError
from kernelet.cli.tables.heading import read_first_line
from kernelet.cli.tables.sources import Source
from kernelet.persistence import atomic

FIT = ("fit", "train.csv", "-t", "species", "-m", "2", "--drop", "id", "-o", "x.kernelet")
LONG = "n" * 300
LINE_ENDS = {"old Mac": "\r", "Windows": "\r\n", "mixed": ("\r", "\n", "\r\n")}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """train.csv, test.csv and a model."""
    folder = tmp_path_factory.mktemp("files")
    frame = write_flowers(folder)[:110].drop(columns="id")
    estimator = package.ReducedSVC(3, random_state=0)
    package.TableModel.fit(frame, "species", estimator).save(folder / "model.kernelet")
    return folder


@pytest.fixture
def call(folder, capsys, monkeypatch):
    monkeypatch.chdir(folder)

    def call(*arguments):
        try:
            code = main([str(argument) for argument in arguments])
        except SystemExit as stopped:
            code = stopped.code
        return Called(code, *capsys.readouterr())

    return call


def with_line_ends(path, ends, target):
    """The same lines with other ends, one after the other where there are several."""
    lines = path.read_text().splitlines()
    text = "".join(line + ends[i % len(ends)] for i, line in enumerate(lines))
    target.write_bytes(text.encode())


class TestLineEnds:
    @pytest.mark.parametrize("ends", LINE_ENDS.values(), ids=LINE_ENDS)
    @pytest.mark.parametrize("source", ["file", "stdin", "gzip"])
    def test_all_are_read(self, ends, source, folder, call, monkeypatch, tmp_path):
        ends = [ends] if isinstance(ends, str) else ends
        with_line_ends(folder / "test.csv", ends, tmp_path / "ends.csv")
        expected = call("predict", "model.kernelet", "test.csv").out
        if source == "stdin":
            with open(tmp_path / "ends.csv") as file:
                monkeypatch.setattr("sys.stdin", file)
                done = call("predict", "model.kernelet", "-")
        elif source == "gzip":
            packed = gzip.compress((tmp_path / "ends.csv").read_bytes())
            (tmp_path / "ends.csv.gz").write_bytes(packed)
            done = call("predict", "model.kernelet", tmp_path / "ends.csv.gz")
        else:
            done = call("predict", "model.kernelet", tmp_path / "ends.csv")
        assert (done.code, done.out, done.err) == (0, expected, "")

    def test_they_make_no_other_model(self, folder, call, tmp_path):
        with_line_ends(folder / "train.csv", ["\r"], tmp_path / "ends.csv")
        for table, model in (("train.csv", "lf"), (tmp_path / "ends.csv", "cr")):
            out = tmp_path / f"{model}.kernelet"
            options = ("--method", "reduced-svc", "-m", "3", "-o", out)
            assert call("fit", table, "-t", "species", "--drop", "id", *options).code == 0
        one, other = (package.load(tmp_path / f"{name}.kernelet") for name in ("lf", "cr"))
        assert one.encoder == other.encoder
        assert one.machine_ == other.machine_

    def test_a_heading_longer_than_the_buffer_of_a_pipe(self, call, monkeypatch, tmp_path):
        """Without names the number of columns is that of the whole first line."""
        X = np.random.default_rng(0).normal(size=(12, 3000))
        pd.DataFrame(X).assign(y=list("ab") * 6).to_csv(
            tmp_path / "a.csv", header=False, index=False
        )
        options = ("--no-header", "-t", "3001", "--method", "reduced-svc", "-m", "2")
        model = tmp_path / "wide.kernelet"
        assert call("fit", tmp_path / "a.csv", *options, "-o", model).code == 0
        expected = call("predict", model, tmp_path / "a.csv", "--no-header").out
        with open(tmp_path / "a.csv") as file:
            monkeypatch.setattr("sys.stdin", file)
            assert call("predict", model, "-", "--no-header").out == expected


NO_TEXT = {
    "NUL in a cell": (b"a,species\n1,x\n2,\x00y\n3,x\n4,y\n", "holds NUL characters"),
    "NUL in the heading": (b"a\x00,species\n1,x\n2,y\n", "holds NUL characters"),
    "UTF-16": ("a,species\n1,x\n2,y\n".encode("utf-16-le"), "--encoding utf-16"),
    "a cell without end": (b"a" * 200_000 + b",species\n1,x\n2,y\n", "--separator"),
    "a label of a page": (
        b"a,species\n" + b"1,x\n2,y\n" * 9 + b"3," + b"z" * 2000 + b"\n",
        "a text of 2000 characters in row 19",
    ),
}


@pytest.mark.parametrize("name", NO_TEXT)
@pytest.mark.parametrize("command", ["fit", "predict"])
def test_what_is_no_table(name, command, call, tmp_path):
    content, reason = NO_TEXT[name]
    (tmp_path / "a.csv").write_bytes(content)
    arguments = ("fit", tmp_path / "a.csv", "-t", "species", "-o", tmp_path / "x.kernelet")
    if command == "predict":
        if "label" in name:
            reason = "lacks 5 of the 5 columns"
        arguments = ("predict", "model.kernelet", tmp_path / "a.csv")
    done = call(*arguments)
    assert (done.code, done.out, len(done.err.splitlines())) == (3, "", 1)
    # older versions of pandas end a cell where it holds NUL, and the cell is then empty
    assert reason in done.err or (name == "NUL in a cell" and pd.__version__ < "2.2")


class TestWideTables:
    """What is done for each column by itself must not look at all the others."""

    def counting(self, monkeypatch, owner, name):
        original, calls = getattr(owner, name), []

        def counted(*arguments, **options):
            calls.append(1)
            return original(*arguments, **options)

        monkeypatch.setattr(owner, name, counted)
        return calls

    def test_numbers_are_taken_from_pandas_at_once(self, call, monkeypatch, tmp_path):
        rng = np.random.default_rng(0)
        frame = pd.DataFrame(rng.normal(size=(12, 500))).rename(columns=lambda j: f"c{j}")
        frame.assign(y=list("ab") * 6).to_csv(tmp_path / "a.csv", index=False)
        model = tmp_path / "wide.kernelet"
        calls = self.counting(monkeypatch, pd.DataFrame, "__getitem__")
        options = ("--method", "reduced-svc", "-m", "2", "-o", model)
        assert call("fit", tmp_path / "a.csv", "-t", "y", *options).code == 0
        assert call("predict", model, tmp_path / "a.csv").code == 0
        assert len(calls) < 20

    def test_sparse_columns_are_taken_at_once(self, call, monkeypatch, tmp_path):
        lines = [
            f"{i % 2} " + " ".join(f"{j}:{(i * j) % 7}" for j in range(1, 300, 1 + i % 3))
            for i in range(12)
        ]
        (tmp_path / "a.libsvm").write_text("\n".join(lines) + "\n")
        calls = self.counting(monkeypatch, csr_matrix, "__getitem__")
        options = ("--scaling", "standard", "--method", "reduced-svc", "-m", "2")
        model = tmp_path / "wide.kernelet"
        assert call("fit", tmp_path / "a.libsvm", *options, "-o", model).code == 0
        assert call("predict", model, tmp_path / "a.libsvm").code == 0
        assert len(calls) < 20

    def test_few_of_many_lacking_columns_are_looked_for(self, call, monkeypatch, tmp_path):
        rng = np.random.default_rng(0)
        frame = pd.DataFrame(rng.normal(size=(12, 200))).rename(columns=lambda j: f"c{j}")
        frame["y"] = list("ab") * 6
        package.TableModel.fit(frame, "y", package.ReducedSVC(2)).save(tmp_path / "m.kernelet")
        frame.rename(columns=lambda name: f"{name}_").to_csv(tmp_path / "a.csv", index=False)
        calls = self.counting(monkeypatch, models, "nearest")
        done = call("predict", tmp_path / "m.kernelet", tmp_path / "a.csv")
        assert done.code == 3
        assert "lacks 200 of the 200 columns" in done.err and "'c0_' for 'c0'" in done.err
        assert len(calls) == 8


LONG_OUTPUTS = {
    "fit": FIT[:-1],
    "compress": ("compress", "model.kernelet", "-m", "2", "-o"),
    "predict": ("predict", "model.kernelet", "test.csv", "-o"),
    "export": ("export", "model.kernelet", "--to", "json", "-o"),
    "demo": ("demo", "-o"),
    **{
        f"frontier {option}": ("frontier", "train.csv", "-t", "species", option)
        for option in ("-o", "--csv", "--png")
    },
}


class TestNames:
    @pytest.mark.parametrize("name", LONG_OUTPUTS)
    def test_an_output_whose_name_is_too_long(self, name, call):
        done = call(*LONG_OUTPUTS[name], LONG)
        assert (done.code, done.out) == (5, "")
        assert done.err.count("\n") == 1
        assert f"{LONG} cannot be written: File name too long" in done.err

    def test_an_input_whose_name_is_too_long(self, call):
        for arguments, code in (
            (("fit", f"{LONG}.csv", "-t", "y", "-o", "x.kernelet"), 3),
            (("predict", "model.kernelet", f"{LONG}.csv"), 3),
            (("predict", LONG, "test.csv"), 4),
            (("info", LONG), 4),
        ):
            done = call(*arguments)
            assert (done.code, done.out) == (code, "")
            assert "does not exist" in done.err

    @pytest.mark.parametrize("letter", ["x", "\N{OLD ITALIC LETTER A}"])
    def test_the_longest_name_that_the_system_allows(self, letter, call, folder, tmp_path):
        name = letter * (248 // len(letter.encode()))
        done = call("predict", "model.kernelet", "test.csv", "-o", tmp_path / name)
        assert done.code == 0
        assert (tmp_path / name).read_text().startswith("prediction\n")
        package.load(folder / "model.kernelet").save(tmp_path / name)
        assert package.load(tmp_path / name).machine_.n_vectors == 3
        assert os.listdir(tmp_path) == [name]


@pytest.mark.parametrize("links", [False, True])
def test_a_stream_that_fails_leaves_the_file(links, tmp_path):
    target = tmp_path / "target.csv"
    target.write_text("old")
    target.chmod(0o640)
    path = tmp_path / "link.csv" if links else target
    if links:
        path.symlink_to(target)
    with pytest.raises(ZeroDivisionError), atomic.replacing(path, "w", encoding="utf-8") as stream:
        stream.write("n\u00e9w")
        raise ZeroDivisionError
    assert target.read_text() == "old"
    with atomic.replacing(path, "w", encoding="utf-8", newline="") as stream:
        stream.write("n\u00e9w\r\n")
        assert target.read_text() == "old"
    assert target.read_bytes() == "n\u00e9w\r\n".encode()
    assert target.stat().st_mode & 0o777 == 0o640
    assert path.is_symlink() == links
    assert set(os.listdir(tmp_path)) == {path.name, target.name}


def test_a_picture_is_replaced_as_a_whole(call, monkeypatch, tmp_path):
    def full(*arguments):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    picture = tmp_path / "frontier.png"
    picture.write_bytes(b"old")
    monkeypatch.setattr(atomic.os, "fsync", full)
    done = call(
        *("frontier", "train.csv", "-t", "species", "--drop", "id", "--budgets", "1,2"),
        *("--folds", "2", "--no-svm", "--method", "reduced-svc", "--png", picture),
    )
    assert done.code == 5
    assert "frontier.png cannot be written: No space left on device" in done.err
    assert picture.read_bytes() == b"old"
    assert os.listdir(tmp_path) == ["frontier.png"]


TO_STDOUT = {
    "help": ("--help",),
    "help of a command": ("fit", "--help"),
    "version": ("--version",),
    "info": ("info", "model.kernelet"),
    "info as JSON": ("info", "model.kernelet", "--json"),
    "predict": ("predict", "model.kernelet", "test.csv"),
    "predict as JSON": ("predict", "model.kernelet", "test.csv", "--json"),
    "evaluate": ("evaluate", "model.kernelet", "test.csv"),
    "compress": ("compress", "model.kernelet", "-m", "2", "-o", "y.kernelet"),
    "export": ("export", "model.kernelet", "-o", "y.json"),
    "fit": (*FIT, "--method", "reduced-svc"),
    "frontier": (
        *("frontier", "train.csv", "-t", "species", "--drop", "id", "--budgets", "1,2"),
        *("--folds", "2", "--no-svm", "--method", "reduced-svc"),
    ),
}


@pytest.mark.slow
class TestStdout:
    # "" is as if it were not set: Python writes when its buffer is full, and at the end
    @pytest.mark.parametrize(
        ("name", "unbuffered"), [*((name, "") for name in TO_STDOUT), ("help", "1"), ("info", "1")]
    )
    def test_a_full_disk(self, name, unbuffered, folder):
        with open("/dev/full", "w") as full:
            done = kernelet(
                *TO_STDOUT[name],
                cwd=folder,
                capture_output=False,
                stdout=full,
                stderr=subprocess.PIPE,
                env={"PYTHONUNBUFFERED": unbuffered},
            )
        assert done.returncode == 5, done.stderr
        line = done.stderr.splitlines()[-1]
        assert line.endswith("stdout cannot be written: No space left on device; send it elsewhere")
        assert "Traceback" not in done.stderr and "Exception ignored" not in done.stderr

    @pytest.mark.parametrize(
        ("name", "unbuffered"), [("help", ""), ("help", "1"), ("info", ""), ("predict", "1")]
    )
    def test_a_reader_that_leaves(self, name, unbuffered, folder):
        reader, writer = os.pipe()
        os.close(reader)  # before the program writes anything, on however busy a machine
        done = subprocess.run(
            [sys.executable, "-m", "kernelet", *TO_STDOUT[name]],
            cwd=folder,
            env={**os.environ, "PYTHONUNBUFFERED": unbuffered},
            stdout=writer,
            stderr=subprocess.PIPE,
        )
        os.close(writer)
        assert (done.returncode, done.stderr) == (1, b"")

    def test_stdout_that_is_closed(self, folder):
        done = subprocess.run(
            f"'{sys.executable}' -m kernelet info model.kernelet >&-",
            shell=True,
            cwd=folder,
            stderr=subprocess.PIPE,
            text=True,
        )
        assert done.returncode == 5
        assert done.stderr == "kernelet: stdout is closed; send it to a file, or to /dev/null\n"

    def test_a_full_disk_for_remarks_does_not_stop_the_work(self, folder, tmp_path):
        with open("/dev/full", "w") as full:
            options = {"capture_output": False, "stderr": full, "cwd": folder}
            arguments = ("predict", "model.kernelet", "test.csv", "-o", tmp_path / "p.csv")
            assert kernelet(*arguments, **options).returncode == 0
            assert kernelet("info", "nowhere.kernelet", **options).returncode == 4
        assert (tmp_path / "p.csv").read_text().startswith("prediction\n")


class TestStderr:
    @pytest.mark.parametrize("redirection", ["2>/dev/full", "2>&-"])
    @pytest.mark.parametrize(
        ("words", "code"), [("nosuch", 2), ("", 2), ("info nowhere.kernelet", 4), ("--version", 0)]
    )
    def test_that_cannot_be_written_changes_no_exit_code(self, words, code, redirection, folder):
        done = subprocess.run(
            f"'{sys.executable}' -m kernelet {words} {redirection}",
            shell=True,
            cwd=folder,
            stdout=subprocess.PIPE,
            text=True,
        )
        assert done.returncode == code
        assert done.stdout == (f"kernelet {package.__version__}\n" if code == 0 else "")

    def test_that_is_closed_does_not_stop_the_work(self, folder, call, monkeypatch, tmp_path):
        monkeypatch.setattr("sys.stderr", None)
        done = call("predict", "model.kernelet", "test.csv", "-o", tmp_path / "p.csv")
        sys.stderr.close()
        assert (done.code, done.out) == (0, "")
        assert (tmp_path / "p.csv").read_text().startswith("prediction\n")


class CountingStream(io.BytesIO):
    """Counts the bytes that are read."""

    n_read = 0

    def read1(self, size=-1):
        data = super().read1(size)
        self.n_read += len(data)
        return data


class TestFirstLine:
    @pytest.mark.parametrize("end", ["\n", "\r", "\r\n", ""])
    @pytest.mark.parametrize("length", [5, (1 << 16) - 1, 1 << 16, 200_001])
    def test_of_any_length(self, length, end):
        line = "\u00e9" + "x" * (length - 2)
        content = (line + end + ("1\0\n" if end else "")).encode()
        found, first = read_first_line(Source("t.csv", "csv"), io.BytesIO(content))
        assert found == line
        assert content.startswith(first)

    def test_nul_is_found_in_the_first_piece(self):
        stream = CountingStream(bytes(1 << 20))
        with pytest.raises(DataError, match="NUL"):
            read_first_line(Source("t.csv", "csv"), stream)
        assert stream.n_read <= 1 << 16

    def test_without_an_end_is_refused(self, call, folder):
        with open(folder / "endless.csv", "wb") as stream:
            for _ in range(65):
                stream.write(b"x" * (1 << 20))
        done = call("predict", "model.kernelet", "endless.csv")
        (folder / "endless.csv").unlink()
        assert done.code == 3
        assert "the first line of endless.csv is longer than 64 MiB" in done.err

    @pytest.mark.slow
    def test_of_a_device_without_an_end(self, folder):
        for command in (("predict", "model.kernelet"), ("fit", "-t", "x", "-o", "x.kernelet")):
            done = kernelet(*command, "/dev/zero", "--format", "csv", cwd=folder, timeout=60)
            assert done.returncode == 3
            assert "/dev/zero holds NUL characters" in done.stderr


@pytest.mark.parametrize("compressed", [False, True])
class TestPipes:
    """As in `kernelet fit <(cat table.csv)`: a name for what cannot be read twice."""

    @pytest.fixture
    def pipe(self, compressed, tmp_path):
        """Makes a pipe that holds a file, and returns its name."""
        ends = []

        def pipe(path):
            ends.extend(os.pipe())
            content = path.read_bytes()
            os.write(ends[-1], gzip.compress(content) if compressed else content)
            os.close(ends.pop())
            name = tmp_path / ("pipe.csv.gz" if compressed else "pipe.csv")
            name.symlink_to(f"/dev/fd/{ends[-1]}")
            return name

        yield pipe
        for end in ends:
            os.close(end)

    def test_fit(self, call, pipe, folder, tmp_path):
        options = ("-t", "species", "-m", "2", "--drop", "id", "--method", "reduced-svc", "-o")
        for name, table in (("a", "train.csv"), ("b", pipe(folder / "train.csv"))):
            done = call("fit", table, *options, tmp_path / f"{name}.kernelet")
            assert done.code == 0, done.err
        machines = [package.load(tmp_path / f"{name}.kernelet") for name in "ab"]
        rows = pd.read_csv(folder / "test.csv")
        np.testing.assert_array_equal(*(machine.predict(rows) for machine in machines))

    def test_predict(self, call, pipe, folder):
        expected = call("predict", "model.kernelet", "test.csv")
        done = call("predict", "model.kernelet", pipe(folder / "test.csv"))
        assert (done.code, done.out) == (0, expected.out), done.err
