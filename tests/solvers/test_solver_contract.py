"""What every solver promises, for every solver that is exported and that of CONTRIBUTING.md.

A solver is tested by being listed in `kernelet.solvers.__all__`; it then needs an entry in `TASKS`,
which says what problem it solves.
"""

from __future__ import annotations

import dataclasses
import inspect
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

import contributed
from kernelet import solvers
from kernelet.solvers import ArrayRows, Rows, Solution, Status
from random_examples import examples
from references import hinge_losses


@dataclasses.dataclass(frozen=True)
class Task:
    """min capacity(w) + sum_i C_i loss(hinge_i), and its dual by Fenchel's inequality.

    Both conjugates are those of the exact problem, so `capacity(w) + conjugate(q) - q'w` and
    `C loss(h) + loss_conjugate(a, C) - a (1 - margin)` are nonnegative, and their sum is the gap.
    `conjugate` is infinite outside of its domain, which q leaves by rounding errors at most.
    """

    capacity: Callable[[np.ndarray], float]
    conjugate: Callable[[np.ndarray, np.ndarray], float]
    loss: Callable[[np.ndarray], np.ndarray]
    loss_conjugate: Callable[[np.ndarray, np.ndarray], np.ndarray]
    has_cap: bool
    has_unique_weights: bool
    tol: float = 1e-8


def half_square(w: np.ndarray, rounding: object = None) -> float:
    return 0.5 * float(w @ w)


def one_norm(w: np.ndarray) -> float:
    return float(np.abs(w).sum())


def two_norm(w: np.ndarray) -> float:
    return float(np.linalg.norm(w))


def unit_ball(q: np.ndarray, rounding: np.ndarray) -> float:
    return 0.0 if np.linalg.norm(q) <= 1.0 + np.linalg.norm(rounding) else np.inf


def unit_box(q: np.ndarray, rounding: np.ndarray) -> float:
    return 0.0 if (np.abs(q) <= 1.0 + rounding).all() else np.inf


def no_cost(a: np.ndarray, C: np.ndarray) -> np.ndarray:
    return np.zeros(a.shape)


def quarter_square(a: np.ndarray, C: np.ndarray) -> np.ndarray:
    return np.divide(a**2, 4.0 * C, out=np.zeros(a.shape), where=C > 0)


SVM = Task(half_square, half_square, np.asarray, no_cost, True, True)
L2_SVM = Task(half_square, half_square, np.square, quarter_square, False, True)
LP_SVM = Task(one_norm, unit_box, np.asarray, no_cost, True, False)
# the right ridge problem is searched for, which takes its time beyond the default tolerance
NORM_SVM = Task(two_norm, unit_ball, np.asarray, no_cost, True, False, tol=1e-6)


def prices(m: int) -> np.ndarray:
    return np.geomspace(0.1, 10.0, m)


# 1-strongly convex is what has_unique_weights means; this one is 0.1-strongly convex.
PRICED_SVM = dataclasses.replace(
    SVM,
    capacity=lambda w: 0.5 * float(prices(w.size) @ w**2),
    conjugate=lambda q, rounding: 0.5 * float(q**2 @ (1.0 / prices(q.size))),
    has_unique_weights=False,
)


def priced(Phi, y, C=1.0, **options) -> Solution:
    """The solver of CONTRIBUTING.md, each weight with another price."""
    n_columns = solvers.rows.as_rows(Phi).shape[1]
    return contributed.SOLVER(Phi, y, C, prices=prices(n_columns), **options)


TASKS = {
    contributed.SOLVER.__name__: PRICED_SVM,
    "hinge_ridge": SVM,
    "hinge_ridge_many": SVM,
    "squared_hinge_ridge": L2_SVM,
    "squared_hinge_ridge_many": L2_SVM,
    "hinge_lasso": LP_SVM,
    "hinge_lasso_many": LP_SVM,
    "hinge_norm": NORM_SVM,
}

# Over kernels, not over features; tests/solvers/test_enclosing_ball.py has its contract.
OTHER_PROBLEMS = {"minimum_enclosing_ball"}
SOLVERS = {
    name: getattr(solvers, name)
    for name in solvers.__all__
    if inspect.isfunction(getattr(solvers, name)) and name not in OTHER_PROBLEMS
}
SOLVERS[contributed.SOLVER.__name__] = priced
pytestmark = pytest.mark.parametrize("name", [*SOLVERS])


def solve(name, Phi, y, C=1.0, *, warm_start=None, **options) -> Solution:
    """One label vector, by a solver for one or for many."""
    solver = SOLVERS[name]
    if not name.endswith("_many"):
        return solver(Phi, y, C, warm_start=warm_start, **options)
    starts = None if warm_start is None else [warm_start]
    (solution,) = solver(Phi, np.asarray(y)[:, None], C, warm_start=starts, n_jobs=1, **options)
    return solution


