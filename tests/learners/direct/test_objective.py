"""W(Z): its value against independent solvers, its gradient against differences."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.svm import SVC

from kernelet.datasets import make_banana
from kernelet.kernels import CallableKernel, Gaussian, Laplacian, Matern32, Matern52, Polynomial
from kernelet.learners.direct.problems.fisher import ContrastProblem, DiscriminantProblem
from kernelet.learners.direct.problems.interval import (
    IntervalProblem,
    OneClassProblem,
    SquaredIntervalProblem,
)
from kernelet.learners.direct.problems.pca import PrincipalProblem
from kernelet.learners.direct.problems.reduced_set import ReducedSetProblem
from kernelet.learners.direct.problems.ridge import RidgeProblem
from kernelet.learners.direct.problems.svm import SVMProblem
from kernelet.learners.direct.search.descent import minimize_over_vectors
from kernelet.learners.direct.search.marginal_objective import MarginalObjective
from kernelet.learners.direct.search.vector_exchange import best_rows, removals, resized, revived
from learner_oracles import central_differences, svm_by_clarabel, svm_objective

KERNELS = {
    "gaussian": Gaussian(0.5),
    "polynomial": Polynomial(0.5, 1.0, 3),
    "matern52": Matern52(0.3),
    "matern32": Matern32(0.3),
}
rng = np.random.default_rng(0)
X = rng.normal(size=(60, 2))
CODES = np.digitize(X[:, 0] + 0.6 * X[:, 1] ** 2 + 0.3 * rng.normal(size=60), [0.0, 0.8])
Y = np.where(CODES[:, None] == np.arange(3), 1.0, -1.0)
WEIGHTS = rng.uniform(0.5, 2.0, 60)
GIVEN = rng.normal(size=(60, 2))
TARGETS = np.sin(2.0 * X) + GIVEN / 3.0
SPREAD = np.array([[-1.6, 0.2], [0.1, -1.5], [1.5, 0.3], [0.2, 1.4], [-0.1, 0.1]])


def reduced_set(kernel, C):
    a = C * GIVEN
    return ReducedSetProblem(a, float((a * (kernel(X, X) @ a)).sum()), np.zeros(2))


# for the Fisher problems mu = 1/C: little regularisation is what makes them hard
PROBLEMS = {
    "hinge": lambda kernel, C: SVMProblem(Y[:, :1], C * WEIGHTS, "hinge", 1e-11),
    "hinge, 3 outputs": lambda kernel, C: SVMProblem(Y, C * WEIGHTS, "hinge", 1e-11),
    "squared hinge": lambda kernel, C: SVMProblem(Y[:, :1], C * WEIGHTS, "squared_hinge", 1e-11),
    "squared hinge, 3 outputs": lambda kernel, C: SVMProblem(
        Y, C * WEIGHTS, "squared_hinge", 1e-11
    ),
    "contrast": lambda kernel, C: ContrastProblem(Y[:, :1], WEIGHTS, 1.0 / C),
    "contrast, 3 outputs": lambda kernel, C: ContrastProblem(Y, WEIGHTS, 1.0 / C),
    "discriminant": lambda kernel, C: DiscriminantProblem(CODES, WEIGHTS, 1.0 / C, 2),
    "reduced set": reduced_set,
    "ridge": lambda kernel, C: RidgeProblem(TARGETS[:, :1], C * WEIGHTS),
    "tube": lambda kernel, C: IntervalProblem.tube(TARGETS[:, 0], C * WEIGHTS, 0.1, 0.8, 1e-11),
    "squared tube": lambda kernel, C: SquaredIntervalProblem.tube(
        TARGETS[:, 0], C * WEIGHTS, 0.1, 1e-11
    ),
    "quantile": lambda kernel, C: IntervalProblem.pinball(
        TARGETS[:, 0], C * WEIGHTS, 0.3, 0.8, 1e-11
    ),
    "one class": lambda kernel, C: OneClassProblem(C * WEIGHTS, 0.6, 1e-11),
    "principal": lambda kernel, C: PrincipalProblem(C * WEIGHTS, 2),
    "ridge, 2 outputs": lambda kernel, C: RidgeProblem(TARGETS, C * WEIGHTS, False),
}
problems = pytest.mark.parametrize("problem", PROBLEMS)
kernels = pytest.mark.parametrize("kernel", KERNELS)
costs = pytest.mark.parametrize("C", [1.0, 316.0])


def objective_of(problem, kernel, C, rows=X):
    k = KERNELS[kernel]
    return MarginalObjective(rows, k, PROBLEMS[problem](k, C))


def with_a_close_pair(kernel, condition):
    """SPREAD, where the last vector is so near the first that cond(K^z) is about that."""
    k, direction = KERNELS[kernel], np.array([0.6, 0.8])
    for distance in np.geomspace(1.0, 1e-7, 200):
        Z = SPREAD.copy()
        Z[-1] = Z[0] + distance * direction
        if np.linalg.cond(k(Z, Z)) > condition:
            return Z
    raise AssertionError("the vectors never come close enough")


@costs
@kernels
@problems
@pytest.mark.parametrize("condition", ["spread", 1e5])
def test_gradient_equals_central_differences(problem, kernel, C, condition):
    Z = SPREAD if condition == "spread" else with_a_close_pair(kernel, 0.8 * condition)
    assert np.linalg.cond(KERNELS[kernel](Z, Z)) <= 1e5
    objective = objective_of(problem, kernel, C)
    at = objective(Z)
    assert at.gap <= 1e-11
    errors = []
    # the shorter step where a row comes to its kink within the longer one
    for step in (1e-5, 1e-6):
        numeric = central_differences(lambda V: objective(V).value, Z, step)
        errors.append(np.linalg.norm(at.gradient - numeric) / np.linalg.norm(numeric))
        if errors[-1] <= 1e-6:
            break
    assert min(errors) <= 1e-6


@kernels
@problems
def test_gradient_of_sparse_rows_is_that_of_dense_rows(problem, kernel):
    dense, csr = X * (np.abs(X) > 0.5), sparse.csr_array(X * (np.abs(X) > 0.5))
    expected = objective_of(problem, kernel, 1.0, dense)(SPREAD)
    at = objective_of(problem, kernel, 1.0, csr)(SPREAD)
    assert_allclose(at.value, expected.value, rtol=1e-9)
    assert_allclose(at.gradient, expected.gradient, rtol=1e-6, atol=1e-8 * abs(at.value))


HARD = {
    "cond 1e8": lambda kernel: with_a_close_pair(kernel, 1e8),
    "cond 1e12": lambda kernel: with_a_close_pair(kernel, 1e12),
    "1e-9 apart": lambda kernel: np.vstack([SPREAD, SPREAD[:1] + 1e-9]),
    "two equal": lambda kernel: np.vstack([SPREAD, SPREAD[:1]]),
    "all equal": lambda kernel: np.repeat(SPREAD[:1], 4, axis=0),
    "one far away": lambda kernel: np.vstack([SPREAD, [[60.0, -60.0]]]),
}


@costs
@pytest.mark.parametrize("kernel", ["gaussian", "polynomial", "matern52"])
@pytest.mark.parametrize(
    "problem",
    [
        "hinge, 3 outputs",
        "squared hinge",
        "contrast",
        "discriminant",
        "reduced set",
        "ridge",
        "tube",
        "squared tube",
        "quantile",
        "one class",
        "principal",
    ],
)
@pytest.mark.parametrize("case", HARD)
def test_beyond_that_conditioning_the_search_still_descends(problem, kernel, C, case):
    Z = HARD[case](kernel)
    objective = objective_of(problem, kernel, C)
    at = objective(Z)
    assert np.isfinite(at.value)
    assert np.isfinite(at.gradient).all()
    # along the negative gradient, at a fixed rank: the smooth function that a line search sees
    direction = -at.gradient / np.linalg.norm(at.gradient)
    steps = [objective(Z + t * direction, at.rank).value for t in np.geomspace(1e-1, 1e-9, 9)]
    assert np.isfinite(steps).all()
    assert min(steps) < at.value
    descent = minimize_over_vectors(objective, Z, max_iter=3)
    assert np.isfinite(descent.best.vectors).all()
    assert descent.best.value < at.value
    # the value is no accident of the evaluations before
    again = objective_of(problem, kernel, C)(descent.best.vectors, descent.best.rank)
    assert_allclose(again.value, descent.best.value, rtol=1e-6, atol=1e-9 * abs(at.value))


@kernels
@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
def test_the_machine_attains_the_value(kernel, loss):
    k = KERNELS[kernel]
    at = MarginalObjective(X, k, SVMProblem(Y, WEIGHTS, loss, 1e-10))(SPREAD)
    assert_array_equal(at.machine.vectors, SPREAD)
    values = [
        svm_objective(
            k(X, SPREAD),
            k(SPREAD, SPREAD),
            Y[:, output],
            WEIGHTS,
            at.machine.coefficients[:, output],
            at.machine.intercepts[output],
            loss,
        )
        for output in range(3)
    ]
    assert_allclose(at.value, np.sum(values), rtol=1e-9)


@costs
@kernels
@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
def test_value_is_that_of_an_independent_solver(kernel, C, loss):
    k = KERNELS[kernel]
    at = MarginalObjective(X, k, SVMProblem(Y, C * WEIGHTS, loss, 1e-10))(SPREAD)
    expected = 0.0
    for column in range(3):
        value, beta, _ = svm_by_clarabel(
            k(X, SPREAD), k(SPREAD, SPREAD), Y[:, column], C * WEIGHTS, loss
        )
        expected += value
        # beta is unique: the objective is strictly convex in it
        scale = np.abs(beta).max()
        assert_allclose(at.coefficients[:, column], beta, atol=1e-4 * scale)
    assert_allclose(at.value, expected, rtol=1e-8)


@kernels
@pytest.mark.parametrize("Z", [SPREAD, np.vstack([SPREAD, SPREAD[:2]])], ids=["plain", "equal"])
def test_scores_are_those_of_svc_on_the_projected_kernel(kernel, Z):
    k, y = KERNELS[kernel], Y[:, 0]
    projected = k(X, Z) @ np.linalg.pinv(k(Z, Z), rcond=1e-12, hermitian=True) @ k(Z, X)
    svc = SVC(C=2.0, kernel="precomputed", tol=1e-8).fit(projected, y, sample_weight=WEIGHTS)
    at = MarginalObjective(X, k, SVMProblem(Y[:, :1], 2.0 * WEIGHTS, tol=1e-10))(Z)
    # LIBSVM stops at a KKT violation of 1e-8
    assert_allclose(at.machine.decision_function(X), svc.decision_function(projected), atol=1e-5)


def test_vectors_at_the_support_vectors_give_the_svm_back():
    """Example 1 of the paper: N_z = N_SV, started there, has nothing to gain."""
    rows, labels = make_banana(200, random_state=1)
    y = 2.0 * labels - 1.0
    svc = SVC(C=10.0, gamma=1.0, tol=1e-9).fit(rows, labels)
    kernel = Gaussian(1.0)
    objective = MarginalObjective(
        rows, kernel, SVMProblem(y[:, None], np.full(200, 10.0), tol=1e-9)
    )
    at = objective(svc.support_vectors_)
    dual = svc.dual_coef_.ravel()
    gram = kernel(svc.support_vectors_, svc.support_vectors_)
    slack = np.maximum(0.0, 1.0 - y * svc.decision_function(rows))
    full = 0.5 * dual @ gram @ dual + 10.0 * slack.sum()
    assert_allclose(at.value, full, rtol=1e-7)
    # two solutions within eps of the least value differ by sqrt(2 eps) in norm
    assert_allclose(at.machine.decision_function(rows), svc.decision_function(rows), atol=1e-3)
    # a full SVM is the least value over all Z, so that the gradient vanishes there
    assert np.abs(at.gradient).max() <= 1e-3 * full
    descent = minimize_over_vectors(objective, svc.support_vectors_, max_iter=20)
    # both are solved to 1e-9
    assert full * (1.0 - 1e-7) <= descent.best.value <= at.value * (1.0 + 1e-8)


def test_more_vectors_never_raise_the_value():
    values = [objective_of("hinge", "gaussian", 10.0)(X[:m]).value for m in (1, 3, 10, 30, 60)]
    assert np.all(np.diff(values) <= 1e-6 * np.array(values[:-1]))


def test_value_does_not_depend_on_the_evaluations_before():
    objective = objective_of("hinge", "gaussian", 316.0)
    fresh = objective_of("hinge", "gaussian", 316.0)(SPREAD).value
    for shift in (0.5, -0.3, 1e-3):
        objective(SPREAD + shift)
    assert_allclose(objective(SPREAD).value, fresh, rtol=1e-10)
    assert objective.n_evaluations == 4


def test_a_held_rank_is_kept():
    objective = objective_of("hinge", "gaussian", 1.0)
    free, held = objective(SPREAD), objective(SPREAD, rank=3)
    assert (free.rank, held.rank) == (5, 3)
    assert held.value > free.value


def test_a_held_rank_is_given_up_where_there_are_fewer_directions():
    objective = objective_of("hinge", "gaussian", 1.0)
    at = objective(np.repeat(SPREAD[:2], 2, axis=0), rank=4)
    assert at.rank == 2
    assert_allclose(at.value, objective(SPREAD[:2]).value, rtol=1e-9)


def test_without_gradient_serves_kernels_that_have_none():
    function = CallableKernel(lambda A, B: Gaussian(0.5)(A, B))
    problem = SVMProblem(Y, WEIGHTS, tol=1e-10)
    at = MarginalObjective(X, function, problem).without_gradient(SPREAD)
    expected = MarginalObjective(X, Gaussian(0.5), problem)(SPREAD)
    assert_allclose(at.value, expected.value, rtol=1e-9)
    assert_allclose(at.coefficients, expected.coefficients, rtol=1e-4)
    assert np.isnan(at.gradient).all()
    with pytest.raises(ValueError, match="gradient"):
        MarginalObjective(X, function, problem)(SPREAD)


def test_the_laplacian_kernel_descends_too():
    """It has kinks: no gradient check, but a search that goes down."""
    objective = MarginalObjective(X, Laplacian(0.5), SVMProblem(Y, WEIGHTS, tol=1e-9))
    descent = minimize_over_vectors(objective, SPREAD, max_iter=10)
    assert descent.best.value < 0.99 * objective(SPREAD).value


class TestExchange:
    """Losses and gains are exact where W is quadratic in the coefficients, as (4) is."""

    @kernels
    def test_losses_of_vectors_taken_away_one_after_the_other(self, kernel):
        objective = objective_of("reduced set", kernel, 1.0)
        at = objective(SPREAD)
        order, losses = removals(at, 4)
        left, values = np.ones(len(SPREAD), dtype=bool), [at.value]
        for u in order:
            alone = [objective(SPREAD[left & (np.arange(5) != v)]).value for v in range(5)]
            assert left[u]
            left[u] = False
            values.append(objective(SPREAD[left]).value)
            assert_allclose(values[-1], min(v for v in alone if v > values[-2]), rtol=1e-9)
        assert_allclose(losses, np.diff(values), rtol=1e-6)

    def test_of_equal_vectors_all_but_one_cost_nothing(self):
        objective = objective_of("hinge", "gaussian", 10.0)
        which = np.array([0, 1, 2, 0, 1, 0])
        order, losses = removals(objective(SPREAD[which]), 6)
        single_order, single_losses = removals(objective(SPREAD[:3]), 3)
        assert_allclose(losses[:3], 0.0, atol=1e-8)
        assert sorted(which[order[:3]]) == [0, 0, 1]
        assert_array_equal(which[order[3:]], single_order)
        assert_allclose(losses[3:], single_losses, rtol=1e-4)

    @kernels
    def test_gain_of_each_row(self, kernel):
        objective = objective_of("reduced set", kernel, 1.0)
        at = objective(SPREAD)
        rows, gains = best_rows(objective, at, 3, np.random.default_rng(0))
        values = [at.value]
        for count in range(1, 4):
            values.append(objective(np.vstack([SPREAD, rows[:count]])).value)
        assert_allclose(gains, -np.diff(values), rtol=1e-6)
        single = [at.value - objective(np.vstack([SPREAD, x])).value for x in X]
        assert_allclose(gains[0], np.max(single), rtol=1e-6)

    def test_gain_of_a_row_for_fisher_directions(self):
        """1/2 r^2, r the derivative of -(c'w)^2 + lambda (w'(S_w + mu)w - 1) along a new axis."""
        kernel, mu = KERNELS["gaussian"], 0.1
        objective = MarginalObjective(X, kernel, ContrastProblem(Y[:, :1], WEIGHTS, mu))
        at = objective(SPREAD)
        eigenvalue = -at.value
        share, positive = WEIGHTS / WEIGHTS.sum(), Y[:, 0] > 0

        def means(v):
            return np.array(
                [np.average(v[side], weights=share[side]) for side in (positive, ~positive)]
            )

        f = kernel(X, SPREAD) @ at.coefficients[:, 0]
        expected = []
        for x in X:
            # the axis: k(., x) less its projection onto the span, made a unit vector
            beta = np.linalg.solve(kernel(SPREAD, SPREAD), kernel(SPREAD, x[None]))[:, 0]
            length2 = kernel(x[None], x[None])[0, 0] - kernel(SPREAD, x[None])[:, 0] @ beta
            axis = (kernel(X, x[None])[:, 0] - kernel(X, SPREAD) @ beta) / np.sqrt(length2)
            m_f, m_e = means(f), means(axis)
            own = np.where(positive, 0, 1)
            within = share @ ((f - m_f[own]) * (axis - m_e[own]))
            r = -2.0 * (m_f[0] - m_f[1]) * (m_e[0] - m_e[1]) + 2.0 * eigenvalue * within
            expected.append(0.5 * r * r)
        _, gains = best_rows(objective, at, 1, np.random.default_rng(0))
        assert_allclose(gains[0], np.max(expected), rtol=1e-6)

    def test_spare_vectors_are_replaced_by_rows_that_help(self):
        objective = objective_of("hinge", "gaussian", 10.0)
        Z = np.vstack([SPREAD[:3], SPREAD[:1], [[60.0, -60.0]]])
        at = objective(Z)
        fresh = revived(objective, at, np.random.default_rng(0))
        moved = np.flatnonzero((fresh != Z).any(axis=1))
        # the far one, and one of the two equal ones
        assert moved.tolist() in ([0, 4], [3, 4])
        assert all(any(np.array_equal(z, x) for x in X) for z in fresh[moved])
        assert objective(fresh).value < 0.99 * at.value

    @kernels
    @pytest.mark.parametrize("distance", [1e-6, 1e-4])
    def test_a_merged_pair_is_pulled_apart(self, kernel, distance):
        objective = objective_of("hinge", kernel, 10.0)
        Z = np.vstack([SPREAD, SPREAD[:1] + distance * np.array([0.6, 0.8])])
        at = objective(Z)
        fresh = revived(objective, at, np.random.default_rng(0))
        assert_array_equal(fresh[:5], SPREAD)
        between = fresh[5] - fresh[0]
        assert_allclose(between / np.linalg.norm(between), [0.6, 0.8], atol=1e-2)
        assert np.linalg.norm(between) > 10.0 * distance
        # a tenth of a width is nearly a derivative
        assert objective(fresh).value <= 1.01 * at.value

    def test_nothing_is_replaced_where_every_vector_helps(self):
        objective = objective_of("hinge", "gaussian", 10.0)
        assert revived(objective, objective(SPREAD), np.random.default_rng(0)) is None

    @pytest.mark.parametrize("n_vectors", [1, 2, 4, 7, 12])
    def test_resized_has_the_budget(self, n_vectors):
        objective = objective_of("hinge", "gaussian", 10.0)
        at = objective(SPREAD)
        Z = resized(objective, at, n_vectors, np.random.default_rng(0))
        assert Z.shape == (n_vectors, 2)
        value = objective(Z).value
        if n_vectors > len(SPREAD):
            assert value < at.value
        else:
            # dropping the least useful is better than the average choice
            drawn = [
                objective(SPREAD[np.random.default_rng(s).choice(5, n_vectors, False)]).value
                for s in range(10)
            ]
            assert value <= np.mean(drawn)

    def test_resized_stops_where_no_row_is_left(self):
        objective = MarginalObjective(
            X[:6], Gaussian(0.5), SVMProblem(Y[:6, 1:2], WEIGHTS[:6], tol=1e-9)
        )
        Z = resized(objective, objective(X[:4]), 50, np.random.default_rng(0))
        assert 4 <= len(Z) <= 6
