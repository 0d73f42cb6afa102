"""The L2-SVM solver: Clarabel and scikit-learn as oracles, optimality conditions, ugly input."""

from __future__ import annotations

import clarabel
import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from scipy.optimize import minimize_scalar
from sklearn.svm import LinearSVC

from kernelet.solvers.rows import ArrayRows, Rows
from kernelet.solvers.solution import Solution, Status
from kernelet.solvers.squared_hinge import rounds
from kernelet.solvers.squared_hinge.certificate import ProvenPoint, prove
from kernelet.solvers.squared_hinge.newton import _exact_step, minimize
from kernelet.solvers.squared_hinge.ridge import squared_hinge_ridge, squared_hinge_ridge_many
from kernelet.solvers.squared_hinge.system import ActiveSystem
from random_examples import examples


def primal_value(Phi, y, C, w, b):
    return 0.5 * w @ w + np.sum(C * np.maximum(0.0, 1.0 - y * (Phi @ w + b)) ** 2)


def dual_value(Phi, y, C, a):
    C = np.broadcast_to(C, a.shape)
    v = Phi.T @ (y * a)
    return a.sum() - 0.5 * v @ v - np.sum(a[C > 0] ** 2 / (4.0 * C[C > 0]))


def solve_with_clarabel(Phi, y, C):
    """min 1/2 w'w + sum C xi^2 subject to y (Phi w + b) + xi >= 1: the value."""
    n, m = Phi.shape
    P = sparse.diags(
        np.concatenate([np.ones(m), [0.0], 2.0 * np.broadcast_to(C, (n,))]), format="csc"
    )
    A = sparse.csc_matrix(-np.hstack([y[:, None] * Phi, y[:, None], np.eye(n)]))
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.tol_gap_rel = settings.tol_gap_abs = settings.tol_feas = 1e-10
    cones = [clarabel.NonnegativeConeT(n)]
    answer = clarabel.DefaultSolver(P, np.zeros(m + 1 + n), A, -np.ones(n), cones, settings).solve()
    return answer.obj_val, np.array(answer.x[:m]), answer.x[m]


def assert_proven(solution, Phi, y, C, tol):
    """Feasible for both problems, values as stated, and close together."""
    a = solution.multipliers
    value = primal_value(Phi, y, C, solution.weights, solution.intercept)
    assert solution.status is Status.OPTIMAL, solution.status
    assert_allclose(solution.primal_value, value, rtol=1e-10, atol=1e-12)
    assert a.min() >= 0.0
    assert abs(y @ a) <= 1e-11 * a.sum()
    assert (a[np.broadcast_to(C, a.shape) == 0] == 0).all()
    assert -1e-14 <= solution.gap <= tol
    # the dual value is primal minus a sum of squares; computed directly it loses digits to
    # Phi'Ya, whose terms cancel
    terms = np.abs(Phi).T @ a
    noise = 1e-15 * (a.sum() + terms @ (np.abs(Phi.T @ (y * a)) + 1e-15 * len(y) * terms)) * len(y)
    direct = dual_value(Phi, y, C, a)
    assert abs(direct - solution.dual_value) <= noise + 1e-10 * max(1.0, value)


def overlapping(n=120, m=4, seed=0, noise=1.0):
    rng = np.random.default_rng(seed)
    Phi = rng.normal(size=(n, m))
    y = np.where(Phi.sum(axis=1) + noise * rng.normal(size=n) > 0.3, 1.0, -1.0)
    return Phi, y


@pytest.mark.parametrize("noise", [0.0, 1.0, 30.0], ids=["separable", "overlapping", "hopeless"])
@pytest.mark.parametrize("C", [1e-3, 1.0, 1e3])
@pytest.mark.parametrize("costs", ["equal", "per row"])
def test_agrees_with_clarabel(noise, C, costs):
    Phi, y = overlapping(noise=noise)
    if costs == "per row":
        C = C * np.random.default_rng(1).uniform(0.1, 4.0, y.size)
    solution = squared_hinge_ridge(Phi, y, C)
    value, w, b = solve_with_clarabel(Phi, y, C)
    assert_proven(solution, Phi, y, C, 1e-8)
    # Clarabel's own tolerances; w and b to their square root
    assert_allclose(solution.primal_value, value, rtol=1e-7)
    assert_allclose(solution.weights, w, rtol=1e-3, atol=1e-4)
    assert_allclose(solution.intercept, b, rtol=1e-3, atol=1e-4)


