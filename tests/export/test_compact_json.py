"""Machines in few bits as JSON: integers that anybody can read, valid by the schema, and equal."""

from __future__ import annotations

import copy
import json as standard_json
import math
import warnings
from functools import cache
from pathlib import Path

import jsonschema
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

import kernelet
from export_models import flowers, table
from integer_machines import compact_form, compact_machine, machines
from kernelet import KernelMachine, ModelFileError
from kernelet.export import json, json_schema, read_json
from kernelet.export.to_json.exporter import json_text
from kernelet.export.to_json.reader import model_of
from kernelet.kernels import Gaussian
from kernelet.machine import CalibratedMachine, TemperatureCalibration
from own_kernels import Matern72
from random_examples import examples

VALIDATOR = jsonschema.Draft202012Validator(json_schema())
DATA = Path(__file__).parents[1] / "data"


def written(model, dtype=None):
    """The text as any other program reads it, valid."""
    document = standard_json.loads(json_text(model, dtype))
    VALIDATOR.validate(document)
    return document


def powers(document):
    return [document["base"] * math.pow(2.0, -code / 8.0) for code in document["codes"]]


def score(document, row):
    """The formula of the schema, in plain Python."""
    compact, gamma = document["compact"], document["kernel"]["gamma"]
    point = [float(row[f]) for f in compact["used_features"]]
    if compact["matrix"] is not None:
        steps = powers(compact["matrix"]["steps"])
        seen = [a * x for a, x in zip(steps, point, strict=True)]
        rows = compact["matrix"]["rows"]
        point = [sum(c * x for c, x in zip(line, seen, strict=True)) for line in rows]
    elif compact["scales"] is not None:
        point = [s * x for s, x in zip(powers(compact["scales"]), point, strict=True)]
    unit = compact["coefficient_scales"]["base"] / 256
    totals = [unit * number for number in compact["intercepts"]]
    steps, scales = powers(compact["steps"]), powers(compact["coefficient_scales"])
    for j, vector in enumerate(compact["vectors"]):
        lattice = zip(point, steps, compact["centres"], vector, strict=True)
        square = sum((x - a * (o + c)) ** 2 for x, a, o, c in lattice)
        for k, b in enumerate(compact["coefficients"][j]):
            totals[k] += scales[j] * b * math.exp(-gamma * square)
    return totals


@examples(100)
@given(machines())
def test_every_machine_comes_back_equal(machine):
    document = written(machine)
    assert document["format_version"] == 3
    read = model_of(document)
    assert read == machine
    assert read.compact == machine.compact
    assert written(read) == document


@pytest.mark.parametrize("parameters", [{}, {"rank": 3}, {"has_scales": True}], ids=str)
def test_the_numbers_mean_what_the_schema_says(parameters):
    machine = compact_machine(used=[0, 2, 5], kernel=Gaussian(0.02), bits=4, **parameters)
    rows = np.random.default_rng(0).normal(size=(10, 6)) * np.abs(machine.vectors).max(axis=0)
    expected = [score(written(machine), row) for row in rows]
    assert_allclose(machine.decision_function(rows), expected, atol=1e-9)


@cache
def fitted(name):
    X, y = flowers()
    few = {"n_vectors": 4, "vector_bits": 4, "random_state": 0}
    models = {
        "classes": lambda: kernelet.SparseSVC(**few).fit(X, np.array(["é", "b", "c"])[y]),
        "two classes": lambda: kernelet.SparseSVC(**few).fit(X, y == 1),
        "values": lambda: kernelet.SparseSVR(**few).fit(X, X[:, 0]),
        "outliers": lambda: kernelet.SparseOneClassSVM(**few).fit(X),
        "calibrated": lambda: kernelet.calibrate(fitted("classes"), X, y.astype(str)),
        "table": lambda: kernelet.TableModel.fit(table(), "species", kernelet.SparseSVC(**few)),
        "machine": lambda: CalibratedMachine(compact_machine(), TemperatureCalibration(1.5)),
    }
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return models[name]()


def machine_of(model):
    inner = getattr(model, "estimator", model)
    calibrated = getattr(inner, "calibrated_machine_", inner)
    return getattr(calibrated, "machine_", None) or calibrated.machine


@pytest.mark.parametrize(
    "name", ["classes", "two classes", "values", "outliers", "table", "machine"]
)
def test_models_come_back(name, tmp_path):
    model = fitted(name)
    json(model, tmp_path / "model.json")
    read = read_json(tmp_path / "model.json")
    assert machine_of(read) == machine_of(model)
    assert machine_of(read).compact is not None
    rows = table() if name == "table" else np.random.default_rng(0).normal(size=(9, 6))
    if name not in ("table", "machine"):
        rows = flowers()[0]
    for method in ("predict", "predict_proba", "decision_function"):
        if hasattr(model, method) and hasattr(getattr(model, "estimator", model), method):
            expected = getattr(model, method)(rows)
            assert_array_equal(getattr(read, method)(rows), expected, err_msg=method)


