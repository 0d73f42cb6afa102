"""Contract of every loss that is registered, also by this module and by CONTRIBUTING.md."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.optimize import minimize
from scipy.special import expit
from sklearn.datasets import load_iris

import contributed
from kernelet import SparseSVC
from kernelet.kernels import Gaussian
from kernelet.learners import SmoothLoss, register_loss
from kernelet.learners.direct.losses import LOSSES, MarginLoss, find_loss
from kernelet.learners.direct.problems.svm import ClassProblem, SVMProblem
from kernelet.learners.direct.search.marginal_objective import MarginalObjective
from kernelet.rows import open_pieces
from kernelet.solvers.blocks.margins import Targets
from kernelet.subspace import WhitenedMap
from tests.rows.test_rows import cut, labelled


@register_loss
class Logistic(SmoothLoss):
    """log(1 + exp(-m)), for these tests."""

    name = "logistic_of_tests"

    def values(self, margins):
        return np.logaddexp(0.0, -margins)

    def slopes(self, margins):
        return -expit(-margins)

    def curvatures(self, margins):
        return expit(margins) * expit(-margins)


@register_loss
class RoundedHinge(SmoothLoss):
    """The hinge with its kink made round within 0.5 of it: straight lines on both sides."""

    name = "rounded_hinge_of_tests"

    def values(self, margins):
        inside = 0.5 * np.square(np.maximum(0.0, 1.5 - margins))
        return np.where(margins < 0.5, 1.0 - margins, inside)

    def slopes(self, margins):
        return -np.clip(1.5 - margins, 0.0, 1.0)

    def curvatures(self, margins):
        return ((margins >= 0.5) & (margins < 1.5)).astype(float)


RNG = np.random.default_rng(0)
X = RNG.normal(size=(300, 3))
CODES = RNG.permutation(np.arange(300) % 3)
X[np.arange(300), CODES] += 1.0
WEIGHTS = RNG.uniform(0.5, 2.0, 300)
TARGETS = Targets.of_classes(3)
Y = TARGETS.of(CODES)
KERNEL, Z = Gaussian(0.3), X[:6].copy()
PHI = WhitenedMap.from_vectors(KERNEL, Z).features(X)
each_loss = pytest.mark.parametrize("name", list(LOSSES))
each_smooth = pytest.mark.parametrize(
    "name", [name for name, loss in LOSSES.items() if loss.is_smooth]
)


def problem(name, tol=1e-10, outputs=3):
    return SVMProblem(Y[:, :outputs], 2.0 * WEIGHTS, name, tol)


def objective(name, k):
    """F of one output at (w, b), by its definition."""
    values = find_loss(name).values

    def value(at):
        margins = Y[:, k] * (PHI @ at[:-1] + at[-1])
        return 0.5 * at[:-1] @ at[:-1] + 2.0 * WEIGHTS @ values(margins)

    return value


def test_ours_and_the_example_are_among_them():
    assert {*LOSSES} >= {"hinge", "squared_hinge", Logistic.name, contributed.LOSS}


@each_loss
class TestEveryLoss:
    def test_it_is_convex_and_falls(self, name):
        margins = np.linspace(-4.0, 4.0, 201)
        values = find_loss(name).values(margins)
        assert (values >= 0.0).all() and values[0] > values[-1]
        assert (np.diff(values, 2) >= -1e-12).all()

    def test_no_other_machine_is_better(self, name):
        found = problem(name).solve(PHI, None)
        assert found.gap <= 1e-10
        total = 0.0
        for k in range(3):
            F, at = objective(name, k), np.append(found.weights[:, k], found.intercepts[k])
            total += F(at)
            # Powell's method needs no derivative: it knows nothing of how ours was found
            other = minimize(F, at, method="Powell", options={"xtol": 1e-6, "ftol": 1e-14})
            assert other.fun >= F(at) * (1.0 - 1e-8)
            for step in 1e-3 * RNG.normal(size=(20, at.size)):
                assert F(at + step) >= F(at)
        assert_allclose(found.value, total, rtol=1e-9)

    def test_slopes_of_rows_balance(self, name):
        """At the optimum w = -Phi' dF/df and the bias feels no pull."""
        # the value is about 200, with curvatures of up to 1000: an error e in it leaves a gradient
        # of sqrt(2 * 1000 e), which is 6e-4 here
        found = problem(name, 1e-12).solve(PHI, None)
        assert_allclose(-PHI.T @ found.score_gradient, found.weights, atol=6e-4)
        assert_allclose(found.score_gradient.sum(axis=0), 0.0, atol=6e-4)

    def test_a_start_leads_to_the_same(self, name):
        cold = problem(name).solve(PHI, None)
        warm = problem(name).solve(PHI, (0.9 * cold.weights, cold.intercepts + 0.1))
        assert_allclose(warm.value, cold.value, rtol=1e-8)

    def test_machines_are_the_solution(self, name):
        found = problem(name).solve(PHI, None)
        machines = find_loss(name).machines(PHI, Y, 2.0 * WEIGHTS, 1e-10)
        assert_allclose(sum(one.primal_value for one in machines), found.value, rtol=1e-8)
        assert all(one.is_optimal and one.gap <= 1e-10 and one.n_iter for one in machines)

    def test_out_of_core_rows(self, name):
        rows = labelled(open_pieces(*(cut(part, [100, 150, 50]) for part in (X, CODES, WEIGHTS))))
        space = WhitenedMap.from_vectors(KERNEL, Z)
        there = ClassProblem(TARGETS, 2.0, find_loss(name), 1e-10)
        found = there.solve(rows, rows.sample(100, 0), space, None)
        assert_allclose(found.value, problem(name).solve(PHI, None).value, rtol=1e-8)

    def test_loss_of_parts_adds_up(self, name):
        scores, index = RNG.normal(size=(300, 3)), RNG.permutation(300)
        whole = problem(name)
        parts = [whole.subset(part).loss(scores[part]) for part in (index[:100], index[100:])]
        assert_allclose(sum(parts), whole.loss(scores))
        assert_allclose(whole.scaled(3.0).loss(scores), 3.0 * whole.loss(scores))

    def test_gradient_in_the_vectors(self, name):
        W = MarginalObjective(X, KERNEL, problem(name, 1e-12))
        gradient, step = W(Z).gradient, 1e-5
        for i, j in ((0, 0), (3, 1), (5, 2)):
            there = [Z.copy(), Z.copy()]
            there[0][i, j] += step
            there[1][i, j] -= step
            slope = (W(there[0]).value - W(there[1]).value) / (2.0 * step)
            assert_allclose(gradient[i, j], slope, rtol=1e-3, atol=1e-4)

    @pytest.mark.parametrize("options", [{}, {"vectors": "per_class"}, {"kernel": "poly"}])
    def test_an_estimator_learns_with_it(self, name, options):
        rows, labels = load_iris(return_X_y=True)
        model = SparseSVC(5, C=1.0, loss=name, coef0=1.0, random_state=0, **options)
        model.fit(rows, labels)
        assert model.score(rows, labels) > 0.93
        again = SparseSVC(5, C=1.0, loss=name, coef0=1.0, random_state=0, **options)
        assert again.fit(rows, labels).machine_ == model.machine_

    def test_an_estimator_learns_from_chunks(self, name):
        parts = [cut(part, [100, 150, 50]) for part in (X, CODES)]
        here = SparseSVC(5, C=1.0, loss=name, tol=1e-3, random_state=0).fit(X, CODES)
        there = SparseSVC(5, C=1.0, loss=name, tol=1e-3, random_state=0).fit(*parts)
        assert_allclose(there.objective_, here.objective_, rtol=0.05)


