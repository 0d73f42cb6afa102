"""SparseSVR and SparseOneClassSVM: against LIBSVM, by what the objective says, and as exports."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.linear_model import QuantileRegressor
from sklearn.model_selection import GridSearchCV
from sklearn.svm import SVR, OneClassSVM

from kernelet.kernels import Gaussian, Linear
from kernelet.learners import SparseKernelRidge, SparseOneClassSVM, SparseSVR, compress
from kernelet.learners.direct.problems.interval import (
    IntervalProblem,
    OneClassProblem,
    SquaredIntervalProblem,
)
from kernelet.persistence import load
from references import quadratic_program

RNG = np.random.default_rng(0)
X = RNG.normal(size=(60, 2))
y = 10.0 * np.sin(2.0 * X[:, 0]) + 5.0 * X[:, 1] ** 2 + RNG.normal(size=60)
WEIGHTS = RNG.uniform(0.2, 3.0, 60)


SQUARED = "squared_epsilon_insensitive"


def loss_of(f, epsilon=None, quantile=None, power=1):
    if quantile is None:
        return np.maximum(0.0, np.abs(y - f) - epsilon) ** power
    return np.maximum(quantile * (y - f), (quantile - 1.0) * (y - f))


def norm_of(model):
    beta, Z = model.machine_.coefficients[:, 0], model.vectors_
    return float(beta @ model.machine_.kernel(Z, Z) @ beta)


class TestRegression:
    @pytest.mark.parametrize(
        ("options", "kind"),
        [
            ({"epsilon": 1.0}, {"epsilon": 1.0}),
            ({"epsilon": 0.0}, {"epsilon": 0.0}),
            ({"loss": SQUARED, "epsilon": 1.0}, {"epsilon": 1.0, "power": 2}),
            ({"loss": SQUARED, "epsilon": 0.0}, {"epsilon": 0.0, "power": 2}),
            ({"loss": "quantile", "quantile": 0.2}, {"quantile": 0.2}),
        ],
    )
    def test_the_machine_attains_the_objective(self, options, kind):
        m = SparseSVR(6, C=3.0, random_state=0, **options).fit(X, y, sample_weight=WEIGHTS)
        value = 0.5 * norm_of(m) + 3.0 * WEIGHTS @ loss_of(m.predict(X), **kind)
        # the inner problems are solved to 1e-2 tol
        assert_allclose(m.objective_, value, rtol=1e-4)

    def test_all_rows_as_vectors_give_the_svr_back(self):
        m = SparseSVR(60, C=5.0, epsilon=0.5, gamma=0.5, init=X, tol=1e-4).fit(X, y)
        svr = SVR(C=5.0, epsilon=0.5, gamma=0.5, tol=1e-8).fit(X, y)
        dual = svr.dual_coef_[0]
        norm = dual @ Gaussian(0.5)(svr.support_vectors_, svr.support_vectors_) @ dual
        value = 0.5 * norm + 5.0 * loss_of(svr.predict(X), 0.5).sum()
        assert_allclose(m.objective_, value, rtol=1e-5)
        assert_allclose(m.predict(X), svr.predict(X), atol=0.1)
        few = SparseSVR(10, C=5.0, epsilon=0.5, gamma=0.5, random_state=0).fit(X, y)
        assert value * (1.0 - 1e-5) <= few.objective_ <= 1.3 * value

    @pytest.mark.parametrize("quantile", [0.1, 0.5, 0.9])
    def test_a_share_of_the_targets_lies_below(self, quantile):
        m = SparseSVR(5, C=2.0, loss="quantile", quantile=quantile, random_state=0, tol=1e-5)
        m.fit(X, y)
        below = np.mean(y < m.predict(X) - 1e-4), np.mean(y <= m.predict(X) + 1e-4)
        assert below[0] - 0.02 <= quantile <= below[1] + 0.02

    def test_a_linear_kernel_and_no_penalty_is_linear_quantile_regression(self):
        m = SparseSVR(2, C=1e6, loss="quantile", quantile=0.7, kernel=Linear(), tol=1e-6)
        m.fit(X, y)
        other = QuantileRegressor(quantile=0.7, alpha=0.0).fit(X, y)
        assert_allclose(
            loss_of(m.predict(X), quantile=0.7).sum(),
            loss_of(other.predict(X), quantile=0.7).sum(),
            rtol=1e-4,
        )

    @pytest.mark.parametrize("factor", [1e-6, 1e6])
    def test_units(self, factor):
        m = SparseSVR(5, C=10.0, epsilon=0.5, random_state=0).fit(X, y)
        # f in other units costs factor^2 as norm and factor as loss
        other = SparseSVR(5, C=10.0 * factor, epsilon=0.5 * factor, random_state=0)
        other.fit(X, factor * y + 7.0 * factor)
        assert_allclose(other.objective_ / factor**2, m.objective_, rtol=0.05)

    def test_constant_targets_and_huge_costs(self):
        assert_allclose(SparseSVR(3).fit(X, np.full(60, 3.0)).predict(X), 3.0, atol=0.11)
        assert_allclose(SparseSVR(3, epsilon=0).fit(X, np.full(60, 3.0)).predict(X), 3.0)
        wild = SparseSVR(5, C=1e9, random_state=0).fit(X, y)
        assert wild.score(X, y) > 0.7
        with pytest.warns(UserWarning, match=r"the same for all .* larger C \(now 1e-09\)"):
            tame = SparseSVR(5, C=1e-9, random_state=0).fit(X, y)
        assert np.ptp(tame.predict(X)) < 1e-3

    @pytest.mark.parametrize(
        ("parameters", "words"),
        [
            ({"C": 0.0}, "C must"),
            ({"epsilon": -1.0}, "epsilon must"),
            ({"epsilon": np.inf, "loss": SQUARED}, "epsilon must"),
            ({"loss": "huber"}, "loss must be one of"),
            ({"loss": "quantile", "quantile": 1.0}, "quantile must lie"),
        ],
    )
    def test_a_bad_parameter_is_named(self, parameters, words):
        with pytest.raises(ValueError, match=words):
            SparseSVR(**parameters).fit(X, y)

    def test_grid_search_and_compression(self):
        search = GridSearchCV(SparseSVR(5, random_state=0), {"C": [1e-6, 10.0]}, cv=3)
        with pytest.warns(UserWarning, match=r"the same for all .* larger C \(now 1e-06\)"):
            search.fit(X, y)
        assert search.best_params_ == {"C": 10.0}
        small = compress(search.best_estimator_, 4)
        assert small.n_vectors_ == 4
        assert small.score(X, y) > 0.5


class TestSquaredRegression:
    @pytest.mark.parametrize("epsilon", [0.0, 0.5, 4.0])
    def test_all_rows_as_vectors_give_the_optimum_of_clarabel(self, epsilon):
        options = {"C": 5.0, "epsilon": epsilon, "gamma": 0.5, "loss": SQUARED}
        m = SparseSVR(60, init=X, tol=1e-4, **options).fit(X, y, sample_weight=WEIGHTS)
        # over the coefficients, the bias and a slack for each end of each interval
        K, eye, none = Gaussian(0.5)(X, X), np.eye(60), np.zeros((60, 60))
        P = np.zeros((181, 181))
        P[:60, :60] = K
        P[61:, 61:] = np.diag(np.tile(10.0 * WEIGHTS, 2))
        design = np.column_stack([K, np.ones(60)])
        A = np.vstack([np.hstack([-design, -eye, none]), np.hstack([design, none, -eye])])
        ends = np.concatenate([epsilon - y, y + epsilon])
        value = quadratic_program(P, np.zeros(181), A, ends)
        assert_allclose(m.objective_, value, rtol=1e-5)
        few = SparseSVR(10, random_state=0, **options).fit(X, y, sample_weight=WEIGHTS)
        assert value * (1.0 - 1e-5) <= few.objective_ <= 1.3 * value

    @pytest.mark.filterwarnings("ignore:.*stopped early")
    def test_without_a_tube_it_is_ridge_regression_at_twice_the_cost(self):
        options = {"gamma": 0.5, "init": X[:5], "max_iter": 1}
        m = SparseSVR(5, C=2.0, epsilon=0.0, loss=SQUARED, tol=1e-6, **options).fit(X, y)
        ridge = SparseKernelRidge(5, C=4.0, tol=1e-6, learn_kernel=False, **options).fit(X, y)
        assert_allclose(m.objective_, ridge.objective_, rtol=1e-6)
        assert_allclose(m.predict(X), ridge.predict(X), atol=1e-4)

    @pytest.mark.parametrize("factor", [1e-6, 1e6])
    def test_units(self, factor):
        m = SparseSVR(5, C=10.0, epsilon=0.5, loss=SQUARED, random_state=0).fit(X, y)
        # norm and loss are both squares of f
        other = SparseSVR(5, C=10.0, epsilon=0.5 * factor, loss=SQUARED, random_state=0)
        other.fit(X, factor * y + 7.0 * factor)
        assert_allclose(other.objective_ / factor**2, m.objective_, rtol=0.05)

    def test_constant_targets_and_huge_costs(self):
        for epsilon in (0.0, 0.1):
            same = SparseSVR(3, epsilon=epsilon, loss=SQUARED).fit(X, np.full(60, 3.0))
            assert_allclose(same.predict(X), 3.0)
            assert same.objective_ == 0.0
        wild = SparseSVR(5, C=1e9, loss=SQUARED, random_state=0).fit(X, y)
        assert wild.score(X, y) > 0.7
        with pytest.warns(UserWarning, match=r"the same for all .* larger C \(now 1e-09\)"):
            tame = SparseSVR(5, C=1e-9, loss=SQUARED, random_state=0).fit(X, y)
        assert np.ptp(tame.predict(X)) < 1e-3

    def test_a_tube_wider_than_the_targets_leaves_their_middle(self):
        with pytest.warns(UserWarning, match=r"the same for all .* smaller epsilon \(now 100\)"):
            m = SparseSVR(5, epsilon=100.0, loss=SQUARED, random_state=0).fit(X, y)
        assert m.objective_ == 0.0
        assert_allclose(m.predict(X), 0.5 * (y.min() + y.max()))

    def test_weights_are_repetitions_and_none_is_absence(self):
        times = np.arange(60) % 3
        make = SparseSVR(5, C=3.0, loss=SQUARED, random_state=0)
        weighted = clone(make).fit(X, y, sample_weight=times)
        repeated = clone(make).fit(np.repeat(X, times, axis=0), np.repeat(y, times))
        assert weighted.machine_ == repeated.machine_

    def test_files_keep_the_loss(self, tmp_path):
        m = SparseSVR(5, C=3.0, loss=SQUARED, random_state=0).fit(X, y)
        m.save(tmp_path / "m.kernelet")
        loaded = load(tmp_path / "m.kernelet")
        assert loaded.loss == SQUARED
        assert_array_equal(loaded.predict(X), m.predict(X))

    def test_a_start_of_no_use_gives_the_same_answer(self):
        """At costs of 1e9 the machines of a nearby problem may not be near enough."""
        problem = SquaredIntervalProblem.tube(y, 1e9 * WEIGHTS, 0.1, 1e-9)
        Phi = Gaussian(0.5)(X, X[:8])
        cold = problem.solve(Phi, None)
        for size in (1.0, 1e9, np.nan):
            warm = problem.solve(Phi, (np.full((8, 1), size), np.zeros(1)))
            assert warm.gap <= 1e-9
            assert_allclose(warm.value, cold.value, rtol=1e-8)
            assert_allclose(warm.score_gradient, cold.score_gradient, rtol=1e-5, atol=1e3)
        scores = Phi @ cold.weights + cold.intercepts
        norm = 0.5 * float(cold.weights[:, 0] @ cold.weights[:, 0])
        assert_allclose(norm + problem.loss(scores), cold.value, rtol=1e-9)
        part = np.arange(0, 60, 2)
        deviations = np.maximum(0.0, np.abs(y - scores[:, 0]) - 0.1)[part]
        assert_allclose(
            problem.subset(part).loss(scores[part]), 1e9 * WEIGHTS[part] @ deviations**2
        )

    def test_problems_know_their_smooth_twins(self):
        squared = SquaredIntervalProblem.tube(y, WEIGHTS, 0.1)
        assert squared.smooth is squared
        assert IntervalProblem.pinball(y, WEIGHTS, 0.3, 1.0).smooth is None
        assert OneClassProblem(WEIGHTS, 0.1).smooth is None
        tube = IntervalProblem.tube(y, WEIGHTS, 0.1, 5.0)
        scores = 0.3 * y[:, None]
        for problem, rows in (
            (tube, slice(None)),
            (tube.subset(np.arange(0, 60, 2)), slice(0, 60, 2)),
        ):
            lacks = np.maximum(0.0, np.abs(y - scores[:, 0]) - 0.1)[rows]
            # a deviation as large as the targets costs the same
            assert_allclose(problem.smooth.loss(scores[rows]), WEIGHTS[rows] @ lacks**2 / 5.0)
            assert_allclose(problem.loss(scores[rows]), WEIGHTS[rows] @ lacks)
        assert_allclose(tube.scaled(3.0).smooth.loss(scores), 3.0 * tube.smooth.loss(scores))


class TestOneClass:
    def test_the_machine_attains_the_objective(self):
        m = SparseOneClassSVM(6, nu=0.2, random_state=0).fit(X, sample_weight=WEIGHTS)
        slack = np.maximum(0.0, -m.decision_function(X))
        rho = m.offset_[0]
        value = 0.5 * norm_of(m) + WEIGHTS @ slack - 0.2 * WEIGHTS.sum() * rho
        assert_allclose(m.objective_, value, rtol=1e-4)

    @pytest.mark.parametrize("nu", [0.05, 0.3, 0.95])
    def test_all_rows_as_vectors_give_the_one_class_svm_back(self, nu):
        m = SparseOneClassSVM(60, nu=nu, gamma=0.5, init=X, tol=1e-5).fit(X)
        other = OneClassSVM(nu=nu, gamma=0.5, tol=1e-9).fit(X)
        assert_allclose(m.score_samples(X), other.score_samples(X), rtol=1e-3)
        dual = other.dual_coef_[0]
        norm = dual @ Gaussian(0.5)(other.support_vectors_, other.support_vectors_) @ dual
        # strong duality: the optimum is minus half the norm
        assert_allclose(m.objective_, -0.5 * norm, rtol=1e-5)
        few = SparseOneClassSVM(8, nu=nu, gamma=0.5, random_state=0).fit(X)
        assert -0.5 * norm * (1.0 + 1e-5) <= few.objective_ <= -0.45 * norm

    @pytest.mark.parametrize("nu", [0.05, 0.2, 0.6])
    def test_conventions_of_scikit_learn(self, nu):
        m = SparseOneClassSVM(8, nu=nu, random_state=0, tol=1e-5).fit(X)
        scores = m.decision_function(X)
        assert_allclose(scores, m.score_samples(X) - m.offset_)
        assert_array_equal(m.predict(X), np.where(scores >= 0, 1, -1))
        assert_array_equal(m.fit_predict(X), m.predict(X))
        # nu bounds the share outside from above, and that outside or on the margin from below
        margin = 1e-4 * m.offset_[0]
        assert np.mean(scores < -margin) <= nu <= np.mean(scores <= margin) + 0.02
        far = m.decision_function(X + 20.0)
        assert (far < scores.max()).all()
        assert_array_equal(m.predict(X + 20.0), -1)

    def test_all_rows_may_lie_outside(self):
        m = SparseOneClassSVM(60, nu=1.0, gamma=0.5, init=X).fit(X)
        # every multiplier is at its bound: a density estimate
        density = Gaussian(0.5)(X, X).sum(axis=1)
        assert_allclose(m.score_samples(X), density, rtol=1e-3)

    def test_a_bad_parameter_is_named(self):
        for nu in (0.0, 1.5, "half"):
            with pytest.raises(ValueError, match="nu must"):
                SparseOneClassSVM(nu=nu).fit(X)

    def test_compression_and_grid_search(self):
        m = SparseOneClassSVM(8, nu=0.2, random_state=0).fit(X)
        small = compress(m, 6)
        assert small.n_vectors_ == 6
        assert 0.0 < small.relative_error_ < 0.2
        assert_allclose(small.offset_, m.offset_)
        search = GridSearchCV(
            SparseOneClassSVM(4, random_state=0),
            {"nu": [0.05, 0.9]},
            scoring=lambda model, rows, truth=None: np.mean(model.predict(rows) == 1),
            cv=3,
        )
        assert search.fit(X).best_params_ == {"nu": 0.05}


@pytest.mark.parametrize("offset", [1e7, 1e9])
def test_squared_tubes_far_from_zero_in_single_precision(offset):
    """Single precision has a spacing of 64 at 1e9."""
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(3000, 5))
    values = np.sin(rows[:, 0]) + rows[:, 1]
    errors = []
    for shift in (0.0, offset):
        m = SparseSVR(15, C=10.0, loss="squared_epsilon_insensitive", tol=0.05, random_state=0)
        m.fit(rows, values + shift)
        errors.append(np.mean((m.predict(rows) - shift - values) ** 2))
    assert errors[1] < 1.2 * errors[0] + 1e-6
