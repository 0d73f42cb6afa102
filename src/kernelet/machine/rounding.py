"""Vectors and coefficients rounded to few bits."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kernelet.kernels import Kernel, ProjectedFeatures, ScaledFeatures
from kernelet.kernels.expression import FeatureSum, SumOverFeatures, ordered
from kernelet.kernels.numerics.arrays import FloatArray
from kernelet.kernels.used_features import used_features
from kernelet.machine.compact import INTERCEPT_STEPS, CompactForm
from kernelet.machine.powers import Powers, covering_powers, nearest_powers
from kernelet.machine.vector_grid import GridMatrix, VectorGrid

FEWEST_BITS, MOST_BITS = 2, 16
# What a step of its own costs a feature: a byte.
_STEP_BITS = 8
# Entries that differ by less than this share of the largest are the same: what is left of
# arithmetic in double precision, and of a search in single precision.
_SAME = 1e-6
# Intercepts are integers of 32 bits; a bit is left for rounding the coefficients to move them.
_LARGEST_INTERCEPT = 2**30


def vector_grid(
    kernel: Kernel,
    vectors: FloatArray,
    bits: int,
    *,
    droppable: NDArray[np.bool_] | None = None,
) -> VectorGrid:
    """The grid that covers the vectors, and the vectors rounded to it.

    Every feature has its own step if that saves more bits than storing it costs. The scales of
    the kernel, or its matrix, are rounded as well.

    Parameters
    ----------
    kernel : Kernel
    vectors : ndarray of shape (m, d)
    bits : int
    droppable : ndarray of shape (d,), bool, default=None
        Features that the kernel may stop using if the vectors do not differ in them: those that
        are constant in the training rows.

    Returns
    -------
    VectorGrid

    Examples
    --------
    >>> from kernelet.kernels import Gaussian
    >>> grid = vector_grid(Gaussian(0.5), np.array([[0.0, 3.0], [1.4, 3.0], [2.1, 3.0]]), 3)
    >>> grid.codes.tolist(), grid.vectors.round(3).tolist()
    ([[0, 4], [5, 4], [7, 4]], [[0.0, 3.0], [1.5, 3.0], [2.1, 3.0]])
    """
    d = vectors.shape[1]
    used = used_features(kernel, d)
    matrix, scales, inner = None, None, kernel
    if isinstance(kernel, ProjectedFeatures) and _is_rotation_invariant(kernel.kernel):
        matrix, inner = _grid_matrix(kernel.matrix[:, used], bits), kernel.kernel
        points = vectors[:, used] @ matrix.values.T
    else:
        if isinstance(kernel, ScaledFeatures):
            inner = kernel.kernel
        if inner.n_features is not None:  # it has a matrix, or scales, of its own
            used, inner = np.arange(d), kernel
        elif droppable is not None and kernel.is_translation_invariant:
            kept = ~(droppable & is_flat(vectors))[used]
            used = used[kept] if kept.any() else used[:1]
        if isinstance(kernel, ScaledFeatures) and inner is not kernel:
            scales = nearest_powers(np.array(kernel.scales)[used])
        points = vectors[:, used] * (1.0 if scales is None else scales.values)
    centres, steps = _lattice(points, bits)
    codes = _nearest_codes(points, centres, steps, bits)
    return VectorGrid(inner, d, used, bits, codes, centres, steps, scales, matrix)


def _is_rotation_invariant(kernel: Kernel) -> bool:
    """Whether a kernel is a function of squared distances and inner products alone."""
    sums = [n for n in ordered(kernel.expression()) if isinstance(n, SumOverFeatures)]
    return all(n.kind is not FeatureSum.TAXICAB and not n.scales for n in sums)


def is_flat(vectors: FloatArray) -> NDArray[np.bool_]:
    """Features in which all vectors are the same, but for rounding."""
    spread = vectors.max(axis=0, initial=-np.inf) - vectors.min(axis=0, initial=np.inf)
    flat: NDArray[np.bool_] = spread <= _SAME * np.abs(vectors).max(axis=0, initial=0.0)
    return flat


def moved_to(grid: VectorGrid, points: FloatArray) -> VectorGrid:
    """The same grid with the vectors at the points of it that are nearest to the given ones."""
    return replace(grid, codes=_nearest_codes(points, grid.centres, grid.steps, grid.bits))


def _nearest_codes(
    points: FloatArray, centres: NDArray[np.int32], steps: Powers, bits: int
) -> NDArray[np.uint16]:
    """The codes of the nearest points of a grid."""
    nearest = np.rint(points / steps.values) - centres + 2 ** (bits - 1)
    codes: NDArray[np.uint16] = np.clip(nearest, 0, 2**bits - 1).astype(np.uint16)
    return codes


def _lattice(points: FloatArray, bits: int) -> tuple[NDArray[np.int32], Powers]:
    """Centres and steps of a grid that covers the points."""
    m, r = points.shape
    low, high = points.min(axis=0, initial=np.inf), points.max(axis=0, initial=-np.inf)
    if m == 0:
        low, high = np.zeros(r), np.zeros(r)
    largest = float(np.abs(points).max(initial=0.0)) or 1.0
    flat = is_flat(points) if m else np.ones(r, dtype=bool)
    # where all vectors are the same, as fine a step as centres of 15 bits allow
    span = np.where(flat, largest * 2.0**-14 * (2**bits - 1), high - low)
    # Both ends are rounded to the grid, so that all codes are used.
    steps = covering_powers(span / (2**bits - 1))
    if not flat.all() and _saved_bits(steps, flat) * m <= _STEP_BITS:
        coarsest = float(steps.values[~flat].max())
        steps = Powers(coarsest, np.zeros(r, dtype=np.uint8))
    lowest = np.rint(low / steps.values)
    centres = np.where(flat, lowest, lowest + 2 ** (bits - 1))
    # centres have 32 bits; rows so far from the origin have lost these digits long before
    return np.clip(centres, -(2.0**30), 2.0**30).astype(np.int32), steps


def _saved_bits(steps: Powers, flat: NDArray[np.bool_]) -> float:
    """Bits of a code that a feature saves, on average, by having a step of its own."""
    own = np.log2(steps.values[~flat])
    return float((own.max() - own).mean()) if own.size else 0.0


def _grid_matrix(matrix: FloatArray, bits: int) -> GridMatrix:
    """A matrix with the same distances behind it, in few bits and of full rank.

    Its rows are orthogonal before rounding, so that every point of the grid is the image of some
    vector: with rows that depend on each other, most would not be.
    """
    _, sizes, directions = np.linalg.svd(matrix, full_matrices=False)
    kept = sizes > _SAME * sizes[0]
    rotated = (sizes[:, np.newaxis] * directions)[kept] if kept.any() else matrix[:1]
    while True:
        rounded = _rounded_matrix(rotated, bits)
        rank = np.linalg.matrix_rank(rounded.codes * rounded.steps.values)
        if rank == len(rotated) or len(rotated) == 1:
            return rounded
        rotated = rotated[:-1]  # the smallest


def _rounded_matrix(matrix: FloatArray, bits: int) -> GridMatrix:
    largest = 2 ** (bits - 1) - 1
    size = np.abs(matrix).max(axis=0)
    size[size == 0.0] = float(size.max()) or 1.0
    steps = covering_powers(size / largest)
    if _saved_bits(steps, np.zeros(size.size, dtype=bool)) * len(matrix) <= _STEP_BITS:
        steps = Powers(float(steps.values.max()), np.zeros(size.size, dtype=np.uint8))
    codes = np.clip(np.rint(matrix / steps.values), -largest, largest)
    return GridMatrix(codes.astype(np.int16), steps)


def coefficient_scales(coefficients: FloatArray, intercepts: FloatArray, bits: int) -> Powers:
    """The least scales, one for each vector, in which coefficients of few bits fit.

    Parameters
    ----------
    coefficients : ndarray of shape (m, k)
    intercepts : ndarray of shape (k,)
    bits : int

    Examples
    --------
    >>> scales = coefficient_scales(np.array([[30.0, 1.0], [2.0, -7.0]]), np.zeros(2), 5)
    >>> scales.values.tolist()
    [2.0, 0.5]
    """
    sizes = np.abs(coefficients).max(axis=1, initial=0.0) / (2 ** (bits - 1) - 1)
    largest = float(sizes.max(initial=0.0))
    # the largest is the unit of the intercepts as well
    least = INTERCEPT_STEPS * float(np.abs(intercepts).max(initial=0.0)) / _LARGEST_INTERCEPT
    base = max(largest, least) or 1.0
    return covering_powers(sizes, base)


def compact_form(
    grid: VectorGrid, coefficients: NDArray[Any], scales: Powers, intercepts: FloatArray, bits: int
) -> CompactForm:
    """A machine over a grid.

    Parameters
    ----------
    grid : VectorGrid
    coefficients : ndarray of shape (m, k)
        Whole numbers.
    scales : Powers of m vectors
    intercepts : ndarray of shape (k,)
    bits : int
        Of the coefficients.
    """
    unit = scales.base / INTERCEPT_STEPS
    whole = np.rint(np.clip(intercepts / unit, -(2.0**31) + 1, 2.0**31 - 1))
    return CompactForm(grid, bits, coefficients.astype(np.int16), scales, whole.astype(np.int32))
