"""Vectors on a grid of few bits, against loops over their integers."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

from kernelet import KernelMachine
from kernelet.kernels import Gaussian, Laplacian, ProjectedFeatures, ScaledFeatures
from kernelet.machine import CompactForm, VectorGrid, stored_bytes
from kernelet.machine.powers import Powers
from kernelet.machine.rounding import coefficient_scales, compact_form, moved_to, vector_grid
from kernelet.machine.storage import storage

RNG = np.random.default_rng(0)
# widths that differ, a column in which all vectors agree, one far from zero
Z = RNG.normal(size=(6, 5)) * [1.0, 20.0, 0.01, 0.0, 3.0] + [0.0, -7.0, 0.0, 2.5, 400.0]
SCALES = np.array([1.0, 0.04, 90.0, 0.5, 0.3])
A = RNG.normal(size=(3, 5)) * [1.0, 0.1, 50.0, 1.0, 0.4]
KERNELS = {
    "plain": Gaussian(0.5),
    "laplacian": Laplacian(0.5),
    "scales": ScaledFeatures(Gaussian(0.5), SCALES),
    "a feature left out": ScaledFeatures(Gaussian(0.5), SCALES * [1.0, 0.0, 1.0, 1.0, 1.0]),
    "matrix": ProjectedFeatures(Gaussian(0.5), A),
}
BITS = (2, 3, 4, 5, 6, 8, 11, 16)


def power(powers: Powers, i: int) -> float:
    return powers.base * 2.0 ** (-int(powers.codes[i]) / 8)


def value_by_loops(grid: VectorGrid, j: int, x: np.ndarray, gamma: float = 0.5) -> float:
    """k(x, z_j) of a Gaussian kernel from the integers of a grid."""
    used = [float(x[f]) for f in grid.used]
    if grid.matrix is None:
        seen = [
            v * (1.0 if grid.scales is None else power(grid.scales, i)) for i, v in enumerate(used)
        ]
    else:
        seen = [
            sum(
                int(c) * power(grid.matrix.steps, i) * v
                for i, (c, v) in enumerate(zip(row, used, strict=True))
            )
            for row in grid.matrix.codes
        ]
    half = 2 ** (grid.bits - 1)
    squared = 0.0
    for f, value in enumerate(seen):
        at = power(grid.steps, f) * (int(grid.centres[f]) + int(grid.codes[j, f]) - half)
        squared += (value - at) ** 2
    return math.exp(-gamma * squared)


@pytest.mark.parametrize("bits", BITS)
@pytest.mark.parametrize("name", [name for name in KERNELS if name != "laplacian"])
def test_the_machine_is_what_its_integers_say(name, bits):
    grid = vector_grid(KERNELS[name], Z, bits)
    beta, b = RNG.normal(size=(6, 2)), np.array([0.3, -2.0])
    scales = coefficient_scales(beta, b, 8)
    form = compact_form(grid, np.rint(beta / scales.values[:, None]), scales, b, 8)
    machine = KernelMachine.from_compact(form)
    X = Z[[0, 3]] + RNG.normal(size=(2, 5)) * [0.1, 2.0, 0.001, 0.1, 0.3]
    for x, scores in zip(X, machine.decision_function(X), strict=True):
        for k in range(2):
            expected = int(form.intercepts[k]) * scales.base / 256
            for j in range(6):
                code = int(form.coefficients[j, k])
                expected += code * power(scales, j) * value_by_loops(grid, j, x)
            assert_allclose(scores[k], expected, rtol=1e-9, atol=1e-9)
    assert_allclose(machine.coefficients, beta, atol=np.abs(beta).max() / 127 / 2 * 1.0001)
    assert_allclose(machine.intercepts, b, atol=scales.base / 512 * 1.0001)


@pytest.mark.parametrize("bits", BITS)
@pytest.mark.parametrize("name", list(KERNELS))
def test_the_grid_covers_the_vectors(name, bits):
    kernel = KERNELS[name]
    grid = vector_grid(kernel, Z, bits)
    assert grid.codes.max() < 2**bits
    seen = grid.seen(Z)
    rounded = moved_to(grid, seen)
    assert rounded == grid
    # half a step, and what rounding the lower end to the grid shifts it by
    assert (np.abs(grid.points - seen) <= 1.0001 * grid.steps.values).all()
    flat = np.ptp(seen, axis=0) < 1e-9
    assert_array_equal(grid.varying[flat], False)
    # a finer grid is nearer, until the digits of the matrix and the scales are what is left
    if bits >= 8 and not flat.all():
        spread = np.ptp(seen, axis=0).max()
        away = np.abs(grid.points - seen)[:, ~flat]
        assert away.max() < 2.0 ** (1 - bits) * spread + 1e-9


def test_rows_are_seen_alike_dense_and_sparse():
    for kernel in KERNELS.values():
        grid = vector_grid(kernel, Z, 5)
        X = RNG.normal(size=(4, 5))
        of_sparse = grid.seen(sparse.csr_matrix(X))
        dense = of_sparse if isinstance(of_sparse, np.ndarray) else of_sparse.toarray()
        assert_allclose(dense, grid.seen(X), rtol=1e-12)
        # what the full kernel does with these rows
        assert_allclose(
            grid.full_kernel(X, grid.vectors), grid.kernel(grid.seen(X), grid.points), rtol=1e-6
        )


@pytest.mark.parametrize("bits", [2, 4, 8])
def test_every_point_of_the_grid_is_the_image_of_a_vector(bits):
    """Also where rows of the matrix depend on each other, or would all be rounded to 0."""
    dependent = np.vstack([A, A[0] + A[1], 1e-9 * A[2], np.ones(5), 1e-3 * np.arange(5.0)])
    for matrix in (A, dependent, dependent[:, :2], np.zeros((2, 5)), A[:1]):
        d = matrix.shape[1]
        grid = vector_grid(ProjectedFeatures(Gaussian(0.5), matrix), Z[:, :d], bits)
        assert_allclose(grid.seen(grid.vectors), grid.points, atol=1e-9 * np.abs(Z).max())
        X = RNG.normal(size=(4, d))
        assert_allclose(
            grid.full_kernel(X, grid.vectors), grid.kernel(grid.seen(X), grid.points), rtol=1e-6
        )


def test_kernels_with_a_matrix_or_scales_inside_stay_whole():
    inner = ScaledFeatures(Gaussian(0.5), [1.0, 0.0, 2.0])
    kernels = [
        ProjectedFeatures(inner, A),
        ProjectedFeatures(Laplacian(0.5), A),
        2.0 * ProjectedFeatures(Gaussian(0.5), A),
        ScaledFeatures(Gaussian(0.5), SCALES) + ScaledFeatures(Gaussian(0.1), SCALES * 0.0 + 1.0),
    ]
    for kernel in kernels:
        grid = vector_grid(kernel, Z, 12, droppable=np.ones(5, dtype=bool))
        assert grid.matrix is None
        X = Z + 0.01 * RNG.normal(size=Z.shape)
        assert_allclose(grid.full_kernel(X, grid.vectors), kernel(X, grid.vectors), rtol=1e-9)


def test_rounding_again_changes_nothing():
    for name, bits in itertools.product(("plain", "scales"), (3, 5, 8)):
        grid = vector_grid(KERNELS[name], Z, bits)
        again = moved_to(grid, grid.points)
        assert again == grid
        assert hash(again) == hash(grid)
        assert grid != vector_grid(KERNELS[name], Z + 1.0, bits)


def test_columns_that_may_be_dropped_are_not_stored():
    droppable = np.array([True, False, False, True, False])
    grid = vector_grid(KERNELS["scales"], Z, 5, droppable=droppable)
    assert grid.used.tolist() == [0, 1, 2, 4]  # the vectors differ in column 0
    machine = KernelMachine.from_compact(
        compact_form(
            grid,
            np.ones((6, 1)),
            coefficient_scales(np.ones((6, 1)), np.zeros(1), 4),
            np.zeros(1),
            4,
        )
    )
    X = Z.copy()
    X[:, 3] += 1e9
    assert_allclose(machine.decision_function(X), machine.decision_function(Z))
    # a kernel of x'z needs them
    assert vector_grid(KERNELS["matrix"], Z, 5, droppable=droppable).used.size == 5


def test_own_steps_only_where_they_pay():
    even = RNG.uniform(-1.0, 1.0, size=(50, 4))
    even[0], even[1] = -1.0, 1.0
    assert vector_grid(Gaussian(1.0), even, 4).steps.is_one
    assert not vector_grid(Gaussian(1.0), even * [1.0, 0.2, 1.0, 1.0], 4).steps.is_one
    # two vectors save fewer bits than the step would take
    assert vector_grid(Gaussian(1.0), even[:2] * [1.0, 0.8, 1.0, 1.0], 4).steps.is_one


def test_stored_bytes_by_hand():
    grid = vector_grid(KERNELS["scales"], Z, 5)
    beta, b = RNG.normal(size=(6, 3)), np.zeros(3)
    scales = coefficient_scales(beta, b, 6)
    form = compact_form(grid, np.rint(beta / scales.values[:, None]), scales, b, 6)
    counted = storage(KernelMachine.from_compact(form), n_labels=3)
    assert counted.vectors == math.ceil(6 * 4 * 5 / 8)  # column 3 is the same in all vectors
    assert counted.coefficients == math.ceil(6 * 3 * 6 / 8)
    assert counted.lengths == 2 * 6
    assert counted.intercepts == 2 * 3
    assert counted.labels == 3
    assert counted.matrix == 0
    centre = (
        1 if np.abs(grid.centres).max() < 128 else 2 if np.abs(grid.centres).max() < 2**15 else 4
    )
    steps = 0 if grid.steps.is_one else 5
    assert counted.features == 5 * centre + steps + 5 + 1  # scales, the mask of one column
    assert stored_bytes(KernelMachine.from_compact(form), n_labels=3) == counted.total
    with pytest.raises(ValueError, match="target must be one of c"):
        stored_bytes(KernelMachine.from_compact(form), "fpga")


def test_other_kernels_are_counted_as_they_are_exported():
    grid = vector_grid(KERNELS["laplacian"], Z, 5)
    scales = coefficient_scales(np.ones((6, 1)), np.zeros(1), 4)
    form = compact_form(grid, np.ones((6, 1)), scales, np.zeros(1), 4)
    assert stored_bytes(KernelMachine.from_compact(form)) == 4 * (6 * 5 + 6 + 1)


def test_a_machine_keeps_its_integers():
    grid = vector_grid(KERNELS["scales"], Z, 4)
    scales = coefficient_scales(np.ones((6, 1)), np.zeros(1), 4)
    machine = KernelMachine.from_compact(
        compact_form(grid, np.full((6, 1), 7.0), scales, np.array([0.5]), 4)
    )
    single = machine.astype(np.float32)
    assert isinstance(single.compact, CompactForm)
    assert single.compact == machine.compact
    assert single != machine
    assert single.astype(np.float64) == machine
    plain = KernelMachine(machine.kernel, machine.vectors, machine.coefficients, machine.intercepts)
    assert plain != machine


@pytest.mark.parametrize("size", [1e-300, 1e-9, 1.0, 1e9, 1e150])
def test_coefficients_of_any_size(size):
    beta = size * np.array([[1.0, -0.5], [0.0, 0.0], [1e-3, 2e-3]])
    for intercepts in (np.zeros(2), np.array([size, 1e7 * size])):
        scales = coefficient_scales(beta, intercepts, 8)
        assert (scales.values * 127 >= np.abs(beta).max(axis=1) * (1 - 1e-9)).all()
        form = compact_form(
            vector_grid(Gaussian(1.0), Z[:3], 4), np.zeros((3, 2)), scales, intercepts, 8
        )
        assert_allclose(form.intercept_values, intercepts, atol=scales.base / 500, rtol=1e-6)
