"""LIBSVM's model text, read by the rules of its own reader and evaluated by its definition.

That LIBSVM itself takes the files is shown by running it, in tests/browser/test_libsvm.py.
"""

from __future__ import annotations

import math
import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.svm import SVC, SVR, NuSVC, OneClassSVM

import kernelet
from export_models import fitted, flowers
from kernelet import KernelMachine, kernels
from kernelet.export import libsvm
from kernelet.export.libsvm import libsvm_text
from kernelet.machine import CalibratedMachine, TemperatureCalibration


class Libsvm:
    """What LIBSVM makes of a model file: header lines, then a line for each support vector."""

    def __init__(self, text):
        head, _, body = text.partition("\nSV\n")
        self.head = dict(line.split(" ", 1) for line in head.splitlines())
        self.rows = []
        for line in body.splitlines():
            coefficient, *features = line.split()
            pairs = [feature.split(":") for feature in features]
            self.rows.append((float(coefficient), {int(i): float(v) for i, v in pairs}))
        assert int(self.head["total_sv"]) == len(self.rows)
        if "nr_sv" in self.head:
            counts = [int(n) for n in self.head["nr_sv"].split()]
            assert sum(counts) == len(self.rows)
            assert all(beta >= 0 for beta, _ in self.rows[: counts[0]])
            assert all(beta <= 0 for beta, _ in self.rows[counts[0] :])

    def kernel(self, x, z):
        head = self.head
        product = sum(x[f - 1] * value for f, value in z.items())
        gamma, coef0 = float(head.get("gamma", 0)), float(head.get("coef0", 0))
        if head["kernel_type"] == "linear":
            return product
        if head["kernel_type"] == "polynomial":
            return (gamma * product + coef0) ** int(head["degree"])
        if head["kernel_type"] == "sigmoid":
            return math.tanh(gamma * product + coef0)
        assert head["kernel_type"] == "rbf"
        return math.exp(-gamma * sum((x[f] - z.get(f + 1, 0.0)) ** 2 for f in range(len(x))))

    def decision_function(self, X):
        rho = float(self.head["rho"])
        return np.array([sum(b * self.kernel(x, z) for b, z in self.rows) - rho for x in X])

    def predict(self, X):
        """Of svm_predict: the first label where the decision value is positive."""
        values = self.decision_function(X)
        if self.head["svm_type"] == "epsilon_svr":
            return values
        if self.head["svm_type"] == "one_class":
            return np.where(values > 0, 1, -1)
        first, second = (int(label) for label in self.head["label"].split())
        return np.where(values > 0, first, second)

    def predict_proba(self, X):
        """Of the first label, sigmoid_predict."""
        a, b = float(self.head["probA"]), float(self.head["probB"])
        return 1.0 / (1.0 + np.exp(a * self.decision_function(X) + b))


X, Y = flowers()
TWO = np.where(Y == 2, 7, -3)
MODELS = {
    "rbf": lambda: kernelet.SparseSVC(6, learn_kernel=False, random_state=0).fit(X, TWO),
    "learned width": lambda: kernelet.SparseSVC(6, learn_kernel=True, random_state=0).fit(X, TWO),
    "linear": lambda: SVC(kernel="linear").fit(X, TWO),
    "poly": lambda: NuSVC(nu=0.2, kernel="poly", coef0=1.0, degree=2).fit(X, TWO),
    "sigmoid": lambda: SVC(kernel="sigmoid", gamma=0.01, coef0=-0.5).fit(X, TWO),
    "values": lambda: SVR().fit(X, X[:, 0]),
    "compressed values": lambda: kernelet.compress(SVR().fit(X, X[:, 0]), 10),
    "outliers": lambda: OneClassSVM(nu=0.3).fit(X),
}


