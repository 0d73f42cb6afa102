"""SparseSVC: what the direct method promises to a user of scikit-learn."""

from __future__ import annotations

import inspect
import pickle
import warnings

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import load_digits, load_iris
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from interrupts import ctrl_c_in, interrupt_after
from kernelet.datasets import make_banana, make_checkerboard
from kernelet.kernels import CallableKernel, Gaussian, ProjectedFeatures
from kernelet.learners import SparseSVC
from kernelet.learners.base.progress import HAS_CALLBACKS
from kernelet.learners.direct import learn as direct_learn
from kernelet.learners.direct.search.joint_objective import JointObjective
from learner_oracles import svm_objective

X, y = make_banana(160, random_state=0)
IRIS, SPECIES = load_iris(return_X_y=True)
IRIS = StandardScaler().fit_transform(IRIS)


# the machine of the paper: a kernel and a cost that are given, and the hinge loss
PLAIN = {"C": 1.0, "loss": "hinge", "learn_kernel": False}


def model(n_vectors=5, **parameters):
    return SparseSVC(n_vectors, **{"random_state": 0, **parameters})


@pytest.fixture(scope="module")
def fitted():
    return model().fit(X, y)


class TestMachine:
    def test_attributes(self, fitted):
        assert fitted.n_vectors_ == 5
        assert fitted.vectors_.shape == (5, 2)
        assert_array_equal(fitted.vectors_, fitted.machine_.vectors)
        assert_array_equal(fitted.classes_, [0, 1])
        assert fitted.n_features_in_ == 2
        assert len(fitted.history_) == 1
        assert 0 < fitted.n_iter_ < fitted.n_evaluations_
        # two features with 100 rows each
        assert isinstance(fitted.machine_.kernel, ProjectedFeatures)
        assert 0.0 < fitted.kernel_gain_ < 1.0
        assert fitted.C_ in [float(f"1e{k}") for k in range(-3, 6)]

    def test_the_history_ends_at_the_objective(self, fitted):
        # the regulariser of the scales is no part of W
        assert fitted.objective_ <= fitted.history_[0][-1] <= 1.05 * fitted.objective_
        plain = model(C=1.0, learn_kernel=False).fit(X, y)
        # at the end the inner problem is solved more finely than in the search
        assert_allclose(plain.objective_, plain.history_[0][-1], rtol=1e-4)
        hinge = model(**PLAIN).fit(X, y)
        assert hinge.objective_ == hinge.history_[0][-1]
        assert hinge.kernel_gain_ == plain.kernel_gain_ == 0.0
        assert hinge.C_ == plain.C_ == 1.0

    @pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
    def test_objective_is_attained_by_the_machine(self, loss):
        m = model(C=3.0, loss=loss).fit(X, y)
        kernel, Z = m.machine_.kernel, m.vectors_
        value = svm_objective(
            kernel(X, Z),
            kernel(Z, Z),
            2.0 * y - 1.0,
            np.full(len(X), 3.0),
            m.machine_.coefficients[:, 0],
            m.machine_.intercepts[0],
            loss,
        )
        # the inner problems are solved to 1e-2 tol
        assert_allclose(m.objective_, value, rtol=1e-4)

    def test_objective_is_between_the_svm_and_the_start(self):
        svc = SVC(C=1.0).fit(X, y)
        dual = svc.dual_coef_.ravel()
        gram = Gaussian(svc._gamma)(svc.support_vectors_, svc.support_vectors_)
        slack = np.maximum(0.0, 1.0 - (2.0 * y - 1.0) * svc.decision_function(X))
        full = 0.5 * dual @ gram @ dual + slack.sum()
        m = model(8, **PLAIN).fit(X, y)
        assert full <= m.objective_ * (1.0 + 1e-4)
        # the search with the squared hinge ends before the history of the hinge begins
        with pytest.warns(ConvergenceWarning, match="max_iter=1"):
            assert m.objective_ < model(8, **PLAIN, max_iter=1).fit(X, y).objective_
        # eight vectors are nearly as good as all
        assert m.objective_ <= 1.1 * full

    def test_started_at_all_support_vectors_it_is_the_svm(self):
        """Example 1 of the paper."""
        svc = SVC(C=5.0, gamma=1.0, tol=1e-8).fit(X, y)
        Z = svc.support_vectors_
        m = model(len(Z), **{**PLAIN, "C": 5.0}, gamma=1.0, init=Z).fit(X, y)
        dual, slack = svc.dual_coef_[0], 1.0 - (2.0 * y - 1.0) * svc.decision_function(X)
        full = 0.5 * dual @ Gaussian(1.0)(Z, Z) @ dual + 5.0 * np.maximum(0.0, slack).sum()
        assert_allclose(m.objective_, full, rtol=1e-4)
        assert_allclose(m.decision_function(X), svc.decision_function(X), atol=0.05)

    def test_decision_function_and_predict(self, fitted):
        scores = fitted.decision_function(X)
        assert scores.shape == (160,)
        assert_array_equal(fitted.predict(X), (scores > 0).astype(int))
        assert_allclose(scores, fitted.machine_.decision_function(X))
        many = model(6).fit(IRIS, SPECIES)
        assert many.decision_function(IRIS).shape == (150, 3)
        assert_array_equal(many.predict(IRIS), many.decision_function(IRIS).argmax(axis=1))

    def test_accuracy_on_unseen_rows(self):
        rows, labels = make_banana(2000, random_state=9)
        full = SVC().fit(X, y).score(rows, labels)
        assert model(8).fit(X, y).score(rows, labels) >= full - 0.015
        digits, figures = load_digits(return_X_y=True)
        small = model(20, C=10.0, tol=1e-2).fit(digits[:900], figures[:900])
        assert small.n_vectors_ == 20
        assert small.score(digits[900:], figures[900:]) > 0.92

    def test_not_fitted(self):
        with pytest.raises(NotFittedError):
            model().predict(X)

    @pytest.mark.parametrize("kernel", ["rbf", "poly", "matern32", "matern52", "laplacian"])
    @pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
    def test_kernels(self, kernel, loss):
        m = model(8, kernel=kernel, coef0=1.0, loss=loss).fit(X, y)
        assert m.objective_ < m.history_[0][0]
        assert m.score(X, y) > 0.85

    def test_kernel_objects(self, fitted):
        same = model(kernel=Gaussian(fitted.machine_.kernel.kernel.gamma)).fit(X, y)
        assert same.machine_ == fitted.machine_

    def test_not_positive_definite(self):
        assert np.isfinite(model(kernel="sigmoid").fit(X, y).decision_function(X)).all()


