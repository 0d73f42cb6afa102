"""How commands fail: one line that says what and what to do, and an exit code for scripts."""

import contextlib
import json
import re
import signal
import struct
import subprocess
import sys
import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import ConvergenceWarning

import kernelet as package
from command_line import Called, kernelet, write_flowers
from kernelet.cli import main, training_data, writing

MEASURES = "sepal length,sepal width,petal length,petal width"
FIT = ("fit", "train.csv", "-t", "species", "-m", "3", "--drop", "id", "-o", "x.kernelet")


@pytest.fixture(scope="module")
def tables(tmp_path_factory):
    """A folder of tables, most of which have something wrong, and a model."""
    folder = tmp_path_factory.mktemp("tables")
    frame = write_flowers(folder)[:110].drop(columns="id")
    (folder / "empty.csv").write_text("")
    (folder / "latin.csv").write_bytes("größe,species\n1,a\n2,b\n".encode("latin-1"))
    (folder / "ragged.csv").write_text("a,species\n1,x\n2,y\n3,x,7,8\n")
    (folder / "wide.csv").write_text("a,species\n1,x,3\n2,y,4\n")
    (folder / "numbers.csv").write_text("5.1,3.5,0\n4.9,3.0,1\n")
    (folder / "twice.csv").write_text("a,a,species\n1,2,x\n2,3,y\n")
    (folder / "lonely.csv").write_text("species\nx\ny\n")
    (folder / "table.dat").write_text("a,species\n1,x\n")
    (folder / "bad.libsvm").write_text("1 1:0.5 2:x\n")
    (folder / "bad.npz").write_bytes(b"PK no zip")
    np.savez(folder / "two.npz", X_train=np.ones((3, 2)), X_new=np.ones((2, 2)), y=[0, 1, 0])
    np.savez(folder / "objects.npz", X=np.array([[1, "a"]], dtype=object), y=[1])
    frame[:0].to_csv(folder / "no rows.csv", index=False)
    frame[frame.species == "setosa"].to_csv(folder / "one class.csv", index=False)
    frame.assign(species=frame.species.mask(frame.index == 3)).to_csv(
        folder / "unlabelled.csv", index=False
    )
    mistyped = frame.astype({"petal width": object})
    mistyped.loc[7, "petal width"] = "o.2"
    mistyped.to_csv(folder / "mistyped.csv", index=False)
    frame.assign(price=np.linspace(0, 1, 110)).to_csv(folder / "prices.csv", index=False)
    frame.assign(hole=np.nan).to_csv(folder / "hole.csv", index=False)
    frame.assign(depth=np.where(frame.index == 5, np.inf, 1.0)).to_csv(
        folder / "infinite.csv", index=False
    )
    frame.rename(columns={"colour": "color", "petal width": "petal_width"}).to_csv(
        folder / "renamed.csv", index=False
    )
    frame.drop(columns="colour").to_csv(folder / "lacking.csv", index=False)
    package.TableModel.fit(
        frame, "species", package.SparseSVC(3, max_iter=300, random_state=0)
    ).save(folder / "model.kernelet")
    whole = (folder / "model.kernelet").read_bytes()
    (folder / "cut.kernelet").write_bytes(whole[:500])
    (folder / "noise.kernelet").write_bytes(b"\x00" * 64)
    (folder / "newer.kernelet").write_bytes(of_version(whole, "99"))
    package.load(folder / "model.kernelet").machine_.save(folder / "machine.kernelet")
    return folder


def of_version(content, version):
    """The same file, said to be of another version of the format."""
    (length,) = struct.unpack("<Q", content[:8])
    header = json.loads(content[8 : 8 + length])
    header["__metadata__"]["format_version"] = version
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    return struct.pack("<Q", len(text)) + text + content[8 + length :]


