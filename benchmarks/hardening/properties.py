"""Properties that a model has whatever the problem is, each by a second fit or a way out.

Each takes a `Fit` and a generator, raises a `Defect`, and returns whether it applies at all.
"""

from __future__ import annotations

import warnings
from dataclasses import replace
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from benchmarks.hardening.comparisons import (
    NEARLY,
    Fit,
    Property,
    agree,
    difference,
    numbers,
    same_or_as_good,
    sizes_of_terms,
)
from benchmarks.hardening.estimators import (
    DETECTORS,
    LEARNERS,
    REGRESSORS,
    SKLEARN,
    Parameters,
    fit,
    made,
)
from benchmarks.hardening.oracles import Defect, answers
from benchmarks.hardening.problems import LABELS, labels_of
from benchmarks.hardening.ways_out import as_json, exports, pickled, saved
from kernelet import TableModel

# Kernels of which gamma has the unit of one over a squared distance or product.
SQUARED = {"rbf", "poly", "sigmoid", "exponential", "matern32", "matern52", "rational_quadratic"}


def equal_refits(fitted: Fit, rng: np.random.Generator) -> bool:
    """The same problem and seed: the same machine, bit for bit."""
    agree(fitted.model, fitted.again(), fitted.problem.X, 0.0)
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
    agree(fitted.model, estimator, fitted.problem.X, 0.0)
    return n > 0


def row_order(fitted: Fit, rng: np.random.Generator) -> bool:
    """Rows in another order."""
    if not fitted.is_learner:  # folds and calibrations are drawn by the order
        return False
    given = fitted.problem.plain
    first = fitted.again(given)
    order = rng.permutation(len(given.rows))
    same_or_as_good(replace(fitted, model=first, problem=given), fitted.again(given.some(order)))
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
    same_or_as_good(replace(fitted, model=first, problem=given), other)
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
    same_or_as_good(fitted, other)
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
    is_scaled = fitted.parameters.get("gamma", "scale") == "scale"
    if is_scaled and not given.rows[given.positive_weights > 0.0].var():
        return False  # without a variance gamma="scale" is 1, as in scikit-learn, in any unit
    first = fitted.again(given)
    scaled = replace(given, X=factor * given.X, rows=factor * given.rows)
    other = fit(fitted.name, changed, scaled.X, scaled.y, scaled.weights)
    same_or_as_good(replace(fitted, model=first, problem=given), other, scaled.X)
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
    agree(fitted.model, other, fitted.problem.X, 0.0)
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
    sums = sizes_of_terms(fitted.model, given.rows)
    terms = 1e-3 * float(sums.max(initial=0.0))
    if hasattr(fitted.model, "decision_function_shape_"):
        scores = fitted.model.machine_.decision_function(given.rows[[one]])
        if (np.abs(scores) <= 1e-12 * sums[one]).any():
            return False  # votes of pairs of classes jump where a score is zero up to rounding
    for method, values in numbers(fitted.model, given.X).items():
        size = max(float(np.abs(values).max()), terms) if values.dtype.kind == "f" else 0.0
        apart = difference(values[[one]], answers(fitted.model, row)[method], size)
        if apart > 1e-9:
            raise Defect(f"{method} of one row differs by {apart:.1e}")
    return True


def sparse_rows(fitted: Fit, rng: np.random.Generator) -> bool:
    """CSR against an array, in predictions, and in fits that do not search for vectors.

    Sums over CSR have other digits, and a search with many ends may take another one, as greedy
    choices do among rows that are hardly independent.
    """
    given = fitted.problem.plain
    if not fitted.is_learner:
        return False
    dense, sparse = fitted.again(given), replace(given, X=csr_array(given.rows))
    terms = 1e-3 * float(sizes_of_terms(dense, given.rows).max(initial=0.0))
    agree(dense, dense, given.X, 1e-7, sparse.X, terms)
    try:
        other = fitted.again(sparse)
    except TypeError as error:  # scikit-learn's, of a kernel function or a model that takes none
        if "sparse" in str(error).lower():
            return False
        raise
    if str(fitted.parameters.get("landmarks")) in ("greedy", "sgma"):
        return True
    if not {"init", "max_iter"} <= vars(other).keys() or vars(other)["n_vectors"] is None:
        same_or_as_good(replace(fitted, model=dense, problem=given), other)
    return True


def other_arrays(fitted: Fit, rng: np.random.Generator) -> bool:
    """Plain arrays of doubles against what was given."""
    if hasattr(fitted.problem.X, "tocsr"):
        return False
    if fitted.inner[0] in SKLEARN and getattr(fitted.problem.X, "dtype", None) == np.float32:
        return False  # scikit-learn's fits of single precision are in single precision
    other = fitted.again(replace(fitted.problem, X=fitted.problem.rows))
    agree(fitted.model, other, fitted.problem.rows, 1e-9)
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
