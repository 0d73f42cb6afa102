"""LIBSVM itself reads the model text and predicts from it (Debian: apt install libsvm-tools)."""

from __future__ import annotations

import shutil
import subprocess

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import dump_svmlight_file

from export_models import fitted
from kernelet import KernelMachine, kernels
from kernelet.export import libsvm
from tests.export.test_export_libsvm import MODELS, X


def svm_predict(model, folder, *options):
    """Lines of svm-predict's output for the rows of X, printed with six digits at the least."""
    if shutil.which("svm-predict") is None:
        pytest.fail("these tests run LIBSVM: install it (Debian: apt install libsvm-tools)")
    libsvm(model, folder / "svm.model")
    dump_svmlight_file(X, np.zeros(len(X)), str(folder / "rows"), zero_based=False)
    files = ["rows", "svm.model", "out"]
    command = ["svm-predict", *options, *(str(folder / name) for name in files)]
    subprocess.run(command, check=True, capture_output=True)
    return (folder / "out").read_text().splitlines()


@pytest.mark.parametrize("name", MODELS)
def test_predictions(name, tmp_path):
    model = MODELS[name]()
    found = np.array([float(line) for line in svm_predict(model, tmp_path)])
    expected = model.predict(X)
    if expected.dtype.kind == "f":
        assert_allclose(found, expected, rtol=1e-5)
    else:
        assert_array_equal(found, expected)


def test_probabilities(tmp_path):
    model = fitted("two classes, one width, calibrated")
    head, *lines = svm_predict(model, tmp_path, "-b", "1")
    assert head == "labels 1 0"
    numbers = np.array([[float(text) for text in line.split()] for line in lines])
    assert_array_equal(numbers[:, 0], model.predict(X))
    assert_allclose(numbers[:, :0:-1], model.predict_proba(X), atol=1e-5)


@pytest.mark.parametrize("n_vectors", [0, 1])
def test_machines_of_hardly_any_vectors(n_vectors, tmp_path):
    machine = KernelMachine(kernels.Gaussian(1.0), X[:n_vectors], np.ones(n_vectors), 0.5)
    found = [float(line) for line in svm_predict(machine, tmp_path)]
    assert_allclose(found, machine.decision_function(X), rtol=1e-5)
