"""BudgetSearchCV over bytes of the export and numbers of bits: oracles are loops over folds."""

from __future__ import annotations

import warnings

import joblib
import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.exceptions import ConvergenceWarning, FitFailedWarning
from sklearn.model_selection import StratifiedKFold
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from kernelet import BudgetSearchCV, ReducedSVC, SparseKernelRidge, SparseSVC
from kernelet.datasets import make_ripley
from kernelet.machine import stored_bytes
from kernelet.selection.budgets import Candidates
from kernelet.selection.cost import model_bytes
from kernelet.selection.rules import LimitError, within_limits

X, y = make_ripley(120, random_state=0)
IRIS, SPECIES = load_iris(return_X_y=True)
BUDGETS, BITS = (2, 4, 8), (4, 7, None)


def direct(**parameters):
    return SparseSVC(**{"C": 1.0, "random_state": 0, **parameters})


def searched(estimator=None, budgets=BUDGETS, rows=X, labels=y, **parameters):
    options = {"cv": 3, "target": "c", "vector_bits": BITS, **parameters}
    return BudgetSearchCV(direct() if estimator is None else estimator, budgets, **options).fit(
        rows, labels
    )


@pytest.fixture(scope="module")
def search():
    return searched()


class TestTogether:
    def test_one_entry_for_each_pair(self, search):
        results = search.cv_results_
        assert_array_equal(results["param_n_vectors"], np.repeat(BUDGETS, 3))
        assert list(results["param_vector_bits"]) == list(BITS) * 3
        assert results["params"][4] == {"n_vectors": 4, "vector_bits": 7}
        assert_array_equal(search.budgets_, BUDGETS)
        assert all(len(values) == 9 for values in results.values())

    def test_scores_and_bytes_are_those_of_models_of_each_fold(self, search):
        sizes = []
        for number, (train, test) in enumerate(StratifiedKFold(3).split(X, y)):
            path = direct().fit_path(X[train], y[train], BUDGETS, vector_bits=BITS)
            scores = [model.score(X[test], y[test]) for model in path]
            assert_array_equal(search.cv_results_[f"split{number}_test_score"], scores)
            sizes.append([stored_bytes(model.machine_, "c", n_labels=2) for model in path])
        assert_allclose(search.cv_results_["mean_bytes"], np.mean(sizes, axis=0))
        # a vector of few bits takes less than one in float32
        assert (np.diff(search.cv_results_["mean_bytes"].reshape(3, 3)) > 0.0).all()

    def test_the_fewest_bytes_that_are_good_enough(self, search):
        results = search.cv_results_
        means, errors = results["mean_test_score"], results["standard_error_test_score"]
        best = int(np.argmax(means))
        enough = [k for k in range(9) if means[k] >= means[best] - errors[best]]
        wanted = min(enough, key=lambda k: results["mean_bytes"][k])
        assert search.best_index_ == wanted
        assert search.best_params_ == results["params"][wanted]
        assert search.best_score_ == means[wanted]
        alone = direct(**search.best_params_).fit(X, y)
        assert search.machine_ == alone.machine_

    def test_without_a_target_vectors_count_and_then_bits(self):
        plain = searched(target=None)
        results = plain.cv_results_
        means, errors = results["mean_test_score"], results["standard_error_test_score"]
        best = int(np.argmax(means))
        assert plain.best_index_ == int(np.argmax(means >= means[best] - errors[best]))
        models = direct().fit_path(X, y, (4,), vector_bits=(4, None))
        assert [model_bytes(model) for model in models] == [
            float(model.machine_.nbytes) for model in models
        ]

    def test_one_number_of_bits_and_any_order(self, search):
        one = searched(vector_bits=7)
        assert_array_equal(one.cv_results_["param_vector_bits"], [7, 7, 7])
        places = slice(1, None, 3)
        for key in ("mean_test_score", "mean_bytes"):
            assert_array_equal(one.cv_results_[key], search.cv_results_[key][places])
        again = searched(budgets=(8, 2, 4, 2), vector_bits=np.array([None, 7, 4, 7]))
        assert again.cv_results_["params"] == search.cv_results_["params"]
        assert again.best_params_ == search.best_params_

    def test_bits_of_the_model_stay_where_they_are_not_searched(self):
        plain = searched(direct(vector_bits=4), vector_bits=None)
        assert list(plain.best_params_) == ["n_vectors"]
        assert "param_vector_bits" not in plain.cv_results_
        assert plain.machine_.compact.grid.bits == 4

    def test_rules(self, search):
        best = searched(rule="best")
        means = best.cv_results_["mean_test_score"]
        equal = np.flatnonzero(means == means.max())
        sizes = best.cv_results_["mean_bytes"]
        assert best.best_index_ == equal[np.argmin(sizes[equal])]
        matched = searched(rule="match", reference=0.0)
        assert matched.best_index_ == np.argmin(matched.cv_results_["mean_bytes"])
        assert searched(rule=lambda results: 5, max_bytes=1000).best_index_ == 5


