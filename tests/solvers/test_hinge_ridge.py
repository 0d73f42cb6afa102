"""The soft-margin SVM: LIBSVM and Clarabel as oracles, the gradient it feeds, and hard input."""

from __future__ import annotations

import importlib
import sys
from functools import partial

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.svm import SVC

from benchmarks.speed import __main__ as speed_table
from benchmarks.speed import hinge_ridge as speed
from kernelet.kernels import Gaussian
from kernelet.solvers import Solution, Status, hinge_ridge, hinge_ridge_many
from kernelet.solvers.bias import hinge_bias
from kernelet.solvers.hinge import rounds as hinge_ridge_rounds
from kernelet.solvers.hinge.working_set import Subproblem
from kernelet.solvers.interior_point.complementarity import Pair
from kernelet.solvers.interior_point.newton import NewtonSystem
from kernelet.solvers.interior_point.primal_dual import Limits, _iterate
from kernelet.solvers.parallel import map_in_threads
from kernelet.solvers.rows import as_rows
from kernelet.subspace import WhitenedMap
from random_examples import examples
from references import bias_interval, hinge_losses, kernel_pullback, svm_by_clarabel

# the function of the same name hides the module
MODULE = importlib.import_module("kernelet.solvers.hinge.ridge")
TINY = float(np.finfo(np.float64).tiny)


def noisy(n=100, m=6, noise=1.0, seed=0):
    rng = np.random.default_rng(seed)
    Phi = rng.normal(size=(n, m))
    return Phi, np.where(Phi @ rng.normal(size=m) + noise * rng.normal(size=n) > 0.2, 1.0, -1.0)


