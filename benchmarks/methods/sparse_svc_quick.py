"""A few steps of the direct method, enough to tell which cost suits it.

Widths are not in the grid: scales of features, or a projection, are learned.
"""

from __future__ import annotations

import warnings

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from benchmarks.methods import sparse_svc
from benchmarks.methods.base import Classifier, Parameters
from kernelet import SparseSVC

N_STEPS = 15


def fit(X: np.ndarray, y: np.ndarray, parameters: Parameters, seed: int) -> SparseSVC:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # few steps are what is asked for
        return sparse_svc.fit(X, y, {**parameters, "max_iter": N_STEPS}, seed)


METHOD = Classifier(
    "sparse_svc_quick",
    "SparseSVC, a few steps, for tuning",
    "direct method, vectors shared by the classes",
    fit,
    sparse_svc.size,
    grid={"learn_kernel": ("features", "projection"), "C": (1.0, 10.0, 100.0, 1000.0)},
    single_point=False,
)
