"""NormSVC: against LIBSVM on the regularised kernel, Clarabel, and first-order conditions."""

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
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import GridSearchCV
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from kernelet import load
from kernelet.datasets import make_banana, make_ripley
from kernelet.kernels import Gaussian, Sigmoid
from kernelet.learners import NormSVC
from kernelet.learners.arbitrary_norm import losses as norm_losses
from kernelet.learners.arbitrary_norm.change_of_variables import (
    REGULARIZERS,
    CholeskySpace,
    SpectralSpace,
)
from kernelet.learners.arbitrary_norm.kept_candidates import KeptGram
from kernelet.learners.arbitrary_norm.losses import HingeLoss
from kernelet.learners.arbitrary_norm.penalties import MaxPenalty, PowerPenalty, norm_penalty
from kernelet.learners.arbitrary_norm.reweighting import NormProblem, reweight
from kernelet.learners.base.progress import Loop
from norm_oracles import distance_from_stationary, norm_svm_by_clarabel

X, y = make_banana(80, random_state=0)
SIGNS = 2.0 * y - 1.0
COSTS = np.ones(80)
GAUSSIAN = Gaussian(0.5)
K = GAUSSIAN(X, X)
IRIS, SPECIES = load_iris(return_X_y=True)
IRIS = StandardScaler().fit_transform(IRIS)
both = pytest.mark.parametrize("regularizer", ["kernel", "ridge"])


def model(p=0, **parameters):
    return NormSVC(p, **{"gamma": 0.5, "C_norm": 0.2, **parameters})


def end_of(gram, loss, penalty):
    *_, last = reweight(NormProblem(gram, gram), loss, penalty)
    return last.best


def matrix(regularizer):
    return K if regularizer == "kernel" else np.eye(80)


