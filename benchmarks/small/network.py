"""A network of one or two hidden layers in 8 bits, as TensorFlow Lite and emlearn store it.

A weight is int8 with a scale for each unit (four bytes: a multiplier and a shift), a bias int32.
Inputs and hidden values are not rounded, which is generous. The standardisation of the inputs is
part of the first layer.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.neural_network import MLPClassifier

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
# Steps of L-BFGS, which sees all rows in each.
N_STEPS = 300
# Adam's steps on a part of the rows, and how often it sees a row at least and at most.
STEPS, LEAST_PASSES, MOST_PASSES, BATCH = 3000, 20, 300, 128
# More units take minutes to train and lower the error little.
MOST_UNITS = 400


@dataclass(frozen=True)
class Network:
    """Rectified linear units, and the class of the largest score, or of the sign of the only."""

    layers: Sequence[Layer]
    classes: np.ndarray

    def scores(self, X: np.ndarray) -> np.ndarray:
        for hidden in self.layers[:-1]:
            X = np.maximum(hidden(X), 0.0)
        return self.layers[-1](X)

    def predict(self, X: np.ndarray) -> np.ndarray:
        scores = self.scores(X)
        if scores.shape[1] == 1:
            return self.classes[(scores[:, 0] > 0.0).astype(int)]
        return self.classes[scores.argmax(axis=1)]


def network_bytes(widths: Sequence[int], task: Task) -> int:
    """Of a network with these hidden layers."""
    sizes = [task.n_columns, *widths, task.n_outputs]
    weights = sum(n_in * n_out for n_in, n_out in pairwise(sizes))
    return weights + (BIAS_BYTES + SCALE_BYTES) * sum(sizes[1:]) + LABEL_BYTES * task.n_classes


def widest(n_layers: int, task: Task) -> tuple[int, ...]:
    """The most units, as many in each hidden layer, that fit."""
    fitting = [
        n for n in range(1, MOST_UNITS + 1) if network_bytes((n,) * n_layers, task) <= task.n_bytes
    ]
    if not fitting:
        raise DoesNotFit("not even one unit")
    return (fitting[-1],) * n_layers


def fit(X: np.ndarray, y: np.ndarray, task: Task, parameters: Parameters, seed: int) -> Small:
    settings = dict(parameters)
    widths = widest(settings.pop("n_layers"), task)
    mean, deviation = standardisation(X)
    if not settings.pop("standardise"):
        # one scale for all columns: the rows as they are, but for their size
        deviation = np.full_like(deviation, float(np.sqrt(np.mean(deviation**2))))
    if settings["solver"] == "adam":
        batch = min(BATCH, len(y))
        passes = int(np.clip(STEPS * batch // len(y), LEAST_PASSES, MOST_PASSES))
        settings |= {"batch_size": batch, "max_iter": passes, "n_iter_no_change": passes}
    else:
        settings |= {"max_iter": N_STEPS, "max_fun": 2 * N_STEPS}
    network = MLPClassifier(widths, random_state=seed, **settings)
    with warnings.catch_warnings():
        # the passes are the stopping rule here, not an accident
        warnings.simplefilter("ignore", ConvergenceWarning)
        network.fit(((X - mean) / deviation).astype(np.float32), y)
    weights = [np.asarray(w, dtype=np.float64) for w in network.coefs_]
    biases = [np.asarray(b, dtype=np.float64) for b in network.intercepts_]
    weights[0], biases[0] = folded(weights[0], biases[0], mean, deviation)
    layers = [layer(w, b) for w, b in zip(weights, biases, strict=True)]
    return Small(Network(layers, network.classes_), network_bytes(widths, task), sum(widths))


def axes(task: Task) -> tuple[Axis, ...]:
    return (
        one_of("n_layers", 1, 2),
        one_of("standardise", True, False),
        one_of("alpha", 0.1, 1e-2, 1.0, 10.0),
        ({"solver": "lbfgs"}, {"solver": "adam", "learning_rate_init": 3e-3}),
    )


METHOD = SmallMethod(
    "network",
    "Network, int8",
    "D. Rumelhart, G. Hinton, R. Williams 1986; B. Jacob et al. 2018",
    fit,
    axes,
)