@pytest.fixture
def call(tables, capsys, monkeypatch):
    monkeypatch.chdir(tables)

    def call(*arguments):
        try:
            code = main([str(argument) for argument in arguments])
        except SystemExit as stopped:
            code = stopped.code
        return Called(code, *capsys.readouterr())

    return call


def options(table, target="species"):
    return ("fit", table, "-t", target, "-m", "2", "-o", "x.kernelet")


WRONG = {
    # the table
    "missing file": (options("nowhere.csv"), 3, "nowhere.csv does not exist"),
    "near file": (options("trian.csv"), 3, "do you mean train.csv?"),
    "missing folder": (options("no/where.csv"), 3, "nor does the folder no"),
    "folder": (options("."), 3, "is a folder"),
    "unknown ending": (options("table.dat"), 3, "say --format csv, tsv, parquet, npz or libsvm"),
    "near column": (options("train.csv", "specis"), 3, "'specis'; do you mean 'species'?"),
    "other column": (options("train.csv", "zzz"), 3, "it has 'sepal length'"),
    "no target": (("fit", "train.csv", "-o", "x.kernelet"), 2, "--target COLUMN"),
    "empty file": (options("empty.csv"), 3, "empty.csv is empty"),
    "no rows": (options("no rows.csv"), 3, "no rows.csv has no rows"),
    "no features": (options("lonely.csv"), 3, "no column to learn from"),
    "one class": (options("one class.csv"), 3, "one class only, 'setosa'"),
    "unlabelled": (options("unlabelled.csv"), 3, "no value in row 4 of unlabelled.csv"),
    "quantity": (options("prices.csv", "price"), 3, "110 different values in 110 rows"),
    "mistyped number": (options("mistyped.csv"), 3, "'o.2' in row 8"),
    "only ids": (
        (*options("train.csv"), "-q", "--drop", f"colour,{MEASURES}"),
        3,
        "no other column to learn from",
    ),
    "dropped target": ((*FIT, "--drop", "species"), 2, "leave it out of --drop"),
    "chosen target": ((*FIT[:6], "--only", "species,id"), 2, "leave it out of --only"),
    "near dropped": ((*FIT, "--drop", "idd"), 3, "do you mean 'id'?"),
    "empty column": (options("hole.csv"), 3, "--drop hole"),
    "infinite": (options("infinite.csv"), 3, "infinite number in row 6"),
    "not utf-8": (options("latin.csv"), 3, "--encoding, such as latin-1"),
    "encoding": ((*options("latin.csv"), "--encoding", "klingon"), 3, "klingon is not known"),
    "long rows": (options("ragged.csv"), 3, "line 4 of ragged.csv has 4 cells where 2 are needed"),
    "wide rows": (options("wide.csv"), 3, "more cells than its first line"),
    "no heading": (options("numbers.csv", "0"), 3, "say --no-header"),
    "two names": (options("twice.csv"), 3, "two columns called 'a'"),
    "bad libsvm": (("fit", "bad.libsvm", "-o", "x.kernelet"), 3, "as a LIBSVM file"),
    "bad npz": (("fit", "bad.npz", "-o", "x.kernelet"), 3, "not an npz file, or is damaged"),
    "pickled npz": (("fit", "objects.npz", "-o", "x.kernelet"), 3, "holds Python objects"),
    "two matrices": (("fit", "two.npz", "-o", "x.kernelet"), 3, "say which --matrix"),
    "not parquet": ((*options("train.csv"), "--format", "parquet"), 3, "cannot be read as parquet"),
    "small holdout": ((*options("twice.csv"), "--holdout", "0.9", "--separator", ";"), 3, "twice"),
    # the model
    "missing model": (("info", "modle.kernelet"), 4, "do you mean model.kernelet?"),
    "no model": (("predict", "train.csv", "test.csv"), 4, "not a model file"),
    "cut model": (("predict", "cut.kernelet", "test.csv"), 4, "cut.kernelet"),
    "noise": (("info", "noise.kernelet"), 4, "noise.kernelet"),
    "newer model": (("info", "newer.kernelet"), 4, "99"),
    "model folder": (("evaluate", ".", "test.csv"), 4, "is a folder"),
    "bare machine": (("evaluate", "machine.kernelet", "test.csv"), 4, "knows no classes"),
    "no classes": (("evaluate", "machine.kernelet", "test.csv", "-t", "id"), 4, "knows no classes"),
    "no probabilities": (
        ("predict", "model.kernelet", "test.csv", "--probabilities"),
        4,
        "fit it with --probabilities",
    ),
    # the table for a model
    "text for a number": (
        ("predict", "model.kernelet", "mistyped.csv"),
        3,
        "'o.2' in column 'petal width', row 8, where a number is needed",
    ),
    "renamed": (
        ("predict", "model.kernelet", "renamed.csv"),
        3,
        "rename 'petal_width' for 'petal width', 'color' for 'colour'",
    ),
    "lacking": (("evaluate", "model.kernelet", "lacking.csv"), 3, "no column 'colour'"),
    "other labels": (
        ("evaluate", "model.kernelet", "train.csv", "-t", "colour"),
        3,
        "none of the labels in column 'colour'",
    ),
    "evaluate unlabelled": (("evaluate", "model.kernelet", "unlabelled.csv"), 3, "row 4"),
    "evaluate nothing": (("evaluate", "model.kernelet", "no rows.csv"), 3, "has no rows"),
    "near kept": (("predict", "model.kernelet", "test.csv", "--keep", "idd"), 3, "mean 'id'?"),
    # the output
    "output folder": ((*FIT, "-o", "no/x.kernelet"), 5, "the folder no does not exist"),
    "output is a folder": ((*FIT, "-o", "."), 5, "is a folder"),
    "output in a file": ((*FIT, "-o", "train.csv/x"), 5, "is a file, not a folder"),
    "prediction folder": (
        ("predict", "model.kernelet", "test.csv", "-o", "no/x.csv"),
        5,
        "the folder no does not exist",
    ),
    "device": ((*FIT, "-o", "/dev/full"), 5, "not a regular file"),
    # the command line
    "near command": (("fti",), 2, "do you mean 'fit'?"),
    "near method": ((*FIT, "--method", "spars-svc"), 2, "do you mean 'sparse-svc'?"),
    "near parameter": ((*FIT, "--param", "nit=3"), 2, "do you mean init?"),
    "no value": ((*FIT, "--param", "tol"), 2, "NAME=VALUE"),
    "foreign option": ((*FIT, "--method", "reduced-svc", "--max-iter", "3"), 2, "--max-iter"),
    "wrong value": ((*FIT, "--param", "loss=huber"), 1, "'squared_hinge'; got 'huber'"),
    "negative C": ((*FIT, "--C", "-1"), 2, "above zero"),
    "no vectors": ((*FIT, "-m", "0"), 2, "whole number of at least 1"),
    "too many vectors": ((*FIT, "-m", "500"), 2, "more than the 110 rows"),
    "bad share": ((*FIT, "--holdout", "2"), 2, "between 0 and 1"),
    "bad gamma": ((*FIT, "--gamma", "wide"), 2, "must be a number"),
    "bad seed": ((*FIT, "--seed", "-1"), 2, "whole number from 0"),
    "bad seed of compress": (
        ("compress", "model.kernelet", "-m", "2", "--seed", "-1", "-o", "x.kernelet"),
        2,
        "whole number from 0",
    ),
    "two test sets": ((*FIT, "--holdout", "0.5", "--test", "test.csv"), 2, "not both"),
    "nothing to calibrate on": ((*FIT, "--probabilities"), 2, "--holdout 0.2"),
    "only and drop": ((*FIT, "--only", "colour"), 2, "not both"),
    "refit without rows": (
        ("compress", "model.kernelet", "-m", "2", "--refit", "margin", "-o", "x.kernelet"),
        2,
        "--table TABLE",
    ),
    "refit with vectors by error": (
        (
            "compress",
            "model.kernelet",
            "-m",
            "auto",
            "--refit",
            "direct",
            "--table",
            "train.csv",
            "-o",
            "x",
        ),
        2,
        "--vectors auto keeps the scores",
    ),
    "an error for a number": (
        ("compress", "model.kernelet", "-m", "2", "--max-error", "0.1", "-o", "x.kernelet"),
        2,
        "--max-error belongs to --vectors auto",
    ),
    "neither a number nor auto": (
        ("compress", "model.kernelet", "-m", "few", "-o", "x.kernelet"),
        2,
        "whole number of at least 1, or auto",
    ),
    "bad budgets": (
        ("frontier", "train.csv", "-t", "species", "--budgets", "5;6"),
        2,
        "whole numbers",
    ),
    "large budgets": (
        ("frontier", "train.csv", "-t", "species", "--drop", "id", "--budgets", "500"),
        2,
        "at most 88",
    ),
    "one fold": (("frontier", "train.csv", "-t", "species", "--folds", "1"), 2, "at least 2"),
    "no budget": (
        ("frontier", "train.csv", "-t", "species", "--method", "svc"),
        2,
        "chooses its number of vectors itself",
    ),
}


