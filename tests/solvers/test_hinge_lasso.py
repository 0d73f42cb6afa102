"""The linear programming SVM against HiGHS, its dual, its vertices, and ugly input."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.optimize import linprog

from kernelet.solvers import ArrayRows, Solution, Status
from kernelet.solvers.linear_program.chosen_columns import ChosenColumns
from kernelet.solvers.linear_program.hinge_lasso import hinge_lasso, hinge_lasso_many
from kernelet.solvers.linear_program.norms import OneNorm
from kernelet.solvers.linear_program.small import SmallProblem
from random_examples import examples


def problem(n=120, m=6, noise=1.0, seed=0):
    rng = np.random.default_rng(seed)
    Phi = rng.normal(size=(n, m))
    y = np.where(Phi @ rng.normal(size=m) + noise * rng.normal(size=n) > 0, 1.0, -1.0)
    y[:2] = (-1.0, 1.0)
    return Phi, y


def kernel_problem(n, m, seed=0):
    """Gaussian kernel values at m of the rows: columns that depend on each other."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(-1.0, 1.0, size=(n, 2))
    y = np.where(np.sin(4 * X[:, 0]) * np.cos(4 * X[:, 1]) + 0.1 * rng.normal(size=n) > 0, 1.0, -1)
    square = (X**2).sum(axis=1)
    return np.exp(-4.0 * (square[:, None] + square[:m] - 2.0 * X @ X[:m].T)), y


def value_at(Phi, y, C, penalties, norm, w, b):
    """The value of the problem at a point, from its definition."""
    size = np.sum(penalties * np.abs(w)) if norm == 1 else penalties * np.abs(w).max()
    return float(size + C @ np.maximum(0.0, 1.0 - y * (Phi @ w + b)))


