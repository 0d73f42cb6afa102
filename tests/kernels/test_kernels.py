"""Every kernel that is registered keeps the same contract.

Ours, those of `own_kernels`, and that of CONTRIBUTING.md.
"""

from __future__ import annotations

import copy
import dataclasses
import inspect
import json
import pickle
import tracemalloc

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.base import clone
from sklearn.gaussian_process import kernels as gaussian_process
from sklearn.metrics import pairwise
from sklearn.svm import SVC

import contributed
import export_bounds
import references
from kernelet import KernelMachine, kernels
from kernelet.kernels import (
    CallableKernel,
    Exponential,
    Gaussian,
    Kernel,
    Laplacian,
    Linear,
    Matern32,
    Matern52,
    Polynomial,
    Product,
    ProjectedFeatures,
    RationalQuadratic,
    Scaled,
    ScaledFeatures,
    Sigmoid,
    Sum,
    kernel_from_specification,
    require_input_gradient,
    resolve_kernel,
)
from kernelet.kernels.input_stage import input_stage
from kernelet.kernels.numerics import blocks
from kernelet.kernels.profile import DistanceKernel, ProfileKernel
from kernelet.kernels.registry import registered_kernels
from own_kernels import OWN
from random_examples import examples


def _cosine_of_differences(X, Z):
    """cos(x_1 - z_1) exp(-|x - z|^2), positive definite; for dense and sparse X."""
    X = X.toarray() if sparse.issparse(X) else X
    differences = X[:, np.newaxis, :] - Z[np.newaxis, :, :]
    return np.cos(differences[:, :, 0]) * np.exp(-np.square(differences).sum(axis=2))


EXAMPLES = {
    Gaussian: [Gaussian(0.7)],
    Exponential: [Exponential(0.7)],
    Matern32: [Matern32(0.7)],
    Matern52: [Matern52(0.7)],
    RationalQuadratic: [RationalQuadratic(0.7, 1.7), RationalQuadratic(0.7, 0.4)],
    Laplacian: [Laplacian(0.7)],
    Linear: [Linear()],
    Polynomial: [
        Polynomial(0.7, 0.3, 1),
        Polynomial(0.7, 0.3, 2),
        Polynomial(0.7, 0.0, 3),
        Polynomial(0.7, 1.0, 7),
        Polynomial(0.7, -0.3, 4),
    ],
    Sigmoid: [Sigmoid(0.7, -0.3)],
    Sum: [Sum((Gaussian(0.7), Linear(), Matern52(0.3)))],
    Product: [
        Product((Gaussian(0.7), Polynomial(0.5, 1.0, 2), Exponential(0.1))),
        Product((Matern32(0.7), Sum((Linear(), 0.5 * Gaussian(0.2))))),
    ],
    Scaled: [Scaled(RationalQuadratic(0.7), 2.5)],
    ScaledFeatures: [
        ScaledFeatures(Gaussian(0.7), [0.5, 2.0, 1.0]),
        ScaledFeatures(Laplacian(0.7) + Linear(), [1.5, 0.0, 0.3]),
    ],
    ProjectedFeatures: [
        ProjectedFeatures(Gaussian(0.7), [[0.5, 1.0, -0.3], [0.2, -0.4, 0.8]]),
        ProjectedFeatures(Matern32(0.3), (np.arange(15) % 4 - 1.0).reshape(5, 3) / 2),
        ProjectedFeatures(
            ScaledFeatures(Gaussian(0.7) + Linear(), [1.5, 0.3]), [[1, 0, -1], [0.5, 1, 0]]
        ),
    ],
    CallableKernel: [CallableKernel(_cosine_of_differences)],
}
# What somebody else registers is tested as it is made by default.
EXAMPLES |= {kind: [kind()] for kind in registered_kernels().values() if kind not in EXAMPLES}
EXPORTED = [
    value
    for value in (getattr(kernels, name) for name in kernels.__all__)
    if inspect.isclass(value) and issubclass(value, Kernel) and not inspect.isabstract(value)
]
ALL = [kernel for examples in EXAMPLES.values() for kernel in examples]
WITH_GRADIENT = [kernel for kernel in ALL if kernel.has_input_gradient]
# Functions of x - z, so that moving all data changes nothing.
TRANSLATION_INVARIANT = [kernel for kernel in ALL if kernel.is_translation_invariant]
PROFILES = [kernel for kernel in ALL if isinstance(kernel, ProfileKernel)]


def each(examples):
    return pytest.mark.parametrize("kernel", examples, ids=repr)


def data(n=7, m=5, d=3, seed=0):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, d)), rng.normal(size=(m, d)), rng.normal(size=(n, m))


def test_every_kernel_is_tested():
    assert {*EXPORTED, *OWN, contributed.KERNEL} <= set(EXAMPLES)
    assert set(EXPORTED) - {CallableKernel} <= set(registered_kernels().values())
    assert len(TRANSLATION_INVARIANT) >= 13
    assert all(type(kernel) is cls for cls, examples in EXAMPLES.items() for kernel in examples)


@each(ALL)
def test_values_equal_the_double_loop(kernel):
    X, Z, _ = data()
    K = kernel(X, Z)
    assert K.shape == (7, 5)
    assert K.dtype == np.float64
    assert_allclose(K, references.kernel_matrix(kernel, X, Z), rtol=1e-12, atol=1e-13)


@each(ALL)
@pytest.mark.parametrize(
    ("n", "m", "d"), [(0, 3, 2), (4, 0, 2), (1, 1, 1), (1, 6, 40), (20, 2, 40), (6, 1, 2)]
)
def test_values_and_gradients_of_any_shape(kernel, n, m, d):
    (X, Z, W), kernel = data(n, m, d), references.for_features(kernel, d)
    assert_allclose(kernel(X, Z), references.kernel_matrix(kernel, X, Z), rtol=1e-11, atol=1e-13)
    if kernel.has_input_gradient:
        gradient = kernel.grad_vectors(X, Z, W)
        assert gradient.shape == (m, d)
        expected = references.kernel_pullback(kernel, X, Z, W)
        assert_allclose(
            gradient, expected, rtol=1e-6, atol=1e-8 * (1.0 + np.abs(expected).max(initial=0.0))
        )