class TestLimits:
    def test_models_keep_to_the_bytes(self, search):
        sizes = search.cv_results_["mean_bytes"]
        for limit in (sizes.min() + 1, np.median(sizes), 60.0):
            within = searched(max_bytes=limit, rule="best")
            assert within.cv_results_["mean_bytes"][within.best_index_] <= limit
            assert stored_bytes(within.machine_, "c", n_labels=2) <= limit

    def test_a_budget_that_cannot_be_met(self, search):
        least = int(np.ceil(search.cv_results_["mean_bytes"].min()))
        with pytest.raises(ValueError, match=f"max_bytes=9: the cheapest costs {least}. Raise"):
            searched(max_bytes=9)

    def test_a_machine_that_grows_on_all_rows_is_not_taken(self):
        """Here one with more than four vectors is larger by 1000 bytes on all rows."""

        class Growing(ReducedSVC):
            def fit(self, X, y, sample_weight=None):
                n_vectors = self.n_vectors
                if len(X) == 120 and n_vectors > 4:
                    self.n_vectors = 60
                super().fit(X, y, sample_weight)
                self.n_vectors = n_vectors
                return self

        model = Growing(init="kmeans", random_state=0)
        options = {"vector_bits": None, "rule": "best", "max_bytes": 200}
        found = searched(model, (4, 8), **options)
        assert found.best_params_ == {"n_vectors": 4}
        assert found.best_index_ == 0
        assert found.best_score_ == found.cv_results_["mean_test_score"][0]
        assert found.machine_.n_vectors == 4
        with pytest.raises(ValueError, match=r"max_bytes=200 when it is fitted on all.*takes \d+"):
            searched(model, (8,), **options)

    @pytest.mark.parametrize(
        ("parameters", "text"),
        [
            ({"target": "wasm"}, "target must be one of 'c'; got 'wasm'"),
            ({"vector_bits": ()}, "vector_bits is empty"),
            ({"vector_bits": (4, 40)}, "vector_bits must be None, or a whole number from 2 to 16"),
            ({"vector_bits": "48"}, "vector_bits must be None, or"),
            ({"vector_bits": 4.5}, "vector_bits must be None, or"),
        ],
    )
    def test_what_is_refused(self, parameters, text):
        with pytest.raises(ValueError, match=text):
            searched(**parameters)

    def test_models_without_such_a_parameter_or_cost(self):
        model = make_pipeline(StandardScaler(), SparseSVC())
        model.steps[1] = ("svc", _Plain())
        with pytest.raises(ValueError, match="Pipeline has no parameter svc__vector_bits"):
            searched(model)
        with pytest.raises(ValueError, match="max_bytes is given, but this kind of model has no"):
            searched(model, vector_bits=None, max_bytes=1000)


class _Plain(KNeighborsClassifier):
    """A model with budgets and without kernels."""

    def __init__(self, n_vectors=5):
        super().__init__()
        self.n_vectors = n_vectors