def overlapping(n=60, m=4, noise=1.0, seed=0):
    rng = np.random.default_rng(seed)
    Phi = rng.normal(size=(n, m))
    return Phi, np.where(Phi.sum(axis=1) + noise * rng.normal(size=n) > 0.3, 1.0, -1.0)


def problems():
    Phi, y = overlapping()
    rng = np.random.default_rng(1)
    yield "overlapping", Phi, y, 1.0
    yield "small costs", Phi, y, 1e-6
    yield "large costs", Phi, y, 1e6
    yield "costs per row", Phi, y, 10.0 ** rng.uniform(-3, 3, y.size)
    yield "rows without cost", Phi, y, rng.integers(0, 3, y.size).astype(float)
    yield "separable", *overlapping(noise=0.0), 1e3
    yield "hopeless", *overlapping(noise=30.0), 10.0
    yield "duplicate rows", Phi[np.arange(60) % 12], y, 10.0
    yield "dependent columns", Phi @ rng.normal(size=(4, 7)), y, 1.0
    yield "constant and zero columns", np.c_[Phi, np.ones(60), np.zeros(60)], y, 1.0
    yield "one row in a class", Phi, np.where(np.arange(60) == 7, 1.0, -1.0), 10.0
    yield "one class", Phi, np.ones(60), 1.0
    yield "one column", Phi[:, :1], y, 1.0
    yield "fewer rows than columns", *overlapping(n=5, m=9, seed=3), 10.0
    yield "two rows", np.array([[1.0, 2.0], [0.0, 1.0]]), np.array([1.0, -1.0]), 1.0
    yield "two equal rows", np.ones((2, 3)), np.array([1.0, -1.0]), 1.0
    yield "columns of different size", Phi * [1e-3, 1.0, 1e2, 1e-1], y, 1.0
    yield "far from the origin", Phi + 1e3, y, 1.0


PROBLEMS = {label: rest for label, *rest in problems()}
each_problem = pytest.mark.parametrize("label", PROBLEMS)


def check(solution: Solution, name, Phi, y, C, tol) -> None:
    """Feasible on both sides, values as stated, and no farther apart than the tolerance."""
    task = TASKS[name]
    w, b, a = solution.weights, solution.intercept, solution.multipliers
    C = np.broadcast_to(np.asarray(C, dtype=float), y.shape)
    h = hinge_losses(Phi, y, w, b)
    q = Phi.T @ (y * a)
    # those of q, and those that multipliers of all rows leave in a column that few of them need
    of_all = np.sqrt(np.mean(Phi**2, axis=0)) * a.sum()
    conjugate = task.conjugate(q, 1e-14 * (y.size * (np.abs(Phi).T @ a) + of_all))
    primal = task.capacity(w) + float(C @ task.loss(h))
    dual = float(a.sum() - task.loss_conjugate(a, C).sum()) - conjugate
    # an error in the last digit of y'a costs the bias, in q the weights, for each unit of a
    size = 1.0 + abs(b) + np.abs(Phi) @ np.abs(w)
    noise = 1e-13 * max(abs(primal), float((a + C * (h > 0)) @ size))

    assert solution.status is Status.OPTIMAL
    assert solution.is_optimal
    assert solution.gap <= tol
    assert_allclose(solution.primal_value, primal, rtol=1e-10, atol=noise)
    # a linear program's multipliers may break |q| <= 1 by rounding; its value allows for that
    assert_allclose(solution.dual_value, dual, rtol=0.1 * tol, atol=noise)
    assert solution.dual_value <= solution.primal_value + noise
    assert a.min() >= 0.0
    assert (a[C == 0] == 0.0).all()
    if task.has_cap:
        assert (a <= C).all()
    assert abs(y @ a) <= 1e-13 * y.size * max(a.sum(), 1e-300)
    # The KKT conditions, row by row and for the weights: Fenchel's inequalities are equalities.
    distance = tol * max(solution.unit, abs(primal)) + noise
    margins = y * (Phi @ w + b)
    shares = C * task.loss(h) + task.loss_conjugate(a, C) - a * (1.0 - margins)
    assert shares.min() >= -noise
    assert shares.sum() <= distance
    assert -noise <= task.capacity(w) + conjugate - q @ w <= distance


def test_every_exported_solver_has_a_task(name):
    assert name in TASKS, f"say in TASKS what {name} minimises, so that it is tested"


@each_problem
def test_solved_and_proven(name, label):
    Phi, y, C = PROBLEMS[label]
    tol = TASKS[name].tol
    check(solve(name, Phi, y, C, tol=tol), name, Phi, y, C, tol)


