"""Hinge problems by passes over blocks, against the solvers for rows in memory."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from kernelet.kernels import Gaussian
from kernelet.learners.direct.losses import find_loss
from kernelet.learners.direct.problems.fisher import ContrastBlockProblem, ContrastProblem
from kernelet.learners.direct.problems.svm import ClassProblem, SVMProblem
from kernelet.learners.direct.search.marginal_objective import MarginalObjective
from kernelet.learners.direct.search.out_of_core_objective import BlockObjective
from kernelet.rows import labelled as labelled_module
from kernelet.rows import open_pieces
from kernelet.solvers import hinge_ridge_many
from kernelet.solvers.blocks import hinge as block_hinge_module
from kernelet.solvers.blocks.hinge import block_hinge
from kernelet.solvers.blocks.margins import Point, Targets
from kernelet.solvers.smooth_loss.newton import _NewtonSearch
from kernelet.subspace import WhitenedMap
from tests.rows.test_rows import cut, labelled

M = 12


def problem(n=3000, n_classes=2, noise=0.5, seed=0, sample=20_000):
    """Rows in chunks and in memory; the sine keeps the classes from being separable."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 5))
    f = np.sin(2 * X[:, 0]) + X[:, 1] + X[:, 2] + noise * rng.normal(size=n)
    y = np.digitize(f, np.quantile(f, np.arange(1, n_classes) / n_classes))
    weights = rng.uniform(0.5, 2.0, size=n)
    lengths = [n // 3, n // 3, n - 2 * (n // 3)]
    rows = labelled(open_pieces(*(cut(a, lengths) for a in (X, y, weights))))
    return X, y, weights, rows, rows.sample(sample, seed=0)


@pytest.fixture
def few_near(monkeypatch):
    """As if there were far more rows than may be reported one by one."""
    monkeypatch.setattr(block_hinge_module, "NEAR_ROWS", 100)
    monkeypatch.setattr(block_hinge_module, "_NEAR_ROWS_PER_FEATURE", 0)
    monkeypatch.setattr(labelled_module, "BLOCK_ROWS", 1000)


class TestHinge:
    @pytest.mark.parametrize("n_classes", [2, 3])
    def test_exact_where_rows_are_few(self, n_classes):
        X, y, weights, rows, sample = problem(n_classes=n_classes)
        space = WhitenedMap.from_vectors(Gaussian(0.3), X[:M])
        Y = Targets.of_classes(n_classes).of(y)
        expected = hinge_ridge_many(space.features(X), Y, 2.0 * weights, tol=1e-12)
        found = block_hinge(rows, space, sample, 2.0, tol=1e-12)
        for ours, theirs in zip(found, expected, strict=True):
            assert ours.is_optimal
            assert ours.is_proven
            assert ours.gap <= 1e-12
            assert_allclose(ours.primal_value, theirs.primal_value, rtol=1e-11)
            assert_allclose(ours.weights, theirs.weights, atol=1e-7)
            assert_allclose(ours.intercept, theirs.intercept, atol=1e-7)

    @pytest.mark.parametrize("n_sample", [20_000, 1000])
    def test_the_value_lies_between_its_bounds(self, few_near, n_sample):
        X, y, weights, rows, sample = problem(n=20_000, sample=n_sample)
        space = WhitenedMap.from_vectors(Gaussian(0.3), X[:M])
        Y = Targets.of_classes(2).of(y)
        (expected,) = hinge_ridge_many(space.features(X), Y, 2.0 * weights, tol=1e-10)
        (found,) = block_hinge(rows, space, sample, 2.0, tol=1e-5)
        assert found.is_optimal
        assert 0.0 <= found.gap <= 1e-5
        assert found.primal_value >= expected.dual_value * (1 - 1e-12)
        assert found.primal_value <= expected.primal_value * (1 + 2e-5)
        if found.is_proven:
            assert found.dual_value <= expected.primal_value * (1 + 1e-12)
        # what was brought back: no more than that many rows of each of the 21 blocks
        assert found.multipliers.near.size <= 21 * 5

    def test_a_class_that_cannot_be_separated(self, few_near):
        # of three classes along a line the middle one gets w = 0: all others sit on its margin
        X, y, weights, rows, sample = problem(n=20_000, n_classes=3, sample=2000)
        y = np.digitize(X[:, 1], [-0.4, 0.4])
        rows = labelled(open_pieces(*(cut(a, [10_000] * 2) for a in (X, y, weights))))
        sample = rows.sample(2000, seed=0)
        space = WhitenedMap.from_vectors(Gaussian(1e-4), X[:3])
        found = block_hinge(rows, space, sample, 1.0, tol=1e-4)
        Y = Targets.of_classes(3).of(y)
        expected = hinge_ridge_many(space.features(X), Y, weights, tol=1e-9)
        for ours, theirs in zip(found, expected, strict=True):
            assert ours.is_optimal
            assert_allclose(ours.primal_value, theirs.primal_value, rtol=2e-4)

    def test_a_warm_start_takes_two_passes(self):
        X, _, _, rows, sample = problem()
        kernel = Gaussian(0.3)
        space = WhitenedMap.from_vectors(kernel, X[:M])
        (first,) = block_hinge(rows, space, sample, 2.0, tol=1e-6)
        point = Point(first.weights[:, None], np.array([first.intercept]))
        (again,) = block_hinge(rows, space, sample, 2.0, tol=1e-6, start=point)
        assert again.n_passes <= 2
        assert_allclose(again.primal_value, first.primal_value, rtol=1e-6)

    def test_out_of_passes(self, few_near, monkeypatch):
        monkeypatch.setattr(block_hinge_module, "_MAX_PASSES", 1)
        X, _, _, rows, sample = problem(n=20_000, sample=300)
        space = WhitenedMap.from_vectors(Gaussian(0.3), X[:M])
        (found,) = block_hinge(rows, space, sample, 2.0, tol=1e-9)
        assert not found.is_optimal
        assert found.gap > 1e-9


class TestSquaredHinge:
    @pytest.mark.parametrize("n_classes", [2, 3])
    def test_against_memory(self, n_classes):
        X, y, weights, rows, sample = problem(n_classes=n_classes, sample=500)
        space = WhitenedMap.from_vectors(Gaussian(0.3), X[:M])
        targets = Targets.of_classes(n_classes)
        problem_of_classes = ClassProblem(targets, 2.0, find_loss("squared_hinge"), 1e-13)
        found = problem_of_classes.solve(rows, sample, space, None)
        inner = SVMProblem(targets.of(y), 2.0 * weights, "squared_hinge", 1e-13)
        expected = inner.solve(space.features(X), None)
        assert_allclose(found.value, expected.value, rtol=1e-12)
        assert found.gap <= 1e-13
        assert_allclose(found.weights, expected.weights, atol=1e-6)

    def test_a_step_that_is_too_long_is_halved(self):
        search = _NewtonSearch(np.array([1.0, 0.0]), 1e-9)
        # 1/2 w^2 + 2 w^2 + b^2 with a curvature that is stated too small
        search.learn(2.0, np.array([4.0, 0.0]), np.diag([1.0, 2.0]), np.zeros((1, 1)))
        assert_allclose(search.at, [1.0 - 5.0 / 2.0, 0.0])
        worse = search.at.copy()
        slope = np.array([4.0 * worse[0], 0.0])
        search.learn(2.0 * worse[0] ** 2, slope, np.diag([1.0, 2.0]), np.zeros((1, 1)))
        assert_allclose(search.at, [1.0 - 5.0 / 4.0, 0.0])
        assert_allclose(search.solution().weights, [1.0])
        assert not search.solution().is_optimal


class TestFisher:
    @pytest.mark.parametrize("n_classes", [2, 3])
    def test_against_memory(self, n_classes):
        X, y, weights, rows, sample = problem(n_classes=n_classes, sample=500)
        space = WhitenedMap.from_vectors(Gaussian(0.3), X[:M])
        targets = Targets.of_classes(n_classes)
        found = ContrastBlockProblem(targets, 1e-3).solve(rows, sample, space, None)
        expected = ContrastProblem(targets.of(y), weights, 1e-3).solve(space.features(X), None)
        assert_allclose(found.value, expected.value, rtol=1e-10)
        assert_allclose(found.weights, expected.weights, atol=1e-8)
        assert_allclose(found.norm_gradient, expected.norm_gradient, rtol=1e-10)


def objectives(n_classes=2, n=3000, tol=1e-13, sample=20_000):
    X, y, weights, rows, sample = problem(n=n, n_classes=n_classes, sample=sample)
    targets, kernel = Targets.of_classes(n_classes), Gaussian(0.3)
    inner = SVMProblem(targets.of(y), 2.0 * weights, "hinge", tol)
    here = MarginalObjective(X, kernel, inner)
    blocks = ClassProblem(targets, 2.0, find_loss("hinge"), tol)
    return X[:M].copy(), here, BlockObjective(rows, sample, kernel, blocks)


class TestObjective:
    @pytest.mark.parametrize("n_classes", [2, 3])
    def test_one_evaluation_is_that_in_memory(self, n_classes):
        Z, here, out_of_core = objectives(n_classes)
        expected, found = here(Z), out_of_core(Z)
        assert_allclose(found.value, expected.value, rtol=1e-10)
        size = np.abs(expected.gradient).max()
        assert_allclose(found.gradient, expected.gradient, atol=1e-10 * size)
        size = np.abs(expected.coefficients).max()
        assert_allclose(found.coefficients, expected.coefficients, atol=1e-10 * size)
        assert_allclose(found.intercepts, expected.intercepts, atol=1e-10 * size)

    def test_gradients_by_central_differences(self):
        Z, _, objective = objectives(n=1000)
        at = objective(Z)
        step = np.random.default_rng(1).normal(size=Z.shape)
        h = 1e-5
        rise = (objective(Z + h * step).value - objective(Z - h * step).value) / (2 * h)
        assert_allclose(np.sum(at.gradient * step), rise, rtol=1e-5)

    def test_gradients_where_most_rows_are_only_summed(self, few_near):
        Z, here, out_of_core = objectives(n=20_000, tol=1e-7)
        expected, found = here(Z), out_of_core(Z)
        assert_allclose(found.value, expected.value, rtol=1e-6)
        size = np.abs(expected.gradient).max()
        assert_allclose(found.gradient, expected.gradient, atol=1e-3 * size)

    def test_gradients_where_a_sample_has_the_last_word(self, few_near, monkeypatch):
        monkeypatch.setattr(block_hinge_module, "NEAR_ROWS", 20)
        Z, here, out_of_core = objectives(n=20_000, tol=3e-4, sample=4000)
        solved = out_of_core.inner.solve(
            out_of_core.rows, out_of_core.sample, WhitenedMap.from_vectors(Gaussian(0.3), Z), None
        )
        # more than the rows near the margin: those of the sample that changed sides
        assert solved.score_gradient.own[0].slopes.size > 21
        expected, found = here(Z), out_of_core(Z)
        assert_allclose(found.value, expected.value, rtol=1e-3)
        size = np.abs(expected.gradient).max()
        assert_allclose(found.gradient, expected.gradient, atol=0.02 * size)

    def test_slopes_at_candidates(self):
        Z, here, out_of_core = objectives()
        candidates = out_of_core.candidates(50, np.random.default_rng(0))
        expected = here.slope_at(here(Z), candidates)
        found = out_of_core.slope_at(out_of_core(Z), candidates)
        assert_allclose(found, expected, atol=1e-7 * np.abs(expected).max())
