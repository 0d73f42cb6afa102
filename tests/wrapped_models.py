"""Fitted kernel machines inside scikit-learn's wrappers, on rows in raw units."""

from __future__ import annotations

import functools
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import sklearn
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import ColumnTransformer, TransformedTargetRegressor
from sklearn.datasets import load_iris
from sklearn.impute import SimpleImputer
from sklearn.model_selection import GridSearchCV
from sklearn.multiclass import OneVsOneClassifier, OneVsRestClassifier
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import (
    MaxAbsScaler,
    MinMaxScaler,
    OneHotEncoder,
    RobustScaler,
    StandardScaler,
)
from sklearn.svm import SVC, SVR, NuSVC
from sklearn.utils.fixes import parse_version

import kernelet

FLOWERS, KIND = load_iris(return_X_y=True)
# far from 0 and in four different units, so that rows that are not scaled give other labels
ROWS = FLOWERS * [1.0, 100.0, 0.1, 1000.0] + [0.0, 500.0, 3.0, -200.0]
SPECIES = np.array(["setosa", "versicolor", "virginica"])[KIND]
PAIR = np.where(KIND == 2, "virginica", "other")
LENGTH = 40.0 * FLOWERS[:, 0] + 1000.0
ORDER = np.random.default_rng(0).permutation(150)
HAS_TEMPERATURE = parse_version(sklearn.__version__) >= parse_version("1.8")


def _scaled(*last: Any) -> Pipeline:
    return make_pipeline(StandardScaler(), *last)


def _calibrated(model: Any, **options: Any) -> CalibratedClassifierCV:
    return CalibratedClassifierCV(model, ensemble=False, cv=3, **options)


def _in_targets(regressor: Any, transformer: Any = None) -> TransformedTargetRegressor:
    return TransformedTargetRegressor(regressor, transformer=transformer)


# Of three classes, of two, and regressions.
CLASSES: dict[str, Callable[[], Any]] = {
    "pipeline": lambda: _scaled(SVC()),
    "pipeline in a pipeline": lambda: make_pipeline(
        MinMaxScaler(), _scaled("passthrough", NuSVC())
    ),
    "three scalers": lambda: make_pipeline(RobustScaler(), MaxAbsScaler(), _scaled(SVC())),
    "search of a pipeline": lambda: GridSearchCV(_scaled(SVC()), {"svc__C": [1.0, 10.0]}, cv=2),
    "search in a pipeline": lambda: _scaled(GridSearchCV(SVC(), {"C": [1.0, 10.0]}, cv=2)),
    "search over budgets": lambda: kernelet.BudgetSearchCV(
        _scaled(kernelet.ReducedSVC(random_state=0)), budgets=(6, 12), cv=2
    ),
    "one against the rest": lambda: _scaled(OneVsRestClassifier(SVC(class_weight="balanced"))),
    "pipelines against the rest": lambda: OneVsRestClassifier(_scaled(SVC(C=10.0))),
    "one against one": lambda: _scaled(OneVsOneClassifier(SVC(gamma=0.2))),
    "calibrated votes": lambda: _scaled(_calibrated(SVC())),
    "calibrated pipeline": lambda: _calibrated(_scaled(SVC())),
    "calibrated against the rest": lambda: _calibrated(_scaled(OneVsRestClassifier(SVC()))),
    "Platt's against the rest": lambda: _scaled(OneVsRestClassifier(SVC(probability=True))),
    "calibrations against the rest": lambda: _scaled(OneVsRestClassifier(_calibrated(SVC()))),
}
PAIRS: dict[str, Callable[[], Any]] = {
    "pipeline, two classes": lambda: _scaled(SVC()),
    "one against the rest, two classes": lambda: _scaled(OneVsRestClassifier(SVC())),
    "one against one, two classes": lambda: _scaled(OneVsOneClassifier(SVC())),
    "calibrated": lambda: _calibrated(_scaled(SVC())),
    "calibrated search": lambda: _calibrated(GridSearchCV(_scaled(SVC()), {"svc__C": [1.0]}, cv=2)),
    "Platt's": lambda: _scaled(SVC(probability=True, random_state=0)),
}
VALUES: dict[str, Callable[[], Any]] = {
    "scaled targets": lambda: _in_targets(_scaled(SVR()), StandardScaler()),
    "targets in a range": lambda: _scaled(_in_targets(SVR(), MinMaxScaler())),
    "targets as they are": lambda: _in_targets(_scaled(SVR(C=100.0))),
    "search of targets": lambda: GridSearchCV(
        _in_targets(_scaled(SVR()), RobustScaler()), {"regressor__svr__C": [1.0]}, cv=2
    ),
}
if HAS_TEMPERATURE:
    CLASSES["temperature of votes"] = lambda: _scaled(_calibrated(SVC(), method="temperature"))
    PAIRS["temperature"] = lambda: _calibrated(_scaled(SVC()), method="temperature")
