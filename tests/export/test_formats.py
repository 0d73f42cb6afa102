"""Every format that is registered keeps the same contract, ours and that of CONTRIBUTING.md."""

from __future__ import annotations

import errno
import os
import warnings
from pathlib import Path

import numpy as np
import pytest
from sklearn.svm import SVC

import contributed
import kernelet
from export_models import MODELS, fitted
from kernelet.cli import main
from kernelet.export import formats, register_format
from kernelet.export.formats import Format, registered_formats
from kernelet.kernels import CallableKernel
from kernelet.machine import KernelMachine

FORMATS = registered_formats()
# One output, a Gaussian kernel and no columns: no format has an excuse.
PLAIN = "two classes, hinge"
# One in few bits, which are the only ones that the type "q7" of C is for.
FEW_BITS = "two classes, few bits"
each = pytest.mark.parametrize("name", [*FORMATS])
each_with_dtypes = pytest.mark.parametrize(
    "name", [name for name in FORMATS if FORMATS[name].dtypes]
)


def target(name: str, folder: Path) -> Path:
    if name == "onnx":
        pytest.importorskip("onnx")
    return folder / f"model{FORMATS[name].endings[0]}"


def write(name: str, model: object, path: object, **options: object) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # renamed labels, lost digits
        FORMATS[name].write(model, path, **options)


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def test_ours_and_the_example_are_among_them():
    assert {*FORMATS} >= {"c", "javascript", "json", "libsvm", "onnx", contributed.FORMAT}


@each
def test_its_description_is_that_of_the_function(name):
    form = FORMATS[name]
    assert isinstance(form, Format) and form.name == name == form.write.__name__
    assert form.dtype is None or form.dtype in form.dtypes
    assert form.write.__doc__
    others = [other.endings for other in FORMATS.values() if other is not form]
    assert not {*form.endings} & {ending for endings in others for ending in endings}


@each
def test_a_plain_model_is_written_the_same_each_time(name, tmp_path):
    path, model = target(name, tmp_path), fitted(PLAIN)
    write(name, model, path)
    first = contents(tmp_path)
    header = FORMATS[name].header
    assert {*first} == {path.name} | ({path.with_suffix(header).name} if header else set())
    assert all(first.values())
    write(name, model, str(path))  # a text is a path too, and the old file is replaced
    assert contents(tmp_path) == first


@each
@pytest.mark.parametrize("label", MODELS)
def test_every_model_is_written_or_refused_with_a_reason(name, label, tmp_path):
    path, model = target(name, tmp_path), fitted(label)
    machine = getattr(model, "machine_", None)
    before = None if machine is None else machine.decision_function(machine.vectors)
    try:
        write(name, model, path)
    except (TypeError, ValueError) as error:
        assert label != PLAIN
        assert len(str(error).split()) >= 5  # a sentence
        assert contents(tmp_path) == {}
    else:
        assert path.stat().st_size > 0
    if machine is not None:
        np.testing.assert_array_equal(machine.decision_function(machine.vectors), before)


@each
@pytest.mark.parametrize(
    ("make", "kind"),
    [
        (lambda: None, TypeError),
        (lambda: {"vectors": []}, TypeError),
        (lambda: SVC(), ValueError),
        (lambda: kernelet.SparseSVC(), ValueError),
        (lambda: KernelMachine(CallableKernel(np.matmul), [[1.0]], [1.0]), ValueError),
        (lambda: KernelMachine(fitted(PLAIN).machine_.kernel, [[1.0]], [np.inf]), ValueError),
    ],
    ids=["None", "dict", "SVC that is not fitted", "SparseSVC likewise", "a function", "infinity"],
)
def test_what_is_no_model_is_refused(name, make, kind, tmp_path):
    with pytest.raises(kind):
        write(name, make(), target(name, tmp_path))
    assert contents(tmp_path) == {}


@each
def test_bad_paths(name, tmp_path):
    path = target(name, tmp_path)
    with pytest.raises(OSError):
        write(name, fitted(PLAIN), tmp_path / "absent" / path.name)
    path.mkdir()
    with pytest.raises(OSError):
        write(name, fitted(PLAIN), path)
    assert not [*path.iterdir()]


@each
@pytest.mark.parametrize("function", ["fsync", "replace"])
def test_a_disk_that_fails_leaves_what_was_there(name, function, tmp_path, monkeypatch):
    path = target(name, tmp_path)

    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    for old in ({}, {path.name: b"old"}):
        for file, content in old.items():
            (tmp_path / file).write_bytes(content)
        with monkeypatch.context() as patch, pytest.raises(OSError, match="No space left"):
            patch.setattr(os, function, full)
            write(name, fitted(PLAIN), path)
        assert contents(tmp_path) == old