@each_smooth
class TestSmoothLoss:
    def test_slopes_and_curvatures_by_differences(self, name):
        loss, step = find_loss(name), 1e-6
        margins = RNG.uniform(-3.0, 3.0, 200)
        for kink in (0.5, 1.0, 1.5):  # of slopes
            margins = margins[np.abs(margins - kink) > 1e-3]
        for function, derivative in ((loss.values, loss.slopes), (loss.slopes, loss.curvatures)):
            slopes = (function(margins + step) - function(margins - step)) / (2.0 * step)
            assert_allclose(derivative(margins), slopes, atol=1e-7)

    def test_losses_of_rows_are_the_value_without_the_norm(self, name):
        whole = problem(name)
        found = whole.solve(PHI, None)
        norm = 0.5 * float(np.sum(found.weights**2))
        assert_allclose(whole.row_losses(found).sum(), found.value - norm, rtol=1e-6)

    @pytest.mark.parametrize("dtype", [np.float32, np.float64])
    def test_rough_solutions_are_near(self, name, dtype):
        whole = problem(name)
        exact, rough = whole.solve(PHI, None), whole.approximate(PHI.astype(dtype), None)
        assert_allclose(rough.value, exact.value, rtol=1e-3)
        assert rough.value >= exact.value * (1.0 - 1e-5)

    def test_newton_on_sums_is_right_for_all(self, name):
        """What a loss without a solver of its own gets, for each of them."""
        machines = SmoothLoss.machines(find_loss(name), PHI, Y, 2.0 * WEIGHTS, 1e-12)
        value = problem(name, 1e-12).solve(PHI, None).value
        assert_allclose(sum(one.primal_value for one in machines), value, rtol=1e-9)
        assert max(one.n_passes for one in machines) < 60

    @pytest.mark.parametrize("C", [1e-6, 1e6])
    def test_extreme_costs(self, name, C):
        machines = find_loss(name).machines(PHI, Y, C * WEIGHTS, 1e-6)
        assert all(np.isfinite(one.primal_value) and one.is_optimal for one in machines)


class TestRegistration:
    def test_a_name_that_is_not_known(self):
        with pytest.raises(ValueError, match=r"loss must be .*hinge.*got 'hnge'"):
            SparseSVC(loss="hnge").fit(X, CODES)

    @pytest.mark.parametrize("name", ["", "Big", "two words", "a-b", "x'y", None, 3])
    def test_names_are_plain(self, name):
        kind = type("Odd", (Logistic,), {"name": name})
        with pytest.raises(ValueError, match=r"Odd\.name must be"):
            register_loss(kind)

    def test_a_name_is_taken_once(self):
        for called in ("Other", "Hinge"):  # a class of the same name is another class
            kind = type(called, (Logistic,), {"name": "hinge", "__qualname__": called})
            with pytest.raises(ValueError, match=r"'hinge' is registered already, .*\.Hinge; give"):
                register_loss(kind)
        assert type(find_loss("hinge")).__name__ == "Hinge"

    def test_a_class_may_be_defined_again(self):
        place = {"__qualname__": "Logistic", "__module__": Logistic.__module__}
        again = type("Logistic", (Logistic,), place)
        try:
            register_loss(again)
            assert type(find_loss(Logistic.name)) is again
        finally:
            register_loss(Logistic)

    def test_what_is_missing_is_named(self):
        class Half(MarginLoss):
            name = "half"

        with pytest.raises(TypeError, match="machines"):
            register_loss(Half)
        assert "half" not in LOSSES