def kernel_features(n=200, m=25, gamma=1.0, noise=0.3, seed=0):
    """Whitened features of a Gaussian kernel, and labels that need a curved boundary."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 2))
    y = np.where(np.sin(3 * X[:, 0]) + 0.7 * X[:, 1] + noise * rng.normal(size=n) > 0, 1.0, -1.0)
    return WhitenedMap.from_vectors(Gaussian(gamma), X[:m]).features(X), y


def clusters(n=5000, m=30, seed=0):
    """Ten classes of which few rows are near a boundary, by kernel features."""
    rng = np.random.default_rng(seed)
    label = rng.integers(0, 10, n)
    X = rng.normal(size=(10, 8))[label] + 0.5 * rng.normal(size=(n, 8))
    return WhitenedMap.from_vectors(Gaussian(1 / 16), X[:m]).features(X), label


def values(Phi, y, C, solution):
    """Both values, from nothing but the answer."""
    h = hinge_losses(Phi, y, solution.weights, solution.intercept)
    q = Phi.T @ (y * solution.multipliers)
    primal = 0.5 * solution.weights @ solution.weights + np.sum(C * h)
    return primal, solution.multipliers.sum() - 0.5 * q @ q


# ------------------------------------------------------------------------------------- oracles


@pytest.mark.parametrize("C", [0.01, 1.0, 100.0])
@pytest.mark.parametrize("noise", [0.0, 1.0, 20.0], ids=["separable", "overlapping", "hopeless"])
def test_agrees_with_libsvm(noise, C):
    Phi, y = noisy(noise=noise)
    costs = C * np.random.default_rng(1).uniform(0.5, 2.0, y.size)
    solution = hinge_ridge(Phi, y, costs, tol=1e-10)
    ours = Phi @ solution.weights + solution.intercept
    for kernel, X in (("linear", Phi), ("precomputed", Phi @ Phi.T)):
        svc = SVC(kernel=kernel, C=1.0, tol=1e-8).fit(X, y, sample_weight=costs)
        theirs = np.zeros(y.size)
        theirs[svc.support_] = np.abs(svc.dual_coef_[0])
        w = Phi.T @ (y * theirs)
        value = 0.5 * w @ w + np.sum(costs * hinge_losses(Phi, y, w, svc.intercept_[0]))
        # LIBSVM holds kernel values in single precision
        assert solution.primal_value <= value * (1.0 + 1e-10)
        assert_allclose(solution.primal_value, value, rtol=1e-4)
        assert_allclose(ours, svc.decision_function(X), atol=1e-3)


@pytest.mark.parametrize("C", [1e-3, 1.0, 316.0, 1e4])
def test_agrees_with_clarabel(C):
    for Phi, y in (noisy(), noisy(noise=0.0), kernel_features(), noisy(n=12, m=30)):
        value, weights = svm_by_clarabel(Phi, y, C)
        solution = hinge_ridge(Phi, y, C, tol=1e-10)
        assert_allclose(solution.primal_value, value, rtol=1e-7)
        assert_allclose(solution.weights, weights, atol=1e-5 * np.abs(weights).max())


# ------------------------------------------------------------------ the tolerance, whatever comes


def hard_problems():
    Phi, y = noisy(m=20, noise=0.3)
    rng = np.random.default_rng(5)
    y_random = rng.permutation(y)
    inputs = rng.integers(0, 2, size=(150, 3)).astype(float)
    survived = np.where(rng.random(150) < 0.2 + 0.5 * inputs[:, 0], 1.0, -1.0)
    curved, y_curved = kernel_features()
    yield "nearly separable", Phi, y, 1.0
    yield "hopeless", Phi, y_random, 1.0
    yield "few distinct inputs", inputs, survived, 1.0
    yield "kernel features", curved, y_curved, 1.0
    yield "duplicates that disagree", Phi[np.arange(100) % 20], y_random, 1.0
    yield "rank three", Phi[:, :3] @ rng.normal(size=(3, 12)), y, 1.0
    yield "costs over nine orders", Phi, y, 10.0 ** rng.uniform(-6, 3, 100)
    yield "columns over eight orders", Phi * 10.0 ** rng.uniform(-4, 4, 20), y, 1.0
    yield "one row in a class", Phi, np.where(np.arange(100) == 3, 1.0, -1.0), 1.0
    yield "one column", Phi[:, :1], y, 1.0
    yield "fewer rows than columns", Phi[:8], np.sign(np.arange(8) - 2.5), 1.0
    yield "two rows", Phi[:2], np.array([1.0, -1.0]), 1.0
    yield "tiny features", 1e-6 * Phi, y, 1.0
    yield "huge features", 1e6 * Phi, y, 1.0
    yield "no features to speak of", np.zeros((20, 2)), np.sign(np.arange(20) - 4.5), 1.0
    yield "far from the origin", Phi + 1e4 * rng.normal(size=20), y, 1.0


HARD = {label: rest for label, *rest in hard_problems()}


@pytest.mark.parametrize("label", HARD)
def test_every_cost_from_1e_minus_6_to_1e9(label):
    Phi, y, shape = HARD[label]
    for C in 10.0 ** np.arange(-6, 10):
        for tol in (1e-6, 1e-11 if C < 1e5 else 1e-9):
            solution = hinge_ridge(Phi, y, C * shape, tol=tol)
            assert solution.is_optimal, (C, tol, solution.gap)
            assert solution.gap <= tol
            primal, dual = values(Phi, y, C * shape, solution)
            # a margin has an error of about 1e-16 times its terms, whose sizes are these
            terms = np.abs(Phi) @ np.abs(solution.weights) + abs(solution.intercept) + 1.0
            noise = 1e-14 * (C * np.max(shape) * terms.max() + solution.multipliers @ terms)
            assert_allclose(solution.primal_value, primal, rtol=1e-9, atol=noise)
            assert_allclose(solution.dual_value, dual, rtol=1e-9, atol=noise)
            # the gap is relative to the value, however small that is
            assert primal - dual <= tol * primal + 2.0 * noise


@examples(150)
@given(
    seed=st.integers(0, 2**32 - 1),
    n=st.integers(2, 60),
    m=st.integers(1, 12),
    log_cost=st.floats(-6, 9),
    spread=st.sampled_from([0.0, 0.0, 6.0]),
    n_distinct=st.sampled_from([3, 1000]),
)
def test_ugly_problems_reach_the_tolerance(seed, n, m, log_cost, spread, n_distinct):
    rng = np.random.default_rng(seed)
    Phi = rng.normal(size=(n, m))[rng.integers(0, n_distinct, n) % n]
    y = np.where(rng.random(n) < 0.5, 1.0, -1.0)
    C = 10.0 ** (log_cost + spread * (rng.random(n) - 0.5))
    solution = hinge_ridge(Phi, y, C, tol=1e-6)
    assert solution.is_optimal
    primal, dual = values(Phi, y, C, solution)
    assert primal - dual <= 2e-6 * primal


def test_directions_do_not_circle():
    # Mehrotra's predictor-corrector alone goes round in a circle at a gap of a quarter here
    Phi = np.array([[1.3, 0.3], [-1.7, -1.4], [1.8, -0.5], [0.6, -1.0]])
    y = np.array([1.0, -1.0, 1.0, -1.0])
    solution = hinge_ridge(Phi, y, 100.0, tol=1e-10)
    assert solution.is_optimal
    assert solution.n_iter <= 40


def test_ends_with_what_double_precision_allows():
    Phi, y = kernel_features(m=60, gamma=0.3)
    solution = hinge_ridge(Phi, y, 1e9, tol=1e-15)
    assert solution.status is Status.NUMERICAL_LIMIT
    assert solution.gap <= 1e-6
    assert "scale the features" in solution.status.value


def test_costs_without_measure_on_ill_conditioned_features():
    # 100 vectors, |w| of 1e5: where Cholesky's directions are wrong at a gap of 1e-6
    Phi, y = kernel_features(n=400, m=100)
    assert hinge_ridge(Phi, y, 1e9, tol=1e-8).is_optimal


def test_iteration_limit():
    Phi, y = noisy()
    solution = hinge_ridge(Phi, y, 10.0, tol=1e-8, max_iter=3)
    assert solution.status is Status.ITERATION_LIMIT
    assert not solution.is_optimal
    assert solution.n_iter == 3
    assert solution.dual_value < hinge_ridge(Phi, y, 10.0).primal_value < solution.primal_value


def test_one_class():
    Phi, _ = noisy()
    for label in (-1.0, 1.0):
        solution = hinge_ridge(Phi, np.full(100, label), 5.0)
        assert_array_equal(solution.weights, 0.0)
        assert solution.intercept == label
        assert_array_equal(solution.multipliers, 0.0)
        assert solution.primal_value == solution.dual_value == solution.gap == 0.0
        # a start that puts all of them inside the margin does not mislead it
        start = Solution.guess(np.zeros(6), -5.0 * label)
        assert hinge_ridge(Phi, np.full(100, label), 5.0, warm_start=start).primal_value == 0.0


# ------------------------------------------------------------------------------------ the bias


@pytest.mark.parametrize("C", [1e-5, 1e-4, 1e-3])
def test_bias_is_the_midpoint_where_no_multiplier_is_free(C):
    # equal classes and small costs: every multiplier is at its cost
    rng = np.random.default_rng(3)
    Phi = np.concatenate([rng.normal(size=(20, 3)) + 1.0, rng.normal(size=(20, 3)) - 1.0])
    y = np.repeat([1.0, -1.0], 20)
    solution = hinge_ridge(Phi, y, C, tol=1e-12)
    assert_allclose(solution.multipliers, C, rtol=1e-6)
    low, high = bias_interval(Phi @ solution.weights, y, np.zeros(40))
    assert high - low > 0.1
    assert_allclose(solution.intercept, 0.5 * (low + high), rtol=1e-7)


def brute_force_bias(scores, y, u, linear):
    kinks = np.sort(y - scores)

    def value(b):
        return np.sum(u * np.maximum(0.0, 1.0 - y * (scores + b))) - linear * b

    least = min(value(b) for b in kinks)
    minimisers = [b for b in kinks if value(b) <= least + 1e-9 * max(1.0, abs(least))]
    return 0.5 * (minimisers[0] + minimisers[-1])


@examples(150)
@given(seed=st.integers(0, 2**32 - 1), n=st.integers(2, 12), steps=st.sampled_from([1, 4, 100]))
def test_bias_against_all_kinks(seed, n, steps):
    rng = np.random.default_rng(seed)
    scores = rng.integers(-3 * steps, 3 * steps + 1, n) / steps
    y = np.where(rng.random(n) < 0.5, 1.0, -1.0)
    y[:2] = (1.0, -1.0)
    u = rng.integers(1, 4, n).astype(float)
    linear = float(rng.integers(-1, 2)) * 0.5
    assert_allclose(
        hinge_bias(scores, y, u, linear), brute_force_bias(scores, y, u, linear), atol=1e-12
    )


def test_bias_of_one_class_is_the_finite_end():
    scores = np.array([0.5, -1.0])
    assert hinge_bias(scores, np.ones(2), np.ones(2)) == 2.0
    assert hinge_bias(scores, -np.ones(2), np.ones(2)) == -1.5
    with pytest.raises(ValueError, match="unbounded"):
        hinge_bias(scores, np.ones(2), np.ones(2), linear=1.0)


# ------------------------------------------------------------------- many, and working sets


def test_many_is_one_by_one():
    Phi, label = clusters(n=400, m=15)
    Y = np.where(label[:, None] == np.arange(4), 1.0, -1.0)
    costs = np.random.default_rng(0).uniform(0.5, 2.0, Y.shape)
    for C in (3.0, costs[:, 0], costs):
        one_by_one = [
            hinge_ridge(Phi, Y[:, j], C[:, j] if np.ndim(C) == 2 else C, tol=1e-9) for j in range(4)
        ]
        for n_jobs in (1, 2, -1):
            together = hinge_ridge_many(Phi, Y, C, tol=1e-9, n_jobs=n_jobs)
            for many, one in zip(together, one_by_one, strict=True):
                assert_allclose(many.weights, one.weights, rtol=1e-12, atol=1e-14)
                assert_allclose(many.multipliers, one.multipliers, rtol=1e-12, atol=1e-14)
                assert_allclose(many.intercept, one.intercept, rtol=1e-12)
    warm = hinge_ridge_many(Phi, Y, 3.0, tol=1e-9, warm_start=hinge_ridge_many(Phi, Y, 2.0))
    for solution, cold in zip(warm, hinge_ridge_many(Phi, Y, 3.0, tol=1e-9), strict=True):
        assert_allclose(solution.primal_value, cold.primal_value, rtol=2e-9)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"Y": np.ones(3)}, "Y must have a column for each problem"),
        ({"C": np.ones((3, 5))}, "C must have shape"),
        ({"warm_start": []}, "warm_start must hold one Solution for each of the 2 columns"),
        ({"warm_start": [Solution.guess(np.ones(4), 0.0)] * 2}, "warm_start has 4 weights"),
    ],
)
def test_many_names_bad_input(options, message):
    with pytest.raises(ValueError, match=message):
        hinge_ridge_many(**{"Phi": np.eye(3), "Y": np.array([[1, -1], [-1, 1], [1, 1]]), **options})


def all_rows_at_once(Phi, y, C, tol):
    n, m = Phi.shape
    problem = Subproblem(Phi, y, np.full(n, C), np.zeros(m + 1), unit=TINY)
    return MODULE.solve_subproblem(problem, tol, max_iter=200)


@pytest.mark.parametrize("C", [1e-3, 1.0, 1e3])
def test_working_sets_prove_the_value_of_all_rows(C):
    Phi, label = clusters()
    y = np.where(label == 0, 1.0, -1.0)
    solution = hinge_ridge(Phi, y, C, tol=1e-9)
    reference = all_rows_at_once(Phi, y, C, 1e-9)
    assert solution.gap <= 1e-9
    assert_allclose(solution.primal_value, reference.primal_value, rtol=2e-9)
    assert_allclose(solution.primal_value, values(Phi, y, C, solution)[0], rtol=1e-11)
    assert_allclose(solution.dual_value, values(Phi, y, C, solution)[1], rtol=1e-11)
    if C >= 1.0:
        assert solution.working_set.size < y.size / 3
    inside = np.setdiff1d(np.flatnonzero(solution.multipliers > 0), solution.working_set)
    assert_array_equal(solution.multipliers[inside], C)


@pytest.mark.parametrize("C", [1e-3, 1.0, 1e4])
def test_a_wrong_start_is_no_obstacle_on_many_rows(C):
    Phi, label = clusters(n=3000, m=40)
    y = np.where(label < 3, 1.0, -1.0)
    cold = hinge_ridge(Phi, y, C, tol=1e-8)
    rng = np.random.default_rng(0)
    starts = [
        Solution.guess(-cold.weights, -cold.intercept),
        Solution.guess(np.zeros(Phi.shape[1]), 0.0),
        Solution.guess(1e4 * rng.normal(size=Phi.shape[1]), 1e6),
        hinge_ridge(Phi, y, 1e3 / C),
    ]
    for start in starts:
        warm = hinge_ridge(Phi, y, C, tol=1e-8, warm_start=start)
        assert warm.gap <= 1e-8
        assert_allclose(warm.primal_value, cold.primal_value, rtol=2e-8)


def test_a_near_start_needs_few_rows_and_one_round():
    Phi, label = clusters()
    Y = np.where(label[:, None] == np.arange(10), 1.0, -1.0)
    before = hinge_ridge_many(Phi, Y, 10.0, tol=1e-6)
    moved = Phi * (1.0 + 0.01 * np.random.default_rng(0).normal(size=Phi.shape))
    after = hinge_ridge_many(moved, Y, 10.0, tol=1e-6, warm_start=before)
    assert max(solution.gap for solution in after) <= 1e-6
    assert np.mean([solution.n_rounds for solution in after]) <= 2.0
    assert max(solution.working_set.size for solution in after) < 0.2 * label.size


def test_map_in_threads_keeps_the_order():
    items = list(range(7))
    for n_jobs in (1, 2, -1):
        assert map_in_threads(lambda i: i * i, items, n_jobs) == [i * i for i in items]


@pytest.mark.parametrize("is_compiled", [False, True])
def test_small_problems_share_the_interpreter_only_where_they_are_compiled(
    is_compiled, monkeypatch
):
    """Threads take turns in NumPy's calls, and lose more by that than they win."""
    asked = []

    def recorded(function, items, n_jobs):
        asked.append(n_jobs)
        return [function(item) for item in items]

    monkeypatch.setattr(hinge_ridge_rounds, "map_in_threads", recorded)
    monkeypatch.setattr(hinge_ridge_rounds, "_WORTH_THREADS", 1000 * 31**2)
    for n, worth in ((999, is_compiled), (1001, True)):
        Phi, label = clusters(n=n)
        hinge_ridge_rounds.solve_on_working_sets(
            as_rows(Phi),
            [np.where(label == k, 1.0, -1.0) for k in (0, 1)],
            [np.ones(n)] * 2,
            partial(MODULE.solve_subproblem, max_iter=200),
            tol=1e-3,
            n_jobs=2,
            is_compiled=is_compiled,
        )
        assert set(asked) == {2 if worth else 1}
        asked.clear()