def test_agrees_with_liblinear_up_to_its_penalised_bias():
    Phi, y = overlapping(300)
    solution = squared_hinge_ridge(Phi, y, 0.7)
    # the bias is penalised by b^2 / (2 * 100^2) there
    theirs = LinearSVC(C=0.7, intercept_scaling=100.0, tol=1e-10, max_iter=100_000).fit(Phi, y)
    assert_allclose(solution.weights, theirs.coef_[0], rtol=1e-3)
    assert_allclose(solution.intercept, theirs.intercept_[0], rtol=1e-3)
    value = primal_value(Phi, y, 0.7, theirs.coef_[0], theirs.intercept_[0])
    assert solution.primal_value <= value <= solution.primal_value * (1 + 1e-5)


def test_optimality_conditions_hold_to_rounding():
    Phi, y = overlapping()
    C = np.random.default_rng(2).uniform(0.5, 2.0, y.size)
    solution = squared_hinge_ridge(Phi, y, C, tol=1e-12)
    a = solution.multipliers
    slack = np.maximum(0.0, 1.0 - y * (Phi @ solution.weights + solution.intercept))
    assert_allclose(Phi.T @ (y * a), solution.weights, rtol=1e-11, atol=1e-11)
    assert_allclose(a, 2.0 * C * slack, rtol=1e-10, atol=1e-11)
    assert_allclose(y @ a, 0.0, atol=1e-12)


@pytest.mark.parametrize("noise", [0.0, 1.0, 30.0])
def test_gap_of_1e_10_is_reached_and_beaten(noise):
    Phi, y = overlapping(400, 9, noise=noise)
    for C in (1e-6, 1.0, 1e4, 1e9):
        assert_proven(squared_hinge_ridge(Phi, y, C, tol=1e-10), Phi, y, C, 1e-10)


def test_multipliers_give_the_derivative_of_the_value():
    # dW/dPhi_ij = -a_i y_i w_j, by the envelope theorem
    Phi, y = overlapping(40, 3)
    solution = squared_hinge_ridge(Phi, y, 5.0, tol=1e-13)
    direction = np.random.default_rng(3).normal(size=Phi.shape)
    step = 1e-5
    plus, minus = (
        squared_hinge_ridge(Phi + s * direction, y, 5.0, tol=1e-13).primal_value
        for s in (step, -step)
    )
    gradient = -np.outer(solution.multipliers * y, solution.weights)
    assert_allclose((plus - minus) / (2 * step), np.sum(gradient * direction), rtol=1e-7)


# --- ugly input ----------------------------------------------------------------------------------

