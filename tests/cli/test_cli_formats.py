"""The ending of -o is the format: `kernelet fit`, `compress` and `export` write it directly."""

from __future__ import annotations

import pytest

import kernelet as package
from command_line import Called, kernelet, write_flowers
from kernelet.cli import main
from kernelet.export import formats, read_json, register_format
from kernelet.export.model import exported_model
from kernelet.persistence.atomic import write_atomically

FIT = ("fit", "train.csv", "-t", "species", "--drop", "id", "-m", 3, "--max-iter", 5)
KNOWN = ".c or .h (c), .onnx (onnx), .mjs or .js (javascript), .json (json), .model or .libsvm"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A table, and a model of it."""
    folder = tmp_path_factory.mktemp("formats")
    write_flowers(folder)
    assert kernelet(*FIT, "-o", "model.kernelet", cwd=folder).returncode == 0
    return folder


@pytest.fixture
def call(folder, capsys, monkeypatch):
    def call(*words, code=0):
        monkeypatch.chdir(folder)
        done = Called(main([str(word) for word in words]), *capsys.readouterr())
        assert done.code == code, done.err
        return done

    return call


@pytest.fixture
def sizes(monkeypatch):
    """A format of somebody else, with a header."""
    monkeypatch.setattr(formats, "_REGISTERED", dict(formats._REGISTERED))

    @register_format(endings=[".size"], header=".about", dtypes=["small", "large"])
    def size(model, path, dtype="small"):
        n_bytes = exported_model(getattr(model, "estimator", model)).machine.nbytes
        write_atomically(path, f"{n_bytes} {dtype}".encode())
        write_atomically(path.removesuffix(".size") + ".about", b"a size")


# What is written for an ending that is not alone.
SECOND_FILES = {
    ".c": [".c", ".h"],
    ".h": [".c", ".h"],
    ".mjs": [".mjs", ".d.mts"],
    ".js": [".js", ".d.ts"],
}


@pytest.mark.parametrize("ending", [".c", ".h", ".onnx", ".mjs", ".js", ".json"])
def test_a_fit_writes_what_an_export_of_its_model_is(ending, call, folder):
    written = {}
    for where, words in (("fit", FIT), ("export", ("export", "model.kernelet"))):
        (folder / where).mkdir(exist_ok=True)
        document = call(*words, "-o", f"{where}/m{ending}", "--json").document
        endings = SECOND_FILES.get(ending, [ending])
        names = [f"{where}/m{each}" for each in endings]
        assert document["files"] == names
        written[where] = [(folder / name).read_bytes() for name in names]
        if ending in (".c", ".h"):
            assert document["flash_bytes"] > 0
    assert written["fit"] == written["export"]
    assert not (folder / "fit" / "m.kernelet").exists()


def test_the_real_command(folder):
    done = kernelet(*FIT, "-o", "iris.h", cwd=folder)
    assert done.returncode == 0
    assert done.stdout.startswith("model           iris.c and iris.h (")
    assert "\nflash " in done.stdout and "\nRAM " in done.stdout
    assert (folder / "iris.c").exists() and (folder / "iris.h").exists()


def test_types_of_numbers(call, folder):
    call(*FIT, "-o", "t.c", "--dtype", "Q15")
    assert "int16_t" in (folder / "t.c").read_text()
    call("compress", "model.kernelet", "-m", 2, "-o", "t.json", "--dtype", "float32")
    assert read_json(folder / "t.json").machine_.dtype == "float32"


def test_compress_writes_them_too(call, folder):
    call("compress", "model.kernelet", "-m", 2, "-o", "small.json")
    call("compress", "model.kernelet", "-m", 2, "-o", "small.kernelet")
    call("export", "small.kernelet", "-o", "again.json")
    assert (folder / "small.json").read_bytes() == (folder / "again.json").read_bytes()


def test_formats_of_others(sizes, call, folder):
    n_bytes = package.load(folder / "model.kernelet").machine_.nbytes
    for words in (FIT, ("export", "model.kernelet")):
        for name in ("m.size", "m.about"):
            document = call(*words, "-o", name, "--dtype", "large", "--json").document
            assert document["files"] == ["m.size", "m.about"]
            assert (folder / "m.size").read_text() == f"{n_bytes} large"
            (folder / "m.size").unlink()
        done = call(*words, "-o", "m.size", "--dtype", "q15", code=2)
        assert "--dtype q15 is not for size; say one of small, large" in done.err
        assert ".size or .about (size)" in call(*words, "-o", "m.zip", code=2).err


@pytest.mark.parametrize("name", ["model", "model-0.5", "model.KERNELET"])
def test_other_names_are_model_files(name, call, folder):
    call(*FIT, "-o", name)
    assert package.load(folder / name).n_vectors_ == 3


@pytest.mark.parametrize("words", [FIT, ("compress", "model.kernelet", "-m", 2)], ids=["fit", "c"])
@pytest.mark.parametrize(
    ("options", "text"),
    [
        (
            ("-o", "m.tflite"),
            f"the ending .tflite of m.tflite is not known; say .kernelet .*{KNOWN}",
        ),
        (
            ("-o", "m.onnx", "--dtype", "q7"),
            "--dtype q7 is not for onnx; say one of float32, float64",
        ),
        (("-o", "m.c", "--dtype", "q8"), "q8 is not for c; say one of float32, float64, q15, q7"),
        (("--dtype", "q7"), "--dtype q7 is for exports, .*float32, float64, q15, q7"),
        (("-o", "m.kernelet", "--dtype", "q7"), "--dtype q7 is for exports, not for a model file"),
    ],
)
def test_what_is_refused_before_any_work(words, options, text, call, folder):
    before = {path.name: path.stat().st_mtime_ns for path in folder.iterdir()}
    done = call(*words, *options, code=2)
    assert all(part in done.err for part in text.split(".*")), done.err
    assert done.err.count("\n") == 1 and done.out == ""
    assert before == {path.name: path.stat().st_mtime_ns for path in folder.iterdir()}


def test_an_export_lists_the_endings(call):
    done = call("export", "model.kernelet", "-o", "m.tflite", code=2)
    assert "the ending .tflite of m.tflite is not known; choose a format with --to" in done.err
    assert KNOWN in done.err


def test_a_model_that_the_format_cannot_hold_is_not_lost(call, folder):
    done = call(*FIT, "-o", "lost.libsvm", code=4)
    assert "no place for the columns of a table" in done.err
    assert "nothing is lost: the model is saved in lost.kernelet" in done.err
    assert package.load(folder / "lost.kernelet").n_vectors_ == 3
    assert not (folder / "lost.libsvm").exists()
    assert "saved in lost-2.kernelet" in call(*FIT, "-o", "lost.libsvm", code=4).err


def test_a_format_and_the_ending_of_another(call, folder):
    done = call("export", "model.kernelet", "--to", "onnx", "-o", "m.c", code=2)
    assert "--to onnx and the ending .c of m.c, which is that of c, do not agree" in done.err
    assert "or say -o m.onnx" in done.err and not (folder / "m.c").exists()