def quiet(estimator, *arguments, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return estimator.fit(*arguments, **options)


def coefficients(fitted, rows):
    """a over all rows, from the vectors of a machine."""
    a = np.zeros(len(rows))
    for z, beta in zip(fitted.vectors_, fitted.machine_.coefficients[:, 0], strict=True):
        (at,) = np.flatnonzero((rows == z).all(axis=1))
        a[at] = beta
    return a


class TestAgainstOthers:
    @both
    @pytest.mark.parametrize("C_norm", [0.01, 1.0, 100.0])
    def test_two_is_the_svm_with_the_regularised_kernel(self, C_norm, regularizer):
        """Theorem 1 with Lambda = I: the kernel matrix K (R + C_norm I)^-1 K."""
        m = model(2, C_norm=C_norm, regularizer=regularizer).fit(X, y)
        gram = K @ np.linalg.solve(matrix(regularizer) + C_norm * np.eye(80), K)
        svc = SVC(kernel="precomputed", tol=1e-8).fit(gram, y)
        assert_allclose(m.decision_function(X), svc.decision_function(gram), atol=3e-3)
        assert m.n_iter_ == 1
        a = np.linalg.solve(
            matrix(regularizer) + C_norm * np.eye(80), K[:, svc.support_] @ svc.dual_coef_[0]
        )
        assert_allclose(coefficients(m, X), a, atol=3e-3)

    @pytest.mark.parametrize("p", [0, 0.5, 1, 2])
    def test_without_weight_it_is_the_svm(self, p):
        m = model(p, C_norm=1e-8).fit(X, y)
        svc = SVC(gamma=0.5, tol=1e-8).fit(X, y)
        assert_allclose(m.decision_function(X), svc.decision_function(X), atol=2e-3)

    @both
    @pytest.mark.parametrize("C_norm", [0.01, 0.1, 1.0, 10.0])
    def test_one_is_the_convex_optimum(self, C_norm, regularizer):
        m = model(1, C_norm=C_norm, regularizer=regularizer, max_iter=300).fit(X, y)
        value, _, _ = norm_svm_by_clarabel(K, matrix(regularizer), SIGNS, COSTS, C_norm, 1)
        assert_allclose(m.objective_, value, rtol=5e-5)
        a = coefficients(m, X)
        slack = np.maximum(0.0, 1.0 - SIGNS * m.decision_function(X))
        own = 0.5 * a @ matrix(regularizer) @ a + C_norm * np.abs(a).sum() + slack.sum()
        assert_allclose(own, value, rtol=3e-4)

    @both
    @pytest.mark.parametrize("C_norm", [0.1, 1.0, 10.0])
    def test_infinity_is_the_convex_optimum(self, C_norm, regularizer):
        m = model("inf", C_norm=C_norm, regularizer=regularizer).fit(X, y)
        value, a, _ = norm_svm_by_clarabel(K, matrix(regularizer), SIGNS, COSTS, C_norm, "inf")
        assert value * (1 - 1e-8) <= m.objective_ <= value * 1.001
        if C_norm > 1.0:  # a small weight hardly distinguishes the largest coefficients
            assert_allclose(np.abs(m.machine_.coefficients).max(), np.abs(a).max(), rtol=0.05)
        assert quiet(model(np.inf, C_norm=C_norm), X, y).machine_.n_vectors == 80

    @both
    @pytest.mark.parametrize("gamma", [0.02, 0.5])
    @pytest.mark.parametrize("C", [1e-2, 1e3])
    @pytest.mark.parametrize("share", [1e-5, 1e-3, 0.1])
    def test_infinity_does_not_end_before_the_optimum(self, share, C, gamma, regularizer):
        """A first step may leave all coefficients alike, or the weight small, and be far off."""
        kernel, C_norm = Gaussian(gamma)(X, X), share * C * 80
        R = kernel if regularizer == "kernel" else np.eye(80)
        value, _, _ = norm_svm_by_clarabel(kernel, R, SIGNS, C * COSTS, C_norm, "inf")
        options = {"C": C, "C_norm": C_norm, "gamma": gamma, "regularizer": regularizer}
        m = model("inf", max_iter=300, **options).fit(X, y)
        assert value * (1 - 1e-6) <= m.objective_ <= value * 1.002

    @both
    @pytest.mark.parametrize("p", [0, 0.5, 1])
    def test_the_end_is_stationary(self, p, regularizer):
        """R a + C_norm |a|^(p-1) sign a = K'(y beta) over the vectors that are left."""
        loss = HingeLoss(SIGNS, COSTS, tol=1e-10)
        penalty = PowerPenalty(p, 0.2)
        problem = NormProblem(K, K, REGULARIZERS[regularizer], epsilon=1e-7)
        *_, last = reweight(problem, loss, penalty, max_iter=3000)
        assert last.converged
        kept, a = last.best.index, last.best.coefficients
        slope = 0.2 * np.sign(a) * np.abs(a) ** (p - 1.0)
        distance = distance_from_stationary(
            K[:, kept],
            matrix(regularizer)[np.ix_(kept, kept)],
            SIGNS,
            COSTS,
            a,
            last.best.intercept,
            slope,
        )
        assert distance < 2e-3

    @pytest.mark.parametrize("p", [0.0, 0.7, 1.0, 1.6])
    def test_weights_touch_the_penalty(self, p):
        """The quadratic has the slope of the penalty at alpha, and is above it everywhere else."""
        penalty = PowerPenalty(p, 0.3)
        alpha = np.array([0.5, -1.5, 2.0])
        d, e = penalty.scale(alpha)
        weight = e / d**2
        step = 1e-6
        for j in range(3):
            moved = [alpha + s * step * np.eye(3)[j] for s in (1, -1)]
            slope = (penalty.value(moved[0]) - penalty.value(moved[1])) / (2 * step)
            assert_allclose(weight[j] * alpha[j], slope, rtol=1e-6)
        for other in np.random.default_rng(0).normal(size=(20, 3)):
            rise = 0.5 * weight @ (other**2 - alpha**2)
            assert penalty.value(other) <= penalty.value(alpha) + rise + 1e-12


class TestPath:
    def test_the_objective_falls_while_the_vectors_stay(self):
        m = model(0, max_iter=300).fit(X, y)
        (path,) = m.sparsity_path_
        assert path.shape == (m.n_iter_, 2)
        assert path[0, 0] <= 80 and path[-1, 0] == m.n_vectors_
        assert (np.diff(path[:, 0]) <= 0).all()
        same = np.diff(path[:, 0]) == 0
        assert same.sum() > 3
        assert (np.diff(path[:, 1])[same] < 1e-5 * np.abs(path[1:, 1][same])).all()
        assert_allclose(path[-1, 1], m.objective_)

    def test_ripley_needs_few_vectors(self):
        """Table 1's setting on data drawn from the same density."""
        sizes, errors = [], []
        test = make_ripley(5000, random_state=100)
        for seed in range(6):
            m = NormSVC(0, C=1.0, C_norm=0.2, gamma=2.0).fit(*make_ripley(100, random_state=seed))
            sizes.append(m.n_vectors_)
            errors.append(1.0 - m.score(*test))
        assert np.mean(sizes) <= 5.5
        assert np.mean(errors) < 0.115

    def test_zero_is_sparser_than_one(self):
        sizes = [model(p, max_iter=300).fit(X, y).n_vectors_ for p in (0, 1, 2)]
        assert sizes[0] < sizes[1] < sizes[2] == 80

    @pytest.mark.parametrize("budget", [1, 2, 3, 5, 9, 20])
    def test_a_budget_is_kept(self, budget):
        m = quiet(model(n_vectors=budget), X, y)
        assert 1 <= m.n_vectors_ <= budget
        again = quiet(model(C_norm=m.C_norm_), X, y)
        assert again.machine_ == m.machine_
        if budget >= 4:
            assert m.n_vectors_ >= 4
            assert m.score(X, y) > 0.8

    def test_a_budget_for_many_classes_counts_shared_vectors(self):
        m = quiet(model(n_vectors=8, gamma="scale"), IRIS, SPECIES)
        assert m.n_vectors_ <= 8
        assert m.machine_.n_outputs == 3
        assert m.score(IRIS, SPECIES) > 0.9

    @pytest.mark.parametrize("p", [1.5, 2, "inf"])
    def test_a_budget_needs_a_sparse_norm(self, p):
        with pytest.raises(ValueError, match="n_vectors=3 needs a norm that makes"):
            model(p, n_vectors=3).fit(X, y)


class TestLargeProblems:
    def test_libsvm_and_newton_agree(self, monkeypatch):
        rows, labels = make_banana(320, random_state=1)
        by_libsvm = model().fit(rows, labels)
        monkeypatch.setattr(norm_losses, "_MANY", 10**9)
        by_newton = model().fit(rows, labels)
        assert_allclose(
            by_libsvm.decision_function(rows), by_newton.decision_function(rows), atol=0.02
        )
        assert abs(by_libsvm.n_vectors_ - by_newton.n_vectors_) <= 1

    def test_rows_far_from_the_margin_may_wait(self, monkeypatch):
        rows, labels = make_banana(400, random_state=1)
        kernel = Gaussian(0.5)
        gram, signs = kernel(rows, rows), 2.0 * labels - 1.0
        penalty = PowerPenalty(2, 0.2)
        whole = end_of(gram, HingeLoss(signs, np.ones(400)), penalty)
        monkeypatch.setattr(norm_losses, "_MANY_ROWS", 100)
        # a poor guess and a narrow band, so that rows have to join
        monkeypatch.setattr(norm_losses, "_THINNING", 60)
        monkeypatch.setattr(norm_losses, "_BAND", -0.2)
        # nobody else is asked for help
        monkeypatch.setattr(norm_losses, "hinge_ridge", None)
        in_parts = end_of(gram, HingeLoss(signs, np.ones(400)), penalty)
        assert_allclose(in_parts.objective, whole.objective, rtol=1e-5)
        assert in_parts.gap < 1e-5

    def test_what_libsvm_cannot_finish_is_solved_otherwise(self, monkeypatch):
        rows, labels = make_banana(200, random_state=1)
        gram, signs = GAUSSIAN(rows, rows), 2.0 * labels - 1.0
        loss = HingeLoss(signs, np.full(200, 1e5))
        end = end_of(gram, loss, PowerPenalty(2, 1e-3))
        monkeypatch.setattr(norm_losses, "_MANY", 10**9)
        exact = end_of(gram, loss, PowerPenalty(2, 1e-3))
        assert_allclose(end.objective, exact.objective, rtol=2e-4)

    def test_libsvm_is_asked_no_more_once_it_crept(self, monkeypatch):
        rows, labels = make_banana(200, random_state=1)
        gram, signs = GAUSSIAN(rows, rows), 2.0 * labels - 1.0
        asked = []

        def counted(*arguments, ask=HingeLoss._by_libsvm):
            asked.append(1)
            return ask(*arguments)

        monkeypatch.setattr(HingeLoss, "_by_libsvm", counted)
        loss, penalty = HingeLoss(signs, np.full(200, 1e5)), PowerPenalty(1, 1e-3)
        *_, last = reweight(NormProblem(gram, gram), loss, penalty)
        assert last.n_iter > 3
        assert len(asked) == 1
        assert last.best.gap < 1e-6


class TestSpaces:
    @pytest.mark.parametrize("size", [1.0, 1e-12])
    def test_a_ridge_in_the_features_is_the_norm_of_the_coefficients(self, size):
        rng = np.random.default_rng(0)
        d, e = rng.uniform(0.5, 1.0, 80) * size, np.full(80, 0.1)
        for regularizer, R in (("kernel", K), ("ridge", np.eye(80))):
            space = REGULARIZERS[regularizer].space(KeptGram(R), d, e)
            w = rng.normal(size=space.rank)
            a = space.coefficients(w)
            assert_allclose(2.0 * REGULARIZERS[regularizer].norm(KeptGram(K), a), a @ R @ a)
            assert_allclose(a @ R @ a + e / d**2 @ a**2, w @ w, rtol=1e-8)
            assert_allclose(space.weights(a), w, rtol=1e-6, atol=1e-9)
            assert_allclose(space.features(K) @ w, K @ a, rtol=1e-8, atol=1e-20)

    @pytest.mark.parametrize("order", ["C", "F"])
    def test_a_matrix_with_negative_directions_loses_these_alone(self, order):
        """A Cholesky factor is tried first, and must not be what is left of the matrix."""
        A = np.random.default_rng(0).normal(size=(6, 6))
        d, e = np.linspace(0.5, 1.0, 6), np.full(6, 0.1)
        G = np.asarray(A + A.T, order=order)
        space = REGULARIZERS["kernel"].space(KeptGram(G), d, e)
        assert isinstance(space, SpectralSpace)
        values, V = np.linalg.eigh(G * np.outer(d, d) + np.diag(e))
        kept = values > 0.0
        assert 0 < space.rank == np.count_nonzero(kept) < 6
        expected = np.outer(d, d) * ((V[:, kept] / values[kept]) @ V[:, kept].T)
        assert_allclose(space.features(np.eye(6)) @ space.features(np.eye(6)).T, expected)

    def test_a_singular_matrix_loses_directions_and_not_its_function(self):
        doubled = np.block([[K, K], [K, K]])
        kernel_space = REGULARIZERS["kernel"].space
        space = kernel_space(KeptGram(doubled), np.ones(160), np.zeros(160))
        assert isinstance(space, SpectralSpace)
        assert space.rank <= 80
        w = np.random.default_rng(0).normal(size=space.rank)
        a = space.coefficients(w)
        assert_allclose(a @ doubled @ a, w @ w, rtol=1e-3)
        assert isinstance(kernel_space(KeptGram(K), np.ones(80), np.full(80, 0.1)), CholeskySpace)

    def test_a_kernel_that_is_not_positive_definite(self):
        m = quiet(model(kernel=Sigmoid(1.0, -1.0), C_norm=1e-3), X, y)
        assert np.isfinite(m.decision_function(X)).all()


class TestEstimator:
    @pytest.mark.parametrize("p", [-0.1, 2.1, np.nan, "one", None, True])
    def test_p_out_of_its_range(self, p):
        with pytest.raises(ValueError, match="p must be a number from 0 to 2, or 'inf'"):
            model(p).fit(X, y)

    @pytest.mark.parametrize(
        ("parameters", "words"),
        [
            ({"C": 0.0}, "C must"),
            ({"C_norm": -1.0}, "C_norm must"),
            ({"tol": 0.0}, "tol must"),
            ({"max_iter": 0}, "max_iter must"),
            ({"n_vectors": 0}, "n_vectors must"),
            ({"regularizer": "lasso"}, "regularizer must be one of 'kernel', 'ridge'"),
        ],
    )
    def test_a_bad_parameter_is_named(self, parameters, words):
        with pytest.raises(ValueError, match=words):
            model(**parameters).fit(X, y)

    @pytest.mark.parametrize("p", [0, 0.5, 1, 1.5, 2, "inf"])
    @pytest.mark.parametrize("C_norm", [1e-8, 1e-4, 1.0, 1e4, 1e8])
    @both
    def test_any_weight_gives_a_model(self, p, C_norm, regularizer):
        m = quiet(model(p, C_norm=C_norm, regularizer=regularizer), X, y)
        assert np.isfinite(m.decision_function(X)).all()
        assert m.score(X, y) > (0.75 if C_norm <= 1.0 else 0.4)

    def test_nothing_left_is_a_constant_and_a_warning(self):
        with pytest.warns(
            UserWarning, match=r"same for all rows: .* smaller C_norm \(now 1e\+06\)"
        ):
            m = model(C_norm=1e6).fit(X, y)
        assert m.n_vectors_ == 0
        most = np.bincount(y).argmax()
        assert_array_equal(m.predict(X), most)

    def test_too_few_steps_warn(self):
        with pytest.warns(ConvergenceWarning, match=r"still change by .* of the largest"):
            model(max_iter=2).fit(X, y)

    def test_duplicates_and_constant_features(self):
        rows = np.column_stack([X, np.ones(80)])
        m = model().fit(rows, y)
        assert_allclose(m.decision_function(rows), model().fit(X, y).decision_function(X))
        # both labels at one place: one vector there, not two
        twice = model().fit(np.vstack([X, X]), np.concatenate([y, 1 - y]), np.repeat([3, 1], 80))
        assert twice.n_vectors_ <= 80
        assert twice.score(X, y) > 0.8
        constant = quiet(model(gamma="scale"), np.ones((10, 2)), np.arange(10) % 2)
        assert np.isfinite(constant.decision_function(np.ones((1, 2)))).all()

    @pytest.mark.parametrize("p", [0, 1])
    def test_a_weight_is_a_repetition(self, p):
        times = np.random.default_rng(0).integers(0, 4, 150)
        options = {"class_weight": "balanced", "gamma": "scale"}
        weighted = quiet(model(p, **options), IRIS, SPECIES, sample_weight=times)
        repeated = quiet(
            model(p, **options), np.repeat(IRIS, times, axis=0), np.repeat(SPECIES, times)
        )
        assert weighted.machine_ == repeated.machine_

    def test_weights_multiply_the_costs(self):
        weights = np.random.default_rng(0).uniform(0.5, 3.0, 80)
        m = model(1, C=2.0, max_iter=300).fit(X, y, weights)
        value, _, _ = norm_svm_by_clarabel(K, K, SIGNS, 2.0 * weights, 0.2, 1)
        assert_allclose(m.objective_, value, rtol=5e-5)
        by_class = model(class_weight={1: 5.0}).fit(X, y)
        assert by_class.machine_ == model().fit(X, y, np.where(y == 1, 5.0, 1.0)).machine_

    def test_many_classes_are_one_against_the_rest(self):
        m = quiet(model(gamma=0.3), IRIS, SPECIES)
        alone = [quiet(model(gamma=0.3), IRIS, k == SPECIES) for k in range(3)]
        for k, single in enumerate(alone):
            assert_allclose(
                m.decision_function(IRIS)[:, k], single.decision_function(IRIS), atol=1e-9
            )
        assert len(m.sparsity_path_) == 3
        assert max(s.n_vectors_ for s in alone) <= m.n_vectors_ <= sum(s.n_vectors_ for s in alone)
        assert m.score(IRIS, SPECIES) > 0.9

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

    def test_copies_are_equal(self, tmp_path):
        m = model().fit(X, y)
        assert clone(m).fit(X, y).machine_ == m.machine_
        assert pickle.loads(pickle.dumps(m)).machine_ == m.machine_
        m.save(tmp_path / "model.kernelet")
        back = load(tmp_path / "model.kernelet")
        assert back.machine_ == m.machine_
        assert back.C_norm_ == m.C_norm_
        assert_array_equal(back.sparsity_path_[0], m.sparsity_path_[0])

    def test_grid_search(self):
        search = GridSearchCV(model(), {"C_norm": [0.1, 1e6], "p": [0, 1]}, cv=3)
        assert quiet(search, X, y).best_params_["C_norm"] == 0.1

    def test_vectors_are_rows(self):
        m = model().fit(X, y)
        assert all((z == X).all(axis=1).any() for z in m.vectors_)

    def test_steps_are_printed(self, capsys):
        model(verbose=2).fit(X, y)
        lines = capsys.readouterr().err.splitlines()
        assert lines[0].startswith("output 0  step   2  vectors")

    def test_interrupt_leaves_a_model(self, monkeypatch):
        calls = []

        def impatient(self, rows, start, solve=HingeLoss.__call__):
            calls.append(1)
            if len(calls) == 4:
                raise KeyboardInterrupt
            return solve(self, rows, start)

        monkeypatch.setattr(HingeLoss, "__call__", impatient)
        with pytest.warns(ConvergenceWarning, match="interrupted"):
            m = model().fit(IRIS, SPECIES)
        # three steps of the first class, and one of each that is left
        assert len(calls) == 6
        assert m.score(IRIS, SPECIES) > 0.8

    @pytest.mark.parametrize(
        ("C_norm", "last", "words"),
        [
            (1e-3, 5, "interrupted"),
            (1.0, 40, "search for C_norm was interrupted at . of n_vectors"),
        ],
    )
    def test_interrupt_ends_the_search_for_a_budget(self, C_norm, last, words, monkeypatch):
        calls = []

        def impatient(self, rows, start, solve=HingeLoss.__call__):
            calls.append(1)
            if len(calls) == last:
                raise KeyboardInterrupt
            return solve(self, rows, start)

        monkeypatch.setattr(HingeLoss, "__call__", impatient)
        with pytest.warns(ConvergenceWarning, match=words):
            m = model(C_norm=C_norm, n_vectors=12).fit(X, y)
        assert len(calls) == last
        assert m.score(X, y) > 0.8

    def test_a_callback_ends_the_search_for_a_budget(self, monkeypatch):
        steps = []

        def report(self, *step):
            steps.append(step)
            return len(steps) >= 3

        monkeypatch.setattr(Loop, "report", report)
        with pytest.warns(ConvergenceWarning, match="a callback asked to stop"):
            model(n_vectors=2).fit(X, y)
        assert len(steps) == 3

    def test_a_problem_that_was_not_solved_warns(self, monkeypatch):
        def rough(self, rows, start, solve=HingeLoss.__call__):
            return replace(solve(self, rows, start), gap=0.1)

        monkeypatch.setattr(HingeLoss, "__call__", rough)
        with pytest.warns(ConvergenceWarning, match=r"gap of 1\.0e-01 only; scale the data"):
            model().fit(X, y)


def test_penalties_by_their_names():
    assert isinstance(norm_penalty("inf", 1.0), MaxPenalty)
    assert isinstance(norm_penalty(float("inf"), 1.0), MaxPenalty)
    assert norm_penalty(1, 2.0).value(np.array([1.0, -2.0])) == 6.0
    assert_allclose(norm_penalty(0, 2.0).value(np.array([np.e, -np.e])), 4.0)
    assert norm_penalty(np.float32(0.5), 1.0).is_sparse