# ------------------------------------------------------------------------------ Newton systems


def test_newton_system_keeps_what_is_small_beside_what_is_large():
    # three rows of weight 1e10: next to them H = I is known to only six digits
    rng = np.random.default_rng(0)
    A = rng.normal(size=(12, 6))
    theta = np.where(np.arange(12) < 3, 1e10, 1e-6)
    H = np.diag([1.0, 1.0, 1.0, 1.0, 1.0, 0.0])
    r, rho = rng.normal(size=6), rng.normal(size=12)
    system = NewtonSystem(A, theta, H)
    assert system.is_delicate
    directions = [
        NewtonSystem(A, theta, H, pivot_floor=0.0).solve(r, rho),
        system.solve(r, rho),
    ]
    for dv, da in directions:
        assert_allclose(A @ dv + da / theta, rho, atol=1e-14)
    cholesky, reflections = (np.abs(H @ dv - A.T @ da - r).max() for dv, da in directions)
    assert cholesky > 1e-6
    assert reflections < 1e-9


# -------------------------------------------------------------------- the gradient that it feeds


def marginal(kernel, X, y, Z, C):
    """W(Z), (24)-(27), and the gradient (46): alpha and beta are held fixed."""
    space = WhitenedMap.from_vectors(kernel, Z)
    solution = hinge_ridge(space.features(X), y, C, tol=1e-11)
    assert solution.is_optimal
    beta = space.coefficients(solution.weights)
    gradient = kernel.grad_vectors(X, Z, -np.outer(solution.multipliers * y, beta))
    # 1/2 d(beta' K^z beta)/dz_u = sum_v beta_v beta_u dk(z_v, z_u)/dz_u
    gradient += kernel.grad_vectors(Z, Z, np.outer(beta, beta))
    return 0.5 * (solution.primal_value + solution.dual_value), gradient


