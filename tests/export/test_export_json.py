"""Models as JSON: valid by the schema, and the same when they are read again."""

from __future__ import annotations

import copy
import json as standard_json
import os
import re
import subprocess
import sys

import jsonschema
import numpy as np
import pandas
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.svm import SVC

import kernelet
from export_bounds import OURS
from export_models import MODELS, answers, fitted, flowers, rows_for
from kernelet import KernelMachine, ModelFileError, kernels
from kernelet.cli import main
from kernelet.export import json, json_schema, read_json
from kernelet.export.to_json.exporter import described_kernels, json_text
from kernelet.export.to_json.reader import MAX_BYTES, model_of
from kernelet.kernels.expression import FeatureSum, Function, Operator
from random_examples import examples
from tests.export.test_export_c import KERNELS

VALIDATOR = jsonschema.Draft202012Validator(json_schema())


def written(model, dtype=None):
    """The text as any other program reads it, valid."""
    document = standard_json.loads(json_text(model, dtype))
    VALIDATOR.validate(document)
    return document


def test_the_schema_is_one():
    jsonschema.Draft202012Validator.check_schema(json_schema())


@pytest.mark.parametrize("name", MODELS)
def test_every_model_comes_back(name, tmp_path):
    model = fitted(name)
    json(model, tmp_path / "model.json")
    VALIDATOR.validate(standard_json.loads((tmp_path / "model.json").read_text("utf-8")))
    read = read_json(tmp_path / "model.json")
    rows = rows_for(model)
    expected, found = answers(model, rows), answers(read, rows)
    if "transform" in expected:  # features are a machine's outputs
        found["transform"] = read.decision_function(rows)
    if "predict" not in expected and "transform" not in expected:
        expected = {key: value for key, value in expected.items() if key in found}
    for method, values in expected.items():
        if values.dtype.kind == "f":  # scikit-learn sums in another order
            assert_allclose(found[method], values, atol=1e-9, err_msg=method)
        else:
            assert_array_equal(found[method], values, err_msg=method)
        assert found[method].dtype.kind == values.dtype.kind


@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
def test_every_kernel_comes_back(kernel):
    rng = np.random.default_rng(0)
    machine = KernelMachine(kernel, rng.normal(size=(3, 2)), rng.normal(size=(3, 2)), [0.5, -0.0])
    assert model_of(written(machine)) == machine
    assert np.signbit(model_of(written(machine)).intercepts[1])


def test_the_schema_knows_every_kernel_of_ours():
    assert described_kernels() == OURS
    by_formula = json_schema()["$defs"]["kernel"]["oneOf"][-1]["properties"]
    assert {*by_formula["name"]["not"]["enum"]} == OURS
    steps = by_formula["formula"]["items"]["oneOf"]
    first = [step["prefixItems"][0] for step in steps]
    known = {name for entry in first for name in entry.get("enum", [entry.get("const")])}
    in_slopes_only = {Function.STEP, Function.HALF_RECIPROCAL}
    kinds = {*FeatureSum, *Function, *Operator} - in_slopes_only
    assert known == {kind.value for kind in kinds} | {"constant"}


@examples(50)
@given(
    st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=3, max_size=3),
    st.lists(st.floats(width=32, allow_nan=False, allow_infinity=False), min_size=3, max_size=3),
)
def test_every_digit_comes_back(doubles, singles):
    for numbers, dtype in ((doubles, np.float64), (singles, np.float32)):
        vector = np.array([numbers], dtype=dtype)
        machine = KernelMachine(kernels.Linear(), vector, vector[:, :1], vector[0, 2])
        read = model_of(written(machine))
        assert read.dtype == dtype
        for name in ("vectors", "coefficients", "intercepts"):
            expected = getattr(machine, name)
            assert_array_equal(getattr(read, name).view(np.uint8), expected.view(np.uint8))


def test_it_is_made_for_people():
    X, y = flowers()
    model = kernelet.ReducedSVC(3, random_state=0).fit(X, np.array(["é", "b", "c"])[y])
    text = json_text(model)
    assert '  "classes": ["b", "c", "é"],\n' in text
    block = text.split('"vectors": [\n')[1].split("\n  ]")[0]
    assert len(block.splitlines()) == 3
    assert max(map(len, text.splitlines())) < 120


@pytest.mark.parametrize("labels", [[0, 1, 2], [1.0, 2.0, 4.0], ["0", "1", "2"], [-7, 3, 2**62]])
def test_labels_keep_their_kind(labels):
    X, y = flowers()
    model = kernelet.ReducedSVC(3, random_state=0).fit(X, np.array(labels)[y])
    read = model_of(written(model))
    assert read.classes_.tolist() == labels
    assert read.classes_.dtype.kind == model.classes_.dtype.kind


