"""C is compiled with every warning an error, and run beside the model that it came from."""

from __future__ import annotations

import ctypes
import os
import shutil
import subprocess
import warnings

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.datasets import load_digits
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import SVC, SVR, OneClassSVM

from kernelet import KernelFisherDiscriminant, KernelMachine, SparseSVC, calibrate, compress
from kernelet.datasets import make_banana
from kernelet.export import c
from kernelet.export.c import c_source
from kernelet.export.c_source import identifier, quoted
from kernelet.kernels import (
    CallableKernel,
    Exponential,
    Gaussian,
    Laplacian,
    Linear,
    Matern32,
    Matern52,
    Polynomial,
    RationalQuadratic,
    Sigmoid,
)
from kernelet.machine import CalibratedMachine, TemperatureCalibration

WARNINGS = ["-Wall", "-Wextra", "-pedantic", "-Wconversion", "-Werror"]
FLAGS = ["-std=c99", "-O2", *WARNINGS, "-shared", "-fPIC"]
KERNELS = [
    Gaussian(0.3),
    Exponential(0.3),
    Matern32(0.3),
    Matern52(0.3),
    RationalQuadratic(0.3, 2.0),
    Laplacian(0.3),
    Linear(),
    Polynomial(degree=3, gamma=0.5, coef0=1.0),
    Sigmoid(gamma=0.1, coef0=-0.5),
    Gaussian(0.3) + 0.5 * Laplacian(0.2) * Linear(),
]
RNG = np.random.default_rng(0)


def compilers() -> list[str]:
    """Those of this machine; where CI runs there is one."""
    found = [name for name in ("gcc", "clang") if shutil.which(name)]
    if not found and not os.environ.get("CI"):
        pytest.skip("no C compiler on this machine")
    assert found, "CI has to compile what is exported"
    return found


class Library:
    """Compiled functions that take and give arrays."""

    def __init__(self, model, folder, dtype, name="machine", compiler=None):
        self.written = c(model, folder / f"{name}.c", dtype=dtype)
        self.path = folder / f"{name}.c"
        self.real = np.float32 if dtype == "float32" else np.float64
        library = folder / f"{name}-{dtype}.so"
        command = [compiler or compilers()[0], *FLAGS, str(self.path), "-o", str(library), "-lm"]
        subprocess.run(command, check=True)
        self.functions = ctypes.CDLL(str(library))
        self.name = name

    def call(self, function, X, result):
        rows = np.ascontiguousarray(X, dtype=self.real)
        pointer = ctypes.c_void_p
        entry = getattr(self.functions, f"{self.name}_{function}")
        entry.argtypes = [pointer, ctypes.c_size_t, pointer]
        entry(rows.ctypes.data, len(rows), result.ctypes.data)
        return result

    def decision_function(self, X, n_scores):
        return self.call("decision_function_batch", X, np.empty((len(X), n_scores), self.real))

    def predict(self, X):
        return self.call("predict_batch", X, np.empty(len(X), dtype=np.intc))


def bound(machine, X, dtype):
    """What rounding may do to a decision value, as a multiple of the terms that are summed."""
    unit = 1e-12 if dtype == "float64" else 64 * float(np.finfo(np.float32).eps)
    gamma = getattr(machine.kernel, "gamma", 1.0)
    Z, beta = machine.vectors, np.abs(machine.coefficients)
    size = 1.0 + gamma * ((X**2).sum(axis=1) + (Z**2).sum(axis=1).max())
    terms = np.abs(machine.kernel(X, Z)) @ beta + np.abs(machine.intercepts)
    return unit * size[:, None] * terms


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
def test_decision_values(kernel, dtype, tmp_path):
    machine = KernelMachine(
        kernel, RNG.normal(size=(7, 4)), RNG.normal(size=(7, 3)), RNG.normal(size=3)
    )
    X = RNG.normal(size=(50, 4)).astype(np.float32).astype(np.float64)
    values = Library(machine, tmp_path, dtype).decision_function(X, 3)
    expected = machine.decision_function(X)
    assert (np.abs(values - expected) <= bound(machine, X, dtype)).all()


def test_every_compiler_and_every_piece(tmp_path):
    X, y = load_digits(n_class=4, return_X_y=True)
    svc, outliers = SVC().fit(X, y), OneClassSVM().fit(X)
    for compiler in compilers():
        for dtype in ("float32", "float64", "q15"):
            Library(svc, tmp_path, dtype, f"pairs_{compiler}_{dtype}", compiler)
            Library(outliers, tmp_path, dtype, f"one_{compiler}_{dtype}", compiler)


