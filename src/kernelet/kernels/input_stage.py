"""The matrices inside a kernel as one matrix in front of it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from kernelet.kernels.base import Kernel
from kernelet.kernels.composite import Product, Scaled, Sum
from kernelet.kernels.projected_features import ProjectedFeatures
from kernelet.kernels.scaled_features import ScaledFeatures

Matrix = NDArray[np.float64]


def input_stage(kernel: Kernel) -> tuple[Matrix | None, Kernel]:
    """Write k(x, z) as k'(A x, A z), where no part of k' is a `ProjectedFeatures`.

    To evaluate a machine, A x is computed once for each row, and A z_j once and for all. If the
    parts of a sum or product have different matrices, A has the rows of all of them, and each part
    has scales of 0 for the rows of the others.

    Parameters
    ----------
    kernel : Kernel

    Returns
    -------
    matrix : ndarray of shape (r, d) or None
        A; None if there is no matrix in the kernel.
    kernel : Kernel
        k'.

    Examples
    --------
    >>> from kernelet.kernels import Gaussian, Linear
    >>> matrix, inner = input_stage(2.0 * ProjectedFeatures(Gaussian(0.5), [[1.0, -1.0]]))
    >>> matrix
    array([[ 1., -1.]])
    >>> inner
    Scaled(kernel=Gaussian(gamma=0.5), factor=2.0)
    >>> input_stage(Linear())
    (None, Linear())
    """
    if isinstance(kernel, ProjectedFeatures):
        matrix, inner = input_stage(kernel.kernel)
        return kernel.matrix if matrix is None else matrix @ kernel.matrix, inner
    if isinstance(kernel, ScaledFeatures):
        matrix, inner = input_stage(kernel.kernel)
        if matrix is None:
            return None, kernel
        return matrix * np.array(kernel.scales), inner
    if isinstance(kernel, Scaled):
        matrix, inner = input_stage(kernel.kernel)
        return matrix, Scaled(inner, kernel.factor)
    if isinstance(kernel, Sum | Product):
        matrix, parts = _common_stage([input_stage(part) for part in kernel.parts])
        return matrix, type(kernel)(tuple(parts))
    return None, kernel


def _common_stage(
    stages: Sequence[tuple[Matrix | None, Kernel]],
) -> tuple[Matrix | None, list[Kernel]]:
    widths = {matrix.shape[1] for matrix, _ in stages if matrix is not None}
    if not widths:
        return None, [kernel for _, kernel in stages]
    d = widths.pop()
    blocks: dict[bytes, Matrix] = {}  # parts with the same matrix share its rows
    for matrix, _ in stages:
        block = np.eye(d) if matrix is None else matrix
        blocks.setdefault(block.tobytes(), block)
    matrix = np.vstack(list(blocks.values()))
    if len(blocks) == 1:
        return matrix, [kernel for _, kernel in stages]
    ends = dict(zip(blocks, np.cumsum([len(block) for block in blocks.values()]), strict=True))
    parts = []
    for own, kernel in stages:
        block = np.eye(d) if own is None else own
        chosen = slice(int(ends[block.tobytes()]) - len(block), int(ends[block.tobytes()]))
        scales = np.zeros(len(matrix))
        scales[chosen] = 1.0
        parts.append(_on_rows(kernel, chosen, scales))
    return matrix, parts


def _on_rows(kernel: Kernel, chosen: slice, scales: Matrix) -> Kernel:
    """The kernel of some combinations, times their scales; the others have a scale of 0."""
    if isinstance(kernel, ScaledFeatures):
        scales = scales.copy()
        scales[chosen] *= kernel.scales
        return _on_rows(kernel.kernel, chosen, scales)
    if isinstance(kernel, Scaled):
        return Scaled(_on_rows(kernel.kernel, chosen, scales), kernel.factor)
    if isinstance(kernel, Sum | Product):
        return type(kernel)(tuple(_on_rows(part, chosen, scales) for part in kernel.parts))
    return ScaledFeatures(kernel, tuple(scales))