def test_truth_values_and_feature_names():
    X, y = flowers()
    frame = pandas.DataFrame(X, columns=["a", "b", "c", "d"])
    model = kernelet.ReducedSVC(3, random_state=0).fit(frame, y == 1)
    read = model_of(written(model))
    assert read.classes_.tolist() == [False, True] and read.classes_.dtype == bool
    assert read.feature_names_in_.tolist() == ["a", "b", "c", "d"]
    assert_array_equal(read.predict(frame), model.predict(frame))


def test_rounding():
    machine = fitted("KernelMachine")
    document = written(machine, "float32")
    assert document["dtype"] == "float32"
    assert model_of(document) == machine.astype(np.float32)
    with pytest.raises(ValueError, match="dtype must be one of"):
        json_text(machine, "q15")
    large = KernelMachine(kernels.Linear(), [[1.0]], [1e39])
    with pytest.raises(ValueError, match="too large for float32"):
        json_text(large, "float32")


def damaged():
    """(what, a change of the document, a part of the error)."""
    yield "format", {"format": "other"}, "not a model of kernelet"
    yield "version", {"format_version": 4}, "upgrade kernelet"
    yield "version 2", {"format_version": 2}, "'vector_features' of the model is missing"
    yield "dtype", {"dtype": "float16"}, "float32 or float64"
    yield "kernel", {"kernel": {"name": "os.system"}}, "Unknown kernel name"
    yield "gamma", {"kernel": {"name": "rbf", "gamma": -1.0}}, "gamma"
    scaled = {"name": "scaled_features", "kernel": {"name": "linear"}, "scales": [1.0, 2.0]}
    yield "scales", {"kernel": scaled}, "the kernel is one of 2 features"
    for what, matrix, error in (
        ("columns", [[1.0, 2.0]], "the kernel is one of 2 features"),
        ("ragged", [[1.0] * 4, [1.0] * 3], "must have the same length"),
        ("empty", [], "a row and a column at least"),
        ("text", [["1", "2", "3", "4"]], "must be a finite number"),
        ("infinite", [[1.0, 2.0, 3.0, 10**400]], "must be a finite number"),
        ("list", [1.0, 2.0, 3.0, 4.0], "two-dimensional"),
        ("name", {"array": "vectors"}, "is missing"),
    ):
        projected = {
            "name": "projected_features",
            "kernel": {"name": "linear"},
            "matrix": matrix,
        }
        yield f"matrix, {what}", {"kernel": projected}, error
    yield "no vectors", {"vectors": []}, "6 vectors"
    yield "short row", {"vectors": [[1.0]] * 6}, "must hold 4 numbers"
    yield "texts", {"intercepts": ["1", "2", "3"]}, "must hold numbers"
    yield "truth value", {"intercepts": [True, 1.0, 2.0]}, "must hold numbers"
    yield "too large", {"intercepts": [1, 2, 10**400]}, "too large"
    yield "outputs", {"classes": ["a", "b"]}, "outputs"
    yield "twins", {"classes": [1, 1, 2]}, "different"
    yield "labels", {"classes": [[1], [2], [3]]}, "truth values or texts"
    yield "reading", {"reading": "tea leaves"}, "not known"
    yield "calibration", {"calibration": {"kind": "magic"}}, "not known"
    yield "slopes", {"calibration": {"kind": "sigmoid", "slopes": [1], "offsets": [1]}}, "outputs"
    yield "names", {"feature_names": ["a"]}, "name for each feature"
    yield "columns", {"columns": [{"name": "a", "kind": "number"}]}, "missing"
    yield (
        "scale",
        {"columns": [{"name": "a", "kind": "number", "shift": 0, "scale": 0, "fill": 0}]},
        "positive",
    )
    yield (
        "features",
        {"columns": [{"name": "a", "kind": "number", "shift": 0, "scale": 1, "fill": 0}]},
        "features",
    )


@pytest.mark.parametrize(("what", "change", "reason"), list(damaged()))
def test_what_is_wrong_is_said(what, change, reason, tmp_path):
    document = written(fitted("SparseSVC")) | change
    path = tmp_path / "model.json"
    path.write_text(standard_json.dumps(document), encoding="utf-8")
    with pytest.raises(ModelFileError, match=reason) as caught:
        read_json(path)
    assert str(caught.value).startswith(str(path)) and "\n" not in str(caught.value)


def number(**changes):
    return {"name": "a", "kind": "number", "shift": 0, "scale": 1, "fill": 0} | changes


def category(**changes):
    return {"name": "b", "kind": "category", "categories": ["u"], "has_missing": False} | changes


