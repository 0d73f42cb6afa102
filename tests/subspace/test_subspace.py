"""Canonical rows, seeds and coordinates of a subspace, against definitions spelled out."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.cluster import KMeans
from threadpoolctl import threadpool_info, threadpool_limits

from kernelet.kernels import Gaussian, Linear, Matern32, Polynomial, Sigmoid
from kernelet.subspace import (
    SEEDERS,
    EmpiricalMap,
    WhitenedMap,
    canonical_rows,
    relative_rank_tolerance,
    seed_vectors,
    seeding,
)
from kernelet.subspace.greedy import pivoted_cholesky, sparse_greedy_approximation

FORMATS = {
    "dense": np.asarray,
    "csr_matrix": sparse.csr_matrix,
    "csr_array": sparse.csr_array,
}


def dense(X):
    return X.toarray() if sparse.issparse(X) else X


# --- canonical rows ------------------------------------------------------------------------------


def merged_by_hand(X, y, weights):
    """{(x, y): weights} with Python's own tuples and sort."""
    groups: dict[tuple[float, ...], list[float]] = {}
    for x, label, weight in zip(X.tolist(), y.tolist(), weights.tolist(), strict=True):
        if weight > 0:
            groups.setdefault((*(v + 0.0 for v in x), label), []).append(weight)
    keys = sorted(groups)
    return keys, [sum(sorted(groups[key])) for key in keys]


@st.composite
def weighted_samples(draw):
    n, d = draw(st.integers(1, 25)), draw(st.integers(1, 5))
    value = st.sampled_from([-2.0, -1.0, -0.0, 0.0, 0.5, 3.0])
    X = np.array(draw(st.lists(value, min_size=n * d, max_size=n * d))).reshape(n, d)
    y = np.array(draw(st.lists(st.integers(0, 2), min_size=n, max_size=n)))
    weights = np.array(
        draw(st.lists(st.sampled_from([0.0, 0.1, 0.7, 3.0]), min_size=n, max_size=n))
    )
    weights[draw(st.integers(0, n - 1))] = 1.0
    return X, y, weights


@given(weighted_samples(), st.sampled_from(sorted(FORMATS)), st.sampled_from(["f4", "f8"]))
def test_canonical_rows_are_the_merged_and_sorted_ones(sample, form, dtype):
    X, y, weights = sample
    rows = canonical_rows(FORMATS[form](X.astype(dtype)), y, weights)
    keys, costs = merged_by_hand(X, y, weights)
    assert rows.X.dtype == dtype
    assert_array_equal(np.column_stack([dense(rows.X), rows.y]), np.array(keys))
    assert not np.signbit(dense(rows.X)[dense(rows.X) == 0]).any()
    assert_array_equal(rows.costs, costs)
    kept = weights > 0
    assert_array_equal(rows.inverse == -1, ~kept)
    assert_array_equal(dense(rows.X)[rows.inverse[kept]], X[kept])
    assert_array_equal(rows.y[rows.inverse[kept]], y[kept])


@given(weighted_samples(), st.randoms(use_true_random=False), st.sampled_from(sorted(FORMATS)))
def test_canonical_rows_do_not_see_order_or_repetition(sample, random, form):
    X, y, weights = sample
    repeats = np.array([random.randint(0, 3) for _ in y])
    repeats[0] = 1
    index = np.repeat(np.arange(y.size), repeats)
    random.shuffle(index)
    one = canonical_rows(FORMATS[form](X), y, repeats)
    other = canonical_rows(FORMATS[form](X[index]), y[index])
    order = np.array(random.sample(range(y.size), y.size))
    third, fourth = (
        canonical_rows(FORMATS[form](X[o]), y[o], weights[o]) for o in (order, order[::-1])
    )
    for left, right in ((one, other), (third, fourth)):
        assert dense(left.X).tobytes() == dense(right.X).tobytes()
        assert left.y.tobytes() == right.y.tobytes()
        assert left.costs.tobytes() == right.costs.tobytes()


def test_canonical_rows_of_sparse_input_leave_it_alone():
    X = sparse.csr_matrix(
        (np.array([1.0, 2.0, 0.0, 5.0]), np.array([1, 1, 0, 0]), np.array([0, 2, 3, 4])), (3, 2)
    )
    before = X.data.copy(), X.indices.copy()
    rows = canonical_rows(X)
    assert_array_equal(rows.X.toarray(), [[0, 0], [0, 3], [5, 0]])
    assert_array_equal(rows.inverse, [1, 0, 2])
    assert_array_equal(X.data, before[0])
    assert_array_equal(X.indices, before[1])


