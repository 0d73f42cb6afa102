"""Squared losses side by side, from machines nearby: the same answers, proven alike."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

from kernelet.solvers import squared_hinge_ridge_many
from kernelet.solvers.squared_hinge.interval import squared_interval_ridge
from kernelet.solvers.squared_hinge.nearby import squared_losses_nearby
from kernelet.solvers.squared_hinge.nearby_newton import Intervals

RNG = np.random.default_rng(0)
CODES = np.arange(300) % 4
PHI = RNG.normal(size=(300, 5)) + 1.5 * RNG.normal(size=(4, 5))[CODES]
Y = np.where(CODES[:, None] == np.arange(4), 1.0, -1.0)
COSTS = RNG.uniform(0.1, 3.0, 300)


def squared_hinge_nearby(Phi, Y, C, weights, intercepts, **options):
    return squared_losses_nearby(Phi, Intervals.of_labels(Y), C, weights, intercepts, **options)


def machines(C, tol=1e-12):
    solutions = squared_hinge_ridge_many(PHI, Y, C, tol=tol)
    weights = np.stack([solution.weights for solution in solutions], axis=1)
    return weights, np.array([solution.intercept for solution in solutions])


def duality_gap(found, C):
    """From the definition, with multipliers in balance; the largest of all machines."""
    gaps = []
    for k in range(Y.shape[1]):
        w, y = found.weights[:, k], Y[:, k]
        slacks = np.maximum(0.0, 1.0 - y * (PHI @ w + found.intercepts[k]))
        primal = 0.5 * w @ w + C @ slacks**2
        a = 2.0 * C * slacks
        sums = [a[y > 0].sum(), a[y < 0].sum()]
        a = a * np.where(y > 0, min(sums) / sums[0], min(sums) / sums[1])
        v = PHI.T @ (y * a)
        dual = a.sum() - 0.5 * v @ v - (a**2 / (4.0 * C)).sum()
        assert_allclose(found.values[k], primal, rtol=1e-12)
        gaps.append((primal - dual) / primal)
    return np.array(gaps)


@pytest.mark.parametrize("scale", [1e-3, 1.0, 1e3])
@pytest.mark.parametrize("distance", [0.0, 1e-3, 0.3])
def test_the_answers_are_those_of_the_solver_that_needs_no_start(scale, distance):
    C = scale * COSTS
    weights, intercepts = machines(C)
    size = np.abs(weights).max()
    found = squared_hinge_nearby(
        PHI,
        Y,
        C,
        weights + distance * size * RNG.normal(size=weights.shape),
        intercepts + distance * RNG.normal(size=4),
        tol=1e-9,
    )
    assert found is not None
    assert_allclose(found.weights, weights, rtol=1e-4, atol=1e-4 * size)
    assert_allclose(found.intercepts, intercepts, rtol=1e-3, atol=1e-3)
    slacks = np.maximum(0.0, 1.0 - Y * (PHI @ found.weights + found.intercepts))
    assert_allclose(found.pulls, 2.0 * C[:, None] * Y * slacks, atol=1e-12 * C.max())
    assert found.gaps.max() <= 1e-9
    assert_allclose(found.gaps, duality_gap(found, C), atol=1e-11)
    assert found.n_iter >= 4


def test_gaps_of_rough_answers_are_true():
    weights, intercepts = machines(COSTS)
    rough = squared_hinge_nearby(PHI, Y, COSTS, 1.02 * weights, intercepts, tol=0.05)
    assert 1e-9 < rough.gaps.max() <= 0.05
    assert_allclose(rough.gaps, duality_gap(rough, COSTS), rtol=1e-6, atol=1e-13)


def test_what_it_is_given_stays_as_it_is():
    weights, intercepts = machines(COSTS)
    before = weights.copy(), intercepts.copy()
    squared_hinge_nearby(PHI, Y, COSTS, weights, intercepts, tol=1e-9)
    assert_allclose(weights, before[0], rtol=0.0)
    assert_allclose(intercepts, before[1], rtol=0.0)


def test_a_class_without_rows_and_costs_of_any_size():
    """One label only: a bias is all that is needed."""
    ones = np.ones((300, 1))
    found = squared_hinge_nearby(PHI, ones, COSTS, np.zeros((5, 1)), np.ones(1), tol=1e-9)
    assert found is not None
    assert_allclose(found.values, 0.0)


def test_where_it_does_not_get_to_the_tolerance_it_says_so(monkeypatch):
    weights, intercepts = machines(COSTS)
    far = 100.0 * RNG.normal(size=(5, 4))
    with monkeypatch.context() as patched:
        patched.setattr("kernelet.solvers.squared_hinge.nearby._MAX_STEPS", 2)
        assert squared_hinge_nearby(PHI, Y, COSTS, far, intercepts, tol=1e-9) is None
    assert squared_hinge_nearby(PHI, Y, COSTS, np.nan * weights, intercepts, tol=1e-9) is None
    none = np.empty((300, 0))
    assert squared_hinge_nearby(none, Y, COSTS, np.empty((0, 4)), intercepts, tol=1e-9) is None


class TestIntervals:
    TARGETS = np.stack([np.sin(PHI[:, 0]) + 5.0, PHI[:, 1] * PHI[:, 2]], axis=1)

    def exact(self, lower, upper, C):
        both = [
            squared_interval_ridge(PHI, lower[:, k], upper[:, k], C, C, tol=1e-12) for k in range(2)
        ]
        return np.stack([s.weights for s in both], axis=1), np.array([s.intercept for s in both])

    @pytest.mark.parametrize("epsilon", [0.0, 0.2, 0.5])
    @pytest.mark.parametrize("scale", [1e-3, 1.0, 1e3])
    @pytest.mark.parametrize("distance", [0.0, 1e-3, 0.3])
    def test_the_answers_are_those_of_the_solver_that_needs_no_start(
        self, epsilon, scale, distance
    ):
        lower, upper, C = self.TARGETS - epsilon, self.TARGETS + epsilon, scale * COSTS
        weights, intercepts = self.exact(lower, upper, C)
        size = np.abs(weights).max()
        rng = np.random.default_rng(1)
        found = squared_losses_nearby(
            PHI,
            Intervals(lower.T, upper.T),
            C,
            weights + distance * size * rng.normal(size=weights.shape),
            intercepts + distance * rng.normal(size=2),
            tol=1e-9,
        )
        assert found is not None
        assert found.gaps.max() <= 1e-9
        assert_allclose(found.weights, weights, atol=1e-4 * size)
        assert_allclose(found.intercepts, intercepts, atol=1e-4)
        f = PHI @ found.weights + found.intercepts
        lacks = np.maximum(0.0, lower - f) - np.maximum(0.0, f - upper)
        assert_allclose(found.pulls, 2.0 * C[:, None] * lacks, atol=1e-11 * scale)
        primal = 0.5 * (found.weights**2).sum(axis=0) + C @ lacks**2
        assert_allclose(found.values, primal, rtol=1e-12)

    def test_gaps_of_rough_answers_are_true(self):
        lower, upper = self.TARGETS - 0.1, self.TARGETS + 0.1
        weights, intercepts = self.exact(lower, upper, COSTS)
        start = 1.05 * weights, intercepts + 0.05
        rough = squared_losses_nearby(PHI, Intervals(lower.T, upper.T), COSTS, *start, tol=0.05)
        for k in range(2):
            g = rough.pulls[:, k]
            up, down = np.maximum(g, 0.0), np.maximum(-g, 0.0)
            least = min(up.sum(), down.sum())
            up, down = up * least / up.sum(), down * least / down.sum()
            q = PHI.T @ (up - down)
            dual = lower[:, k] @ up - upper[:, k] @ down - 0.5 * q @ q
            dual -= ((up**2 + down**2) / (4.0 * COSTS)).sum()
            gap = (rough.values[k] - dual) / rough.values[k]
            assert_allclose(rough.gaps[k], gap, rtol=1e-6, atol=1e-13)
        assert rough.gaps.max() > 1e-9

    def test_wide_intervals_need_no_weights(self):
        far = np.full((300, 1), 100.0)
        found = squared_losses_nearby(
            PHI, Intervals(-far.T, far.T), COSTS, np.ones((5, 1)), np.full(1, 3.0), tol=1e-9
        )
        assert found.values[0] == found.gaps[0] == 0.0
        assert not found.weights.any()
        assert found.intercepts[0] == 3.0


class TestRowsThatHadALoss:
    """Machines that begin where the rows with a loss of a nearby problem want them."""

    @pytest.mark.parametrize("dtype", [np.float64, np.float32])
    @pytest.mark.parametrize("costs", [COSTS, np.full(300, 0.7)])
    def test_the_answers_are_the_same(self, dtype, costs):
        weights, intercepts = machines(costs)
        slopes = -2.0 * costs[:, None] * Y * np.maximum(0.0, 1.0 - Y * (PHI @ weights + intercepts))
        turned = PHI + 0.05 * np.random.default_rng(2).normal(size=PHI.shape)
        exact = squared_hinge_ridge_many(turned, Y, costs, tol=1e-12)
        found = squared_losses_nearby(
            turned.astype(dtype),
            Intervals.of_labels(Y).astype(dtype),
            costs,
            np.zeros_like(weights),  # not needed
            np.zeros_like(intercepts),
            slopes=slopes,
            tol=1e-9 if dtype == np.float64 else 1e-3,
            prove=dtype == np.float64,
        )
        assert found is not None
        assert_allclose(found.values, [one.primal_value for one in exact], rtol=1e-5)
        # two for each class: one to begin with and a last one, some need another
        assert 8 <= found.n_iter <= 16

    def test_sides_of_intervals_change(self):
        """A row may miss the other end of its interval."""
        target = np.sin(PHI[:, :1])
        weights = np.random.default_rng(3).normal(size=(5, 1))
        wrong = np.sign(PHI @ weights - target)
        intervals = Intervals(target.T - 0.1, target.T + 0.1)
        start = weights, np.zeros(1)
        found = squared_losses_nearby(PHI, intervals, COSTS, *start, slopes=wrong, tol=1e-10)
        exact = squared_interval_ridge(
            PHI, target[:, 0] - 0.1, target[:, 0] + 0.1, COSTS, COSTS, tol=1e-12
        )
        assert_allclose(found.values[0], exact.primal_value, rtol=1e-9)

    @pytest.mark.parametrize("side", [0.0, 1.0])
    def test_none_and_all_of_the_rows(self, side):
        weights, intercepts = machines(COSTS)
        found = squared_losses_nearby(
            *(PHI, Intervals.of_labels(Y), COSTS, weights, intercepts),
            slopes=-side * Y,
            tol=1e-9,
        )
        assert_allclose(found.weights, weights, rtol=1e-4, atol=1e-4)