@each(ALL)
@pytest.mark.parametrize("d", [3, 40])
@pytest.mark.parametrize("kind", ["float16", "float32", "int8", "uint8", "int64", "bool"])
def test_rows_of_any_type_lose_no_digits_against_vectors_in_double(kernel, d, kind):
    """The rows are exact in their type, so the answer is that of the same rows in float64."""
    (X, Z, W), kernel = data(30, 5, d), references.for_features(kernel, d)
    X, Z = np.abs(3.0 * X).astype(kind), Z + 0.5
    double = X.astype(np.float64)
    values = references.kernel_matrix(kernel, double, Z)
    diagonal = np.diagonal(references.kernel_matrix(kernel, double, double))
    coefficients = np.linspace(-1.0, 1.0, 5)
    scores = KernelMachine(kernel, Z, coefficients).decision_function(double)
    # SciPy has no sparse rows of half precision.
    containers = [np.asarray, np.asfortranarray]
    containers += [] if kind == "float16" else [sparse.csr_array, sparse.csr_matrix]
    for container in containers:
        rows = container(X)
        size = 1e-12 * np.abs(values).max()
        assert_allclose(kernel(rows, Z), values, rtol=1e-11, atol=size)
        rounding = 1e-5 if kind == "float32" else 1e-11  # the diagonal is in the type of the rows
        assert_allclose(kernel.diagonal(rows), diagonal, rtol=rounding)
        machine = KernelMachine(kernel, Z, coefficients)
        assert_allclose(machine.decision_function(rows), scores, rtol=1e-11, atol=5 * size)
        if kernel.has_input_gradient:
            gradient = kernel.grad_vectors(double, Z, W)
            size = 1e-11 * np.abs(gradient).max()
            assert_allclose(kernel.grad_vectors(rows, Z, W), gradient, rtol=1e-10, atol=size)


@each(WITH_GRADIENT)
@pytest.mark.parametrize("container", [np.asarray, sparse.csr_matrix, sparse.csr_array])
def test_pullback_equals_central_differences(kernel, container):
    X, Z, W = data()
    K, pullback = kernel.value_and_pullback(container(X), Z)
    assert_allclose(K, kernel(X, Z), rtol=1e-12, atol=1e-14)
    # The differences err by about step^2 = 1e-10 times a third derivative.
    expected = references.kernel_pullback(kernel, X, Z, W)
    assert_allclose(pullback(W), expected, rtol=1e-6, atol=1e-6 * np.abs(expected).max())
    assert_array_equal(kernel.grad_vectors(container(X), Z, W), pullback(W))


@each(WITH_GRADIENT)
def test_pullback_is_linear_and_can_be_called_again(kernel):
    X, Z, W = data()
    _, pullback = kernel.value_and_pullback(X, Z)
    first = pullback(W)
    assert_allclose(pullback(3.0 * W), 3.0 * first, rtol=1e-12, atol=1e-14)
    assert_array_equal(pullback(W), first)


@each(WITH_GRADIENT)
def test_values_that_the_pullback_shares_are_read_only(kernel):
    X, Z, W = data()
    K, pullback = kernel.value_and_pullback(X, Z)
    with pytest.raises(ValueError, match="read-only"):
        K[0, 0] = 1.0
    with pytest.raises(ValueError, match=r"W must have the shape \(7, 5\)"):
        pullback(W.T)


@each(ALL)
def test_gram_matrix_is_positive_semidefinite_where_said(kernel):
    X = data(n=60)[0]
    X[40:50] = X[:10]  # duplicates
    X[50:] = X[:10] + 1e-9  # nearly
    eigenvalues = np.linalg.eigvalsh(kernel(X, X))
    if kernel.is_positive_definite:
        assert eigenvalues[0] >= -1e-10 * eigenvalues[-1]
    else:
        assert eigenvalues[0] < -1e-3 * eigenvalues[-1]


@each(ALL)
def test_diagonal(kernel):
    X = data()[0]
    expected = np.diagonal(references.kernel_matrix(kernel, X, X))
    assert_allclose(kernel.diagonal(X), expected, rtol=1e-12)
    assert_allclose(kernel.diagonal(sparse.csr_matrix(X)), expected, rtol=1e-12)
    assert kernel.diagonal(X.astype(np.float32)).dtype == np.float32
    assert_allclose(kernel.diagonal(X.astype(np.float32)), expected, rtol=1e-5, atol=1e-6)
    assert kernel.diagonal((10 * X).astype(int)).dtype == np.float64
    if kernel.has_constant_diagonal:
        assert_array_equal(kernel.diagonal(X), np.full(7, kernel.diagonal(X)[0]))
    elif not isinstance(kernel, CallableKernel):
        assert np.ptp(kernel.diagonal(X)) > 0.1


@each(ALL)
def test_float32_stays_float32_and_mixtures_are_float64(kernel):
    X, Z, W = data()
    X32, Z32 = X.astype(np.float32), Z.astype(np.float32)
    expected = references.kernel_matrix(kernel, X32, Z32)
    assert kernel(X32, Z32).dtype == np.float32
    assert_allclose(kernel(X32, Z32), expected, rtol=2e-5, atol=1e-5 * np.abs(expected).max())
    for rows, vectors in ((X32, Z32.astype(float)), (X32.astype(float), Z32)):
        assert kernel(rows, vectors).dtype == np.float64
        assert_allclose(kernel(rows, vectors), expected, rtol=1e-12, atol=1e-13)
    if kernel.has_input_gradient:
        gradient = kernel.grad_vectors(X32, Z32, W)
        assert gradient.dtype == np.float32
        expected = kernel.grad_vectors(X32.astype(float), Z32.astype(float), W)
        assert_allclose(gradient, expected, rtol=1e-4, atol=1e-5 * np.abs(expected).max())
        mixed = kernel.grad_vectors(X32, Z32.astype(float), W)
        assert mixed.dtype == np.float64
        assert_allclose(mixed, expected, rtol=1e-12, atol=1e-12)


