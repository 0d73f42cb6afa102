"""What the estimators of the direct method have in common, whatever their inner problem is."""

from __future__ import annotations

import pickle
import warnings

import numpy as np
import onnxruntime
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from interrupts import ctrl_c_in
from kernelet import BudgetSearchCV, compress, load
from kernelet.export import javascript
from kernelet.export.to_onnx.exporter import onnx_model
from kernelet.kernels import Gaussian
from kernelet.learners import SparseKernelPCA, SparseKernelRidge, SparseOneClassSVM, SparseSVR
from kernelet.learners.base.progress import HAS_CALLBACKS
from kernelet.learners.direct import learn as direct_learn

RNG = np.random.default_rng(0)
X = RNG.normal(size=(90, 2))
y = np.sin(2.0 * X[:, 0]) + 0.5 * X[:, 1] ** 2 + 0.1 * RNG.normal(size=90)
TWO = np.column_stack([y, X[:, 0] * X[:, 1]])

# name -> maker and targets
CASES = {
    "ridge": (lambda m=5, **o: SparseKernelRidge(m, **{"C": 10.0, "random_state": 0, **o}), y),
    "ridge, 2 targets": (
        lambda m=5, **o: SparseKernelRidge(m, **{"C": 10.0, "random_state": 0, **o}),
        TWO,
    ),
    "svr": (lambda m=5, **o: SparseSVR(m, **{"C": 10.0, "random_state": 0, **o}), y),
    "svr, squared": (
        lambda m=5, **o: SparseSVR(
            m, **{"C": 10.0, "loss": "squared_epsilon_insensitive", "random_state": 0, **o}
        ),
        y,
    ),
    "quantile": (
        lambda m=5, **o: SparseSVR(
            m, **{"C": 10.0, "loss": "quantile", "quantile": 0.8, "random_state": 0, **o}
        ),
        y,
    ),
    "pca": (
        lambda m=5, **o: SparseKernelPCA(m, **{"n_components": 2, "random_state": 0, **o}),
        y,
    ),
    "one class": (lambda m=5, **o: SparseOneClassSVM(m, **{"random_state": 0, **o}), y),
}
each = pytest.mark.parametrize(("make", "target"), CASES.values(), ids=CASES)


def output(model, rows):
    """What the model makes of rows, as the method has it that this kind of model has."""
    names = ("decision_function", "predict", "transform")
    (method, *_) = [getattr(model, name) for name in names if hasattr(model, name)]
    return method(rows)


