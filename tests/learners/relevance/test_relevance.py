"""Relevance vector machines: the evidence by hand, by integration, and by its stationarity."""

from __future__ import annotations

import pickle
import warnings
from typing import ClassVar

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from scipy.linalg import LinAlgError
from scipy.optimize import minimize
from scipy.special import expit
from scipy.stats import multivariate_normal
from sklearn.base import clone
from sklearn.datasets import load_diabetes, load_iris
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.preprocessing import StandardScaler

from kernelet import load
from kernelet.datasets import make_banana, make_ripley
from kernelet.kernels import Gaussian, Linear, Polynomial
from kernelet.learners import RelevanceVectorClassifier, RelevanceVectorRegressor
from kernelet.learners.base.progress import Loop
from kernelet.learners.relevance import search as relevance_search
from kernelet.learners.relevance.learn import learn_relevance
from kernelet.learners.relevance.likelihoods import BernoulliLikelihood, GaussianLikelihood
from kernelet.learners.relevance.precisions import FREE, State, settled
from kernelet.learners.relevance.search import best_gain, candidates

X, y = make_banana(120, random_state=0)
ONES = np.ones(120)
PHI = np.column_stack([ONES, Gaussian(0.5)(X, X)])
IRIS, SPECIES = load_iris(return_X_y=True)
IRIS = StandardScaler().fit_transform(IRIS)
LINE = np.linspace(-10.0, 10.0, 100)[:, None]
NOISE = np.random.default_rng(0).normal(size=100)
SINC = np.sinc(LINE[:, 0] / np.pi) + 0.1 * NOISE


def model(**parameters):
    return RelevanceVectorClassifier(**{"gamma": 0.5, **parameters})


def gaussian(noise=0.01):
    return GaussianLikelihood(SINC, np.ones(100), noise, 1e-12)


def searched(Phi, likelihood):
    with Loop(model(), None) as loop:
        (found,) = learn_relevance(Phi, [likelihood], list, loop)
    return found


