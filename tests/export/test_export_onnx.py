"""ONNX is executed by onnxruntime and compared with its model."""

from __future__ import annotations

import warnings

import numpy as np
import onnx as onnx_package
import onnxruntime
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import load_digits
from sklearn.exceptions import ConvergenceWarning
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, SVR, OneClassSVM

import kernelet
from export_bounds import KERNELS, OURS, bound, expected, far_from_ties
from export_models import MODELS, answers, fitted, rows_for
from kernelet import KernelFisherDiscriminant, KernelMachine, SparseSVC, calibrate, compress
from kernelet.datasets import make_banana, make_checkerboard
from kernelet.export import onnx, register_skl2onnx
from kernelet.export.to_onnx.exporter import onnx_model
from kernelet.kernels import Gaussian, ProjectedFeatures
from kernelet.machine import CalibratedMachine, TemperatureCalibration
from kernelet.machine.columns import Category, ColumnEncoder, UnknownCategoryWarning
from random_examples import examples
from references import for_features

RNG = np.random.default_rng(0)
DTYPES = ["float32", "float64"]


def run(model, X, dtype):
    """Outputs by name, of the checked model, for rows or for a table."""
    onnx_package.checker.check_model(model, full_check=True)
    assert {entry.domain for entry in model.opset_import} == {""}
    session = onnxruntime.InferenceSession(model.SerializeToString())
    given = {"X": X}
    if isinstance(X, dict):
        given = {put.name: X[put.name].reshape(-1, 1) for put in session.get_inputs()}
    texts = {put.name for put in session.get_inputs() if put.type == "tensor(string)"}
    feeds = {
        name: np.array(column.astype(str), dtype=object) if name in texts else column.astype(dtype)
        for name, column in given.items()
    }
    values = session.run(None, feeds)
    return dict(zip((output.name for output in session.get_outputs()), values, strict=True))


def limit_of(machine, X, dtype):
    """The bound that the docstring of `onnx` states."""
    has_matrix = "ProjectedFeatures" in repr(machine.kernel)
    constant = (5 if has_matrix else 1) * machine.n_features + machine.n_vectors + 64
    return bound(machine, X, unit=constant * float(np.finfo(dtype).eps) / 2)


def assert_same(machine, X, dtype):
    """Decision values within the bounds, of rows that the type can hold."""
    X = X.astype(dtype).astype(np.float64)
    values = run(onnx_model(machine, dtype), X, dtype)["variable"]
    assert values.dtype == dtype
    error = np.abs(values - expected(machine, X))
    # terms of a polynomial may be infinite in 32 bits
    held = bound(machine, X, unit=1.0) < np.finfo(dtype).max
    assert (error <= limit_of(machine, X, dtype))[held].all()
    if dtype == "float64":
        assert (error <= bound(machine, X, unit=1e-12)).all()


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
def test_decision_values(kernel, dtype):
    for m in (1, 2, 7):
        beta = RNG.normal(size=(m, 3))
        scaled = for_features(kernel, 4)
        machine = KernelMachine(scaled, RNG.normal(size=(m, 4)), beta, RNG.normal(size=3))
        X = RNG.normal(size=(50, 4))
        X[0] = machine.vectors[0]
        assert_same(machine, X, dtype)


@pytest.mark.parametrize("dtype", DTYPES)
def test_combinations_of_features_far_from_zero(dtype):
    """Rows that are exact in 32 bits; the terms of A x are so large that their rounding is felt."""
    rng = np.random.default_rng(0)
    kernel = ProjectedFeatures(Gaussian(0.5), rng.normal(size=(3, 40)) / 6.0)
    X, Z = ((rng.normal(size=(n, 40)) + 500.0).astype(np.float32).astype(float) for n in (30, 20))
    machine = KernelMachine(kernel, Z, rng.normal(size=(20, 2)), [0.0, 1.0])
    model = onnx_model(machine, dtype)
    error = np.abs(run(model, X, dtype)["variable"] - expected(machine, X)).max()
    assert error < (2e-5 if dtype == "float32" else 1e-12)
    # the vectors are stored as combinations, with the matrix and the origin
    shapes = {tuple(constant.dims) for constant in model.graph.initializer}
    assert (40, 3) in shapes
    assert not any(np.prod(shape) >= 20 * 40 for shape in shapes)


def test_every_kernel_is_there():
    assert {kernel.name for kernel in KERNELS} | {"scaled"} == OURS