def test_the_integers_stay_whatever_the_dtype():
    machine = compact_machine()
    single, double = written(machine, "float32"), written(machine, "float64")
    assert single["compact"] == double["compact"] == written(machine)["compact"]
    assert (single["dtype"], double["dtype"]) == ("float32", "float64")
    assert model_of(single) == machine.astype(np.float32)
    assert model_of(double) == machine
    assert written(machine.astype(np.float32)) == single


def test_it_is_made_for_people():
    text = json_text(compact_machine(m=3))
    block = text.split('    "vectors": [\n')[1].split("\n    ],")[0]
    assert [line[:7] for line in block.splitlines()] == ["      ["] * 3
    assert '\n  "compact": {\n    "vector_bits": 5,\n' in text
    assert text.endswith("]\n  }\n}\n")
    assert "." not in block


def test_a_kernel_of_another_package():
    """It comes with its formula, which must be the one that is registered."""
    machine = compact_machine(kernel=Matern72(0.5))
    document = written(machine)
    assert "formula" in document["kernel"]
    assert model_of(document) == machine
    other = copy.deepcopy(document)
    other["kernel"]["formula"] = [["squared"]]
    with pytest.raises(ModelFileError, match="another formula"):
        model_of(other)


def test_a_document_of_an_earlier_version():
    document = standard_json.loads((DATA / "compact_3.json").read_text("utf-8"))
    VALIDATOR.validate(document)
    machine = model_of(document)
    assert machine == kernelet.load(DATA / "compact_3.kernelet")
    expected = standard_json.loads((DATA / "version_3.json").read_text("utf-8"))
    rows = np.array(expected["rows"], dtype=np.float32)
    assert_allclose(machine.decision_function(rows), expected["decision_function"], rtol=1e-4)