@pytest.mark.parametrize("C", [1.0, 316.0])
@pytest.mark.parametrize(
    ("m", "gamma", "condition"), [(12, 1.0, 1e2), (14, 0.3, 1e4), (20, 0.3, 1e5)]
)
def test_gradient_of_the_optimal_value(m, gamma, condition, C):
    rng = np.random.default_rng(11)
    X = rng.normal(size=(150, 3))
    y = np.where(np.sin(2 * X[:, 0]) + X[:, 1] ** 2 + 0.3 * rng.normal(size=150) > 0.5, 1.0, -1.0)
    Z, kernel = X[:m] + 0.05 * rng.normal(size=(m, 3)), Gaussian(gamma)
    assert condition / 4 < np.linalg.cond(kernel(Z, Z)) < 4 * condition
    _, gradient = marginal(kernel, X, y, Z, C)
    size = np.linalg.norm(gradient)
    for _ in range(6):
        D = rng.normal(size=Z.shape)
        D /= np.linalg.norm(D)
        # Rounding errors of W over 2 h, and h^2 of the third derivative: where they meet, and
        # over a kink in neither half, the difference is good to 1e-8. The best of a few steps
        # distinguishes rounding and kinks from an error of the gradient, which fails all of them.
        errors = []
        for h in (1e-4, 3e-5, 1e-5):
            above, below = (marginal(kernel, X, y, Z + s * h * D, C)[0] for s in (1.0, -1.0))
            errors.append(abs((above - below) / (2.0 * h) - np.sum(gradient * D)) / size)
        assert min(errors) <= 1e-6, errors