def test_stored_zeros_are_zeros():
    indices, starts = np.array([0, 1, 1]), np.array([0, 2, 3])
    X = sparse.csr_matrix((np.array([0.0, 3.0, 3.0]), indices, starts), (2, 2))
    assert X.has_canonical_format
    assert_array_equal(canonical_rows(X).X.toarray(), [[0.0, 3.0]])


def test_a_target_of_minus_zero_is_zero():
    rows = canonical_rows([[1.0], [1.0]], [-0.0, 0.0])
    assert rows.y.tobytes() == np.zeros(1).tobytes()


def test_canonical_rows_of_sparse_rows_that_begin_alike():
    rng = np.random.default_rng(0)
    X = rng.integers(-1, 2, (2000, 7)).astype(float) * (rng.random((2000, 7)) < 0.4)
    one, other = canonical_rows(X), canonical_rows(sparse.csr_array(X))
    assert_array_equal(one.X, np.unique(X, axis=0))
    assert_array_equal(other.X.toarray(), one.X)
    assert_array_equal(other.inverse, one.inverse)


def test_canonical_rows_without_columns_are_one_row():
    rows = canonical_rows(np.empty((3, 0)), sample_weight=2.0)
    assert rows.X.shape == (1, 0)
    assert_array_equal(rows.costs, [6.0])


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"sample_weight": [0, 0]}, "sample_weight leaves no row"),
        ({"sample_weight": [1, -1]}, "sample_weight must not be negative"),
        ({"sample_weight": [1, np.nan]}, "sample_weight contains NaN"),
        ({"sample_weight": [1, 1, 1]}, r"sample_weight must have shape \(2,\)"),
        ({"X": [[np.nan], [1]]}, "X contains NaN"),
        ({"X": sparse.csr_matrix([[np.inf], [1]])}, "X contains NaN"),
        ({"X": [1.0, 2.0]}, "X must be two-dimensional"),
        ({"y": [1, 2, 3]}, r"y must have shape \(2,\)"),
        ({"y": ["a", "b"]}, "y must hold numbers"),
        ({"y": [np.nan, 0]}, "y contains NaN"),
    ],
)
def test_canonical_rows_say_what_is_wrong(changes, message):
    arguments = {"X": [[0.0], [1.0]], "y": [0, 1], "sample_weight": [1.0, 1.0]} | changes
    with pytest.raises(ValueError, match=message):
        canonical_rows(**arguments)


# --- the whitened map ----------------------------------------------------------------------------

KERNELS = [
    Gaussian(0.7),
    Matern32(1.0),
    Polynomial(gamma=0.5, coef0=1.0, degree=3),
    Linear(),
    Linear() + 2.0 * Gaussian(1.0),
]


