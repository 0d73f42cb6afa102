"""Nyström features on random training rows, then a linear SVM."""

from __future__ import annotations

import numpy as np

from benchmarks.methods.base import Classifier, Parameters
from benchmarks.methods.landmarks import LandmarkMachine, fit_on_landmarks, landmark_size
from benchmarks.methods.parameters import KERNEL_GRID, with_number_for_gamma


def fit(X: np.ndarray, y: np.ndarray, parameters: Parameters, seed: int) -> LandmarkMachine:
    settings = with_number_for_gamma(parameters, X)
    rows = np.random.default_rng(seed).permutation(len(X))[: settings.pop("n_vectors")]
    return fit_on_landmarks(X, y, X[rows], seed=seed, **settings)


METHOD = Classifier(
    "nystroem_random",
    "Nyström, random landmarks, linear SVM",
    "C. Williams and M. Seeger 2001",
    fit,
    landmark_size,
    grid=KERNEL_GRID,
    budgeted=True,
)
