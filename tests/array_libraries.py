"""What machines and estimators do with the arrays of another library, for any such library."""

from __future__ import annotations

import warnings
from functools import cache

import numpy as np
from numpy.testing import assert_allclose, assert_array_equal
from sklearn import config_context
from sklearn.datasets import load_iris
from sklearn.svm import SVC, SVR, OneClassSVM

from kernelet import learners
from kernelet.kernels import (
    Exponential,
    Gaussian,
    Laplacian,
    Linear,
    Matern32,
    Matern52,
    Polynomial,
    ProjectedFeatures,
    RationalQuadratic,
    ScaledFeatures,
    Sigmoid,
)
from kernelet.machine import KernelMachine
from references import kernel_value

RNG = np.random.default_rng(0)
VECTORS, NEW = RNG.normal(size=(30, 4)), RNG.normal(size=(70, 4))
NEW[:30] = VECTORS  # distances of zero
WEIGHTS, BIASES = RNG.normal(size=(30, 3)), np.array([0.5, -1.0, 2.0])
KERNELS = [
    Gaussian(0.3),
    Exponential(0.5),
    Matern32(0.5),
    Matern52(0.4),
    RationalQuadratic(0.5),
    Laplacian(0.5),
    Linear(),
    Polynomial(0.5, 1.0, 3),
    Sigmoid(0.1, 0.2),
]
COMPOSITES = [
    Gaussian(0.5) + Linear(),
    2.0 * Gaussian(0.5) * Matern32(0.1),
    ScaledFeatures(Exponential(0.5), [1.0, 2.0, 0.0, 0.5]),
    ProjectedFeatures(Gaussian(0.5), RNG.normal(size=(2, 4))) + Laplacian(0.1),
]
IRIS, SPECIES = load_iris(return_X_y=True)
NAMES = np.array(["setosa", "versicolor", "virginica"])[SPECIES]
METHODS = ("decision_function", "predict", "transform", "score_samples", "pair_scores")


def to_numpy(array):
    return np.asarray(array.cpu() if hasattr(array, "cpu") else array)


def check_scores(xp, kernel, single=False):
    """The same function as in NumPy, of the library's type and the machine's precision."""
    machine = KernelMachine(kernel, VECTORS, WEIGHTS, BIASES)
    machine = machine.astype(np.float32) if single else machine
    expected = machine.decision_function(NEW)
    scale = (1e-4 if single else 1e-11) * np.abs(expected).max()
    for dtype in (xp.float64, xp.float32):
        rows = xp.asarray(NEW.astype(np.float32).astype(np.float64), dtype=dtype)
        scores = machine.decision_function(rows)
        assert type(scores) is type(rows)
        assert scores.dtype == (xp.float32 if single else xp.float64)
        assert scores.device == rows.device
        # rows in single precision are not those of the expectation
        assert_allclose(to_numpy(scores), expected, atol=max(scale, 1e-4), rtol=1e-4)
    assert_allclose(
        to_numpy(machine.decision_function(xp.asarray(NEW))), expected, atol=scale, rtol=1e-4
    )


def check_formula(xp, kernel):
    """Against one pair of points at a time, by formulas that are written a second time."""
    machine = KernelMachine(kernel, VECTORS[:5], [1.0, -1.0, 2.0, 0.5, -0.5], 0.25)
    found = to_numpy(machine.decision_function(xp.asarray(NEW[:8])))
    for row, score in zip(NEW[:8], found, strict=True):
        terms = [kernel_value(kernel, row, z) for z in VECTORS[:5]]
        assert_allclose(score, np.dot(terms, machine.coefficients[:, 0]) + 0.25, atol=1e-10)
    assert found.shape == (8,)


