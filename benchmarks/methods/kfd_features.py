"""Kernel Fisher features, all training rows or a random sample as vectors."""

from __future__ import annotations

import numpy as np

from benchmarks.methods.base import BYTES_PER_NUMBER, Extractor, Parameters, Size
from benchmarks.methods.parameters import with_number_for_gamma
from kernelet import KernelFisherDiscriminant


def fit(
    X: np.ndarray, y: np.ndarray, parameters: Parameters, seed: int
) -> KernelFisherDiscriminant:
    """Fit with the regularisation of the default, which the paper does not print."""
    settings = with_number_for_gamma(parameters, X)
    rows = np.random.default_rng(seed).permutation(len(X))[: settings.pop("n_sample", None)]
    return KernelFisherDiscriminant(random_state=seed, **settings).fit(X[rows], y[rows])


def size(fitted: KernelFisherDiscriminant) -> Size:
    machine = fitted.machine_
    numbers = machine.n_vectors * (machine.n_features + machine.n_outputs) + machine.n_outputs
    return Size(machine.n_vectors, machine.n_vectors, BYTES_PER_NUMBER * numbers)


METHOD = Extractor(
    "kfd_features",
    "Kernel Fisher features",
    "Mika et al. 1999",
    fit,
    size,
    inherits=("gamma",),
)