@pytest.fixture(scope="module")
def digits():
    X, y = load_digits(return_X_y=True)
    return X[:1000] / 16, y[:1000], X[1000:] / 16, y[1000:]


@pytest.fixture(scope="module")
def shared(digits):
    X, y, _, _ = digits
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return SparseSVC(30, C=10.0, max_iter=25, tol=0.1, random_state=0).fit(X, y)


def assert_labels_agree(library, model, X, scores, limit):
    """Labels are equal wherever the two largest scores differ by more than rounding."""
    top = np.sort(np.column_stack([np.zeros(len(X)), scores]) if scores.ndim == 1 else scores)
    sure = top[:, -1] - top[:, -2] > 2 * limit.max(axis=1)
    assert sure.mean() > 0.9
    labels = model.classes_[library.predict(X)]
    assert_array_equal(labels[sure], model.predict(X)[sure])


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_shared_vectors_on_digits(shared, digits, dtype, tmp_path):
    X = digits[2]
    library = Library(shared, tmp_path, dtype)
    scores, limit = shared.decision_function(X), bound(shared.machine_, X, dtype)
    assert (np.abs(library.decision_function(X, 10) - scores) <= limit).all()
    assert_labels_agree(library, shared, X, scores, limit)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("shape", ["ovr", "ovo"])
def test_pairs_of_an_svc_and_of_what_it_is_compressed_to(digits, dtype, shape, tmp_path):
    X, y, X_test, _ = digits
    svc = SVC(C=10.0, decision_function_shape=shape).fit(X, y)
    for name, model in (("full", svc), ("small", compress(svc, 60, max_iter=5))):
        library = Library(model, tmp_path, dtype, name)
        scores = model.decision_function(X_test)
        values = library.decision_function(X_test, scores.shape[1])
        assert np.abs(values - scores).max() < (1e-9 if dtype == "float64" else 1e-3)
        assert np.mean(model.classes_[library.predict(X_test)] == model.predict(X_test)) > 0.999


def test_two_classes_of_text(tmp_path):
    X, y = make_banana(200, random_state=0)
    labels = np.where(y > 0, 'with "quotes" ??/', "ü")
    model = SparseSVC(6, random_state=0).fit(X, labels)
    library = Library(model, tmp_path, "float64")
    assert_array_equal(model.classes_[library.predict(X)], model.predict(X))
    names = (ctypes.c_char_p * 2).in_dll(library.functions, "machine_labels")
    assert [name.decode() for name in names] == model.classes_.tolist()


@pytest.mark.parametrize("calibration", ["sigmoid", "temperature"])
@pytest.mark.parametrize("n_classes", [2, 4])
def test_probabilities(calibration, n_classes, tmp_path):
    X, y = load_digits(n_class=n_classes, return_X_y=True)
    X = X / 16
    small = SparseSVC(8, random_state=0).fit(X[::2], y[::2])
    if calibration == "temperature":  # fitted by scikit-learn 1.8 only, but known to all
        fitted = TemperatureCalibration(1.7)
    else:
        fitted = calibrate(small, X[1::2], y[1::2]).calibrated_machine_.calibration
    model = CalibratedMachine(small.machine_, fitted)
    expected = model.predict_proba(X)
    library = Library(model, tmp_path, "float64")
    entry = library.functions.machine_predict_proba
    entry.argtypes = [ctypes.c_void_p, ctypes.c_void_p]
    found = np.empty((len(X), n_classes))
    for row, probabilities in zip(np.ascontiguousarray(X), found, strict=True):
        entry(row.ctypes.data, probabilities.ctypes.data)
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-12)
    assert_array_equal(library.predict(X), expected.argmax(axis=1))


def test_outliers_values_and_features(tmp_path):
    X, y = make_banana(100, random_state=1)
    outliers = OneClassSVM(nu=0.2).fit(X)
    assert_array_equal(Library(outliers, tmp_path, "float64", "o").predict(X), outliers.predict(X))
    for name, model in (
        ("regression", SVR().fit(X, X[:, 0])),
        ("features", KernelFisherDiscriminant(n_vectors=5, random_state=0).fit(X, y)),
    ):
        expected = model.predict(X) if name == "regression" else model.transform(X)
        expected = expected.reshape(len(X), -1)
        values = Library(model, tmp_path, "float64", name).decision_function(X, expected.shape[1])
        np.testing.assert_allclose(values, expected, rtol=1e-9, atol=1e-9)


