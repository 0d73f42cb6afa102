"""NormSVR and NormKernelRidge: the re-weighting around other losses, against others' solvers."""

from __future__ import annotations

import pickle
import warnings

import clarabel
import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.kernel_ridge import KernelRidge
from sklearn.model_selection import GridSearchCV
from sklearn.svm import SVR

from kernelet import load
from kernelet.kernels import Gaussian
from kernelet.learners import NormKernelRidge, NormSVR
from kernelet.learners.arbitrary_norm import losses as norm_losses
from kernelet.learners.arbitrary_norm.losses import EpsilonLoss, SquaredLoss
from kernelet.learners.arbitrary_norm.penalties import PowerPenalty
from kernelet.learners.arbitrary_norm.reweighting import NormProblem, reweight

RNG = np.random.default_rng(0)
X = np.sort(RNG.uniform(-6.0, 6.0, 70))[:, None]
y = np.sin(X[:, 0]) + 0.3 * X[:, 0] + 0.1 * RNG.normal(size=70)
GAUSSIAN = Gaussian(0.3)
K = GAUSSIAN(X, X)
MAKERS = {
    "svr": lambda p=0, **options: NormSVR(
        p, **{"C": 10.0, "gamma": 0.3, "C_norm": 0.05, "epsilon": 0.05, **options}
    ),
    "ridge": lambda p=0, **options: NormKernelRidge(
        p, **{"C": 10.0, "gamma": 0.3, "C_norm": 0.05, **options}
    ),
}
both = pytest.mark.parametrize("make", MAKERS.values(), ids=MAKERS)


