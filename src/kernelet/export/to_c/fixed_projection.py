"""The matrix in front of a Gaussian machine, rounded to 16-bit integers."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from kernelet.export.projection import Projection, in_use, origin_of, projected
from kernelet.export.to_c.fixed_point import LARGEST, MOST_MOVED, SLOPE, gaussian
from kernelet.kernels import ScaledFeatures
from kernelet.kernels.input_stage import input_stage
from kernelet.machine import KernelMachine


def fixed_projection(
    machine: KernelMachine,
) -> tuple[Projection | None, KernelMachine, float | None]:
    """A Gaussian machine in two steps, as `projected` has it.

    Each row of the matrix has a scale of its own, which becomes one of the kernel: a number a is
    the integer round(a / scale). Where that would be felt, the matrix stays in float32.

    Returns
    -------
    projection : Projection or None
        None where the kernel uses all features, and has no matrix.
    machine : KernelMachine
        That of the features in use, or of the combinations.
    moved : float or None
        Bound of what rounding the matrix to integers does to kernel values of rows that are no
        farther from a vector than vectors may be from each other; None where nothing is rounded.
        Both have the same matrix, so that it is a matter of their difference.
    """
    given, d = machine, machine.n_features
    features, machine = in_use(machine)
    matrix, kernel = input_stage(machine.kernel)
    if matrix is None:
        return (*projected(given, "float32"), None)
    gamma, inner = gaussian(kernel)
    vectors = np.asarray(machine.vectors, dtype=np.float64)
    origin = origin_of(vectors)
    if origin is not None:
        origin = origin.astype(np.float32).astype(np.float64)
    centred = vectors if origin is None else vectors - origin
    scales = np.abs(matrix).max(axis=1) / LARGEST
    scales[scales == 0.0] = 1.0
    widths = scales * inner
    # every number by half a unit, times the differences of two vectors
    apart = 2.0 * float(np.abs(centred).sum(axis=1).max(initial=0.0))
    moved = SLOPE * math.sqrt(gamma) * 0.5 * float(np.linalg.norm(widths)) * apart
    if not moved <= MOST_MOVED:
        return (*projected(given, "float32"), None)
    projection = Projection(
        np.rint(matrix / scales[:, np.newaxis]), origin, features, d, is_integer=True
    )
    while isinstance(kernel, ScaledFeatures):
        kernel = kernel.kernel
    rounded = KernelMachine(
        ScaledFeatures(kernel, tuple(widths)),
        replace(projection, features=None)(vectors),
        machine.coefficients,
        machine.intercepts,
    )
    return projection, rounded, moved