class TestSearch:
    @each
    def test_attributes(self, make, target):
        m = make().fit(X, target)
        assert m.n_vectors_ == 5
        assert_array_equal(m.vectors_, m.machine_.vectors)
        assert len(m.history_) == 1
        assert m.objective_ < m.history_[0][0]
        # the regulariser of learned scales is no part of W; rounding, where there is none
        assert m.objective_ <= m.history_[0][-1] + 1e-9 * abs(m.objective_)
        if getattr(m, "kernel_gain_", 0.0) == 0.0:
            assert_allclose(m.objective_, m.history_[0][-1], rtol=1e-9)
        assert (np.diff(m.history_[0]) <= 0.0).all()
        assert 0 < m.n_iter_ < m.n_evaluations_
        assert m.interrupted_ is False

    @each
    def test_same_seed_same_bits(self, make, target):
        m = make().fit(X, target)
        assert make().fit(X, target).machine_ == m.machine_
        assert m.fit(X, target).machine_ == make().fit(X, target).machine_

    @each
    def test_n_init_keeps_the_best(self, make, target, monkeypatch):
        ends, original = [], direct_learn.search_vectors

        def recorded(*arguments, **settings):
            end = original(*arguments, **settings)
            ends.append(end.best.value)
            return end

        monkeypatch.setattr(direct_learn, "search_vectors", recorded)
        m = make(2, init="random", n_init=4).fit(X, target)
        assert len(ends) == 4
        assert m.objective_ == min(ends)

    @each
    def test_given_initial_vectors(self, make, target):
        init = X[:5].copy()
        m = make(init=init).fit(X, target)
        assert_array_equal(init, X[:5])
        assert m.history_[0][0] > m.objective_

    @each
    @pytest.mark.parametrize("kernel", ["rbf", "poly", "matern52", "laplacian", "sigmoid"])
    def test_kernels(self, make, target, kernel):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            m = make(kernel=kernel, coef0=1.0, max_iter=30).fit(X, target)
        # the squared loss may take all steps before a history of the loss itself begins
        assert len(m.history_[0]) == 1 or m.objective_ < m.history_[0][0]
        assert m.n_iter_ > 1
        assert np.isfinite(output(m, X)).all()

    @each
    def test_too_few_steps_warn(self, make, target):
        with pytest.warns(ConvergenceWarning) as record:
            m = make(max_iter=2).fit(X, target)
        (warning,) = record
        assert f"{type(m).__name__} stopped early: max_iter=2" in str(warning.message)
        assert f"W = {m.objective_:.6g} after 2 steps" in str(warning.message)

    @each
    def test_ctrl_c_leaves_a_usable_model(self, make, target, monkeypatch):
        ctrl_c_in(monkeypatch, 5)
        with pytest.warns(ConvergenceWarning, match="interrupted"):
            m = make().fit(X, target)
        assert m.interrupted_ is True
        assert np.isfinite(output(m, X)).all()

    @each
    def test_verbose_goes_to_standard_error(self, make, target, capsys):
        m = make(verbose=2).fit(X, target)
        out, err = capsys.readouterr()
        assert out == ""
        assert len(err.splitlines()) == m.n_iter_ // 2

    @each
    def test_callbacks_see_every_step(self, make, target):
        seen = []

        class Recorder:
            def setup(self, estimator, context):
                pass

            def teardown(self, estimator, context):
                pass

            def on_fit_task_begin(self, estimator, context):
                pass

            def on_fit_task_end(self, estimator, context, *, X=None, fitted_estimator=None):
                if fitted_estimator is not None:
                    seen.append(output(fitted_estimator, X))

        estimator = make()
        if HAS_CALLBACKS:
            estimator.set_callbacks(Recorder())
        estimator.fit(X, target)
        assert len(seen) == (estimator.n_iter_ if HAS_CALLBACKS else 0)
        if seen:
            order = np.lexsort(X.T[::-1])  # the rows of a fit are sorted
            assert_allclose(seen[-1], output(estimator, X[order]), atol=1e-9)

    @each
    @pytest.mark.parametrize(
        ("parameters", "words"),
        [
            ({"m": 0}, "n_vectors must"),
            ({"m": [2, 3]}, "n_vectors holds 2 numbers"),
            ({"tol": 0.0}, "tol must"),
            ({"max_iter": 0}, "max_iter must"),
            ({"n_init": 0}, "n_init must"),
            ({"verbose": "x"}, "verbose must"),
            ({"init": "means"}, "init must be one of .*'means'"),
            ({"init": np.zeros((4, 2))}, "n_vectors=5, but 4"),
            ({"kernel": lambda A, B: A @ B.T}, "needs the gradient"),
        ],
    )
    def test_a_bad_parameter_is_named(self, make, target, parameters, words):
        with pytest.raises(ValueError, match=words):
            make(**parameters).fit(X, target)


class TestPaths:
    @each
    def test_another_budget_starts_from_the_last(self, make, target):
        path = make().fit_path(X, target, [2, 4, 6, 3])
        assert [m.n_vectors_ for m in path] == [2, 4, 6, 3]
        # all but the largest are polished less finely
        assert_allclose(path[0].objective_, make(2).fit(X, target).objective_, rtol=0.1)
        values = [m.objective_ for m in path]
        assert values[1] <= values[0]
        assert values[2] <= values[1]
        # three, even if they come from six, are better than two
        assert values[3] <= values[0]

    @pytest.mark.parametrize("name", ["ridge", "ridge, 2 targets", "svr", "quantile"])
    def test_a_search_goes_along_the_path(self, name):
        make, target = CASES[name]
        search = BudgetSearchCV(make(), budgets=(1, 6), cv=3).fit(X, target)
        assert search.best_params_ == {"n_vectors": 6}
        assert search.predict(X).shape == target.shape

    @each
    def test_a_loaded_model_goes_on_from_its_vectors(self, make, target, tmp_path):
        m = make(4, warm_start=True).fit(X, target)
        m.save(tmp_path / "m.kernelet")
        loaded = load(tmp_path / "m.kernelet")
        for model in (m, loaded):
            model.set_params(n_vectors=6, random_state=3).fit(X, target)
        assert loaded.machine_ == m.machine_
        assert m.n_vectors_ == 6