@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
@pytest.mark.parametrize("form", FORMATS)
def test_inner_products_of_features_are_equation_40(kernel, form):
    rng = np.random.default_rng(0)
    X, Z = rng.normal(size=(30, 4)), rng.normal(size=(8, 4))
    space = WhitenedMap.from_vectors(kernel, Z)
    psi, gram = kernel(X, Z), kernel(Z, Z)
    features = space.features(FORMATS[form](X))
    assert features.shape == (30, space.rank)
    assert space.rank == np.linalg.matrix_rank(gram)
    # 1e-9: the condition of these Gram matrices, up to 1e5, times 1e-14
    assert_allclose(features @ features.T, psi @ np.linalg.pinv(gram) @ psi.T, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
@pytest.mark.parametrize("outputs", [(), (3,)])
def test_weights_and_coefficients_are_the_same_machine(kernel, outputs):
    rng = np.random.default_rng(1)
    X, Z = rng.normal(size=(20, 3)), rng.normal(size=(7, 3))
    for space in (WhitenedMap.from_vectors(kernel, Z), EmpiricalMap.from_vectors(kernel, Z)):
        w = rng.normal(size=(space.rank, *outputs))
        beta = space.coefficients(w)
        assert beta.shape == (7, *outputs)
        assert_allclose(space.features(X) @ w, kernel(X, Z) @ beta, rtol=1e-9, atol=1e-9)
        assert_allclose(space.weights(beta), w, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
def test_norm_of_weights_is_that_of_the_function(kernel):
    rng = np.random.default_rng(2)
    Z = rng.normal(size=(9, 3))
    space = WhitenedMap.from_vectors(kernel, Z)
    w = rng.normal(size=space.rank)
    beta = space.coefficients(w)
    assert_allclose(beta @ kernel(Z, Z) @ beta, w @ w, rtol=1e-9)


def test_whitened_features_of_all_rows_give_the_gram_matrix_back():
    X = np.random.default_rng(3).normal(size=(12, 3))
    features = WhitenedMap.from_vectors(Gaussian(0.5), X).features(X)
    assert_allclose(features @ features.T, Gaussian(0.5)(X, X), atol=1e-11)


def test_duplicate_vectors_lower_the_rank_and_change_no_feature_space():
    rng = np.random.default_rng(4)
    X, Z = rng.normal(size=(20, 2)), rng.normal(size=(5, 2))
    once = WhitenedMap.from_vectors(Gaussian(1.0), Z)
    twice = WhitenedMap.from_vectors(Gaussian(1.0), np.vstack([Z, Z[:3], Z[:1]]))
    assert (once.rank, twice.rank) == (5, 5)
    gram_once, gram_twice = (s.features(X) @ s.features(X).T for s in (once, twice))
    assert_allclose(gram_twice, gram_once, rtol=1e-9, atol=1e-12)
    beta = twice.coefficients(np.ones(5))
    assert np.isfinite(beta).all()
    # the weight is shared out between equal vectors, not blown up
    assert_allclose(beta[5:8], beta[:3], rtol=1e-9)
    assert np.abs(beta).max() <= np.abs(once.coefficients(np.ones(5))).max() * 5


def spread_for_condition(target: float) -> tuple[Gaussian, np.ndarray, float]:
    """Nine points on a line so close together that cond(K^z) is about `target`."""
    for step in np.geomspace(1.0, 1e-3, 400):
        Z = step * np.arange(9.0)[:, None]
        condition = np.linalg.cond(Gaussian(1.0)(Z, Z))
        if condition >= target:
            return Gaussian(1.0), Z, condition
    raise AssertionError("no such points")


@pytest.mark.parametrize("condition", [1e5, 1e10, 1e13, 1e15])
def test_ill_conditioned_vectors(condition):
    kernel, Z, _ = spread_for_condition(condition)
    gram = kernel(Z, Z)
    space = WhitenedMap.from_vectors(kernel, Z)
    kept = np.linalg.eigvalsh(gram)[::-1][: space.rank]
    assert kept[-1] > 0.5 * relative_rank_tolerance(9) * kept[0]
    # rounding errors of the weakest direction kept, relative to its eigenvalue
    error = 9 * np.finfo(float).eps * kept[0] / kept[-1]
    basis = space.transform @ gram @ space.transform.T
    assert_allclose(basis, np.eye(space.rank), atol=5 * error)
    beta = space.coefficients(np.ones(space.rank))
    assert_allclose(beta @ gram @ beta, space.rank, rtol=5 * error * space.rank)
    # what the dropped directions hold of k(z_j, .) is no more than their eigenvalues
    lengths = (space.features(Z) ** 2).sum(axis=1)
    assert_allclose(lengths, 1.0, atol=9 * relative_rank_tolerance(9) * kept[0] + 5 * error)
    # a projection does not lengthen: ||phi_z(x)||^2 <= k(x, x)
    between = np.linspace(Z.min() - 1, Z.max() + 1, 101)[:, None]
    assert (space.features(between) ** 2).sum(axis=1).max() <= 1.0 + 1e-3


def test_rank_is_held_fixed_when_given():
    kernel, Z, _ = spread_for_condition(1e10)
    assert WhitenedMap.from_vectors(kernel, Z).rank == 9
    leading = WhitenedMap.from_vectors(kernel, Z, rank=4)
    assert leading.rank == 4
    values = np.linalg.eigvalsh(kernel(Z, Z))[::-1]
    assert_allclose((leading.features(Z) ** 2).sum(), values[:4].sum(), rtol=1e-9)
    closer = 0.3 * Z
    free = WhitenedMap.from_vectors(kernel, closer).rank
    assert free < 9
    assert WhitenedMap.from_vectors(kernel, closer, rank=free + 1).rank == free + 1


def test_rank_that_is_not_there_is_refused():
    Z = np.array([[0.0], [1.0], [1.0]])
    with pytest.raises(np.linalg.LinAlgError, match="rank=3 was asked for"):
        WhitenedMap.from_vectors(Gaussian(1.0), Z, rank=3)
    with pytest.raises(ValueError, match="rank must be between 0 and the 3 vectors"):
        WhitenedMap.from_vectors(Gaussian(1.0), Z, rank=4)


def test_short_vectors_are_not_lost_beside_long_ones():
    # k(z, z) = ||z||^14 spans 1e-28 ... 1e28
    Z = np.diag([1e-2, 1.0, 1e2]) + 0.0
    kernel = Polynomial(gamma=1.0, coef0=0.0, degree=7)
    space = WhitenedMap.from_vectors(kernel, Z)
    assert space.rank == 3
    features = space.features(Z)
    assert_allclose(features @ features.T, kernel(Z, Z), rtol=1e-12)


def test_zero_functions_have_no_coordinates():
    space = WhitenedMap.from_vectors(Linear(), np.array([[0.0, 0.0], [3.0, 0.0]]))
    assert space.rank == 1
    assert_array_equal(np.abs(space.coefficients([2.0])), [0.0, 2.0 / 3.0])
    nothing = WhitenedMap.from_vectors(Linear(), np.zeros((2, 2)))
    assert nothing.rank == 0
    assert nothing.features(np.ones((4, 2))).shape == (4, 0)
    assert_array_equal(nothing.coefficients(np.zeros(0)), [0.0, 0.0])


def test_negative_directions_of_an_indefinite_kernel_are_dropped():
    rng = np.random.default_rng(5)
    Z = rng.normal(size=(6, 2))
    kernel = Sigmoid(gamma=1.0, coef0=0.5)
    values = np.linalg.eigvalsh(kernel(Z, Z))
    assert values[0] < -0.01
    space = WhitenedMap.from_vectors(kernel, Z)
    assert space.rank == np.sum(values > 1e-12 * values[-1])
    w = rng.normal(size=space.rank)
    beta = space.coefficients(w)
    assert_allclose(beta @ kernel(Z, Z) @ beta, w @ w, rtol=1e-9)


def test_kernel_without_positive_direction_is_named():
    with pytest.raises(ValueError, match=r"Sigmoid.*no positive direction"):
        WhitenedMap.from_vectors(Sigmoid(gamma=1.0, coef0=-50.0), np.ones((1, 2)))


def test_single_precision_rows_have_double_precision_coordinates():
    rng = np.random.default_rng(6)
    Z = rng.normal(size=(10, 2)).astype(np.float32)
    X = rng.normal(size=(30, 2)).astype(np.float32)
    space = WhitenedMap.from_vectors(Gaussian(0.3), Z)
    reference = WhitenedMap.from_vectors(Gaussian(0.3), Z.astype(float)).features(X.astype(float))
    assert space.features(X).dtype == np.float64
    assert_allclose(space.features(X), reference, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("space", [WhitenedMap, EmpiricalMap])
@pytest.mark.parametrize(
    ("vectors", "message"),
    [([1.0, 2.0], "shape"), (np.empty((0, 2)), "shape"), ([[np.nan]], "NaN")],
)
def test_vectors_are_checked(space, vectors, message):
    with pytest.raises(ValueError, match=message):
        space.from_vectors(Gaussian(1.0), vectors)


def test_values_that_overflow_are_reported():
    with pytest.raises(ValueError, match="not finite on the vectors"), np.errstate(over="ignore"):
        WhitenedMap.from_vectors(Polynomial(gamma=1.0, coef0=0.0, degree=9), [[1e40], [1.0]])


# --- seeding -------------------------------------------------------------------------------------


@pytest.fixture
def clouds():
    rng = np.random.default_rng(7)
    return np.vstack([rng.normal(size=(40, 3)) + 6 * shift for shift in np.eye(3)])


@pytest.mark.parametrize("method", SEEDERS)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_seeds_are_distinct_dense_vectors(method, dtype, clouds):
    Z = seed_vectors(clouds.astype(dtype), 8, method, Gaussian(0.2), random_state=0)
    assert Z.shape == (8, 3)
    assert Z.dtype == dtype
    assert isinstance(Z, np.ndarray)
    assert len(np.unique(Z, axis=0)) == 8


@pytest.mark.parametrize("method", SEEDERS)
def test_seeds_do_not_see_order_repetition_or_format(method, clouds):
    weights = np.random.default_rng(8).integers(0, 4, len(clouds))
    index = np.random.default_rng(9).permutation(np.repeat(np.arange(len(clouds)), weights))

    def seeds(X, sample_weight=None):
        return seed_vectors(X, 6, method, Gaussian(0.2), 0, sample_weight)

    reference = seeds(clouds, weights)
    assert seeds(clouds, weights).tobytes() == reference.tobytes()
    assert seeds(clouds[index]).tobytes() == reference.tobytes()
    # scikit-learn's k-means sums sparse rows in another order than dense ones
    assert_allclose(seeds(sparse.csr_matrix(clouds), weights), reference, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("method", SEEDERS)
def test_fewer_distinct_rows_than_vectors_warn(method):
    X = np.array([[0.0, 1.0], [0.0, 1.0], [2.0, 0.0], [-0.0, 1.0], [5.0, 5.0]])
    with pytest.warns(UserWarning, match=r"n_vectors=4 was asked for, 2 are used.*2 distinct rows"):
        Z = seed_vectors(X, 4, method, Gaussian(1.0), 0, sample_weight=[1, 1, 1, 1, 0])
    assert_array_equal(np.sort(Z, axis=0), [[0.0, 0.0], [2.0, 1.0]])


@pytest.mark.parametrize("method", SEEDERS)
def test_as_many_distinct_rows_as_vectors_do_not_warn(method):
    X = np.array([[0.0], [1.0], [3.0]])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        Z = seed_vectors(X, 3, method, Gaussian(1.0), 0)
    assert_array_equal(np.sort(Z, axis=0), X)


@pytest.mark.parametrize("method", ["random", "greedy", "sgma"])
def test_seeds_are_rows(method, clouds):
    Z = seed_vectors(clouds, 5, method, Gaussian(0.2), random_state=3)
    assert (Z[:, None] == clouds).all(axis=2).any(axis=1).all()


def test_random_seeds_are_drawn_by_weight():
    X = np.arange(4.0)[:, None]
    counts = np.zeros(4)
    for seed in range(400):
        counts[int(seed_vectors(X, 1, "random", None, seed, [1, 2, 5, 0])[0, 0])] += 1
    # three standard deviations of a binomial of 400 draws are below 0.075
    assert_allclose(counts / 400, np.array([1, 2, 5, 0]) / 8, atol=0.075)


def test_kmeans_seeds_have_less_distortion_than_rows(clouds):
    def distortion(method):
        Z = seed_vectors(clouds, 3, method, random_state=0)
        return ((clouds[:, None] - Z) ** 2).sum(axis=2).min(axis=1).sum()

    assert distortion("kmeans") < 0.6 * distortion("random")


def test_kmeans_seeds_are_weighted_means():
    X = np.array([[0.0], [1.0], [10.0], [12.0]])
    Z = seed_vectors(X, 2, "kmeans", random_state=0, sample_weight=[1.0, 3.0, 1.0, 1.0])
    assert_allclose(np.sort(Z, axis=0), [[0.75], [11.0]], rtol=1e-12)


def test_kmeans_centres_that_coincide_are_reported_by_our_name():
    X = np.array([[0.0], [1e-200], [2e-200], [1.0]])  # their squared distances underflow
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        Z = seed_vectors(X, 3, "kmeans", random_state=0)
    assert len(Z) == 2
    assert [warning.category for warning in caught] == [UserWarning]
    assert "n_vectors=3 was asked for, 2 are used" in str(caught[0].message)


def test_kmeans_runs_on_one_thread(clouds, monkeypatch):
    # threads add up in the order they come, which changes the last digits
    threads = []
    fit = KMeans.fit

    def watched(self, X, **other):
        threads.extend(library["num_threads"] for library in threadpool_info())
        return fit(self, X, **other)

    monkeypatch.setattr(KMeans, "fit", watched)
    with threadpool_limits(2):
        seed_vectors(clouds, 3, "kmeans", random_state=0)
    assert set(threads) == {1}


def test_kmeans_of_many_rows_takes_a_sample(clouds, monkeypatch):
    monkeypatch.setattr(seeding, "KMEANS_LEAST_SAMPLE", 0)
    monkeypatch.setattr(seeding, "KMEANS_ROWS_PER_VECTOR", 20)
    sizes = []
    fit = KMeans.fit
    monkeypatch.setattr(
        KMeans, "fit", lambda self, X, **other: sizes.append(X.shape) or fit(self, X, **other)
    )
    Z = seed_vectors(clouds, 3, "kmeans", random_state=0)
    assert sizes == [(60, 3)]
    centres = clouds.reshape(3, 40, 3).mean(axis=1)
    # the centre of 20 of 40 rows of unit variance
    assert ((centres[:, None] - Z) ** 2).sum(axis=2).min(axis=1).max() < 0.5


def schur_complement(K, chosen):
    """What is left of K after projection onto the chosen columns, by the definition."""
    block = K[np.ix_(chosen, chosen)]
    return K - K[:, chosen] @ np.linalg.solve(block, K[chosen]) if chosen else K


def test_greedy_rows_are_the_pivots():
    X = np.random.default_rng(10).normal(size=(25, 2))
    kernel = Polynomial(gamma=1.0, coef0=1.0, degree=3)
    chosen = pivoted_cholesky(kernel, X, 6)
    expected: list[int] = []
    for _ in range(6):
        expected.append(int(np.argmax(np.diagonal(schur_complement(kernel(X, X), expected)))))
    assert_array_equal(chosen, expected)


def test_sparse_greedy_rows_lower_the_approximation_error_most():
    rng = np.random.default_rng(11)
    X, costs = rng.normal(size=(25, 2)), rng.uniform(0.1, 3.0, 25)
    K = Gaussian(0.5)(X, X)
    state = np.random.RandomState(0)
    chosen = sparse_greedy_approximation(Gaussian(0.5), X, costs, 6, state, n_candidates=25)
    expected: list[int] = []
    for _ in range(6):
        errors = {
            row: float(costs @ np.diagonal(schur_complement(K, [*expected, row])))
            for row in range(25)
            if row not in expected
        }
        expected.append(min(errors, key=errors.__getitem__))
    assert_array_equal(chosen, expected)


def test_sparse_greedy_beats_random_rows(clouds):
    def error(method):
        Z = seed_vectors(clouds, 10, method, Gaussian(0.1), random_state=1)
        features = WhitenedMap.from_vectors(Gaussian(0.1), Z).features(clouds)
        return len(clouds) - (features**2).sum()

    assert error("sgma") < 0.8 * error("random")


@pytest.mark.parametrize("method", ["greedy", "sgma"])
@pytest.mark.parametrize("form", FORMATS)
def test_greedy_choices_stop_at_the_rank_of_the_kernel(method, form):
    X = np.random.default_rng(12).normal(size=(30, 2))
    with pytest.warns(UserWarning, match="n_vectors=5 was asked for, 2 are used"):
        Z = seed_vectors(FORMATS[form](X), 5, method, Linear(), 0)
    assert np.linalg.matrix_rank(Z) == 2
    with pytest.warns(UserWarning, match="n_vectors=2 was asked for, 1 are used"):
        assert_array_equal(seed_vectors(np.zeros((3, 2)), 2, method, Linear(), 0), [[0.0, 0.0]])


@pytest.mark.parametrize("method", ["greedy", "sgma"])
def test_greedy_choices_need_a_positive_definite_kernel(method):
    X = np.random.default_rng(13).normal(size=(9, 2))
    with pytest.raises(ValueError, match=r"Sigmoid.*negative"):
        seed_vectors(X, 3, method, Sigmoid(gamma=1.0, coef0=-3.0))
    with pytest.raises(ValueError, match=f"'{method}' compares kernel functions"):
        seed_vectors(X, 3, method)


@pytest.mark.parametrize("n_vectors", [None, 2])
@pytest.mark.parametrize("form", FORMATS)
def test_given_vectors_are_copied(n_vectors, form):
    given_vectors = np.array([[1.0, 2.0], [1.0, 2.0]])
    Z = seed_vectors(np.zeros((3, 2), dtype=np.float32), n_vectors, FORMATS[form](given_vectors))
    assert_array_equal(Z, given_vectors)
    assert Z.dtype == np.float32
    assert not np.shares_memory(Z, given_vectors)


@pytest.mark.parametrize(
    ("n_vectors", "method", "message"),
    [
        (3, "kmean", "'greedy', 'kmeans', 'random', 'sgma', or an array; got 'kmean'"),
        (0, "random", "n_vectors must be at least 1, got 0"),
        (None, "random", "n_vectors must be at least 1, got None"),
        (3, [[1.0, 2.0]], "n_vectors=3, but 1 vectors are given"),
        (1, [[1.0]], r"must have shape \(n_vectors, 2\)"),
        (1, [1.0, 2.0], r"must have shape \(n_vectors, 2\)"),
        (1, [[1.0, np.inf]], "NaN or infinity"),
    ],
)
def test_seeding_says_what_is_wrong(n_vectors, method, message):
    with pytest.raises(ValueError, match=message):
        seed_vectors(np.eye(2), n_vectors, method)
