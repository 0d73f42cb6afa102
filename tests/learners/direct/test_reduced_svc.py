"""ReducedSVC: RSVM and MRSVM, against Clarabel and LIBSVM."""

from __future__ import annotations

import pickle
import warnings
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.model_selection import GridSearchCV
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, LinearSVC

from kernelet.datasets import make_banana
from kernelet.kernels import Gaussian, Matern52, Polynomial
from kernelet.learners import ReducedSVC, SparseSVC, compress
from kernelet.learners.direct import reduced_svc
from kernelet.learners.direct.fixed_vectors import learn_classes
from kernelet.machine import KernelMachine
from kernelet.solvers import Status
from learner_oracles import svm_by_clarabel, svm_objective

X, y = make_banana(150, random_state=0)
SIGNS = 2.0 * y - 1.0
IRIS, SPECIES = load_iris(return_X_y=True)
IRIS = StandardScaler().fit_transform(IRIS)
both = pytest.mark.parametrize("regularizer", ["margin", "ridge"])


def model(n_vectors=10, **parameters):
    return ReducedSVC(n_vectors, **{"random_state": 0, **parameters})


def matrices(kernel, Z, regularizer):
    gram = kernel(Z, Z) if regularizer == "margin" else np.eye(len(Z))
    return kernel(X, Z), gram


@both
@pytest.mark.parametrize("C", [1.0, 316.0])
@pytest.mark.parametrize(
    "kernel", [Gaussian(1.0), Polynomial(0.5, 1.0, 3), Matern52(0.5)], ids=lambda k: k.name
)
def test_value_is_that_of_an_independent_solver(kernel, C, regularizer):
    Z = X[::19]
    m = model(len(Z), kernel=kernel, C=C, regularizer=regularizer, init=Z, tol=1e-9).fit(X, y)
    K, gram = matrices(kernel, Z, regularizer)
    costs = np.full(len(X), C)
    value, beta, b = svm_by_clarabel(K, gram, SIGNS, costs)
    assert_allclose(m.objective_, value, rtol=1e-7)
    assert m.gap_ <= 1e-9
    own = svm_objective(
        K, gram, SIGNS, costs, m.machine_.coefficients[:, 0], m.machine_.intercepts[0]
    )
    assert_allclose(own, value, rtol=1e-7)
    # two solutions within 1e-9 of the least value differ by 1e-4 of its root
    assert_allclose(m.decision_function(X), K @ beta + b, atol=1e-3)


def test_ridge_is_the_linear_svm_on_kernel_values():
    Z = X[:8]
    m = model(8, regularizer="ridge", init=Z, gamma=1.0, tol=1e-9).fit(X, y)
    # scikit-learn's linear SVC with a kernel, whose bias is free as ours is
    svc = SVC(kernel="linear", tol=1e-8).fit(Gaussian(1.0)(X, Z), y)
    assert_allclose(m.machine_.coefficients[:, 0], svc.coef_[0], atol=1e-4)
    assert_allclose(m.machine_.intercepts, svc.intercept_, atol=1e-4)


def test_all_rows_with_the_margin_are_the_svm():
    m = model(len(X), init=X, gamma=1.0, tol=1e-9).fit(X, y)
    svc = SVC(gamma=1.0, tol=1e-8).fit(X, y)
    assert_allclose(m.decision_function(X), svc.decision_function(X), atol=1e-3)


@both
def test_duplicate_and_far_vectors(regularizer):
    Z = np.vstack([X[:6], X[:3], X[:2] + 1e-9, [[1e4, 1e4]]])
    m = model(len(Z), init=Z, gamma=1.0, regularizer=regularizer, tol=1e-8).fit(X, y)
    # the same span, of which Clarabel's answer does not hang on the rounding of a singular matrix
    distinct = Z[[0, 1, 2, 3, 4, 5, 11]]
    if regularizer == "ridge":  # there each vector has a coefficient of its own to shrink
        distinct = Z
    K, gram = matrices(Gaussian(1.0), distinct, regularizer)
    value, _, _ = svm_by_clarabel(K, gram, SIGNS, np.ones(len(X)))
    assert_allclose(m.objective_, value, rtol=1e-6)
    assert np.isfinite(m.machine_.coefficients).all()