class TestData:
    @each
    def test_a_weight_is_a_repetition(self, make, target):
        times = np.random.default_rng(0).integers(0, 4, len(X))
        weighted = make().fit(X, target, sample_weight=times)
        repeated = make().fit(np.repeat(X, times, axis=0), np.repeat(target, times, axis=0))
        assert weighted.machine_ == repeated.machine_
        assert weighted.objective_ == repeated.objective_

    @each
    def test_the_order_of_rows_does_not_matter(self, make, target):
        order = np.random.default_rng(0).permutation(len(X))
        assert make().fit(X[order], target[order]).machine_ == make().fit(X, target).machine_

    @each
    def test_pandas_float32_and_copies(self, make, target, tmp_path):
        m = make().fit(X, target)
        framed = make().fit(pd.DataFrame(X, columns=["a", "b"]), pd.DataFrame(target).squeeze())
        assert framed.machine_ == m.machine_
        assert_array_equal(framed.feature_names_in_, ["a", "b"])
        single = make().fit(X.astype(np.float32), target)
        # rounding may lead to another minimum nearby
        assert_allclose(single.objective_, m.objective_, rtol=0.1)
        assert clone(m).fit(X, target).machine_ == m.machine_
        assert_array_equal(output(pickle.loads(pickle.dumps(m)), X), output(m, X))
        m.save(tmp_path / "m.kernelet")
        loaded = load(tmp_path / "m.kernelet")
        assert_array_equal(output(loaded, X), output(m, X))
        assert loaded.get_params() == m.get_params()
        assert loaded.objective_ == m.objective_

    @each
    @pytest.mark.parametrize("container", [sparse.csr_array, sparse.csc_matrix])
    def test_sparse_equals_dense(self, make, target, container):
        rows = np.where(np.abs(X) > 0.5, X, 0.0)
        given = {"learn_kernel": False} if hasattr(make(), "learn_kernel") else {}
        # products of sparse rows add in another order. Sparse rows are not centred: a change of
        # scales moves vectors about the origin, so that other steps lead to an end near by
        for options, rtol in (({"max_iter": 8, **given}, 1e-3), ({}, 5e-2)):
            dense, csr = make(**options), make(**options)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", ConvergenceWarning)
                dense.fit(rows, target)
                csr.fit(container(rows), target)
            assert_allclose(csr.objective_, dense.objective_, rtol=rtol)
            assert_allclose(output(csr, rows), output(csr, container(rows)), atol=1e-9)

    @each
    def test_constant_columns_and_few_rows(self, make, target):
        rows = np.column_stack([X, np.full(len(X), 7.0)])
        assert_allclose(make(gamma=0.5).fit(rows, target).vectors_[:, 2], 7.0, atol=1e-9)
        with pytest.warns(UserWarning, match="are used"):
            assert make(50).fit(X[:6], target[:6]).n_vectors_ == 6

    @each
    def test_pipeline_and_kernel_objects(self, make, target):
        m = make(gamma=0.3).fit(X, target)
        assert make(kernel=Gaussian(0.3)).fit(X, target).machine_ == m.machine_
        pipe = make_pipeline(StandardScaler(), make()).fit(X * [1.0, 1e4], target)
        assert np.isfinite(output(pipe, X)).all()


class TestExports:
    @each
    def test_executed_by_others_they_say_the_same(self, make, target, tmp_path):
        """C has a test of its own, over all estimators that there are."""
        m = make().fit(X, target)
        expected = output(m, X).reshape(len(X), -1)
        session = onnxruntime.InferenceSession(onnx_model(m, "float64").SerializeToString())
        names = [found.name for found in session.get_outputs()]
        outputs = dict(zip(names, session.run(None, {"X": X}), strict=True))
        scores = outputs["variable" if "variable" in outputs else "scores"]
        assert_allclose(scores.reshape(expected.shape), expected, rtol=1e-9, atol=1e-9)
        if "label" in outputs:
            assert_array_equal(outputs["label"], m.predict(X))
        javascript(m, tmp_path / "m.mjs")
        assert "export" in (tmp_path / "m.mjs").read_text()

    @each
    def test_compressed_further(self, make, target):
        m = make().fit(X, target)
        small = compress(m, 3)
        assert small.n_vectors_ == 3
        assert 0.0 < small.relative_error_ < 1.0
        assert output(small, X).shape == output(m, X).shape


class TestRowsOutside:
    """A solution leaves at most a share nu of the rows outside."""

    def test_rows_around_the_origin_warn(self):
        rows = np.random.default_rng(0).normal(size=(60, 3))
        rows -= rows.mean(axis=0)
        with pytest.warns(UserWarning, match=r"nu=0.1.*on all sides.*kernel='rbf'"):
            SparseOneClassSVM(6, nu=0.1, kernel="linear", tol=1e-10, random_state=0).fit(rows)

    @pytest.mark.parametrize("nu", [0.05, 0.3, 0.9])
    @pytest.mark.parametrize("kernel", ["rbf", "linear"])
    def test_others_do_not(self, nu, kernel):
        rows = 3.0 + np.random.default_rng(0).normal(size=(60, 3))
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            model = SparseOneClassSVM(6, nu=nu, kernel=kernel, random_state=0).fit(rows)
        assert np.mean(model.predict(rows) == -1) <= nu + 0.05
