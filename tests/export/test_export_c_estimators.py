"""Every public estimator is exported to C, compiled, run and compared; or refused in a sentence.

So is the learner of CONTRIBUTING.md.
"""

import inspect
import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.base import BaseEstimator, is_classifier, is_outlier_detector, is_regressor
from sklearn.datasets import load_digits
from sklearn.exceptions import ConvergenceWarning
from sklearn.kernel_ridge import KernelRidge
from sklearn.svm import SVC, SVR, NuSVC, NuSVR, OneClassSVM

import contributed
import kernelet
from export_bounds import bound
from kernelet.datasets import make_banana, make_checkerboard
from kernelet.export.rounding import rounding_units
from kernelet.export.to_c.exporter import c_source
from run_c import DTYPES, compiled

# A program for each estimator.
pytestmark = pytest.mark.slow

# Small and quick, for those that have such a parameter.
SMALL = {
    "n_vectors": 6,
    "n_components": 1,
    "max_iter": 5,
    "random_state": 0,
    "n_landmarks": 30,
    "n_candidates": 30,
}
KINDS = {name: getattr(kernelet, name) for name in kernelet.__all__} | contributed.LEARNERS
NAMES = [
    name
    for name, kind in KINDS.items()
    if inspect.isclass(kind) and issubclass(kind, BaseEstimator)
]
# Digits in every type, and these in one: what differs between types is not the data.
ONLY = {"banana": ("float64",), "checkerboard": ("float32",)}
# Made by functions or around others, not by their own fit.
WRAPPERS = ("BudgetSearchCV", "CalibratedClassifier")


def make(name):
    kind = KINDS[name]
    known = set(inspect.signature(kind).parameters)
    if name.startswith("Norm"):  # a few steps towards few vectors leave them none
        known -= {"n_vectors", "max_iter"}
    return kind(**{key: value for key, value in SMALL.items() if key in known})


def digits():
    X, y = load_digits(n_class=4, return_X_y=True)
    return X[:100] / 16, y[:100], X[100:200] / 16


def planes():
    board, colours = make_checkerboard(120, random_state=0)
    banana, y = make_banana(120, random_state=0)
    return {"checkerboard": (board, colours, board), "banana": (banana, y, banana + 0.01)}


def all_models():
    """name -> (model, rows)"""
    sets = {"digits": digits(), **planes()}
    models = {}
    for name in NAMES:
        if name in WRAPPERS:
            continue
        for place, (X, y, rows) in sets.items():
            if is_regressor(make(name)):
                models[f"{name} on {place}"] = (make(name).fit(X, X[:, -1] + X.sum(axis=1)), rows)
            else:
                models[f"{name} on {place}"] = (make(name).fit(X, y), rows)
    X, y, rows = sets["digits"]
    search = kernelet.BudgetSearchCV(make("ReducedSVC"), budgets=(4, 6), cv=2)
    models["BudgetSearchCV"] = (search.fit(X, y), rows)
    models["CalibratedClassifier"] = (kernelet.calibrate(make("ReducedSVC").fit(X, y), X, y), rows)
    summed = kernelet.kernels.Gaussian(0.1) + kernelet.kernels.Linear()
    models["a sum of kernels"] = (kernelet.ReducedSVC(6, kernel=summed).fit(X, y), rows)
    for model in (SVC(), NuSVC(nu=0.2), SVR(), NuSVR(), OneClassSVM(), KernelRidge(kernel="rbf")):
        name = type(model).__name__
        models[name] = (model.fit(X, y), rows)
        models[f"compressed {name}"] = (kernelet.compress(model, 8, max_iter=3), rows)
    return models


@pytest.fixture(scope="module")
def models():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return all_models()


def values_of(model, rows):
    """What the decision function in C is to give: scores, features or regression values."""
    for method in ("decision_function", "transform"):
        if hasattr(model, method):
            return np.asarray(getattr(model, method)(rows)).reshape(len(rows), -1)
    return np.asarray(model.predict(rows)).reshape(len(rows), -1)


def test_every_public_estimator_is_among_them(models):
    assert len(NAMES) >= 13
    assert {name.partition(" on ")[0] for name in models} >= set(NAMES)


def limits(model, rows, dtype):
    """How far scores may be off: a bound for what is a machine's output as it is."""
    inner = getattr(model, "best_estimator_", model)
    machine = getattr(inner, "machine_", None)
    values = values_of(model, rows)
    if machine is None or machine.n_outputs != values.shape[1]:
        return np.full(values.shape, {"float64": 1e-9, "float32": 2e-3, "q15": 2e-2}[dtype])
    if dtype == "q15":
        size = 5e-4 * np.abs(machine.coefficients).sum(axis=0) + 1e-6 * np.abs(machine.intercepts)
        return np.full(values.shape, size.max())
    unit = 1e-12 if dtype == "float64" else (rounding_units(machine) + 16) * 2.0**-24
    return bound(machine, rows, unit)


def test_scores_labels_and_probabilities(models, tmp_path):
    cases = [
        (name, dtype)
        for name in models
        for dtype in DTYPES
        if dtype in ONLY.get(name.partition(" on ")[2], DTYPES)
        and not (dtype == "q15" and name == "a sum of kernels")
    ]
    libraries = compiled([(models[name][0], dtype) for name, dtype in cases], tmp_path)
    for (name, dtype), library in zip(cases, libraries, strict=True):
        model, rows = models[name]
        rows = rows.astype(np.float32).astype(float)
        values, limit = values_of(model, rows), limits(model, rows, dtype)
        found = library.decision_function(rows)
        pairs = dtype == "q15" and found.shape != values.shape
        if not pairs:
            assert (np.abs(found - values) <= limit).all(), (name, dtype)
        if is_classifier(model):
            labels = model.predict(rows)
            top = np.sort(values) if values.shape[1] > 1 else np.abs(np.c_[values, -values])
            gap = top[:, -1] - top[:, -2] if values.shape[1] > 1 else top[:, 0]
            sure = gap > 2 * limit.max(axis=1)
            assert (model.classes_[library.predict(rows)] == labels)[sure].all(), (name, dtype)
        elif is_outlier_detector(model):
            sure = np.abs(values[:, 0]) > limit[:, 0]
            assert (library.predict(rows) == model.predict(rows))[sure].all(), (name, dtype)
        if hasattr(model, "predict_proba") and not isinstance(model, SVC | NuSVC):
            slack = 1e-9 if dtype == "float64" else 2e-3 if dtype == "float32" else 2e-2
            shares = library.predict_proba(rows)
            assert_allclose(
                shares, model.predict_proba(rows), atol=slack, err_msg=f"{name} {dtype}"
            )


def test_q15_is_for_gaussian_kernels_and_says_so(models):
    with pytest.raises(ValueError, match=r'dtype="q15" is for Gaussian kernels, .*; use float32'):
        c_source(models["a sum of kernels"][0], "m", "q15")


@pytest.mark.parametrize("name", NAMES)
def test_models_that_are_not_fitted_are_refused(name):
    with pytest.raises((TypeError, ValueError)):
        c_source(make(name) if name not in WRAPPERS else getattr(kernelet, name)(), "m")