class TestVectors:
    def test_random_rows_are_rows(self):
        m = model().fit(X, y)
        assert m.n_vectors_ == 10
        assert all((z == X).all(axis=1).any() for z in m.vectors_)
        assert not np.array_equal(m.vectors_, model(random_state=1).fit(X, y).vectors_)

    @pytest.mark.parametrize("init", ["kmeans", "greedy", "sgma"])
    def test_named(self, init):
        m = model(init=init).fit(X, y)
        assert m.vectors_.shape == (10, 2)
        assert m.score(X, y) > 0.85

    def test_both_regularizers_take_the_same_vectors(self):
        """As tables 1 and 3 compare them."""
        ridge, margin = (model(regularizer=r).fit(X, y) for r in ("ridge", "margin"))
        assert_array_equal(ridge.vectors_, margin.vectors_)

    @pytest.mark.parametrize(
        "maker",
        [
            lambda: SVC(gamma=1.0).fit(X, y),
            lambda: SVC(gamma=1.0).fit(sparse.csr_matrix(X), y),
            lambda: SparseSVC(4, random_state=0).fit(X, y),
            lambda: SparseSVC(4, random_state=0).fit(X, y).machine_,
            lambda: compress(SVC(gamma=1.0).fit(X, y), 5),
        ],
        ids=["SVC", "sparse SVC", "SparseSVC", "KernelMachine", "compressed"],
    )
    def test_of_a_fitted_model(self, maker):
        source = maker()
        name = "vectors" if isinstance(source, KernelMachine) else "vectors_"
        name = "support_vectors_" if isinstance(source, SVC) else name
        vectors = getattr(source, name)
        vectors = vectors.toarray() if sparse.issparse(vectors) else vectors
        m = model(init=source).fit(X, y)
        assert_array_equal(m.vectors_, vectors)
        # n_vectors says nothing then
        assert m.machine_ == model(3, init=source).fit(X, y).machine_

    def test_of_a_model_that_has_none(self):
        with pytest.raises(NotFittedError):
            model(init=SparseSVC(4)).fit(X, y)
        with pytest.raises(ValueError, match="LinearSVC has none"):
            model(init=LinearSVC().fit(X, y)).fit(X, y)

    def test_refitting_lowers_the_objective(self):
        """Section 6: the vectors of another machine, with coefficients by (45)."""
        source = compress(SVC(gamma=1.0, C=10.0).fit(X, y), 4)
        refitted = model(init=source, gamma=1.0, C=10.0).fit(X, y)
        K, gram = matrices(Gaussian(1.0), source.vectors_, "margin")
        machine = source.machine_
        before = svm_objective(
            K, gram, SIGNS, np.full(150, 10.0), machine.coefficients[:, 0], machine.intercepts[0]
        )
        assert refitted.objective_ < 0.99 * before

    def test_more_than_rows(self):
        rows, labels = np.repeat(X[:4], 30, axis=0), np.repeat([0, 1, 0, 1], 30)
        with pytest.warns(UserWarning, match="n_vectors=10 was asked for, 4 are used"):
            m = model(C=100.0).fit(rows, labels)
        assert m.n_vectors_ == 4
        assert m.score(rows, labels) == 1.0