def quiet(estimator, *arguments, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return estimator.fit(*arguments, **options)


class TestPosterior:
    def test_labels_have_the_mode_of_penalised_logistic_regression(self):
        columns, alpha = PHI[:, [3, 40, 90]], np.full(3, 2.0)
        mode = BernoulliLikelihood(y * 1.0, ONES).posterior(columns, alpha, np.zeros(3))
        other = LogisticRegression(C=0.5, fit_intercept=False, tol=1e-10).fit(columns, y)
        assert_allclose(mode.weights, other.coef_[0], atol=1e-5)
        # at the mode the residual explains the weights
        assert_allclose(columns.T @ mode.residual, alpha * mode.weights, atol=1e-6)

    def test_a_far_start_ends_at_the_same_mode(self):
        likelihood = BernoulliLikelihood(y * 1.0, ONES)
        columns, alpha = PHI[:, [0, 3, 40]], np.array([FREE, 1e-6, 1e-6])
        near = likelihood.posterior(columns, alpha, np.zeros(3))
        far = likelihood.posterior(columns, alpha, np.array([30.0, -50.0, 70.0]))
        assert_allclose(far.weights, near.weights, rtol=1e-4, atol=1e-4)

    def test_evidence_of_labels_is_laplace_by_hand(self):
        """log p(t, w*) + 1/2 log |2 pi Sigma|, with the Hessian by differences."""
        columns, alpha = PHI[:, [3, 40]], np.array([0.5, 2.0])
        mode = BernoulliLikelihood(y * 1.0, ONES).posterior(columns, alpha, np.zeros(2))

        def log_joint(w):
            f = columns @ w
            prior = multivariate_normal(np.zeros(2), np.diag(1.0 / alpha)).logpdf(w)
            return float(np.sum(y * f - np.logaddexp(0.0, f))) + prior

        step, H = 1e-4, np.empty((2, 2))
        for i in range(2):
            for j in range(2):
                e, g = step * np.eye(2)[i], step * np.eye(2)[j]
                corners = [(1, 1), (1, -1), (-1, 1), (-1, -1)]
                total = sum(s * t * log_joint(mode.weights + s * e + t * g) for s, t in corners)
                H[i, j] = -total / (4.0 * step**2)
        laplace = log_joint(mode.weights) + np.log(2.0 * np.pi)
        laplace -= 0.5 * np.linalg.slogdet(H)[1]
        assert_allclose(mode.evidence, laplace, rtol=1e-5)
        assert_allclose(np.linalg.inv(mode.covariance()), H, rtol=1e-3)

    def test_evidence_of_noise_is_a_normal_density(self):
        columns, alpha = Gaussian(0.1)(LINE, LINE[[10, 50, 70]]), np.array([0.5, 2.0, 10.0])
        posterior = gaussian().posterior(columns, alpha, np.zeros(3))
        C = 0.01 * np.eye(100) + columns / alpha @ columns.T
        assert_allclose(
            posterior.evidence, multivariate_normal(np.zeros(100), C).logpdf(SINC), rtol=1e-10
        )
        Sigma = np.linalg.inv(columns.T @ columns / 0.01 + np.diag(alpha))
        assert_allclose(posterior.covariance(), Sigma, rtol=1e-8)
        assert_allclose(posterior.weights, Sigma @ columns.T @ SINC / 0.01, rtol=1e-8)

    def test_a_weight_is_a_repetition(self):
        times = np.random.default_rng(0).integers(1, 4, 100)
        columns, alpha = Gaussian(0.1)(LINE, LINE[[10, 50]]), np.array([0.5, 2.0])
        again = np.repeat(np.arange(100), times)
        weighted = GaussianLikelihood(SINC, times * 1.0, 0.01, 1e-12)
        repeated = GaussianLikelihood(SINC[again], np.ones(again.size), 0.01, 1e-12)
        assert_allclose(
            weighted.posterior(columns, alpha, np.zeros(2)).evidence,
            repeated.posterior(columns[again], alpha, np.zeros(2)).evidence,
        )

    def test_equal_columns_do_no_harm(self):
        columns = np.repeat(PHI[:, [3]], 3, axis=1)
        mode = BernoulliLikelihood(y * 1.0, ONES).posterior(columns, np.full(3, 1e-14), np.zeros(3))
        assert np.isfinite(mode.weights).all() and np.isfinite(mode.evidence)


class TestSearch:
    def test_promises_are_what_the_evidence_does_in_regression(self, monkeypatch):
        """There the quadratic is exact: one more column at its best precision gains the promise."""
        Phi = np.column_stack([np.ones(100), Gaussian(0.1)(LINE, LINE)])
        alpha, index = np.array([0.1, 1.0]), np.array([0, 51])
        state = State(
            gaussian(), index, alpha, gaussian().posterior(Phi[:, index], alpha, np.zeros(2))
        )
        S, Q, usable, cross = candidates(Phi, Phi * Phi, state)
        gains = relevance_search.gains_of_adding(S, Q, usable)
        assert not usable[index].any()
        for column in np.argsort(gains)[-3:]:
            assert gains[column] > 0.0
            best = S[column] ** 2 / (Q[column] ** 2 - S[column])
            grown = gaussian().posterior(
                Phi[:, [*index, column]], np.append(alpha, best), np.zeros(3)
            )
            assert_allclose(grown.evidence - state.evidence, gains[column], rtol=1e-6, atol=1e-8)
            # and more when the others have come to rest as well
            at_rest = relevance_search.with_column(Phi, state, column, S[column], Q[column])
            assert at_rest.evidence >= grown.evidence
            # by hand, S and Q of the covariance of the data without the column
            C = 0.01 * np.eye(100) + Phi[:, index] / alpha @ Phi[:, index].T
            solved = np.linalg.solve(C, Phi[:, column])
            assert_allclose(S[column], Phi[:, column] @ solved, rtol=1e-5)
        monkeypatch.setattr(relevance_search, "_HOPE", np.inf)
        pairs = relevance_search.exchanges(state, S, Q, usable, cross)
        assert len(pairs) == 2
        for place, column, S_new, Q_new in pairs:
            without = Phi[:, np.delete(index, place)]
            C = 0.01 * np.eye(100) + without / np.delete(alpha, place) @ without.T
            solved = np.linalg.solve(C, Phi[:, column])
            assert_allclose([S_new, Q_new], [Phi[:, column] @ solved, SINC @ solved], rtol=1e-4)

    def test_precisions_at_rest_are_stationary(self):
        """A general optimiser over the log precisions of the columns inside finds no more.

        For labels the curvature at the mode depends on the precisions, which the closed form
        leaves out: a fraction of a unit of log evidence is left there.
        """
        sinc = np.column_stack([np.ones(100), Gaussian(0.1)(LINE, LINE)])
        for Phi, likelihood, left in (
            (sinc, gaussian(), 1e-2),
            (PHI, BernoulliLikelihood(y * 1.0, ONES), 0.3),
        ):
            run = searched(Phi, likelihood)
            assert run.converged
            index, alpha = run.state.index, run.state.alpha

            def lack(logs, Phi=Phi, index=index, likelihood=run.state.likelihood):
                precisions, start = np.append(FREE, np.exp(logs)), np.zeros(index.size)
                return -likelihood.posterior(Phi[:, index], precisions, start).evidence

            best = minimize(lack, np.log(alpha[1:]), method="Nelder-Mead", options={"maxfev": 500})
            assert -best.fun <= run.state.evidence + left

    def test_no_column_inside_is_superfluous_and_none_outside_helps(self):
        likelihood = BernoulliLikelihood(y * 1.0, ONES)
        run = searched(PHI, likelihood)
        state = run.state
        for column in range(1, state.index.size):
            left = np.delete(np.arange(state.index.size), column)
            index, alpha = state.index[left], state.alpha[left]
            without = settled(PHI, likelihood, index, alpha, np.zeros(left.size))
            assert without.evidence < state.evidence
        rng = np.random.default_rng(0)
        for column in rng.choice(np.setdiff1d(np.arange(1, 121), state.index), 10, replace=False):
            for precision in (1e-2, 1.0, 1e2):
                index, alpha = np.append(state.index, column), np.append(state.alpha, precision)
                start = np.append(state.posterior.weights, 0.0)
                grown = likelihood.posterior(PHI[:, index], alpha, start)
                # the quadratic around the mode is not quite exact for labels
                assert grown.evidence < state.evidence + 0.05

    def test_the_evidence_rises(self):
        run = searched(PHI, BernoulliLikelihood(y * 1.0, ONES))
        assert run.path.shape == (run.n_iter, 2)
        assert (np.diff(run.path[:, 1]) > 0.0).all()
        assert best_gain(PHI, run.state) <= 1e-3

    def test_promising_columns_first(self, monkeypatch):
        """Few columns are looked at in most steps, and all of them before the end."""
        likelihood = BernoulliLikelihood(y * 1.0, ONES)
        whole = searched(PHI, likelihood)
        seen = []

        def counted(Phi, *arguments, look=relevance_search.candidates, **options):
            seen.append(Phi.shape[1])
            return look(Phi, *arguments, **options)

        monkeypatch.setattr(relevance_search, "_MANY_COLUMNS", 100)
        monkeypatch.setattr(relevance_search, "_N_PROMISING", 30)
        monkeypatch.setattr(relevance_search, "candidates", counted)
        run = searched(PHI, likelihood)
        assert run.converged and best_gain(PHI, run.state) <= 1e-3
        assert 30 in seen and seen[-1] == 121
        assert run.state.evidence > whole.state.evidence - 0.5
        # what it says of a few columns is what it says of them among all
        some = np.array([2, *run.state.index[1:3], 70])
        whole_found = candidates(PHI, PHI * PHI, run.state)
        inside = np.array([1, 2])
        parts = PHI[:, some]
        found = candidates(parts, parts * parts, run.state, within=PHI, is_inside=inside)
        for one, other in zip(found[:3], whole_found[:3], strict=True):
            assert_allclose(one * 1.0, other[some] * 1.0, rtol=1e-6, atol=1e-9)

    def test_exchanges_help(self, monkeypatch):
        with_exchanges, without = [], []
        for seed in range(5):
            rows, labels = make_banana(100, random_state=seed)
            with_exchanges.append(model().fit(rows, labels).objective_)
            with monkeypatch.context() as patch:
                patch.setattr(relevance_search, "_MAX_EXCHANGES", 0)
                without.append(model().fit(rows, labels).objective_)
        assert np.sum(with_exchanges) > np.sum(without) + 0.5

    def test_parallel_columns_stay_outside(self):
        """Copies of a column, exact or up to rounding, change nothing."""
        doubled = np.column_stack([PHI, PHI[:, 1:] * (1.0 + 1e-15), PHI[:, 1:]])
        likelihood = BernoulliLikelihood(y * 1.0, ONES)
        one, two = searched(PHI, likelihood).state, searched(doubled, likelihood).state
        assert one.index.size == two.index.size
        assert_allclose(two.evidence, one.evidence, rtol=1e-6)


class TestPosteriors:
    """Modes of labels are where the formulas say, however they were found."""

    PROBLEMS: ClassVar = {
        "a few columns": ([0, 5, 40, 77], 1.0),
        "many columns": (list(range(0, 121, 3)), 0.1),
        "nearly free": ([0, 5, 40, 77], 1e-9),
        "equal columns": ([0, 5, 5, 5, 40], 1e-8),
        "the bias": ([0], FREE),
    }

    @staticmethod
    def assert_mode(Phi, weights, alpha, posterior):
        f = Phi @ posterior.weights
        p = expit(f)
        residual, curvature = weights * (y - p), np.maximum(weights * p * expit(-f), 1e-12)
        H = Phi.T @ (curvature[:, None] * Phi) + np.diag(alpha)
        gradient = residual @ Phi - alpha * posterior.weights
        value = -float(weights @ np.logaddexp(0.0, np.where(y == 1, -f, f)))
        value -= 0.5 * float(alpha @ posterior.weights**2)
        assert gradient @ np.linalg.solve(H, gradient) <= 1e-9 * (1.0 + abs(value))
        evidence = value + 0.5 * float(np.log(alpha).sum()) - 0.5 * np.linalg.slogdet(H)[1]
        assert_allclose(posterior.evidence, evidence, rtol=1e-9)
        assert_allclose(posterior.residual, residual, atol=1e-12)
        assert_allclose(posterior.curvature, curvature, atol=1e-12)
        assert_allclose(posterior.factor @ posterior.factor.T, H, rtol=1e-9)
        assert_allclose(posterior.covariance() @ H, np.eye(alpha.size), atol=1e-5)

    @pytest.mark.parametrize("problem", PROBLEMS)
    @pytest.mark.parametrize("start", [0.0, 1.0, 1e3])
    def test_for_given_precisions(self, problem, start):
        index, precision = self.PROBLEMS[problem]
        weights = np.random.default_rng(0).uniform(0.5, 3.0, len(y))
        likelihood = BernoulliLikelihood(y * 1.0, weights)
        Phi, alpha = PHI[:, index], np.full(len(index), precision)
        posterior = likelihood.posterior(Phi, alpha, np.full(len(index), start))
        self.assert_mode(Phi, weights, alpha, posterior)

    @pytest.mark.parametrize("problem", PROBLEMS)
    def test_for_precisions_at_rest(self, problem):
        index, precision = self.PROBLEMS[problem]
        alpha = np.append(FREE, np.full(len(index) - 1, precision))
        likelihood, start = BernoulliLikelihood(y * 1.0, ONES), np.zeros(len(index))
        state = settled(PHI, likelihood, np.array(index), alpha, start)
        assert set(state.index) <= set(index)
        assert state.evidence >= likelihood.posterior(PHI[:, index], alpha, start).evidence
        self.assert_mode(PHI[:, state.index], ONES, state.alpha, state.posterior)

    def test_no_factor_is_an_error(self):
        nothing = np.full((len(y), 2), np.nan)
        with pytest.raises(LinAlgError, match="not positive definite"):
            BernoulliLikelihood(y * 1.0, ONES).posterior(nothing, np.ones(2), np.zeros(2))


class TestClassifier:
    def test_few_vectors_and_small_error(self):
        test = make_ripley(4000, random_state=100)
        sizes, errors = [], []
        for seed in range(4):
            m = model(gamma=2.0).fit(*make_ripley(100, random_state=seed))
            sizes.append(m.n_vectors_)
            errors.append(1.0 - m.score(*test))
        assert np.mean(sizes) <= 5.0
        assert np.mean(errors) < 0.125

    def test_probabilities(self):
        rows, labels = make_ripley(1000, random_state=0)
        m = model(gamma=2.0).fit(rows, labels)
        test, truth = make_ripley(20_000, random_state=1)
        P = m.predict_proba(test)
        assert_allclose(P.sum(axis=1), 1.0)
        assert_array_equal(P.argmax(axis=1), m.predict(test))
        # calibrated: of those with a probability near p a share near p is positive
        for low in (0.1, 0.3, 0.5, 0.7):
            chosen = (P[:, 1] > low) & (P[:, 1] < low + 0.2)
            assert abs(truth[chosen].mean() - P[chosen, 1].mean()) < 0.08

    def test_many_classes(self):
        m = model(gamma="scale").fit(IRIS, SPECIES)
        P = m.predict_proba(IRIS)
        assert P.shape == (150, 3)
        assert_allclose(P.sum(axis=1), 1.0)
        assert m.score(IRIS, SPECIES) > 0.94
        alone = [model(gamma=m.machine_.kernel.gamma).fit(IRIS, k == SPECIES) for k in range(3)]
        assert_allclose(m.objective_, sum(a.objective_ for a in alone))
        assert m.n_vectors_ <= sum(a.n_vectors_ for a in alone)

    @pytest.mark.parametrize(
        "kernel",
        [
            Gaussian(1e-9),
            Gaussian(1e-4),
            Gaussian(1e6),
            Linear(),
            Polynomial(10.0, 1.0, 8),
            lambda A, B: np.zeros((A.shape[0], len(B))),
            lambda A, B: np.ones((A.shape[0], len(B))),
            lambda A, B: -Gaussian(0.5)(A, B),
        ],
        ids=["constant", "flat", "identity", "linear", "huge", "zero", "one", "negative"],
    )
    def test_no_kernel_is_too_bad(self, kernel):
        m = quiet(model(kernel=kernel), X, y)
        assert np.isfinite(m.decision_function(X)).all()
        assert np.isfinite(m.predict_proba(X)).all()
        assert m.score(X, y) >= 0.5

    @pytest.mark.parametrize("estimator", [RelevanceVectorClassifier, RelevanceVectorRegressor])
    def test_a_constant_warns(self, estimator):
        with pytest.warns(UserWarning, match=r"same for all .* try another gamma \(now 1e-12\)"):
            m = estimator(gamma=1e-12).fit(X, y)
        assert m.n_vectors_ == 0
        assert np.unique(m.predict(X)).size == 1

    def test_separable_rows_and_huge_values(self):
        rows = np.concatenate([np.linspace(0, 1, 20), np.linspace(5, 6, 20)])[:, None]
        labels = np.repeat([0, 1], 20)
        for factor in (1e-8, 1.0, 1e8):
            m = quiet(model(gamma="scale"), factor * rows, labels)
            assert m.score(factor * rows, labels) == 1.0
        assert m.n_vectors_ <= 3

    @pytest.mark.filterwarnings("error")
    @pytest.mark.parametrize("factor", [1e-110, 1e110])
    def test_kernel_values_whose_squares_are_no_numbers(self, factor):
        """1e-220 and 1e220; a linear kernel in other units is the same problem."""
        m = model(kernel="linear").fit(X, y)
        other = model(kernel="linear").fit(factor * X, y)
        assert_allclose(other.decision_function(factor * X), m.decision_function(X), rtol=1e-6)

    def test_duplicates_and_constant_features(self):
        wide = np.column_stack([X, np.ones(120)])
        m = model().fit(X, y)
        assert_allclose(model().fit(wide, y).decision_function(wide), m.decision_function(X))
        assert quiet(model(), np.ones((10, 2)), np.arange(10) % 2).n_vectors_ <= 1

    def test_a_weight_is_a_repetition(self):
        times = np.random.default_rng(0).integers(0, 4, 150)
        options = {"class_weight": "balanced", "gamma": "scale"}
        weighted = model(**options).fit(IRIS, SPECIES, sample_weight=times)
        repeated = model(**options).fit(np.repeat(IRIS, times, axis=0), np.repeat(SPECIES, times))
        assert weighted.machine_ == repeated.machine_
        by_class = model(class_weight={1: 5.0}).fit(X, y)
        assert by_class.machine_ == model().fit(X, y, np.where(y == 1, 5.0, 1.0)).machine_

    def test_sparse_pandas_strings_float32(self):
        plain = model().fit(X, y)
        names = np.array(["no", "yes"])[y]
        frame = pd.DataFrame(X, columns=["a", "b"])
        from_frame = model().fit(frame, pd.Series(names))
        assert from_frame.machine_ == plain.machine_
        assert_array_equal(from_frame.predict(frame), from_frame.classes_[plain.predict(X)])
        from_csr = model().fit(sparse.csr_array(X), y)
        assert_allclose(from_csr.decision_function(X), plain.decision_function(X), atol=1e-3)
        single = model().fit(X.astype(np.float32), y)
        assert single.score(X, y) > plain.score(X, y) - 0.03

    def test_copies_are_equal(self, tmp_path):
        m = model().fit(X, y)
        assert clone(m).fit(X, y).machine_ == m.machine_
        assert pickle.loads(pickle.dumps(m)).machine_ == m.machine_
        m.save(tmp_path / "model.kernelet")
        back = load(tmp_path / "model.kernelet")
        assert_array_equal(back.predict_proba(X), m.predict_proba(X))
        assert back.objective_ == m.objective_

    def test_grid_search(self):
        with pytest.warns(UserWarning, match=r"the same for all rows.* gamma \(now 1e-06\)"):
            search = GridSearchCV(model(), {"gamma": [1e-6, 0.5]}, cv=3).fit(X, y)
        assert search.best_params_["gamma"] == 0.5

    @pytest.mark.parametrize(
        ("parameters", "words"), [({"tol": 0.0}, "tol must"), ({"max_iter": 0}, "max_iter must")]
    )
    def test_a_bad_parameter_is_named(self, parameters, words):
        with pytest.raises(ValueError, match=words):
            model(**parameters).fit(X, y)

    def test_too_few_steps_warn(self):
        with pytest.warns(ConvergenceWarning, match=r"max_iter was reached.* rise by"):
            m = model(max_iter=2).fit(X, y)
        assert m.n_vectors_ == 2

    def test_steps_are_printed(self, capsys):
        model(verbose=2).fit(X, y)
        assert capsys.readouterr().err.startswith("output 0  step    2  vectors")

    def test_interrupt_leaves_a_model(self, monkeypatch):
        calls = []

        def impatient(*arguments, look=relevance_search.candidates):
            calls.append(1)
            if len(calls) == 3:
                raise KeyboardInterrupt
            return look(*arguments)

        monkeypatch.setattr(relevance_search, "candidates", impatient)
        with pytest.warns(ConvergenceWarning, match="interrupted"):
            m = model().fit(IRIS, SPECIES)
        assert m.score(IRIS, SPECIES) > 0.7

    def test_interrupt_and_what_was_still_to_gain(self, monkeypatch):
        calls = []

        def impatient(*arguments, look=relevance_search.candidates):
            calls.append(1)
            if len(calls) == 3:
                raise KeyboardInterrupt
            return look(*arguments)

        monkeypatch.setattr(relevance_search, "candidates", impatient)
        with pytest.warns(ConvergenceWarning, match=r"interrupted, and .* rise by") as caught:
            early = model().fit(X, y)
        with pytest.warns(ConvergenceWarning, match=r"max_iter was reached, and") as same:
            other = model(max_iter=2).fit(X, y)
        assert early.machine_ == other.machine_
        left = [str(warned[0].message).split(", and")[1] for warned in (caught, same)]
        assert left[0] == left[1]


class TestRegressor:
    def test_sinc(self):
        """The example of Tipping (2001), section 2.4: few vectors, and the noise is found."""
        m = RelevanceVectorRegressor(gamma=0.1).fit(LINE, SINC)
        assert m.n_vectors_ < 12
        assert 0.08 < np.sqrt(m.noise_variance_) < 0.12
        assert np.abs(m.predict(LINE) - np.sinc(LINE[:, 0] / np.pi)).max() < 0.15

    def test_mean_and_spread_are_those_of_the_gaussian_process(self):
        """The same prior as a covariance function: 1e12 for the bias, 1/alpha for each vector."""
        m = RelevanceVectorRegressor(gamma=0.1).fit(LINE, SINC)
        centre, size = SINC.mean(), SINC.std()
        columns = np.column_stack([np.ones(100), Gaussian(0.1)(LINE, m.vectors_)])
        precision = np.linalg.inv(m.covariance_) - columns.T @ columns / m.noise_variance_
        alpha = np.diag(precision)[1:]
        # what is left of the posterior's precision is the prior's: diagonal
        off = precision[1:, 1:] - np.diag(alpha)
        assert np.abs(off).max() < 1e-6 * np.abs(np.linalg.inv(m.covariance_)).max()
        test = np.array([[-3.3], [0.2], [14.0]])
        rows = np.column_stack([np.ones(3), Gaussian(0.1)(test, m.vectors_)])
        w = m.covariance_ @ columns.T @ (SINC - centre) / m.noise_variance_
        means, spread = m.predict(test, return_std=True)
        assert_allclose(means, rows @ w + centre, atol=1e-6 * size)
        expected = np.sqrt(m.noise_variance_ + np.sum(rows @ m.covariance_ * rows, axis=1))
        assert_allclose(spread, expected)

    def test_evidence_is_a_normal_density(self):
        m = RelevanceVectorRegressor(gamma=0.1).fit(LINE, SINC)
        columns = np.column_stack([np.ones(100), Gaussian(0.1)(LINE, m.vectors_)])
        precision = np.linalg.inv(m.covariance_) - columns.T @ columns / m.noise_variance_
        kernels = columns[:, 1:]
        C = m.noise_variance_ * np.eye(100) + kernels / np.diag(precision)[1:] @ kernels.T
        rest = SINC - SINC.mean()
        # the bias, whose variance is huge, by Sherman and Morrison
        variance, solved = SINC.var() / FREE, np.linalg.solve(C, np.ones(100))
        more = 1.0 + variance * solved.sum()
        quadratic = rest @ np.linalg.solve(C, rest) - variance * (solved @ rest) ** 2 / more
        log_det = np.linalg.slogdet(C)[1] + np.log(more)
        density = -0.5 * (100 * np.log(2 * np.pi) + log_det + quadratic)
        assert_allclose(m.objective_, density, atol=1e-2)

    @pytest.mark.parametrize("factor", [1e-9, 1.0, 1e9])
    def test_units_do_not_matter(self, factor):
        m = RelevanceVectorRegressor(gamma=0.1).fit(LINE, SINC)
        other = RelevanceVectorRegressor(gamma=0.1).fit(LINE, factor * SINC + 7.0 * factor)
        assert_allclose(other.predict(LINE) / factor - 7.0, m.predict(LINE), atol=1e-5)
        assert_allclose(np.sqrt(other.noise_variance_) / factor, np.sqrt(m.noise_variance_))

    def test_constant_and_exact_targets(self):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            constant = RelevanceVectorRegressor().fit(LINE, np.full(100, 3.0))
        assert_allclose(constant.predict(LINE), 3.0)
        exact = quiet(RelevanceVectorRegressor(gamma=0.1), LINE, Gaussian(0.1)(LINE, [[2.0]])[:, 0])
        assert exact.score(LINE, Gaussian(0.1)(LINE, [[2.0]])[:, 0]) > 0.9999

    def test_real_data_weights_and_copies(self, tmp_path):
        rows, targets = load_diabetes(return_X_y=True)
        rows, targets = rows[:150], targets[:150]
        m = quiet(RelevanceVectorRegressor(gamma=10.0), rows, targets)
        assert m.score(rows, targets) > 0.35
        times = np.random.default_rng(0).integers(0, 3, 150)
        weighted = quiet(RelevanceVectorRegressor(), rows, targets, sample_weight=times)
        repeated = quiet(
            RelevanceVectorRegressor(), np.repeat(rows, times, axis=0), np.repeat(targets, times)
        )
        assert weighted.machine_ == repeated.machine_
        m.save(tmp_path / "model.kernelet")
        back = load(tmp_path / "model.kernelet")
        for one, two in zip(
            back.predict(rows, return_std=True), m.predict(rows, return_std=True), strict=True
        ):
            assert_array_equal(one, two)