class TestParameters:
    @pytest.mark.parametrize(
        ("parameters", "words"),
        [
            ({"n_vectors": 0}, "n_vectors"),
            ({"n_vectors": 2.5}, "n_vectors"),
            ({"n_vectors": [2, 3]}, "n_vectors holds 2 numbers"),
            ({"C": 0.0}, "C must"),
            ({"C": -1.0}, "C must"),
            ({"C": np.inf}, "C must"),
            ({"tol": 0.0}, "tol must"),
            ({"max_iter": 0}, "max_iter must"),
            ({"n_init": 0}, "n_init must"),
            ({"loss": "log"}, "loss must be one of 'hinge', .*'squared_hinge'"),
            ({"vectors": "both"}, "vectors must be one of 'per_class', 'shared'"),
            ({"init": "means"}, "means"),
            ({"init": np.zeros((4, 2))}, "n_vectors=5, but 4"),
            ({"init": np.zeros((5, 3))}, r"\(n_vectors, 2\)"),
            ({"init": np.full((5, 2), np.nan)}, "NaN"),
            ({"kernel": "rfb"}, "rbf"),
            ({"kernel": "precomputed"}, "precomputed"),
            ({"kernel": lambda A, B: A @ B.T}, "SparseSVC needs the gradient"),
            ({"gamma": -1.0}, "gamma"),
            ({"class_weight": "even"}, "class_weight must be 'balanced'"),
            ({"class_weight": {7: 1.0}}, "class_weight names"),
            ({"class_weight": {0: -1.0}}, "class_weight must"),
            ({"class_weight": {0: 0.0}}, "two classes"),
        ],
    )
    def test_a_bad_parameter_is_named(self, parameters, words):
        with pytest.raises(ValueError, match=words):
            model(**parameters).fit(X, y)

    def test_fit_changes_no_parameter(self):
        given = {
            "n_vectors": [2, 2, 3],
            "init": "random",
            "class_weight": {0: 2.0},
            "vectors": "per_class",
            "random_state": 3,
        }
        m = SparseSVC(**given)
        before = {name: getattr(m, name) for name in inspect.signature(SparseSVC).parameters}
        m.fit(IRIS, SPECIES)
        for name, value in before.items():
            assert getattr(m, name) is value
        assert given["n_vectors"] == [2, 2, 3]
        assert given["class_weight"] == {0: 2.0}

    def test_given_initial_vectors_are_not_written_to(self):
        init = X[:4].copy()
        m = model(4, init=init).fit(X, y)
        assert_array_equal(init, X[:4])
        assert m.history_[0][0] > m.objective_

    @pytest.mark.parametrize("init", ["kmeans", "random", "greedy", "sgma", X[:5]])
    def test_init(self, init):
        m = model(init=init).fit(X, y)
        assert m.n_vectors_ == 5
        assert m.score(X, y) > 0.85

    def test_same_seed_same_bits(self, fitted):
        again = model().fit(X, y)
        assert again.machine_ == fitted.machine_
        assert_array_equal(again.history_[0], fitted.history_[0])
        refitted = again.fit(X, y)
        assert refitted.machine_ == fitted.machine_
        other = model(init="random", random_state=1).fit(X, y)
        assert other.machine_ != model(init="random", random_state=2).fit(X, y).machine_

    def test_n_init_keeps_the_best(self, monkeypatch):
        ends, original = [], direct_learn.search_vectors

        def recorded(*arguments, **settings):
            end = original(*arguments, **settings)
            ends.append(end.best.value)
            return end

        monkeypatch.setattr(direct_learn, "search_vectors", recorded)
        places = set()
        for seed in range(4):
            ends.clear()
            m = model(4, C=1.0, init="random", n_init=3, random_state=seed).fit(X, y)
            assert len(ends) == 3
            assert m.objective_ == min(ends)
            places.add(int(np.argmin(ends)))
        # neither always the first nor always the last
        assert len(places) > 1

    @pytest.mark.parametrize("n_init", [1, 3])
    def test_every_start_may_take_all_its_steps(self, n_init):
        with pytest.warns(ConvergenceWarning):
            assert model(n_init=n_init, init="random", max_iter=2).fit(X, y).n_iter_ == 2


