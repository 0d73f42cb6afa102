"""Run scikit-learn's checks on our estimators and print what came of each, as JSON.

A program of its own, because one check is skipped unless SCIPY_ARRAY_API=1 is set before SciPy is
imported, and the other tests should see SciPy as users do.
"""

from __future__ import annotations

import json
import sys
import warnings

from sklearn.base import BaseEstimator
from sklearn.utils.estimator_checks import check_estimator

import contributed
from kernelet import learners

# Made from a fitted model by a function. As scikit-learn's FrozenEstimator, which its own test
# suite leaves out of these checks too, they have no fit that learns.
MADE_BY_FUNCTIONS = {"CalibratedClassifier"}

# Parameters, other than the defaults, that lead through other code.
VARIANTS = {
    "KernelFisherClassifier": [{"n_vectors": 3}],
    "KernelFisherDiscriminant": [{"n_vectors": 3}],
    "MaxMarginDiscriminantAnalysis": [{"solver": "exact"}],
    "MinimalKernelSVC": [{"solver": "simplex", "n_candidates": 0.5, "random_state": 0}],
    "NormSVC": [{"p": 1, "regularizer": "ridge"}, {"n_vectors": 3}],
    "ReducedSVC": [{"regularizer": "ridge", "init": "greedy"}],
    "SubspaceLPSVC": [
        {"strategy": "direct"},
        {"norm": "inf", "n_components": 5, "landmarks": "greedy", "n_vectors": 4},
        {"norm": None, "n_components": 3},
    ],
    "SparseKernelPCA": [{"n_vectors": 3, "n_components": 1, "fit_inverse_transform": True}],
    "SparseKernelRidge": [{"n_vectors": "auto", "tol": 0.1, "random_state": 0}],
    "SparseSVR": [
        {"n_vectors": "auto", "max_bytes": 1000, "random_state": 0},
        {"n_vectors": 3, "loss": "quantile"},
        {"n_vectors": 3, "loss": "squared_epsilon_insensitive"},
    ],
    "SparseSVC": [
        {"n_vectors": 3, "loss": "squared_hinge", "vectors": "per_class"},
        {"n_vectors": "auto", "tol": 0.1, "random_state": 0},
        {"n_vectors": "auto", "max_bytes": 200, "vector_bits": 4, "tol": 0.1, "random_state": 0},
    ],
}


def classes() -> dict[str, type[BaseEstimator]]:
    """Every estimator that is exported, and the example of CONTRIBUTING.md."""
    exported = {name: getattr(learners, name) for name in learners.__all__}
    return {
        name: kind
        for name, kind in {**exported, **contributed.LEARNERS}.items()
        if isinstance(kind, type) and issubclass(kind, BaseEstimator)
    }


def instances() -> dict[str, BaseEstimator]:
    """An estimator of each class and variant, by how it is made."""
    return {
        # their repr leaves defaults out
        repr(kind(**parameters)): kind(**parameters)
        for name, kind in classes().items()
        if name not in MADE_BY_FUNCTIONS
        for parameters in [{}, *VARIANTS.get(name, [])]
    }


def main() -> None:
    """Check those that are named as arguments, or all."""
    results = {}
    for label, estimator in instances().items():
        if sys.argv[1:] and label not in sys.argv[1:]:
            continue
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            checks = check_estimator(estimator, on_skip=None, on_fail=None)
        results[label] = [
            {"name": check["check_name"], "status": check["status"], "why": str(check["exception"])}
            for check in checks
        ]
    json.dump(results, sys.stdout)


if __name__ == "__main__":
    main()
