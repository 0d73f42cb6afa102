"""Nyström features on landmarks in 8 bits, and a linear SVM over them, with as many as fit.

Landmarks are int8, all in one unit; where columns are standardised, each has a power of two (a
byte) and a centre (two) as well. A coefficient is int8 with a scale for each output, a bias int32.
Columns that never vary are left out, with a bit for each. Inputs and kernel values are not rounded,
which is generous.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from scipy.spatial.distance import cdist
from sklearn.cluster import MiniBatchKMeans

from benchmarks.small.base import (
    LABEL_BYTES,
    SCALE_BYTES,
    Axis,
    DoesNotFit,
    Parameters,
    Small,
    SmallMethod,
    Task,
    one_of,
)
from benchmarks.small.integers import LARGEST, Int8, Layer, int8, layer, standardisation
from kernelet.solvers import squared_hinge_ridge_many

BIAS_BYTES, POWER_BYTES, CENTRE_BYTES = 4, 1, 2
# Centres are int16.
LARGEST_CENTRE = 32767
# More landmarks take minutes to fit, and lower the error little; fewer are compared.
MOST_LANDMARKS, MOST_COMPARED = 600, 200
TOLERANCE = 1e-3
# Of the mean of the diagonal.
GRAM_RIDGE = 1e-6
# After the first pass over the coefficients.
N_SWEEPS = 5


@dataclass(frozen=True)
class Landmarks:
    """``(codes + centres) * units``, in the columns that are used."""

    codes: np.ndarray
    centres: np.ndarray
    units: np.ndarray
    used: np.ndarray

    def squared_distances(self, X: np.ndarray) -> np.ndarray:
        """From rows to landmarks, every column in its unit."""
        return cdist(X[:, self.used] / self.units - self.centres, self.codes, "sqeuclidean")


@dataclass(frozen=True)
class Nystroem:
    """A linear machine over kernel values, whose columns are Nyström features multiplied out."""

    landmarks: Landmarks
    gamma: float
    layer: Layer
    classes: np.ndarray

    def predict(self, X: np.ndarray) -> np.ndarray:
        scores = self.layer(np.exp(-self.gamma * self.landmarks.squared_distances(X)))
        if scores.shape[1] == 1:
            return self.classes[(scores[:, 0] > 0.0).astype(int)]
        return self.classes[scores.argmax(axis=1)]


def nystroem_bytes(n_landmarks: int, n_used: int, task: Task, standardise: bool) -> int:
    """Of landmarks, their unit, gamma, coefficients with scales and biases, and labels."""
    columns = (POWER_BYTES + CENTRE_BYTES) * n_used if standardise else 0
    columns += math.ceil(task.n_columns / 8) if n_used < task.n_columns else 0
    each = n_used + task.n_outputs
    outputs = (BIAS_BYTES + SCALE_BYTES) * task.n_outputs
    # the unit of the columns, and gamma
    shared = columns + outputs + 2 * SCALE_BYTES
    return n_landmarks * each + shared + LABEL_BYTES * task.n_classes


def fit(X: np.ndarray, y: np.ndarray, task: Task, parameters: Parameters, seed: int) -> Small:
    used = np.flatnonzero(np.ptp(X, axis=0))
    counted = (used.size, task, parameters["standardise"])
    empty, one = (nystroem_bytes(n, *counted) for n in (0, 1))
    most = MOST_COMPARED if task.approximate else MOST_LANDMARKS
    n_landmarks = min((task.n_bytes - empty) // (one - empty), most, len(X))
    if n_landmarks < 1:
        raise DoesNotFit("not even one landmark")
    landmarks, scaled = rounded_landmarks(X[:, used], used, n_landmarks, parameters, seed)
    n_landmarks = len(landmarks.codes)
    # the mean squared distance between rows is twice their variance
    gamma = parameters["gamma"] / (2.0 * scaled.var(axis=0).sum())
    classes, codes = np.unique(y, return_inverse=True)
    values = np.exp(-gamma * landmarks.squared_distances(X))
    machine = linear_svm(landmarks, gamma, values, codes, parameters)
    model = Nystroem(landmarks, gamma, machine, classes)
    return Small(model, nystroem_bytes(n_landmarks, *counted), n_landmarks)


def rounded_landmarks(
    X: np.ndarray, used: np.ndarray, n_landmarks: int, parameters: Parameters, seed: int
) -> tuple[Landmarks, np.ndarray]:
    """Landmarks, and the rows in the units of their codes."""
    centres, powers = np.zeros(X.shape[1]), np.ones(X.shape[1])
    if parameters["standardise"]:
        centres, deviation = standardisation(X)
        powers = 2.0 ** np.rint(np.log2(deviation))
    scaled = (X - centres) / powers
    if parameters["landmarks"] == "k-means":
        means = MiniBatchKMeans(n_landmarks, n_init=1, random_state=seed, batch_size=1024)
        chosen = means.fit(scaled).cluster_centers_
    else:
        chosen = scaled[np.random.default_rng(seed).permutation(len(X))[:n_landmarks]]
    integers = int8(chosen, by_column=False)
    units = powers * float(integers.scales.item())
    whole = np.clip(np.rint(centres / units), -LARGEST_CENTRE, LARGEST_CENTRE)
    # once more, for the centres are whole numbers of units as well
    codes = np.rint((chosen * powers + centres) / units - whole)
    codes = np.clip(codes, -LARGEST, LARGEST).astype(np.int8)
    return Landmarks(codes, whole.astype(np.int16), units, used), X / units


def linear_svm(
    landmarks: Landmarks, gamma: float, values: np.ndarray, codes: np.ndarray, settings: Parameters
) -> Layer:
    """Fit squared hinge and ridge over the features, one class against the rest, and round."""
    between = cdist(landmarks.codes, landmarks.codes, "sqeuclidean")
    eigenvalues, eigenvectors = np.linalg.eigh(np.exp(-gamma * between))
    features = eigenvectors / np.sqrt(np.maximum(eigenvalues, 0.0) + settings["jitter"])
    targets = np.where(codes[:, np.newaxis] == np.arange(codes.max() + 1), 1.0, -1.0)
    targets = targets[:, 1:] if targets.shape[1] == 2 else targets
    solutions = squared_hinge_ridge_many(
        values @ features, targets, settings["C"], tol=TOLERANCE, n_jobs=1
    )
    weights = np.column_stack([solution.weights for solution in solutions])
    biases = np.array([solution.intercept for solution in solutions])
    return rounded_layer(values, features @ weights, biases)


def rounded_layer(values: np.ndarray, weights: np.ndarray, biases: np.ndarray) -> Layer:
    """Round coefficients one after the other, so that kernel expansions change as little as may be.

    Near landmarks have nearly the same kernel values, and coefficients that are large and of both
    signs. The others make good for what the rounding of one of them does; with each rounded for
    itself, there are up to twice as many errors on letter.
    """
    plain = layer(weights, biases)
    exact = weights / plain.weights.scales
    gram = values.T @ values
    gram[np.diag_indices_from(gram)] += GRAM_RIDGE * np.trace(gram) / len(gram)
    upper = np.linalg.cholesky(np.linalg.inv(gram)).T
    codes, left = np.zeros_like(exact), exact.copy()
    for j in range(len(codes)):
        codes[j] = np.clip(np.rint(left[j]), -LARGEST, LARGEST)
        left[j + 1 :] -= np.outer(upper[j, j + 1 :] / upper[j, j], left[j] - codes[j])
    for j in N_SWEEPS * list(range(len(codes))):
        best = codes[j] + gram[j] @ (exact - codes) / gram[j, j]
        codes[j] = np.clip(np.rint(best), -LARGEST, LARGEST)
    return Layer(Int8(codes.astype(np.int8), plain.weights.scales), plain.biases)


def axes(task: Task) -> tuple[Axis, ...]:
    return (
        # in units of 1 / (mean squared distance between rows)
        one_of("gamma", 2.0, 0.5, 1.0, 4.0, 8.0),
        one_of("C", 100.0, 1.0, 10.0, 1000.0),
        # Added to the eigenvalues of the landmarks' kernel matrix. None: Nyström features; many:
        # kernel values as they are.
        one_of("jitter", 0.1, 0.001, 1.0),
        one_of("landmarks", "k-means", "random"),
        one_of("standardise", False, True),
    )


METHOD = SmallMethod(
    "nystroem",
    "Nyström features, linear SVM, int8",
    "C. Williams and M. Seeger 2001; K. Zhang, I. Tsang, J. Kwok 2008",
    fit,
    axes,
)