class TestConvergence:
    def test_too_few_steps(self):
        with pytest.warns(ConvergenceWarning) as record:
            m = model(max_iter=2).fit(X, y)
        (warning,) = record
        text = str(warning.message)
        assert "SparseSVC stopped early: max_iter=2" in text
        assert f"W = {m.objective_:.6g} after 2 steps" in text
        assert "Raise max_iter" in text
        assert m.n_iter_ == 2

    @pytest.mark.parametrize("n_jobs", ["all", 0, 2.5, True, -2])
    def test_a_number_of_threads_that_cannot_be(self, n_jobs):
        with pytest.raises(ValueError, match="n_jobs must be"):
            model(n_jobs=n_jobs).fit(X, y)

    def test_a_checkpoint_that_is_no_path(self):
        with pytest.raises(TypeError, match="checkpoint must be the path"):
            model(checkpoint=3).fit(X, y)

    def test_enough_steps(self):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            model().fit(X, y)

    @pytest.mark.parametrize(
        "parameters",
        [
            {},
            {"vectors": "per_class"},
            {"vectors": "per_class", "n_jobs": 2},
            {"vectors": "per_class", "n_jobs": 2, **PLAIN},
            {"n_init": 3},
            {"C": 1.0},
            {"loss": "hinge"},
            PLAIN,
            {"kernel": "poly", "coef0": 1.0},
        ],
        ids=repr,
    )
    @pytest.mark.parametrize("number", [2, 5, 9])
    def test_ctrl_c_leaves_a_usable_model(self, monkeypatch, parameters, number):
        """The signal goes to the main thread, wherever the searches run."""
        ctrl_c_in(monkeypatch, number)
        with pytest.warns(ConvergenceWarning, match="interrupted"):
            m = model(3, **parameters).fit(IRIS, SPECIES)
        assert m.interrupted_ is True
        assert np.isfinite(m.decision_function(IRIS)).all()
        assert m.score(IRIS, SPECIES) > 0.6

    def test_ctrl_c_after_the_search_does_not_lose_it(self, monkeypatch):
        """What the kernel gains is measured then."""
        whole = model(C=1.0).fit(X, y)
        measure, calls = JointObjective.kernel_gain, []

        def interrupted(self, at):
            calls.append(at)
            if len(calls) == 1:
                raise KeyboardInterrupt
            return measure(self, at)

        monkeypatch.setattr(JointObjective, "kernel_gain", interrupted)
        with pytest.warns(ConvergenceWarning, match="interrupted"):
            m = model(C=1.0).fit(X, y)
        assert m.interrupted_ is True
        assert m.machine_ == whole.machine_
        assert m.kernel_gain_ == whole.kernel_gain_

    def test_an_interrupt_between_two_starts_keeps_the_first(self, monkeypatch):
        seed, calls = direct_learn.seed_vectors, []

        def interrupted(*arguments):
            calls.append(1)
            if len(calls) == 2:
                raise KeyboardInterrupt
            return seed(*arguments)

        monkeypatch.setattr(direct_learn, "seed_vectors", interrupted)
        with pytest.warns(ConvergenceWarning, match="interrupted"):
            m = model(C=1.0, n_init=3).fit(X, y)
        assert m.score(X, y) > 0.85

    def test_an_interrupt_before_there_is_anything_is_passed_on(self, monkeypatch):
        interrupt_after(monkeypatch, 0)
        for parameters in ({}, PLAIN):
            with pytest.raises(KeyboardInterrupt):
                model(**parameters).fit(X, y)

    def test_verbose_goes_to_standard_error(self, capsys):
        m = model(verbose=2).fit(X, y)
        out, err = capsys.readouterr()
        lines = [line for line in err.splitlines() if not line.startswith("choosing C: ")]
        assert out == ""
        assert len(lines) == m.n_iter_ // 2
        for word in ("step", "evaluations", "W", "|gradient|", "rank", " s"):
            assert word in lines[0]
        model().fit(X, y)
        assert capsys.readouterr() == ("", "")