class TestOtherModels:
    def test_pipelines(self):
        pipeline = make_pipeline(StandardScaler(), direct())
        found = searched(pipeline, rows=IRIS, labels=SPECIES)
        assert set(found.best_params_) == {"sparsesvc__n_vectors", "sparsesvc__vector_bits"}
        assert list(found.cv_results_["param_sparsesvc__vector_bits"]) == list(BITS) * 3
        train, test = next(iter(StratifiedKFold(3).split(IRIS, SPECIES)))
        scaler = StandardScaler().fit(IRIS[train])
        path = direct().fit_path(
            scaler.transform(IRIS[train]), SPECIES[train], BUDGETS, vector_bits=BITS
        )
        scores = [model.score(scaler.transform(IRIS[test]), SPECIES[test]) for model in path]
        assert_array_equal(found.cv_results_["split0_test_score"], scores)

    def test_models_without_a_path_are_fitted_one_by_one(self):
        model = ReducedSVC(init="kmeans", random_state=0)
        found = searched(model, (2, 6), vector_bits=(4, None))
        train, test = next(iter(StratifiedKFold(3).split(X, y)))
        for k, (m, bits) in enumerate([(2, 4), (2, None), (6, 4), (6, None)]):
            alone = clone(model).set_params(n_vectors=m, vector_bits=bits).fit(X[train], y[train])
            assert found.cv_results_["split0_test_score"][k] == alone.score(X[test], y[test])

    def test_regression_and_references(self):
        target = X[:, 0] * X[:, 1]
        found = searched(SparseKernelRidge(C=10.0, random_state=0), labels=target)
        assert_array_equal(found.cv_results_["mean_n_vectors"], np.repeat(BUDGETS, 3))
        svm = searched(reference=SVC())
        sizes = []
        for train, _ in StratifiedKFold(3).split(X, y):
            fitted = SVC().fit(X[train], y[train])
            # two features and a coefficient a vector, an intercept, two labels
            sizes.append(4 * (3 * len(fitted.support_) + 1) + 2)
        assert_allclose(svm.reference_results_["mean_bytes"], np.mean(sizes))

    def test_folds_in_parallel_and_weights(self, search):
        with joblib.parallel_backend("threading"):
            again = searched(n_jobs=2)
        assert_array_equal(
            again.cv_results_["mean_test_score"], search.cv_results_["mean_test_score"]
        )
        weighted = BudgetSearchCV(direct(), (2,), cv=3, vector_bits=(4, None))
        weights = np.random.default_rng(0).uniform(0.1, 3.0, 120)
        weighted.fit(X, y, sample_weight=weights)
        train, test = next(iter(StratifiedKFold(3).split(X, y)))
        path = direct().fit_path(X[train], y[train], (2,), weights[train], vector_bits=(4, None))
        assert_allclose(
            weighted.cv_results_["split0_test_score"],
            [model.score(X[test], y[test], weights[test]) for model in path],
        )

    def test_a_pair_that_fails(self):
        class Fussy(SparseSVC):
            def fit(self, X, y, sample_weight=None):
                if (self.n_vectors, self.vector_bits) == (4, 4):
                    raise ValueError("four is unlucky")
                return super().fit(X, y, sample_weight)

        with pytest.warns(FitFailedWarning, match="four is unlucky"):
            found = searched(Fussy(C=1.0, random_state=0))
        missing = np.isnan(found.cv_results_["mean_test_score"])
        assert_array_equal(np.flatnonzero(missing), [3])
        assert found.best_index_ != 3

    @pytest.mark.parametrize(("comes_at", "n_splits", "n_entries"), [(10, 1, 6), (4, 1, 3)])
    def test_ctrl_c(self, monkeypatch, comes_at, n_splits, n_entries):
        class Interrupted(ReducedSVC):
            n_fits = 0

            def fit(self, X, y, sample_weight=None):
                type(self).n_fits += 1
                if type(self).n_fits == comes_at:
                    raise KeyboardInterrupt
                return super().fit(X, y, sample_weight)

        model = Interrupted(init="kmeans", random_state=0)
        with pytest.warns(ConvergenceWarning, match=f"{n_entries} of 6 budgets"):
            found = searched(model, (2, 4), vector_bits=BITS)
        assert found.n_splits_ == n_splits
        assert len(found.cv_results_["params"]) == n_entries
        assert_array_equal(found.budgets_, [2, 4][: -(-n_entries // 3)])
        assert found.predict(X).shape == y.shape

    def test_verbose(self, capsys):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            searched(verbose=2, cv=2)
        lines = capsys.readouterr().err.splitlines()
        assert sum("vector_bits None  score" in line for line in lines) == 6
        assert sum("n_vectors     8  vector_bits 4" in line for line in lines) == 2


def test_paths_of_what_is_left():
    whole = Candidates.of(SparseSVC(), (2, 4, 8), (None, 4))
    assert list(whole.paths()) == [([2, 4, 8], [4, None])]
    assert list(whole.some(3).paths()) == [([4], [None]), ([8], [4, None])]
    assert list(whole.some(0, 3).paths()) == [([2], [4, None]), ([4], [4])]
    assert list(Candidates.of(SparseSVC(), (2, 4)).paths()) == [([2, 4], [None])]


UNMET = {
    "mean_test_score": np.array([0.7, 0.8, 0.9]),
    "mean_bytes": np.array([9.0, 20.0, 30.0]),
    "mean_microseconds": np.array([5.0, 2.0, 3.0]),
    "params": [{"n_vectors": m} for m in (1, 2, 3)],
}


class TestUnmetLimits:
    def test_the_error_has_the_cheapest(self):
        with pytest.raises(LimitError, match="the cheapest costs 9") as caught:
            within_limits(UNMET, {"max_bytes": 8.0})
        assert (caught.value.parameter, caught.value.least) == ("max_bytes", 9.0)
        assert caught.value.params == {"n_vectors": 1}

    def test_the_cheapest_keeps_to_the_limits_before(self):
        with pytest.raises(LimitError, match="max_bytes=10: the cheapest costs 20") as caught:
            within_limits(UNMET, {"max_microseconds": 4.0, "max_bytes": 10.0})
        assert caught.value.params == {"n_vectors": 2}
