"""Every estimator that iterates, on problems so small that a fit takes some hundredths of a second.

What disturbs a fit (signals, threads, kills) is tried on these.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.svm import SVC
from threadpoolctl import threadpool_info

import kernelet as kt
from kernelet.kernels.numerics.arrays import FloatArray
from kernelet.kernels.silence import restoring_filters
from kernelet.rows import Chunks

Rows = tuple[Any, Any]
N_ROWS = 90


@dataclass(frozen=True)
class SmallFit:
    """An estimator and its training rows, both made anew each time.

    Attributes
    ----------
    make : callable
        Returns the estimator, which is not fitted.
    rows : callable
        ``rows(number)`` returns X and y; problem 1 has other columns, and classes, than problem 0.
    """

    make: Callable[[], Any]
    rows: Callable[[int], Rows]

    def fitted(self, number: int = 0) -> Any:
        """Return the estimator, fitted without a word."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return self.make().fit(*self.rows(number))


@cache
def points(n_columns: int) -> FloatArray:
    """Return rows around three centres that overlap a little."""
    rng = np.random.default_rng(n_columns)
    centres = 1.5 * rng.normal(size=(3, n_columns))
    X: FloatArray = centres[np.arange(N_ROWS) % 3] + rng.normal(size=(N_ROWS, n_columns))
    X.flags.writeable = False
    return X


def three_classes(number: int) -> Rows:
    """Return rows of three classes, or of two."""
    return points(2 + number), np.arange(N_ROWS) % 3 % (3 - number)


def two_classes(number: int) -> Rows:
    """Return rows of two classes with other labels in each problem."""
    labels = np.array([["no", "yes"], ["left", "right"]][number])
    return points(2 + number), labels[(np.arange(N_ROWS) % 3 == 0).astype(int)]


def targets(number: int) -> Rows:
    """Return rows and a smooth function of them with noise."""
    X = points(2 + number)
    noise = np.random.default_rng(0).normal(size=len(X))
    return X, np.sin(X[:, 0]) + 0.1 * noise


def no_targets(number: int) -> Rows:
    """Return rows alone."""
    return points(2 + number), None


def in_chunks(number: int) -> Rows:
    """Return the rows of three classes in three chunks."""
    X, y = three_classes(number)
    return Chunks.of(np.array_split(X, 3)), Chunks.of(np.array_split(y, 3))


class Compressed(BaseEstimator):  # type: ignore[misc]
    """`kernelet.compress` as an estimator: replaces an SVM by a small machine."""

    def fit(self, X: Any, y: Any) -> Self:
        """Fit both."""
        # fits of scikit-learn's own in several threads leave warning filters changed
        svm = restoring_filters(SVC().fit)(X, y)
        self.model_ = kt.compress(svm, 4, X, y, refit="direct", random_state=0)
        return self

    def decision_function(self, X: Any) -> Any:
        """Return the scores of the small machine."""
        return self.model_.decision_function(X)

    def save(self, path: Any) -> None:
        """Write the small machine to a file."""
        self.model_.save(path)


def _of(rows: Callable[[int], Rows], kind: Any, **parameters: Any) -> SmallFit:
    return SmallFit(lambda: kind(**parameters), rows)


