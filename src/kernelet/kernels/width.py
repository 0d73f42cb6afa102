"""The derivative of a radial kernel in its width."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from kernelet.kernels.arrays import FloatArray, Rows, check_rows
from kernelet.kernels.base import Kernel
from kernelet.kernels.blocks import Workspace
from kernelet.kernels.radial import RadialKernel

# Rows at a time: no copy of all of them is made.
_BLOCK = 2048


def require_width(kernel: Kernel, who: str) -> RadialKernel:
    """Refuse a kernel that has no width to learn, naming both sides."""
    if not isinstance(kernel, RadialKernel):
        raise ValueError(
            f"{who} learns the width of a radial kernel ('rbf', 'matern32', 'matern52', "
            f"'exponential', 'rational_quadratic'); {kernel!r} is none."
        )
    return kernel


def with_gamma(kernel: RadialKernel, gamma: float) -> RadialKernel:
    """The same kernel with another gamma."""
    changed: Any = kernel  # every leaf is a dataclass with a gamma, which the base cannot say
    other: RadialKernel = replace(changed, gamma=gamma)
    return other


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