def test_rows_that_are_not_finite(shared, digits, tmp_path):
    library = Library(shared, tmp_path, "float64")
    X = digits[2][:3].copy()
    X[0, 5], X[1, 5] = np.nan, np.inf
    values = library.decision_function(X, 10)
    assert np.isnan(values[0]).all()
    np.testing.assert_allclose(values[1], shared.machine_.intercepts)
    assert library.predict(X)[0] == -1


def fixed_point_labels(model, X, folder):
    library = Library(model, folder, "q15")
    quantize, predict = library.functions.machine_quantize, library.functions.machine_predict
    for entry in (quantize, predict):
        entry.argtypes = [ctypes.c_void_p] * (2 if entry is quantize else 1)
    q, found = np.empty(X.shape[1], dtype=np.int16), []
    for row in np.ascontiguousarray(X, dtype=np.float32):
        quantize(row.ctypes.data, q.ctypes.data)
        found.append(predict(q.ctypes.data))
    return np.array(found), library


def test_integers_agree_on_digits(shared, digits, tmp_path):
    codes, _ = fixed_point_labels(shared, digits[2], tmp_path)
    assert np.mean(shared.classes_[codes] == shared.predict(digits[2])) >= 0.995


@pytest.mark.parametrize("scale", [1e-3, 1.0, 1e4])
def test_integers_agree_with_the_decision_function(scale, tmp_path):
    X, y = make_banana(300, random_state=0)
    X = X * scale + 100 * scale
    model = SparseSVC(8, gamma=0.5 / scale**2, random_state=0).fit(X, y)
    codes, library = fixed_point_labels(model, X, tmp_path)
    assert np.mean(model.classes_[codes] == model.predict(X)) >= 0.99
    unit = float(library.written.header.split("_SCORE_UNIT ")[1].split()[0])
    quantize, decide = (
        library.functions.machine_quantize,
        library.functions.machine_decision_function,
    )
    quantize.argtypes = decide.argtypes = [ctypes.c_void_p] * 2
    q, score = np.empty(2, dtype=np.int16), np.empty(1, dtype=np.int32)
    values = []
    for row in np.ascontiguousarray(X, dtype=np.float32):
        quantize(row.ctypes.data, q.ctypes.data)
        decide(q.ctypes.data, score.ctypes.data)
        values.append(unit * score[0])
    total = np.abs(model.machine_.coefficients).sum()
    assert np.abs(np.array(values) - model.decision_function(X)).max() < 2e-4 * total


def test_integers_refuse_what_they_cannot_hold():
    vectors, coefficients = [[0.0], [1.0]], [1.0, -1.0]
    with pytest.raises(ValueError, match="Gaussian kernels"):
        c_source(KernelMachine(Laplacian(1.0), vectors, coefficients, 0.0), "m", "q15")
    for gamma in (1e-30, 1e30):
        with pytest.raises(ValueError, match="gamma"):
            c_source(KernelMachine(Gaussian(gamma), vectors, coefficients, 0.0), "m", "q15")


def test_what_it_costs_is_said(shared):
    for dtype, itemsize in (("float32", 4), ("float64", 8)):
        written = c_source(shared, "digits", dtype)
        assert written.flash_bytes == itemsize * (30 * 64 + 30 * 10 + 10)
        assert f"{written.flash_bytes} bytes of tables" in written.source
    integers = c_source(shared, "digits", "q15").flash_bytes
    assert integers < 0.6 * c_source(shared, "digits").flash_bytes


def test_names():
    assert identifier("my model-2") == "my_model_2"
    assert identifier("2nd") == "machine_2nd"
    assert identifier("ü") == "machine"
    assert quoted('a"\\?ü') == '"a\\042\\134\\077\\303\\274"'


def test_errors(tmp_path, shared):
    with pytest.raises(ValueError, match="must end in"):
        c(shared, tmp_path / "model.txt")
    with pytest.raises(ValueError, match="dtype"):
        c(shared, tmp_path / "model.c", dtype="float16")
    machine = KernelMachine(Gaussian(1.0), [[1e39]], [1.0], 0.0)
    with pytest.raises(ValueError, match="too large for float32"):
        c(machine, tmp_path / "model.c")
    own = KernelMachine(CallableKernel(lambda X, Z: X @ Z.T), [[1.0]], [1.0], 0.0)
    with pytest.raises(ValueError, match="Python function"):
        c(own, tmp_path / "model.c")
    assert list(tmp_path.iterdir()) == []
