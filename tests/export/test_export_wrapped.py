"""Pipelines, searches and other wrappers exported as a whole, and run on the same raw rows."""

from __future__ import annotations

import json as standard_json

import jsonschema
import numpy as np
import onnxruntime
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.compose import ColumnTransformer
from sklearn.decomposition import PCA
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from kernelet import calibrate, compress
from kernelet.export import (
    c,
    javascript,
    json,
    json_schema,
    libsvm,
    onnx,
    read_json,
    register_skl2onnx,
)
from kernelet.persistence import ModelFileError
from run_c import compiled
from wrapped_models import (
    CLASSES,
    MODELS,
    PAIR,
    ROWS,
    SPECIES,
    VALUES,
    assert_same,
    fit,
    fitted,
    frame,
    of_table,
    tolerance,
)

every = pytest.mark.parametrize("name", MODELS)
NOT_OURS = "one against one, two classes"  # whose decision function is a vote


def assert_answers(name, model, found):
    """What some runtime answers of the rows, by the name of the method."""
    if name in VALUES:
        assert_allclose(np.ravel(found["decision_function"]), model.predict(ROWS), rtol=1e-9)
        return
    assert_array_equal(found["predict"], model.predict(ROWS))
    assert ("predict_proba" in found) == hasattr(model, "predict_proba")
    if "predict_proba" in found:
        shares = model.predict_proba(ROWS)
        assert_allclose(found["predict_proba"], shares, atol=tolerance(name))
    if hasattr(model, "decision_function") and name != NOT_OURS:
        scores = np.asarray(found["decision_function"])
        wanted = model.decision_function(ROWS)
        assert_allclose(scores.reshape(wanted.shape), wanted, atol=1e-8)


@pytest.fixture(scope="module")
def libraries(tmp_path_factory):
    models = [(fitted(name), "float64") for name in MODELS]
    return dict(zip(MODELS, compiled(models, tmp_path_factory.mktemp("c")), strict=True))


@every
def test_c(name, libraries):
    library, model = libraries[name], fitted(name)
    found = {"decision_function": library.decision_function(ROWS)}
    if name not in VALUES:
        found["predict"] = model.classes_[library.predict(ROWS)]
        if "predict_proba" in library.written.header:
            found["predict_proba"] = library.predict_proba(ROWS)
    assert_answers(name, model, found)


@every
def test_onnx(name, tmp_path):
    model = fitted(name)
    onnx(model, tmp_path / "model.onnx", dtype="float64")
    session = onnxruntime.InferenceSession(tmp_path / "model.onnx")
    outputs = [output.name for output in session.get_outputs()]
    found = dict(zip(outputs, session.run(None, {"X": ROWS}), strict=True))
    methods = {
        "label": "predict",
        "scores": "decision_function",
        "probabilities": "predict_proba",
        "variable": "decision_function",
    }
    assert_answers(name, model, {methods[key]: value for key, value in found.items()})


@every
def test_json(name, tmp_path):
    json(fitted(name), tmp_path / "model.json")
    jsonschema.validate(standard_json.loads((tmp_path / "model.json").read_text()), json_schema())
    read = read_json(tmp_path / "model.json")
    if name in VALUES:
        assert_allclose(read.predict(ROWS), fitted(name).predict(ROWS), rtol=1e-9)
    else:
        assert_same(name, fitted(name), read)


@pytest.mark.parametrize("imputed", [False, True])
def test_columns_of_a_table(imputed, tmp_path):
    """A ColumnTransformer is exported as the columns that it takes."""
    table, model = frame().copy(), of_table(imputed)
    if imputed:
        table.loc[::9, "weight"] = np.nan
    wanted = model.predict(table)
    json(model, tmp_path / "model.json")
    jsonschema.validate(standard_json.loads((tmp_path / "model.json").read_text()), json_schema())
    assert_array_equal(read_json(tmp_path / "model.json").predict(table), wanted)

    onnx(model, tmp_path / "model.onnx", dtype="float64")
    session = onnxruntime.InferenceSession(tmp_path / "model.onnx")
    feeds = {}
    for put in session.get_inputs():
        column = table[put.name]
        is_text = put.type == "tensor(string)"
        cells = column.fillna("").astype(object) if is_text else column.astype(np.float64)
        feeds[put.name] = cells.to_numpy().reshape(-1, 1)
    assert_array_equal(session.run(["label"], feeds)[0], wanted)

    (library,) = compiled([(model, "float64")], tmp_path)
    names = library.texts("columns", 5)
    assert sorted(names) == ["colour", "petal", "place", "weight", "width"]
    rows = np.empty((150, 5))
    for place, name in enumerate(names):
        cells = table[name].tolist()
        if name in ("colour", "place"):
            texts = ["" if pd.isna(text) else text for text in cells]
            cells = [library.category(place, text) for text in texts]
        rows[:, place] = cells
    assert_array_equal(model.classes_[library.predict(rows)], wanted)


