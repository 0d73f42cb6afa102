"""Properties that a model has whatever the problem is, each by a second fit or a way back.

Each takes a `Fit` and a generator, raises a `Defect`, and returns whether it applies at all.
"""

from __future__ import annotations

import pickle
import sys
import tempfile
import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from scipy.sparse import csr_array

import kernelet
from benchmarks.hardening.estimators import (
    DETECTORS,
    LEARNERS,
    REGRESSORS,
    Parameters,
    fit,
    has_labels,
    made,
)
from benchmarks.hardening.oracles import Defect, answers
from benchmarks.hardening.problems import LABELS, Problem, labels_of
from kernelet import BudgetSearchCV, TableModel
from kernelet.export import json, onnx, read_json
from kernelet.kernels import Gaussian

sys.path.append(str(Path(__file__).parents[2] / "tests"))  # what runs exports belongs to the tests
from run_c import compiled
from run_node import run_modules

# Differences between two machines whose arithmetic was the same up to the order of a few sums.
NEARLY = 1e-6
# Machines of other digits end elsewhere on flat ground: then their objectives are compared.
SAME_OBJECTIVE = 0.05
# Entries half-way between two of a few grid points are rounded to either: 7 % at 3 bits were seen.
SAME_OBJECTIVE_IN_FEW_BITS = 0.25
# Kernels of which gamma has the unit of one over a squared distance or product.
SQUARED = {"rbf", "poly", "sigmoid", "exponential", "matern32", "matern52", "rational_quadratic"}


@dataclass(frozen=True, eq=False)
class Fit:
    """A model with all that led to it."""

    name: str
    parameters: Parameters
    problem: Problem
    model: Any

    @property
    def is_learner(self) -> bool:
        """Whether it learns by itself, without a model inside."""
        return self.name in LEARNERS

    @property
    def inner(self) -> tuple[str, Parameters]:
        """The estimator that learns, with its parameters."""
        return self.parameters.get("of", (self.name, self.parameters))

    @property
    def is_regression(self) -> bool:
        return not has_labels(self.name, self.parameters)

    def again(self, problem: Problem | None = None, **changes: Any) -> Any:
        """A model from another problem, or with other parameters of the estimator that learns."""
        given = self.problem if problem is None else problem
        parameters = {**self.parameters, **changes}
        return fit(self.name, parameters, given.X, given.y, given.weights)


Property = Callable[[Fit, np.random.Generator], bool]


def _apart(one: np.ndarray, other: np.ndarray, scale: float = 0.0) -> float:
    """The largest difference between two answers, as a share of their size."""
    if one.shape != other.shape:
        raise Defect(f"answers of shape {one.shape} and {other.shape}")
    if one.dtype.kind not in "fiu":
        return float((one != other).mean())
    size = max(float(np.abs(one).max()), float(np.abs(other).max()), scale, 1e-300)
    return float(np.abs(one - other).max()) / size


def _numbers(model: Any, X: Any) -> dict[str, np.ndarray]:
    """Answers without labels, which jump; they follow from scores."""
    found = answers(model, X)
    if any(method in found for method in ("decision_function", "transform")):
        found.pop("predict", None)
        found.pop("predict_proba", None)
    return found


def _agree(one: Any, other: Any, X: Any, most: float, X_other: Any = None) -> None:
    """Raise a defect if two models do not answer the same."""
    expected, found = _numbers(one, X), answers(other, X if X_other is None else X_other)
    for method in expected.keys() & found.keys():  # a predictor has fewer methods than the model
        apart = _apart(expected[method], found[method])
        if not apart <= most:
            raise Defect(f"{method} differs by {apart:.1e}")


def _same_or_as_good(fitted: Fit, other: Any, X_other: Any = None) -> None:
    """The same answers; where a search has many ends, one that is as good."""
    try:
        _agree(fitted.model, other, fitted.problem.X, NEARLY, X_other)
    except Defect:
        objectives = [getattr(model, "objective_", None) for model in (fitted.model, other)]
        if not all(isinstance(one, float) for one in objectives):
            raise
        first, second = objectives
        is_rounded = fitted.inner[1].get("vector_bits") is not None
        most = SAME_OBJECTIVE_IN_FEW_BITS if is_rounded else SAME_OBJECTIVE
        if abs(first - second) > most * max(abs(first), abs(second)):
            raise


def equal_refits(fitted: Fit, rng: np.random.Generator) -> bool:
    """The same problem and seed: the same machine, bit for bit."""
    _agree(fitted.model, fitted.again(), fitted.problem.X, 0.0)
    return True


