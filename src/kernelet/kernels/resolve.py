"""From what a user says (`kernel="rbf", gamma="scale"`) to a kernel object."""

from __future__ import annotations

import difflib
from collections.abc import Callable
from typing import Any

import numpy as np

from kernelet.kernels.base import Kernel
from kernelet.kernels.dot import Linear, Polynomial, Sigmoid
from kernelet.kernels.function import CallableKernel
from kernelet.kernels.laplacian import Laplacian
from kernelet.kernels.numerics.arrays import FloatArray, Rows, check_rows, is_sparse
from kernelet.kernels.parameters import positive
from kernelet.kernels.radial import (
    Exponential,
    Gaussian,
    Matern32,
    Matern52,
    RationalQuadratic,
)

# gamma comes as a function, since "scale" takes a pass over X which the linear kernel can spare.
_Gamma = Callable[[], float]
_FACTORIES: dict[str, Callable[[_Gamma, int, float], Kernel]] = {
    "rbf": lambda gamma, degree, coef0: Gaussian(gamma()),
    "linear": lambda gamma, degree, coef0: Linear(),
    "poly": lambda gamma, degree, coef0: Polynomial(gamma(), coef0, degree),
    "polynomial": lambda gamma, degree, coef0: Polynomial(gamma(), coef0, degree),
    "sigmoid": lambda gamma, degree, coef0: Sigmoid(gamma(), coef0),
    "laplacian": lambda gamma, degree, coef0: Laplacian(gamma()),
    "exponential": lambda gamma, degree, coef0: Exponential(gamma()),
    "matern32": lambda gamma, degree, coef0: Matern32(gamma()),
    "matern52": lambda gamma, degree, coef0: Matern52(gamma()),
    "rational_quadratic": lambda gamma, degree, coef0: RationalQuadratic(gamma()),
}


def resolve_kernel(
    kernel: str | Kernel | Callable[[Any, FloatArray], FloatArray],
    X: Rows,
    gamma: str | float = "scale",
    degree: int = 3,
    coef0: float = 0.0,
) -> Kernel:
    """The kernel object that an estimator's parameters mean.

    Parameters
    ----------
    kernel : str, Kernel or callable
        "rbf", "linear", "poly" (or "polynomial"), "sigmoid", "laplacian" as in scikit-learn, and
        "exponential", "matern32", "matern52", "rational_quadratic". A kernel object is returned
        as it is; a function k(X, Z) is wrapped.
    X : array-like or SciPy sparse matrix of shape (n, d)
        The training rows, for `gamma`.
    gamma : "scale", "auto" or float, default="scale"
        As scikit-learn's SVC has it: "scale" is 1 / (d X.var()), or 1 where all of X is one
        number, and "auto" is 1 / d.
    degree : int, default=3
        For "poly".
    coef0 : float, default=0.0
        For "poly" and "sigmoid".

    Returns
    -------
    Kernel

    Examples
    --------
    >>> from kernelet.kernels import resolve_kernel
    >>> resolve_kernel("rbf", [[0.0, 1.0], [2.0, 3.0]])
    Gaussian(gamma=0.4)
    >>> resolve_kernel("poly", [[0.0, 1.0]], gamma="auto", degree=2, coef0=1.0)
    Polynomial(gamma=0.5, coef0=1.0, degree=2)
    """
    if isinstance(kernel, Kernel):
        return kernel
    if isinstance(kernel, str):
        if kernel not in _FACTORIES:
            raise ValueError(_unknown(kernel))
        return _FACTORIES[kernel](lambda: _resolve_gamma(gamma, X), degree, coef0)
    if callable(kernel):
        return CallableKernel(kernel)
    raise ValueError(f"kernel must be a name, a kernel object or a function, got {kernel!r}.")


def _resolve_gamma(gamma: str | float, X: Rows) -> float:
    if not isinstance(gamma, str):
        return positive("gamma", gamma)
    rows = check_rows(X)
    if gamma == "auto":
        return 1.0 / float(rows.shape[1])
    if gamma == "scale":
        # The two expressions of sklearn.svm.SVC, so that all digits agree.
        if is_sparse(rows):
            rows = rows.astype(np.float64)
            variance = float(rows.multiply(rows).mean() - rows.mean() ** 2)
        else:
            variance = float(rows.var(dtype=np.float64))
        return 1.0 / (float(rows.shape[1]) * variance) if variance != 0.0 else 1.0
    raise ValueError(f"gamma must be 'scale', 'auto' or a positive number, got {gamma!r}.")


def _unknown(name: str) -> str:
    if name == "precomputed":
        return (
            "kernel='precomputed' is not possible here: the vectors of a machine are points of "
            "the input space. Pass the function k(X, Z) that made the matrix as the kernel."
        )
    nearest = difflib.get_close_matches(name.lower(), _FACTORIES, n=1, cutoff=0.5)
    hint = f" Did you mean {nearest[0]!r}?" if nearest else ""
    return f"Unknown kernel {name!r}; known are {', '.join(_FACTORIES)}.{hint}"
