"""A linear machine in 8 bits: a weight is a byte, a bias four, a scale four for each output."""

from __future__ import annotations

import warnings
from dataclasses import dataclass

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.svm import LinearSVC

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
from benchmarks.small.integers import Layer, folded, layer, standardisation

BIAS_BYTES = 4
MODELS = {
    "logistic": lambda C, seed: LogisticRegression(C=C, max_iter=300, random_state=seed),
    "svm": lambda C, seed: LinearSVC(C=C, max_iter=300, dual=False, random_state=seed),
}


@dataclass(frozen=True)
class Linear:
    """The class of the largest score, or of the sign of the only one."""

    layer: Layer
    classes: np.ndarray

    def predict(self, X: np.ndarray) -> np.ndarray:
        scores = self.layer(X)
        if scores.shape[1] == 1:
            return self.classes[(scores[:, 0] > 0.0).astype(int)]
        return self.classes[scores.argmax(axis=1)]


def linear_bytes(task: Task) -> int:
    """What the layer and the labels take."""
    per_output = task.n_columns + BIAS_BYTES + SCALE_BYTES
    return task.n_outputs * per_output + LABEL_BYTES * task.n_classes


def fit(X: np.ndarray, y: np.ndarray, task: Task, parameters: Parameters, seed: int) -> Small:
    n_bytes = linear_bytes(task)
    if n_bytes > task.n_bytes:
        raise DoesNotFit(f"the weights take {n_bytes} bytes")
    mean, deviation = standardisation(X)
    model = MODELS[parameters["loss"]](parameters["C"], seed)
    with warnings.catch_warnings():
        # 300 passes are the stopping rule here
        warnings.simplefilter("ignore", ConvergenceWarning)
        model.fit((X - mean) / deviation, y)
    weights, biases = folded(model.coef_.T, model.intercept_, mean, deviation)
    return Small(Linear(layer(weights, biases), model.classes_), n_bytes, task.n_outputs)


def axes(task: Task) -> tuple[Axis, ...]:
    return one_of("loss", "logistic", "svm"), one_of("C", 0.1, 0.001, 0.01, 1.0, 10.0, 100.0)


METHOD = SmallMethod(
    "linear",
    "Linear machine, int8",
    "D. Cox 1958; R.-E. Fan et al., LIBLINEAR, 2008",
    fit,
    axes,
    one_size=True,
)