@each(ALL)
def test_integers_lists_and_any_memory_order_are_taken(kernel):
    X, Z, _ = data(n=9, m=6)
    X, Z = np.rint(2 * X), np.rint(2 * Z)
    expected = kernel(X, Z)
    assert_array_equal(kernel(X.astype(int).tolist(), Z.tolist()), expected)
    assert_array_equal(kernel(X.astype(np.int8), Z.astype(int)), expected)
    assert_allclose(kernel(np.asfortranarray(X), np.asfortranarray(Z)), expected, rtol=1e-13)
    assert_allclose(kernel(X[::-2], Z[::-2]), expected[::-2, ::-2], rtol=1e-12)


@each(ALL)
@pytest.mark.parametrize("offset", [0.0, 300.0])
def test_sparse_rows_equal_dense_rows(kernel, offset):
    (X, Z, W), kernel = data(n=40, d=12), references.for_features(kernel, 12)
    X[np.random.default_rng(1).random(X.shape) < 0.7] = 0.0
    X[3] = 0.0
    X[:, 0] += offset  # far from the origin the rows are made dense, a block at a time
    Z[:, 0] += offset
    if offset and not kernel.is_smooth and not kernel.has_constant_diagonal:
        kernel = Gaussian(0.7)  # the example with a cosine is meant for the other case
    K = kernel(X, Z)
    scale = np.abs(K).max()
    doubled = sparse.csr_matrix(X)
    doubled.data = np.repeat(doubled.data / 2.0, 2)
    doubled.indices = np.repeat(doubled.indices, 2)
    doubled.indptr = 2 * doubled.indptr
    for rows in (sparse.csr_matrix(X), sparse.csr_array(X), sparse.csc_matrix(X), doubled):
        stored = rows.nnz
        assert_allclose(kernel(rows, Z), K, rtol=1e-10, atol=1e-12 * scale)
        assert rows.nnz == stored
        if kernel.has_input_gradient:
            expected = kernel.grad_vectors(X, Z, W)
            assert_allclose(
                kernel.grad_vectors(rows, Z, W),
                expected,
                rtol=1e-9,
                atol=1e-11 * np.abs(expected).max(),
            )
    single = kernel(sparse.csr_matrix(X, dtype=np.float32), Z.astype(np.float32))
    assert single.dtype == np.float32
    assert_allclose(single, K, rtol=1e-3, atol=1e-4 * scale)


@each(TRANSLATION_INVARIANT)
def test_digits_are_kept_far_from_the_origin(kernel):
    (X, Z, W), kernel = data(n=50, m=20, d=10), references.for_features(kernel, 10)
    X, Z = (300.0 + X).astype(np.float32), (300.0 + Z).astype(np.float32)
    Z[0] = X[0]
    scale = kernel.diagonal(X)[0]
    for rows in (X, sparse.csr_matrix(X)):
        assert_allclose(kernel(rows, Z), references.kernel_matrix(kernel, X, Z), atol=1e-5 * scale)
        expected = kernel.grad_vectors(X.astype(float) - 300.0, Z.astype(float) - 300.0, W)
        gradient = kernel.grad_vectors(rows, Z, W)
        # The error is one of the terms, of size 10, which nearly cancel at Z[0] = X[0].
        assert_allclose(gradient, expected, rtol=1e-5, atol=1e-5)
    # Rows may be of double precision while the vectors are not.
    prepared = kernel.prepare(Z)
    assert prepared(X.astype(float)).dtype == np.float32
    expected = references.kernel_matrix(kernel, X, Z)
    assert_allclose(prepared(X.astype(float)), expected, atol=1e-5 * scale)


@pytest.mark.parametrize("kernel", TRANSLATION_INVARIANT, ids=repr)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_coincident_points(kernel, dtype):
    rng = np.random.default_rng(0)
    X, kernel = (5.0 + rng.normal(size=(30, 4))).astype(dtype), references.for_features(kernel, 4)
    K, pullback = kernel.value_and_pullback(X, X)
    top = float(kernel.diagonal(X)[0])
    eps = np.finfo(dtype).eps
    assert K.max() <= top * (1.0 + 2.0 * eps)
    assert_allclose(np.diagonal(K), top, rtol=20 * eps)
    # Each point against itself alone: by symmetry, or by definition, nothing pulls.
    assert_allclose(pullback(np.eye(30, dtype=dtype)), np.zeros((30, 4)), atol=2e3 * eps)
    z = X[:1]
    _, pullback = kernel.value_and_pullback(np.repeat(z, 3, axis=0), z)
    assert_array_equal(pullback(np.ones((3, 1), dtype=dtype)), np.zeros((1, 4)))


def test_exponential_is_exact_at_duplicates():
    # sqrt turns a distance of 1e-16, left by rounding, into one of 1e-8.
    X = np.random.default_rng(0).normal(size=(50, 3))
    assert_array_equal(np.diagonal(Exponential(1.0)(X, X)), np.ones(50))
    single = X.astype(np.float32)
    assert_array_equal(np.diagonal(Exponential(1.0)(single, single)), np.ones(50))
    near = X + 1e-9
    expected = np.array(
        [references.kernel_value(Exponential(1.0), x, z) for x, z in zip(X, near, strict=True)]
    )
    assert_allclose(np.diagonal(Exponential(1.0)(X, near)), expected, rtol=1e-14)