@pytest.mark.parametrize("name", WRONG)
def test_failure_is_one_line(name, call, tables):
    arguments, code, reason = WRONG[name]
    done = call(*arguments)
    assert done.code == code
    assert done.out == ""
    assert reason in done.err
    *usage, line = done.err.splitlines()
    assert len(usage) == (1 if "error:" in line else 0), done.err
    assert re.match(r"kernelet( \w+)?: ", line)
    assert "Traceback" not in done.err
    assert not (tables / "x.kernelet").exists()


@pytest.mark.parametrize(
    ("arguments", "code"),
    [(WRONG[name][0], WRONG[name][1]) for name in ("near column", "newer model", "device")],
)
def test_failure_of_the_real_command(arguments, code, tables):
    done = kernelet(*arguments, cwd=tables)
    assert (done.returncode, done.stdout) == (code, "")
    assert len(done.stderr.splitlines()) == 1
    assert not (tables / "x.kernelet").exists()


def test_no_command_shows_the_help(call):
    done = call()
    assert (done.code, done.out) == (2, "")
    assert "usage: kernelet" in done.err and "exit codes:" in done.err


def test_debug_shows_where(call):
    done = call(*options("nowhere.csv"), "--debug")
    assert done.code == 3
    assert "Traceback" in done.err and "missing_file" in done.err
    assert done.err.splitlines()[-1].startswith("kernelet fit: nowhere.csv does not exist")


