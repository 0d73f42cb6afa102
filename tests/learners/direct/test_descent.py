"""The search over the vectors: where it ends, and what may happen on the way."""

from __future__ import annotations

import warnings
from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import optimize, sparse
from sklearn.exceptions import ConvergenceWarning

import interrupts
from kernelet.datasets import make_banana
from kernelet.kernels import Gaussian, Polynomial
from kernelet.learners.direct.problems.reduced_set import ReducedSetProblem
from kernelet.learners.direct.problems.svm import SVMProblem
from kernelet.learners.direct.search import descent
from kernelet.learners.direct.search.descent import minimize_over_vectors
from kernelet.learners.direct.search.marginal_objective import MarginalObjective
from kernelet.learners.direct.search.vector_exchange import removals, revived
from kernelet.subspace import seed_vectors

X, labels = make_banana(200, random_state=3)
Y = (2.0 * labels - 1.0)[:, None]
KERNEL = Gaussian(1.0)


def svm(rows=X, kernel=KERNEL, C=10.0, tol=1e-7):
    return MarginalObjective(rows, kernel, SVMProblem(Y, np.full(len(Y), C), tol=tol))


def search(objective, Z, **options):
    rng = np.random.default_rng(0)
    return minimize_over_vectors(
        objective, Z, revive=lambda at: revived(objective, at, rng), **options
    )


@pytest.fixture(scope="module")
def start():
    return seed_vectors(X, 6, "kmeans", KERNEL, 0)


@pytest.fixture(scope="module")
def good(start):
    return search(svm(), start)


def test_the_search_converges_and_its_history_falls(good, start):
    assert good.converged
    assert not good.interrupted
    assert np.all(np.diff(good.history) <= 0.0)
    assert_allclose(good.history[0], svm()(start).value, rtol=1e-9)
    assert good.history[-1] == good.best.value < 0.8 * good.history[0]
    assert 0 < good.n_iter < good.n_evaluations


def test_a_smaller_tolerance_goes_further(start):
    ends = [search(svm(tol=1e-9), start, tol=tol) for tol in (1.0, 1e-1, 1e-3)]
    assert ends[0].n_iter < ends[1].n_iter < ends[2].n_iter
    assert ends[0].best.value > ends[1].best.value > ends[2].best.value


def test_a_search_that_takes_no_step_warns(start):
    """Its gradient leads nowhere: what a line search cannot use looks like an end."""
    objective = svm()

    class Misled(MarginalObjective):
        def __call__(self, Z, rank=None, like=None):
            at = super().__call__(Z, rank, like)
            return replace(at, gradient=-at.gradient)

    end = minimize_over_vectors(Misled(objective.X, objective.kernel, objective.inner), start)
    assert not end.converged
    # where rounding has a say, a step of next to nothing may count
    assert_allclose(end.best.vectors, start, rtol=1e-6)
    with pytest.warns(ConvergenceWarning, match="no step lowers W, .* Try another init, gamma"):
        end.warn_unless_converged("SparseSVC")


LOST = {
    "merged": lambda Z: np.vstack([Z[:3], Z[:3] + 1e-7]),
    "equal": lambda Z: np.vstack([Z[:3], Z[:3]]),
    "all equal": lambda Z: np.repeat(Z[:1], 6, axis=0),
    "far away": lambda Z: np.vstack([Z[:3], Z[3:] + 1e4]),
    "all far away": lambda Z: Z + 1e4,
    "all far away and equal": lambda Z: np.repeat(Z[:1] + 1e4, 6, axis=0),
}


@pytest.mark.parametrize("case", LOST)
def test_vectors_that_do_not_help_are_revived(case, start, good):
    end = search(svm(), LOST[case](start))
    assert end.best.rank == 6
    assert np.abs(end.best.vectors).max() < 100.0
    # another local minimum, but no vector is wasted: three alone end above this. Pairs 1e-7 apart
    # are at the edge of double precision: where they go depends on the BLAS, at times less far
    assert end.best.value <= (1.25 if case == "merged" else 1.1) * good.best.value


def test_without_revival_lost_vectors_stay_lost(start, good):
    """So that the test above tests something."""
    end = minimize_over_vectors(svm(), LOST["all far away"](start))
    assert end.best.value > 1.1 * good.best.value