SMALL = {"used": [0, 2, 3, 5], "has_scales": True}
PROJECTED = {**SMALL, "rank": 2}
POWERS = {"base": 1.0, "codes": [0] * 4}
# (a machine, a change of the document or of "compact", the reason, whether the schema can say so)
REFUSED = {
    "no integers": (SMALL, {"compact": ...}, "'compact' of the model is missing", True),
    "null": (SMALL, {"compact": None}, "'compact' of the model must be an object", True),
    "version 2": (SMALL, {"format_version": 2}, "'compact' belongs into another version", True),
    "vectors": (SMALL, {"vectors": []}, "'vectors' belongs into another version", True),
    "sixteen": (SMALL, {"dtype": "float16"}, "float32 or float64", True),
    "a hundred kernels": (
        SMALL,
        {"kernel": {"name": "sum", "terms": [{"name": "linear"}] * 101}},
        "more than 100 kernels",
        False,
    ),
    "a kernel of an array": (
        SMALL,
        {
            "kernel": {
                "name": "projected_features",
                "kernel": {"name": "linear"},
                "matrix": {"array": "x"},
            }
        },
        "the array 'x' of the kernel is missing",
        True,
    ),
    "outputs": (SMALL, {"n_outputs": 3}, "each row of 'coefficients' must hold 3 numbers", False),
    "five vectors": (SMALL, {"n_vectors": 5}, "there must be 5 vectors", False),
    "two features": (SMALL, {"n_features": 2}, "'used_features' must hold integers", False),
    "features by the billion": (SMALL, {"n_features": 10**12}, "too much memory for JSON", False),
    "unknown": (SMALL, {"compact.magic": 1}, "the compact machine has no 'magic'", True),
    "one bit": (SMALL, {"compact.vector_bits": 1}, "2 to 16 bits, not 1", True),
    "4 bits": (
        SMALL,
        {"compact.vector_bits": 4},
        "'vectors' must hold integers from -8 to 7",
        False,
    ),
    "7 bits": (SMALL, {"compact.coefficient_bits": 7}, "4, 5, 6, 8, 16 bits, not 7", True),
    "5 bits": (SMALL, {"compact.coefficient_bits": 5}, "'coefficients' must hold integers", False),
    "bits of text": (SMALL, {"compact.vector_bits": "5"}, "must be an integer", True),
    "feature twice": (SMALL, {"compact.used_features": [0, 2, 2, 5]}, "must be in order", True),
    "no order": (SMALL, {"compact.used_features": [2, 0, 3, 5]}, "must be in order", False),
    "no features": (SMALL, {"compact.used_features": []}, "must hold 0 numbers", True),
    "feature of text": (SMALL, {"compact.used_features": ["0"]}, "must hold integers", True),
    "true": (SMALL, {"compact.centres": [True, 0, 0, 0]}, "'centres' must hold integers", True),
    "half": (SMALL, {"compact.centres": [0.5, 0, 0, 0]}, "'centres' must hold integers", True),
    "large": (SMALL, {"compact.centres": [10**400] * 4}, "'centres' must hold integers", True),
    "-2^31": (
        SMALL,
        {"compact.intercepts": [-(2**31), 0]},
        "'intercepts' must hold integers",
        True,
    ),
    "intercepts": (SMALL, {"compact.intercepts": [0]}, "and 2 intercepts", False),
    "centres": (SMALL, {"compact.centres": [0]}, "there must be 4 centres", False),
    "ragged": (SMALL, {"compact.vectors": [[0, 0, 0, 0], [0]]}, "must hold 4 numbers", False),
    "no rows": (SMALL, {"compact.vectors": 4}, "'vectors' .* must be a list", True),
    "no steps": (SMALL, {"compact.steps": ...}, "'steps' of the compact machine is missing", True),
    "no scales": (
        SMALL,
        {"compact.scales": ...},
        "'scales' of the compact machine is missing",
        True,
    ),
    "no matrix": (
        SMALL,
        {"compact.matrix": ...},
        "'matrix' of the compact machine is missing",
        True,
    ),
    "codes": (
        SMALL,
        {"compact.steps": POWERS | {"codes": [256] * 4}},
        "integers from 0 to 255",
        True,
    ),
    "one step": (SMALL, {"compact.steps": POWERS | {"codes": [1]}}, "there must be 4 steps", False),
    "base 0": (
        SMALL,
        {"compact.steps": POWERS | {"base": 0}},
        "must be positive and finite",
        False,
    ),
    "base -1": (SMALL, {"compact.scales": POWERS | {"base": -1}}, "must be positive", True),
    "no base": (
        SMALL,
        {"compact.scales": {"codes": [0] * 4}},
        "'base' of 'scales' is missing",
        True,
    ),
    "base of text": (SMALL, {"compact.scales": POWERS | {"base": "1"}}, "must be a number", True),
    "unknown of powers": (SMALL, {"compact.scales": POWERS | {"x": 1}}, "has no 'x'", True),
    "infinite base": (
        SMALL,
        {"compact.scales": POWERS | {"base": float("1e400")}},
        "'base' of 'scales' must be a number",
        True,
    ),
    "tiny scales": (
        SMALL,
        {"compact.scales": POWERS | {"base": 5e-324}, "compact.steps": POWERS},
        "the vectors of the machine hold NaN or infinity",
        False,
    ),
    "scales and a matrix": (PROJECTED, {"compact.scales": POWERS}, "one is enough", False),
    "narrow matrix": (
        PROJECTED,
        {"compact.matrix": {"rows": [[0, 1]] * 2, "steps": POWERS}},
        "each row of 'rows' must hold 4 numbers",
        False,
    ),
    "large matrix": (
        PROJECTED,
        {"compact.matrix": {"rows": [[0, 1, 2, 16]] * 2, "steps": POWERS}},
        "'rows' must hold integers from -15 to 15",
        False,
    ),
    "no rows of the matrix": (
        PROJECTED,
        {"compact.matrix": {"rows": [], "steps": POWERS}},
        "each row of 'vectors' must hold 0 numbers",
        True,
    ),
    "unknown of a matrix": (
        PROJECTED,
        {"compact.matrix": {"rows": [[0] * 4] * 2, "steps": POWERS, "scale": 1}},
        "the matrix has no 'scale'",
        True,
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_is_wrong_is_said(case, tmp_path):
    parameters, changes, reason, is_known_to_the_schema = REFUSED[case]
    document = written(compact_machine(**parameters))
    for name, value in changes.items():
        place = document["compact"] if name.startswith("compact.") else document
        key = name.removeprefix("compact.")
        if value is ...:
            del place[key]
        else:
            place[key] = value
    path = tmp_path / "model.json"
    path.write_text(standard_json.dumps(document).replace("Infinity", "1e400"), encoding="utf-8")
    with pytest.raises(ModelFileError, match=reason) as caught:
        read_json(path)
    assert str(caught.value).startswith(str(path)) and "\n" not in str(caught.value)
    assert VALIDATOR.is_valid(document) != is_known_to_the_schema


VALUES = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-3, 3),
    st.integers(-(2**70), 2**70),
    st.floats(),
    st.just([]),
    st.just({}),
    st.lists(st.integers(-1, 2), max_size=3),
)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")  # numbers may be as large as they get
@examples(300)
@given(st.sampled_from([SMALL, PROJECTED, {"m": 0}]), st.data())
def test_damage_is_found_or_does_no_harm(parameters, data):
    document = written(compact_machine(**parameters))
    place, key = document["compact"], data.draw(st.sampled_from(sorted(document["compact"])))
    if data.draw(st.integers(0, 3)) == 0:
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
    machine = getattr(read, "machine", read)
    assert np.isfinite(machine.decision_function(np.zeros((2, machine.n_features)))).all()


def test_few_features_of_very_many():
    """As many as JSON holds; beyond that, a model file does."""
    machine = compact_machine(m=40, d=100_000, used=[3, 700], has_scales=True)
    assert model_of(written(machine)) == machine
    with pytest.raises(ValueError, match=r"too much memory for JSON; kernelet\.save can hold"):
        json_text(compact_machine(m=400, d=100_000, used=[3, 700]))


def test_what_could_not_be_read_again_is_not_written(tmp_path):
    form = compact_form()
    form.coefficients[0, 0] = -32
    with pytest.raises(ValueError, match="the coefficients must be from -31 to 31"):
        json(KernelMachine.from_compact(form), tmp_path / "model.json")
    assert not list(tmp_path.iterdir())