class TestEstimator:
    @pytest.mark.parametrize(
        ("parameters", "words"),
        [
            ({"n_vectors": 0}, "n_vectors must"),
            ({"C": 0.0}, "C must"),
            ({"tol": -1.0}, "tol must"),
            ({"regularizer": "lasso"}, "regularizer must be one of 'margin', 'ridge'"),
            ({"init": X[:3]}, "n_vectors=10, but 3"),
            ({"init": IRIS[:10]}, r"\(n_vectors, 2\)"),
            ({"init": "best"}, "best"),
        ],
    )
    def test_a_bad_parameter_is_named(self, parameters, words):
        with pytest.raises(ValueError, match=words):
            model(**parameters).fit(X, y)

    @both
    def test_many_classes_share_the_vectors(self, regularizer):
        m = model(regularizer=regularizer, C=10.0).fit(IRIS, SPECIES)
        assert m.n_vectors_ == 10
        assert m.machine_.n_outputs == 3
        alone = [
            model(10, regularizer=regularizer, C=10.0, init=m.vectors_).fit(IRIS, k == SPECIES)
            for k in range(3)
        ]
        assert_allclose(m.objective_, sum(a.objective_ for a in alone), rtol=1e-5)
        assert m.score(IRIS, SPECIES) > 0.9

    @both
    def test_a_weight_is_a_repetition(self, regularizer):
        times = np.random.default_rng(0).integers(0, 4, 150)
        options = {"regularizer": regularizer, "class_weight": "balanced"}
        weighted = model(**options).fit(IRIS, SPECIES, sample_weight=times)
        repeated = model(**options).fit(np.repeat(IRIS, times, axis=0), np.repeat(SPECIES, times))
        assert weighted.machine_ == repeated.machine_

    def test_weights_multiply_the_costs(self):
        weights = np.random.default_rng(0).uniform(0.0, 3.0, 150)
        m = model(C=2.0, kernel=Gaussian(1.0), tol=1e-9).fit(X, y, weights)
        K, gram = matrices(Gaussian(1.0), m.vectors_, "margin")
        value, _, _ = svm_by_clarabel(K, gram, SIGNS, 2.0 * weights)
        assert_allclose(m.objective_, value, rtol=1e-7)

    def test_class_weight_is_a_sample_weight(self):
        m = model(class_weight={1: 5.0}).fit(X, y)
        assert m.machine_ == model().fit(X, y, np.where(y == 1, 5.0, 1.0)).machine_

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
        assert_allclose(single.decision_function(X), plain.decision_function(X), atol=1e-2)

    def test_parameters_stay_and_copies_are_equal(self):
        m = model(init=X[:10]).fit(X, y)
        assert m.init is not None
        assert_array_equal(m.get_params()["init"], X[:10])
        assert clone(m).fit(X, y).machine_ == m.machine_
        back = pickle.loads(pickle.dumps(m))
        assert_array_equal(back.predict(X), m.predict(X))

    def test_grid_search(self):
        grid = {"n_vectors": [1, 20], "regularizer": ["margin", "ridge"]}
        search = GridSearchCV(model(), grid, cv=3).fit(X, y)
        assert search.best_params_["n_vectors"] == 20

    @pytest.mark.filterwarnings("ignore:.*the same for all:UserWarning")
    @pytest.mark.parametrize("C", [1e-6, 1e9])
    @both
    def test_extreme_costs(self, C, regularizer):
        with warnings.catch_warnings():
            # the gap may stay open at C = 1e9; there is a warning, and the solution is still good
            warnings.simplefilter("ignore", ConvergenceWarning)
            m = model(C=C, regularizer=regularizer, init="kmeans").fit(X, y)
        assert np.isfinite(m.decision_function(X)).all()
        assert m.score(X, y) > (0.85 if C > 1.0 else 0.5)

    @pytest.mark.filterwarnings("ignore:.*the same for all:UserWarning")
    @pytest.mark.parametrize("gamma", [1e-12, 1e12])
    @both
    def test_extreme_widths(self, gamma, regularizer):
        m = model(gamma=gamma, regularizer=regularizer).fit(X, y)
        assert np.isfinite(m.decision_function(X)).all()
        assert m.score(X, y) >= 0.5

    def test_a_gap_that_stays_open_warns(self, monkeypatch):
        def hurried(*arguments, **options):
            learned = learn_classes(*arguments, **options)
            late = [replace(s, status=Status.ITERATION_LIMIT) for s in learned.solutions]
            return replace(learned, solutions=late)

        monkeypatch.setattr(reduced_svc, "learn_classes", hurried)
        with pytest.warns(
            ConvergenceWarning, match=r"only reached a relative gap of .*: stopped at max_iter"
        ):
            model().fit(X, y)

    def test_one_class_and_nan(self):
        with pytest.raises(ValueError, match="two classes"):
            model().fit(X, np.ones(150))
        with pytest.raises(ValueError, match="NaN"):
            model().fit(np.where(X > 0, np.nan, X), y)

    def test_kernel_functions_will_do(self):
        """The vectors stay where they are: no gradient is needed."""
        m = model(kernel=lambda A, B: Gaussian(1.0)(A, B)).fit(X, y)
        assert_allclose(
            m.decision_function(X), model(gamma=1.0).fit(X, y).decision_function(X), atol=1e-6
        )

    def test_linear_machine(self):
        m = model(2, kernel="linear", C=100.0).fit(X, y)
        assert m.score(X, y) >= LinearSVC(C=100.0).fit(X, y).score(X, y) - 0.03
