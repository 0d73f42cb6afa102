"""Nyström features on k-means centres, then a linear SVM."""

from __future__ import annotations

import numpy as np
from sklearn.cluster import KMeans

from benchmarks.methods.base import Classifier, Parameters
from benchmarks.methods.landmarks import LandmarkMachine, fit_on_landmarks, landmark_size
from benchmarks.methods.parameters import KERNEL_GRID, with_number_for_gamma


def fit(X: np.ndarray, y: np.ndarray, parameters: Parameters, seed: int) -> LandmarkMachine:
    settings = with_number_for_gamma(parameters, X)
    clusters = KMeans(min(settings.pop("n_vectors"), len(X)), n_init=1, random_state=seed).fit(X)
    return fit_on_landmarks(X, y, clusters.cluster_centers_, seed=seed, **settings)


METHOD = Classifier(
    "nystroem_kmeans",
    "Nyström, k-means landmarks, linear SVM",
    "K. Zhang, I. Tsang, J. Kwok 2008",
    fit,
    landmark_size,
    grid=KERNEL_GRID,
    budgeted=True,
)