@pytest.mark.parametrize("d", [2, 20])  # few features and many are summed up differently
def test_laplacian_gradient_at_ties_is_zero(d):
    X, Z = np.zeros((1, d)), np.zeros((1, d))
    X[0, 1] = 1.0
    gradient = Laplacian(0.5).grad_vectors(X, Z, np.ones((1, 1)))
    expected = np.zeros((1, d))
    expected[0, 1] = 0.5 * np.exp(-0.5)
    assert_allclose(gradient, expected, rtol=1e-15)


POINTS = hnp.arrays(
    np.float64,
    st.tuples(st.integers(1, 6), st.just(2)),
    # A coarse grid, so that rows coincide, and values that do not lie on it.
    elements=st.one_of(st.integers(-2, 2).map(float), st.floats(-50.0, 50.0, width=32)),
)
GAMMAS = st.floats(-10.0, 10.0).map(lambda exponent: 10.0**exponent)
DISTANCE = [kind for kind in registered_kernels().values() if issubclass(kind, DistanceKernel)]
RADIAL = st.sampled_from(DISTANCE)


@examples(150)
@given(X=POINTS, Z=POINTS, gamma=GAMMAS, make=RADIAL, single=st.booleans(), shift=st.booleans())
def test_any_radial_kernel_on_ugly_data(X, Z, gamma, make, single, shift):
    kernel = make(gamma)
    dtype = np.float32 if single else np.float64
    X = (X + 1024.0 * shift).astype(dtype)
    Z = (Z + 1024.0 * shift).astype(dtype)
    Z = np.concatenate([Z, X[:1]])
    K, pullback = kernel.value_and_pullback(X, Z)
    # Distances keep half their digits or more at any width, and t exp(-t) is below 0.4; single
    # precision has a Laplacian exponent of 1e12 digits to lose.
    assert_allclose(K, references.kernel_matrix(kernel, X, Z), atol=3e-4 if single else 1e-8)
    assert K.min() >= 0.0
    assert K.max() <= 1.0 + 2.0 * np.finfo(dtype).eps
    coincident = K[(X[:, np.newaxis] == Z).all(axis=2)]
    assert_allclose(coincident, 1.0, atol=4.0 * np.finfo(dtype).eps ** 0.75)
    assert np.isfinite(pullback(np.ones_like(K))).all()


@examples(60)
@given(
    X=POINTS,
    Z=POINTS,
    gamma=st.floats(-3.0, 1.0).map(lambda exponent: 10.0**exponent),
    coef0=st.floats(0.0, 2.0),
    degree=st.integers(1, 9),
)
def test_any_polynomial_kernel(X, Z, gamma, coef0, degree):
    kernel = Polynomial(gamma, coef0, degree)
    expected = references.kernel_matrix(kernel, X, Z)
    # Terms of x'z may cancel, so the error is one of the largest possible value.
    largest = (
        gamma * np.linalg.norm(X, axis=1).max() * np.linalg.norm(Z, axis=1).max() + coef0
    ) ** degree
    assert_allclose(kernel(X, Z), expected, rtol=1e-12, atol=1e-13 * largest)


# made of widths that points up to 50 apart do not all see as 0 or 1
SIMPLE = st.builds(
    lambda make, exponent: make(10.0**exponent),
    st.sampled_from([Gaussian, Matern32, Laplacian, lambda gamma: Polynomial(gamma, 1.0, 2)]),
    st.floats(-4.0, 0.0),
)
COMPOSITES = st.recursive(
    SIMPLE,
    lambda parts: st.one_of(
        st.builds(lambda left, right: left + right, parts, parts),
        st.builds(lambda left, right: left * right, parts, parts),
        st.builds(lambda factor, part: factor * part, st.floats(0.1, 10.0), parts),
        st.builds(ScaledFeatures, parts, st.lists(st.floats(0.1, 2.0), min_size=2, max_size=2)),
        # of two combinations, as the parts may ask for two features
        st.builds(
            ProjectedFeatures, parts, hnp.arrays(float, (2, 2), elements=st.floats(-2.0, 2.0))
        ),
    ),
    max_leaves=4,
)


@examples(60)
@given(X=POINTS, Z=POINTS, kernel=COMPOSITES)
def test_any_composite_kernel_is_one_behind_a_matrix(X, Z, kernel):
    matrix, inner = input_stage(kernel)
    assert "ProjectedFeatures" not in repr(inner)
    assert (matrix is None) == ("ProjectedFeatures" not in repr(kernel))
    if matrix is not None:
        corners = np.abs(np.vstack([X, Z])).max(axis=0)
        largest = max(1.0, export_bounds.size(kernel, corners, corners))
        values = inner(X @ matrix.T, Z @ matrix.T)
        assert_allclose(values, kernel(X, Z), rtol=1e-8, atol=1e-9 * largest)


def test_parts_with_the_same_matrix_share_it_in_front():
    A, B = np.array([[1.0, 2.0]]), np.array([[0.5, -1.0], [2.0, 0.0]])
    kernel = ProjectedFeatures(Gaussian(0.7), A) + ProjectedFeatures(Linear(), A)
    assert_array_equal(input_stage(kernel)[0], A)
    assert input_stage(kernel)[1] == Gaussian(0.7) + Linear()
    kernel = ProjectedFeatures(Gaussian(0.7), B) * (ProjectedFeatures(Linear(), A) + Matern32(0.1))
    matrix, inner = input_stage(ScaledFeatures(kernel, [2.0, 0.5]))
    assert_array_equal(matrix, np.vstack([B, A, np.eye(2)]) * [2.0, 0.5])
    assert inner.n_features == 5


