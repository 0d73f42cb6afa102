"""Core vectors and margin features where digits, distinct rows or time are lacking."""

from __future__ import annotations

import re
import sys
import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.datasets import load_breast_cancer
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import LinearSVC

from kernelet import CoreVectorSVC, MaxMarginDiscriminantAnalysis
from kernelet.datasets import make_banana
from kernelet.kernels import Gaussian, Linear, Polynomial
from kernelet.learners.base.progress import HAS_CALLBACKS
from kernelet.learners.core_vectors import margin_directions as margin_features
from kernelet.learners.core_vectors import rows as core_vector_rows
from kernelet.solvers.enclosing_ball import core_set
from kernelet.solvers.enclosing_ball import growth as ball_growth
from kernelet.solvers.enclosing_ball.ball import Ball
from kernelet.solvers.enclosing_ball.core_set import CoreSet
from kernelet.solvers.enclosing_ball.exact_margin import exact_margin
from kernelet.solvers.enclosing_ball.few_rows import RowsAround
from kernelet.solvers.enclosing_ball.labelled_rows import TableRows
from kernelet.solvers.solution import Status
from references import quadratic_program

EXACT = sys.modules[exact_margin.__module__]
CANCER, BENIGN = load_breast_cancer(return_X_y=True)
STANDARD = (CANCER - CANCER.mean(axis=0)) / CANCER.std(axis=0)
SIGNS = 2.0 * BENIGN - 1.0


def squared_hinge_by_clarabel(rows, C):
    """min 1/2 |w|^2 + 1/2 b^2 + C/2 sum_i xi_i^2, in units of the columns' size."""
    n, d = rows.shape
    size = np.append(np.abs(rows).max(axis=0), 1.0)
    P = np.diag(np.concatenate([size**-2.0 / C, np.ones(n)]))
    design = SIGNS[:, None] * np.c_[rows, np.ones(n)] / size
    A = np.vstack([np.hstack([-design, -np.eye(n)]), np.hstack([np.zeros((n, d + 1)), -np.eye(n)])])
    return C * quadratic_program(
        P, np.zeros(d + 1 + n), A, np.concatenate([-np.ones(n), np.zeros(n)])
    )


def longdouble_products(model):
    """Of linear features among each other."""
    machine = model.machine_
    W = machine.vectors.astype(np.longdouble).T @ machine.coefficients.astype(np.longdouble)
    return (W.T @ W).astype(np.float64)


class TestExactSolver:
    @pytest.mark.parametrize("C", [1.0, 1e4, 1e8, 1e10, 1e11])
    def test_large_costs(self, C):
        """Newton steps pass by multipliers so large that nearly everything is rounding."""
        found = exact_margin(STANDARD, SIGNS, np.full(SIGNS.size, C), Linear())
        assert found.status is Status.OPTIMAL
        assert abs(found.primal_value - found.dual_value) <= 1e-6 * found.primal_value
        if C <= 1e4:
            peer = LinearSVC(C=C / 2, intercept_scaling=1, tol=1e-10, max_iter=10**6)
            peer.fit(STANDARD, SIGNS)
            w = found.function.vectors.T @ found.function.coefficients[:, 0]
            assert_allclose(w, peer.coef_[0], rtol=1e-4, atol=1e-4)
        else:
            # for more than 1e8 there are no margins left to buy
            assert_allclose(found.primal_value, 257850.0, rtol=1e-3)

    def test_long_rows(self):
        """k(x, x) up to 1e15; at C=1 rounding is of the size of 1 / C, and some processors stop."""
        kernel = Polynomial(1.0, 0.0, 2)
        found = exact_margin(CANCER, SIGNS, np.full(SIGNS.size, 0.01), kernel)
        assert found.status is Status.OPTIMAL
        assert_allclose(found.primal_value, 0.0061446, rtol=1e-5)
        edge = exact_margin(CANCER, SIGNS, np.ones(SIGNS.size), kernel)
        assert edge.status in (Status.OPTIMAL, Status.NUMERICAL_LIMIT)
        assert_allclose(edge.primal_value, 0.00664643, rtol=0.01)

    @pytest.mark.parametrize(
        ("kernel", "C"), [(Polynomial(0.1, 1.0, 3), 1.0), (Linear(), 1e8)], ids=["cubes", "costs"]
    )
    def test_where_no_digits_are_left_there_is_a_warning_and_a_good_model(self, kernel, C):
        costs = np.full(SIGNS.size, C)
        found = exact_margin(CANCER, SIGNS, costs, kernel)
        assert found.status is Status.NUMERICAL_LIMIT
        assert 0.0 <= found.dual_value <= found.primal_value
        if kernel == Linear():
            # LinearSVC's problem, in columns of the size that Clarabel needs
            assert_allclose(found.primal_value, squared_hinge_by_clarabel(CANCER, C), rtol=0.02)
        model = MaxMarginDiscriminantAnalysis(solver="exact", kernel=kernel, C=C)
        with pytest.warns(ConvergenceWarning, match="no digits left"):
            features = model.fit(CANCER, BENIGN).transform(CANCER)
        assert np.mean((features[:, 0] > 0.0) == BENIGN) > 0.99

    @pytest.mark.parametrize("C", 10.0 ** np.arange(5, 13))
    def test_every_large_cost_gives_a_model(self, C):
        model = MaxMarginDiscriminantAnalysis(solver="exact", kernel="linear", C=C)
        with pytest.warns(ConvergenceWarning, match="no digits left"):
            features = model.fit(CANCER, BENIGN).transform(CANCER)
        assert np.mean((features[:, 0] > 0.0) == BENIGN) > 0.98

    def test_a_dual_value_above_the_primal_one_is_no_proof(self, monkeypatch):
        rows, signs = np.array([[-1.0], [1.0], [10.0]]), np.array([-1.0, 1.0, 1.0])

        def with_a_negative_one(K, C, a, max_iter):
            return np.linalg.solve(K + np.diag(1.0 / C), np.ones(C.size)), 1, True

        assert exact_margin(rows, signs, np.ones(3), Linear()).status is Status.OPTIMAL
        monkeypatch.setattr(EXACT, "newton_multipliers", with_a_negative_one)
        found = exact_margin(rows, signs, np.ones(3), Linear())
        assert found.dual_value > 1.01 * found.primal_value
        assert found.status is Status.NUMERICAL_LIMIT


