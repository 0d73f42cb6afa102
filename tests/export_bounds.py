"""How far rounding may take an exported machine from the definition."""

from __future__ import annotations

import numpy as np

from kernelet import kernels
from kernelet.kernels.dot import DotKernel
from kernelet.kernels.expression import FeatureSum
from kernelet.kernels.registry import registered_kernels
from references import kernel_matrix

KERNELS = [
    kernels.Gaussian(0.3),
    kernels.Exponential(0.2),
    kernels.Matern32(0.4),
    kernels.Matern52(0.1),
    kernels.RationalQuadratic(0.3, alpha=0.7),
    kernels.Laplacian(0.25),
    kernels.Linear(),
    kernels.Polynomial(0.5, coef0=-0.5, degree=5),
    kernels.Sigmoid(0.2, coef0=0.1),
    kernels.Gaussian(0.1) + kernels.Linear() + 2.0 * kernels.Laplacian(0.5),
    kernels.Gaussian(0.1) * kernels.Polynomial(1.0, coef0=1.0, degree=2),
    2.3 * kernels.Matern32(0.3),
    kernels.ScaledFeatures(kernels.Gaussian(0.3), [1.5, 0.2, 1.0]),
    kernels.ScaledFeatures(
        kernels.Laplacian(0.2)
        + kernels.Linear() * kernels.ScaledFeatures(kernels.Matern52(0.2), [0.5, 2.0]),
        [1.0, 0.3],
    )
    + kernels.Gaussian(0.1),
    kernels.ProjectedFeatures(kernels.Gaussian(0.3), [[1.0, -0.5, 0.3], [0.2, 0.8, 1.0]]),
    kernels.ProjectedFeatures(
        kernels.Exponential(0.2) + kernels.ScaledFeatures(kernels.Laplacian(0.2), [0.5]),
        [[1.0, -0.7]],
    )
    * kernels.Polynomial(0.5, coef0=1.0, degree=2),
]

# Names of the kernels of this package; others are in `test_registered_kernels`.
OURS = {
    name
    for name, kind in registered_kernels().items()
    if kind.__module__.startswith("kernelet.kernels.")
}


def size(kernel, x, z, sizes=None):
    """Of the terms that k(x, z) is made of, before any cancel.

    ``sizes`` are those of the terms that x and z are made of.
    """
    sizes = (np.abs(x), np.abs(z)) if sizes is None else sizes
    if kernel.name in ("sum", "product"):
        parts = [size(part, x, z, sizes) for part in kernel.parts]
        return sum(parts) if kernel.name == "sum" else np.prod(parts)
    if kernel.name == "scaled":
        return kernel.factor * size(kernel.kernel, x, z, sizes)
    if kernel.name == "scaled_features":
        scaled = [kernel.scales * part for part in (x, z, *sizes)]
        return size(kernel.kernel, *scaled[:2], scaled[2:])
    if kernel.name == "projected_features":
        A = kernel.matrix
        return size(kernel.kernel, A @ x, A @ z, [np.abs(A) @ part for part in sizes])
    if isinstance(kernel, DotKernel):
        scale, shift = kernel.scale_and_shift
        terms = scale * sizes[0] @ sizes[1] + abs(shift)
        return terms ** getattr(kernel, "degree", 1)
    return kernel_matrix(kernel, [x], [z])[0, 0]


def reach(kernel, X, Z, scale=1.0):
    """gamma (|x|^2 + max |z|^2), with 1-norms for the Laplacian, added up over all parts."""
    if kernel.name == "scaled_features":
        return reach(kernel.kernel, X, Z, scale * max(kernel.scales))
    if kernel.name == "projected_features":
        A = np.abs(kernel.matrix.T)
        return reach(kernel.kernel, np.abs(X) @ A, np.abs(Z) @ A, scale)
    if parts := getattr(kernel, "parts", ()):
        return sum(reach(part, X, Z, scale) for part in parts)
    power = 1 if kernel.feature_sum is FeatureSum.TAXICAB else 2
    x, z = (np.sum(np.abs(scale * A) ** power, axis=1) for A in (X, Z))
    return getattr(kernel, "gamma", 0.0) * (x + z.max(initial=0.0))


def bound(machine, X, unit=1e-12):
    """unit (1 + reach) (sum_j |beta_j| k_j + |b|) for every row and output."""
    Z = np.asarray(machine.vectors, dtype=float)
    sizes = np.array([[size(machine.kernel, x, z) for z in Z] for x in X]).reshape(len(X), len(Z))
    spread = 1.0 + reach(machine.kernel, np.asarray(X, dtype=float), Z)
    terms = sizes @ np.abs(machine.coefficients) + np.abs(machine.intercepts)
    return unit * spread[:, None] * terms


def expected(machine, X):
    """f by the definition."""
    K = kernel_matrix(machine.kernel, X, machine.vectors).reshape(len(X), -1)
    return K @ np.asarray(machine.coefficients, float) + np.asarray(machine.intercepts, float)


def far_from_ties(values, limit):
    """Rows whose label no rounding within the limit changes."""
    if values.ndim == 1:
        return np.abs(values) > limit
    top = np.sort(values, axis=1)
    return top[:, -1] - top[:, -2] > limit
