"""Machines in few bits on a Cortex-M0 and a Cortex-M4F, in QEMU: labels, flash, RAM, work."""

import warnings

import numpy as np
import pytest
from sklearn.datasets import load_digits
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import SVC, OneClassSVM

from kernelet import SparseSVC, SparseSVR, calibrate, compress
from kernelet.kernels import Gaussian, ProjectedFeatures
from kernelet.machine import stored_bytes
from run_cortex import M0, M4, Board, instructions_of, sections

CPUS = {"M0": M0, "M4": M4}
NAMES = ["4 bits", "5 bits", "8 bits", "12 bits", "two classes", "projected", "values"]
NAMES += ["calibrated", "pairs", "outliers"]
# Bytes of code and tables of powers that a plain classifier may take, and one that is not plain.
MOST, MOST_OF_MORE = 1200, 1550


def digits():
    X, y = load_digits(return_X_y=True)
    return X / 16, y


@pytest.fixture(scope="module")
def models():
    """name -> a model in few bits"""
    X, y = digits()
    X, y = X[:1000], y[:1000]
    few = {"C": 10.0, "max_iter": 10, "random_state": 0}
    mixed = np.linalg.qr(np.random.default_rng(0).normal(size=(64, 10)))[0].T
    made = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        for bits in (4, 5, 8, 12):
            made[f"{bits} bits"] = SparseSVC(20, vector_bits=bits, **few).fit(X, y)
        made["two classes"] = SparseSVC(8, vector_bits=4, **few).fit(X, y % 2)
        projected = ProjectedFeatures(Gaussian(0.3), mixed)
        made["projected"] = SparseSVC(20, kernel=projected, vector_bits=5, **few).fit(X, y)
        made["values"] = SparseSVR(10, vector_bits=5, max_iter=10, random_state=0).fit(X, y)
        made["calibrated"] = calibrate(made["5 bits"], *digits())
        pairs = SVC(C=10.0).fit(X[:400], y[:400])
        made["pairs"] = compress(pairs, 20, max_iter=5, vector_bits=5)
        outliers = OneClassSVM(nu=0.2).fit(X[:200])
        made["outliers"] = compress(outliers, 10, vector_bits=5)
    return made


@pytest.mark.parametrize("cpu", CPUS)
@pytest.mark.parametrize("name", NAMES)
def test_digits(name, cpu, models, tmp_path):
    model = models[name]
    rows = digits()[0][1000:1100].astype(np.float32)
    board = Board(model, rows, "q7", tmp_path, cpu=CPUS[cpu], optimize="-Os")
    written, measured = board.written, sections(board.object)
    cost = written.cost
    in_tables = cost.flash_bytes + cost.common_bytes
    assert sections(board.unoptimised)["constants"] == in_tables
    # -Os makes small tables part of the code, and nothing larger
    assert in_tables - 4 <= measured["constants"] <= in_tables
    n_labels = len(getattr(model, "classes_", ())) if name != "outliers" else 0
    if name != "calibrated":
        assert written.flash_bytes == stored_bytes(model.machine_, n_labels=n_labels)
    print(f"{name} on {cpu}: {written.flash_bytes} + {cost.common_bytes} bytes,", end=" ")
    print(f"{measured['code']} of code, {board.stack} of {cost.ram_bytes} of stack")
    assert measured["variables"] == 0
    most = MOST_OF_MORE if name == "calibrated" else MOST
    assert measured["code"] + cost.common_bytes <= most
    assert 0 <= cost.ram_bytes - board.stack <= 200
    if name != "pairs":
        expected = model.predict(rows) if name == "values" else model.decision_function(rows)
        scores = expected.reshape(len(rows), -1)
        assert np.abs(board.scores - scores).max() < 2e-3 * np.abs(scores).max()
    if name != "values":
        labels = board.labels if name == "outliers" else model.classes_[board.labels]
        assert (labels == model.predict(rows)).all()
    if name == "calibrated":
        np.testing.assert_allclose(board.probabilities, model.predict_proba(rows), atol=3e-3)


@pytest.mark.parametrize("cpu", CPUS)
def test_instructions(cpu, models, tmp_path):
    """Counted one by one: the inner loop takes a few for each entry of a vector."""
    X, _ = digits()
    numbers = ", ".join(repr(float(number)) for number in X[1000].astype(np.float32))
    found = {}
    for name in ("4 bits", "5 bits", "8 bits"):
        model = models[name]
        folder = tmp_path / name.replace(" ", "_")
        Board(model, X[1000:1001].astype(np.float32), "q7", folder, cpu=CPUS[cpu])
        declarations = (
            '#include "machine.h"\n'
            f"static const float row[] = {{{numbers}}};\n"
            "static int16_t q[64];\nvolatile int label;"
        )
        calls = ["machine_quantize(row, q);", "label = machine_predict(q);"]
        sources = [folder / "machine.c"]
        found[name] = instructions_of(sources, folder, declarations, calls, cpu=CPUS[cpu])
        again = instructions_of(sources, folder, declarations, calls[:1] * 2, cpu=CPUS[cpu])
        assert again == [found[name][0]] * 2
    print(cpu, {name: f"{q} to quantize, {p} to predict" for name, (q, p) in found.items()})
    n_entries = 20 * int(models["4 bits"].machine_.compact.grid.varying.sum())
    for quantizing, predicting in found.values():
        assert 4 * n_entries < predicting < 35 * n_entries
        assert 64 * 10 < quantizing < 64 * 2000