@examples(60)
@given(X=POINTS, Z=POINTS, kernel=COMPOSITES)
def test_any_composite_kernel(X, Z, kernel):
    # terms may cancel in the inner products of the parts: an error is one of the largest value
    corners = np.abs(np.vstack([X, Z])).max(axis=0)
    largest = max(1.0, export_bounds.size(kernel, corners, corners))
    expected = references.kernel_matrix(kernel, X, Z)
    assert_allclose(kernel(X, Z), expected, rtol=1e-9, atol=1e-9 * largest)
    diagonal = np.diagonal(references.kernel_matrix(kernel, X, X))
    assert_allclose(kernel.diagonal(X), diagonal, rtol=1e-12, atol=1e-12 * largest)
    assert kernels.kernel_from_specification(kernel.specification()) == kernel


@pytest.mark.parametrize("gamma", [0.01, 0.7])
def test_agreement_with_scikit_learn(gamma):
    X, Z, _ = data()
    length_scale = np.sqrt(1.0 / (2.0 * gamma))
    pairs = [
        (Gaussian(gamma), pairwise.rbf_kernel(X, Z, gamma=gamma)),
        (Laplacian(gamma), pairwise.laplacian_kernel(X, Z, gamma=gamma)),
        (Linear(), pairwise.linear_kernel(X, Z)),
        (Polynomial(gamma, 0.5, 3), pairwise.polynomial_kernel(X, Z, 3, gamma, 0.5)),
        (Sigmoid(gamma, 0.5), pairwise.sigmoid_kernel(X, Z, gamma, 0.5)),
        (Exponential(gamma), gaussian_process.Matern(length_scale, nu=0.5)(X, Z)),
        (Matern32(gamma), gaussian_process.Matern(length_scale, nu=1.5)(X, Z)),
        (Matern52(gamma), gaussian_process.Matern(length_scale, nu=2.5)(X, Z)),
        (
            RationalQuadratic(gamma, 1.7),
            gaussian_process.RationalQuadratic(length_scale, alpha=1.7)(X, Z),
        ),
    ]
    for kernel, expected in pairs:
        assert_allclose(kernel(X, Z), expected, rtol=1e-11, err_msg=repr(kernel))


@each(ALL)
def test_specification_round_trip(kernel):
    if isinstance(kernel, CallableKernel):
        assert not kernel.is_serializable
        with pytest.raises(ValueError, match="cannot be written to a file"):
            kernel.specification()
        with pytest.raises(ValueError, match="cannot be written to a file"):
            (Gaussian(1.0) + 2.0 * kernel).specification()
        return
    text = json.dumps(kernel.specification(), allow_nan=False)
    assert kernel_from_specification(json.loads(text)) == kernel


@each(ALL)
def test_equality_hash_repr_and_pickle(kernel):
    same = pickle.loads(pickle.dumps(kernel))
    assert same == kernel
    assert hash(same) == hash(kernel)
    assert kernel != 2.0 * kernel
    if not isinstance(kernel, CallableKernel):
        known = {kind.__name__: kind for kind in registered_kernels().values()}
        known[type(kernel).__name__] = type(kernel)  # a page may register a class of the same name
        assert eval(repr(kernel), known) == kernel
    with pytest.raises(AttributeError):
        kernel.gamma = 2.0


def test_a_projection_is_a_value_that_cannot_be_written_to():
    A = np.array([[1.0, -0.0], [2.0, 3.0], [0.5, 0.0]])
    kernel = ProjectedFeatures(Gaussian(0.5), A)
    A[0, 0] = 7.0
    assert kernel.matrix[0, 0] == 1.0
    for same in (
        ProjectedFeatures(Gaussian(0.5), [[1, 0], [2, 3], [0.5, -0.0]]),
        ProjectedFeatures(Gaussian(0.5), np.asfortranarray(kernel.matrix).astype(np.float32)),
        ProjectedFeatures(Gaussian(0.5), pd.DataFrame(kernel.matrix)),
        dataclasses.replace(ProjectedFeatures(Linear(), kernel.matrix), kernel=Gaussian(0.5)),
        copy.deepcopy(kernel),
        clone(SVC(kernel=kernel)).kernel,
        pickle.loads(pickle.dumps(kernel)),
    ):
        assert same == kernel
        assert hash(same) == hash(kernel)
        with pytest.raises(ValueError, match="read-only"):
            same.matrix[0, 0] = 2.0
    assert kernel != ProjectedFeatures(Gaussian(0.25), kernel.matrix)
    assert kernel != ProjectedFeatures(Gaussian(0.5), kernel.matrix + 1e-15)
    assert kernel != ProjectedFeatures(Gaussian(0.5), kernel.matrix.reshape(2, 3))
    assert kernel != Gaussian(0.5)
    large = ProjectedFeatures(Gaussian(0.5), np.zeros((16, 784)))
    assert repr(large) == (
        "ProjectedFeatures(kernel=Gaussian(gamma=0.5), matrix=<16 x 784 numbers>)"
    )
    assert repr(ProjectedFeatures(Linear(), np.full((2, 4), 1 / 3))).endswith("<2 x 4 numbers>)")
    assert repr(ScaledFeatures(Gaussian(0.5), [0.5] * 784)) == (
        "ScaledFeatures(kernel=Gaussian(gamma=0.5), scales=<784 numbers>)"
    )