def second_fit(fitted: Fit, rng: np.random.Generator) -> bool:
    """An estimator that was fitted to something else before."""
    if not fitted.is_learner or fitted.parameters.get("warm_start"):
        return False
    estimator = LEARNERS[fitted.name](**fitted.parameters)
    n = len(fitted.problem.rows)
    labels = np.arange(8) % 2
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            estimator.fit(rng.normal(size=(8, 2)), labels)
        except ValueError:  # another number of columns than init has, or no row of a class
            return False
        given = {} if fitted.problem.weights is None else {"sample_weight": fitted.problem.weights}
        estimator.fit(fitted.problem.X, fitted.problem.y, **given)
    _agree(fitted.model, estimator, fitted.problem.X, 0.0)
    return n > 0


def row_order(fitted: Fit, rng: np.random.Generator) -> bool:
    """Rows in another order."""
    if not fitted.is_learner:  # folds and calibrations are drawn by the order
        return False
    given = fitted.problem.plain
    first = fitted.again(given)
    order = rng.permutation(len(given.rows))
    _same_or_as_good(replace(fitted, model=first, problem=given), fitted.again(given.some(order)))
    return True


def weights_as_repetition(fitted: Fit, rng: np.random.Generator) -> bool:
    """Whole weights against rows that are repeated."""
    if not fitted.is_learner:
        return False
    given = fitted.problem.plain
    times = rng.integers(0, 4, len(given.rows))
    repeated = replace(given, weights=None).some(np.repeat(np.arange(times.size), times))
    weighted = replace(given, weights=times.astype(float))
    kept = np.unique(given.y[times > 0])
    if kept.size < np.unique(given.y).size or (not fitted.is_regression and kept.size < 2):
        return False  # a class that has no weight stays a class
    try:
        first = fitted.again(weighted)
    except ValueError:
        return False
    other = fitted.again(repeated)
    _same_or_as_good(replace(fitted, model=first, problem=given), other)
    return True


# Each row costs C times its weight, and nothing else depends on either.
_COSTS = (
    "CoreVectorSVC",
    "NormKernelRidge",
    "NormSVC",
    "NormSVR",
    "ReducedSVC",
    "SparseKernelRidge",
)
_COSTS += ("SparseSVC", "SparseSVR", "SubspaceLPSVC", "MinimalKernelSVC")


def weights_as_cost(fitted: Fit, rng: np.random.Generator) -> bool:
    """Twice the weight and half the cost."""
    drawn = fitted.parameters
    if fitted.name not in _COSTS or drawn.get("n_vectors") == "auto":
        return False
    cost = made(fitted.name, drawn).C
    if isinstance(cost, str):
        return False
    given = fitted.problem
    half = {**fitted.parameters, "C": 0.5 * cost}
    doubled = replace(given, weights=2.0 * given.positive_weights)
    other = fitted.again(doubled, **half)
    _same_or_as_good(fitted, other)
    return True


def _in_other_units(parameters: Parameters, factor: float) -> Parameters | None:
    """Parameters for rows times a factor that lead to the same kernel values."""
    kernel, gamma = parameters.get("kernel", "rbf"), parameters.get("gamma", "scale")
    changed = dict(parameters)
    for name in ("init", "landmarks"):
        if isinstance(changed.get(name), np.ndarray):
            changed[name] = factor * changed[name]
    if not isinstance(kernel, str) or kernel not in {*SQUARED, "laplacian"}:
        return None
    if kernel == "laplacian" or gamma == "auto":
        if isinstance(gamma, str):
            return None
        changed["gamma"] = gamma / factor
    elif not isinstance(gamma, str):
        changed["gamma"] = gamma / factor**2
    return changed


def units_of_features(fitted: Fit, rng: np.random.Generator) -> bool:
    """All features times a power of two, which rounds nothing, with gamma in the new unit."""
    if not fitted.is_learner:
        return False
    factor = float(2.0 ** rng.integers(-12, 13))
    changed = _in_other_units(fitted.parameters, factor)
    if changed is None or changed.get("fit_inverse_transform"):
        return False
    given = fitted.problem.plain
    first = fitted.again(given)
    scaled = replace(given, X=factor * given.X, rows=factor * given.rows)
    other = fit(fitted.name, changed, scaled.X, scaled.y, scaled.weights)
    _same_or_as_good(replace(fitted, model=first, problem=given), other, scaled.X)
    return True