class TestManyClasses:
    def test_shared_vectors(self):
        m = model(6).fit(IRIS, SPECIES)
        assert m.n_vectors_ == 6
        assert m.machine_.n_outputs == 3
        assert m.score(IRIS, SPECIES) > 0.95

    def test_per_class_is_one_search_for_each_class(self):
        m = model(3, vectors="per_class").fit(IRIS, SPECIES)
        assert m.n_vectors_ == 9
        assert len(m.history_) == 3
        coefficients = m.machine_.coefficients.reshape(3, 3, 3)
        for k in range(3):
            others = np.delete(coefficients[k], k, axis=1)
            assert_array_equal(others, 0.0)
            assert np.abs(coefficients[k][:, k]).max() > 0.0
        assert_allclose(m.objective_, sum(history[-1] for history in m.history_))
        assert m.score(IRIS, SPECIES) > 0.95

    def test_a_budget_for_each_class(self):
        m = model([1, 4, 2], vectors="per_class").fit(IRIS, SPECIES)
        assert m.n_vectors_ == 7
        support = (m.machine_.coefficients != 0.0).sum(axis=0)
        assert_array_equal(support, [1, 4, 2])
        with pytest.raises(ValueError, match="n_vectors holds 2 numbers but there are 3"):
            model([1, 4], vectors="per_class").fit(IRIS, SPECIES)

    def test_threads_change_nothing(self):
        one = model(3, vectors="per_class").fit(IRIS, SPECIES)
        two = model(3, vectors="per_class", n_jobs=2).fit(IRIS, SPECIES)
        assert one.machine_ == two.machine_

    def test_threads_leave_the_filters_of_warnings_alone(self):
        before = list(warnings.filters)
        for seed in range(10):
            m = model(3, vectors="per_class", n_jobs=3, tol=1.0, random_state=seed)
            m.fit(IRIS[::3], SPECIES[::3])
        assert warnings.filters == before

    def test_two_classes_are_one_machine_either_way(self, fitted):
        m = model(vectors="per_class").fit(X, y)
        assert m.machine_.n_outputs == 1
        assert_allclose(m.objective_, fitted.objective_, rtol=0.05)


class TestWarmStart:
    @pytest.mark.parametrize("parameters", [{}, {"C": 1.0}, PLAIN], ids=repr)
    def test_the_same_problem_takes_no_work(self, parameters):
        m = model(warm_start=True, **parameters).fit(X, y)
        objective, vectors, end = m.objective_, m.vectors_, m.history_[0][-1]
        m.fit(X, y)
        assert m.history_[0][0] <= end * (1.0 + 1e-5)
        assert m.n_iter_ <= 6
        assert m.objective_ <= objective * (1.0 + 1e-5)
        assert np.abs(m.vectors_ - vectors).max() < 0.5

    def test_another_budget_adds_or_drops_vectors(self):
        m = model(4, warm_start=True).fit(X, y)
        at_four = m.objective_
        m.set_params(n_vectors=7).fit(X, y)
        assert m.n_vectors_ == 7
        # started from the four with three added: no higher than four
        assert m.history_[0][0] <= at_four
        at_seven = m.objective_
        m.set_params(n_vectors=2).fit(X, y)
        assert m.n_vectors_ == 2
        assert m.objective_ > at_seven

    def test_without_it_the_last_fit_does_not_matter(self, fitted):
        m = model().fit(X[:80], y[:80])
        assert m.fit(X, y).machine_ == fitted.machine_

    def test_other_data_start_anew(self):
        m = model(warm_start=True).fit(X, y)
        m.fit(IRIS, SPECIES)
        assert m.vectors_.shape == (5, 4)

    def test_per_class(self):
        # what is chosen for "auto" may be another cost for more vectors, and another W
        m = model(2, C=1.0, vectors="per_class", warm_start=True).fit(IRIS, SPECIES)
        before = m.objective_
        m.set_params(n_vectors=[2, 3, 3]).fit(IRIS, SPECIES)
        assert m.n_vectors_ == 8
        assert m.objective_ <= before


