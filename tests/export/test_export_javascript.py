"""Models as JavaScript: what the module says. That it computes the same is shown by executing it,
in tests/browser."""

import json
import re

import numpy as np
import pandas
import pytest
from numpy.testing import assert_array_equal
from sklearn.linear_model import LogisticRegression
from sklearn.svm import SVC

import kernelet
from kernelet import KernelMachine, kernels
from kernelet.export import javascript
from kernelet.export.javascript import javascript_module, model_document, runtime
from kernelet.kernels.composite import CompositeKernel
from kernelet.kernels.expression import FeatureSum, Function, Operator
from kernelet.kernels.registry import registered_kernels


@pytest.fixture
def machine():
    rng = np.random.default_rng(0)
    Z = np.concatenate([rng.normal(size=(4, 3)), [[1e-300, 0.1, -1e15]]])
    return KernelMachine(kernels.Gaussian(0.5), Z, rng.normal(size=(5, 2)), [0.0, 1 / 3])


def array_in(text, name, dtype=np.float64):
    """The numbers of an array in a module, read as JavaScript reads them."""
    body = re.search(rf"^  {name}: \[(.*?)\],$", text, re.DOTALL | re.MULTILINE).group(1)
    return np.array([float(x) for x in body.split(",") if x.strip()]).astype(dtype)


def test_all_digits_are_there(machine):
    text = javascript_module(machine)
    assert_array_equal(array_in(text, "vectors"), machine.vectors.ravel())
    assert_array_equal(array_in(text, "coefficients"), machine.coefficients.ravel())
    assert_array_equal(array_in(text, "intercepts"), machine.intercepts)
    assert text.isascii()


def test_numbers_of_32_bits_are_written_short(machine):
    kernel = kernels.Gaussian(0.5) + kernels.Linear()  # its vectors are not moved
    small = KernelMachine(kernel, machine.vectors[:4], machine.coefficients[:4], [0.5, 0.1])
    text = javascript_module(small, "float32")
    for name in ("vectors", "coefficients", "intercepts"):
        wanted = getattr(small, name).astype(np.float32).ravel()
        assert_array_equal(array_in(text, name, np.float32), wanted)
    assert "  intercepts: [0.5, 0.1]," in text
    assert "origin: null" in text
    assert len(text) < len(javascript_module(small))


def test_vectors_of_32_bits_are_measured_from_their_mean(machine):
    near = KernelMachine(kernels.Gaussian(), machine.vectors[:4] + 1e4, np.ones(4))
    text = javascript_module(near, "float32")
    moved = array_in(text, "vectors", np.float32).reshape(4, 3).astype(float)
    found = moved + array_in(text, "origin")
    np.testing.assert_allclose(found, near.vectors, rtol=0, atol=1e-6)


def test_one_line_for_each_vector(machine):
    text = javascript_module(machine)
    block = text.split("vectors: [\n")[1].split("\n  ],")[0]
    assert len(block.splitlines()) == machine.n_vectors


def keys_of(name):
    """Those of an object in the code of every module."""
    text = re.search(rf"^const {name} = {{(.*?)}};$", runtime(), re.MULTILINE | re.DOTALL)[1]
    return set(re.findall(r"(?:^  | )([a-z_0-9]+): ", text))


def test_every_kernel_that_is_made_of_kernels_is_known_by_name():
    known = registered_kernels().items()
    composite = {name for name, kind in known if issubclass(kind, CompositeKernel)}
    # a matrix in a kernel is taken out of it and goes in front; all others have a formula
    assert keys_of("makeKernel") == composite - {"projected_features"}


def test_every_step_of_a_formula_is_known():
    in_slopes_only = {Function.STEP, Function.HALF_RECIPROCAL}
    steps = {*Function, *Operator} - in_slopes_only
    assert keys_of("operations") == {step.value for step in steps}
    assert keys_of("sums") == {kind.value for kind in FeatureSum}


def test_combinations_of_features_are_those_of_the_vectors(machine):
    kernel = kernels.ProjectedFeatures(kernels.Linear(), [[1.0, -0.5, 0.0], [0.25, 0.0, 2.0]])
    small = KernelMachine(2.0 * kernel, machine.vectors, machine.coefficients, [0.0, 1.0])
    text = javascript_module(small)
    assert_array_equal(array_in(text, "matrix"), kernel.matrix.ravel())
    assert_array_equal(array_in(text, "vectors"), (machine.vectors @ kernel.matrix.T).ravel())
    linear = {"name": "linear", "formula": [["product"]]}
    assert model_document(small)["kernel"] == {"name": "scaled", "kernel": linear, "factor": 2.0}
    assert "matrix: null" in javascript_module(machine)
    large = KernelMachine(kernels.ProjectedFeatures(kernels.Linear(), [[1e30]]), [[1e10]], [1.0])
    with pytest.raises(ValueError, match="too large for float32; use float64"):
        javascript_module(large, "float32")


