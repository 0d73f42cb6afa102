"""The mean of a scikit-learn Gaussian process as a kernel machine."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process import kernels as theirs

from kernelet.kernels import (
    Exponential,
    Gaussian,
    Kernel,
    Matern32,
    Matern52,
    Polynomial,
    RationalQuadratic,
    ScaledFeatures,
)
from kernelet.machine import KernelMachine

# A kernel and a constant that is added to it; either may be missing.
Shifted = tuple[Kernel | None, float]


def mean_of_process(model: GaussianProcessRegressor) -> KernelMachine:
    """The machine that predicts the mean of a fitted process.

    White noise only affects training rows, so the mean has none of it; a constant in the kernel
    goes into the intercept.
    """
    kernel, constant = _converted(model.kernel_)
    if kernel is None:
        raise ValueError(f"the kernel {model.kernel_!r} is constant; there is nothing to compress.")
    alpha = np.asarray(model.alpha_, dtype=np.float64)
    alpha = alpha.reshape(alpha.shape[0], -1)
    # with normalize_y the process predicts standardised targets
    size = np.reshape(np.asarray(model._y_train_std, dtype=np.float64), (-1,))
    centre = np.reshape(np.asarray(model._y_train_mean, dtype=np.float64), (-1,))
    intercepts = np.broadcast_to(size * constant * alpha.sum(axis=0) + centre, alpha.shape[1:])
    vectors: NDArray[np.float64] = np.asarray(model.X_train_, dtype=np.float64)
    return KernelMachine(kernel, vectors, alpha * size, intercepts)


def _converted(kernel: Any) -> Shifted:
    for kind, convert in _KINDS.items():
        if type(kernel) is kind:
            return convert(kernel)
    known = ", ".join(kind.__name__ for kind in _KINDS)
    raise ValueError(f"{kernel!r} cannot be converted; a process of {known} can.")


def _of_width(kernel: Any, make: Callable[[float], Kernel]) -> Kernel:
    """A radial kernel of one width, or of one for each feature."""
    lengths = np.reshape(np.asarray(kernel.length_scale, dtype=np.float64), -1)
    if lengths.size == 1:
        return make(float(0.5 / lengths[0] ** 2))
    return ScaledFeatures(make(0.5), tuple(1.0 / lengths))


def _of_matern(kernel: Any) -> Shifted:
    kinds: dict[float, Callable[[float], Kernel]] = {
        0.5: Exponential,
        1.5: Matern32,
        2.5: Matern52,
        np.inf: Gaussian,
    }
    if kernel.nu not in kinds:
        raise ValueError(f"{kernel!r} has nu={kernel.nu}; 0.5, 1.5, 2.5 and infinity are known.")
    return _of_width(kernel, kinds[kernel.nu]), 0.0


def _of_sum(kernel: Any) -> Shifted:
    (k1, c1), (k2, c2) = _converted(kernel.k1), _converted(kernel.k2)
    return _added(k1, k2), c1 + c2


def _of_product(kernel: Any) -> Shifted:
    return _multiplied(_converted(kernel.k1), _converted(kernel.k2))


def _of_power(kernel: Any) -> Shifted:
    if kernel.exponent != int(kernel.exponent) or kernel.exponent < 1:
        raise ValueError(f"{kernel!r} has the power {kernel.exponent}; whole ones are known.")
    base = power = _converted(kernel.kernel)
    for _ in range(int(kernel.exponent) - 1):
        power = _multiplied(power, base)
    return power


def _multiplied(first: Shifted, second: Shifted) -> Shifted:
    """(k1 + c1)(k2 + c2)."""
    (k1, c1), (k2, c2) = first, second
    product = None if k1 is None or k2 is None else k1 * k2
    return _added(_added(product, _scaled(k1, c2)), _scaled(k2, c1)), c1 * c2


def _scaled(kernel: Kernel | None, factor: float) -> Kernel | None:
    return None if kernel is None or factor == 0.0 else kernel * factor


def _added(first: Kernel | None, second: Kernel | None) -> Kernel | None:
    if first is None or second is None:
        return second if first is None else first
    return first + second


_KINDS: dict[type, Callable[[Any], Shifted]] = {
    theirs.RBF: lambda kernel: (_of_width(kernel, Gaussian), 0.0),
    theirs.Matern: _of_matern,
    theirs.RationalQuadratic: lambda kernel: (
        _of_width(kernel, lambda gamma: RationalQuadratic(gamma, float(kernel.alpha))),
        0.0,
    ),
    theirs.DotProduct: lambda kernel: (Polynomial(1.0, float(kernel.sigma_0**2), 1), 0.0),
    theirs.ConstantKernel: lambda kernel: (None, float(kernel.constant_value)),
    theirs.WhiteKernel: lambda kernel: (None, 0.0),
    theirs.Sum: _of_sum,
    theirs.Product: _of_product,
    theirs.Exponentiation: _of_power,
}