def by_highs(Phi, y, C, penalties, norm, extra=None):
    """HiGHS on the primal, in units of the largest cost: the value at the point it returns.

    ``extra`` is a bound on the loss with which the norm alone is minimised.
    """
    n, m = Phi.shape
    A = y[:, None] * Phi
    free, positive = (None, None), (0, None)
    if norm == 1:
        cost = np.concatenate([np.broadcast_to(penalties, m)] * 2 + [[0.0], C])
        upper = -np.hstack([A, -A, y[:, None], np.eye(n)])
        limits = -np.ones(n)
        bounds = [positive] * (2 * m) + [free] + [positive] * n
    else:
        cost = np.concatenate([np.zeros(m + 1), C, [penalties]])
        one, none = np.ones((m, 1)), np.zeros((m, n))
        upper = np.vstack(
            [
                -np.hstack([A, y[:, None], np.eye(n), np.zeros((n, 1))]),
                np.hstack([np.eye(m), 0 * one, none, -one]),
                np.hstack([-np.eye(m), 0 * one, none, -one]),
            ]
        )
        limits = np.concatenate([-np.ones(n), np.zeros(2 * m)])
        bounds = [free] * (m + 1) + [positive] * (n + 1)
    if extra is not None:
        assert norm == 1
        upper = np.vstack([upper, np.concatenate([np.zeros(2 * m + 1), C])])
        limits = np.append(limits, extra)
        cost = np.concatenate([np.ones(2 * m), np.zeros(n + 1)])
    tight = {"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10}
    found = linprog(
        cost / cost.max(), upper, limits, bounds=bounds, method="highs-ds", options=tight
    )
    assert found.status == 0
    w = found.x[:m] - found.x[m : 2 * m] if norm == 1 else found.x[:m]
    b = found.x[2 * m if norm == 1 else m]
    return value_at(Phi, y, C, penalties, norm, w, b), w


def check(solution, Phi, y, C, penalties, norm, tol=1e-8):
    """Both values from the points themselves, feasibility, the KKT conditions and the gap."""
    C = np.broadcast_to(np.asarray(C, dtype=float), y.shape)
    w, b, a = solution.weights, solution.intercept, solution.multipliers
    margins = y * (Phi @ w + b)
    primal = value_at(Phi, y, C, penalties, norm, w, b)
    # an error in the last digit of a margin costs C_i times as much
    reach = 1.0 + abs(b) + np.abs(Phi) @ np.abs(w)
    noise = 1e-14 * float(C @ reach) + 1e-300
    assert solution.status is Status.OPTIMAL
    assert solution.gap <= tol
    assert_allclose(solution.primal_value, primal, rtol=1e-10, atol=noise)
    assert solution.dual_value <= solution.primal_value + 1e-12 * primal + noise
    assert_allclose(solution.dual_value, a.sum(), rtol=1e-8, atol=noise)
    assert (a >= 0).all()
    assert (a <= C).all()
    assert abs(y @ a) <= 1e-13 * y.size * max(a.sum(), 1e-300)
    q = Phi.T @ (y * a)
    rounding = 1e-14 * (np.abs(Phi).T @ a)
    if norm == 1:
        assert (np.abs(q) <= penalties * (1 + 1e-9) + rounding).all()
    else:
        assert np.abs(q).sum() <= penalties * (1 + 1e-9) + rounding.sum()
    # complementary slackness, in shares of the value
    slack = a @ np.maximum(0.0, margins - 1.0) + (C - a) @ np.maximum(0.0, 1.0 - margins)
    assert slack <= tol * primal + noise


@pytest.mark.parametrize("norm", [1, "inf"])
@pytest.mark.parametrize("C", [1e-6, 0.01, 1.0, 100.0, 1e4, 1e9])
@pytest.mark.parametrize("noise", [0.0, 1.0, 30.0])
def test_equals_highs(norm, C, noise):
    Phi, y = problem(noise=noise)
    solution = hinge_lasso(Phi, y, C, norm=norm)
    check(solution, Phi, y, C, 1.0, norm)
    expected, _ = by_highs(Phi, y, np.full(len(y), C), 1.0, norm)
    # HiGHS has errors of 1e-10 in each margin, which cost C
    assert_allclose(solution.primal_value, expected, rtol=1e-7, atol=1e-8 * C)
    assert solution.primal_value <= expected * (1 + 1e-9)


@pytest.mark.parametrize("norm", [1, "inf"])
def test_costs_and_penalties_of_their_own(norm):
    Phi, y = problem(n=60)
    rng = np.random.default_rng(3)
    C = rng.uniform(0.0, 3.0, size=60)
    C[5] = 0.0
    penalties = rng.uniform(0.5, 2.0, size=6) if norm == 1 else 1.7
    solution = hinge_lasso(Phi, y, C, penalties, norm=norm)
    check(solution, Phi, y, C, penalties, norm)
    expected, _ = by_highs(Phi, y, C, penalties, norm)
    assert_allclose(solution.primal_value, expected, rtol=1e-8)
    # a row that costs nothing might as well not be there
    kept = C > 0
    fewer = hinge_lasso(Phi[kept], y[kept], C[kept], penalties, norm=norm)
    assert_allclose(fewer.primal_value, solution.primal_value, rtol=1e-9)
    assert solution.multipliers[5] == 0.0


def independent(Phi, y, solution):
    """Rank of the rows on the margin over the columns with weights, and the most it can be."""
    columns = solution.weights != 0
    on_margin = np.abs(y * (Phi @ solution.weights + solution.intercept) - 1.0) < 1e-9
    rows = np.c_[Phi[:, columns], np.ones(len(y))][on_margin]
    return np.linalg.matrix_rank(rows), np.count_nonzero(columns) + 1


def test_zeros_are_exact_and_the_optimum_is_a_vertex():
    rng = np.random.default_rng(0)
    Phi = rng.normal(size=(200, 40))
    y = np.sign(Phi[:, 0] - Phi[:, 1] + 0.1 * rng.normal(size=200))
    solution = hinge_lasso(Phi, y, 0.1)
    assert 2 <= np.count_nonzero(solution.weights) < 20
    q = np.abs(Phi.T @ (y * solution.multipliers))
    assert_allclose(q[solution.weights != 0], 1.0, rtol=1e-9)
    assert_array_equal(solution.weights[q < 1.0 - 1e-6], 0.0)
    rank, full = independent(Phi, y, solution)
    assert rank == full
    # and so is the dual: no more rows between their bounds than a basis has
    free = (solution.multipliers > 0) & (solution.multipliers < 0.1)
    assert np.count_nonzero(free) <= full


@pytest.mark.parametrize("seed", range(6))
def test_degenerate_optima_end_in_a_vertex(seed):
    """Small integers: many rows on the margin at once, and columns that are equal."""
    rng = np.random.default_rng(seed)
    Phi = rng.integers(-2, 3, size=(60, 4)).astype(float)
    Phi = np.c_[Phi, Phi[:, 0], Phi[:, 1] + Phi[:, 2]]
    y = np.where(Phi[:, 0] + rng.normal(size=60) > 0, 1.0, -1.0)
    solution = hinge_lasso(Phi, y, 1.0)
    check(solution, Phi, y, 1.0, 1.0, 1)
    assert_allclose(solution.primal_value, by_highs(Phi, y, np.ones(60), 1.0, 1)[0], rtol=1e-9)
    rank, full = independent(Phi, y, solution)
    assert rank == full
    # any split of a weight between equal columns is optimal; a vertex takes one
    assert solution.weights[0] == 0.0 or solution.weights[4] == 0.0
    # nothing is nearly zero, or nearly at a bound
    size, a = np.abs(solution.weights), solution.multipliers
    assert size[size > 0].min(initial=1.0) > 1e-9
    free = (a > 0.0) & (a < 1.0)
    tight = np.abs(Phi.T @ (y * a)) > 1.0 - 1e-9
    assert np.count_nonzero(free) <= np.count_nonzero(tight) + 1
    assert np.minimum(a, 1.0 - a)[free].min(initial=1.0) > 1e-9


def test_largest_norm_has_most_weights_at_the_same_size():
    Phi, y = problem(n=300, m=10)
    solution = hinge_lasso(Phi, y, 0.1, 30.0, norm="inf")
    check(solution, Phi, y, 0.1, 30.0, "inf")
    size = np.abs(solution.weights)
    at_the_top = size >= size.max() * (1 - 1e-12)
    on_margin = np.abs(y * (Phi @ solution.weights + solution.intercept) - 1.0) < 1e-9
    # a basis: the top, the weights below it and the bias, against the rows on the margin
    assert np.count_nonzero(~at_the_top) + 2 <= np.count_nonzero(on_margin) + 1
    assert np.count_nonzero(at_the_top) >= 2


@pytest.mark.parametrize("C", [0.1, 30.0])
def test_no_free_multiplier_puts_the_bias_into_the_middle(C):
    solution = hinge_lasso([[0.0], [4.0]], [-1.0, 1.0], C)
    check(solution, np.array([[0.0], [4.0]]), np.array([-1.0, 1.0]), C, 1.0, 1)
    if C < 0.25:  # w = 0 is cheaper, and every bias between the labels as good
        assert solution.weights[0] == 0.0
        assert solution.intercept == 0.0
    else:
        assert_allclose([solution.weights[0], solution.intercept], [0.5, -1.0])


def test_a_large_cost_does_not_magnify_rounding():
    """A margin of 1 - 1e-16 would cost 1e-7 at C = 1e9."""
    Phi, y = problem(noise=0.0)
    for norm, size in ((1, np.sum), ("inf", np.max)):
        solution = hinge_lasso(Phi, y, 1e9, norm=norm)
        assert (y * (Phi @ solution.weights + solution.intercept)).min() >= 1.0
        assert_allclose(solution.primal_value, size(np.abs(solution.weights)), rtol=1e-14)
        softer = hinge_lasso(Phi, y, 1e4, norm=norm)
        assert_allclose(solution.primal_value, softer.primal_value, rtol=1e-12)


def test_far_from_the_origin():
    """The bias takes up any shift of the columns."""
    Phi, y = problem()
    here = hinge_lasso(Phi, y, 1.0)
    there = hinge_lasso(Phi + 1e8, y, 1.0)
    # margins are differences of numbers of size 1e8
    assert_allclose(there.primal_value, here.primal_value, rtol=1e-7)
    assert_allclose(there.weights, here.weights, rtol=1e-5, atol=1e-7)
    assert there.n_iter <= 2 * here.n_iter


class TestWithoutPenalties:
    def test_separable_rows_take_the_least_norm(self):
        """Without a norm term (2.4) separable rows cost nothing for many w."""
        Phi, y = problem(noise=0.0)
        solution = hinge_lasso(Phi, y, 1.0, penalties=0.0)
        assert solution.primal_value == 0.0
        assert solution.gap == 0.0
        hard = hinge_lasso(Phi, y, 1e6)
        assert_allclose(np.abs(solution.weights).sum(), np.abs(hard.weights).sum(), rtol=1e-9)
        largest = hinge_lasso(Phi, y, 1.0, penalties=0.0, norm="inf")
        hard = hinge_lasso(Phi, y, 1e6, norm="inf")
        assert largest.primal_value == 0.0
        assert_allclose(np.abs(largest.weights).max(), np.abs(hard.weights).max(), rtol=1e-9)

    @pytest.mark.parametrize("norm", [1, "inf"])
    def test_overlapping_rows(self, norm):
        Phi, y = problem(n=80)
        solution = hinge_lasso(Phi, y, 1.0, penalties=0.0, norm=norm)
        assert solution.is_optimal
        expected, _ = by_highs(Phi, y, np.ones(80), 0.0, norm)
        assert_allclose(solution.primal_value, expected, rtol=1e-9)
        assert_allclose(solution.multipliers.sum(), expected, rtol=1e-8)
        assert_allclose(Phi.T @ (y * solution.multipliers), 0.0, atol=1e-10)

    def test_least_norm_among_many_optima(self):
        """Rows of which some can be separated in a direction that the others do not see."""
        rng = np.random.default_rng(2)
        Phi = np.zeros((40, 3))
        Phi[:20, :2] = rng.integers(-1, 2, size=(20, 2))
        y = np.where(rng.random(40) > 0.5, 1.0, -1.0)
        Phi[20:, 2] = y[20:]
        solution = hinge_lasso(Phi, y, 1.0, penalties=0.0)
        least, _ = by_highs(Phi, y, np.ones(40), 0.0, 1)
        assert_allclose(solution.primal_value, least, rtol=1e-9)
        _, shortest = by_highs(Phi, y, np.ones(40), 0.0, 1, extra=least * (1 + 1e-12) + 1e-12)
        assert_allclose(np.abs(solution.weights).sum(), np.abs(shortest).sum(), rtol=1e-7)

    @pytest.mark.parametrize("C", [1e-3, 1.0, 1e6])
    @pytest.mark.parametrize("noise", [0.0, 1.0])
    def test_some_columns_are_free(self, C, noise):
        Phi, y = problem(n=80, noise=noise)
        penalties = np.array([0.0, 1.0, 0.0, 1.0, 2.0, 0.5])
        solution = hinge_lasso(Phi, y, C, penalties)
        check(solution, Phi, y, C, penalties, 1)
        expected, _ = by_highs(Phi, y, np.full(80, C), penalties, 1)
        assert_allclose(solution.primal_value, expected, rtol=1e-7, atol=1e-8 * C)


@pytest.mark.parametrize("norm", [1, "inf"])
@pytest.mark.parametrize("C", [0.01, 1.0, 100.0])
@pytest.mark.parametrize("make", [problem, kernel_problem])
def test_many_rows_are_solved_on_those_that_matter(norm, C, make):
    Phi, y = make(4000, 25)
    solution = hinge_lasso(Phi, y, C, norm=norm)
    check(solution, Phi, y, C, 1.0, norm)
    assert solution.working_set.size < 1000
    # HiGHS over the rows that are on the margin or inside it: what is left out must not matter
    inside = y * (Phi @ solution.weights + solution.intercept) < 1.0 + 1e-6
    if np.count_nonzero(inside) < 600:
        expected, _ = by_highs(Phi[inside], y[inside], np.full(inside.sum(), C), 1.0, norm)
        assert_allclose(solution.primal_value, expected, rtol=1e-7)


class Counted(ArrayRows):
    """Rows that count how many of them are asked for."""

    taken = 0

    def take(self, index):
        self.taken += len(index)
        return super().take(index)

    def take_all(self):
        self.taken += self.shape[0]
        return super().take_all()


@pytest.mark.parametrize("C", [0.01, 1.0, 100.0])
def test_few_rows_are_looked_at_in_few_rounds(C):
    Phi, y = kernel_problem(20000, 40)
    rows = Counted(Phi)
    solution = hinge_lasso(rows, y, C)
    assert solution.is_optimal
    assert rows.taken < 30000
    assert solution.n_rounds <= 10
    cold, rows.taken = rows.taken, 0
    hinge_lasso(rows, y, 1.05 * C, warm_start=solution)
    assert rows.taken < cold


@pytest.mark.parametrize("norm", [1, "inf"])
def test_warm_start_takes_fewer_iterations(norm):
    Phi, y = problem(n=6000, m=30)
    start = hinge_lasso(Phi, y, 1.0, norm=norm)
    cold = hinge_lasso(Phi, y, 1.1, norm=norm)
    warm = hinge_lasso(Phi, y, 1.1, norm=norm, warm_start=start)
    check(warm, Phi, y, 1.1, 1.0, norm)
    assert_allclose(warm.primal_value, cold.primal_value, rtol=1e-9)
    assert warm.n_iter < cold.n_iter
    moved = hinge_lasso(1.01 * Phi[::2], y[::2], 1.0, norm=norm, warm_start=start)
    check(moved, 1.01 * Phi[::2], y[::2], 1.0, 1.0, norm)


@pytest.mark.parametrize("norm", [1, "inf"])
def test_many_is_one_by_one(norm):
    Phi, _ = problem(n=2500, m=8)
    rng = np.random.default_rng(5)
    scores = Phi @ rng.normal(size=(8, 3)) + rng.normal(size=(2500, 3))
    Y = np.where(scores == scores.max(axis=1, keepdims=True), 1.0, -1.0)
    C = rng.uniform(0.1, 1.0, size=(2500, 3))
    together = hinge_lasso_many(Phi, Y, C, norm=norm)
    for j, solution in enumerate(together):
        alone = hinge_lasso(Phi, Y[:, j], C[:, j], norm=norm)
        check(solution, Phi, Y[:, j], C[:, j], 1.0, norm)
        assert_allclose(solution.primal_value, alone.primal_value, rtol=1e-12)
        assert_allclose(solution.weights, alone.weights, rtol=1e-8, atol=1e-10)
    again = hinge_lasso_many(Phi, Y, C, norm=norm, warm_start=together, n_jobs=1)
    for first, second in zip(together, again, strict=True):
        assert_allclose(first.primal_value, second.primal_value, rtol=1e-12)


UGLY = ["plain", "duplicates", "zeros", "constants", "scales", "one row", "one class", "integers"]


@examples(100)
@given(
    n=st.integers(2, 30),
    m=st.integers(1, 8),
    seed=st.integers(0, 10**6),
    log_C=st.floats(-6, 9),
    ugly=st.sampled_from(UGLY),
    norm=st.sampled_from([1, "inf"]),
)
def test_ugly_input_is_solved(n, m, seed, log_C, ugly, norm):
    rng = np.random.default_rng(seed)
    Phi = rng.normal(size=(n, m))
    y = np.where(rng.normal(size=n) > 0, 1.0, -1.0)
    if ugly == "duplicates":
        Phi = np.repeat(Phi[: max(1, n // 2)], 2, axis=0)[:n]
        y = y[: len(Phi)]
    elif ugly == "zeros":
        Phi[:, 0] = 0.0
    elif ugly == "constants":
        Phi[:, 0] = 3.0
        Phi[:, -1] = Phi[:, 0]
    elif ugly == "scales":
        Phi *= 10.0 ** rng.uniform(-3, 3, size=m)
    elif ugly == "one row":
        y[:] = 1.0
        y[0] = -1.0
    elif ugly == "one class":
        y[:] = 1.0
    elif ugly == "integers":
        Phi = np.round(Phi)
    solution = hinge_lasso(Phi, y, 10.0**log_C, norm=norm)
    check(solution, Phi, y, 10.0**log_C, 1.0, norm)


@pytest.mark.parametrize("norm", [1, "inf"])
@pytest.mark.parametrize("C", [1e-6, 1.0, 1e4])
def test_columns_a_million_times_as_large(norm, C):
    Phi, y = problem(n=60, m=5)
    Phi = Phi * [1.0, 1e6, 1e-6, 1e3, 1e-3]
    solution = hinge_lasso(Phi, y, C, norm=norm)
    check(solution, Phi, y, C, 1.0, norm)


@pytest.mark.parametrize("norm", [1, "inf"])
@pytest.mark.parametrize("tiny", [1e-30, 1e-140, 1e-156, 1e-161, 1e-200, 1e-310])
def test_columns_of_next_to_nothing(norm, tiny):
    """As those of a narrow kernel at rows of cost 0: whatever their weights, nobody notices."""
    Phi, y = np.eye(6), np.array([1.0, -1.0, 1.0, -1.0, 1.0, -1.0])
    slight = tiny * np.column_stack([Phi[:, 2], 0.7 * Phi[:, 3], np.ones(6)])
    solution = hinge_lasso(np.hstack([Phi, slight]), y, 10.0, norm=norm)
    assert solution.status is Status.OPTIMAL
    assert_allclose(solution.primal_value, 6.0 if norm == 1 else 1.0)


def test_fewer_rows_than_columns():
    Phi, y = problem(n=8, m=30)
    for C in (0.01, 1.0, 1e9):
        solution = hinge_lasso(Phi, y, C)
        check(solution, Phi, y, C, 1.0, 1)
        assert np.count_nonzero(solution.weights) <= 8


def test_a_stop_before_the_end_is_reported():
    Phi, y = problem(n=400, m=30)
    stopped = hinge_lasso(Phi, y, 10.0, max_iter=1)
    optimum = hinge_lasso(Phi, y, 10.0).primal_value
    assert stopped.dual_value <= optimum * (1 + 1e-12)
    assert stopped.primal_value >= optimum * (1 - 1e-12)


def test_bad_arguments_are_named():
    Phi, y = problem()
    with pytest.raises(ValueError, match="penalties must be finite and not negative"):
        hinge_lasso(Phi, y, 1.0, penalties=-1.0)
    with pytest.raises(ValueError, match="penalties must be a number or have shape"):
        hinge_lasso(Phi, y, 1.0, penalties=[1.0, 2.0])
    with pytest.raises(ValueError, match="penalties must be a single number"):
        hinge_lasso(Phi, y, 1.0, penalties=np.ones(6), norm="inf")
    with pytest.raises(ValueError, match='norm must be 1 or "inf"'):
        hinge_lasso(Phi, y, 1.0, norm=2)
    with pytest.raises(ValueError, match="y must hold"):
        hinge_lasso(Phi, np.arange(len(y)), 1.0)
    with pytest.raises(ValueError, match="warm_start has 3 weights"):
        hinge_lasso(Phi, y, 1.0, warm_start=Solution.guess(np.ones(3), 0.0))
    with pytest.raises(ValueError, match="Y must have a column"):
        hinge_lasso_many(Phi, y, 1.0)
    with pytest.raises(ValueError, match="C must have shape"):
        hinge_lasso_many(Phi, y[:, None], np.ones((len(y), 2)))
    with pytest.raises(ValueError, match="one Solution for each of the 1 columns"):
        hinge_lasso_many(Phi, y[:, None], warm_start=[])


@pytest.mark.parametrize("norm", [1, "inf"])
def test_without_a_vertex_zeros_are_those_that_the_multipliers_prove(norm, monkeypatch):
    monkeypatch.setattr(
        "kernelet.solvers.linear_program.small.nearest_vertex", lambda *_, **__: None
    )
    rng = np.random.default_rng(0)
    Phi = rng.normal(size=(200, 40))
    y = np.sign(Phi[:, 0] - Phi[:, 1] + 0.1 * rng.normal(size=200))
    solution = hinge_lasso(Phi, y, 0.1, norm=norm)
    check(solution, Phi, y, 0.1, 1.0, norm)
    if norm == 1:
        q = np.abs(Phi.T @ (y * solution.multipliers))
        assert_array_equal(solution.weights != 0, q > 1.0 - 1e-6)
        assert 2 <= np.count_nonzero(solution.weights) < 20


class Sizes:
    """Rows, columns and whether pivots were made, of every small problem that is solved."""

    def __init__(self, monkeypatch):
        self.interior, self.followed = [], []
        interior, next_vertex = SmallProblem.interior, SmallProblem.next_vertex

        def counted(problem, *arguments):
            self.interior.append(problem.A.shape)
            return interior(problem, *arguments)

        def followed(problem, *arguments):
            found = next_vertex(problem, *arguments)
            self.followed.append(found is not None)
            return found

        monkeypatch.setattr(SmallProblem, "interior", counted)
        monkeypatch.setattr(SmallProblem, "next_vertex", followed)


class TestManyColumns:
    @pytest.mark.parametrize("C", [0.3, 1.0, 100.0])
    def test_columns_join_as_they_are_needed(self, C, monkeypatch):
        Phi, y = kernel_problem(300, 300)
        sizes = Sizes(monkeypatch)
        solution = hinge_lasso(Phi, y, C)
        check(solution, Phi, y, C, 1.0, 1)
        best, _ = by_highs(Phi, y, np.full(300, C), 1.0, 1)
        assert_allclose(solution.primal_value, best, rtol=1e-8)
        # forty columns and the bias
        assert sizes.interior[0] == (300, 41)

    def test_where_most_columns_have_a_weight_all_are_taken(self, monkeypatch):
        Phi, y = problem(n=400, m=100, noise=10.0)
        sizes = Sizes(monkeypatch)
        solution = hinge_lasso(Phi, y, 10.0)
        assert np.count_nonzero(solution.weights) > 90
        check(solution, Phi, y, 10.0, 1.0, 1)
        best, _ = by_highs(Phi, y, np.full(400, 10.0), 1.0, 1)
        assert_allclose(solution.primal_value, best, rtol=1e-8)
        # the rows that were left out come back with the columns
        assert (400, 101) in sizes.interior

    def test_penalties_of_their_own_choose_the_columns(self, monkeypatch):
        Phi, y = problem(n=200, m=120)
        penalties = np.full(120, 1e4)
        penalties[70:80] = 1.0
        solution = hinge_lasso(Phi, y, 1.0, penalties)
        check(solution, Phi, y, 1.0, penalties, 1)
        assert set(np.flatnonzero(solution.weights)) <= set(range(70, 80))
        columns = ChosenColumns(OneNorm(penalties), 120)
        assert columns.begin_with_most_pulled(Phi.T @ y)
        assert columns.mask[70:80].all()

    def test_the_largest_norm_takes_all_columns(self, monkeypatch):
        Phi, y = problem(n=150, m=90)
        sizes = Sizes(monkeypatch)
        solution = hinge_lasso(Phi, y, 1.0, norm="inf")
        check(solution, Phi, y, 1.0, 1.0, "inf")
        assert all(columns == 91 for _, columns in sizes.interior)


class TestNextVertex:
    @pytest.mark.parametrize("seed", range(4))
    def test_pivots_lead_from_one_vertex_to_the_next(self, seed, monkeypatch):
        Phi, y = kernel_problem(250, 60, seed)
        rng = np.random.default_rng(seed)
        costs, penalties = rng.uniform(1.0, 3.0, 250), rng.uniform(0.5, 1.0, 60)
        solution = hinge_lasso(Phi, y, costs, penalties)
        sizes = Sizes(monkeypatch)
        for _ in range(4):
            costs, penalties = (x * rng.uniform(0.9, 1.1, x.size) for x in (costs, penalties))
            solution = hinge_lasso(Phi, y, costs, penalties, warm_start=solution)
            check(solution, Phi, y, costs, penalties, 1)
            best, _ = by_highs(Phi, y, costs, penalties, 1)
            assert_allclose(solution.primal_value, best, rtol=1e-8)
        assert sum(sizes.followed) >= 4
        assert not sizes.interior

    def test_what_is_no_vertex_is_solved_from_the_inside(self, monkeypatch):
        Phi, y = kernel_problem(250, 60)
        solution = hinge_lasso(Phi, y, 1.0)
        inside = replace(solution, intercept=solution.intercept + 1e-3)
        sizes = Sizes(monkeypatch)
        warm = hinge_lasso(Phi, y, 1.1, warm_start=inside)
        check(warm, Phi, y, 1.1, 1.0, 1)
        assert sizes.followed == [False]
        assert sizes.interior

    def test_large_problems_are_not_solved_by_pivots(self, monkeypatch):
        Phi, y = kernel_problem(250, 60)
        solution = hinge_lasso(Phi, y, 1.0)
        monkeypatch.setattr("kernelet.solvers.linear_program.small._FEW_NUMBERS", 10)
        monkeypatch.delattr("highspy.Highs")
        # the same costs have the same vertex; for others pivots would be needed
        hinge_lasso(Phi, y, 1.0, warm_start=solution)
        sizes = Sizes(monkeypatch)
        warm = hinge_lasso(Phi, y, 1.5, warm_start=solution)
        check(warm, Phi, y, 1.5, 1.0, 1)
        assert sizes.interior

    def test_the_largest_norm_has_no_such_vertex(self, monkeypatch):
        Phi, y = problem()
        solution = hinge_lasso(Phi, y, 1.0, norm="inf")
        sizes = Sizes(monkeypatch)
        warm = hinge_lasso(Phi, y, 1.1, norm="inf", warm_start=solution)
        check(warm, Phi, y, 1.1, 1.0, "inf")
        assert not sizes.followed