def quiet(estimator, *arguments, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return estimator.fit(*arguments, **options)


def coefficients(fitted):
    a = np.zeros(len(X))
    for z, beta in zip(fitted.vectors_, fitted.machine_.coefficients[:, 0], strict=True):
        a[np.flatnonzero((z == X).all(axis=1))] = beta
    return a


def lasso_by_clarabel(costs, C_norm, epsilon):
    """The least 1/2 a'Ka + C_norm |a|_1 + loss; epsilon=None is half the squared deviation."""
    n = len(y)
    eye, none = sparse.eye(n), sparse.csc_matrix
    squared = epsilon is None
    # a, b, deviations (as they are, or beyond epsilon), bounds of |a|
    loss = sparse.diags(costs) if squared else none((n, n))
    P = sparse.block_diag([K + 1e-13 * np.eye(n), none((1, 1)), loss, none((n, n))])
    linear = np.zeros(n) if squared else costs
    q = np.concatenate([np.zeros(n + 1), linear, np.full(n, C_norm)])
    ones = none(np.ones((n, 1)))
    rows = [sparse.hstack([sign * eye, none((n, n + 1)), -eye]) for sign in (1.0, -1.0)]
    b = [np.zeros(n), np.zeros(n)]
    if squared:
        first = sparse.hstack([none(K), ones, eye, none((n, n))])
        A, right = sparse.vstack([first, *rows]), np.concatenate([y, *b])
        cones = [clarabel.ZeroConeT(n), clarabel.NonnegativeConeT(2 * n)]
    else:
        above = sparse.hstack([none(K), ones, -eye, none((n, n))])
        below = sparse.hstack([none(-K), -ones, -eye, none((n, n))])
        sign = sparse.hstack([none((n, n + 1)), -eye, none((n, n))])
        A = sparse.vstack([above, below, sign, *rows])
        right = np.concatenate([y + epsilon, epsilon - y, np.zeros(n), *b])
        cones = [clarabel.NonnegativeConeT(5 * n)]
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    solver = clarabel.DefaultSolver(sparse.triu(P).tocsc(), q, A.tocsc(), right, cones, settings)
    return float(solver.solve().obj_val)


class TestAgainstOthers:
    @pytest.mark.parametrize("p", [0, 1, 2])
    def test_without_weight_it_is_support_vector_regression(self, p):
        m = quiet(MAKERS["svr"](p, C_norm=1e-8), X, y)
        svr = SVR(C=10.0, gamma=0.3, epsilon=0.05, tol=1e-6).fit(X, y)
        assert_allclose(m.predict(X), svr.predict(X), atol=5e-3)

    @pytest.mark.parametrize("p", [0, 1, 2])
    def test_without_weight_it_is_kernel_ridge_with_a_bias(self, p):
        m = quiet(MAKERS["ridge"](p, C_norm=1e-9), X, y)
        b = m.machine_.intercepts[0]
        ridge = KernelRidge(kernel="rbf", gamma=0.3, alpha=0.1).fit(X, y - b)
        assert_allclose(m.predict(X), ridge.predict(X) + b, atol=2e-3)
        # the bias is the best one: the deviations add up to nothing
        assert abs(np.mean(y - m.predict(X))) < 1e-4

    def test_two_is_ridge_regression_in_closed_form(self):
        m = MAKERS["ridge"](2, C_norm=0.5).fit(X, y)
        H = np.zeros((71, 71))
        H[:70, :70] = K + 0.5 * np.eye(70)
        design = np.column_stack([K, np.ones(70)])
        a = np.linalg.solve(H + 10.0 * design.T @ design, 10.0 * design.T @ y)
        assert_allclose(coefficients(m), a[:70], atol=1e-6)
        assert_allclose(m.machine_.intercepts[0], a[70], atol=1e-6)
        assert m.gap_ < 1e-10

    def test_two_is_support_vector_regression_with_the_regularised_kernel(self):
        m = MAKERS["svr"](2, C_norm=0.5).fit(X, y)
        gram = K @ np.linalg.solve(K + 0.5 * np.eye(70), K)
        svr = SVR(kernel="precomputed", C=10.0, epsilon=0.05, tol=1e-7).fit(gram, y)
        assert_allclose(m.predict(X), svr.predict(gram), atol=1e-3)

    @pytest.mark.parametrize("C_norm", [0.05, 0.5, 5.0])
    def test_one_is_the_convex_optimum(self, C_norm):
        m = quiet(MAKERS["ridge"](1, C_norm=C_norm, max_iter=300), X, y)
        assert_allclose(m.objective_, lasso_by_clarabel(np.full(70, 10.0), C_norm, None), rtol=1e-3)
        m = quiet(MAKERS["svr"](1, C_norm=C_norm, max_iter=300), X, y)
        assert_allclose(m.objective_, lasso_by_clarabel(np.full(70, 10.0), C_norm, 0.05), rtol=1e-3)

    @pytest.mark.parametrize("C", [1e4, 1e7])
    def test_deviations_may_cost_much(self, C):
        """LIBSVM alone is nowhere near after 1000 steps a row."""
        m = quiet(MAKERS["svr"](1, C=C, C_norm=0.5, epsilon=0.3), X, y)
        assert_allclose(m.objective_, lasso_by_clarabel(np.full(70, C), 0.5, 0.3), rtol=1e-3)
        assert m.gap_ < 1e-5

    @pytest.mark.parametrize("many", [1, 10**9], ids=["libsvm", "newton"])
    def test_targets_far_from_zero(self, many, monkeypatch):
        monkeypatch.setattr(norm_losses, "_MANY", many)
        near, far = (quiet(MAKERS["svr"](1), X, y + shift) for shift in (0.0, 1e9))
        assert_allclose(far.predict(X) - 1e9, near.predict(X), atol=1e-3)
        assert abs(far.gap_) < 1e-4

    def test_what_libsvm_cannot_finish_is_solved_otherwise(self, monkeypatch):
        rows = np.linspace(-6.0, 6.0, 160)[:, None]
        gram, targets = GAUSSIAN(rows, rows), np.sin(rows[:, 0])
        asked = []

        def counted(*arguments, ask=EpsilonLoss._by_libsvm):
            asked.append(1)
            return ask(*arguments)

        monkeypatch.setattr(EpsilonLoss, "_by_libsvm", counted)
        loss = EpsilonLoss(targets, np.full(160, 1e6), 0.01, 1.0)
        *_, last = reweight(NormProblem(gram, gram), loss, PowerPenalty(1.5, 1e-3))
        assert last.n_iter > 2
        assert len(asked) == 1
        assert last.best.gap < 1e-5

    @pytest.mark.parametrize("p", [0, 0.5])
    def test_the_end_is_stationary(self, p):
        """K a + C_norm |a|^(p-1) sign a = C K'(y - f) over the vectors that are left."""
        loss = SquaredLoss(y, np.full(70, 10.0))
        problem = NormProblem(K, K, epsilon=1e-8)
        *_, last = reweight(problem, loss, PowerPenalty(p, 0.05), max_iter=5000)
        assert last.converged
        kept, a = last.best.index, last.best.coefficients
        rest = y - K[:, kept] @ a - last.best.intercept
        slope = K[np.ix_(kept, kept)] @ a + 0.05 * np.sign(a) * np.abs(a) ** (p - 1.0)
        assert_allclose(slope, 10.0 * K[:, kept].T @ rest, atol=2e-5)
        assert abs(rest.sum()) < 1e-8


class TestEstimators:
    @both
    def test_few_vectors_and_a_good_fit(self, make):
        m = make().fit(X, y)
        assert m.n_vectors_ < 20
        assert m.score(X, y) > 0.97
        assert m.sparsity_path_[0][-1, 0] == m.n_vectors_

    @both
    def test_a_budget_is_kept(self, make):
        m = quiet(make(n_vectors=5), X, y)
        assert 2 <= m.n_vectors_ <= 5
        assert m.score(X, y) > 0.7

    @both
    @pytest.mark.parametrize("p", [0, 1, 1.5, "inf"])
    @pytest.mark.parametrize("C_norm", [1e-8, 1.0, 1e8])
    def test_any_weight_gives_a_model(self, make, p, C_norm):
        m = quiet(make(p, C_norm=C_norm), X, y)
        assert np.isfinite(m.predict(X)).all()
        assert m.score(X, y) > (0.5 if C_norm <= 1.0 else -0.5)

    @both
    def test_nothing_left_is_a_constant_and_a_warning(self, make):
        with pytest.warns(UserWarning, match=r"same for all .* smaller C_norm \(now 1e\+06\)"):
            m = make(C_norm=1e6).fit(X, y)
        assert m.n_vectors_ == 0
        assert y.min() < m.predict(X)[0] < y.max()

    @both
    @pytest.mark.parametrize("factor", [1e-6, 1e6])
    def test_units(self, make, factor):
        """Targets in other units are the same problem with other weights."""
        m = quiet(make(), X, y)
        options = {"C_norm": 0.05 * factor**2}  # p = 0: the logarithm has no units
        if isinstance(m, NormSVR):
            options |= {"epsilon": 0.05 * factor, "C": 10.0 * factor}
        other = quiet(make(**options), X, factor * y)
        assert_allclose(other.predict(X) / factor, m.predict(X), atol=0.02)

    @both
    def test_a_weight_is_a_repetition(self, make):
        times = np.random.default_rng(0).integers(0, 4, 70)
        weighted = quiet(make(gamma="scale"), X, y, sample_weight=times)
        repeated = quiet(make(gamma="scale"), np.repeat(X, times, axis=0), np.repeat(y, times))
        assert weighted.machine_ == repeated.machine_

    @both
    def test_constant_targets_and_duplicates(self, make):
        assert_allclose(quiet(make(), X, np.full(70, 3.0)).predict(X), 3.0, atol=0.06)
        m = quiet(make(), np.vstack([X, X]), np.concatenate([y, y + 0.2]))
        assert m.score(X, y + 0.1) > 0.9

    @both
    def test_sparse_pandas_float32_copies(self, make, tmp_path):
        m = make().fit(X, y)
        assert make().fit(pd.DataFrame(X, columns=["a"]), pd.Series(y)).machine_ == m.machine_
        assert_allclose(make().fit(sparse.csr_array(X), y).predict(X), m.predict(X), atol=1e-2)
        assert make().fit(X.astype(np.float32), y).score(X, y) > 0.97
        assert clone(m).fit(X, y).machine_ == m.machine_
        assert pickle.loads(pickle.dumps(m)).machine_ == m.machine_
        m.save(tmp_path / "model.kernelet")
        assert_array_equal(load(tmp_path / "model.kernelet").predict(X), m.predict(X))

    @both
    def test_grid_search(self, make):
        search = quiet(GridSearchCV(make(), {"C_norm": [0.05, 1e6]}, cv=3), X, y)
        assert search.best_params_["C_norm"] == 0.05

    @both
    @pytest.mark.parametrize(
        ("parameters", "words"),
        [({"C": 0.0}, "C must"), ({"p": 3}, "p must be a number"), ({"tol": -1.0}, "tol must")],
    )
    def test_a_bad_parameter_is_named(self, make, parameters, words):
        with pytest.raises(ValueError, match=words):
            make(**parameters).fit(X, y)
        with pytest.raises(ValueError, match="epsilon must"):
            MAKERS["svr"](epsilon=-1.0).fit(X, y)

    @both
    def test_too_few_steps_warn(self, make):
        with pytest.warns(ConvergenceWarning, match="still change by"):
            make(max_iter=2).fit(X, y)
