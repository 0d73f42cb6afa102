"""BudgetSearchCV: oracles are plain loops over folds, GridSearchCV and cross_val_score."""

from __future__ import annotations

import ast
import inspect
import json
import os
import pickle
import statistics
import subprocess
import sys
import warnings
from pathlib import Path

import joblib
import numpy as np
import pandas as pd
import pytest
import sklearn
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.exceptions import ConvergenceWarning, FitFailedWarning, NotFittedError
from sklearn.metrics import accuracy_score, f1_score, make_scorer
from sklearn.model_selection import (
    GridSearchCV,
    GroupKFold,
    KFold,
    LeaveOneGroupOut,
    StratifiedKFold,
    cross_val_score,
)
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from kernelet import BudgetSearchCV, KernelFisherDiscriminant, ReducedSVC, SparseSVC
from kernelet.datasets import make_ripley
from kernelet.learners.base.progress import HAS_CALLBACKS
from kernelet.selection.rules import Target, chosen_index, within_limits
from selection_checks import SEARCHES
from tests.learners.test_estimators import Recorder, entries, sections

X, y = make_ripley(120, random_state=0)
IRIS, SPECIES = load_iris(return_X_y=True)
NAMES = load_iris().target_names[SPECIES]
BUDGETS = (2, 4, 8)
# How many checks scikit-learn has for such a classifier, by its version.
N_CHECKS = {(1, 6): 61, (1, 7): 62, (1, 8): 62, (1, 9): 63}


def direct(**parameters):
    return SparseSVC(**{"random_state": 0, "tol": 1e-2, **parameters})


def reduced(**parameters):
    return ReducedSVC(**{"init": "kmeans", "random_state": 0, **parameters})


@pytest.fixture(scope="module")
def search():
    return BudgetSearchCV(direct(), BUDGETS, cv=3, reference=SVC()).fit(X, y)