def test_what_a_module_exports(machine, tmp_path):
    path = tmp_path / "machine.mjs"
    javascript(machine, path)
    text = path.read_text(encoding="utf-8")
    assert text == javascript_module(machine)
    assert "export const { decisionFunction, predict, predictProba, classes, metadata }" in text
    assert text.count("export ") == 1
    assert not re.search(r"\b(import\s*\(|require\s*\(|fetch|eval|Function)\b", text)
    assert {file.name for file in tmp_path.iterdir()} == {"machine.mjs", "machine.d.mts"}


def test_labels_and_names_cannot_leave_their_place():
    labels = np.array(["</script>", 'a"b\\\u2028', "ü", "</script>"])
    X = np.arange(8.0).reshape(4, 2)
    frame = pandas.DataFrame(X, columns=["<!--", "*/ x"])
    model = kernelet.ReducedSVC(2, random_state=0).fit(frame, labels)
    text = javascript_module(model)
    assert "<" not in re.search(r"^  classes: .*$", text, re.MULTILINE).group(0)
    assert "</" not in text and "<!--" not in text and text.isascii()
    line = re.search(r"^  classes: (.*),$", text, re.MULTILINE).group(1)
    assert json.loads(line) == model.classes_.tolist()


@pytest.mark.parametrize(
    ("labels", "written"),
    [
        ([0, 1], "[0, 1]"),
        ([0.5, 1.0], None),
        ([False, True], "[false, true]"),
        ([2**53, 2**53 + 1], "[9007199254740992n, 9007199254740993n]"),
    ],
)
def test_labels_are_those_of_the_model(labels, written):
    y = np.array([str(x) for x in labels] if written is None else labels)[[0, 1, 0, 1]]
    model = SVC().fit(np.arange(8.0).reshape(4, 2), y)
    expected = '["0.5", "1.0"]' if written is None else written
    assert f"  classes: {expected}," in javascript_module(model)


def test_document_of_votes():
    X, y = np.random.default_rng(0).normal(size=(30, 2)), np.arange(30) % 3
    document = model_document(SVC(break_ties=True).fit(X, y))
    assert (document["reading"], document["votes"], document["breakTies"]) == ("pairs", True, True)
    document = model_document(SVC(decision_function_shape="ovo").fit(X, y))
    assert (document["votes"], document["nOutputs"]) == (False, 3)


@pytest.mark.parametrize(
    ("model", "error", "reason"),
    [
        (LogisticRegression(), TypeError, "LogisticRegression cannot be exported"),
        (
            KernelMachine(kernels.CallableKernel(np.dot), [[0.0]], [1.0]),
            ValueError,
            "contains a Python function",
        ),
        (KernelMachine(kernels.Linear(), [[0.0]], [np.nan]), ValueError, "coefficients .* NaN"),
        (kernelet.SparseSVC(), ValueError, "not fitted"),
    ],
)
def test_what_cannot_be_exported_is_refused(model, error, reason, tmp_path):
    with pytest.raises(error, match=reason):
        javascript(model, tmp_path / "machine.mjs")
    assert not list(tmp_path.iterdir())


def test_tables_bring_their_columns():
    table = {"</a>": [1.0, 2.0, 3.0, None], "b": ["u", "v", "", "</b>"], "y": [0, 1, 0, 1]}
    model = kernelet.TableModel.fit(table, "y", kernelet.ReducedSVC(2, random_state=0))
    text = javascript_module(model)
    assert "function encodedRow" in text and text.isascii() and "</" not in text
    document = model_document(model)
    numbers, texts = document["columns"]
    assert (numbers["kind"], numbers["fill"], numbers["shift"]) == ("number", 2.0, 2.0)
    assert texts["categories"] == ["</b>", "u", "v"] and texts["hasMissing"]
    assert document["featureNames"] == ["</a>", "b"]
    assert "function encodedRow" not in javascript_module(model.estimator)


def test_types_are_checked(machine):
    with pytest.raises(ValueError, match="dtype must be one of float32, float64 or None"):
        javascript_module(machine, "float16")
    large = KernelMachine(kernels.Linear(), [[1e39]], [1.0])
    with pytest.raises(ValueError, match="too large for float32"):
        javascript_module(large, "float32")
    assert 'dtype: "float32"' in javascript_module(machine.astype(np.float32))
