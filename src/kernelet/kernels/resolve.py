"""From the parameters of an estimator (`kernel="rbf", gamma="scale"`) to a kernel object."""

from __future__ import annotations

import difflib
from collections.abc import Callable
from typing import Any

import numpy as np

from kernelet.kernels.base import Kernel
from kernelet.kernels.function import CallableKernel
from kernelet.kernels.numerics.arrays import FloatArray, Rows, check_rows, is_sparse
from kernelet.kernels.numerics.deviations import mean_squared_deviations
from kernelet.kernels.parameters import positive
from kernelet.kernels.registry import (
    ALIASES,
    names_to_choose,
    parameter_names,
    registered_kernels,
)


def kernel_names() -> list[str]:
    """The names that ``kernel`` may be, without aliases.

    Examples
    --------
    >>> import kernelet.kernels
    >>> "rbf" in kernel_names(), "sum" in kernel_names()
    (True, False)
    """
    return names_to_choose(frozenset({"gamma", "degree", "coef0"}))


def resolve_kernel(
    kernel: str | Kernel | Callable[[Any, FloatArray], FloatArray],
    X: Rows,
    gamma: str | float = "scale",
    degree: int = 3,
    coef0: float = 0.0,
) -> Kernel:
    """The kernel object that an estimator's parameters describe.

    Parameters
    ----------
    kernel : str, Kernel or callable
        "rbf", "linear", "poly" (or "polynomial"), "sigmoid", "laplacian" as in scikit-learn,
        "exponential", "matern32", "matern52", "rational_quadratic", and what `register_kernel`
        has added. A kernel object is returned as it is; a function k(X, Z) is wrapped.
    X : array-like or SciPy sparse matrix of shape (n, d)
        The training rows, for `gamma`.
    gamma : "scale", "auto" or float, default="scale"
        As in scikit-learn's SVC: "scale" is 1 / (d X.var()), or 1 if all numbers in X are the
        same, and "auto" is 1 / d.
    degree : int, default=3
        Of kernels that have such a parameter: "poly".
    coef0 : float, default=0.0
        Likewise: "poly" and "sigmoid".

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
        name = ALIASES.get(kernel, kernel)
        if name not in kernel_names():
            raise ValueError(_unknown(kernel))
        kernel_class = registered_kernels()[name]
        wanted = parameter_names(kernel_class)
        values = {"degree": degree, "coef0": coef0}
        given: dict[str, Any] = {key: values[key] for key in wanted if key in values}
        if "gamma" in wanted:  # "scale" takes a pass over X, which the linear kernel does not need
            given["gamma"] = _resolve_gamma(gamma, X)
        made: Kernel = kernel_class(**given)
        return made
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
        if is_sparse(rows):
            rows = rows.astype(np.float64)
            share = np.full(rows.shape[0], 1.0 / rows.shape[0])
            variance = float(mean_squared_deviations(rows, rows.mean(), share).mean())
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
    known = sorted([*kernel_names(), *ALIASES])
    # half of the letters may be wrong: "gauss" should find nothing, "rfb" should find "rbf"
    nearest = difflib.get_close_matches(name.lower(), known, n=1, cutoff=0.5)
    hint = f" Did you mean {nearest[0]!r}?" if nearest else ""
    return f"Unknown kernel {name!r}; known are {', '.join(known)}.{hint}"