@examples(60)
@given(
    st.sampled_from(KERNELS),
    st.integers(0, 6),
    st.integers(1, 5),
    st.integers(1, 3),
    st.sampled_from([1e-30, 1e-8, 1.0, 30.0]),
    st.sampled_from([0.0, 1.0, 300.0]),
    st.sampled_from([1e-30, 1.0, 1e12]),
    st.sampled_from(DTYPES),
    st.integers(0, 2**32 - 1),
)
def test_random_machines(kernel, m, d, k, scale, shift, size, dtype, seed):
    rng = np.random.default_rng(seed)
    Z, kernel = scale * rng.normal(size=(m, d)) + shift, for_features(kernel, d)
    machine = KernelMachine(kernel, Z, size * rng.normal(size=(m, k)), size * rng.normal(size=k))
    assert_same(machine, scale * rng.normal(size=(5, d)) + shift, dtype)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
def test_nan_and_infinity_are_as_in_python(kernel, dtype):
    rng = np.random.default_rng(1)
    X = rng.normal(size=(9, 3))
    X[1, 0], X[2, 1], X[3, 2] = np.nan, np.inf, -np.inf
    X[4], X[5], X[6, :2] = np.inf, 1e300 if dtype == "float64" else 1e30, (np.inf, np.nan)
    X[7] = np.sqrt(np.finfo(dtype).max)
    kernel = for_features(kernel, 3)
    machine = KernelMachine(kernel, rng.normal(size=(4, 3)), rng.normal(size=(4, 2)), [1.0, -1.0])
    found = run(onnx_model(machine, dtype), X, dtype)["variable"]
    with np.errstate(all="ignore"):
        # of finite rows whose scores are not, a machine would raise an error
        values = kernel(X.astype(dtype), machine.vectors.astype(dtype))
        ours = values @ machine.coefficients.astype(dtype) + machine.intercepts.astype(dtype)
    assert np.isnan(found[[1, 6]]).all() and np.isfinite(found[[0, 8]]).all()
    # NaN only where Python has it too: sums of differences meet no inf - inf, products do
    assert not (np.isnan(found) & ~np.isnan(ours)).any()
    known = ~np.isnan(ours)
    if tuple(map(int, onnxruntime.__version__.split(".")[:2])) < (1, 20):
        # its exp is never below 2e-308, which is not negligible next to the squares of far rows
        known[[5, 7]] = False
    assert_allclose(found[known], ours[known], rtol=1e-4)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", MODELS)
def test_every_model(name, dtype):
    """Every estimator there is: labels, scores, probabilities and values as in Python."""
    model, limit = fitted(name), 1e-9 if dtype == "float64" and name != "float32" else 2e-3
    rows = rows_for(model)
    found = run(onnx_model(model, dtype), rows, dtype)
    wanted = answers(model, rows)
    values = wanted.pop("decision_function", wanted.get("transform", wanted.get("predict")))
    n = len(found["label" if "label" in found else "variable"])
    assert n == 40
    if "variable" in found:
        assert set(found) == {"variable"}
        assert_allclose(found["variable"].reshape(values.shape), values, atol=limit, rtol=limit)
        return
    probabilities = wanted.get("predict_proba")
    assert ("probabilities" in found) == (probabilities is not None)
    if probabilities is not None:
        assert_allclose(found["probabilities"], probabilities, atol=limit)
    if values is not None:
        assert_allclose(found["scores"].reshape(values.shape), values, atol=limit, rtol=limit)
    if "predict" in wanted:
        sure = far_from_ties(values if probabilities is None else probabilities, 2 * limit)
        assert sure.mean() > 0.8
        assert_array_equal(found["label"][sure], wanted["predict"][sure])


def test_cells_of_a_table():
    """What is missing, unknown, or called as an output."""
    columns = {
        "label": np.array([1.0, 2.0, np.nan, 4.0, 10.0, 20.0]),
        "t0": np.array(["a", "b", "", "b", "a", "c"], dtype=object),
        "c1": np.array(["u", "v", "u", "v", "u", "v"], dtype=object),
        "y": np.array(["no", "yes", "no", "yes", "no", "yes"]),
    }
    model = kernelet.TableModel.fit(columns, "y", kernelet.ReducedSVC(4, random_state=0))
    proto = onnx_model(model, "float64")
    assert [put.name for put in proto.graph.input] == ["label_", "t0", "c1"]
    rows = {
        "label": np.array([np.nan, 3.0, 1e6]),
        "t0": np.array(["", "never seen", "c"], dtype=object),
        "c1": np.array(["", "u", "U"], dtype=object),
    }
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UnknownCategoryWarning)
        expected_scores, labels = model.decision_function(rows), model.predict(rows)
    found = run(proto, {**rows, "label_": rows["label"]}, "float64")
    assert_allclose(found["scores"][:, 0], expected_scores, atol=1e-12)
    assert_array_equal(found["label"], labels)