@pytest.mark.parametrize("name", ["pipeline", "one against one", "calibrated", "scaled targets"])
def test_what_was_made_smaller(name, tmp_path):
    small = compress(fitted(name), 20, random_state=0)
    (library,) = compiled([(small, "float32")], tmp_path)
    if name in VALUES:
        assert_allclose(library.decision_function(ROWS)[:, 0], small.predict(ROWS), rtol=1e-4)
    else:
        predicted = small.classes_[library.predict(ROWS)]
        assert np.mean(predicted == small.predict(ROWS)) > 0.98


def test_calibrated_pipelines(tmp_path):
    for labels in (PAIR, SPECIES):
        model = calibrate(fit(make_pipeline(StandardScaler(), SVC()), labels), ROWS, labels)
        json(model, tmp_path / "model.json")
        read = read_json(tmp_path / "model.json")
        assert_allclose(read.predict_proba(ROWS), model.predict_proba(ROWS), atol=1e-9)


def test_probabilities_of_votes_need_floating_point(tmp_path):
    with pytest.raises(ValueError, match=r'"q15" has no probabilities of votes.*float32'):
        c(fitted("calibrated votes"), tmp_path / "model.c", dtype="q15")


def test_votes_that_are_calibrated_are_the_decision_function(tmp_path):
    json(fitted("calibrated votes"), tmp_path / "model.json")
    document = standard_json.loads((tmp_path / "model.json").read_text())
    document["votes"] = False
    (tmp_path / "model.json").write_text(standard_json.dumps(document))
    with pytest.raises(ModelFileError, match="'votes' must be true"):
        read_json(tmp_path / "model.json")
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(document, json_schema())


@pytest.mark.parametrize("export", [c, onnx, json, javascript])
@pytest.mark.parametrize("step", [PCA(2), ColumnTransformer([("all", StandardScaler(), [0, 1])])])
def test_other_steps_are_named(export, step, tmp_path):
    model = fit(make_pipeline(step, SVC()), SPECIES)
    with pytest.raises(TypeError, match=rf"step '{type(step).__name__.lower()}'.*skl2onnx"):
        export(model, tmp_path / ("model.c" if export is c else "model"))
    assert not list(tmp_path.iterdir())


def test_libsvm_takes_what_has_no_steps(tmp_path):
    model = fit(SVC(probability=True, gamma=1e-3, random_state=0), PAIR)
    with pytest.warns(UserWarning, match="LIBSVM's labels are integers"):
        libsvm(model, tmp_path / "svc.model")
    assert "probA" in (tmp_path / "svc.model").read_text()
    with pytest.raises(TypeError, match="no place for"):
        libsvm(fitted("Platt's"), tmp_path / "other.model")


def test_every_class_is_in_some_case():
    assert {*CLASSES, *VALUES} < {*MODELS}


@pytest.mark.parametrize("labels", [PAIR, SPECIES], ids=["two classes", "three"])
def test_skl2onnx_takes_what_compress_and_calibrate_return(labels):
    from skl2onnx import to_onnx

    register_skl2onnx()
    model = fit(make_pipeline(StandardScaler(), PCA(3), SVC()), labels)
    for small in (compress(model, 30, random_state=0), calibrate(model, ROWS, labels)):
        made = to_onnx(small, ROWS[:1])
        session = onnxruntime.InferenceSession(made.SerializeToString())
        assert_array_equal(session.run(["label"], {"X": ROWS})[0], small.predict(ROWS))