@each_with_dtypes
def test_types_of_numbers(name, tmp_path):
    form, path, model = FORMATS[name], target(name, tmp_path), fitted(PLAIN)
    written = {}
    for dtype in form.dtypes:
        write(name, fitted(FEW_BITS) if dtype == "q7" else model, path, dtype=dtype)
        written[dtype] = path.read_bytes()
    assert len({*written.values()}) == len(form.dtypes)
    write(name, model, path)
    assert path.read_bytes() == written[form.dtype or str(model.machine_.dtype)]
    with pytest.raises(ValueError, match="dtype must be .*" + ".*".join(form.dtypes)):
        write(name, model, path, dtype="float16")
    assert path.read_bytes() == written[form.dtype or str(model.machine_.dtype)]


@each
def test_the_command_line_writes_the_same_bytes(name, tmp_path, monkeypatch, capsys):
    fitted(PLAIN).save(tmp_path / "model.kernelet")
    few_bits = tmp_path / "few_bits"  # what is written has the name of the model's file
    few_bits.mkdir()
    fitted(FEW_BITS).save(few_bits / "model.kernelet")
    here, there = tmp_path / "here", tmp_path / "there"
    here.mkdir()
    there.mkdir()
    monkeypatch.chdir(there)
    for dtype in (None, *FORMATS[name].dtypes):
        file = "few_bits/model.kernelet" if dtype == "q7" else "model.kernelet"
        model = kernelet.load(tmp_path / file)
        options = {} if dtype is None else {"dtype": dtype}
        write(name, model, target(name, here), **options)
        words = ["export", f"../{file}", "-q"]
        words += [] if dtype is None else ["--dtype", dtype]
        for choice in (["--to", name], ["--to", name.upper()], ["-o", target(name, there).name]):
            assert main([*words, *choice]) == 0
            assert contents(there) == contents(here)
            for path in there.iterdir():
                path.unlink()
    assert main([*words, "--to", name, "--dtype", "float16"]) == 2
    assert "--dtype float16 is not for" in capsys.readouterr().err


def exporter(name="mine", dtype=None, has_dtype=False):
    def with_dtype(model, path, *, dtype=dtype):
        """For these tests."""

    def without(model, path):
        """For these tests."""

    made = with_dtype if has_dtype else without
    made.__name__ = made.__qualname__ = name
    return made


@pytest.mark.parametrize(
    ("function", "options", "message"),
    [
        *(
            (exporter(name), {}, "small letters, digits and underscores")
            for name in ("", "Mine", "1st", "a-b", "two words", "ä", "x" * 65)
        ),
        ("mine", {}, "an exporter must be a function"),
        *(
            (exporter(), {"endings": [ending]}, "an ending of mine must be a point with")
            for ending in ("", "mine", ".", ".MINE", ".a.b", "./a", ".kernelet", 3)
        ),
        (exporter(), {"endings": []}, "mine needs an ending"),
        (exporter(), {"header": ".mine"}, "another one for a header"),
        (exporter(), {"header": "h"}, "an ending of mine must be"),
        (exporter(), {"header": ".a.b.c"}, "an ending of mine must be"),
        (exporter(), {"header": [".h", ".i"]}, "another one for a header"),
        (exporter(), {"dtypes": ["float32"]}, "dtypes and a parameter called dtype, or neither"),
        (exporter(has_dtype=True), {}, "dtypes and a parameter called dtype, or neither"),
        (
            exporter(has_dtype=True, dtype="float16"),
            {"dtypes": ["float32", "float64"]},
            "must have a default: None or one of float32, float64",
        ),
        (exporter("c"), {}, "'c' is registered already, kernelet.export.to_c.exporter.c; give"),
        (exporter(), {"endings": [".mine", ".c"]}, "'.c' is that of the format 'c' already"),
    ],
)
def test_what_cannot_be_registered(function, options, message):
    before = dict(FORMATS)
    with pytest.raises(ValueError, match=message):
        register_format(**{"endings": [".mine"], **options})(function)
    assert before == FORMATS


def test_a_second_file_for_each_ending(monkeypatch):
    monkeypatch.setattr(formats, "_REGISTERED", dict(FORMATS))
    register_format(endings=[".mine", ".own"], header=[".d.mine", ".d.own"])(exporter())
    form = registered_formats()["mine"]
    assert form.header == ".d.mine"
    assert form.header_path(Path("a/b.own")) == Path("a/b.d.own")
    assert form.header_path(Path("a/b.txt")) is None
    assert FORMATS["c"].header_path(Path("b.c")) == Path("b.h")
    assert FORMATS["json"].header_path(Path("b.json")) is None


def test_registering_again(monkeypatch):
    monkeypatch.setattr(formats, "_REGISTERED", dict(FORMATS))
    first, again = exporter(), exporter()
    assert register_format(endings=[".mine"])(first) is first
    register_format(endings=[".mine", ".own"])(again)  # as a cell of a notebook that runs twice
    form = registered_formats()["mine"]
    assert form.write is again and form.endings == (".mine", ".own")
    # the ending is free for nobody else
    with pytest.raises(ValueError, match="that of the format 'mine' already"):
        register_format(endings=[".own"])(exporter("other"))