class TestPath:
    def test_upwards(self):
        path = model(C=1.0).fit_path(X, y, [1, 2, 4, 8])
        assert [m.n_vectors_ for m in path] == [1, 2, 4, 8]
        assert [m.n_vectors for m in path] == [1, 2, 4, 8]
        objectives = np.array([m.objective_ for m in path])
        assert np.all(np.diff(objectives) < 0.0)
        alone = np.array([model(m, C=1.0).fit(X, y).objective_ for m in (1, 2, 4, 8)])
        assert np.all(objectives <= 1.1 * alone)

    def test_one_by_one(self):
        steps = model().iter_path(X, y, [2, 3])
        first = next(steps)
        assert first.n_vectors_ == 2 and first.interrupted_ is False
        assert [first.machine_, next(steps).machine_] == [
            m.machine_ for m in model().fit_path(X, y, [2, 3])
        ]

    def test_downwards(self):
        path = model(C=1.0).fit_path(X, y, [8, 4, 2])
        assert [m.n_vectors_ for m in path] == [8, 4, 2]
        objectives = np.array([m.objective_ for m in path])
        assert np.all(np.diff(objectives) > 0.0)
        alone = np.array([model(m, C=1.0).fit(X, y).objective_ for m in (8, 4, 2)])
        assert np.all(objectives <= 1.1 * alone)

    def test_hinge_losses_begin_each_budget_with_the_squared_hinge(self):
        """Five that are left of forty are nowhere near an end of the hinge's own search."""
        digits, figures = load_digits(return_X_y=True)
        digits, figures = digits[:600], figures[:600]
        options = {"loss": "hinge", "C": 10.0, "learn_kernel": False}
        last = model(**options).fit_path(digits, figures, [40, 20, 10, 5])[-1]
        assert last.objective_ <= 1.2 * model(5, **options).fit(digits, figures).objective_

    def test_models_are_apart_and_like_their_maker(self):
        maker = model(C=2.0)
        path = maker.fit_path(X, y, [2, 3])
        assert not hasattr(maker, "machine_")
        assert maker.n_vectors == 5
        assert all(m.C == 2.0 and m.warm_start is False for m in path)
        assert all(m.tol == maker.tol for m in path)
        assert path[0].machine_ != path[1].machine_
        looser = model(2, C=2.0, tol=5 * maker.tol).fit(X, y)
        assert path[0].machine_ == looser.machine_

    def test_per_class_and_weights(self):
        weights = np.random.default_rng(0).integers(1, 4, 150)
        path = model(vectors="per_class").fit_path(IRIS, SPECIES, [1, 2], weights)
        assert [m.n_vectors_ for m in path] == [3, 6]
        assert path[1].objective_ < path[0].objective_