SHAPES = {
    "plain": lambda X, rng: X,
    "few values": lambda X, rng: np.round(X),
    "duplicates": lambda X, rng: X[rng.integers(0, max(1, len(X) // 4), len(X))],
    "rank one": lambda X, rng: X[:, :1] @ rng.normal(size=(1, X.shape[1])),
    "unequal columns": lambda X, rng: X * 10.0 ** rng.uniform(-4, 4, X.shape[1]),
    "far from zero": lambda X, rng: X + 1e3,
    "one point": lambda X, rng: np.ones_like(X),
    "nearly one point": lambda X, rng: 1.0 + 1e-6 * X,
    "zero": lambda X, rng: np.zeros_like(X),
}
LABELS = {
    "random": lambda X, rng: rng.choice([-1.0, 1.0], len(X)),
    "separable": lambda X, rng: np.where(X.sum(axis=1) > np.median(X.sum(axis=1)), 1.0, -1.0),
    "one row": lambda X, rng: np.where(np.arange(len(X)) == 0, -1.0, 1.0),
    "one class": lambda X, rng: -np.ones(len(X)),
}
COSTS = {
    "equal": lambda C, n, rng: C,
    "per row": lambda C, n, rng: C * 10.0 ** rng.uniform(-1, 1, n),
    "some zero": lambda C, n, rng: C * np.where(np.arange(n) > 0, rng.random(n) < 0.7, 1.0),
}


@examples(300)
@given(
    seed=st.integers(0, 2**32 - 1),
    n=st.sampled_from([1, 2, 3, 8, 40, 150]),
    m=st.sampled_from([1, 2, 7, 60]),
    shape=st.sampled_from(sorted(SHAPES)),
    labels=st.sampled_from(sorted(LABELS)),
    costs=st.sampled_from(sorted(COSTS)),
    log_C=st.floats(-6.0, 9.0),
)
def test_ugly_problems_are_solved_and_proven(seed, n, m, shape, labels, costs, log_C):
    rng = np.random.default_rng(seed)
    Phi = SHAPES[shape](rng.normal(size=(n, m)), rng)
    y = LABELS[labels](Phi, rng)
    C = COSTS[costs](10.0**log_C, n, rng)
    assert_proven(squared_hinge_ridge(Phi, y, C, tol=1e-6), Phi, y, C, 1e-6)


@pytest.mark.parametrize("log_C", [-6, -3, 0, 3, 6, 9])
def test_small_costs_are_solved_relative_to_their_value(log_C):
    # the reported gap is relative to max(1, value); multipliers of small problems matter as much
    Phi, y = overlapping(60)
    C = 10.0**log_C
    solution = squared_hinge_ridge(Phi, y, C, tol=1e-8)
    assert_allclose(dual_value(Phi, y, C, solution.multipliers), solution.primal_value, rtol=1e-7)


@pytest.mark.parametrize("tol", [1e-3, 1e-6])
def test_tolerance_is_relative_to_values_below_one(tol):
    Phi, y = overlapping(60)
    solution = squared_hinge_ridge(Phi, y, 1e-5, tol=tol)
    assert solution.primal_value < 1e-3
    bound = dual_value(Phi, y, 1e-5, solution.multipliers)
    assert solution.primal_value - bound <= tol * solution.primal_value


@pytest.mark.parametrize("label", [-1.0, 1.0])
def test_one_class_has_its_label_as_bias(label):
    solution = squared_hinge_ridge(np.eye(3), np.full(3, label), 2.0)
    assert_array_equal(solution.weights, np.zeros(3))
    assert solution.intercept == label
    assert (solution.primal_value, solution.gap, solution.n_iter) == (0.0, 0.0, 0)
    other = squared_hinge_ridge(np.eye(3), np.array([1.0, 1.0, -1.0]) * label, [2.0, 2.0, 0.0])
    assert other.intercept == label
    assert other.n_iter == 0


def test_no_features_leave_the_bias():
    y = np.array([1.0, 1.0, -1.0])
    solution = squared_hinge_ridge(np.empty((3, 0)), y, 2.0)
    # min 2 (1-b)^2 + (1+b)^2 up to a factor
    assert_allclose(solution.intercept, 1.0 / 3.0, rtol=1e-12)
    assert solution.weights.shape == (0,)
    assert_proven(solution, np.empty((3, 0)), y, 2.0, 1e-8)


def test_costs_are_repetitions_and_zero_is_absence():
    Phi, y = overlapping(30)
    repeats = np.random.default_rng(4).integers(0, 4, 30)
    index = np.repeat(np.arange(30), repeats)
    one = squared_hinge_ridge(Phi, y, 0.5 * repeats, tol=1e-12)
    other = squared_hinge_ridge(Phi[index], y[index], 0.5, tol=1e-12)
    assert_allclose(one.weights, other.weights, rtol=1e-10)
    assert_allclose(one.intercept, other.intercept, rtol=1e-10)
    sums = np.bincount(index, weights=other.multipliers, minlength=30)
    assert_allclose(one.multipliers, sums, rtol=1e-9, atol=1e-11)


# --- how it ends ---------------------------------------------------------------------------------


def test_iteration_limit_is_honest():
    Phi, y = overlapping(400, 9, noise=0.0)
    exact = squared_hinge_ridge(Phi, y, 1e6)
    stopped = squared_hinge_ridge(Phi, y, 1e6, max_iter=3)
    assert stopped.status is Status.ITERATION_LIMIT
    assert stopped.n_iter == 3
    assert stopped.gap > 1e-8
    assert stopped.dual_value <= exact.primal_value * (1 + 1e-12)
    assert stopped.primal_value >= exact.dual_value * (1 - 1e-12)
    assert_allclose(
        stopped.primal_value, primal_value(Phi, y, 1e6, stopped.weights, stopped.intercept)
    )
    assert_allclose(stopped.dual_value, dual_value(Phi, y, 1e6, stopped.multipliers), rtol=1e-9)


def test_numerical_limit_is_honest():
    # columns of 1e-8 ... 1e8 and C = 1e10: Phi'Ya cannot be had to 1e-12 in double precision
    rng = np.random.default_rng(5)
    Phi = rng.normal(size=(200, 20)) * np.logspace(-8, 8, 20)
    y = rng.choice([-1.0, 1.0], 200)
    solution = squared_hinge_ridge(Phi, y, 1e10, tol=1e-12)
    assert solution.status is Status.NUMERICAL_LIMIT
    assert 1e-12 < solution.gap < 1e-2
    value = primal_value(Phi, y, 1e10, solution.weights, solution.intercept)
    assert_allclose(solution.primal_value, value, rtol=1e-10)
    assert solution.n_iter < 100


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"y": [1, 0, -1, 1]}, "labels -1 and"),
        ({"y": [1, -1]}, "y must have shape"),
        ({"C": -1.0}, "C must be"),
        ({"C": [1.0, 2.0]}, "C must be"),
        ({"C": 0.0}, "C must be positive"),
        ({"tol": 0.0}, "tol"),
        ({"max_iter": 0}, "max_iter"),
        ({"Phi": [[np.nan], [1], [2], [3]]}, "NaN"),
        ({"warm_start": Solution.guess(np.zeros(5), 0.0)}, "warm_start has 0 rows and 5 features"),
    ],
)
def test_arguments_are_checked(changes, message):
    arguments = {"Phi": np.arange(4.0)[:, None], "y": [1, -1, -1, 1], "C": 1.0} | changes
    with pytest.raises(ValueError, match=message):
        squared_hinge_ridge(arguments.pop("Phi"), arguments.pop("y"), **arguments)