def test_columns_without_values_are_no_inputs():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        table = {"a": [None, None, None], "b": [1.0, 2.0, 3.0], "c": ["", "", ""], "y": [0, 1, 1]}
        encoder = ColumnEncoder(
            (Category("c", (), False), *ColumnEncoder.fit({"b": table["b"]}).columns)
        )
        estimator = kernelet.ReducedSVC(2, random_state=0)
        estimator.fit(encoder.transform({"b": table["b"], "c": table["c"]}), table["y"])
    model = kernelet.TableModel(encoder, estimator, "y")
    found = run(onnx_model(model, "float64"), {"b": np.array([1.0, 3.0])}, "float64")
    assert_array_equal(found["label"], model.predict({"b": [1.0, 3.0], "c": ["", ""]}))


@pytest.mark.parametrize("dtype", DTYPES)
def test_digits_are_kept_far_from_the_origin(dtype):
    Z = RNG.normal(size=(7, 4)) + 1e3
    machine = KernelMachine(KERNELS[0], Z, RNG.normal(size=(7, 2)), np.zeros(2))
    X = (Z[:5] + 0.25).astype(np.float32).astype(np.float64)
    values = run(onnx_model(machine, dtype), X, dtype)["variable"]
    # what is left is the rounding of the differences from the mean
    limit = 1e-12 if dtype == "float64" else 1e-5
    assert_allclose(values, machine.decision_function(X), atol=limit)


@pytest.fixture(scope="module")
def digits():
    X, y = load_digits(return_X_y=True)
    return X[:1000] / 16, y[:1000], X[1000:] / 16


@pytest.fixture(scope="module")
def shared(digits):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return SparseSVC(20, C=10.0, max_iter=15, random_state=0).fit(digits[0], digits[1])


@pytest.mark.parametrize("n_rows", [0, 1, 300])
def test_any_number_of_rows(shared, digits, n_rows):
    X = digits[2][:n_rows]
    found = run(onnx_model(shared, "float64"), X, "float64")
    assert found["label"].dtype == np.int64
    if n_rows:
        assert_array_equal(found["label"], shared.predict(X))
        assert_allclose(found["scores"], shared.decision_function(X), atol=1e-9)
    assert found["scores"].shape == (n_rows, 10)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", ["digits", "banana", "checkerboard"])
def test_data_sets(name, dtype, shared, digits):
    """Scores within the bound, and the same label wherever the margin is above it."""
    if name == "digits":
        model, X = shared, digits[2][:200]
    else:
        X, y = (
            make_banana(300, random_state=0)
            if name == "banana"
            else make_checkerboard(300, random_state=0)
        )
        model = SparseSVC(8, C=10.0, max_iter=20, tol=0.1, random_state=0).fit(X, y)
    X = X.astype(dtype).astype(np.float64)
    found = run(onnx_model(model, dtype), X, dtype)
    scores = model.decision_function(X)
    limit = limit_of(model.machine_, X, dtype)
    assert (
        np.abs(found["scores"].reshape(limit.shape) - scores.reshape(limit.shape)) <= limit
    ).all()
    sure = far_from_ties(scores, 2 * limit.max(axis=1))
    assert sure.mean() > 0.95
    assert_array_equal(found["label"][sure], model.predict(X)[sure])


@pytest.mark.parametrize("shape", ["ovr", "ovo"])
@pytest.mark.parametrize("break_ties", [False, True])
def test_pairs(digits, shape, break_ties):
    X, y, X_test = digits
    if break_ties and shape == "ovo":
        break_ties = False  # scikit-learn refuses the two together
    svc = SVC(C=10.0, decision_function_shape=shape, break_ties=break_ties).fit(X, y)
    for model in (svc, compress(svc, 40, max_iter=3)):
        found = run(onnx_model(model, "float64"), X_test, "float64")
        assert_allclose(found["scores"], model.decision_function(X_test), atol=1e-8)
        assert_array_equal(found["label"], model.predict(X_test))


@pytest.mark.parametrize("labels", [("no", "yes"), (1.0, 2.0), (True, False), (3, 10**12)])
def test_two_classes_of_any_label(labels):
    X, y = make_banana(200, random_state=0)
    model = SparseSVC(6, random_state=0).fit(X, np.where(y > 0, labels[0], labels[1]))
    found = run(onnx_model(model, "float64"), X, "float64")
    assert_array_equal(found["label"].astype(model.classes_.dtype), model.predict(X))
    assert_allclose(found["scores"][:, 0], model.decision_function(X), atol=1e-9)