def test_duplicate_rows_and_more_vectors_than_rows():
    rows = np.repeat(X[:4], 50, axis=0)
    y = np.where(np.arange(200) % 200 < 100, 1.0, -1.0)[:, None]
    objective = MarginalObjective(rows, KERNEL, SVMProblem(y, np.ones(200), tol=1e-8))
    end = search(objective, np.random.default_rng(0).normal(size=(9, 2)))
    assert np.isfinite(end.best.value)
    # the span of the four distinct rows holds the whole SVM
    assert end.best.value <= objective(X[:4]).value * (1.0 + 1e-3)


def test_an_interrupt_keeps_the_best_point(start):
    with pytest.MonkeyPatch.context() as patch:
        values = interrupts.watch_evaluations(patch)
        search(svm(), start)
    values = [at.value for at in values]
    # after the first evaluation, after a good step, and after one that a line search rejects
    rejected = [n for n in range(2, len(values) + 1) if values[n - 1] > min(values[: n - 1])]
    assert rejected
    for n in (1, 2, 7, rejected[0], rejected[-1]):
        with pytest.MonkeyPatch.context() as patch:
            seen = interrupts.interrupt_after(patch, n)
            end = search(svm(), start)
        assert end.interrupted
        assert not end.converged
        assert len(seen) == n
        assert end.best.value == min(at.value for at in seen)
    with pytest.warns(ConvergenceWarning, match="interrupted; the best vectors so far are kept"):
        end.warn_unless_converged("Something")


def test_a_revival_in_vain_is_undone(start):
    """Replaced vectors may raise W a little; what was there before is not lost."""
    ends = []
    with pytest.MonkeyPatch.context() as patch:

        def revive(at):
            ends.append(at)
            interrupts.interrupt_after(patch, 1)
            return at.vectors + 0.01

        end = minimize_over_vectors(svm(), start, revive=revive)
    (before,) = ends
    assert svm()(before.vectors + 0.01).value > before.value
    assert end.interrupted
    assert end.best is before
    assert np.all(np.diff(end.history) <= 0.0)


def test_an_interrupt_from_a_step_keeps_the_best_point(start):
    def on_step(step):
        if step.n_iter == 4:
            raise KeyboardInterrupt

    end = search(svm(), start, on_step=on_step)
    assert end.interrupted
    assert end.n_iter == 4
    assert end.best.value == end.history[-1] < end.history[0]


def test_nothing_is_kept_when_there_is_nothing_yet(monkeypatch, start):
    interrupts.interrupt_after(monkeypatch, 0)
    with pytest.raises(KeyboardInterrupt):
        search(svm(), start)


def test_steps_are_reported_one_by_one(start):
    steps = []
    end = search(svm(), start, on_step=steps.append)
    assert [step.n_iter for step in steps] == list(range(1, end.n_iter + 1))
    assert_array_equal([step.value for step in steps], end.history[1:])
    assert_array_equal([step.best.value for step in steps], end.history[1:])
    assert np.all(np.diff([step.n_evaluations for step in steps]) > 0)
    assert np.all(np.diff([step.seconds for step in steps]) >= 0.0)
    assert all(1 <= step.n_alive <= 6 for step in steps)
    assert_allclose(
        [step.gradient_norm for step in steps],
        [np.linalg.norm(step.best.gradient) for step in steps],
    )
    assert end.n_evaluations >= steps[-1].n_evaluations


def test_a_step_may_ask_for_the_end(start):
    end = search(svm(), start, on_step=lambda step: step.n_iter == 3)
    assert end.n_iter == 3
    assert not end.converged
    with pytest.warns(ConvergenceWarning, match="callback"):
        end.warn_unless_converged("Something")


@pytest.mark.parametrize("max_iter", [1, 5])
def test_too_few_steps_warn_and_say_how_far_they_got(start, max_iter):
    end = search(svm(), start, max_iter=max_iter)
    assert end.n_iter == max_iter
    assert not end.converged
    message = rf"max_iter={max_iter} steps.*W = {end.best.value:.6g} after {max_iter} steps"
    with pytest.warns(ConvergenceWarning, match=message):
        end.warn_unless_converged("Something")


def test_steps_of_an_earlier_search_count(start):
    steps = []
    end = search(svm(), start, max_iter=8, n_before=5, on_step=steps.append)
    assert [step.n_iter for step in steps] == [6, 7, 8]
    assert end.n_iter == 8
    assert "max_iter=8 steps" in end.message
    none_left = search(svm(), start, max_iter=8, n_before=8, on_step=steps.append)
    assert len(steps) == 3
    assert none_left.n_iter == 8
    assert_array_equal(none_left.best.vectors, start)
    assert not none_left.converged