# --- many problems, warm starts, working sets ----------------------------------------------------


def one_vs_rest(n=300, m=6, k=4, seed=0, distance=2.0):
    rng = np.random.default_rng(seed)
    classes = rng.integers(0, k, n)
    Phi = rng.normal(size=(n, m)) + distance * rng.normal(size=(k, m))[classes]
    return Phi, np.where(classes[:, None] == np.arange(k), 1.0, -1.0)


@pytest.mark.parametrize("costs", ["number", "rows", "rows and problems"])
@pytest.mark.parametrize("n_jobs", [1, 2])
def test_many_problems_are_each_solved(costs, n_jobs):
    Phi, Y = one_vs_rest()
    rng = np.random.default_rng(1)
    C = {"number": 2.0, "rows": rng.random(300), "rows and problems": rng.random(Y.shape)}[costs]
    solutions = squared_hinge_ridge_many(Phi, Y, C, tol=1e-10, n_jobs=n_jobs)
    assert len(solutions) == Y.shape[1]
    for j, solution in enumerate(solutions):
        column = C[:, j] if costs == "rows and problems" else C
        alone = squared_hinge_ridge(Phi, Y[:, j], column, tol=1e-10)
        assert_allclose(solution.weights, alone.weights, rtol=1e-9, atol=1e-9)
        assert_proven(solution, Phi, Y[:, j], column, 1e-10)


def test_many_problems_are_checked():
    Phi, Y = one_vs_rest()
    with pytest.raises(ValueError, match="Y must have a column"):
        squared_hinge_ridge_many(Phi, Y[:, 0])
    with pytest.raises(ValueError, match=r"C must have shape \(300, 4\)"):
        squared_hinge_ridge_many(Phi, Y, np.ones((300, 3)))
    with pytest.raises(ValueError, match="one Solution for each of the 4 columns"):
        squared_hinge_ridge_many(Phi, Y, warm_start=[])


