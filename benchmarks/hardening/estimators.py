"""Random parameters for every public estimator, and one way to fit all of them."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.kernel_ridge import KernelRidge
from sklearn.svm import SVC, SVR, OneClassSVM

import kernelet
from benchmarks.hardening.problems import Problem
from kernelet import BudgetSearchCV, TableModel, calibrate, compress
from kernelet.kernels import CallableKernel, Gaussian, Laplacian, Linear, Polynomial

Parameters = dict[str, Any]
Draw = Callable[[np.random.Generator, Problem], Any]

# Powers of ten of C and gamma: 16 orders of magnitude.
POWERS = 8.0
# Share of the parameters that are drawn; the others keep their defaults.
SHARE = 0.35
# Share of the cases with one parameter that no estimator can take.
NONSENSE_SHARE = 0.03
NONSENSE = (-1, 0.5j, "nonsense", None, np.nan, np.inf, 0, True, [], 1e308, -1e-300)

# They learn from rows by themselves; the others are made from a fitted model, or hold one.
LEARNERS: dict[str, type] = {
    name: kind
    for name in kernelet.__all__
    if inspect.isclass(kind := getattr(kernelet, name))
    and issubclass(kind, BaseEstimator)
    and name not in ("BudgetSearchCV", "CalibratedClassifier")
}
REGRESSORS = {name for name in LEARNERS if name.endswith(("SVR", "Ridge", "Regressor"))}
TRANSFORMERS = {name for name in LEARNERS if hasattr(LEARNERS[name], "transform")}
DETECTORS = {"SparseOneClassSVM"}
BUDGETED = tuple(name for name in LEARNERS if name.startswith("Sparse") or name == "ReducedSVC")
SKLEARN: dict[str, type] = {
    "SVC": SVC, "SVR": SVR, "KernelRidge": KernelRidge, "OneClassSVM": OneClassSVM
}  # fmt: skip
GROUPS = (*LEARNERS, "BudgetSearchCV", "TableModel", "calibrate", "compress")


def has_labels(name: str, parameters: Parameters) -> bool:
    """Whether ``y`` holds classes."""
    inner = parameters["of"][0] if "of" in parameters else name
    return inner not in REGRESSORS and inner not in ("SVR", "KernelRidge")


def _power(rng: np.random.Generator, _: Problem) -> float:
    spread = POWERS if rng.random() < 0.5 else 2.0
    return float(10.0 ** rng.uniform(-spread, spread))


def _one_of(*values: Any) -> Draw:
    return lambda rng, _: values[rng.integers(len(values))]


def _gamma(rng: np.random.Generator, problem: Problem) -> Any:
    return "auto" if rng.random() < 0.2 else _power(rng, problem)


def _count(rng: np.random.Generator, problem: Problem) -> int:
    most = 3 * len(problem.rows) if rng.random() < 0.2 else 8
    return int(rng.integers(1, most + 1))


def overlap(X: Any, Z: np.ndarray) -> np.ndarray:
    """A kernel function as users write them."""
    rows = X.toarray() if hasattr(X, "toarray") else np.asarray(X)
    return np.asarray(np.exp(-np.abs(rows[:, None, :] - Z[None, :, :]).sum(axis=2)))


def _kernel(rng: np.random.Generator, problem: Problem) -> Any:
    names = ["linear", "poly", "sigmoid", "laplacian", "exponential", "matern32", "matern52"]
    names += ["rational_quadratic"]
    if rng.random() < 0.8:
        return names[rng.integers(len(names))]
    gamma = _power(rng, problem)
    objects = [
        Gaussian(gamma) + 0.5 * Laplacian(gamma),
        Gaussian(gamma) * Polynomial(gamma, 1.0, 2),
        Linear() + Gaussian(gamma),
        CallableKernel(overlap),
        overlap,
    ]
    return objects[rng.integers(len(objects))]


def _init(rng: np.random.Generator, problem: Problem) -> Any:
    if rng.random() < 0.7:
        return ["kmeans", "random", "greedy", "sgma"][rng.integers(4)]
    some = rng.integers(0, len(problem.rows), int(rng.integers(1, 6)))
    return problem.rows[some] + (rng.random() < 0.5) * rng.normal(size=problem.rows[some].shape)


def _class_weight(rng: np.random.Generator, problem: Problem) -> Any:
    if rng.random() < 0.6:
        return "balanced"
    classes = np.unique(np.asarray(problem.y)).tolist()
    kept = [label for label in classes if rng.random() < 0.8]
    return {label: float(rng.choice([0.0, 0.5, 1.0, 1e4, 1e-4], p=_RARELY)) for label in kept}


_RARELY = [0.05, 0.3, 0.3, 0.2, 0.15]

DRAWS: dict[str, Draw] = {
    "C": _power,
    "C_norm": _power,
    "alpha": _power,
    "class_weight": _class_weight,
    "coef0": _one_of(0.0, 1.0, -1.0, 1e3),
    "degree": _one_of(1, 2, 3, 5, 9),
    "eps": _one_of(1e-6, 1e-2, 0.5),
    "epsilon": _one_of(0.0, 1e-6, 0.5, 1e6),
    "exact_sweep": _one_of(False),
    "fit_intercept": _one_of(False),
    "fit_inverse_transform": _one_of(True),
    "gamma": _gamma,
    "init": _init,
    "kernel": _kernel,
    "landmarks": _init,
    "learn_kernel": _one_of("auto", "features", "projection", True, False),
    "max_bytes": _one_of(50, 300, 2000.0),
    "max_iter": _one_of(1, 2, 5, 50),
    "max_kept": _one_of(1, 10),
    "mu": _power,
    "n_candidates": _one_of(1, 0.3, 0.9, 50),
    "n_components": _one_of(1, 2, 5, 100),
    "n_init": _one_of(1, 2),
    "n_landmarks": _count,
    "norm": _one_of(1, "inf", None),
    "nu": _one_of(1e-6, 0.01, 0.1, 0.9, 1.0),
    "p": _one_of(0, 0.3, 0.5, 1, 1.5, 2, "inf"),
    "quantile": _one_of(0.01, 0.1, 0.9),
    "rank": _one_of(1, 2, 5),
    "regularizer": _one_of("kernel", "ridge"),
    "sample_size": _one_of(None, 1, 5),
    "solver": _one_of("interior_point", "simplex"),
    "strategy": _one_of("direct"),
    "tol": _one_of(1e-10, 1e-6, 1e-3, 0.5),
    "vector_bits": _one_of(2, 3, 4, 5, 8, 12, 16),
    "vectors": _one_of("per_class"),
}
# Where a parameter has other choices than those above.
OWN: dict[tuple[str, str], Draw] = {
    ("MaxMarginDiscriminantAnalysis", "solver"): _one_of("exact"),
    ("ReducedSVC", "regularizer"): _one_of("ridge"),
    ("SparseSVC", "C"): lambda rng, p: "auto" if rng.random() < 0.3 else _power(rng, p),
    ("SparseSVC", "loss"): _one_of("hinge"),
    ("SparseSVR", "loss"): _one_of("squared_epsilon_insensitive", "quantile"),
    ("SparseOneClassSVM", "learn_kernel"): _one_of(True),
}
# Choosing a cost or a budget by validation fits many times: it is drawn now and then.
RARELY_AUTO = 0.1


def parameters_of(name: str, rng: np.random.Generator, problem: Problem) -> Parameters:
    """Draw the parameters of a learner."""
    found: Parameters = {}
    known = inspect.signature(LEARNERS[name]).parameters
    for parameter in known:
        draw = OWN.get((name, parameter), DRAWS.get(parameter))
        if draw is not None and rng.random() < SHARE:
            found[parameter] = draw(rng, problem)
    if "n_vectors" in known:
        found["n_vectors"] = _count(rng, problem)
        if known["n_vectors"].default is None and rng.random() < 0.5:
            found["n_vectors"] = None
        if "max_bytes" in known and rng.random() < 0.5 * RARELY_AUTO:
            found["n_vectors"] = "auto"
    if "max_bytes" in found and rng.random() < 0.8:
        del found["max_bytes"]
    if "C" in known and known["C"].default == "auto" and rng.random() > RARELY_AUTO:
        found.setdefault("C", 1.0)
    if "random_state" in known:
        found["random_state"] = int(rng.integers(1000))
    if isinstance(found.get("init"), np.ndarray) and rng.random() < 0.9:
        found["n_vectors"] = len(found["init"])
    if rng.random() < NONSENSE_SHARE:
        wrong = [p for p in known if p not in ("verbose", "random_state", "checkpoint", "n_jobs")]
        found[wrong[rng.integers(len(wrong))]] = NONSENSE[rng.integers(len(NONSENSE))]
    return found


def _sklearn_parameters(name: str, rng: np.random.Generator, problem: Problem) -> Parameters:
    found: Parameters = {
        "kernel": ["rbf", "linear", "poly", "laplacian"][rng.integers(3 + (name == "KernelRidge"))]
    }
    if rng.random() < 0.5 or name == "KernelRidge":
        found["gamma"] = float(10.0 ** rng.uniform(-3, 3))
    if name in ("SVC", "SVR"):
        found["C"] = float(10.0 ** rng.uniform(-3, 4))
    if name != "KernelRidge":
        # LIBSVM has no end on some problems of huge columns
        found["max_iter"] = 10_000
    return found


def draw(name: str, rng: np.random.Generator, has_labels: bool, problem: Problem) -> Parameters:
    """Draw parameters of any group; "of" holds name and parameters of an inner model."""
    if name in LEARNERS:
        return parameters_of(name, rng, problem)
    found: Parameters = {}
    inner = [one for one in LEARNERS if (one in REGRESSORS) != has_labels]
    if name == "BudgetSearchCV":
        inner = [one for one in inner if one in BUDGETED and one not in TRANSFORMERS | DETECTORS]
        found["budgets"] = tuple(sorted({_count(rng, problem) for _ in range(2)}))
        found["cv"] = int(rng.integers(2, 4))
        found["rule"] = ["one_standard_error", "best"][rng.integers(2)]
        if rng.random() < 0.2:
            found["max_bytes"] = float(rng.choice([10.0, 200.0, 5000.0]))
            found["target"] = "c" if rng.random() < 0.5 else None
    elif name == "TableModel":
        inner = [one for one in inner if one not in TRANSFORMERS]
    elif name == "calibrate":
        inner = [*(one for one in inner if one not in TRANSFORMERS | DETECTORS), "SVC"]
        found["method"] = ["sigmoid", "temperature"][rng.integers(2)]
    elif name == "compress":
        own = [one for one in SKLEARN if (one in ("SVR", "KernelRidge")) != has_labels]
        inner = [*inner, *(own * 3)]
        found["n_vectors"] = "auto" if rng.random() < 0.1 else _count(rng, problem)
        found["random_state"] = int(rng.integers(1000))
        if rng.random() < 0.3:
            found["refit"] = ["margin", "direct"][rng.integers(2)]
        if rng.random() < 0.3:
            found["vector_bits"] = int(rng.choice([2, 4, 8, 16]))
        found["with_rows"] = "refit" in found or bool(rng.random() < 0.5)
    chosen = str(rng.choice(inner))
    known = _sklearn_parameters if chosen in SKLEARN else parameters_of
    found["of"] = (chosen, known(chosen, rng, problem))
    return found


def made(name: str, parameters: Parameters) -> Any:
    """An estimator that is not fitted."""
    return {**LEARNERS, **SKLEARN}[name](**parameters)


def columns_of(X: Any) -> dict[str, Any]:
    """The rows as a table; its first column has texts if its numbers are few."""
    dense = X.toarray() if hasattr(X, "toarray") else np.asarray(X)
    table: dict[str, Any] = {f"c{i}": dense[:, i] for i in range(dense.shape[1])}
    if np.unique(dense[:, 0]).size <= 5:
        table["c0"] = np.array([f"text {x:.3g}" for x in dense[:, 0]], dtype=object)
    return table


def fit(name: str, parameters: Parameters, X: Any, y: Any, weights: Any = None) -> Any:
    """A fitted model of any group."""
    given = {} if weights is None else {"sample_weight": weights}
    if name in LEARNERS or name in SKLEARN:
        return made(name, parameters).fit(X, y, **given)
    rest = {key: value for key, value in parameters.items() if key not in ("of", "with_rows")}
    inner, its = parameters["of"]
    if name == "BudgetSearchCV":
        return BudgetSearchCV(made(inner, its), **rest).fit(X, y, **given)
    if name == "TableModel":
        table = {**columns_of(X), "target": np.asarray(y)}
        return TableModel.fit(table, "target", made(inner, its), **given)
    model = fit(inner, its, X, y, weights)
    if name == "calibrate":
        return calibrate(model, X, y, **given, **rest)
    rows = (X, y) if parameters["with_rows"] and inner not in DETECTORS else ()
    return compress(model, rest.pop("n_vectors"), *rows, **rest)
