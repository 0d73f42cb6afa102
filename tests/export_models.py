"""Fitted models of every kind that is exported, small and quick to fit."""

from __future__ import annotations

import functools
import inspect
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.datasets import load_iris
from sklearn.exceptions import ConvergenceWarning
from sklearn.kernel_ridge import KernelRidge
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, StandardScaler
from sklearn.svm import SVC, SVR, NuSVC, NuSVR, OneClassSVM

import contributed
import kernelet
from kernelet.kernels import Gaussian, ProjectedFeatures, ScaledFeatures
from kernelet.machine import CalibratedMachine, TemperatureCalibration


@functools.cache
def flowers() -> tuple[np.ndarray, np.ndarray]:
    """Iris in an order of its own, numbers exact in 32 bits."""
    X, y = load_iris(return_X_y=True)
    order = np.random.default_rng(0).permutation(len(y))
    return X[order].astype(np.float32).astype(np.float64), y[order]


def table() -> dict[str, Any]:
    """A table with numbers, texts, truth values, and cells that are missing."""
    X, y = flowers()
    width = X[:, 1].copy()
    width[::7] = np.nan
    colours = np.array(["red", "blü", "", "green"], dtype=object)[np.arange(150) % 4]
    species = np.array(["setosa", "versicolor", "virginica"])[y]
    return {
        "length": X[:, 0],
        "colour": colours,
        "width": width,
        "large": X[:, 2] > 3.5,
        "petal": X[:, 3],
        "species": species,
    }


def _small(kind: type, **parameters: Any) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        X, y = flowers()
        return kind(**parameters).fit(X, y)


def _two(model: Any) -> Any:
    X, y = flowers()
    return model.fit(X, np.where(y == 2, "virginica", "other"))


def _calibrated(n_classes: int, **parameters: Any) -> Any:
    X, y = flowers()
    y = np.minimum(y, n_classes - 1)
    small = kernelet.SparseSVC(5, random_state=0, **parameters).fit(X[:100], y[:100])
    return kernelet.calibrate(small, X[100:], y[100:])


def _temperature() -> Any:
    X, y = flowers()
    small = kernelet.ReducedSVC(5, random_state=0).fit(X[:100], y[:100])
    return CalibratedMachine(small.machine_, TemperatureCalibration(1.7))


def _of_table(estimator: Any) -> Any:
    return kernelet.TableModel.fit(table(), "species", estimator)


def _numeric_table() -> Any:
    columns = {name: table()[name] for name in ("length", "width", "petal")}
    return kernelet.TableModel.fit(
        columns, "petal", kernelet.NormSVR(C=10.0), scaling="minmax", max_categories=5
    )


