"""load_predictor: the answers of every model, whether or not its file says how they are read."""

from __future__ import annotations

import warnings
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MaxAbsScaler, MinMaxScaler, RobustScaler, StandardScaler
from sklearn.svm import SVC

import contributed
import kernelet
import wrapped_models
from kernelet.kernels import Gaussian
from kernelet.machine import CalibratedMachine, TemperatureCalibration
from kernelet.machine.columns import ColumnEncoder
from kernelet.machine.reading import Reading
from kernelet.persistence import Record, to_record
from kernelet.persistence.container import write_record
from tests.learners.test_estimators import FRAME, MAKERS, SPECIES, model_of

DATA = Path(__file__).parents[1] / "data"
ANSWERS = ("decision_function", "predict", "predict_proba", "transform")
MACHINE = kernelet.KernelMachine(Gaussian(0.5), [[0.0, 1.0], [2.0, 3.0]], [1.0, -1.0], 0.25)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "model.kernelet"


def without_readings(record):
    """As files were written before there was the field."""
    record.fields.pop("reading", None)
    for part in record.parts.values():
        without_readings(part)
    return record


def assert_same_answers(predictor, model, rows, atol=0.0):
    has = [name for name in ANSWERS if hasattr(model, name)]
    assert has
    for name in has:
        found, wanted = getattr(predictor, name)(rows), getattr(model, name)(rows)
        assert found.dtype == wanted.dtype, name
        if atol and found.dtype.kind == "f":
            assert_allclose(found, wanted, atol=atol * max(1.0, np.abs(wanted).max()), err_msg=name)
        else:
            assert_array_equal(found, wanted, err_msg=name)


@pytest.mark.parametrize("label", MAKERS)
@pytest.mark.parametrize("is_old", [False, True], ids=["", "without the field"])
def test_answers_are_those_of_the_model(label, is_old, path):
    model = model_of(label)
    record = to_record(model)
    write_record(without_readings(record) if is_old else record, path)
    predictor = kernelet.load_predictor(path)
    assert_same_answers(predictor, model, FRAME)
    assert predictor.machine == model.machine_
    assert predictor.feature_names == tuple("wxyz")
    if predictor.reading in (Reading.CLASSES, Reading.PAIRS):
        assert_array_equal(predictor.classes, model.classes_)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("name", wrapped_models.MODELS)
def test_pipelines_and_calibrations_that_came_from_wrappers(name, dtype, path):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # some lose something, which other tests are about
        kernelet.save(wrapped_models.fitted(name), path)
    model, rows = kernelet.load(path), wrapped_models.ROWS.astype(dtype)
    # versions of scikit-learn scale in single precision with different roundings
    atol = 0.0 if dtype == np.float64 else 1e-5
    assert_same_answers(kernelet.load_predictor(path), model, rows, atol)


@pytest.mark.parametrize(
    "scaler",
    [
        StandardScaler(with_mean=False),
        StandardScaler(with_std=False),
        MinMaxScaler((-1.0, 2.0), clip=True),
        RobustScaler(with_centering=False),
        RobustScaler(with_scaling=False),
        MaxAbsScaler(),
        *([MaxAbsScaler(clip=True)] if "clip" in MaxAbsScaler().get_params() else []),
    ],
    ids=repr,
)
def test_scalers_with_parts_left_out(scaler, path):
    rows = wrapped_models.ROWS
    model = make_pipeline(scaler, SVC(gamma=0.1)).fit(rows[::2], wrapped_models.SPECIES[::2])
    rows = np.vstack([rows, 3.0 * rows])  # beyond the range of the fit
    kernelet.save(model, path)
    predictor = kernelet.load_predictor(path)
    assert_array_equal(predictor.predict(rows), model.predict(rows))
    assert_same_answers(predictor, kernelet.load(path), rows)


@pytest.mark.parametrize("spoil", ["array", "table"])
def test_damaged_pipelines(spoil, path):
    model = make_pipeline(StandardScaler(), SVC()).fit(wrapped_models.ROWS, wrapped_models.SPECIES)
    record = to_record(model)
    if spoil == "array":
        del record.parts["step0"].arrays["mean_"]
        message = "the array 'mean_' of StandardScaler is missing"
    else:
        encoder = to_record(ColumnEncoder.fit({name: [0.0, 1.0] for name in "abcd"}))
        record = Record(
            "TableModel", {"target": None}, parts={"encoder": encoder, "estimator": record}
        )
        message = "a Pipeline where an estimator should be"
    write_record(record, path)
    for read in (kernelet.load, kernelet.load_predictor):
        with pytest.raises(kernelet.ModelFileError, match=message):
            read(path)


def test_the_learner_of_the_guide_is_among_them():
    assert any(label.startswith(tuple(contributed.LEARNERS)) for label in MAKERS)