def test_warm_start_needs_fewer_steps_in_whatever_coordinates():
    Phi, y = overlapping(500, 8, noise=0.1)
    rng = np.random.default_rng(6)
    moved = Phi + 0.003 * rng.normal(size=Phi.shape)
    turned = moved @ np.linalg.qr(rng.normal(size=(8, 8)))[0]
    wider = np.hstack([turned, np.zeros((500, 2))])
    start = squared_hinge_ridge(Phi, y, 1e3)
    cold = squared_hinge_ridge(moved, y, 1e3)
    for features in (moved, turned, wider):
        warm = squared_hinge_ridge(features, y, 1e3, warm_start=start)
        assert_proven(warm, features, y, 1e3, 1e-8)
        assert_allclose(warm.primal_value, cold.primal_value, rtol=1e-8)
        assert warm.n_iter < cold.n_iter
    again = squared_hinge_ridge(
        moved, y, 1e3, warm_start=Solution.guess(cold.weights, cold.intercept)
    )
    assert again.n_iter <= 1
    fewer = squared_hinge_ridge(moved[:400], y[:400], 1e3, warm_start=cold)
    assert_proven(fewer, moved[:400], y[:400], 1e3, 1e-8)


@pytest.mark.parametrize("size", [1e-3, 1e3, 1e9])
def test_bad_warm_starts_do_no_harm(size):
    Phi, y = overlapping(noise=0.0)
    start = Solution.guess(size * np.array([-1.0, 2.0, -3.0, 1.0]), -size)
    for C in (1e-3, 1e6):
        assert_proven(squared_hinge_ridge(Phi, y, C, warm_start=start), Phi, y, C, 1e-8)


def test_a_start_too_far_away_is_given_up():
    rng = np.random.default_rng(11)
    Phi = rng.normal(size=(3000, 20))
    y = np.sign(Phi @ rng.normal(size=20))
    start = Solution.guess(np.zeros(20), 0.0)
    solution = squared_hinge_ridge(Phi, y, 1e9, warm_start=start)
    assert_proven(solution, Phi, y, 1e9, 1e-8)
    assert solution.n_iter < 120


class WatchedRows:
    """Rows that count the requests, and how many rows were taken."""

    def __init__(self, Phi):
        self.rows = ArrayRows(Phi)
        self.n_scores = self.n_taken = 0

    @property
    def shape(self):
        return self.rows.shape

    def scores(self, weights):
        self.n_scores += 1
        return self.rows.scores(weights)

    def take(self, index):
        self.n_taken += len(index)
        return self.rows.take(index)

    def take_all(self):
        raise AssertionError("the working set is small")

    def weighted_sum(self, row_weights):
        return self.rows.weighted_sum(row_weights)

    def weighted_gram(self, row_weights):
        raise AssertionError("the working set is small")


@pytest.fixture
def large(monkeypatch):
    """Problems of 3000 rows of which few matter count as large."""
    monkeypatch.setattr(rounds, "_FEW_PRODUCTS", 0)
    return one_vs_rest(3000, 6, 3, distance=3.0)


def test_large_problems_are_solved_on_the_rows_that_matter(large):
    Phi, Y = large
    rows = WatchedRows(Phi)
    assert isinstance(rows, Rows)
    solutions = squared_hinge_ridge_many(rows, Y, 1.0, tol=1e-9, n_jobs=1)
    for y, solution in zip(Y.T, solutions, strict=True):
        assert_proven(solution, Phi, y, 1.0, 1e-9)
        outside = np.setdiff1d(np.arange(3000), solution.working_set)
        assert outside.size > 1500
        assert (y * (Phi @ solution.weights + solution.intercept))[outside].min() >= 1.0
        assert (solution.multipliers[outside] == 0.0).all()
    # one product for the first working sets, and one for each round of all problems together
    assert rows.n_scores == 1 + max(solution.n_rounds for solution in solutions)
    assert rows.n_taken < Y.size


def test_rows_that_were_missed_join(large):
    Phi, Y = large
    exact = squared_hinge_ridge(Phi, Y[:, 0], 10.0, tol=1e-10)
    # all margins three times as large: rows between 0.4 and 1 are left out at first
    start = Solution.guess(3.0 * exact.weights, 3.0 * exact.intercept)
    solution = squared_hinge_ridge(Phi, Y[:, 0], 10.0, tol=1e-10, warm_start=start)
    assert solution.n_rounds > 1
    assert_proven(solution, Phi, Y[:, 0], 10.0, 1e-10)
    assert_allclose(solution.weights, exact.weights, rtol=1e-8)


