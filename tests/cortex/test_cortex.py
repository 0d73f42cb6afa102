"""Exported C on a Cortex-M4F, in QEMU: the same answers, and what it was said to cost."""

import warnings

import numpy as np
import pytest
from sklearn.datasets import load_digits, load_iris
from sklearn.exceptions import ConvergenceWarning
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, OneClassSVM

from export_bounds import bound
from kernelet import (
    KernelMachine,
    RelevanceVectorClassifier,
    SparseSVC,
    TableModel,
    calibrate,
    compress,
)
from kernelet.export.rounding import rounding_units
from kernelet.kernels import Laplacian, Matern52, Polynomial, RationalQuadratic, Sigmoid
from run_c import DTYPES
from run_cortex import Board, sections

UNITS = {"float32": 2.0**-24, "float64": 2.0**-53}
TABLE = {
    "length": [1.5, None, 3.0, 2.0, 8.5, 7.0, 9.0, 6.5],
    "colour": ["red", "blue", "", "red", "blue", "grey", "grey", "blue"],
    "fruit": ["fig", "fig", "fig", "fig", "plum", "plum", "plum", "plum"],
}


@pytest.fixture(scope="module")
def models():
    """name -> (model, rows in C, what the model gives, labels, probabilities)"""
    X, y = load_digits(return_X_y=True)
    X = X / 16
    train, rows = slice(0, 800), X[1000:1150].astype(np.float32).astype(float)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        shared = SparseSVC(20, C=10.0, max_iter=20, random_state=0).fit(X[train], y[train])
        relevance = RelevanceVectorClassifier().fit(X[:150], y[:150])
    made = {"shared": shared, "calibrated": calibrate(shared, X[800:1000], y[800:1000])}
    made["relevance"] = relevance
    made["pairs"] = compress(SVC(C=10.0).fit(X[:400], y[:400]), 20, max_iter=5)
    made["outliers"] = compress(OneClassSVM(nu=0.2).fit(X[:200]), 10)
    return {name: (model, rows) for name, model in made.items()}


def assert_costs(board, merged_bytes=0):
    measured, tables = sections(board.object), sections(board.unoptimised)["constants"]
    assert 0 <= board.written.flash_bytes - tables <= merged_bytes
    assert measured["constants"] <= tables
    assert measured["variables"] == 0
    assert measured["code"] <= 1400  # "about 1 kB"
    assert 0 <= board.written.ram_bytes - board.stack <= 200


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", ["shared", "calibrated", "relevance", "pairs", "outliers"])
def test_digits(name, dtype, models, tmp_path):
    model, rows = models[name]
    board = Board(model, rows, dtype, tmp_path)
    assert_costs(board)
    scores = model.decision_function(rows).reshape(len(rows), -1)
    if dtype == "q15":
        size = np.abs(model.machine_.coefficients).sum(axis=0).max()
        limit = np.full(scores.shape, 5e-4 * size)
    elif name == "pairs":  # votes and their shares
        limit = np.full(scores.shape, 1e-3 if dtype == "float32" else 1e-9)
    else:
        machine = model.machine_
        limit = bound(machine, rows, (rounding_units(machine) + 16) * UNITS[dtype])
    if not (name == "pairs" and dtype == "q15"):
        assert (np.abs(board.scores - scores) <= limit).all()
    expected = model.predict(rows)
    labels = board.labels if name == "outliers" else model.classes_[board.labels]
    assert np.mean(labels == expected) >= (0.98 if dtype == "q15" else 0.999)
    if name in ("calibrated", "relevance"):
        shares = model.predict_proba(rows)
        slack = {"float32": 1e-4, "float64": 1e-10, "q15": 3e-2}[dtype]
        np.testing.assert_allclose(board.probabilities, shares, atol=slack)


@pytest.mark.parametrize("dtype", DTYPES)
def test_tables_and_pipelines(dtype, tmp_path):
    model = TableModel.fit(TABLE, "fruit", SparseSVC(4, random_state=0))
    rows = np.array([[1.5, 2.0], [np.nan, np.nan], [7.0, 1.0], [40.0, -1.0]])
    table = {"length": [1.5, None, 7.0, 40.0], "colour": ["red", "", "grey", "pink"]}
    board = Board(model, rows, dtype, tmp_path / "table")
    # the last text is not padded, and one that is the end of another is not stored
    assert_costs(board, merged_bytes=4)
    with pytest.warns(UserWarning, match="pink"):
        scores, labels = model.decision_function(table), model.predict(table)
    slack = {"float32": 1e-5, "float64": 1e-12, "q15": 1e-3}[dtype]
    np.testing.assert_allclose(board.scores[:, 0], scores, atol=slack * 10)
    assert (model.classes_[board.labels] == labels).all()
    X, y = load_iris(return_X_y=True)
    X = X.astype(np.float32).astype(float)
    pipeline = make_pipeline(StandardScaler(), SparseSVC(6, random_state=0)).fit(X, y)
    board = Board(pipeline, X[::5], dtype, tmp_path / "pipeline")
    assert_costs(board, merged_bytes=4)
    np.testing.assert_allclose(board.scores, pipeline.decision_function(X[::5]), atol=slack * 100)
    assert np.mean(board.labels == pipeline.predict(X[::5])) >= (0.96 if dtype == "q15" else 1.0)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize(
    "kernel",
    [
        Laplacian(0.3),
        Matern52(0.3) + RationalQuadratic(0.2, 2.0),
        Polynomial(degree=3, gamma=0.5, coef0=1.0),
        Sigmoid(gamma=0.1, coef0=-0.5),
    ],
    ids=lambda kernel: kernel.name,
)
def test_kernels(kernel, dtype, tmp_path):
    rng = np.random.default_rng(0)
    machine = KernelMachine(kernel, rng.normal(size=(5, 3)), rng.normal(size=(5, 2)), [0.5, -1.0])
    rows = rng.normal(size=(10, 3)).astype(np.float32).astype(float)
    board = Board(machine, rows, dtype, tmp_path)
    assert_costs(board)
    limit = bound(machine, rows, (rounding_units(machine) + 16) * UNITS[dtype])
    assert (np.abs(board.scores - machine.decision_function(rows)) <= limit).all()
