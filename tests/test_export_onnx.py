"""ONNX is executed by onnxruntime beside the model that it came from."""

from __future__ import annotations

import warnings

import numpy as np
import onnx as onnx_package
import onnxruntime
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import load_digits
from sklearn.exceptions import ConvergenceWarning
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, SVR, OneClassSVM

from kernelet import KernelFisherDiscriminant, KernelMachine, SparseSVC, calibrate, compress
from kernelet.datasets import make_banana
from kernelet.export import onnx, register_skl2onnx
from kernelet.export.onnx import onnx_model
from kernelet.machine import CalibratedMachine, TemperatureCalibration
from test_export_c import KERNELS, bound

RNG = np.random.default_rng(0)
DTYPES = ["float32", "float64"]


def run(model, X, dtype):
    """Outputs by name, of the checked model."""
    onnx_package.checker.check_model(model, full_check=True)
    assert {entry.domain for entry in model.opset_import} == {""}
    session = onnxruntime.InferenceSession(model.SerializeToString())
    values = session.run(None, {"X": np.asarray(X, dtype=dtype)})
    return dict(zip((output.name for output in session.get_outputs()), values, strict=True))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
def test_decision_values(kernel, dtype):
    machine = KernelMachine(
        kernel, RNG.normal(size=(7, 4)), RNG.normal(size=(7, 3)), RNG.normal(size=3)
    )
    X = RNG.normal(size=(50, 4)).astype(np.float32).astype(np.float64)
    values = run(onnx_model(machine, dtype), X, dtype)["variable"]
    assert values.dtype == dtype
    assert (np.abs(values - machine.decision_function(X)) <= bound(machine, X, dtype)).all()


@pytest.mark.parametrize("dtype", DTYPES)
def test_digits_are_kept_far_from_the_origin(dtype):
    Z = RNG.normal(size=(7, 4)) + 1e3
    machine = KernelMachine(KERNELS[0], Z, RNG.normal(size=(7, 2)), np.zeros(2))
    X = (Z[:5] + 0.25).astype(np.float32).astype(np.float64)
    values = run(onnx_model(machine, dtype), X, dtype)["variable"]
    # what is left is the rounding of the constants to 32 bits, 3e-5 at a thousand
    limit = 1e-9 if dtype == "float64" else 1e-3
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
