"""`kernelet export`: what it writes answers as `kernelet predict`, and what it cannot it says."""

from __future__ import annotations

import json
import sys

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

import kernelet as package
from command_line import Called, flowers, kernelet, write_flowers
from kernelet.cli import main
from kernelet.cli.formats import DTYPES, FORMATS
from kernelet.export import read_json
from kernelet.export.formats import registered_formats


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A model of a table of flowers, and one of a matrix with two classes."""
    folder = tmp_path_factory.mktemp("export")
    write_flowers(folder)
    frame = flowers()
    frame.pop("id")
    estimator = package.SparseSVC(5, random_state=0)
    package.TableModel.fit(frame[:110], "species", estimator).save(folder / "iris.kernelet")
    X = frame.iloc[:, :4].to_numpy()
    y = np.where(frame["species"] == "virginica", 2, 1)
    package.ReducedSVC(5, random_state=0).fit(X, y).save(folder / "two.kernelet")
    return folder


@pytest.fixture
def call(capsys, monkeypatch, folder):
    def call(*arguments):
        monkeypatch.chdir(folder)
        code = main([str(argument) for argument in arguments])
        return Called(code, *capsys.readouterr())

    return call


def test_the_real_command(folder):
    done = kernelet("export", "iris.kernelet", "--to", "json", cwd=folder)
    assert done.returncode == 0 and done.stderr == ""
    assert done.stdout.splitlines()[0].startswith("file     iris.json (")
    model, test = package.load(folder / "iris.kernelet"), pd.read_csv(folder / "test.csv")
    read = read_json(folder / "iris.json")
    assert_array_equal(read.predict(test), model.predict(test))
    assert_allclose(read.decision_function(test), model.decision_function(test), rtol=1e-12)


@pytest.mark.parametrize("calibrated", [False, True])
def test_pipelines_of_scikit_learn(calibrated, call, folder):
    frame = flowers()
    columns = list(frame.columns[:4])
    model = make_pipeline(StandardScaler(), SVC()).fit(frame[columns], frame["species"])
    if calibrated:
        model = package.calibrate(model, frame[columns], frame["species"])
    package.save(model, folder / "pipeline.kernelet")
    test = pd.read_csv(folder / "test.csv")
    done = call("predict", "pipeline.kernelet", "test.csv", "-o", "predicted.csv", "--quiet")
    assert (done.code, done.err) == (0, "")
    predicted = pd.read_csv(folder / "predicted.csv")["prediction"]
    assert_array_equal(predicted, model.predict(test[columns]))
    assert call("info", "pipeline.kernelet", "--json").document["kind"] == "Pipeline"
    small = ["compress", "pipeline.kernelet", "--vectors", 10, "-o", "small.kernelet"]
    done = call(*small, "--table", "train.csv", "--target", "species")
    assert done.code == 0
    # which the default --refit margin would not fit
    assert ("the probabilities are left out" in done.err) == calibrated
    assert len(done.err.splitlines()) == calibrated
    assert call("export", "small.kernelet", "--to", "c").code == 0
    smaller = package.load(folder / "small.kernelet")
    assert smaller.score(test[columns], test["species"]) > 0.9


@pytest.mark.parametrize("name", FORMATS)
def test_every_format(name, call, folder):
    path = folder / f"two{registered_formats()[name].endings[0]}"
    done = call("export", "two.kernelet", "--to", name, "--json")
    assert (done.code, done.err) == (0, "")
    document = done.document
    assert document["files"][0] == path.name and document["vectors"] == 5
    assert document["bytes"][0] == path.stat().st_size
    assert ("flash_bytes" in document) == (name == "c")
    before = path.read_bytes()
    path.unlink()
    # the ending says the same as --to
    assert call("export", "two.kernelet", "-o", path.name, "--quiet").out == ""
    assert path.read_bytes() == before


def test_help_names_what_is_registered():
    ours = {
        name: form
        for name, form in registered_formats().items()
        if getattr(package.export, name, None) is form.write
    }
    assert {*FORMATS} == {*ours}
    assert {*DTYPES} == {dtype for form in ours.values() for dtype in form.dtypes}


def test_names_as_people_have_them(call, folder):
    for name in ("C", "js", "JavaScript", "mjs", "ONNX"):
        assert call("export", "two.kernelet", "--to", name, "--quiet").code == 0
    with pytest.raises(SystemExit):
        call("export", "two.kernelet", "--to", "onx")


def test_an_unknown_name_is_answered_with_those_that_are_known(call, capsys):
    for name, hint in (("onx", "do you mean 'onnx'?"), ("zip", "known are c, onnx, javascript")):
        with pytest.raises(SystemExit):
            call("export", "two.kernelet", "--to", name)
        assert f"argument --to: '{name}' is not known; {hint}" in capsys.readouterr().err


def test_json_is_a_model_for_the_other_commands(call, folder):
    assert call("export", "iris.kernelet", "--to", "json").code == 0
    for name in ("iris.json", "iris.kernelet"):
        assert call("predict", name, "test.csv", "--scores", "-o", f"{name}.csv").code == 0
    found, expected = (pd.read_csv(folder / f"{n}.csv") for n in ("iris.json", "iris.kernelet"))
    pd.testing.assert_frame_equal(found, expected)
    assert call("export", "iris.json", "-o", "again.json", "--quiet").code == 0
    assert (folder / "again.json").read_text() == (folder / "iris.json").read_text()
    done = call("info", "iris.json")
    assert done.code == 4 and "read_json reads JSON" in done.err
    (folder / "broken.json").write_text("{}")
    done = call("predict", "broken.json", "test.csv")
    assert done.code == 4 and "not a model of kernelet" in done.err


def test_types(call, folder):
    for dtype, n in (("float32", 4), ("float64", 8)):
        done = call("export", "two.kernelet", "-o", "t.onnx", "--dtype", dtype, "--json")
        assert done.document["dtype"] == dtype
        assert n * 5 * 4 < done.document["bytes"][0]
    done = call("export", "two.kernelet", "-o", "t.json", "--dtype", "float32")
    assert read_json(folder / "t.json").machine_.dtype == np.float32
    done = call("export", "two.kernelet", "-o", "t.c", "--dtype", "q15", "--json")
    assert done.document["dtype"] == "q15" and "int16_t" in (folder / "t.c").read_text()


def test_a_table_goes_along(call, folder):
    done = call("export", "iris.kernelet", "-o", "iris.mjs")
    assert done.code == 0 and "sepal width" in (folder / "iris.mjs").read_text()


@pytest.mark.parametrize(
    ("arguments", "code", "reason"),
    [
        (["two.kernelet"], 2, "choose a format with --to: c, onnx, javascript, json, libsvm"),
        (["two.kernelet", "-o", "model.txt"], 2, "choose a format with --to"),
        (["two.kernelet", "--to", "onnx", "--dtype", "q15"], 2, "say one of float32, float64"),
        (["two.kernelet", "--to", "libsvm", "--dtype", "float32"], 2, "leave it out"),
        (["two.kernelet", "--to", "c", "--dtype", "q16"], 2, "say one of float32, float64, q15"),
        (["two.kernelet", "--to", "c", "-o", "m.txt"], 2, "-o m.c"),
        (["none.kernelet", "--to", "c"], 4, "none.kernelet"),
        (["iris.kernelet", "--to", "libsvm"], 4, "no place for the columns of a table"),
        (["two.kernelet", "--to", "c", "-o", "no/where.c"], 5, "the folder no does not exist"),
    ],
)
def test_errors_say_what_to_do(arguments, code, reason, call, folder):
    before = {path.name: path.stat().st_mtime_ns for path in folder.iterdir()}
    done = call("export", *arguments)
    assert (done.code, done.out) == (code, "")
    assert reason in done.err and done.err.count("\n") == 1
    assert before == {path.name: path.stat().st_mtime_ns for path in folder.iterdir()}


def test_a_missing_package_is_named(call, monkeypatch):
    monkeypatch.setitem(sys.modules, "onnx", None)
    done = call("export", "two.kernelet", "--to", "onnx", "-o", "absent.onnx")
    assert done.code == 1 and "pip install 'kernelet[onnx]'" in done.err


def test_renamed_labels_are_reported(call, folder):
    X = np.arange(8.0).reshape(4, 2)
    model = package.ReducedSVC(2, random_state=0).fit(X, ["no", "no", "yes", "yes"])
    model.save(folder / "texts.kernelet")
    done = call("export", "texts.kernelet", "--to", "libsvm", "--json")
    assert done.code == 0 and "'yes' is written as 1" in done.err
    assert json.loads(done.out)["warnings"] == [done.err.split("warning: ")[1].strip()]
