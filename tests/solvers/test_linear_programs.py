"""The parts that the linear programming SVM is made of: vertices, means, centred points."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.optimize import linprog

from kernelet.solvers.chosen_rows import ChosenRows
from kernelet.solvers.interior_point.complementarity import centred
from kernelet.solvers.interior_point.newton import weighted_gram
from kernelet.solvers.interior_point.primal_dual import Limits, interior_point
from kernelet.solvers.interior_point.regularizers import Lasso, MaxNorm
from kernelet.solvers.linear_program.crossover import LinearProgram, nearest_vertex
from kernelet.solvers.linear_program.norms import LargestNorm, OneNorm, lower_bound


def program(seed, is_degenerate):
    rng = np.random.default_rng(seed)
    rows, columns = 8, 30
    draw = (lambda size: rng.integers(-1, 2, size).astype(float)) if is_degenerate else rng.normal
    K = draw(size=(rows, columns))
    lower = -np.ones(rows)
    upper = np.ones(rows)
    lower[-1] = upper[-1] = 0.0
    return LinearProgram(-np.ones(columns), K, lower, upper, np.full(columns, 2.0))


def by_highs(lp, method):
    A = np.vstack([lp.K, -lp.K])
    found = linprog(
        lp.cost,
        A,
        np.append(lp.upper, -lp.lower),
        bounds=list(zip(np.zeros(lp.bound.size), lp.bound, strict=True)),
        method=method,
    )
    assert found.status == 0
    n = lp.lower.size
    return found.x, found.ineqlin.marginals[:n] - found.ineqlin.marginals[n:], found.fun


def check_vertex(lp, vertex):
    """Feasible on both sides, complementary, and as many tight bounds as variables."""
    value = lp.K @ vertex.x
    assert (vertex.x >= -1e-12).all()
    assert (vertex.x <= lp.bound + 1e-12).all()
    assert (value >= lp.lower - 1e-10).all()
    assert (value <= lp.upper + 1e-10).all()
    reduced = lp.cost - vertex.multipliers @ lp.K
    assert (np.where(vertex.x < 1e-12, np.minimum(reduced, 0.0), 0.0) > -1e-9).all()
    assert (np.where(vertex.x > lp.bound - 1e-12, np.maximum(reduced, 0.0), 0.0) < 1e-9).all()
    between = (vertex.x > 1e-12) & (vertex.x < lp.bound - 1e-12)
    assert_allclose(reduced[between], 0.0, atol=1e-10)
    tight = (value < lp.lower + 1e-10) | (value > lp.upper - 1e-10)
    assert_allclose(vertex.multipliers[~tight], 0.0, atol=1e-12)
    system = lp.K[tight][:, between]
    assert np.linalg.matrix_rank(system) == np.count_nonzero(between)


@pytest.mark.filterwarnings("error")
def test_a_multiplier_of_next_to_nothing():
    """The most x with x <= 4 and 0 x >= -1: the second row is far from tight."""
    lp = LinearProgram(
        np.array([-1.0]),
        np.array([[1.0], [0.0]]),
        np.array([0.0, -1.0]),
        np.array([4.0, 1.0]),
        np.array([9.0]),
    )
    vertex = nearest_vertex(lp, np.array([3.9]), np.array([-0.9, -1e-310]), pivots=False)
    assert_allclose(vertex.x, 4.0)
    assert_allclose(vertex.multipliers, [-1.0, 0.0])


@pytest.mark.parametrize("is_degenerate", [False, True])
@pytest.mark.parametrize("seed", range(8))
def test_nearest_vertex(seed, is_degenerate):
    lp = program(seed, is_degenerate)
    x, multipliers, value = by_highs(lp, "highs")
    rng = np.random.default_rng(seed)
    inner = np.clip(x + 1e-6 * rng.normal(size=x.size), 1e-9, lp.bound - 1e-9)
    near = multipliers + 1e-6 * rng.normal(size=multipliers.size)
    vertex = nearest_vertex(lp, inner, near)
    assert vertex is not None
    check_vertex(lp, vertex)
    assert_allclose(lp.cost @ vertex.x, value, rtol=1e-10)


def test_a_guess_far_off_needs_pivots():
    lp = program(0, is_degenerate=False)
    x, multipliers = np.full(30, 1.0), np.zeros(8)
    assert nearest_vertex(lp, x, multipliers, pivots=False) is None
    vertex = nearest_vertex(lp, x, multipliers)
    assert vertex is not None
    check_vertex(lp, vertex)
    assert_allclose(lp.cost @ vertex.x, by_highs(lp, "highs")[2], rtol=1e-10)


def test_variables_far_below_their_unit_are_found():
    """The guess is 1e12 times too large: tolerances must not blur what is there."""
    lp = program(1, is_degenerate=False)
    small = LinearProgram(lp.cost, lp.K, 1e-9 * lp.lower, 1e-9 * lp.upper, 1e3 * lp.bound)
    vertex = nearest_vertex(small, np.full(30, 1e3), np.zeros(8))
    assert vertex is not None
    unit = LinearProgram(lp.cost, lp.K, lp.lower, lp.upper, 1e12 * lp.bound)
    expected = nearest_vertex(unit, np.full(30, 1.0), np.zeros(8))
    assert expected is not None
    assert_allclose(vertex.x, 1e-9 * expected.x, rtol=1e-8, atol=1e-16)


def test_programs_without_a_vertex_are_given_up():
    lp = program(0, is_degenerate=False)
    contradictory = LinearProgram(
        lp.cost, np.ones((2, 30)), np.array([0.0, 5.0]), np.array([1.0, 6.0]), lp.bound
    )
    assert nearest_vertex(contradictory, np.full(30, 0.1), np.zeros(2)) is None


def rows(n=60, seed=0):
    rng = np.random.default_rng(seed)
    y = np.where(rng.random(n) > 0.4, 1.0, -1.0)
    C = rng.uniform(0.5, 2.0, size=n)
    C[::11] = 0.0
    return rng.normal(size=(n, 3)), y, C, rng.normal(size=n)


def test_means_of_rows_inside_never_cost_more():
    """By convexity: the smaller problem is a lower bound whatever the weights are."""
    Phi, y, C, margins = rows()
    chosen = ChosenRows(y, C)
    chosen.drop(1.0 + margins, band=0.3)
    means = [weight @ Phi for weight in chosen.mean_weights()]
    labels, costs = chosen.labels_and_costs()
    small = np.vstack([Phi[chosen.index], *means])
    assert len(chosen.groups) == 2
    rng = np.random.default_rng(1)
    for _ in range(20):
        w, b = 2.0 * rng.normal(size=3), rng.normal()
        lower = costs @ np.maximum(0.0, 1.0 - labels * (small @ w + b))
        assert lower <= C @ np.maximum(0.0, 1.0 - y * (Phi @ w + b)) + 1e-12
        # and what is missed is what the rows left out say
        inner = np.maximum(0.0, 1.0 - labels * (small @ w + b))[: chosen.index.size]
        assert (chosen.missed(y * (Phi @ w + b))[chosen.index] == 0.0).all()
        assert inner.size == chosen.index.size


def test_multipliers_go_to_all_rows_and_back():
    _, y, C, margins = rows()
    chosen = ChosenRows(y, C)
    chosen.drop(1.0 + margins, band=0.3)
    labels, costs = chosen.labels_and_costs()
    rng = np.random.default_rng(2)
    small = costs * rng.uniform(0.1, 0.9, size=costs.size)
    a = chosen.spread(small)
    assert_allclose(y @ a, 0.0, atol=1e-13)
    assert (a >= 0.0).all()
    assert (a <= C).all()
    small = chosen.gathered(a)
    assert_allclose(labels @ small, 0.0, atol=1e-12)
    assert_allclose(chosen.spread(small), a, atol=1e-13)
    # those at their bounds stay there
    free = np.flatnonzero((labels > 0) & (np.arange(costs.size) < chosen.index.size))[0]
    other = np.flatnonzero((labels < 0) & (np.arange(costs.size) < chosen.index.size))[0]
    small = np.zeros(costs.size)
    small[free], small[other] = 0.5 * costs[free], 0.4 * costs[free] * 0.5
    a = chosen.spread(small)
    assert np.count_nonzero(a) == 2


def test_both_classes_stay_chosen():
    _, y, C, _ = rows()
    chosen = ChosenRows(y, C)
    chosen.drop(np.full(60, 5.0), band=0.1)
    assert {-1.0, 1.0} == set(y[chosen.index])
    chosen.narrow(np.zeros(60, dtype=bool), np.full(60, -5.0))
    assert {-1.0, 1.0} == set(y[chosen.index])
    assert (C[chosen.index] > 0).all()
    assert chosen.index.size + sum(len(members) for members in chosen.groups) == (C > 0).sum()
    before = chosen.copy()
    chosen.add_all()
    assert_array_equal(chosen.index, np.flatnonzero(C > 0))
    assert before.index.size == 10


@pytest.mark.parametrize("mu", [1e-9, 1.0, 1e6])
def test_centred_variables(mu):
    difference = np.array([-1e6, -1.0, 0.0, 1e-9, 1.0, 1e6])
    total = np.array([1.0, 1e-3, 5.0, 1.0, 1e6, 2.0])
    x, s, t, r = centred(difference, total, mu)
    assert min(v.min() for v in (x, s, t, r)) > 0.0
    assert_allclose(x * s, mu, rtol=1e-12)
    assert_allclose(t * r, mu, rtol=1e-12)
    assert_allclose(x + t, total, rtol=1e-9)
    assert_allclose(s - r, difference, rtol=1e-9, atol=1e-9 * np.abs(s).max())


@pytest.mark.parametrize(
    "regularizer", [Lasso(np.array([0.5, 2.0])), MaxNorm(3.0, np.array([1, 2.0]))]
)
def test_pairs_of_the_norms_start_at_the_given_point(regularizer):
    w = np.array([0.7, -0.2])
    pairs = regularizer.start(w, 0.1)
    for pair in pairs:
        assert_allclose(pair.x * pair.z, 0.1, rtol=1e-9)
    if isinstance(regularizer, Lasso):
        assert_allclose(pairs[0].x - pairs[1].x, w, rtol=1e-12)
        assert_allclose(pairs[0].z + pairs[1].z, 2.0 * regularizer.c, rtol=1e-12)
    else:
        assert_allclose(pairs[1].z - pairs[0].z, 2.0 * regularizer.d * w, rtol=1e-12)
        assert_allclose(pairs[0].x.sum() + pairs[1].x.sum(), 3.0, rtol=1e-9)


@pytest.mark.parametrize("make", [lambda m: Lasso(np.ones(m)), lambda m: MaxNorm(1.0, np.ones(m))])
def test_interior_point_needs_little_from_a_near_start(make):
    rng = np.random.default_rng(0)
    Phi = rng.normal(size=(300, 8))
    y = np.where(Phi[:, 0] + rng.normal(size=300) > 0, 1.0, -1.0)
    A = y[:, None] * np.c_[Phi, np.ones(300)]
    zero, u = np.zeros(9), np.ones(300)
    cold = interior_point(A, zero, u, make(8), Limits(1e-8, 100))
    assert cold.gap <= 1e-8
    value = make(8).primal(cold.variables[:-1]) + np.maximum(0.0, 1.0 - A @ cold.variables).sum()
    start = (cold.variables, 1e-4 * value / 600)
    warm = interior_point(A, zero, u, make(8), Limits(1e-8, 100), start=start)
    assert warm.gap <= 1e-8
    assert warm.n_iter <= 0.6 * cold.n_iter


@pytest.mark.parametrize("n", [3, 2048, 5000])
def test_weighted_gram(n):
    rng = np.random.default_rng(0)
    A, weights = rng.normal(size=(n, 4)), rng.random(n)
    assert_allclose(weighted_gram(A, weights), A.T @ (weights[:, None] * A), rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize(
    ("capacity", "dual_norm"),
    [
        (OneNorm(np.array([0.5, 2.0, 1.0])), lambda q: np.max(np.abs(q) / [0.5, 2.0, 1.0])),
        (LargestNorm(2.0, np.array([1.0, 3.0, 0.5])), lambda q: np.abs(q) @ [1, 1 / 3, 2] / 2.0),
    ],
)
def test_norms_and_their_duals(capacity, dual_norm):
    rng = np.random.default_rng(0)
    for q in rng.normal(size=(20, 3)) * 3.0:
        assert_allclose(capacity.shrink(q), 1.0 / max(1.0, dual_norm(q)))
        inside = capacity.shrink(q) * q
        # Hoelder's inequality, with equality for some w
        ratios = [inside @ w / capacity.value(w) for w in rng.normal(size=(200, 3))]
        assert max(ratios) <= 1.0 + 1e-12
        assert capacity.slip(rng.normal(size=3), inside) <= 1e-12


def test_rounding_of_the_pull_is_not_held_against_the_multipliers():
    capacity = OneNorm(np.ones(2))
    w, pull, noise = np.array([3.0, 0.0]), np.array([1.0 + 1e-7, 0.2]), np.full(2, 1e-6)
    strict = lower_bound(capacity, w, pull, 0.0 * noise, total=10.0, aim=10.0)
    assert_allclose(strict, (1.0 / (1.0 + 1e-7), 10.0 / (1.0 + 1e-7)), rtol=1e-12)
    slack = lower_bound(capacity, w, pull, noise, total=10.0, aim=10.0)
    assert_allclose(slack, (1.0, 10.0 - 3e-7), rtol=1e-12)
    # not where the exact bound is good enough
    assert lower_bound(capacity, w, pull, noise, total=10.0, aim=9.9) == strict