def test_a_fault_of_ours_is_one_line_too(call, monkeypatch):
    def broken(*_):
        raise RuntimeError("two\nlines")

    monkeypatch.setattr(training_data, "read_training_data", broken)
    done = call(*FIT)
    assert done.code == 1
    assert done.err == "kernelet fit: RuntimeError: two lines (--debug shows where)\n"


def test_too_little_memory(call, monkeypatch):
    def hungry(*_):
        raise MemoryError

    monkeypatch.setattr(training_data, "target_values", hungry)
    done = call(*FIT)
    assert (done.code, done.err.count("\n")) == (1, 1)
    assert "not enough memory" in done.err


def test_write_protected_outputs(call, monkeypatch, tables):
    """The superuser may write everywhere, so the answer of the system is set here."""
    monkeypatch.setattr(writing.os, "access", lambda path, mode: False)
    done = call(*FIT)
    assert done.code == 5
    assert "nothing can be written in the folder" in done.err
    monkeypatch.setattr(writing.os, "access", lambda path, mode: str(path) == ".")
    done = call("predict", "model.kernelet", "test.csv", "-o", "train.csv")
    assert done.code == 5
    assert "train.csv is write-protected" in done.err


def test_an_output_stays_as_it_was_when_the_table_turns_out_bad(call, tables):
    frame = pd.read_csv(tables / "train.csv").astype({"petal width": object})
    frame.loc[100, "petal width"] = "wide"
    frame.to_csv(tables / "late.csv", index=False)
    (tables / "old.csv").write_text("precious\n")
    before = sorted(path.name for path in tables.iterdir())
    done = call("predict", "model.kernelet", "late.csv", "-o", "old.csv", "--chunk", "20")
    assert done.code == 3
    assert "row 101" in done.err
    assert (tables / "old.csv").read_text() == "precious\n"
    assert sorted(path.name for path in tables.iterdir()) == before