def test_gradient_against_naive_derivatives_of_the_kernel():
    rng = np.random.default_rng(2)
    X, kernel = rng.normal(size=(20, 2)), Gaussian(0.7)
    y = np.where(X[:, 0] * X[:, 1] > 0, 1.0, -1.0)
    Z = X[:4] + 0.1
    solution = hinge_ridge(WhitenedMap.from_vectors(kernel, Z).features(X), y, 5.0, tol=1e-11)
    beta = WhitenedMap.from_vectors(kernel, Z).coefficients(solution.weights)
    naive = kernel_pullback(kernel, X, Z, -np.outer(solution.multipliers * y, beta))
    naive += kernel_pullback(kernel, Z, Z, np.outer(beta, beta))
    _, gradient = marginal(kernel, X, y, Z, 5.0)
    assert_allclose(gradient, naive, atol=1e-8 * np.abs(naive).max())


# --------------------------------------------------------------------------- speed, in small


def test_speed_figures_can_be_measured(capsys, monkeypatch, tmp_path):
    # sizes at which times mean nothing: that the comparisons are of equal answers is what counts
    figures = [
        speed.against_libsvm("small", speed.linear_problem(80, 3, 1.0), 0.0, 1),
        speed.against_liblinear("small", speed.kernel_problem(300, 5, 1.0), 1),
        *speed.warm_against_cold(n=400, m=10),
    ]
    assert figures[0]["holds"]
    assert all(figure["milliseconds"] > 0 for figure in figures)
    monkeypatch.setattr(speed, "rows", lambda: [*figures, speed.measured("compiling", 1.0)])
    file = tmp_path / "speed.csv"
    monkeypatch.setattr(sys, "argv", ["speed", "hinge_ridge", "--csv", str(file)])
    missed = sum(not figure["holds"] for figure in figures)
    assert speed_table.main() == (1 if missed else 0)
    assert f"5 figures, {missed} outside" in capsys.readouterr().out
    assert len(file.read_text(encoding="utf-8").splitlines()) == 6


def test_speed_table_knows_its_names(capsys, monkeypatch):
    monkeypatch.setattr(sys, "argv", ["speed", "no_such_figures"])
    with pytest.raises(SystemExit):
        speed_table.main()
    assert "no_such_figures; there are import_time" in capsys.readouterr().err


def test_no_progress_ends_an_interior_point_however_wide_the_gap():
    class Stuck:
        """Where rounding errors keep every step from helping."""

        v, rows = np.zeros(2), Pair(np.ones(3), np.ones(3))

        def evaluate(self):
            return 1.0, 0.5

        def factor(self):
            return True

        def advance(self, least, recentre):
            pass

    end = _iterate(Stuck(), Limits(1e-8, 200))
    assert (end.gap, end.n_iter) == (0.5, 51)