def check_shapes_and_errors(xp, raises):
    machine = KernelMachine(Gaussian(0.5), VECTORS, WEIGHTS[:, 0])
    assert machine.decision_function(xp.asarray(NEW[:0])).shape == (0,)
    assert machine.decision_function(xp.asarray(np.ones((2, 4), dtype=np.int64))).shape == (2,)
    empty = KernelMachine(Gaussian(0.5), np.empty((0, 4)), np.empty((0, 2)), [1.0, 2.0])
    assert_array_equal(to_numpy(empty.decision_function(xp.asarray(NEW[:2]))), [[1, 2], [1, 2]])
    with raises(ValueError, match="X has 3 columns, but the vectors have 4"):
        machine.decision_function(xp.asarray(NEW[:, :3].copy()))
    with raises(ValueError, match="two-dimensional"):
        machine.decision_function(xp.asarray(NEW[0].copy()))
    rows = NEW[:3].copy()
    rows[1, 2] = np.nan
    scores = to_numpy(machine.decision_function(xp.asarray(rows)))
    assert_array_equal(np.isnan(scores), [False, True, False])
    far = KernelMachine(Polynomial(1.0, 0.0, 9), VECTORS, WEIGHTS, BIASES)
    with raises(ValueError, match="not finite: a sum of values of Polynomial"):
        far.decision_function(xp.asarray(1e60 * NEW))


def check_far_from_zero(xp):
    """In single precision, differences keep the digits that products of large numbers lose."""
    machine = KernelMachine(Gaussian(0.5), VECTORS + 1000.0, WEIGHTS, BIASES)
    rows = (NEW + 1000.0).astype(np.float32)
    exact = machine.decision_function(rows.astype(np.float64))
    single = machine.astype(np.float32).decision_function(xp.asarray(rows))
    assert_allclose(to_numpy(single), exact, atol=1e-3 * np.abs(exact).max())


def check_blocks(xp, monkeypatch):
    machine = KernelMachine(Gaussian(0.5) + Laplacian(0.5), VECTORS, WEIGHTS, BIASES)
    whole = to_numpy(machine.decision_function(xp.asarray(NEW)))
    monkeypatch.setattr("kernelet.machine.array_api._BLOCK_ELEMENTS", 4 * 30 * 9)
    again = KernelMachine(machine.kernel, VECTORS, WEIGHTS, BIASES)
    assert_allclose(to_numpy(again.decision_function(xp.asarray(NEW))), whole, atol=1e-12)


@cache
def models():
    """Fitted models of all kinds, each with a name."""
    two = SPECIES < 2
    sparse = learners.SparseSVC(5, random_state=0)
    one_class = learners.SparseOneClassSVM(5, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return {
            "classes": sparse.fit(IRIS, SPECIES),
            "texts": learners.SparseSVC(5, random_state=0).fit(IRIS, NAMES),
            "two classes": learners.ReducedSVC(5, random_state=0).fit(IRIS[two], SPECIES[two]),
            "few bits": learners.SparseSVC(5, vector_bits=5, random_state=0).fit(IRIS, SPECIES),
            "numbers": learners.SparseKernelRidge(5, random_state=0).fit(IRIS, IRIS[:, 0]),
            "several numbers": learners.SparseKernelRidge(5, random_state=0).fit(IRIS, IRIS),
            "one feature": learners.SparseKernelPCA(5, n_components=1, random_state=0).fit(IRIS),
            "features": learners.KernelSubspace(3, random_state=0).fit(IRIS),
            "one class": one_class.fit(IRIS),
            "pairs": learners.compress(SVC().fit(IRIS, SPECIES), 9),
            "pairs of texts": learners.compress(SVC(break_ties=True).fit(IRIS, NAMES), 9),
            "compressed": learners.compress(SVC().fit(IRIS[two], SPECIES[two]), 9),
            "compressed numbers": learners.compress(SVR().fit(IRIS, SPECIES), 9),
            "compressed one class": learners.compress(OneClassSVM(nu=0.2).fit(IRIS), 9),
        }


NAMES_OF_MODELS = list(models())


def check_model(xp, name):
    """All methods in the library, and in NumPy while scikit-learn does not dispatch."""
    model = models()[name]
    rows = xp.asarray(IRIS)
    for method in METHODS:
        if not hasattr(model, method):
            continue
        expected = getattr(model, method)(IRIS)
        with config_context(array_api_dispatch=True):
            found = getattr(model, method)(rows)
        if expected.dtype.kind in "US":
            assert isinstance(found, np.ndarray)
            assert_array_equal(found, expected)
            continue
        assert type(found) is type(rows)
        assert found.device == rows.device
        assert_allclose(to_numpy(found), expected, atol=1e-9)
        assert tuple(found.shape) == expected.shape