class TestDirections:
    @pytest.mark.parametrize("solver", ["exact", "core_set"])
    @pytest.mark.parametrize("kind", ["one long row", "a column in other units"])
    def test_rows_of_different_lengths(self, solver, kind):
        rng = np.random.default_rng(0)
        labels = np.arange(300) % 2
        rows = rng.standard_normal((300, 3))
        rows[:, 0] += 2.0 * (2.0 * labels - 1.0)
        if kind == "one long row":
            rows[-1] = [1e6, 0.0, 0.0]
        else:
            rows = np.c_[rows, 1e5 * rng.lognormal(0.0, 0.5, 300)]
        model = MaxMarginDiscriminantAnalysis(1, solver=solver, kernel="linear", tol=0.1)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            features = model.fit(rows, labels).transform(rows)[:, 0]
        right = (features > 0.0) == (labels == 1)
        assert right.mean() > 0.95
        assert_allclose(longdouble_products(model), 1.0, rtol=1e-3)

    def test_long_rows_reach_a_gap_by_default(self):
        """eps is relative to the longest row, and by itself ended above w = 0, at 284.5."""
        model = MaxMarginDiscriminantAnalysis(kernel="linear", random_state=0)
        features = model.fit(CANCER, BENIGN).transform(CANCER)
        exact = exact_margin(CANCER, SIGNS, np.ones(SIGNS.size), Linear())
        assert exact.primal_value * (1.0 - 1e-6) <= model.objective_ <= 1.12 * exact.primal_value
        assert 0.0 <= model.gap_ <= 0.1
        assert np.mean((features[:, 0] > 0.0) == BENIGN) > 0.95

    @pytest.mark.parametrize("solver", ["exact", "core_set"])
    def test_orthogonality_is_kept_or_reported(self, solver):
        options = {"solver": solver, "kernel": "linear", "tol": 0.1, "random_state": 0}
        model = MaxMarginDiscriminantAnalysis(3, **options)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            model.fit(STANDARD, BENIGN)
        assert_allclose(longdouble_products(model), np.eye(3), atol=1e-10)
        with pytest.warns(ConvergenceWarning) as record:
            raw = MaxMarginDiscriminantAnalysis(3, C=1e4, **options).fit(CANCER, BENIGN)
        text = " ".join(str(warning.message) for warning in record)
        reported = float(re.search(r"only orthogonal to ([^ ,]+)", text).group(1))
        # which is measured by kernel values, and so up to their rounding
        measured = np.abs(longdouble_products(raw) - np.eye(3)).max()
        assert 1e-7 < reported < 1e-2
        assert measured < 100.0 * reported

    def test_single_precision_has_no_more_dimensions(self, tmp_path):
        rows = np.memmap(tmp_path / "rows", np.float32, "w+", shape=(2000, 2))
        rows[:] = np.random.default_rng(0).standard_normal((2000, 2))
        labels = np.arange(2000) % 2
        rows[:, 0] += labels
        with pytest.raises(ValueError, match="span no more than 2"):
            MaxMarginDiscriminantAnalysis(3, kernel="linear", random_state=0).fit(rows, labels)
        rows *= 1e7
        model = MaxMarginDiscriminantAnalysis(1, kernel="poly", gamma=1.0).fit(rows, labels)
        assert np.isfinite(model.radii_).all()