@pytest.mark.parametrize("name", MODELS)
def test_values_and_labels(name):
    model = MODELS[name]()
    read = Libsvm(libsvm_text(model))
    if name not in ("values", "compressed values"):
        assert_allclose(read.decision_function(X), model.decision_function(X), atol=1e-10)
        assert_array_equal(read.predict(X), model.predict(X))
    assert_allclose(read.predict(X), model.predict(X), atol=1e-10)


def test_the_second_class_is_the_first_label():
    text = libsvm_text(MODELS["rbf"]())
    assert "\nlabel 7 -3\n" in text and text.startswith("svm_type c_svc\nkernel_type rbf\ngamma ")
    assert text.isascii() and text.endswith(" \n")


def test_a_machine_and_its_zeros():
    machine = KernelMachine(kernels.Gaussian(0.5), [[0.0, 2.0], [0.0, 0.0]], [1.5, 0.1], -0.25)
    text = libsvm_text(machine)
    assert text.splitlines()[-3:] == ["SV", "1.5 2:2.0 ", "0.1 "]
    rows = np.array([[0.0, 2.0], [1.0, 1.0]])
    assert_allclose(Libsvm(text).decision_function(rows), machine.decision_function(rows))


def test_labels_that_are_no_integers_become_signs():
    model = fitted("two classes, one width")
    with pytest.warns(UserWarning, match="'virginica' is written as 1 and 'other' as -1"):
        read = Libsvm(libsvm_text(model))
    assert_array_equal(read.predict(X) == 1, model.predict(X) == "virginica")
    for labels in (TWO > 0, TWO * 10**9):
        with pytest.warns(UserWarning, match="LIBSVM's labels are integers"):
            libsvm_text(kernelet.ReducedSVC(4, random_state=0).fit(X, labels))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        libsvm_text(MODELS["rbf"]())


def test_probabilities_go_along():
    model = fitted("two classes, one width, calibrated")
    read = Libsvm(libsvm_text(model))
    assert_allclose(read.predict_proba(X), model.predict_proba(X)[:, 1], atol=1e-12)
    small = kernelet.ReducedSVC(4, random_state=0).fit(X, TWO)
    machine = CalibratedMachine(small.machine_, TemperatureCalibration(1.7))
    warm = kernelet.CalibratedClassifier.of(small, machine.calibration)
    expected = machine.predict_proba(X)[:, 1]
    assert_allclose(Libsvm(libsvm_text(warm)).predict_proba(X), expected, atol=1e-12)


@pytest.mark.parametrize(
    ("name", "error", "reason"),
    [
        ("SparseSVC", ValueError, "the model has 3 outputs"),
        ("SVC", ValueError, "the model has 3 outputs"),
        ("TableModel", TypeError, "no place for the columns"),
    ],
)
def test_what_libsvm_does_not_know_is_refused(name, error, reason, tmp_path):
    with pytest.raises(error, match=reason):
        libsvm(fitted(name), tmp_path / "svm.model")
    laplacian = KernelMachine(kernels.Laplacian(), [[1.0]], [1.0])
    with pytest.raises(ValueError, match="does not know the kernel Laplacian"):
        libsvm(laplacian, tmp_path / "svm.model")
    scaled = KernelMachine(kernels.ScaledFeatures(kernels.Gaussian(), [2.0]), [[1.0]], [1.0])
    for model in (scaled, fitted("two classes")):
        with pytest.raises(ValueError, match=r"one scale per feature.*learn_kernel=True.*=False"):
            libsvm(model, tmp_path / "svm.model")
    projected = kernels.ProjectedFeatures(kernels.Gaussian(), [[2.0]])
    with pytest.raises(ValueError, match=r"no place for a matrix.*learn_kernel=True.*to JSON"):
        libsvm(KernelMachine(projected, [[1.0]], [1.0]), tmp_path / "svm.model")
    calibrated = CalibratedMachine(laplacian, TemperatureCalibration(1.0))
    with pytest.raises(ValueError, match="no labels"):
        libsvm(calibrated, tmp_path / "svm.model")
    assert not list(tmp_path.iterdir())