@pytest.mark.parametrize("make", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_projections_of_data_far_from_zero_keep_their_digits(make, dtype):
    """The numbers are exact in their type; A x alone would round their differences away."""
    rng = np.random.default_rng(0)
    offset = 2.0**13 if dtype == np.float32 else 2.0**30
    near, vectors = (rng.integers(-2000, 2000, size=(n, 12)) / 1024.0 for n in (20, 6))
    X, Z = (offset + near).astype(dtype), (offset + vectors).astype(dtype)
    kernel = ProjectedFeatures(Gaussian(0.1), rng.normal(size=(3, 12)))
    expected = references.kernel_matrix(kernel, near, vectors)
    # sparse rows are not moved before the product, which is one of double precision
    exact = 3e-6 if dtype == np.float32 else 1e-12 if make is np.asarray else 3e-6
    assert_allclose(kernel(make(X), Z), expected, atol=exact)


def test_numpy_parameters_become_plain_numbers():
    kernel = Polynomial(np.float32(0.5), np.int64(1), np.int64(3))
    assert repr(kernel) == "Polynomial(gamma=0.5, coef0=1.0, degree=3)"
    assert json.dumps(kernel.specification())
    assert Polynomial(degree=3.0) == Polynomial(degree=3)


NESTED: dict = {"name": "rbf", "gamma": 1.0}
for _ in range(5000):
    NESTED = {"name": "sum", "terms": [NESTED]}


@pytest.mark.parametrize(
    ("specification", "message"),
    [
        (None, "must be a mapping"),
        ("rbf", "must be a mapping"),
        ([], "must be a mapping"),
        ({}, "Unknown kernel name None"),
        (
            {"name": "rfb", "gamma": 1.0},
            "Unknown kernel name 'rfb'; .* kernelet.kernels.register_kernel. Known are .*, rbf, ",
        ),
        ({"name": ["rbf"], "gamma": 1.0}, "Unknown kernel name"),
        ({"name": "callable", "function": "os.system"}, "Unknown kernel name"),
        ({"name": "rbf"}, r"takes the parameters \['gamma'\], but the specification has \[\]"),
        ({"name": "rbf", "gamma": 1.0, "degree": 2}, "takes the parameters"),
        ({"name": "rbf", "gamma": 1.0, 3: 2}, "takes the parameters"),
        ({"name": "rbf", "gamma": "1.0"}, "gamma must be"),
        ({"name": "rbf", "gamma": None}, "gamma must be"),
        ({"name": "rbf", "gamma": True}, "gamma must be"),
        ({"name": "rbf", "gamma": float("nan")}, "gamma must be"),
        ({"name": "rbf", "gamma": -1.0}, "gamma must be"),
        ({"name": "rbf", "gamma": 10**400}, "gamma must be"),
        ({"name": "rbf", "gamma": {"name": "rbf", "gamma": 1.0}}, "gamma must be"),
        ({"name": "poly", "gamma": 1.0, "coef0": 0.0, "degree": 2.5}, "degree must be"),
        ({"name": "sum", "terms": []}, "at least one kernel"),
        ({"name": "sum", "terms": 3}, "terms must be made of kernels"),
        ({"name": "sum", "terms": "rbf"}, "terms must be made of kernels"),
        ({"name": "sum", "terms": {"name": "linear"}}, "terms must be made of kernels"),
        ({"name": "sum", "terms": ["rbf"]}, "terms must be made of kernels"),
        ({"name": "scaled", "kernel": 1.0, "factor": 1.0}, "kernel must be made of kernels"),
        ({"name": "scaled", "kernel": {"name": "linear"}, "factor": 0.0}, "factor must be"),
        ({"name": "scaled_features", "kernel": {"name": "linear"}, "scales": 1.0}, "scales must"),
        ({"name": "scaled_features", "kernel": {"name": "linear"}, "scales": []}, "scales must"),
        (
            {"name": "scaled_features", "kernel": {"name": "linear"}, "scales": ["a"]},
            "a scale must",
        ),
        ({"name": "scaled_features", "kernel": 1.0, "scales": [1.0]}, "kernel must be a kernel"),
        *(
            ({"name": "projected_features", "kernel": {"name": "linear"}, "matrix": given}, message)
            for given, message in [
                (1.0, "matrix must be two-dimensional"),
                ("ab", "matrix must be two-dimensional"),
                (["ab"], "matrix must be two-dimensional"),
                ([1.0, 2.0], "matrix must be two-dimensional"),
                ([[1.0], 2.0], "matrix must be two-dimensional"),
                ([], "a row and a column at least"),
                ([[]], "a row and a column at least"),
                ([[1.0, 2.0], [1.0]], "rows of the matrix must have the same length"),
                ([[1.0, float("nan")]], "an entry of the matrix must be a finite number"),
                ([[1.0, "2"]], "an entry of the matrix must be a finite number"),
                ([[1.0, True]], "an entry of the matrix must be a finite number"),
                ([[1.0, 10**400]], "an entry of the matrix must be a finite number"),
                ([[[1.0]]], "an entry of the matrix must be a finite number"),
                ([{"name": "linear"}], "matrix must be two-dimensional"),
                ({"name": "linear"}, "matrix must be two-dimensional"),
            ]
        ),
        (
            {"name": "projected_features", "kernel": 1.0, "matrix": [[1.0]]},
            "kernel must be a kernel",
        ),
        (NESTED, "nested more than 50 levels"),
    ],
)
def test_malformed_specifications_are_refused(specification, message):
    with pytest.raises(ValueError, match=message):
        kernel_from_specification(specification)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Gaussian(0.0), "gamma must be a finite number above 0, got 0.0"),
        (lambda: Gaussian(float("inf")), "gamma must be a finite number"),
        (lambda: Matern32("scale"), "gamma must be a finite number, got 'scale'"),
        (lambda: RationalQuadratic(1.0, -1.0), "alpha must be"),
        (lambda: Polynomial(degree=0), "degree must be an integer of at least 1, got 0"),
        (lambda: Polynomial(degree=2.5), "degree must be an integer"),
        (lambda: Polynomial(coef0=float("nan")), "coef0 must be"),
        (lambda: Sigmoid(coef0=None), "coef0 must be"),
        (lambda: Laplacian(-1), "gamma must be"),
        (lambda: -2.0 * Linear(), "factor must be a finite number above 0"),
        (lambda: Sum(()), "terms must hold at least one kernel"),
        (lambda: Product(("rbf",)), "factors must be made of kernels"),
        (lambda: ScaledFeatures(Gaussian(1.0), [1.0, -1.0]), "none below 0"),
        (lambda: ScaledFeatures(Gaussian(1.0), "12"), "one for each feature"),
        (
            lambda: (
                ScaledFeatures(Gaussian(1.0), [1.0]) + ScaledFeatures(Gaussian(1.0), [1.0, 2.0])
            ),
            "kernels of 1 and 2 features",
        ),
        (
            lambda: ScaledFeatures(ScaledFeatures(Linear(), [1.0, 2.0]), [1.0]),
            "1 scales were given for a kernel of 2 features",
        ),
        (
            lambda: ScaledFeatures(Linear(), [1.0, 2.0])([[1.0]], [[1.0]]),
            "scales for 2 features, the rows have 1",
        ),
        (lambda: ProjectedFeatures("rbf", [[1.0]]), "kernel must be a kernel"),
        (lambda: ProjectedFeatures(Linear(), np.ones(3)), r"two-dimensional.*of shape \(3,\)"),
        (lambda: ProjectedFeatures(Linear(), np.ones((2, 0))), "a row and a column at least"),
        (lambda: ProjectedFeatures(Linear(), [[np.inf]]), "must be a finite number"),
        (lambda: ProjectedFeatures(Linear(), np.array([[np.nan]])), "must hold finite numbers"),
        (lambda: ProjectedFeatures(Linear(), np.array([[1j]])), "must be a finite number"),
        (lambda: ProjectedFeatures(Linear(), sparse.eye(2)), "two-dimensional"),
        (
            lambda: ProjectedFeatures(ScaledFeatures(Linear(), [1.0, 2.0]), [[1.0, 2.0]]),
            "the matrix has 1 rows, but the kernel is one of 2 features",
        ),
        (
            lambda: ProjectedFeatures(Linear(), [[1.0, 2.0]])([[1.0]], [[1.0]]),
            "matrix of the kernel has 2 columns, the rows have 1 features",
        ),
        (
            lambda: ProjectedFeatures(Linear(), [[1.0, 2.0]]).diagonal([[1.0]]),
            "matrix of the kernel has 2 columns, the rows have 1 features",
        ),
        (
            lambda: ProjectedFeatures(Linear(), [[1.0, 2.0]]) + ScaledFeatures(Linear(), [1.0]),
            "features cannot be combined",
        ),
        (
            lambda: ProjectedFeatures(Linear(), [[1e200]])([[1.0]], [[1e200]]),
            r"vectors as large as 1e\+200 cannot be multiplied by a matrix as large as 1e\+200",
        ),
        (lambda: CallableKernel("rbf"), "function must be callable"),
    ],
)
def test_parameters_out_of_range_are_named(make, message):
    with pytest.raises(ValueError, match=message):
        make()