def test_large_warm_start_looks_twice_at_all_rows(large):
    Phi, Y = large
    starts = squared_hinge_ridge_many(Phi, Y, 1.0)
    rows = WatchedRows(Phi + 1e-3 * np.random.default_rng(7).normal(size=Phi.shape))
    solutions = squared_hinge_ridge_many(rows, Y, 1.0, warm_start=starts)
    assert rows.n_scores == 2
    for y, solution in zip(Y.T, solutions, strict=True):
        assert_proven(solution, rows.rows.array, y, 1.0, 1e-8)


def test_large_problem_whose_rows_all_matter(large):
    Phi, _ = large
    y = np.random.default_rng(8).choice([-1.0, 1.0], len(Phi))
    solution = squared_hinge_ridge(Phi, y, 1.0)
    assert_proven(solution, Phi, y, 1.0, 1e-8)
    assert solution.working_set.size == len(Phi)


def test_large_problem_with_a_class_of_one_row(large):
    Phi, _ = large
    y = np.where(np.arange(len(Phi)) == 1234, 1.0, -1.0)
    for C in (1e-4, 1.0, 1e6):
        assert_proven(squared_hinge_ridge(Phi, y, C), Phi, y, C, 1e-8)


def test_first_guess_stands_for_unequal_classes(large):
    # of the rare class all rows are in the sample, of the other every tenth
    Phi, _ = large
    y = np.where(Phi[:, 0] + np.random.default_rng(12).normal(size=len(Phi)) > 4.5, 1.0, -1.0)
    assert 50 < np.sum(y > 0) < 300
    problem = rounds._Problem(y, np.ones(len(Phi)), np.zeros(6), 1e-8, 100)
    problem.guess(ArrayRows(Phi))
    guessed = primal_value(Phi, y, 1.0, problem.weights, problem.intercept)
    # sampling errors make it up to 1.2 times the optimum; costs that are not scaled, 2.5 times
    assert guessed <= 1.5 * squared_hinge_ridge(Phi, y, 1.0).primal_value


# --- the parts -----------------------------------------------------------------------------------


@pytest.mark.parametrize("is_careful", [False, True])
@pytest.mark.parametrize("scale", [1.0, 0.01])
def test_newton_step_solves_the_system_as_rows_come_and_go(is_careful, scale):
    rng = np.random.default_rng(9)
    Phi, d = rng.normal(size=(60, 5)) + 3.0, rng.uniform(0.1, 5.0, 60)
    system = ActiveSystem(ArrayRows(Phi), d)
    system.scale, system.is_careful = scale, is_careful
    active = np.ones(60, dtype=bool)
    for flips in (0, 3, 3, 40, 1, 5):
        active = active.copy()
        active[rng.choice(60, flips, replace=False)] ^= True
        rows = np.hstack([Phi, np.ones((60, 1))])[active]
        H = scale * rows.T @ (d[active, None] * rows) + np.diag([1.0] * 5 + [0.0])
        gradient = rng.normal(size=6)
        dw, db = system.step(active, gradient[:5], float(gradient[5]))
        assert_allclose(H @ np.append(dw, db), -gradient, rtol=1e-9, atol=1e-9)


def test_newton_step_without_active_rows_is_that_of_the_ridge():
    system = ActiveSystem(ArrayRows(np.ones((3, 2))), np.ones(3))
    dw, db = system.step(np.zeros(3, dtype=bool), np.array([1.0, -2.0]), 0.0)
    assert_array_equal(dw, [-1.0, 2.0])
    assert db == 0.0


def test_moments_are_added_up_anew_when_heavy_rows_leave():
    rng = np.random.default_rng(13)
    Phi = rng.normal(size=(40, 4))
    d = np.where(np.arange(40) < 5, 1e15, 1.0)
    system = ActiveSystem(ArrayRows(Phi), d)
    system.step(np.ones(40, dtype=bool), np.ones(4), 1.0)
    light = d == 1.0
    dw, db = system.step(light, np.ones(4), 1.0)
    fresh = ActiveSystem(ArrayRows(Phi), d).step(light, np.ones(4), 1.0)
    assert_allclose(np.append(dw, db), np.append(*fresh), rtol=1e-10)