MODELS = {**CLASSES, **PAIRS, **VALUES}
# LIBSVM stops its own iteration for these at 0.005.
PLATT = ("Platt's", "Platt's against the rest")


def fit(model: Any, y: np.ndarray) -> Any:
    """Fit on all rows, with ``probability=True`` as long as there is such a parameter."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="The `probability` parameter")
        return model.fit(ROWS[ORDER], y[ORDER])


@functools.cache
def fitted(name: str) -> Any:
    """The model of that name; tests must not change it."""
    y = SPECIES if name in CLASSES else PAIR if name in PAIRS else LENGTH
    return fit(MODELS[name](), y)


@functools.cache
def frame() -> Any:
    """A table with numbers in two units and two columns of texts, one with missing cells."""
    import pandas as pd

    table = pd.DataFrame(ROWS, columns=["length", "width", "petal", "weight"])
    table["colour"] = np.array(["red", "blue", "green"], dtype=object)[np.arange(150) % 3]
    table["place"] = np.array(["hill", None, "lake", "wood"], dtype=object)[np.arange(150) % 4]
    return table


@functools.cache
def of_table(imputed: bool = False) -> Pipeline:
    """A classifier of the table, behind a ColumnTransformer in another order of columns."""
    table, numbers = frame(), StandardScaler()
    if imputed:
        table = table.copy()
        table.loc[::9, "weight"] = np.nan
        numbers = make_pipeline(SimpleImputer(), numbers)
    columns = ColumnTransformer(
        [
            ("texts", OneHotEncoder(handle_unknown="ignore"), ["colour", "place"]),
            ("far", numbers, ["weight", "width"]),
            ("small", "passthrough", [2]),
            ("left", "drop", ["length"]),
        ]
    )
    return make_pipeline(columns, SVC(C=10.0)).fit(table, SPECIES)


def tolerance(name: str) -> float:
    """How far probabilities may be from scikit-learn's."""
    return 5e-3 if name in PLATT else 1e-9


def assert_same(name: str, model: Any, small: Any) -> None:
    """The same predictions of the same raw rows."""
    if name in VALUES:
        np.testing.assert_allclose(small.predict(ROWS), model.predict(ROWS), rtol=1e-9)
        return
    np.testing.assert_array_equal(small.predict(ROWS), model.predict(ROWS))
    assert small.predict(ROWS).dtype == model.predict(ROWS).dtype
    np.testing.assert_array_equal(small.classes_, model.classes_)
    assert hasattr(small, "predict_proba") == hasattr(model, "predict_proba")
    if hasattr(model, "predict_proba"):
        shares = small.predict_proba(ROWS)
        np.testing.assert_allclose(shares, model.predict_proba(ROWS), atol=tolerance(name))
    # votes of a single pair are no score of ours, and a calibration may hide the scores
    if hasattr(model, "decision_function") and name != "one against one, two classes":
        scores = model.decision_function(ROWS)
        np.testing.assert_allclose(small.decision_function(ROWS), scores, atol=1e-9)