def test_operators():
    a, b, c = Gaussian(0.5), Linear(), Matern52(2.0)
    assert a + b + c == Sum((a, b, c)) == a + (b + c)
    assert a * b * c == Product((a, b, c)) == a * (b * c)
    assert 2.0 * a == a * 2 == np.float64(2.0) * a == Scaled(a, 2.0)
    for operation in (lambda: a + 1.0, lambda: a * "b", lambda: "b" * a):
        with pytest.raises(TypeError):
            operation()


def test_capabilities_of_composites_are_those_of_all_parts():
    own = CallableKernel(_cosine_of_differences, is_positive_definite=False)
    assert (Gaussian(1.0) + Linear()).has_input_gradient
    assert not (Gaussian(1.0) + own).has_input_gradient
    assert not (2.0 * own).is_positive_definite
    assert not (Gaussian(1.0) * Exponential(1.0)).is_smooth
    assert (Gaussian(1.0) * Exponential(1.0)).has_constant_diagonal
    assert not (Gaussian(1.0) + Linear()).has_constant_diagonal
    assert Polynomial(coef0=0.0).is_positive_definite
    assert not Polynomial(coef0=-1.0).is_positive_definite


def test_missing_gradients_are_refused_with_both_names():
    kernel = Gaussian(1.0) + CallableKernel(_cosine_of_differences)
    with pytest.raises(ValueError, match=r"SparseSVC needs the gradient.*CallableKernel"):
        require_input_gradient(kernel, "SparseSVC")
    require_input_gradient(Gaussian(1.0), "SparseSVC")
    X, Z, W = data()
    with pytest.raises(ValueError, match="value_and_pullback needs the gradient"):
        kernel.grad_vectors(X, Z, W)
    with pytest.raises(ValueError, match="needs the gradient"):
        CallableKernel(_cosine_of_differences).prepare(Z).linearize(X)


def test_a_function_that_returns_the_wrong_shape_is_named():
    X, Z, _ = data()
    with pytest.raises(ValueError, match=r"returned shape \(5, 7\) for 7 rows and 5 vectors"):
        CallableKernel(lambda X, Z: np.ones((len(Z), len(X))))(X, Z)


@each([Gaussian(1.0), Laplacian(1.0), Linear(), CallableKernel(_cosine_of_differences)])
def test_wrong_arrays_are_refused(kernel):
    X, Z, _ = data()
    with pytest.raises(ValueError, match=r"X must be two-dimensional.*X.reshape\(1, -1\)"):
        kernel(X[0], Z)
    with pytest.raises(ValueError, match="X must be two-dimensional"):
        kernel(X[np.newaxis], Z)
    with pytest.raises(ValueError, match="Z must be two-dimensional"):
        kernel(X, Z[0])
    with pytest.raises(ValueError, match="X has 2 columns, but the vectors have 3"):
        kernel(X[:, :2], Z)
    with pytest.raises(ValueError, match="Z must be dense"):
        kernel(X, sparse.csr_matrix(Z))
    with pytest.raises(ValueError, match="X holds complex"):
        kernel(X + 0j, Z)
    with pytest.raises(ValueError, match="Z holds complex"):
        kernel(X, Z + 0j)
    assert_array_equal(kernel(X.astype(object), Z), kernel(X, Z))


