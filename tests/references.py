"""Slow and obvious versions of what kernelet computes, for tests to compare with."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import clarabel
import numpy as np
from scipy import sparse

from kernelet.kernels.expression import steps


def squared_distance(x: np.ndarray, z: np.ndarray) -> float:
    return math.fsum((float(a) - float(b)) ** 2 for a, b in zip(x, z, strict=True))


def taxicab_distance(x: np.ndarray, z: np.ndarray) -> float:
    return math.fsum(abs(float(a) - float(b)) for a, b in zip(x, z, strict=True))


def inner_product(x: np.ndarray, z: np.ndarray) -> float:
    return math.fsum(float(a) * float(b) for a, b in zip(x, z, strict=True))


def _distance_in_length_scales(gamma: float, x: np.ndarray, z: np.ndarray) -> float:
    length_scale = math.sqrt(1.0 / (2.0 * gamma))
    return math.sqrt(squared_distance(x, z)) / length_scale


def _rbf(kernel: Any, x: np.ndarray, z: np.ndarray) -> float:
    return math.exp(-kernel.gamma * squared_distance(x, z))


def _exponential(kernel: Any, x: np.ndarray, z: np.ndarray) -> float:
    return math.exp(-_distance_in_length_scales(kernel.gamma, x, z))


def _matern32(kernel: Any, x: np.ndarray, z: np.ndarray) -> float:
    r = math.sqrt(3.0) * _distance_in_length_scales(kernel.gamma, x, z)
    return (1.0 + r) * math.exp(-r)


def _matern52(kernel: Any, x: np.ndarray, z: np.ndarray) -> float:
    r = math.sqrt(5.0) * _distance_in_length_scales(kernel.gamma, x, z)
    return (1.0 + r + r**2 / 3.0) * math.exp(-r)


def _rational_quadratic(kernel: Any, x: np.ndarray, z: np.ndarray) -> float:
    return (1.0 + kernel.gamma * squared_distance(x, z) / kernel.alpha) ** -kernel.alpha


def _laplacian(kernel: Any, x: np.ndarray, z: np.ndarray) -> float:
    return math.exp(-kernel.gamma * taxicab_distance(x, z))


def _linear(kernel: Any, x: np.ndarray, z: np.ndarray) -> float:
    return inner_product(x, z)


def _poly(kernel: Any, x: np.ndarray, z: np.ndarray) -> float:
    return (kernel.gamma * inner_product(x, z) + kernel.coef0) ** kernel.degree


def _sigmoid(kernel: Any, x: np.ndarray, z: np.ndarray) -> float:
    return math.tanh(kernel.gamma * inner_product(x, z) + kernel.coef0)


def _sum(kernel: Any, x: np.ndarray, z: np.ndarray) -> float:
    return math.fsum(kernel_value(term, x, z) for term in kernel.terms)


def _product(kernel: Any, x: np.ndarray, z: np.ndarray) -> float:
    return math.prod(kernel_value(factor, x, z) for factor in kernel.factors)


def _scaled(kernel: Any, x: np.ndarray, z: np.ndarray) -> float:
    return kernel.factor * kernel_value(kernel.kernel, x, z)


def _callable(kernel: Any, x: np.ndarray, z: np.ndarray) -> float:
    return float(kernel.function(np.array([x], dtype=float), np.array([z], dtype=float))[0, 0])


def _scaled_features(kernel: Any, x: np.ndarray, z: np.ndarray) -> float:
    pairs = list(zip(kernel.scales, x, z, strict=True))
    row, vector = ([float(s) * float(p[i]) for s, *p in pairs] for i in (0, 1))
    return kernel_value(kernel.kernel, np.array(row), np.array(vector))


def _projected_features(kernel: Any, x: np.ndarray, z: np.ndarray) -> float:
    row, vector = ([inner_product(a, p) for a in kernel.matrix] for p in (x, z))
    return kernel_value(kernel.kernel, np.array(row), np.array(vector))


VALUES: dict[str, Callable[[Any, np.ndarray, np.ndarray], float]] = {
    "rbf": _rbf,
    "exponential": _exponential,
    "matern32": _matern32,
    "matern52": _matern52,
    "rational_quadratic": _rational_quadratic,
    "laplacian": _laplacian,
    "linear": _linear,
    "poly": _poly,
    "sigmoid": _sigmoid,
    "sum": _sum,
    "product": _product,
    "scaled": _scaled,
    "scaled_features": _scaled_features,
    "projected_features": _projected_features,
    "callable": _callable,
}


def kernel_value(kernel: Any, x: np.ndarray, z: np.ndarray) -> float:
    """k(x, z) of two points, by the formula in the kernel's docstring.

    A kernel that has no entry above is evaluated by its own formula, one node after the other.
    """
    return VALUES.get(kernel.name, by_formula)(kernel, x, z)


_SUMS: dict[str, Callable[[np.ndarray, np.ndarray], float]] = {
    "squared": squared_distance,
    "taxicab": taxicab_distance,
    "product": inner_product,
}
_STEPS: dict[str, Callable[..., float]] = {
    "negative": lambda a: -a,
    "exp": math.exp,
    "log1p": math.log1p,
    "sqrt": math.sqrt,
    "tanh": math.tanh,
    "positive_part": lambda a: max(a, 0.0),
    "add": lambda a, b: a + b,
    "subtract": lambda a, b: a - b,
    "multiply": lambda a, b: a * b,
    "divide": lambda a, b: a / b,
    "power": lambda a, b: a**b,
    "damp": lambda a, b: a * b if b else 0.0,
}


def by_formula(kernel: Any, x: np.ndarray, z: np.ndarray) -> float:
    """k(x, z) of two points, by the steps that JSON has."""
    values: list[float] = []
    for operation, *inputs in steps(kernel.expression()):
        if operation == "constant":
            values.append(inputs[0])
        elif operation in _SUMS:
            values.append(_SUMS[operation](x, z))
        else:
            values.append(_STEPS[operation](*(values[place] for place in inputs)))
    return values[-1]


def for_features(kernel: Any, d: int) -> Any:
    """The kernel; one that has scales or combinations of its features, for as many as that."""
    if kernel.name == "scaled_features":
        inner = for_features(kernel.kernel, d)
        return type(kernel)(inner, [kernel.scales[f % len(kernel.scales)] for f in range(d)])
    if kernel.name == "projected_features":
        columns = np.resize(np.arange(kernel.n_features), d)
        # as long as before, whatever the number of features
        return type(kernel)(kernel.kernel, kernel.matrix[:, columns] * (kernel.n_features / d))
    if kernel.name in ("sum", "product"):
        return type(kernel)([for_features(part, d) for part in kernel.parts])
    if kernel.name == "scaled":
        return type(kernel)(for_features(kernel.kernel, d), kernel.factor)
    return kernel


def kernel_matrix(kernel: Any, X: np.ndarray, Z: np.ndarray) -> np.ndarray:
    """k(x_i, z_j) by a double loop, in double precision whatever the types are."""
    K = np.empty((len(X), len(Z)))
    for i, x in enumerate(X):
        for j, z in enumerate(Z):
            K[i, j] = kernel_value(kernel, x, z)
    return K


def kernel_pullback(
    kernel: Any, X: np.ndarray, Z: np.ndarray, W: np.ndarray, step: float = 1e-5
) -> np.ndarray:
    """sum_i W_ij dk(x_i, z_j)/dz_j by central differences of `kernel_value`."""
    gradient = np.zeros(Z.shape)
    for j, z in enumerate(Z):
        for f in range(len(z)):
            offset = np.zeros(len(z))
            offset[f] = step
            for i, x in enumerate(X):
                difference = kernel_value(kernel, x, z + offset) - kernel_value(
                    kernel, x, z - offset
                )
                gradient[j, f] += W[i, j] * difference / (2.0 * step)
    return gradient


def expansion(
    kernel: Any, vectors: np.ndarray, coefficients: np.ndarray, intercepts: Any, X: np.ndarray
) -> np.ndarray:
    """f_k(x_i) = sum_j coefficients_jk k(x_i, z_j) + intercepts_k, an array (n, outputs)."""
    columns = coefficients.reshape(len(vectors), -1)
    values = np.empty((len(X), columns.shape[1]))
    for i, x in enumerate(X):
        for k in range(columns.shape[1]):
            terms = [
                float(columns[j, k]) * kernel_value(kernel, x, z) for j, z in enumerate(vectors)
            ]
            values[i, k] = math.fsum(terms) + float(np.atleast_1d(intercepts)[k])
    return values


def hinge_losses(Phi: np.ndarray, y: np.ndarray, w: np.ndarray, b: float) -> np.ndarray:
    """max(0, 1 - y_i (phi_i'w + b)) of every row, summed without rounding errors piling up."""
    return np.array(
        [
            max(0.0, 1.0 - label * (inner_product(phi, w) + b))
            for phi, label in zip(Phi, y, strict=True)
        ]
    )


def svm_by_clarabel(
    Phi: np.ndarray, y: np.ndarray, C: np.ndarray | float
) -> tuple[float, np.ndarray]:
    """Value and weights of min 1/2 w'w + sum C_i xi_i, y_i (phi_i'w + b) >= 1 - xi_i, xi >= 0."""

    n, m = Phi.shape
    P = sparse.diags(np.concatenate([np.ones(m), np.zeros(1 + n)]), format="csc")
    cost = np.concatenate([np.zeros(m + 1), np.broadcast_to(C, (n,))])
    margins = np.hstack([y[:, None] * Phi, y[:, None], np.eye(n)])
    slacks = np.hstack([np.zeros((n, m + 1)), np.eye(n)])
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.tol_gap_rel = settings.tol_gap_abs = settings.tol_feas = 1e-11
    answer = clarabel.DefaultSolver(
        P,
        cost,
        sparse.csc_matrix(-np.vstack([margins, slacks])),
        np.concatenate([-np.ones(n), np.zeros(n)]),
        [clarabel.NonnegativeConeT(2 * n)],
        settings,
    ).solve()
    return answer.obj_val, np.array(answer.x[:m])


def bias_interval(scores: np.ndarray, y: np.ndarray, at_zero: np.ndarray) -> tuple[float, float]:
    """Where the bias may be if no multiplier is free: y (s + b) >= 1 at zero, <= 1 at the cost."""
    low, high = -math.inf, math.inf
    for score, label, is_zero in zip(scores, y, at_zero, strict=True):
        end = label - score
        if (label > 0) == bool(is_zero):
            low = max(low, end)
        else:
            high = min(high, end)
    return low, high


def quadratic_program(P, q, A, b):
    """The least 1/2 x'Px + q'x with Ax <= b, by Clarabel."""
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = 1e-11
    cones = [clarabel.NonnegativeConeT(len(b))]
    solver = clarabel.DefaultSolver(
        sparse.triu(sparse.csc_matrix(P)).tocsc(), q, sparse.csc_matrix(A), b, cones, settings
    )
    return float(solver.solve().obj_val)