def units_of_targets(fitted: Fit, rng: np.random.Generator) -> bool:
    """Targets times a power of two, with what has their unit."""
    if fitted.name not in REGRESSORS:
        return False
    factor = float(2.0 ** rng.integers(-12, 13))
    parameters = dict(fitted.parameters)
    if fitted.name in ("SparseSVR", "NormSVR"):
        if isinstance(made(fitted.name, parameters).C, str) or fitted.name == "NormSVR":
            return False  # the norm of the coefficients has a unit of its own
        power = 0 if parameters.get("loss") == "squared_epsilon_insensitive" else 1
        parameters["C"] = parameters.get("C", 1.0) * factor**power
        parameters["epsilon"] = parameters.get("epsilon", 0.1) * factor
    elif fitted.name == "NormKernelRidge":
        return False
    given = fitted.problem.plain
    first = fitted.again(given)
    other = fit(fitted.name, parameters, given.X, factor * given.values, given.weights)
    before, after = first.predict(given.X), other.predict(given.X)
    spread = float(np.ptp(given.values)) + 1e-9 * float(np.abs(given.values).max())
    apart = float(np.abs(after / factor - before).max()) / max(spread, 1e-300)
    if apart > NEARLY:
        raise Defect(f"predict differs by {apart:.1e} of the targets' range, at a factor {factor}")
    return True


def label_names(fitted: Fit, rng: np.random.Generator) -> bool:
    """Other labels in the same order."""
    if fitted.is_regression or fitted.inner[0] in DETECTORS or fitted.name == "TableModel":
        return False
    if isinstance(fitted.inner[1].get("class_weight"), dict):
        return False
    named = labels_of(fitted.problem.y_codes, str(rng.choice(LABELS)))
    other = fitted.again(replace(fitted.problem, y=named))
    _agree(fitted.model, other, fitted.problem.X, 0.0)
    return True


def one_row(fitted: Fit, rng: np.random.Generator) -> bool:
    """The answer to a row does not depend on those that are asked for with it."""
    given, one = fitted.problem, int(rng.integers(len(fitted.problem.rows)))
    if isinstance(given.X, list):
        row: Any = [given.X[one]]
    elif hasattr(given.X, "iloc"):
        row = given.X.iloc[[one]]
    else:
        row = given.X[[one]]
    if isinstance(fitted.model, TableModel) and np.unique(given.rows[:, 0]).size <= 5:
        return False  # one row alone is read as another kind of column
    machine = getattr(fitted.model, "machine_", None)
    terms = 0.0  # what cancels in a sum costs digits
    if machine is not None and not isinstance(fitted.model, TableModel):
        values = np.abs(machine.kernel(given.rows, machine.vectors))
        sums = values @ np.abs(machine.coefficients) + np.abs(machine.intercepts)
        terms = 1e-3 * float(sums.max(initial=0.0))
        scores = machine.decision_function(given.rows[[one]]).reshape(1, -1)
        if scores.size > 1 and (np.abs(scores) <= 1e-12 * sums[one]).any():
            return False  # votes of pairs of classes jump where a score is zero up to rounding
    for method, values in _numbers(fitted.model, given.X).items():
        size = max(float(np.abs(values).max()), terms) if values.dtype.kind == "f" else 0.0
        apart = _apart(values[[one]], answers(fitted.model, row)[method], size)
        if apart > 1e-9:
            raise Defect(f"{method} of one row differs by {apart:.1e}")
    return True


def sparse_rows(fitted: Fit, rng: np.random.Generator) -> bool:
    """CSR against an array, in predictions, and in fits that do not search for vectors.

    Sums over CSR have other digits, and a search with many ends may take another one.
    """
    given = fitted.problem.plain
    if not fitted.is_learner:
        return False
    dense, sparse = fitted.again(given), replace(given, X=csr_array(given.rows))
    _agree(dense, dense, given.X, 1e-7, sparse.X)
    try:
        other = fitted.again(sparse)
    except TypeError as error:  # scikit-learn's, of a kernel function or a model that takes none
        if "sparse" in str(error).lower():
            return False
        raise
    if not {"init", "max_iter"} <= vars(other).keys() or vars(other)["n_vectors"] is None:
        _same_or_as_good(replace(fitted, model=dense, problem=given), other)
    return True


def other_arrays(fitted: Fit, rng: np.random.Generator) -> bool:
    """Plain arrays of doubles against what was given."""
    if hasattr(fitted.problem.X, "tocsr"):
        return False
    other = fitted.again(replace(fitted.problem, X=fitted.problem.rows))
    _agree(fitted.model, other, fitted.problem.rows, 1e-9)
    return True