@each_problem
def test_warm_start_leads_to_the_same_value(name, label):
    Phi, y, C = PROBLEMS[label]
    tol = TASKS[name].tol
    cold = solve(name, Phi, y, C, tol=tol)
    other = solve(name, Phi, y, np.multiply(C, 30.0), tol=1e-4)
    wrong = Solution.guess(-100.0 * cold.weights - 1.0, 1e3)
    for start in (cold, other, wrong):
        warm = solve(name, Phi, y, C, tol=tol, warm_start=start)
        check(warm, name, Phi, y, C, tol)
        distance = 2.0 * tol * max(cold.unit, abs(cold.primal_value))
        assert_allclose(warm.primal_value, cold.primal_value, rtol=0, atol=distance)


def test_costs_equal_repetition(name):
    Phi, y = overlapping()
    counts = np.random.default_rng(2).integers(0, 4, y.size)
    tol = 0.01 * TASKS[name].tol
    weighted = solve(name, Phi, y, 2.0 * counts, tol=tol)
    repeated = solve(name, np.repeat(Phi, counts, axis=0), np.repeat(y, counts), 2.0, tol=tol)
    assert_allclose(weighted.primal_value, repeated.primal_value, rtol=2.0 * tol)
    if TASKS[name].has_unique_weights:
        # the value is 1-strongly convex in w: an error e in it leaves sqrt(2 e) in w
        bound = 2.0 * np.sqrt(2.0 * tol * weighted.primal_value)
        assert np.linalg.norm(weighted.weights - repeated.weights) <= bound


def test_order_of_rows_does_not_matter(name):
    Phi, y = overlapping()
    C = np.random.default_rng(2).uniform(0.5, 2.0, y.size)
    order = np.random.default_rng(3).permutation(y.size)
    tol = 0.01 * TASKS[name].tol
    straight = solve(name, Phi, y, C, tol=tol)
    mixed = solve(name, Phi[order], y[order], C[order], tol=tol)
    assert_allclose(mixed.primal_value, straight.primal_value, rtol=2.0 * tol)
    if TASKS[name].has_unique_weights:
        bound = 2.0 * np.sqrt(2.0 * tol * straight.primal_value)
        assert np.linalg.norm(mixed.weights - straight.weights) <= bound


def test_rows_without_cost_are_as_if_absent(name):
    Phi, y = overlapping()
    present = np.random.default_rng(4).random(y.size) < 0.6
    Phi_noisy = np.where(present[:, None], Phi, 1e4 * Phi)
    tol = 0.01 * TASKS[name].tol
    all_rows = solve(name, Phi_noisy, y, present.astype(float), tol=tol)
    some_rows = solve(name, Phi[present], y[present], tol=tol)
    assert_allclose(all_rows.primal_value, some_rows.primal_value, rtol=2.0 * tol)
    assert_array_equal(all_rows.multipliers[~present], 0.0)


def test_solution_is_frozen(name):
    Phi, y = overlapping()
    solution = solve(name, Phi, y)
    with pytest.raises(dataclasses.FrozenInstanceError):
        solution.intercept = 0.0


def test_input_is_left_alone(name):
    Phi, y = overlapping()
    C = np.ones(y.size)
    for array in (Phi, y, C):
        array.flags.writeable = False
    solve(name, Phi, y, C)
    assert_allclose(
        solve(name, Phi.astype(np.float32), y.astype(int).tolist(), 1).primal_value,
        solve(name, Phi, y).primal_value,
        rtol=1e-5,
    )