class TestWeights:
    @pytest.mark.parametrize("vectors", ["shared", "per_class"])
    @pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
    def test_a_weight_is_a_repetition(self, vectors, loss):
        times = np.random.default_rng(0).integers(0, 4, 150)
        options = {"vectors": vectors, "loss": loss, "class_weight": "balanced"}
        weighted = model(3, **options).fit(IRIS, SPECIES, sample_weight=times)
        repeated = model(3, **options).fit(
            np.repeat(IRIS, times, axis=0), np.repeat(SPECIES, times)
        )
        assert weighted.machine_ == repeated.machine_

    def test_weights_multiply_the_costs(self):
        weights = np.random.default_rng(0).uniform(0.0, 3.0, len(X))
        for loss in ("hinge", "squared_hinge"):
            m = model(C=2.0, loss=loss).fit(X, y, weights)
            kernel, Z, machine = m.machine_.kernel, m.vectors_, m.machine_
            beta, b = machine.coefficients[:, 0], machine.intercepts[0]
            costs = 2.0 * weights
            value = svm_objective(kernel(X, Z), kernel(Z, Z), 2.0 * y - 1.0, costs, beta, b, loss)
            assert_allclose(m.objective_, value, rtol=1e-4)

    def test_the_width_counts_a_row_as_often_as_it_weighs(self):
        times = np.random.default_rng(0).integers(0, 4, len(X))
        gamma = model(learn_kernel=False).fit(X, y, times).machine_.kernel.gamma
        repeated = SVC().fit(np.repeat(X, times, axis=0), np.repeat(y, times))
        assert_allclose(gamma, repeated._gamma)

    def test_the_order_of_rows_does_not_matter(self, fitted):
        order = np.random.default_rng(0).permutation(len(X))
        assert model().fit(X[order], y[order]).machine_ == fitted.machine_

    def test_class_weight_is_a_sample_weight(self):
        weights = np.where(y == 1, 7.0, 1.0)
        m = model(class_weight={1: 7.0}).fit(X, y)
        assert m.machine_ == model().fit(X, y, sample_weight=weights).machine_
        assert m.predict(X).mean() > model().fit(X, y).predict(X).mean()

    def test_balanced_gives_classes_the_same_total(self):
        few = np.concatenate([np.flatnonzero(y == 0), np.flatnonzero(y == 1)[:10]])
        rows, labels = X[few], y[few]
        counts = np.bincount(labels)
        expected = {c: len(labels) / (2.0 * counts[c]) for c in (0, 1)}
        balanced = model(class_weight="balanced").fit(rows, labels)
        assert_allclose(
            balanced.decision_function(X),
            model(class_weight=expected).fit(rows, labels).decision_function(X),
        )
        assert balanced.predict(X).sum() > model().fit(rows, labels).predict(X).sum()

    def test_a_class_of_weight_zero_is_never_predicted(self):
        m = model(4).fit(IRIS, SPECIES, sample_weight=(SPECIES != 1).astype(float))
        assert_array_equal(m.classes_, [0, 1, 2])
        assert 1 not in m.predict(IRIS)

    @pytest.mark.parametrize(
        ("weights", "words"),
        [(np.full(160, -1.0), "[Nn]egative"), (np.zeros(160), "non-zero|two classes")],
    )
    def test_bad_weights(self, weights, words):
        with pytest.raises(ValueError, match=words):
            model().fit(X, y, sample_weight=weights)