@given(st.integers(0, 2**32 - 1), st.integers(2, 30))
def test_distance_is_primal_minus_dual(seed, n):
    # for any machine and any feasible multipliers, those of rows beyond the margin included
    rng = np.random.default_rng(seed)
    Phi, w, b = rng.normal(size=(n, 3)), rng.normal(size=3), float(rng.normal())
    y = np.where(np.arange(n) % 2, 1.0, -1.0)
    C, a = rng.uniform(0.1, 3.0, n), rng.uniform(0.0, 1.0, n)
    a[y > 0] *= a[y < 0].sum() / a[y > 0].sum()
    point = ProvenPoint(w, b, a, Phi.T @ (y * a), np.nan, np.nan)
    proven = prove(point, C, 1.0 - y * (Phi @ w + b))
    value = primal_value(Phi, y, C, w, b)
    assert_allclose(proven.primal_value, value, rtol=1e-12)
    bound = dual_value(Phi, y, C, proven.multipliers)
    assert_allclose(proven.distance, value - bound, rtol=1e-9, atol=1e-9)
    # the multipliers may be scaled, and then for the better
    assert bound >= dual_value(Phi, y, C, a) - 1e-9
    assert bound >= -1e-9 or proven.distance <= 1.01e-2 * value


def test_careful_steps_survive_what_cholesky_does_not():
    # rank one and C = 1e15: I + Phi'DPhi is 1 + 1e-15 times rounding errors in most directions
    rng = np.random.default_rng(10)
    Phi, d = np.outer(rng.normal(size=50), rng.normal(size=6)), np.full(50, 1e15)
    gradient = rng.normal(size=6)
    system = ActiveSystem(ArrayRows(Phi), d)
    system.is_careful = True
    dw, _ = system.step(np.ones(50, dtype=bool), gradient, 0.0)
    along = Phi[0] / np.linalg.norm(Phi[0])
    # orthogonal to the rows only the ridge acts
    expected = -(gradient - (gradient @ along) * along)
    assert_allclose(dw - (dw @ along) * along, expected, rtol=1e-6, atol=1e-6)


@given(st.integers(0, 2**32 - 1), st.integers(1, 30))
@example(794, 1)
def test_line_search_is_exact(seed, n):
    rng = np.random.default_rng(seed)
    residuals, speed = rng.normal(size=n), rng.normal(size=n) * 10.0 ** rng.uniform(-2, 2, n)
    costs = 10.0 ** rng.uniform(-2, 2, n)
    square = float(rng.uniform(0.1, 2.0))
    # a descent direction: the slope at 0 is negative
    loss_slope = -2.0 * np.sum(costs * speed * np.maximum(0.0, residuals))
    linear = -loss_slope - float(rng.uniform(0.1, 2.0))

    def value(t):
        loss = np.sum(costs * np.maximum(0.0, residuals - t * speed) ** 2)
        return linear * t + 0.5 * square * t**2 + loss

    t = _exact_step(residuals, speed, costs, linear, square)
    slope = (
        linear + square * t - 2.0 * np.sum(costs * speed * np.maximum(0.0, residuals - t * speed))
    )
    # of the terms that the slope is a sum of: t and residuals are known to their last digits
    size = (
        abs(linear)
        + square * t
        + 2.0 * np.sum(costs * np.abs(speed) * (np.abs(residuals) + t * np.abs(speed)))
    )
    assert t > 0.0
    assert abs(slope) <= 1e-12 * size
    assert (
        value(t)
        <= minimize_scalar(value, bounds=(0.0, 10.0 * t + 1.0), method="bounded").fun + 1e-9 * size
    )


def test_stages_of_growing_costs_save_steps():
    # separable rows at C = 1e9: from w = 0 at full costs some hundred short steps
    rng = np.random.default_rng(11)
    Phi = rng.normal(size=(3000, 20))
    y = np.sign(Phi @ rng.normal(size=20))
    point, n_iter, status = minimize(ArrayRows(Phi), y, np.full(3000, 1e9), tol=1e-8, max_iter=500)
    assert status is Status.OPTIMAL
    assert n_iter < 80
    assert_allclose(Phi.T @ (y * point.multipliers), point.weights, rtol=1e-6)