SIGMOID = {"kind": "sigmoid", "slopes": [1.0], "offsets": [0.0]}
# (a change of a model of two classes, a part of the error, whether the schema can say so)
MISFITS = {
    "one class": ({"classes": ["a"]}, "at least two classes", True),
    "no class": ({"classes": []}, "at least two classes", True),
    "three classes": ({"classes": ["a", "b", "c"]}, "1 outputs", True),
    "twins": ({"classes": ["a", "a"]}, "different", True),
    "equal numbers": ({"classes": [1, 1.0]}, "different", True),
    "equal to Python": ({"classes": [True, 1]}, "different", False),
    "zeros": ({"classes": [0, -0.0]}, "different", True),
    "infinite label": ({"classes": [0, float("1e400")]}, "finite", True),
    "null": ({"classes": [None, "a"]}, "truth values or texts", True),
    "nothing": ({"classes": None}, "must be a list", True),
    "one class of pairs": (
        {"reading": "pairs", "classes": ["a"], "votes": True, "break_ties": False},
        "at least two classes",
        True,
    ),
    "three pairs": (
        {"reading": "pairs", "classes": ["a", "b", "c"], "votes": True, "break_ties": False},
        "needs 3",
        True,
    ),
    "no votes": ({"reading": "pairs"}, "votes", True),
    "votes": ({"votes": True}, "'votes' must be null", True),
    "ties": ({"break_ties": False}, "'break_ties' must be null", True),
    "classes of values": ({"reading": "values"}, "'classes' must be null", True),
    "classes of outliers": ({"reading": "outliers"}, "'classes' must be null", True),
    "classes of scores": ({"reading": "scores"}, "'classes' must be null", True),
    "calibrated values": (
        {"reading": "values", "classes": None, "calibration": SIGMOID},
        "'calibration' must be null",
        True,
    ),
    "labels by nothing": ({"labels_by_scores": True}, "without a calibration", True),
    "further slopes": (
        {"calibration": SIGMOID | {"slopes": [1.0, 2.0], "offsets": [0.0, 0.0]}},
        "another number of outputs",
        False,
    ),
    "unknown of a calibration": ({"calibration": SIGMOID | {"scale": 1}}, "has no 'scale'", True),
    "infinite slope": (
        {"calibration": SIGMOID | {"slopes": [float("1e400")]}},
        "NaN or infinity",
        True,
    ),
    "no columns": ({"columns": []}, "no column", True),
    "twin columns": ({"columns": [number()] * 4}, "twice", False),
    "twin scalers": ({"columns": [number(fill=None)] * 4}, "twice", False),
    "some fills": (
        {"columns": [number(name=n, fill=f) for n, f in zip("abcd", [0, 0, 0, None], strict=True)]},
        "or null in all columns",
        True,
    ),
    "no fill": (
        {"columns": [{"name": "a", "kind": "number", "shift": 0, "scale": 1}]},
        "'fill'",
        True,
    ),
    "tiny scale": (
        {"columns": [number(name=n, scale=1e-300, shift=1e300) for n in "abcd"]},
        "too small",
        False,
    ),
    "empty category": (
        {"columns": [category(categories=["", "u", "v", "w"])]},
        "as it should",
        True,
    ),
    "twin categories": ({"columns": [category(categories=["u"] * 4)]}, "as it should", True),
    "other column": ({"columns": [number(kind="date")]}, "kind 'date'", True),
    "unknown of a column": ({"columns": [number(unit="cm")]}, "has no 'unit'", True),
    "few columns": ({"columns": [number()]}, "features", False),
    "columns of scores": (
        {"reading": "scores", "classes": None, "columns": [number()]},
        "'columns' must be null",
        True,
    ),
    "negative temperature": (
        {"calibration": {"kind": "temperature", "inverse_temperature": -1.0}},
        "inverse_temperature",
        True,
    ),
    "no calibration": ({"calibration": ...}, "'calibration'", True),
    "no reading": ({"reading": ...}, "'reading'", True),
}


@pytest.mark.parametrize("case", MISFITS)
def test_what_does_not_fit_together_is_refused(case, tmp_path):
    change, reason, is_known_to_the_schema = MISFITS[case]
    document = written(fitted("two classes")) | change
    document = {name: value for name, value in document.items() if value is not ...}
    path = tmp_path / "model.json"
    path.write_text(standard_json.dumps(document).replace("Infinity", "1e400"), encoding="utf-8")
    with pytest.raises(ModelFileError, match=re.escape(reason)):
        read_json(path)
    assert VALIDATOR.is_valid(document) != is_known_to_the_schema


