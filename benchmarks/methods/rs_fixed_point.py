"""The reduced set by the fixed-point iteration alone, as the paper describes reduced sets."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.svm import SVC

from benchmarks.methods.one_vs_rest import sparse_method
from kernelet import KernelMachine
from kernelet.kernels import Gaussian

N_RUNS = 10
N_SWEEPS = 100
N_DRAWS = 20
# A sweep that moves the vector by less, in units of the kernel's width, is the last.
LEAST_MOVE = 1e-5
# Singular values below this share of the largest are rounding.
NULL = 1e-10


def fixed_point(
    z: np.ndarray, points: np.ndarray, weights: np.ndarray, kernel: Gaussian
) -> np.ndarray | None:
    """Iterate z = sum_i a_i k(x_i, z) x_i / sum_i a_i k(x_i, z); None if the sum changes sign."""
    sign = 0.0
    for _ in range(N_SWEEPS):
        mass = weights * kernel(points, z[None, :])[:, 0]
        total = mass.sum()
        sign = sign or np.sign(total)
        if sign * total <= 0.0:
            return None
        before, z = z, mass @ points / total
        if kernel.gamma * np.square(z - before).sum() < LEAST_MOVE**2:
            break
    return z


def one_run(
    X: np.ndarray,
    a: np.ndarray,
    kernel: Gaussian,
    n_vectors: int,
    rng: np.random.Generator,
    n_draws: int = 1,
) -> tuple[float, np.ndarray, np.ndarray]:
    """Find vectors one after the other; return the part of (4) that depends on them, and both.

    Each starts at a support vector drawn with probability |alpha|, again where the iteration fails;
    of several draws the one that lowers (4) most is kept.
    """
    points, weights = X, a
    Z = np.empty((0, X.shape[1]))
    beta = np.empty(0)
    for _ in range(n_vectors):
        ends: list[np.ndarray] = []
        for row in rng.choice(len(X), N_DRAWS, p=np.abs(a) / np.abs(a).sum()):
            found = fixed_point(X[row], points, weights, kernel)
            if found is not None:
                ends.append(found)
            if len(ends) == n_draws:
                break
        residuals = [weights @ kernel(points, z[None, :])[:, 0] for z in ends]
        z = ends[int(np.argmax(np.square(residuals)))] if ends else X[row]
        Z = np.concatenate([Z, z[None, :]])
        against = kernel(Z, X) @ a
        beta, *_ = np.linalg.lstsq(kernel(Z, Z), against, rcond=NULL)  # (47)
        points, weights = np.concatenate([X, Z]), np.concatenate([a, -beta])
    return -float(against @ beta), Z, beta


def fit_binary(
    X: np.ndarray, y: np.ndarray, svm: SVC, n_vectors: int, parameters: dict[str, Any], seed: int
) -> KernelMachine:
    kernel, rng = Gaussian(float(svm.gamma)), np.random.default_rng(seed)
    vectors, a = svm.support_vectors_, svm.dual_coef_[0]
    runs = [one_run(vectors, a, kernel, n_vectors, rng) for _ in range(N_RUNS)]
    _, Z, beta = min(runs, key=lambda run: run[0])
    return KernelMachine(kernel, Z, beta, svm.intercept_)


METHOD = sparse_method(
    "rs_fixed_point",
    "Reduced set, fixed-point iteration alone",
    "B. Schölkopf and A. J. Smola 2002; direct method, (4) and (47)",
    fit_binary,
)