@pytest.mark.parametrize("calibration", ["sigmoid", "temperature"])
@pytest.mark.parametrize("n_classes", [2, 4])
def test_probabilities(calibration, n_classes):
    X, y = load_digits(n_class=n_classes, return_X_y=True)
    X = X / 16
    small = SparseSVC(8, random_state=0).fit(X[::2], y[::2])
    if calibration == "temperature":  # fitted by scikit-learn 1.8 only, but known to all
        fitted = TemperatureCalibration(1.7)
    else:
        fitted = calibrate(small, X[1::2], y[1::2]).calibrated_machine_.calibration
    model = CalibratedMachine(small.machine_, fitted)
    expected = model.predict_proba(X)
    found = run(onnx_model(model, "float64"), X, "float64")
    assert_allclose(found["probabilities"], expected, atol=1e-9)
    assert_array_equal(found["label"], expected.argmax(axis=1))


def test_outliers_values_and_features():
    X, y = make_banana(100, random_state=1)
    outliers = OneClassSVM(nu=0.2).fit(X)
    found = run(onnx_model(outliers, "float64"), X, "float64")
    assert_array_equal(found["label"], outliers.predict(X))
    regression = SVR().fit(X, X[:, 0])
    found = run(onnx_model(regression, "float64"), X, "float64")
    assert_allclose(found["variable"][:, 0], regression.predict(X), atol=1e-9)
    features = KernelFisherDiscriminant(n_vectors=5, random_state=0).fit(X, y)
    found = run(onnx_model(features, "float64"), X, "float64")
    assert_allclose(found["variable"], features.transform(X), atol=1e-9)


@pytest.mark.parametrize("dtype", DTYPES)
def test_a_whole_pipeline_by_skl2onnx(digits, shared, dtype):
    from skl2onnx import to_onnx

    register_skl2onnx()
    X, y, X_test = digits
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        classifier = SparseSVC(15, max_iter=10, random_state=0)
        pipeline = make_pipeline(StandardScaler(), classifier).fit(X, y)
    made = to_onnx(pipeline, X[:1].astype(dtype))
    session = onnxruntime.InferenceSession(made.SerializeToString())
    found = session.run(["label", "scores"], {"X": X_test.astype(dtype)})
    assert np.mean(found[0] == pipeline.predict(X_test)) > 0.995
    limit = 1e-9 if dtype == "float64" else 1e-3
    assert_allclose(found[1], pipeline.decision_function(X_test), atol=limit)


def test_files_and_errors(tmp_path, shared):
    onnx(shared, tmp_path / "digits.onnx")
    read = onnx_package.load(tmp_path / "digits.onnx")
    assert read.producer_name == "kernelet" and read.opset_import[0].version == 17
    with pytest.raises(ValueError, match="dtype"):
        onnx(shared, tmp_path / "other.onnx", dtype="q15")
    assert [path.name for path in tmp_path.iterdir()] == ["digits.onnx"]


def test_pipelines_refuse_what_the_estimator_refuses(shared, digits):
    """Of a single column ONNX would make as many as there are features."""
    from onnxruntime.capi.onnxruntime_pybind11_state import Fail, RuntimeException
    from skl2onnx import to_onnx
    from skl2onnx.common.data_types import FloatTensorType, Int64TensorType

    register_skl2onnx()
    X = digits[2][:3].astype(np.float32)
    for types, reason in (
        ([("X", FloatTensorType([None, 1]))], "fitted with 64 features, the input has 1"),
        ([("X", FloatTensorType([None, 65]))], "fitted with 64 features, the input has 65"),
        ([("X", Int64TensorType([None, 64]))], "takes one input of rows"),
        ([(f"x{i}", FloatTensorType([None, 1])) for i in range(64)], "takes one input of rows"),
    ):
        with pytest.raises(ValueError, match=reason):
            to_onnx(shared, initial_types=types)
    proto = to_onnx(shared, initial_types=[("X", FloatTensorType([None, None]))])
    session = onnxruntime.InferenceSession(proto.SerializeToString())
    assert_array_equal(session.run(["label"], {"X": X})[0], shared.predict(X))
    assert len(session.run(["label"], {"X": X[:0]})[0]) == 0
    for width in (1, 32):
        with pytest.raises((Fail, RuntimeException), match="reshaped"):
            session.run(["label"], {"X": np.ones((64, width), np.float32)})