def test_classes_need_no_order(tmp_path, capsys):
    document = written(fitted("two classes"))
    turned = document | {"classes": document["classes"][::-1]}
    rows = flowers()[0]
    labels, others = (model_of(one).predict(rows) for one in (document, turned))
    assert ((labels == document["classes"][0]) == (others == turned["classes"][0])).all()
    path = tmp_path / "model.json"
    path.write_text(standard_json.dumps(turned), encoding="utf-8")
    frame = pandas.DataFrame(rows, columns=list("abcd")).assign(y=others)
    frame.to_csv(tmp_path / "rows.csv", index=False)
    assert main(["evaluate", str(path), str(tmp_path / "rows.csv"), "-t", "y", "--json"]) == 0
    assert standard_json.loads(capsys.readouterr().out)["error"] == 0.0


def test_only_regular_files_are_read(tmp_path):
    """A pipe that nobody writes to, a device without an end, a folder: refused at once."""
    os.mkfifo(tmp_path / "pipe")
    for path, reason in (
        (tmp_path / "pipe", "not a regular file"),
        ("/dev/zero", "not a regular file"),
        (tmp_path, "a folder"),
    ):
        code = (
            "import resource, sys\n"
            "from kernelet.export import read_json\n"
            "resource.setrlimit(resource.RLIMIT_AS, (2**32, 2**32))\n"
            "read_json(sys.argv[1])"
        )
        command = [sys.executable, "-c", code, str(path)]
        done = subprocess.run(command, capture_output=True, text=True, timeout=60)
        assert f"ModelFileError: {path}: {reason}." in done.stderr


def test_files_too_large_to_be_parsed_are_refused(tmp_path):
    path = tmp_path / "model.json"
    with open(path, "wb") as stream:
        stream.truncate(MAX_BYTES + 1)  # takes no room on the disk
    with pytest.raises(ModelFileError, match=r"belong into model files"):
        read_json(path)


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", "the file is empty"),
        (b"\xff\xfe", "not JSON"),
        (b"[" * 100_000, "not JSON"),
        (b'{"format": NaN}', "NaN is not JSON"),
        (b'{"format": 1, "format": 2}', "twice"),
        (b"[]", "must be an object"),
        (b"{}", "not a model of kernelet"),
    ],
)
def test_what_is_no_model_is_refused(content, reason, tmp_path):
    path = tmp_path / "model.json"
    path.write_bytes(content)
    with pytest.raises(ModelFileError, match=reason):
        read_json(path)
    with pytest.raises(FileNotFoundError):
        read_json(tmp_path / "nothing.json")


DAMAGED = [
    *("SparseSVC", "two classes", "compressed pairs", "TableModel", "pipeline", "OneClassSVM"),
    *("KernelMachine", "calibrated machine", "two classes, calibrated", "two classes, RVM"),
]
VALUES = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-3, 3),
    st.floats(),
    st.text(max_size=3),
    st.just([]),
    st.just({}),
    st.lists(st.integers(0, 2), max_size=3),
)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")  # numbers may be as large as they get
@examples(200)
@given(st.sampled_from(DAMAGED), st.data())
def test_damage_is_found_or_does_no_harm(name, data):
    """Whatever stands in whatever place: our own error, or a model."""
    document = copy.deepcopy(written(fitted(name)))
    place, key = document, data.draw(st.sampled_from(sorted(document)))
    while isinstance(place[key], list | dict) and place[key] and data.draw(st.booleans()):
        place = place[key]
        key = data.draw(st.sampled_from(sorted(place) if isinstance(place, dict) else [0, -1]))
    if isinstance(place, dict) and data.draw(st.booleans()):
        del place[key]
    else:
        place[key] = data.draw(VALUES)
    try:
        read = model_of(document)
    except (ValueError, TypeError, OverflowError):
        return  # what read_json turns into ModelFileError
    VALIDATOR.validate(document)  # nothing is read that the schema refuses
    rows = rows_for(read)
    try:
        answers(read, rows)
    except ValueError as error:  # other columns, or none
        assert re.search("column|features", str(error))


def test_files_of_others(tmp_path):
    """A document written by hand, with what may be left out and what nobody knows."""
    document = {
        "format": "kernelet model",
        "format_version": 1,
        "reading": "classes",
        "classes": ["no", "yes"],
        "calibration": None,
        "columns": None,
        "kernel": {"name": "rbf", "gamma": 1},
        "dtype": "float64",
        "n_features": 2,
        "n_vectors": 1,
        "n_outputs": 1,
        "intercepts": [-0.5],
        "coefficients": [[1]],
        "vectors": [[0, 3]],
        "remark": "made by hand",
    }
    VALIDATOR.validate(document)
    model = model_of(document)
    assert model.predict([[0.0, 3.1], [0.0, 0.0]]).tolist() == ["yes", "no"]


def test_an_svc_needs_no_kernelet_to_be_written(tmp_path):
    X, y = flowers()
    model = SVC(kernel=lambda A, B: A @ B.T).fit(X, y)
    with pytest.raises(ValueError, match="Python function"):
        json(model, tmp_path / "model.json")
    assert not list(tmp_path.iterdir())