class TestData:
    def test_one_class(self):
        with pytest.raises(ValueError, match=r"two classes.*only one class: \[0\]"):
            model().fit(X, np.zeros(len(X), dtype=int))

    @pytest.mark.parametrize("bad", [np.nan, np.inf])
    def test_not_finite(self, bad, fitted):
        rows = X.copy()
        rows[3, 1] = bad
        with pytest.raises(ValueError, match=r"NaN|infinity"):
            model().fit(rows, y)
        with pytest.raises(ValueError, match=r"NaN|infinity"):
            fitted.predict(rows)

    def test_continuous_target(self):
        with pytest.raises(ValueError, match="continuous"):
            model().fit(X, X[:, 0])

    def test_string_labels(self):
        names = np.array(["setosa", "versicolor", "virginica"])[SPECIES]
        m, plain = model(4).fit(IRIS, names), model(4).fit(IRIS, SPECIES)
        assert m.machine_ == plain.machine_
        assert_array_equal(m.predict(IRIS), m.classes_[plain.predict(IRIS)])

    def test_pandas(self, fitted):
        frame = pd.DataFrame(X, columns=["left", "right"])
        m = model().fit(frame, pd.Series(y))
        assert_array_equal(m.feature_names_in_, ["left", "right"])
        assert m.machine_ == fitted.machine_
        assert_array_equal(m.predict(frame), fitted.predict(X))
        with pytest.raises(ValueError, match="feature names"):
            m.predict(frame[["right", "left"]])

    @pytest.mark.parametrize("container", [sparse.csr_array, sparse.csr_matrix, sparse.csc_matrix])
    def test_sparse_equals_dense(self, container):
        rows = np.where(np.abs(IRIS) > 0.7, IRIS, 0.0)
        # products of sparse rows add in another order. Sparse rows are not centred: a change of
        # scales moves vectors about the origin, so that other steps lead to W within tol
        for parameters, rtol in (({"learn_kernel": False}, 1e-3), ({"tol": 1e-3}, 1e-2)):
            dense = model(4, **parameters).fit(rows, SPECIES)
            csr = model(4, **parameters).fit(container(rows), SPECIES)
            assert csr.C_ == dense.C_
            assert_allclose(csr.objective_, dense.objective_, rtol=rtol)
            assert_allclose(csr.decision_function(rows), csr.decision_function(container(rows)))
            assert np.mean(csr.predict(rows) == dense.predict(rows)) > 0.97

    def test_float32(self, fitted):
        m = model().fit(X.astype(np.float32), y)
        assert_allclose(m.objective_, fitted.objective_, rtol=1e-2)
        assert np.mean(m.predict(X.astype(np.float32)) == fitted.predict(X)) > 0.97

    def test_constant_columns(self):
        rows = np.column_stack([X, np.full(len(X), 7.0), np.zeros(len(X))])
        m = model(gamma=0.6).fit(rows, y)
        # steps have another length, which may end in another minimum nearby
        assert_allclose(m.objective_, model(gamma=0.6).fit(X, y).objective_, rtol=0.03)
        assert_allclose(m.vectors_[:, 2:], [[7.0, 0.0]] * 5, atol=1e-9)

    def test_constant_data(self):
        with (
            pytest.warns(UserWarning, match="1 are used"),
            pytest.warns(UserWarning, match="the scores are the same for all rows"),
        ):
            m = model().fit(np.ones_like(X), y)
        majority = np.argmax(np.bincount(y))
        assert_array_equal(m.predict(np.ones_like(X)), majority)

    def test_more_vectors_than_distinct_rows(self):
        rows, labels = np.repeat(X[:6], 20, axis=0), np.repeat([0, 1, 0, 1, 0, 1], 20)
        with pytest.warns(UserWarning, match="n_vectors=50 was asked for, 6 are used"):
            m = model(50, C=100.0).fit(rows, labels)
        assert m.n_vectors_ == 6
        assert m.score(rows, labels) == 1.0

    def test_one_vector(self):
        m = model(1).fit(X, y)
        assert m.n_vectors_ == 1
        assert m.score(X, y) > 0.7

    def test_two_rows(self):
        with pytest.warns(UserWarning, match="2 are used"):
            m = model().fit([[0.0], [1.0]], [0, 1])
        assert_array_equal(m.predict([[-0.1], [1.1]]), [0, 1])

    @pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
    def test_huge_and_tiny_C(self, loss):
        wild = model(5, C=1e9, loss=loss).fit(X, y)
        assert np.isfinite(wild.decision_function(X)).all()
        assert wild.score(X, y) > 0.9
        with pytest.warns(UserWarning, match=r"the same for all rows.* larger C \(now 1e-06\)"):
            tame = model(5, C=1e-6, loss=loss).fit(X, y)
        # the bias alone is left, as with scikit-learn's SVC
        assert_array_equal(tame.predict(X), SVC(C=1e-6).fit(X, y).predict(X))
        assert_allclose(tame.decision_function(X), tame.machine_.intercepts[0], atol=1e-3)

    def test_huge_gamma_memorises_as_many_rows_as_there_are_vectors(self):
        m = model(5, gamma=1e9, C=10.0).fit(X, y)
        assert np.isfinite(m.decision_function(X)).all()
        distances = np.abs(m.vectors_[:, None, :] - X).max(axis=2).min(axis=1)
        assert_allclose(distances, 0.0, atol=1e-6)

    def test_tiny_gamma(self):
        with pytest.warns(UserWarning, match=r"the same for all rows.* gamma \(now 1e-12\)"):
            m = model(5, gamma=1e-12).fit(X, y)
        assert np.isfinite(m.decision_function(X)).all()
        assert m.score(X, y) >= np.bincount(y).max() / len(y) - 1e-9

    def test_far_from_the_origin(self):
        near, far = model(gamma=0.6).fit(X, y), model(gamma=0.6).fit(X + 1e5, y)
        assert_allclose(far.objective_, near.objective_, rtol=0.02)

    def test_hard_board(self):
        rows, labels = make_checkerboard(300, random_state=0)
        assert model(24, C=100.0, gamma=2.0).fit(rows, labels).score(rows, labels) > 0.9