@pytest.mark.parametrize("name", ["machine_1", "compact_3"])
def test_machines_in_old_files(name):
    machine = kernelet.load(DATA / f"{name}.kernelet")
    predictor = kernelet.load_predictor(DATA / f"{name}.kernelet")
    assert predictor.machine == machine
    assert predictor.reading == Reading.SCORES
    assert predictor.classes is None


def test_pairs_in_an_old_file():
    model = kernelet.load(DATA / "pairs_1.kernelet")
    rows = np.random.default_rng(0).normal(size=(50, model.n_features_in_))
    assert_same_answers(kernelet.load_predictor(DATA / "pairs_1.kernelet"), model, rows)


def test_a_table_in_an_old_file():
    model = kernelet.load(DATA / "table_1.kernelet")
    rng = np.random.default_rng(0)
    table = {
        column.name: rng.choice([*column.categories, ""], 30)
        if hasattr(column, "categories")
        else column.shift + column.scale * rng.normal(size=30)
        for column in model.encoder.columns
    }
    predictor = kernelet.load_predictor(DATA / "table_1.kernelet")
    assert_array_equal(predictor.predict(table), model.predict(table))
    assert predictor.encoder == model.encoder


def test_a_calibrated_machine(path):
    model = CalibratedMachine(MACHINE, TemperatureCalibration(2.0))
    model.save(path)
    rows = np.random.default_rng(0).normal(size=(5, 2))
    predictor = kernelet.load_predictor(path)
    assert_array_equal(predictor.predict_proba(rows), model.predict_proba(rows))
    with pytest.raises(AttributeError, match="nothing is predicted"):
        predictor.predict(rows)


def test_what_has_no_machine_is_refused(path):
    kernelet.save(ColumnEncoder.fit({"x": [1.0, 2.0]}), path)
    with pytest.raises(kernelet.ModelFileError, match=r"'machine' of ColumnEncoder is missing\.$"):
        kernelet.load_predictor(path)


def damaged_classes(record):
    record.fields["classes_"]["values"][1] = record.fields["classes_"]["values"][0]


def damaged_reading(record):
    record.fields["reading"] = "outliers"


def unknown_reading(record):
    record.fields["reading"] = "palmistry"


def missing_name(record):
    record.fields["feature_names_in_"].pop()


def other_features(record):
    record.fields["n_features_in_"] += 1


@pytest.mark.parametrize(
    ("damage", "reason"),
    [
        (damaged_classes, "the classes must be different"),
        (damaged_reading, "3 outputs, but its reading as outliers needs 1"),
        (unknown_reading, "reading must be one of scores, values"),
        (missing_name, "4 feature_names, got 3"),
        (other_features, "another number of features"),
    ],
)
def test_damaged_estimators(damage, reason, path):
    record = to_record(model_of("ReducedSVC()"))
    damage(record)
    write_record(record, path)
    with pytest.raises(kernelet.ModelFileError, match=reason) as caught:
        kernelet.load_predictor(path)
    assert str(caught.value).startswith(str(path))


@pytest.mark.parametrize("reading", ["values", "palmistry", 3])
def test_load_refuses_a_reading_that_is_not_the_models_own(reading, path):
    record = to_record(model_of("ReducedSVC()"))
    record.fields["reading"] = reading
    write_record(record, path)
    with pytest.raises(kernelet.ModelFileError, match=r"reading|are classes"):
        kernelet.load(path)


def test_a_calibration_for_other_classes(path):
    record = to_record(model_of("calibrated"))
    record.fields["classes_"]["values"][0] = 17
    write_record(record, path)
    with pytest.raises(kernelet.ModelFileError, match="for other classes than the classifier"):
        kernelet.load_predictor(path)


def test_a_calibration_of_something_else(path):
    record = to_record(model_of("calibrated"))
    record.parts["estimator"] = to_record(model_of("SparseOneClassSVM()"))
    write_record(record, path)
    with pytest.raises(kernelet.ModelFileError, match="a calibration of outliers"):
        kernelet.load_predictor(path)


@pytest.mark.parametrize("inner", ["TableModel", "KernelMachine"])
def test_a_table_model_of_no_estimator(inner, path):
    table = {"x": FRAME["w"], "y": FRAME["x"], "kind": SPECIES}
    model = kernelet.TableModel.fit(table, "kind", kernelet.ReducedSVC(9, C=100.0, random_state=0))
    record = to_record(model)
    record.parts["estimator"] = to_record(model if inner == "TableModel" else model.machine_)
    write_record(record, path)
    with pytest.raises(kernelet.ModelFileError, match=f"a {inner} where an estimator should be"):
        kernelet.load_predictor(path)