@each(ALL)
def test_nan_stays_in_its_row(kernel):
    X, Z, _ = data()
    expected = kernel(X, Z)
    X[2, 1] = np.nan
    K = kernel(X, Z)
    assert np.isnan(K[2]).all()
    assert_allclose(np.delete(K, 2, axis=0), np.delete(expected, 2, axis=0), rtol=1e-13)


@each(ALL)
@pytest.mark.parametrize("make", [np.asarray, sparse.csr_matrix])
def test_threads_change_nothing(kernel, make, monkeypatch):
    X, Z, _ = data(n=1500, m=20, d=3)
    monkeypatch.setattr(blocks, "THREADED_ELEMENTS", 0)
    monkeypatch.setattr("kernelet.kernels.base.block_length", lambda *_: 100)
    monkeypatch.setattr("kernelet.kernels.profile.block_length", lambda *_: 100)
    results = []
    for threads in (1, 4):
        monkeypatch.setattr(blocks, "available_threads", lambda threads=threads: threads)
        results.append(kernel(make(X), Z))
        if kernel.has_input_gradient:
            results[-1] = np.hstack([results[-1], kernel.value_and_pullback(make(X), Z)[0]])
    assert_array_equal(results[0], results[1])
    assert_allclose(results[0][:50, :20], kernel(X[:50], Z), rtol=1e-11, atol=1e-13)


def peak_megabytes(function):
    function()  # imports and caches do not count
    tracemalloc.start()
    try:
        function()
        return tracemalloc.get_traced_memory()[1] / 2**20
    finally:
        tracemalloc.stop()


@each([kernel for kernel in WITH_GRADIENT if not isinstance(kernel, Sum | Product)])
def test_no_array_of_rows_times_vectors_times_features(kernel):
    (X, Z, W), kernel = data(n=5000, m=20, d=50), references.for_features(kernel, 50)
    matrix = 5000 * 20 * 8 / 2**20
    # K, slope, W * slope and blocks of rows; n x m x d would be 50 matrices.
    assert peak_megabytes(lambda: kernel.grad_vectors(X, Z, W)) < 5 * matrix + 4.0


@each(
    [
        Gaussian(0.7),
        Exponential(0.7),
        Linear(),
        Laplacian(0.7),
        ScaledFeatures(Gaussian(0.7), np.linspace(0.5, 1.5, 1000)),
        ProjectedFeatures(Gaussian(0.7), np.eye(4, 1000)),
        ProjectedFeatures(Linear(), np.eye(4, 1000)),
    ]
)
def test_sparse_rows_are_never_all_dense(kernel):
    X = sparse.random(6000, 1000, density=0.002, format="csr", random_state=0)
    Z = np.random.default_rng(0).normal(size=(3, 1000)) / 30.0
    dense = 6000 * 1000 * 8 / 2**20
    for offset in (0.0, 1.0):  # with an anchor and without
        peak = peak_megabytes(
            lambda offset=offset: kernel.grad_vectors(X, Z + offset, np.ones((6000, 3)))
        )
        assert peak < dense / 4


@pytest.mark.parametrize("gamma", ["scale", "auto", 0.3])
@pytest.mark.parametrize(
    "X",
    [
        np.random.default_rng(0).normal(2.0, 3.0, size=(20, 4)),
        np.random.default_rng(0).normal(2.0, 3.0, size=(20, 4)).astype(np.float32),
        np.arange(80).reshape(20, 4),
        np.full((20, 4), 3.0),
        sparse.random(20, 4, density=0.3, format="csr", random_state=0),
        sparse.csr_matrix((20, 4)),
    ],
    ids=["float64", "float32", "int", "constant", "sparse", "zero"],
)
def test_gamma_is_that_of_scikit_learn(X, gamma):
    svc = SVC(gamma=gamma).fit(X, np.arange(20) % 2)
    # One rounding error: single precision is summed up without a copy in double precision.
    assert_allclose(resolve_kernel("rbf", X, gamma=gamma).gamma, svc._gamma, rtol=1e-15)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("rbf", Gaussian(0.5)),
        ("linear", Linear()),
        ("poly", Polynomial(0.5, 1.5, 4)),
        ("polynomial", Polynomial(0.5, 1.5, 4)),
        ("sigmoid", Sigmoid(0.5, 1.5)),
        ("laplacian", Laplacian(0.5)),
        ("exponential", Exponential(0.5)),
        ("matern32", Matern32(0.5)),
        ("matern52", Matern52(0.5)),
        ("rational_quadratic", RationalQuadratic(0.5)),
    ],
)
def test_names_of_kernels(name, expected):
    X = data()[0]
    assert resolve_kernel(name, X, gamma=0.5, degree=4, coef0=1.5) == expected
    if name != "polynomial":
        assert expected.name == name


def test_kernel_objects_and_functions_are_resolved():
    X = data()[0]
    kernel = 2.0 * Gaussian(0.5)
    assert resolve_kernel(kernel, X) is kernel
    assert resolve_kernel(_cosine_of_differences, X) == CallableKernel(_cosine_of_differences)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"kernel": "rfb"}, r"Unknown kernel 'rfb'; known are .*, rbf, .*Did you mean 'rbf'\?"),
        ({"kernel": "Matern52"}, r"Did you mean 'matern52'\?"),
        ({"kernel": "gauss"}, "Unknown kernel 'gauss'; known are .*, rbf, "),
        ({"kernel": "precomputed"}, "'precomputed' is not possible"),
        ({"kernel": 3}, "kernel must be a name"),
        ({"kernel": "rbf", "gamma": "scael"}, "gamma must be 'scale', 'auto' or a positive"),
        ({"kernel": "rbf", "gamma": 0.0}, "gamma must be a finite number above 0"),
        ({"kernel": "poly", "degree": 0}, "degree must be"),
        ({"kernel": "poly", "coef0": "a"}, "coef0 must be"),
    ],
)
def test_kernels_that_cannot_be_resolved(arguments, message):
    with pytest.raises(ValueError, match=message):
        resolve_kernel(X=data()[0], **arguments)
