"""Maximum margin discriminant features, each by an exact solver over all rows."""

from __future__ import annotations

import numpy as np

from benchmarks.methods.base import Extractor, Parameters
from benchmarks.methods.mmda_core_set import size
from benchmarks.methods.parameters import with_number_for_gamma
from kernelet import MaxMarginDiscriminantAnalysis


def fit(
    X: np.ndarray, y: np.ndarray, parameters: Parameters, seed: int
) -> MaxMarginDiscriminantAnalysis:
    settings = with_number_for_gamma(parameters, X)
    return MaxMarginDiscriminantAnalysis(solver="exact", random_state=seed, **settings).fit(X, y)


METHOD = Extractor(
    "mmda_exact",
    "Maximum margin discriminant features, exact",
    "Kocsor et al. 2004",
    fit,
    size,
    inherits=("gamma",),
    max_rows=20_000,
)