def pickled(fitted: Fit, rng: np.random.Generator) -> bool:
    """Through pickle."""
    _agree(fitted.model, pickle.loads(pickle.dumps(fitted.model)), fitted.problem.X, 0.0)
    return True


def _is_writable(fitted: Fit) -> bool:
    """Whether files can hold the model: not if its kernel is a function."""
    machine = getattr(fitted.model, "machine_", None)
    return machine is not None and machine.kernel.is_serializable


def saved(fitted: Fit, rng: np.random.Generator) -> bool:
    """Through a model file."""
    if not _is_writable(fitted) or isinstance(fitted.model, BudgetSearchCV):
        return False
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "model.kernelet")
        kernelet.save(fitted.model, path)
        loaded = kernelet.load(path)
        predictor = kernelet.load_predictor(path)
    _agree(fitted.model, loaded, fitted.problem.X, 0.0)
    if not isinstance(fitted.model, TableModel):
        _agree(fitted.model, predictor, fitted.problem.rows, 1e-12)
    return True


def as_json(fitted: Fit, rng: np.random.Generator) -> bool:
    """Through JSON."""
    if not _is_writable(fitted) or isinstance(fitted.model, BudgetSearchCV | TableModel):
        return False
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "model.json")
        json(fitted.model, path)
        read = read_json(path)
    machine = getattr(read, "machine_", getattr(read, "machine", read))
    rows = fitted.problem.rows
    apart = _apart(fitted.model.machine_.decision_function(rows), machine.decision_function(rows))
    if apart > 1e-9:
        raise Defect(f"scores differ by {apart:.1e}")
    return True


def _bound(machine: Any, rows: np.ndarray) -> np.ndarray:
    """The largest error that the documentation of the exporters allows, in doubles."""
    d, m = machine.n_features, machine.n_vectors
    sizes = np.square(rows).sum(axis=1) + np.square(machine.vectors).sum(axis=1).max(initial=0.0)
    terms = np.abs(machine.kernel(rows, machine.vectors)) @ np.abs(machine.coefficients)
    terms = terms + np.abs(machine.intercepts)
    lost = (d + m + 64) * 2.0**-53 * (1.0 + machine.kernel.gamma * sizes)
    return np.asarray(lost[:, None] * terms.reshape(len(rows), -1))


def _by_c(model: Any, rows: np.ndarray, folder: Path) -> np.ndarray:
    (library,) = compiled([(model, "float64")], folder / "c")
    return np.asarray(library.decision_function(rows))


def _by_javascript(model: Any, rows: np.ndarray, folder: Path) -> np.ndarray:
    (answer,) = run_modules([(model, rows, ["decisionFunction"], None)], folder)
    return np.array(answer["decisionFunction"], dtype=np.float64)


def _by_onnx(model: Any, rows: np.ndarray, folder: Path) -> np.ndarray:
    import onnxruntime

    onnx(model, folder / "model.onnx", dtype="float64")
    session = onnxruntime.InferenceSession(folder / "model.onnx")
    return np.asarray(session.run([session.get_outputs()[-1].name], {"X": rows})[0])


_WAYS_OUT = {"C": (0.05, _by_c), "JavaScript": (0.1, _by_javascript), "ONNX": (0.3, _by_onnx)}


def exports(fitted: Fit, rng: np.random.Generator) -> bool:
    """Doubles in C, JavaScript and ONNX, within the error that is documented."""
    way = list(_WAYS_OUT)[rng.integers(len(_WAYS_OUT))]
    share, run = _WAYS_OUT[way]
    machine = getattr(fitted.model, "machine_", None)
    if rng.random() > share or type(getattr(machine, "kernel", None)) is not Gaussian:
        return False
    if isinstance(fitted.model, TableModel):
        return False  # takes columns
    with tempfile.TemporaryDirectory() as folder:
        found = run(machine, fitted.problem.rows, Path(folder))
    expected = machine.decision_function(fitted.problem.rows).reshape(len(found), -1)
    # Python has rounding errors, too
    wrong = np.abs(found.reshape(expected.shape) - expected) > 2.0 * _bound(
        machine, fitted.problem.rows
    )
    if wrong.any():
        raise Defect(f"{way} differs by {_apart(found.reshape(expected.shape), expected):.1e}")
    return True


PROPERTIES: dict[str, Property] = {
    function.__name__.replace("_", " "): function
    for function in (
        equal_refits,
        second_fit,
        row_order,
        weights_as_repetition,
        weights_as_cost,
        units_of_features,
        units_of_targets,
        label_names,
        one_row,
        sparse_rows,
        other_arrays,
        pickled,
        saved,
        as_json,
        exports,
    )
}