MODELS: dict[str, Callable[[], Any]] = {
    # estimators of kernelet that need more than their name, see below
    "CalibratedClassifier": lambda: _calibrated(3),
    "KernelSubspace": lambda: _small(kernelet.KernelSubspace, n_components=4),
    "SubspaceLPSVC": lambda: _small(kernelet.SubspaceLPSVC, n_components=6),
    "TableModel": lambda: _of_table(kernelet.SparseSVC(6, random_state=0)),
    "BudgetSearchCV": lambda: _small(
        kernelet.BudgetSearchCV, estimator=kernelet.ReducedSVC(random_state=0), budgets=(2, 4), cv=2
    ),
    "KernelMachine": lambda: _small(kernelet.ReducedSVC, n_vectors=6, random_state=0).machine_,
    # other kinds of the same, what compress makes, and scikit-learn's own
    "two classes": lambda: _two(kernelet.SparseSVC(4, random_state=0)),
    "two classes, RVM": lambda: _two(kernelet.RelevanceVectorClassifier()),
    "two classes, calibrated": lambda: _calibrated(2),
    "two classes, one width": lambda: _two(
        kernelet.SparseSVC(4, learn_kernel=True, random_state=0)
    ),
    "two classes, one width, calibrated": lambda: _calibrated(2, learn_kernel=True),
    "two classes, hinge": lambda: _two(
        kernelet.SparseSVC(4, C=1.0, loss="hinge", learn_kernel=False, random_state=0)
    ),
    "two classes, few bits": lambda: _two(
        kernelet.SparseSVC(4, learn_kernel=False, vector_bits=5, random_state=0)
    ),
    "per class": lambda: _small(
        kernelet.SparseSVC, n_vectors=3, vectors="per_class", random_state=0
    ),
    "a width for each feature": lambda: _small(
        kernelet.SparseSVC,
        n_vectors=5,
        kernel=ScaledFeatures(Gaussian(0.5), [0.3, 1.5, 1.0, 2.0]),
        random_state=0,
    ),
    "combinations of features": lambda: _small(
        kernelet.SparseSVC,
        n_vectors=5,
        kernel=ProjectedFeatures(Gaussian(0.5), [[0.3, 1.5, 1.0, 2.0], [1.0, -0.5, 0.0, 0.7]]),
        random_state=0,
    ),
    "float32": lambda: _small(kernelet.ReducedSVC, n_vectors=6, random_state=0).machine_.astype(
        np.float32
    ),
    "calibrated machine": _temperature,
    "table of numbers": _numeric_table,
    "table, RVM": lambda: _of_table(kernelet.RelevanceVectorClassifier()),
    "compressed pairs": lambda: kernelet.compress(_small(SVC), 8, random_state=0),
    "compressed classes": lambda: kernelet.compress(_two(SVC()), 8, random_state=0),
    "compressed values": lambda: kernelet.compress(_small(SVR), 8, random_state=0),
    "compressed outliers": lambda: kernelet.compress(_small(OneClassSVM), 8, random_state=0),
    "SVC": lambda: _small(SVC),
    "SVC, ovo": lambda: _small(SVC, decision_function_shape="ovo"),
    "SVC, break ties": lambda: _small(SVC, break_ties=True),
    "NuSVC, poly": lambda: _small(NuSVC, kernel="poly", nu=0.2),
    "SVR, sigmoid": lambda: _small(SVR, kernel="sigmoid", gamma=0.01),
    "NuSVR, linear": lambda: _small(NuSVR, kernel="linear"),
    "OneClassSVM": lambda: _small(OneClassSVM, nu=0.2),
    "KernelRidge": lambda: KernelRidge(kernel="laplacian", alpha=0.1).fit(
        flowers()[0], np.eye(3)[flowers()[1]]
    ),
    "pipeline": lambda: _small(
        lambda: make_pipeline(MinMaxScaler(), StandardScaler(), kernelet.SparseSVC(5))
    ),
    "search": lambda: _small(
        GridSearchCV,
        estimator=kernelet.ReducedSVC(4, random_state=0),
        param_grid={"C": [1.0, 10.0]},
        cv=2,
    ),
}


def _estimators() -> dict[str, Callable[[], Any]]:
    """Every public estimator and that of CONTRIBUTING.md, with six vectors if that can be set."""
    made: dict[str, Callable[[], Any]] = {}
    kinds = {name: getattr(kernelet, name) for name in kernelet.__all__}
    for name, kind in {**kinds, **contributed.LEARNERS}.items():
        if isinstance(kind, type) and hasattr(kind, "fit"):
            known = inspect.signature(kind).parameters
            given = {"n_vectors": 6, "random_state": 0}
            chosen = {key: value for key, value in given.items() if key in known}
            made[name] = functools.partial(_small, kind, **chosen)
    return made


MODELS = {**_estimators(), **MODELS}


@functools.cache
def fitted(name: str) -> Any:
    """The model of that name; tests must not change it."""
    return MODELS[name]()


def rows_for(model: Any) -> Any:
    """Rows that the model takes, the first 40."""
    if isinstance(model, kernelet.TableModel):
        return {name: column[:40] for name, column in table().items()}
    return flowers()[0][:40]


def answers(model: Any, rows: Any) -> dict[str, np.ndarray]:
    """All that a model says of rows, by the name of the method."""
    inner = model.estimator if isinstance(model, kernelet.TableModel) else model
    return {
        method: np.asarray(getattr(model, method)(rows))
        for method in ("predict", "decision_function", "predict_proba", "transform")
        if hasattr(inner, method)
    }
