"""Which features a kernel uses: the others are neither stored nor exported."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from kernelet.kernels.base import Kernel
from kernelet.kernels.composite import Product, Scaled, Sum
from kernelet.kernels.projected_features import ProjectedFeatures
from kernelet.kernels.scaled_features import ScaledFeatures

Indices = NDArray[np.intp]


def used_features(kernel: Kernel, n_features: int) -> Indices:
    """The features that kernel values depend on.

    A feature is left out by a scale of 0, or by a matrix with only zeros for it. Model files,
    exports and sizes all rely on this function.

    Parameters
    ----------
    kernel : Kernel
    n_features : int
        Of the rows.

    Returns
    -------
    ndarray of indices, in order
        At least one: if the kernel is constant, the first feature stays.

    Examples
    --------
    >>> from kernelet.kernels import Gaussian
    >>> used_features(ScaledFeatures(Gaussian(0.5), [1.0, 0.0, 0.2]), 3).tolist()
    [0, 2]
    >>> used_features(Gaussian(0.5), 3).tolist()
    [0, 1, 2]
    """
    # a user's function may depend on the number of features, or on those that are 0
    used = _is_used(kernel, n_features) if kernel.is_serializable else np.ones(n_features, bool)
    if not used.any():
        used[0] = True
    return np.flatnonzero(used)


def restricted(kernel: Kernel, features: Indices) -> Kernel:
    """The kernel restricted to the features that it uses.

    Examples
    --------
    >>> from kernelet.kernels import Gaussian
    >>> restricted(ScaledFeatures(Gaussian(0.5), [1.0, 0.0, 0.2]), np.array([0, 2]))
    ScaledFeatures(kernel=Gaussian(gamma=0.5), scales=(1.0, 0.2))
    """
    if isinstance(kernel, ScaledFeatures):
        inner = restricted(kernel.kernel, features)
        return ScaledFeatures(inner, tuple(np.array(kernel.scales)[features]))
    if isinstance(kernel, ProjectedFeatures):
        return ProjectedFeatures(kernel.kernel, kernel.matrix[:, features])
    if isinstance(kernel, Scaled):
        return Scaled(restricted(kernel.kernel, features), kernel.factor)
    if isinstance(kernel, Sum | Product):
        return type(kernel)(tuple(restricted(part, features) for part in kernel.parts))
    return kernel


def _is_used(kernel: Kernel, n_features: int) -> NDArray[np.bool_]:
    if isinstance(kernel, ScaledFeatures):
        return _is_used(kernel.kernel, n_features) & (np.array(kernel.scales) > 0.0)
    if isinstance(kernel, ProjectedFeatures):
        combinations = _is_used(kernel.kernel, len(kernel.matrix))
        looked_at: NDArray[np.bool_] = (kernel.matrix[combinations] != 0.0).any(axis=0)
        return looked_at
    parts: tuple[Any, ...] = getattr(kernel, "parts", ())
    if not parts:
        return np.ones(n_features, dtype=bool)
    either: NDArray[np.bool_] = np.any([_is_used(part, n_features) for part in parts], axis=0)
    return either
