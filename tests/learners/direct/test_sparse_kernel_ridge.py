"""SparseKernelRidge: against scikit-learn's KernelRidge, plain linear algebra and refits."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.kernel_ridge import KernelRidge
from sklearn.model_selection import GridSearchCV

from kernelet.kernels import Gaussian, ScaledFeatures
from kernelet.learners import SparseKernelRidge
from kernelet.learners.direct.problems.ridge import RidgeProblem, leave_one_out
from kernelet.machine import KernelMachine

RNG = np.random.default_rng(0)
X = RNG.normal(size=(40, 2))
y = np.sin(2.0 * X[:, 0]) + 0.5 * X[:, 1] ** 2 + 0.1 * RNG.normal(size=40)
TWO = np.column_stack([y, X[:, 0] * X[:, 1]])


def solved(Z, targets, costs, kernel, bias=True):
    """Coefficients, intercept and value of the ridge problem over given vectors, by lstsq."""
    L = np.linalg.cholesky(kernel(Z, Z))
    n, m = len(targets), len(Z)
    root = np.sqrt(costs)[:, None]
    # rows of the least squares problem: weighted data, then the norm
    design = np.vstack(
        [root * np.column_stack([kernel(X, Z), np.ones(n)]), np.column_stack([L.T, np.zeros(m)])]
    )
    if not bias:
        design = design[:, :-1]
    right = np.vstack([root * targets, np.zeros((m, targets.shape[1]))])
    solution = np.linalg.lstsq(design, right, rcond=None)[0]
    value = 0.5 * float(np.square(right - design @ solution).sum())
    return solution, value


@pytest.mark.parametrize("C", [5.0, "auto"])
@pytest.mark.parametrize("learn", [False, "auto"])
@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("targets", [y, TWO], ids=["one", "two"])
def test_the_machine_is_the_ridge_solution_over_its_vectors(bias, targets, learn, C):
    weights = RNG.uniform(0.2, 3.0, 40)
    m = SparseKernelRidge(6, C=C, gamma=0.5, fit_intercept=bias, learn_kernel=learn, random_state=0)
    m.fit(X, targets, sample_weight=weights)
    columns, kernel = targets.reshape(40, -1), m.machine_.kernel
    assert isinstance(kernel, ScaledFeatures if learn == "auto" else Gaussian)
    solution, value = solved(m.vectors_, columns, m.C_ * weights, kernel, bias)
    assert_allclose(m.machine_.coefficients, solution[:6], rtol=1e-6)
    assert_allclose(m.machine_.intercepts, solution[6] if bias else 0.0, rtol=1e-6)
    assert_allclose(m.objective_, value, rtol=1e-9)
    assert m.predict(X).shape == targets.shape


@pytest.mark.parametrize("targets", [y, TWO], ids=["one", "two"])
def test_all_rows_as_vectors_give_kernel_ridge_back(targets):
    m = SparseKernelRidge(
        40, C=20.0, gamma=0.5, learn_kernel=False, fit_intercept=False, init=X
    ).fit(X, targets)
    full = KernelRidge(alpha=1 / 20.0, kernel="rbf", gamma=0.5).fit(X, targets)
    assert_allclose(m.predict(X), full.predict(X), atol=1e-5)
    dual = full.dual_coef_.reshape(40, -1)
    norm = np.einsum("ik,ij,jk->", dual, Gaussian(0.5)(X, X), dual)
    value = 0.5 * norm + 10.0 * np.square(targets - full.predict(X)).sum()
    assert_allclose(m.objective_, value, rtol=1e-6)


def test_fewer_vectors_lie_between_kernel_ridge_and_the_start():
    full = SparseKernelRidge(40, C=10.0, learn_kernel=False, init=X).fit(X, y).objective_
    few = SparseKernelRidge(8, C=10.0, learn_kernel=False, random_state=0).fit(X, y)
    assert full * (1.0 - 1e-6) <= few.objective_ < few.history_[0][0]
    assert few.objective_ <= 1.15 * full


class TestLeaveOneOut:
    @pytest.mark.parametrize("bias", [True, False])
    def test_it_is_what_a_refit_without_the_row_gives(self, bias):
        Z, kernel, C = X[:7] + 0.1, Gaussian(0.5), 3.0
        weights = RNG.uniform(0.1, 1.0, 40)
        problem = RidgeProblem(TWO, C * weights, bias)
        solution, _ = solved(Z, TWO, C * weights, kernel, bias)
        b = solution[7] if bias else np.zeros(2)
        machine = KernelMachine(kernel, Z, solution[:7], b)
        found = leave_one_out(machine, X, TWO, weights, C, bias)
        for i in (0, 11, 39):
            without = np.where(np.arange(40) == i, 0.0, weights)
            other, _ = solved(Z, TWO, C * without, kernel, bias)
            f = kernel(X[i : i + 1], Z)[0] @ other[:7] + (other[7] if bias else 0.0)
            assert_allclose(found[i], TWO[i] - f, rtol=1e-6)
        assert problem.leverages(np.ones((40, 1))).shape == (40,)

    def test_a_weight_is_a_repetition(self):
        times = RNG.integers(0, 4, 40)
        weighted = SparseKernelRidge(5, random_state=0).fit(X, y, sample_weight=times)
        repeated = SparseKernelRidge(5, random_state=0)
        repeated.fit(np.repeat(X, times, axis=0), np.repeat(y, times))
        assert weighted.loo_error_ == repeated.loo_error_
        # of a row that is there twice one stays
        i = int(np.flatnonzero(times == 2)[0])
        counts = times - (np.arange(40) == i)
        Z, kernel, C = weighted.vectors_, weighted.machine_.kernel, weighted.C_
        other, _ = solved(Z, y[:, None], C * counts.astype(float), kernel)
        f = kernel(X[i : i + 1], Z)[0] @ other[:5] + other[5]
        kept = times > 0
        found = leave_one_out(
            weighted.machine_, X[kept], y[kept, None], times[kept].astype(float), C, True
        )
        assert_allclose(found[np.flatnonzero(kept) == i][0], y[i] - f, rtol=1e-6)

    def test_the_attribute_is_the_mean_square(self):
        m = SparseKernelRidge(5, C=2.0, random_state=0).fit(X, TWO)
        deviations = leave_one_out(m.machine_, X, TWO, np.ones(40), 2.0, True)
        assert_allclose(m.loo_error_, np.mean(deviations**2), rtol=1e-9)
        training = np.mean((TWO - m.predict(X)) ** 2)
        assert m.loo_error_ > training


def test_constant_and_distant_targets():
    assert_allclose(SparseKernelRidge(3).fit(X, np.full(40, 3.0)).predict(X), 3.0)
    near = SparseKernelRidge(5, random_state=0).fit(X, y)
    far = SparseKernelRidge(5, random_state=0).fit(X, y + 1e6)
    assert_allclose(far.predict(X) - 1e6, near.predict(X), atol=1e-3)
    scaled = SparseKernelRidge(5, random_state=0).fit(X, 1e4 * y)
    assert_allclose(scaled.predict(X), 1e4 * near.predict(X), rtol=1e-3, atol=1.0)


def test_grid_search_and_bad_parameters():
    search = GridSearchCV(SparseKernelRidge(5, random_state=0), {"C": [1e-6, 10.0]}, cv=3)
    with pytest.warns(UserWarning, match=r"the same for all .* larger C \(now 1e-06\)"):
        search.fit(X, y)
    assert search.best_params_ == {"C": 10.0}
    with pytest.raises(ValueError, match="C must"):
        SparseKernelRidge(C=0.0).fit(X, y)