@pytest.mark.slow
class TestScikitLearnChecks:
    @pytest.fixture(scope="class")
    @staticmethod
    def results():
        program = Path(__file__).parents[1] / "selection_checks.py"
        done = subprocess.run(
            [sys.executable, str(program)],
            env={**os.environ, "SCIPY_ARRAY_API": "1"},
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    @pytest.mark.parametrize("name", SEARCHES)
    def test_all_pass_and_none_is_left_out(self, results, name):
        assert [check for check in results[name] if check["status"] != "passed"] == []
        version = tuple(int(part) for part in sklearn.__version__.split(".")[:2])
        if version in N_CHECKS:
            assert len(results[name]) == N_CHECKS[version]
        else:
            assert len(results[name]) >= N_CHECKS[max(N_CHECKS)]


class TestResults:
    def test_scores_are_those_of_a_path_in_each_fold(self, search):
        for number, (train, test) in enumerate(StratifiedKFold(3).split(X, y)):
            path = direct().fit_path(X[train], y[train], BUDGETS)
            scores = [model.score(X[test], y[test]) for model in path]
            assert_array_equal(search.cv_results_[f"split{number}_test_score"], scores)
        assert search.n_splits_ == 3
        assert "split3_test_score" not in search.cv_results_

    def test_means_and_errors(self, search):
        results = search.cv_results_
        for place in range(len(BUDGETS)):
            scores = [float(results[f"split{number}_test_score"][place]) for number in range(3)]
            assert_allclose(results["mean_test_score"][place], statistics.mean(scores))
            assert_allclose(results["std_test_score"][place], statistics.pstdev(scores))
            wanted = statistics.stdev(scores) / 3**0.5
            assert_allclose(results["standard_error_test_score"][place], wanted)

    def test_costs(self, search):
        results = search.cv_results_
        assert_array_equal(results["mean_n_vectors"], BUDGETS)
        # vectors of two features, coefficients, one intercept, in float64
        # vectors, coefficients, a bias, and the matrix of the learned kernel
        assert_array_equal(results["mean_bytes"], [8 * (3 * m + 1 + 4) for m in BUDGETS])
        for name in ("mean_fit_time", "std_fit_time", "mean_score_time", "mean_microseconds"):
            assert np.all(results[name] > 0.0) and np.all(np.isfinite(results[name]))
        assert np.all(results["mean_microseconds"] < 1e4)

    def test_the_reference_is_scored_on_the_same_folds(self, search):
        scores = cross_val_score(SVC(), X, y, cv=3)
        assert_allclose(search.reference_score_, scores.mean())
        results = search.reference_results_
        assert_allclose(results["standard_error_test_score"], scores.std(ddof=1) / 3**0.5)
        n_vectors = [
            len(SVC().fit(X[train], y[train]).support_)
            for train, _ in StratifiedKFold(3).split(X, y)
        ]
        assert_allclose(results["mean_n_vectors"], np.mean(n_vectors))

    def test_refit_is_the_chosen_budget_on_all_rows(self, search):
        assert search.best_params_ == {"n_vectors": int(search.budgets_[search.best_index_])}
        assert search.best_score_ == search.cv_results_["mean_test_score"][search.best_index_]
        alone = direct(**search.best_params_).fit(X, y)
        assert search.best_estimator_.machine_ == alone.machine_ == search.machine_
        assert search.n_vectors_ == alone.n_vectors_
        assert search.refit_time_ > 0.0
        assert_array_equal(search.predict(X), alone.predict(X))
        assert_array_equal(search.decision_function(X), alone.decision_function(X))
        assert search.score(X, y) == alone.score(X, y)
        assert_array_equal(search.classes_, [0, 1])
        assert search.n_features_in_ == 2

    def test_all_documented_attributes_are_there(self, search):
        attributes = entries(sections(inspect.getdoc(BudgetSearchCV))["Attributes"])
        frame = clone(search).fit(pd.DataFrame(X, columns=["a", "b"]), y)
        for name in attributes:
            assert hasattr(frame, name), name
        own = {name for name in vars(frame) if name.endswith("_")}
        properties = {
            name
            for name, value in inspect.getmembers(BudgetSearchCV)
            if isinstance(value, property) and name.endswith("_") and name[0] != "_"
        }
        assert own | properties == set(attributes)

    def test_documented_defaults_are_those_of_the_signature(self):
        documented = entries(sections(inspect.getdoc(BudgetSearchCV))["Parameters"])
        parameters = inspect.signature(BudgetSearchCV).parameters
        assert list(documented) == list(parameters)
        for name, line in documented.items():
            text, default = line.partition("default=")[2], parameters[name].default
            if default is np.nan:
                assert text == "nan"
            else:
                assert ast.literal_eval(text) == default, name

    @pytest.mark.parametrize("scoring", [None, "balanced_accuracy", make_scorer(f1_score)])
    def test_grid_search_agrees_where_there_is_no_path(self, scoring):
        ours = BudgetSearchCV(reduced(), BUDGETS, cv=3, scoring=scoring, rule="best").fit(X, y)
        theirs = GridSearchCV(reduced(), {"n_vectors": BUDGETS}, cv=3, scoring=scoring).fit(X, y)
        assert ours.best_params_ == theirs.best_params_
        assert ours.best_score_ == theirs.best_score_
        assert ours.cv_results_["params"] == theirs.cv_results_["params"]
        same = [key for key in theirs.cv_results_ if "test_score" in key or "param_" in key]
        assert len(same) == 7
        for key in same:
            assert_array_equal(ours.cv_results_[key], theirs.cv_results_[key])
            assert ours.cv_results_[key].dtype == theirs.cv_results_[key].dtype
        assert set(theirs.cv_results_) <= set(ours.cv_results_)
        assert ours.score(X, y) == theirs.score(X, y)


def table(means, errors):
    n = len(means)
    return {
        "mean_test_score": np.array(means, dtype=float),
        "standard_error_test_score": np.array(errors, dtype=float),
        "mean_bytes": np.array([10.0, 20.0, 30.0][:n]),
        "mean_microseconds": np.full(n, np.nan),
        "params": [{"n_vectors": m} for m in range(1, n + 1)],
    }


ALL = np.ones(3, dtype=bool)


class TestRules:
    def test_one_standard_error_takes_the_smallest_that_is_near_the_best(self):
        assert (
            chosen_index(table([0.7, 0.86, 0.9], [0.1, 0.1, 0.05]), "one_standard_error", ALL, None)
            == 1
        )
        assert (
            chosen_index(table([0.7, 0.84, 0.9], [0.3, 0.1, 0.05]), "one_standard_error", ALL, None)
            == 2
        )
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            same = table([0.9, 0.9, 0.9], [0, 0, 0])
            assert chosen_index(same, "one_standard_error", ALL, None) == 0

    def test_best_takes_the_first_of_equals(self):
        assert chosen_index(table([0.7, 0.9, 0.9], [1, 1, 1]), "best", ALL, None) == 1

    def test_match(self):
        results = table([0.7, 0.8, 0.9], [0.05, 0.05, 0.05])
        assert chosen_index(results, "match", ALL, Target(0.85, 0.06)) == 1
        assert chosen_index(results, "match", ALL, Target(0.85, 0.01)) == 2
        # a number has no error of its own
        assert chosen_index(results, "match", ALL, Target(0.74)) == 0
        with pytest.warns(UserWarning, match=r"reference's score 0\.99; the best, 0\.9, is taken"):
            assert chosen_index(results, "match", ALL, Target(0.99, 0.01)) == 2

    def test_budgets_without_a_score_or_beyond_a_limit_are_left_out(self):
        results = table([0.7, np.nan, 0.9], [0.0, 0.0, 0.0])
        assert_array_equal(within_limits(results, {}), [True, False, True])
        eligible = within_limits(results, {"max_bytes": 20.0})
        assert_array_equal(eligible, [True, False, False])
        assert chosen_index(results, "best", eligible, None) == 0
        with pytest.raises(ValueError, match="max_bytes=5: the cheapest costs 10"):
            within_limits(results, {"max_bytes": 5.0})
        with pytest.raises(ValueError, match="max_microseconds is given, but"):
            within_limits(results, {"max_microseconds": 5.0})

    def test_a_function(self):
        assert chosen_index(table([1, 2, 3], [0, 0, 0]), lambda r: np.int64(1), ALL, None) == 1
        for wrong in (3, -1, 1.0, None):
            with pytest.raises(ValueError, match="an index between 0 and 2"):
                chosen_index(table([1, 2, 3], [0, 0, 0]), lambda r, w=wrong: w, ALL, None)

    def test_in_a_search(self):
        def fitted(**parameters):
            return BudgetSearchCV(reduced(), (1, 4, 16), cv=3, **parameters).fit(X, y)

        best = fitted(rule="best")
        assert fitted(rule=lambda results: 0).n_vectors_ == 1
        assert fitted(max_bytes=8 * 13).best_params_ == {"n_vectors": 4}
        assert fitted(rule="best", max_bytes=8 * 13 - 1).best_params_ == {"n_vectors": 1}
        assert fitted(max_microseconds=1e5).n_vectors_ <= best.n_vectors_
        assert fitted(rule="match", reference=0.0).n_vectors_ == 1
        matched = fitted(rule="match", reference=SVC(C=1e-3).fit(X, y))
        assert matched.reference_score_ == pytest.approx(
            cross_val_score(SVC(C=1e-3), X, y, cv=3).mean()
        )
        with pytest.warns(UserWarning, match="no budget comes within"):
            assert fitted(rule="match", reference=2.0).best_index_ == best.best_index_
        with pytest.raises(ValueError, match="no budget costs at most max_microseconds=1e-09"):
            fitted(max_microseconds=1e-9)

    def test_one_fold_has_no_standard_error(self):
        splits = [(np.arange(60), np.arange(60, 120))]
        search = BudgetSearchCV(reduced(), (1, 4), cv=splits).fit(X, y)
        assert_array_equal(search.cv_results_["standard_error_test_score"], [0.0, 0.0])
        assert search.best_score_ == search.cv_results_["mean_test_score"].max()


class TestBudgets:
    def test_any_order_and_repeated(self, search):
        again = BudgetSearchCV(direct(), np.array([8, 2, 4, 2]), cv=3, reference=SVC()).fit(X, y)
        assert_array_equal(again.budgets_, BUDGETS)
        assert_array_equal(again.budgets, [8, 2, 4, 2])
        for key in ("mean_test_score", "param_n_vectors", "mean_n_vectors"):
            assert_array_equal(again.cv_results_[key], search.cv_results_[key])

    def test_more_than_there_are_rows(self):
        few, labels = X[:12], np.arange(12) % 2
        with pytest.warns(UserWarning, match="are used"):
            search = BudgetSearchCV(reduced(), (1, 50), cv=3).fit(few, labels)
        assert_array_equal(search.cv_results_["mean_n_vectors"], [1, 8])
        assert_array_equal(search.cv_results_["param_n_vectors"], [1, 50])
        path = BudgetSearchCV(direct(), (1, 50), cv=3, rule="best")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            path.fit(few, labels)
        assert path.cv_results_["mean_n_vectors"][1] <= 50
        assert np.isfinite(path.decision_function(few)).all()

    @pytest.mark.parametrize(
        ("budgets", "message"),
        [
            ((), "budgets is empty"),
            (5, "budgets must be a sequence"),
            ("12", "budgets must be a sequence"),
            ((5, 0), "every budget must be a whole number of at least 1; got 0"),
            ((5, 2.5), "got 2.5"),
            ((True, 2), "got True"),
        ],
    )
    def test_bad_ones(self, budgets, message):
        with pytest.raises(ValueError, match=message):
            BudgetSearchCV(reduced(), budgets).fit(X, y)


class TestPipelines:
    def test_transformers_are_fitted_once_in_each_fold(self):
        class Counting(StandardScaler):
            fits = 0

            def fit(self, *arguments, **parameters):
                type(self).fits += 1
                return super().fit(*arguments, **parameters)

        pipeline = Pipeline([("scale", Counting()), ("machine", direct())])
        search = BudgetSearchCV(pipeline, BUDGETS, cv=3).fit(X, y)
        assert Counting.fits == 3 + 1  # the last is the refit
        for number, (train, test) in enumerate(StratifiedKFold(3).split(X, y)):
            scaler = StandardScaler().fit(X[train])
            path = direct().fit_path(scaler.transform(X[train]), y[train], BUDGETS)
            scores = [model.score(scaler.transform(X[test]), y[test]) for model in path]
            assert_array_equal(search.cv_results_[f"split{number}_test_score"], scores)
        assert_array_equal(search.cv_results_["param_machine__n_vectors"], BUDGETS)
        assert list(search.best_params_) == ["machine__n_vectors"]
        assert_array_equal(search.cv_results_["mean_n_vectors"], BUDGETS)
        assert search.best_estimator_["machine"].n_vectors_ == search.budgets_[search.best_index_]
        # the pipeline that is searched is left alone
        assert not hasattr(pipeline["scale"], "mean_")

    def test_weights_go_to_the_last_step(self):
        weights = np.random.default_rng(0).uniform(0.1, 3.0, 120)
        search = BudgetSearchCV(make_pipeline(StandardScaler(), direct()), (2, 4), cv=3)
        search.fit(X, y, sample_weight=weights)
        for number, (train, test) in enumerate(StratifiedKFold(3).split(X, y)):
            scaler = StandardScaler().fit(X[train])
            path = direct().fit_path(scaler.transform(X[train]), y[train], (2, 4), weights[train])
            scores = [
                accuracy_score(
                    y[test], m.predict(scaler.transform(X[test])), sample_weight=weights[test]
                )
                for m in path
            ]
            assert_allclose(search.cv_results_[f"split{number}_test_score"], scores)
        assert search.n_vectors_ == search.budgets_[search.best_index_]
        assert search.machine_ is search.best_estimator_[-1].machine_

    def test_a_step_in_the_middle(self):
        pipeline = make_pipeline(
            StandardScaler(), KernelFisherDiscriminant(random_state=0), KNeighborsClassifier(3)
        )
        search = BudgetSearchCV(pipeline, (2, 6), cv=3).fit(IRIS, SPECIES)
        assert list(search.best_params_) == ["kernelfisherdiscriminant__n_vectors"]
        assert_array_equal(search.cv_results_["mean_n_vectors"], [2, 6])
        assert search.best_score_ > 0.8

    def test_which_parameter(self):
        both = make_pipeline(KernelFisherDiscriminant(), SparseSVC())
        assert list(BudgetSearchCV(both, (1,), cv=2).fit(X, y).best_params_) == [
            "sparsesvc__n_vectors"
        ]
        three = make_pipeline(
            KernelFisherDiscriminant(), KernelFisherDiscriminant(), KNeighborsClassifier()
        )
        with pytest.raises(ValueError, match="several numbers of vectors"):
            BudgetSearchCV(three).fit(X, y)
        with pytest.raises(ValueError, match="SVC does not"):
            BudgetSearchCV(SVC()).fit(X, y)
        with pytest.raises(TypeError, match="estimator instance"):
            BudgetSearchCV("SparseSVC").fit(X, y)


class TestMetadata:
    def test_a_weight_is_a_repetition(self):
        counts = np.random.default_rng(0).integers(0, 4, 120)
        group = np.arange(120) % 3
        again = np.repeat(np.arange(120), counts)
        splitter = LeaveOneGroupOut()
        weighted = BudgetSearchCV(direct(), (2, 4), cv=splitter)
        weighted.fit(X, y, sample_weight=counts, groups=group)
        repeated = BudgetSearchCV(direct(), (2, 4), cv=splitter)
        repeated.fit(X[again], y[again], groups=group[again])
        assert weighted.n_splits_ == 3
        for key in ("split0_test_score", "mean_test_score", "mean_n_vectors"):
            assert_allclose(weighted.cv_results_[key], repeated.cv_results_[key])
        assert_allclose(weighted.decision_function(X), repeated.decision_function(X), rtol=1e-7)

    def test_the_reference_has_the_same_weights(self):
        weights = np.random.default_rng(0).uniform(0.0, 5.0, 120)
        search = BudgetSearchCV(reduced(), (2,), cv=3, reference=SVC(C=0.05))
        search.fit(X, y, sample_weight=weights)
        scores = [
            SVC(C=0.05)
            .fit(X[train], y[train], weights[train])
            .score(X[test], y[test], weights[test])
            for train, test in StratifiedKFold(3).split(X, y)
        ]
        assert_allclose(search.reference_score_, np.mean(scores))
        unweighted = [
            SVC(C=0.05).fit(X[train], y[train]).score(X[test], y[test], weights[test])
            for train, test in StratifiedKFold(3).split(X, y)
        ]
        assert np.mean(unweighted) != pytest.approx(np.mean(scores))

    def test_groups_go_to_the_splitter(self):
        groups = np.repeat(np.arange(6), 20)
        search = BudgetSearchCV(reduced(), (2, 4), cv=GroupKFold(3)).fit(X, y, groups=groups)
        scores = cross_val_score(reduced(n_vectors=4), X, y, cv=GroupKFold(3), groups=groups)
        splits = [search.cv_results_[f"split{number}_test_score"][1] for number in range(3)]
        assert_array_equal(splits, scores)

    def test_a_scorer_without_weights(self):
        def plain(model, rows, labels):
            return model.score(rows, labels)

        weights = np.ones(120)
        search = BudgetSearchCV(reduced(), (2,), cv=2, scoring=plain)
        with pytest.warns(UserWarning, match="takes no sample_weight"):
            search.fit(X, y, sample_weight=weights)
        metric = make_scorer(lambda truth, guess: float(np.mean(truth == guess)))
        with pytest.warns(UserWarning, match="takes no sample_weight"):
            search.set_params(scoring=metric).fit(X, y, sample_weight=weights)

    def test_routing(self):
        weights = np.random.default_rng(0).uniform(0.1, 3.0, 120)
        groups = np.arange(120) % 4
        plain = BudgetSearchCV(direct(), (2, 4), cv=GroupKFold(2), reference=SVC())
        plain.fit(X, y, sample_weight=weights, groups=groups)
        with sklearn.config_context(enable_metadata_routing=True):
            scorer = make_scorer(accuracy_score).set_score_request(sample_weight=True)
            routed = BudgetSearchCV(
                direct().set_fit_request(sample_weight=True),
                (2, 4),
                cv=GroupKFold(2),
                scoring=scorer,
                reference=SVC().set_fit_request(sample_weight=True),
            ).fit(X, y, sample_weight=weights, groups=groups)
            score = routed.score(X, y, sample_weight=weights)
            unrequested = BudgetSearchCV(direct(), (2,), cv=2)
            with pytest.raises(ValueError, match="sample_weight"):
                unrequested.fit(X, y, sample_weight=weights)
        assert_allclose(routed.cv_results_["mean_test_score"], plain.cv_results_["mean_test_score"])
        assert_allclose(routed.reference_score_, plain.reference_score_)
        assert score == plain.score(X, y, sample_weight=weights)

    def test_other_arguments_of_fit_are_cut_to_the_rows(self):
        class Telling(ReducedSVC):
            def fit(self, X, y, names=None, factor=1):
                assert list(names) == [f"row {round(x, 12)}" for x in X[:, 0]]
                assert factor == 2
                return super().fit(X, y)

        names = [f"row {round(x, 12)}" for x in X[:, 0]]
        search = BudgetSearchCV(Telling(), (2,), cv=2, error_score="raise")
        search.fit(X, y, names=names, factor=2)


class TestFailures:
    @pytest.mark.filterwarnings("ignore:.*the same for all:UserWarning")
    def test_a_class_in_one_fold_only(self):
        labels = np.repeat([0, 1], 60)
        halves = KFold(2)  # each half of the rows has one class
        with pytest.raises(ValueError, match=r"(?s)class.*All 4 fits of the search failed"):
            BudgetSearchCV(reduced(), (2, 4), cv=halves).fit(X, labels)
        thirds = KFold(3)
        labels = np.repeat([0, 1], [80, 40])  # without the last third there is one class
        with pytest.raises(ValueError, match="No budget has a score in every fold: 2 of 6"):
            BudgetSearchCV(reduced(), (2, 4), cv=thirds).fit(X, labels)
        with pytest.raises(ValueError, match="class"):
            BudgetSearchCV(reduced(), (2, 4), cv=thirds, error_score="raise").fit(X, labels)
        with pytest.warns(FitFailedWarning, match="2 of 6 fits"):
            search = BudgetSearchCV(reduced(), (2, 4), cv=thirds, error_score=0.0).fit(X, labels)
        assert_array_equal(search.cv_results_["split2_test_score"], [0.0, 0.0])

    def test_a_class_that_is_missing_from_one_of_many(self):
        order = np.argsort(SPECIES, kind="stable")
        search = BudgetSearchCV(reduced(), (3,), cv=KFold(3)).fit(IRIS[order], SPECIES[order])
        # each fold is tested on the class that it has not seen
        assert_array_equal(search.cv_results_["mean_test_score"], [0.0])

    def test_one_budget_that_fails(self):
        class Fussy(SparseSVC):
            def fit(self, X, y, sample_weight=None):
                if self.n_vectors == 4:
                    raise ValueError("four is unlucky")
                return super().fit(X, y, sample_weight)

        with pytest.warns(FitFailedWarning, match="four is unlucky"):
            search = BudgetSearchCV(Fussy(random_state=0), BUDGETS, cv=2).fit(X, y)
        assert_array_equal(np.isnan(search.cv_results_["mean_test_score"]), [False, True, False])
        assert_array_equal(search.cv_results_["rank_test_score"][1], 3)
        assert search.best_index_ != 1

    @pytest.mark.parametrize(
        ("parameters", "message"),
        [
            ({"rule": "cheapest"}, "rule must be one of 'best', 'match', 'one_standard_error'"),
            ({"rule": "match"}, "needs a reference"),
            ({"max_bytes": -1}, "max_bytes must be a finite number above zero"),
            ({"max_microseconds": "fast"}, "max_microseconds"),
            ({"error_score": "ignore"}, 'error_score must be "raise" or a number'),
            ({"scoring": ["accuracy"]}, "scoring must be one name or one callable"),
            ({"scoring": lambda model, rows, labels: "good"}, "scoring must give one number"),
        ],
    )
    def test_bad_parameters(self, parameters, message):
        with pytest.raises(ValueError, match=message):
            BudgetSearchCV(reduced(), (2,), cv=2, **parameters).fit(X, y)

    def test_no_targets(self):
        with pytest.raises(ValueError, match="requires y to be passed"):
            BudgetSearchCV(reduced()).fit(X)


class Interrupted(ReducedSVC):
    """Ctrl-C comes while the model with this number is fitted."""

    comes_at = 0
    is_caught = False
    n_fits = 0

    def fit(self, X, y, sample_weight=None):
        cls = type(self)
        cls.n_fits += 1
        now = cls.n_fits == cls.comes_at
        if now and not cls.is_caught:
            raise KeyboardInterrupt
        self.interrupted_ = now
        return super().fit(X, y, sample_weight)


class TestInterrupts:
    @pytest.mark.parametrize("is_caught", [False, True])
    @pytest.mark.parametrize(
        ("comes_at", "n_splits", "n_budgets"), [(8, 2, 3), (5, 1, 3), (4, 1, 3), (3, 1, 2)]
    )
    def test_what_is_finished_is_used(self, monkeypatch, comes_at, n_splits, n_budgets, is_caught):
        monkeypatch.setattr(Interrupted, "n_fits", 0)
        monkeypatch.setattr(Interrupted, "comes_at", comes_at)
        monkeypatch.setattr(Interrupted, "is_caught", is_caught)
        search = BudgetSearchCV(Interrupted(init="kmeans", random_state=0), BUDGETS, cv=4)
        with pytest.warns(ConvergenceWarning, match=f"{n_splits} of 4 folds are used, with"):
            search.fit(X, y)
        assert Interrupted.n_fits == comes_at + 1  # and the refit
        assert search.n_splits_ == n_splits
        assert_array_equal(search.budgets_, BUDGETS[:n_budgets])
        whole = BudgetSearchCV(reduced(), BUDGETS, cv=4).fit(X, y)
        for number in range(n_splits):
            key = f"split{number}_test_score"
            assert_array_equal(search.cv_results_[key], whole.cv_results_[key][:n_budgets])
        assert search.predict(X).shape == y.shape

    def test_nothing_is_finished(self, monkeypatch):
        monkeypatch.setattr(Interrupted, "n_fits", 0)
        monkeypatch.setattr(Interrupted, "comes_at", 1)
        with pytest.raises(KeyboardInterrupt):
            BudgetSearchCV(Interrupted(), BUDGETS, cv=4).fit(X, y)


class TestAsAnEstimator:
    def test_default_is_a_seeded_sparse_svc(self):
        search = BudgetSearchCV(budgets=[2], cv=2).fit(X, y)
        assert isinstance(search.best_estimator_, SparseSVC)
        assert search.estimator is None
        again = BudgetSearchCV(budgets=[2], cv=2).fit(X, y)
        assert again.machine_ == search.machine_

    def test_frames_sparse_rows_and_names_of_classes(self):
        frame = pd.DataFrame(IRIS, columns=list("wxyz"))
        dense = BudgetSearchCV(reduced(), (3, 6), cv=3).fit(frame, NAMES)
        assert list(dense.feature_names_in_) == list("wxyz")
        assert list(dense.classes_) == ["setosa", "versicolor", "virginica"]
        assert set(dense.predict(frame)) <= set(NAMES)
        rows = sparse.csr_array(IRIS)
        thin = BudgetSearchCV(reduced(), (3, 6), cv=3).fit(rows, NAMES)
        assert_allclose(thin.cv_results_["mean_test_score"], dense.cv_results_["mean_test_score"])
        assert_allclose(thin.decision_function(rows), dense.decision_function(frame), rtol=1e-6)
        single = BudgetSearchCV(reduced(), (3, 6), cv=3).fit(IRIS.astype(np.float32), NAMES)
        assert np.all(single.cv_results_["mean_test_score"] > 0.8)

    def test_clone_pickle_and_equal_refits(self, search):
        again = clone(search).fit(X, y)
        copy = pickle.loads(pickle.dumps(search))
        for other in (again, copy):
            assert other.machine_ == search.machine_
            assert_array_equal(
                other.cv_results_["mean_test_score"], search.cv_results_["mean_test_score"]
            )
        assert not hasattr(clone(search), "best_estimator_")

    def test_inside_a_grid_search(self):
        inner = BudgetSearchCV(reduced(), (2, 4), cv=2)
        grid = GridSearchCV(inner, {"estimator__C": [0.1, 10.0]}, cv=2).fit(X, y)
        assert grid.best_estimator_.n_vectors_ in (2, 4)
        assert grid.best_params_["estimator__C"] == grid.best_estimator_.estimator.C

    def test_methods_are_there_where_the_model_has_them(self, search):
        assert not hasattr(search, "predict_proba") and not hasattr(search, "transform")
        likely = BudgetSearchCV(
            make_pipeline(
                KernelFisherDiscriminant(n_vectors=2, random_state=0), KNeighborsClassifier()
            ),
            (2,),
            cv=2,
        ).fit(IRIS, SPECIES)
        assert likely.predict_proba(IRIS).shape == (150, 3)

        def separation(model, rows, labels):
            features = model.transform(rows)
            return cross_val_score(KNeighborsClassifier(3), features, labels).mean()

        features = BudgetSearchCV(
            KernelFisherDiscriminant(random_state=0), (2, 4), cv=2, scoring=separation
        ).fit(IRIS, SPECIES)
        assert features.transform(IRIS).shape == (150, 2)
        assert not hasattr(features, "predict")

    def test_without_refit(self):
        search = BudgetSearchCV(reduced(), (2, 4), cv=2).fit(X, y)
        search.set_params(refit=False).fit(X, y)
        assert search.best_params_["n_vectors"] in (2, 4)
        assert not hasattr(search, "best_estimator_") and not hasattr(search, "predict")
        with pytest.raises(AttributeError, match="refit=False"):
            search.score(X, y)

    def test_not_fitted(self):
        for method in ("predict", "decision_function"):
            with pytest.raises(NotFittedError):
                getattr(BudgetSearchCV(), method)(X)
        with pytest.raises(NotFittedError):
            BudgetSearchCV().score(X, y)

    def test_folds_in_parallel(self, search):
        with joblib.parallel_backend("threading"):
            again = BudgetSearchCV(direct(), BUDGETS, cv=3, reference=SVC(), n_jobs=2).fit(X, y)
        for key in ("mean_test_score", "std_test_score", "mean_n_vectors"):
            assert_array_equal(again.cv_results_[key], search.cv_results_[key])
        assert again.machine_ == search.machine_

    def test_callbacks(self):
        class Stopping(Recorder):
            def on_fit_task_end(self, estimator, context):
                super().on_fit_task_end(estimator, context)
                return self.events.count("end fold") == 2

        for recorder, n_folds in ((Recorder(), 4), (Stopping(), 2)):
            search = BudgetSearchCV(reduced(), (2, 4), cv=4)
            assert hasattr(search, "set_callbacks") == HAS_CALLBACKS
            if HAS_CALLBACKS:
                search.set_callbacks(recorder)
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                search.fit(X, y)
            n_used = n_folds if HAS_CALLBACKS else 4
            assert search.n_splits_ == n_used
            assert [warning.category for warning in caught] == [ConvergenceWarning] * (n_used < 4)
            tasks = ["begin fold", "end fold"] * n_folds + ["begin refit", "end refit"]
            wanted = ["setup", "begin fit", *tasks, "end fit", "teardown"]
            assert recorder.events == (wanted if HAS_CALLBACKS else [])

    def test_verbose(self, capsys):
        BudgetSearchCV(reduced(), (2, 4), cv=2, verbose=2).fit(X, y)
        printed = capsys.readouterr().err.splitlines()
        assert [line.split()[:2] for line in printed if "of 2" in line] == [
            ["fold", "1"],
            ["fold", "2"],
        ]
        assert sum("n_vectors" in line for line in printed) == 4
        BudgetSearchCV(reduced(), (2,), cv=2).fit(X, y)
        assert capsys.readouterr().err == ""