FITS: dict[str, SmallFit] = {
    "SparseSVC": _of(three_classes, kt.SparseSVC, n_vectors=4, max_iter=10, random_state=0),
    "SparseSVC hinge": _of(
        two_classes, kt.SparseSVC, n_vectors=4, C=1.0, loss="hinge", max_iter=5, random_state=0
    ),
    "SparseSVC per class, threads": _of(
        three_classes,
        kt.SparseSVC,
        **{"n_vectors": 3, "vectors": "per_class", "n_jobs": 2, "C": 1.0, "max_iter": 5},
        random_state=0,
    ),
    "SparseSVC auto, 4 bits": _of(
        three_classes,
        kt.SparseSVC,
        **{"n_vectors": "auto", "max_bytes": 200, "vector_bits": 4, "tol": 0.1, "C": 1.0},
        **{"max_iter": 5, "random_state": 0},
    ),
    "SparseSVC in chunks": _of(
        in_chunks, kt.SparseSVC, n_vectors=4, C=1.0, max_iter=5, random_state=0
    ),
    "SparseSVR": _of(targets, kt.SparseSVR, n_vectors=4, max_iter=10, random_state=0),
    "SparseKernelRidge": _of(
        targets, kt.SparseKernelRidge, n_vectors=4, max_iter=10, random_state=0
    ),
    "SparseOneClassSVM": _of(
        no_targets, kt.SparseOneClassSVM, n_vectors=4, max_iter=10, random_state=0
    ),
    "SparseKernelPCA": _of(
        no_targets,
        kt.SparseKernelPCA,
        **{"n_components": 2, "n_vectors": 4, "max_iter": 10, "fit_inverse_transform": True},
        random_state=0,
    ),
    "ReducedSVC": _of(three_classes, kt.ReducedSVC, n_vectors=6, random_state=0),
    "KernelFisherClassifier": _of(
        two_classes, kt.KernelFisherClassifier, n_vectors=4, max_iter=10, random_state=0
    ),
    "KernelFisherDiscriminant": _of(
        three_classes, kt.KernelFisherDiscriminant, n_vectors=4, max_iter=10, random_state=0
    ),
    "MinimalKernelSVC": _of(three_classes, kt.MinimalKernelSVC, random_state=0),
    "CoreVectorSVC": _of(three_classes, kt.CoreVectorSVC, max_iter=40, random_state=0),
    "CoreVectorSVC in chunks": _of(in_chunks, kt.CoreVectorSVC, max_iter=20, random_state=0),
    "MaxMarginDiscriminantAnalysis": _of(
        three_classes, kt.MaxMarginDiscriminantAnalysis, n_components=2, max_iter=40, random_state=0
    ),
    "SubspaceLPSVC": _of(
        three_classes, kt.SubspaceLPSVC, n_components=20, n_vectors=6, random_state=0
    ),
    "SubspaceLPSVC in chunks": _of(in_chunks, kt.SubspaceLPSVC, n_components=10, random_state=0),
    "KernelSubspace": _of(no_targets, kt.KernelSubspace, n_components=5, random_state=0),
    "NormSVC": _of(three_classes, kt.NormSVC, max_iter=20),
    "NormSVC with a budget": _of(two_classes, kt.NormSVC, n_vectors=4, max_iter=20),
    "NormSVR": _of(targets, kt.NormSVR, max_iter=20),
    "NormKernelRidge": _of(targets, kt.NormKernelRidge, max_iter=20),
    "RelevanceVectorClassifier": _of(three_classes, kt.RelevanceVectorClassifier, max_iter=50),
    "RelevanceVectorRegressor": _of(targets, kt.RelevanceVectorRegressor, max_iter=50),
    "BudgetSearchCV": _of(
        two_classes,
        kt.BudgetSearchCV,
        estimator=kt.SparseSVC(C=1.0, max_iter=3, random_state=0),
        budgets=(2, 4),
        cv=2,
    ),
    "compress": _of(two_classes, Compressed),
}


def answers(model: Any, fit: SmallFit, number: int = 0) -> Any:
    """Return what a model says of the first rows of a problem."""
    X = fit.rows(number)[0]
    X = next(iter(X))[:5] if isinstance(X, Chunks) else X[:5]
    for method in ("decision_function", "predict", "transform"):
        if hasattr(model, method):
            return np.asarray(getattr(model, method)(X))
    raise AssertionError(f"{model!r} answers nothing")


def settings() -> dict[str, Any]:
    """Return what belongs to the whole process, and must not be left changed by a fit."""
    threads = sorted((pool["filepath"], pool["num_threads"]) for pool in threadpool_info())
    return {
        "threads of BLAS or OpenMP": threads,
        "warning filters": list(warnings.filters),
        "NumPy's error handling": np.geterr(),
    }
