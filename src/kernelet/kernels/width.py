"""The derivatives of a radial kernel in its width, and in one width per feature."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from kernelet.kernels.base import Kernel
from kernelet.kernels.numerics.arrays import FloatArray, Rows, check_rows, dense, quiet
from kernelet.kernels.numerics.blocks import Workspace
from kernelet.kernels.radial import RadialKernel
from kernelet.kernels.registry import registered_kernels
from kernelet.kernels.scaled_features import ScaledFeatures

# Rows at a time, so that they are not all copied. With some tens of vectors a block of values is
# about a megabyte: large enough that calls cost nothing, and small in any memory.
_BLOCK = 2048


def require_width(kernel: Kernel, who: str) -> RadialKernel:
    """Refuse a kernel that has no width to learn, naming both sides."""
    if not isinstance(kernel, RadialKernel):
        known = registered_kernels().items()
        radial = ", ".join(repr(name) for name, made in known if issubclass(made, RadialKernel))
        raise ValueError(
            f"{who} learns the width of a radial kernel ({radial}); {kernel!r} is not one."
        )
    return kernel


def with_gamma(kernel: RadialKernel, gamma: float) -> RadialKernel:
    """The same kernel with another gamma."""
    changed: Any = (
        kernel  # every leaf is a dataclass with a gamma, which the type of the base does not show
    )
    other: RadialKernel = replace(changed, gamma=gamma)
    return other


@quiet
def gamma_gradient(kernel: RadialKernel, X: Rows, Z: FloatArray, W: FloatArray) -> float:
    """sum_ij W_ij dk(x_i, z_j) / d log(gamma).

    The kernel is profile(t), t a multiple of gamma |x - z|^2, so this is t profile'(t).

    Examples
    --------
    >>> from kernelet.kernels import Gaussian
    >>> W = np.array([[1.0]])
    >>> gamma_gradient(Gaussian(0.5), np.array([[0.0]]), np.array([[2.0]]), W)  # -t exp(-t), t = 2
    -0.2706705664732254
    """
    rows = check_rows(X)
    form, workspace, total = kernel.form(Z), Workspace(), 0.0
    for start in range(0, rows.shape[0], _BLOCK):
        block = rows[start : start + _BLOCK]
        t = np.empty((block.shape[0], Z.shape[0]))
        form.fill(block, t, workspace)
        values = t.copy()
        slope = values if kernel.slope_is_value else np.empty_like(t)
        kernel.profile_and_slope(values, slope)
        slope *= t
        total += float(np.vdot(W[start : start + _BLOCK], slope))
    return total


@quiet
def feature_gradient(kernel: ScaledFeatures, X: Rows, Z: FloatArray, W: FloatArray) -> FloatArray:
    """sum_ij W_ij dk(x_i, z_j) / d log(s_f^2) of a radial kernel on scaled features, for every f.

    The kernel is profile(t), t = factor sum_f s_f^2 (x_f - z_f)^2, so this is
    factor s_f^2 sum_ij W_ij profile'(t_ij) (x_if - z_jf)^2. Over all features it adds up to the
    derivative in log(gamma).

    Returns
    -------
    ndarray of shape (d,)

    Examples
    --------
    >>> from kernelet.kernels import Gaussian
    >>> kernel = ScaledFeatures(Gaussian(0.5), [1.0, 3.0])
    >>> W = np.array([[1.0]])
    >>> feature_gradient(kernel, np.array([[0.0, 0.0]]), np.array([[2.0, 0.0]]), W)
    array([-0.27067057,  0.        ])
    """
    radial = kernel.kernel
    assert isinstance(radial, RadialKernel)
    rows, scales = check_rows(X), np.array(kernel.scales)
    # measured from the mean of the vectors, as the squares below cancel
    anchor = Z.mean(axis=0)
    vectors = (Z - anchor) * scales
    form, workspace, total = radial.form(vectors), Workspace(), np.zeros(len(scales))
    for start in range(0, rows.shape[0], _BLOCK):
        block = (dense(rows[start : start + _BLOCK]) - anchor) * scales
        values = np.empty((block.shape[0], Z.shape[0]))
        form.fill(block, values, workspace)
        slope = values if radial.slope_is_value else np.empty_like(values)
        radial.profile_and_slope(values, slope)
        slope *= W[start : start + _BLOCK]
        total += slope.sum(axis=1) @ np.square(block) + slope.sum(axis=0) @ np.square(vectors)
        total -= 2.0 * np.einsum("jf,jf->f", vectors, slope.T @ block)
    gradient: FloatArray = radial.factor * total
    return gradient
