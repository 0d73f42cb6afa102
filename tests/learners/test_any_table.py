"""Every estimator on small tables of all kinds: finite numbers, or a reason why there are none."""

from __future__ import annotations

import inspect
import re
import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import BaseEstimator, is_regressor
from sklearn.exceptions import ConvergenceWarning

from kernelet import learners
from random_examples import examples

pytestmark = pytest.mark.slow

# Made from a fitted model by a function: it has no fit that learns.
MADE_BY_FUNCTIONS = {"CalibratedClassifier"}
ESTIMATORS = [
    name
    for name in learners.__all__
    if isinstance(getattr(learners, name), type)
    and issubclass(getattr(learners, name), BaseEstimator)
    and name not in MADE_BY_FUNCTIONS
]


@st.composite
def tables(draw):
    """Rows, weights that are counts, parameters, and a seed for the targets."""
    seed = draw(st.integers(0, 2**32 - 1))
    rng = np.random.default_rng(seed)
    n, d = draw(st.integers(2, 20)), draw(st.integers(1, 3))
    # small integers give equal rows and constant columns
    rows = rng.integers(-1, 2, (n, d)) if draw(st.booleans()) else rng.normal(size=(n, d))
    unit = 10.0 ** draw(st.integers(-4, 4))
    X = unit * (rows + draw(st.sampled_from([0.0, 0.0, 1e2, 1e4])))
    counts = rng.integers(0, 4, n) if draw(st.booleans()) else np.ones(n, dtype=int)
    parameters = {
        "kernel": draw(st.sampled_from(["rbf", "linear", "poly", "laplacian"])),
        "C": 10.0 ** draw(st.integers(-3, 4)),
        "n_vectors": draw(st.integers(1, 5)),
    }
    return X.astype(draw(st.sampled_from([np.float64, np.float32]))), counts, parameters, seed


def made(name, parameters):
    known = inspect.signature(getattr(learners, name)).parameters
    chosen = {key: value for key, value in parameters.items() if key in known}
    seeded = {"random_state": 0} if "random_state" in known else {}
    return getattr(learners, name)(**chosen, **seeded)


def fitted(model, X, y, *weights):
    """The model, or None where it says why there is none."""
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        warnings.simplefilter("ignore", UserWarning)
        warnings.simplefilter("ignore", ConvergenceWarning)
        try:
            return model.fit(X, y, *weights)
        except ValueError as error:
            assert not isinstance(error, np.linalg.LinAlgError), error
            names = "|".join([*model.get_params(), "rows"])
            assert re.search(rf"\b({names})\b", str(error)), error
            return None


@pytest.mark.parametrize("name", ESTIMATORS)
@examples(15)
@given(table=tables())
def test_any_table(name, table):
    X, counts, parameters, seed = table
    rng = np.random.default_rng(seed)
    model = made(name, parameters)
    y = 10.0 ** rng.integers(-5, 6) * rng.normal(size=len(X))
    if not is_regressor(model):
        y = np.arange(len(X)) % 2 + (rng.random(len(X)) < 0.1)
    # a class without weight is a class all the same, and not one where its rows are left out
    counts = np.maximum(counts, np.arange(len(X)) < 2)
    counts[~np.isin(y, y[counts > 0])] = 1
    if fitted(model, X, y, counts) is None:
        return
    methods = [m for m in ("decision_function", "predict", "transform") if hasattr(model, m)]
    values = getattr(model, methods[0])(X)
    assert np.isfinite(values).all()
    order = rng.permutation(np.repeat(np.arange(len(X)), counts))
    again = fitted(made(name, parameters), X[order], y[order])
    assert np.array_equal(getattr(again, methods[0])(X), values)


# Rows far from the origin: next to their cubes, in poly kernels, a ridge of 1 is lost to rounding.
FAR = np.array([[1.0, 0.0, 0.0], [-1.0, -1.0, 0.0], [0.0, 1.0, 1.0], [-1.0, 1.0, 0.0]])
FARTHER = np.array([[0.0, -1.0, -1.0], [0.0, 0.0, -1.0], [-1.0, 0.0, 1.0]])


@pytest.mark.parametrize(
    ("name", "X", "targets", "n_vectors"),
    [
        ("SparseKernelRidge", 1e4 + FARTHER, [1.0, 2.0, 4.0], 3),
        ("KernelFisherClassifier", 1e4 + FAR, [0, 1, 0, 0], None),
        ("KernelFisherClassifier", 1e5 + FAR, [0, 1, 0, 0], 3),
        ("KernelFisherDiscriminant", 1e4 + FAR, [0, 1, 2, 0], 3),
        ("KernelFisherDiscriminant", 1e5 + FAR, [0, 1, 2, 0], 3),
    ],
)
def test_cubes_of_rows_far_from_the_origin(name, X, targets, n_vectors):
    model = made(name, {"kernel": "poly", "n_vectors": n_vectors})
    assert fitted(model, X, targets) is not None