def test_a_search_that_converged_does_not_warn(good):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        good.warn_unless_converged("Something")


def test_given_vectors_are_not_written_to(start):
    before = start.copy()
    search(svm(), start, max_iter=3)
    assert_array_equal(start, before)


def reduced_set(scale):
    a = scale * np.random.default_rng(0).normal(size=(200, 2))
    squared_norm = float((a * (KERNEL(X, X) @ a)).sum())
    return MarginalObjective(X, KERNEL, ReducedSetProblem(a, squared_norm, np.zeros(2)))


@pytest.mark.parametrize("scale", [1e-9, 1e-4, 1e5])
def test_the_unit_of_the_objective_does_not_matter(start, scale):
    end, expected = search(reduced_set(scale), start), search(reduced_set(1.0), start)
    assert expected.n_iter > 3
    assert_allclose(end.best.value, scale**2 * expected.best.value, rtol=1e-2)


@pytest.mark.parametrize("scale", [1e-6, 1e5])
def test_the_unit_of_the_data_does_not_matter(start, good, scale):
    end = search(svm(scale * X, Gaussian(1.0 / scale**2)), scale * start)
    assert_allclose(end.best.value, good.best.value, rtol=1e-2)


@pytest.mark.parametrize("factor", [2.0**-12, 2.0**12])
@pytest.mark.parametrize("rows", [[0], [5, 5, 5]])
@pytest.mark.parametrize("container", [np.asarray, sparse.csr_array])
def test_the_first_step_of_vectors_without_a_spread_has_the_unit_of_the_rows(
    container, rows, factor
):
    """One vector, or equal ones, do not say how far a step should go."""
    one = search(svm(), X[rows], max_iter=1).best
    objective = svm(container(factor * X), Gaussian(1.0 / factor**2))
    other = search(objective, factor * X[rows], max_iter=1).best
    assert_allclose(other.value, one.value, rtol=1e-6)
    assert_allclose(other.vectors / factor, one.vectors, rtol=1e-6)


def test_an_exact_reduced_set_ends_at_zero():
    """Two given vectors, two to find: the objective falls to rounding error and the search ends."""
    Z = np.array([[0.0, 0.0], [2.0, 1.0]])
    a = np.array([[1.0], [-0.5]])
    squared_norm = float((a * (KERNEL(Z, Z) @ a)).sum())
    objective = MarginalObjective(Z, KERNEL, ReducedSetProblem(a, squared_norm, np.zeros(1)))
    end = search(objective, Z + np.array([[0.3, -0.2], [0.1, 0.4]]), tol=1e-8, max_iter=500)
    assert abs(end.best.value) <= 1e-9 * squared_norm
    found = end.best.vectors[np.argsort(end.best.vectors[:, 0])]
    assert_allclose(found, Z, atol=1e-4)


def test_vectors_of_a_homogeneous_kernel_do_not_run_away():
    """With coef0 = 0 the length of a vector has no effect on W."""
    objective = svm(kernel=Polynomial(1.0, 0.0, 2))
    end = search(objective, np.array([[1.0, 0.2], [-0.5, 1.0], [1e3, -2e3]]))
    assert np.isfinite(end.best.vectors).all()
    assert end.best.value <= objective(np.array([[1.0, 0.2], [-0.5, 1.0], [1e3, -2e3]])).value


def test_divisions_within_scipy_leave_no_warning(monkeypatch, start):
    """It divides by what a step changed in the gradient, for a Hessian that nobody asks for."""

    def dividing(*arguments, **options):
        end = optimize.minimize(*arguments, **options)
        end.hess_inv = 1.0 / np.zeros(1)
        return end

    monkeypatch.setattr(descent, "minimize", dividing)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        search(svm(), start)


def test_the_worth_of_vectors_beyond_squares_of_doubles_leaves_no_warning():
    at = svm()(X[:6])
    huge = replace(at, coefficients=1e200 * at.coefficients)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        order, losses = removals(huge, 3)
    expected, usual = removals(at, 3)
    assert_array_equal(order, expected)
    assert_array_equal(losses, np.inf)
    half = replace(at, coefficients=0.5 * at.coefficients)
    assert_array_equal(removals(half, 3)[1], 0.25 * usual)
