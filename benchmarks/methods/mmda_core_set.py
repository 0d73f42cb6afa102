"""Maximum margin discriminant features by core sets."""

from __future__ import annotations

import numpy as np

from benchmarks.methods.base import BYTES_PER_NUMBER, Extractor, Parameters, Size
from benchmarks.methods.parameters import with_number_for_gamma
from kernelet import MaxMarginDiscriminantAnalysis


def fit(
    X: np.ndarray, y: np.ndarray, parameters: Parameters, seed: int
) -> MaxMarginDiscriminantAnalysis:
    """Fit with the parameters of the table."""
    settings = with_number_for_gamma(parameters, X)
    return MaxMarginDiscriminantAnalysis(random_state=seed, **settings).fit(X, y)


def size(fitted: MaxMarginDiscriminantAnalysis) -> Size:
    """Return the union of the vectors, and as table 6 counts, the mean of each feature's own."""
    machine = fitted.machine_
    numbers = machine.n_vectors * (machine.n_features + machine.n_outputs) + machine.n_outputs
    own = float(np.mean(fitted.n_core_vectors_))
    return Size(machine.n_vectors, own, BYTES_PER_NUMBER * numbers)


METHOD = Extractor(
    "mmda_core_set",
    "Maximum margin discriminant features, core sets",
    "core vectors, algorithm 2",
    fit,
    size,
    inherits=("gamma",),
)