class TestScikitLearn:
    def test_clone(self, fitted):
        copy = clone(fitted)
        assert copy.get_params() == fitted.get_params()
        assert not hasattr(copy, "machine_")

    def test_pickle(self, fitted):
        back = pickle.loads(pickle.dumps(fitted))
        assert back.machine_ == fitted.machine_
        assert_array_equal(back.decision_function(X), fitted.decision_function(X))

    def test_grid_search_over_the_budget(self):
        search = GridSearchCV(model(), {"n_vectors": [1, 4], "C": [1.0, 10.0]}, cv=3).fit(X, y)
        assert search.best_params_["n_vectors"] == 4
        assert search.best_estimator_.n_vectors_ == 4
        assert search.score(X, y) > 0.85

    def test_pipeline(self):
        pipe = make_pipeline(StandardScaler(), model()).fit(X * [1.0, 1e4], y)
        assert pipe.score(X * [1.0, 1e4], y) > 0.85
        weighted = pipe.fit(X, y, sparsesvc__sample_weight=np.ones(len(y)))
        assert weighted[-1].n_vectors_ == 5

    def test_repr_shows_what_differs_from_the_defaults(self):
        assert repr(SparseSVC(7, C=2.0)) == "SparseSVC(C=2.0, n_vectors=7)"


class Recorder:
    """A callback of scikit-learn that records its calls."""

    def __init__(self, stop_after=None):
        self.stop_after = stop_after
        self.events = []
        self.scores = []

    def setup(self, estimator, context):
        self.events.append("setup")

    def teardown(self, estimator, context):
        self.events.append("teardown")

    def on_fit_task_begin(self, estimator, context):
        self.events.append(("begin", context.task_name))

    def on_fit_task_end(self, estimator, context, *, X=None, y=None, fitted_estimator=None):
        self.events.append(("end", context.task_name))
        if fitted_estimator is not None:
            self.scores.append(fitted_estimator.score(X, y))
        return self.stop_after is not None and len(self.scores) >= self.stop_after


def with_callback(estimator, callback):
    """The estimator with the callback, where scikit-learn has callbacks (1.9 and newer)."""
    assert hasattr(estimator, "set_callbacks") == HAS_CALLBACKS
    return estimator.set_callbacks(callback) if HAS_CALLBACKS else estimator


class TestCallbacks:
    def test_steps_begin_and_end(self):
        recorder = Recorder()
        m = with_callback(model(), recorder).fit(X, y)
        step = [("begin", "step"), ("end", "step")]
        expected = ["setup", ("begin", "fit"), *(m.n_iter_ * step), ("end", "fit"), "teardown"]
        assert recorder.events == (expected if HAS_CALLBACKS else [])
        # each step hands over a model that predicts; the last one is the result
        assert len(recorder.scores) == (m.n_iter_ if HAS_CALLBACKS else 0)
        assert recorder.scores[-1:] == ([m.score(X, y)] if HAS_CALLBACKS else [])

    @pytest.mark.parametrize("parameters", [{"n_init": 3}, {"vectors": "per_class"}])
    def test_several_searches(self, parameters):
        recorder = Recorder()
        m = with_callback(model(3, **parameters), recorder).fit(IRIS, SPECIES)
        begun = recorder.events.count(("begin", "step"))
        assert begun == recorder.events.count(("end", "step"))
        assert begun >= (m.n_iter_ if HAS_CALLBACKS else 0)

    def test_a_callback_may_end_the_fit(self):
        estimator = with_callback(model(), Recorder(stop_after=3))
        if HAS_CALLBACKS:
            with pytest.warns(ConvergenceWarning, match="callback"):
                estimator.fit(X, y)
            assert estimator.n_iter_ == 3
        else:
            assert estimator.fit(X, y).n_iter_ > 3

    def test_an_interrupt_from_a_callback(self):
        recorder = Recorder()
        recorder.on_fit_task_begin = self.interrupt_at(4)
        estimator = with_callback(model(), recorder)
        if HAS_CALLBACKS:
            with pytest.warns(ConvergenceWarning, match="interrupted"):
                estimator.fit(X, y)
            assert "teardown" in recorder.events
        assert estimator.fit(X, y).score(X, y) > 0.8

    @staticmethod
    def interrupt_at(step):
        seen = []

        def on_fit_task_begin(estimator, context):
            seen.append(context.task_name)
            if context.task_name == "step" and seen.count("step") == step:
                raise KeyboardInterrupt

        return on_fit_task_begin

    def test_a_function_has_no_gradient(self):
        with pytest.raises(ValueError, match="SparseSVC needs the gradient"):
            model(kernel=CallableKernel(lambda A, B: A @ B.T)).fit(X, y)