def test_interrupted_before_there_is_a_machine(call, monkeypatch):
    def interrupt(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr(package.SparseSVC, "fit", interrupt)
    done = call(*FIT)
    assert done.code == 130
    assert done.err == "kernelet fit: interrupted before there was a machine; nothing is saved\n"


def test_ctrl_c_is_heard_though_the_fit_catches_it(call, monkeypatch, tables):
    """Whatever the method says of it: the exit code and the warning are the command's."""
    fit = package.NormSVC.fit

    def interrupted(self, *arguments, **options):
        with contextlib.suppress(KeyboardInterrupt):
            signal.raise_signal(signal.SIGINT)
        warnings.warn("not all steps were taken", ConvergenceWarning, stacklevel=2)
        return fit(self, *arguments, **options)

    monkeypatch.setattr(package.NormSVC, "fit", interrupted)
    done = call(*FIT[:-1], "norm.kernelet", "--method", "norm-svc", "--json")
    assert done.code == 130
    assert done.document["interrupted"]
    *others, last = done.document["warnings"]
    assert last == "interrupted; the best machine so far is saved in norm.kernelet"
    assert "not all steps were taken" not in others  # which was to be expected
    assert package.load(tables / "norm.kernelet").n_vectors_ <= 3
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_a_column_called_interrupted_is_no_ctrl_c(call, tables):
    frame = pd.read_csv(tables / "train.csv").drop(columns="id")
    frame["interrupted"] = np.where(frame.index == 3, np.nan, 1.0 * (frame.index % 7))
    frame.to_csv(tables / "interrupted.csv", index=False)
    common = ("-t", "species", "--method", "reduced-svc", "--json")
    for command in (
        ("fit", "interrupted.csv", *common, "-m", "2", "-o", "column.kernelet"),
        ("frontier", "interrupted.csv", *common, "--budgets", "2", "--folds", "2", "--no-svm"),
    ):
        done = call(*command)
        assert done.code == 0
        assert "'interrupted' misses 1 of 110 numbers" in done.document["warnings"][0]


def test_an_interrupted_frontier_shows_what_it_has(call, monkeypatch):
    fit, fits = package.SparseSVC.fit, []

    def interrupted_in_the_second_fold(self, *arguments, **options):
        fits.append(self)
        if len(fits) > 4:
            signal.raise_signal(signal.SIGINT)
        return fit(self, *arguments, **options)

    monkeypatch.setattr(package.SparseSVC, "fit", interrupted_in_the_second_fold)
    done = call(
        *("frontier", "train.csv", "-t", "species", "--drop", "id", "--budgets", "1,2"),
        *("--folds", "3", "--no-svm", "--json"),
    )
    assert done.code == 130
    assert "interrupted" in done.document["warnings"][0]
    assert done.document["folds"] < 3
    assert [entry["vectors"] for entry in done.document["frontier"]] == [1, 2]


def test_a_reader_that_leaves_early(tables):
    code = (
        "import sys; from kernelet.cli import main;"
        "sys.exit(main(['predict', 'model.kernelet', 'train.csv', '--scores']))"
    )
    with subprocess.Popen(
        [sys.executable, "-c", code], cwd=tables, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        process.stdout.close()
        assert process.stderr.read() == b""
    assert process.returncode == 1