class TestEqualRows:
    def test_many_equal_rows_are_merged_however_many_there_are(self, monkeypatch):
        rng = np.random.default_rng(0)
        rows = rng.integers(0, 2, size=(3000, 3)).astype(float)
        labels = (rng.random(3000) < 0.2 + 0.2 * rows.sum(axis=1)).astype(int)
        few = CoreVectorSVC(random_state=0).fit(rows, labels)
        monkeypatch.setattr(core_vector_rows, "_MANY_ROWS", 2000)
        many = CoreVectorSVC(random_state=0).fit(rows, labels)
        assert many.machine_ == few.machine_
        assert many.n_vectors_ <= 16
        distinct = rows + 1e-3 * rng.standard_normal(rows.shape)
        assert many._leaves(distinct) and not many._leaves(rows)

    def test_weights_and_labels_of_any_form(self, monkeypatch):
        monkeypatch.setattr(core_vector_rows, "_MANY_ROWS", 100)
        rows, labels = make_banana(200, random_state=0)
        plain = CoreVectorSVC(random_state=0).fit(rows, labels, sample_weight=np.full(200, 2.0))
        scalar = CoreVectorSVC(random_state=0).fit(rows, labels, sample_weight=2.0)
        assert scalar.machine_ == plain.machine_
        with pytest.warns(Warning, match="column-vector"):
            column = CoreVectorSVC(random_state=0).fit(rows, labels[:, None], sample_weight=2.0)
        assert column.machine_ == plain.machine_


class TestHurry:
    @pytest.mark.parametrize("number", [1, 2, 4])
    @pytest.mark.parametrize("are_few", [True, False])
    def test_ctrl_c_gives_all_features(self, number, are_few, monkeypatch):
        where, name = (RowsAround, "look") if are_few else (ball_growth, "look_at_all")
        original, seen = getattr(where, name), []

        def look(*arguments):
            seen.append(1)
            if len(seen) == number:
                raise KeyboardInterrupt
            return original(*arguments)

        monkeypatch.setattr(where, name, look)
        if not are_few:
            monkeypatch.setattr(ball_growth, "FEW_ROWS", 0)
        model = MaxMarginDiscriminantAnalysis(4, kernel="linear", random_state=0)
        with pytest.warns(ConvergenceWarning, match="interrupted"):
            features = model.fit(CANCER, BENIGN).transform(CANCER)
        assert features.shape == (569, 4)
        assert np.isfinite(features).all()
        assert model.interrupted_

    @pytest.mark.parametrize("solver", ["exact", "core_set"])
    @pytest.mark.parametrize("name", ["direction", "_extended"])
    def test_ctrl_c_between_machines(self, solver, name, monkeypatch):
        original, seen = getattr(margin_features, name), []

        def interrupted(*arguments):
            seen.append(1)
            if len(seen) == 2:
                raise KeyboardInterrupt
            return original(*arguments)

        monkeypatch.setattr(margin_features, name, interrupted)
        model = MaxMarginDiscriminantAnalysis(3, solver=solver, random_state=0)
        with pytest.warns(ConvergenceWarning, match="interrupted"):
            assert model.fit(STANDARD, BENIGN).transform(STANDARD).shape == (569, 3)
        assert model.interrupted_

    @pytest.mark.parametrize(("home", "name"), [(core_set, "settle"), (CoreSet, "add")])
    def test_ctrl_c_while_a_row_joins(self, home, name, monkeypatch):
        """Before it is in, and after."""
        rows, labels = make_banana(100, random_state=0)
        table = TableRows(rows, (labels == labels.max()).astype(np.intp), np.ones(100))
        ball = Ball(Gaussian(1.0), 2, 3.0, 1e-3, C=1.0, code=1)
        original, seen = getattr(home, name), []

        def joins(*arguments, **options):
            seen.append(1)
            result = original(*arguments, **options)
            if len(seen) == 20:
                raise KeyboardInterrupt
            return result

        monkeypatch.setattr(home, name, joins)
        assert ball_growth.enclose([ball], table, np.random.RandomState(0))
        assert np.unique(ball.core.index).size == ball.core.size

    def test_callbacks_end_with_batches(self):
        if not HAS_CALLBACKS:
            return
        seen = []

        class Listening:
            def setup(self, estimator, context):
                seen.append("setup")

            def teardown(self, estimator, context):
                seen.append("teardown")

            def on_fit_task_begin(self, estimator, context): ...
            def on_fit_task_end(self, estimator, context): ...

        rows, labels = make_banana(200, random_state=0)
        batches = [(rows[:100], labels[:100]), (rows[100:], labels[100:])]
        CoreVectorSVC(random_state=0).set_callbacks(Listening()).fit_batches(batches)
        assert seen == ["setup", "teardown"]