class Blocks:
    """Rows in two blocks: the interface, and nothing of an array."""

    def __init__(self, Phi):
        self.blocks = [ArrayRows(Phi[: len(Phi) // 3]), ArrayRows(Phi[len(Phi) // 3 :])]
        self.first = len(Phi) // 3

    @property
    def shape(self):
        return sum(block.shape[0] for block in self.blocks), self.blocks[0].shape[1]

    def scores(self, weights):
        return np.concatenate([block.scores(weights) for block in self.blocks])

    def take(self, index):
        return self.take_all()[index]

    def take_all(self):
        return np.concatenate([block.take_all() for block in self.blocks])

    def weighted_sum(self, row_weights):
        parts = np.split(row_weights, [self.first])
        return sum(b.weighted_sum(part) for b, part in zip(self.blocks, parts, strict=True))

    def weighted_gram(self, row_weights):
        parts = np.split(row_weights, [self.first])
        return sum(b.weighted_gram(part) for b, part in zip(self.blocks, parts, strict=True))


def test_rows_are_seen_through_their_interface_only(name):
    Phi, y = overlapping(n=200)
    rows = Blocks(Phi)
    assert isinstance(rows, Rows)
    tol = TASKS[name].tol
    solution = solve(name, rows, y, tol=tol)
    check(solution, name, Phi, y, 1.0, tol)
    check(solve(name, rows, y, tol=tol, warm_start=solution), name, Phi, y, 1.0, tol)


def test_giving_up_is_reported_and_the_values_still_enclose_the_optimum(name):
    Phi, y = overlapping(n=300, noise=3.0)
    optimum = solve(name, Phi, y, 50.0, tol=TASKS[name].tol)
    stopped = solve(name, Phi, y, 50.0, tol=1e-12, max_iter=1)
    assert stopped.is_optimal == (stopped.gap <= 1e-12)
    assert stopped.dual_value <= optimum.primal_value
    assert stopped.primal_value >= optimum.dual_value


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"Phi": [1.0, 2.0, 3.0]}, "Phi must be two-dimensional"),
        ({"Phi": [[np.nan], [1.0], [2.0]]}, "Phi contains NaN or infinity"),
        ({"y": [1.0, -1.0]}, "y must have shape"),
        ({"y": [1.0, 0.0, -1.0]}, "y must hold the labels -1 and [+]1"),
        ({"C": [1.0, 1.0]}, "C must be a number or have shape"),
        ({"C": -1.0}, "C must be finite and not negative"),
        ({"C": np.inf}, "C must be finite and not negative"),
        ({"C": [0.0, 0.0, 0.0]}, "C must be positive for at least one row"),
        ({"tol": 0.0}, "tol must lie between 0 and 1"),
        ({"max_iter": 0}, "max_iter must be at least 1"),
    ],
)
def test_bad_input_is_named(name, change, message):
    given_input = {"Phi": [[0.0], [1.0], [2.0]], "y": [1.0, 1.0, -1.0], **change}
    with pytest.raises(ValueError, match=message):
        solve(name, **given_input)


@st.composite
def ugly_problems(draw):
    n, m = draw(st.integers(2, 24)), draw(st.integers(1, 5))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    # small integers give duplicates, ties and dependent columns
    Phi = draw(st.sampled_from([rng.normal, lambda size: rng.integers(-1, 2, size) * 1.0]))(
        size=(n, m)
    )
    Phi = Phi * 10.0 ** draw(st.integers(-2, 2)) + draw(st.sampled_from([0.0, 0.0, 100.0]))
    y = np.where(rng.random(n) < draw(st.sampled_from([0.1, 0.5])), 1.0, -1.0)
    C = 10.0 ** draw(st.integers(-6, 6)) * 10.0 ** (draw(st.sampled_from([0, 3])) * rng.random(n))
    return Phi, y, C


# A column that rows with small multipliers need, next to others with multipliers of 100.
FEW_NEED_IT = (
    np.array([[200.0], [0.0], [0.0], [0.0], [100.0]]),
    np.array([1.0, -1.0, -1.0, 1.0, 1.0]),
    np.full(5, 100.0),
)
# fmt: off
# Over the rows that some round chooses, one column is a second bias.
SECOND_BIAS = (
    100.0 * np.array([
        [1, 0, 1, 0, 0], [2, 2, 0, 0, 2], [2, 0, 0, 2, 2], [2, 2, 0, 1, 2], [2, 1, 2, 0, 1],
        [2, 1, 0, 2, 1], [0, 0, 2, 2, 0], [0, 1, 2, 0, 2], [2, 0, 2, 1, 0], [1, 2, 0, 1, 2],
        [1, 1, 2, 1, 2], [0, 0, 1, 0, 2], [2, 0, 0, 1, 1], [2, 2, 0, 2, 2], [2, 0, 0, 0, 2],
    ]),
    np.repeat([1.0, -1.0, 1.0], [1, 5, 9]),
    np.array([
        107649.2074238629, 10837.23811518949, 47839.75456904797, 14145.280034302175,
        11727.477937525358, 804159.2517515004, 5875608.342973525, 51824.13871759253,
        1008638.8261817558, 79880.56121276908, 1365196.605716651, 14253.68048455407,
        1321768.7467333917, 3047146.871540994, 10569.724599333565,
    ]),
)
# fmt: on


@examples(60)
@given(problem=ugly_problems())
@example(problem=FEW_NEED_IT)
@example(problem=SECOND_BIAS)
def test_ugly_problems(name, problem):
    Phi, y, C = problem
    check(solve(name, Phi, y, C, tol=1e-6), name, Phi, y, C, 1e-6)


@pytest.mark.parametrize("seed", [93, 173, 199, 244])
def test_one_row_against_many(name, seed):
    """Ties without number and uneven costs: a vertex that fails must not prove another point."""
    rng = np.random.default_rng(seed)
    Phi = rng.integers(-1, 2, (22, 5)) * 1.0
    y = np.where(np.arange(22) == 17, 1.0, -1.0)
    C = 10.0 ** (1.0 + 3.0 * rng.random(22))
    check(solve(name, Phi, y, C, tol=1e-6), name, Phi, y, C, 1e-6)
