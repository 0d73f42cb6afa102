"""vector_bits: vectors on a grid, the problem solved again over them, coefficients in few bits."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import load_digits
from sklearn.svm import SVC, SVR

from interrupts import interrupt_after
from kernelet import (
    KernelFisherClassifier,
    KernelMachine,
    ReducedSVC,
    SparseKernelRidge,
    SparseOneClassSVM,
    SparseSVC,
    SparseSVR,
    compress,
)
from kernelet.datasets import make_banana
from kernelet.kernels import Gaussian
from kernelet.learners.direct.coefficient_bits import Judge, in_few_bits
from kernelet.learners.direct.problems.svm import SVMProblem
from kernelet.learners.direct.search.on_grid import search_on_grid
from kernelet.learners.direct.search.rows import RowsInMemory
from kernelet.machine.compact import COEFFICIENT_BITS
from kernelet.machine.rounding import moved_to, vector_grid
from learner_oracles import svm_by_clarabel

X, y = make_banana(200, random_state=0)
T = np.sin(2.0 * X[:, 0]) + 0.3 * X[:, 1]
DIGITS, LABELS = load_digits(return_X_y=True)
DIGITS = DIGITS / 16.0

ESTIMATORS = {
    "svc": (SparseSVC(8, C=10.0, random_state=0), y),
    "svc, one width": (SparseSVC(8, C=10.0, learn_kernel=True, random_state=0), y),
    "svc, scales": (SparseSVC(8, C=10.0, learn_kernel="features", random_state=0), y),
    "hinge": (SparseSVC(8, C=10.0, loss="hinge", random_state=0), y),
    "svr": (SparseSVR(10, C=10.0, random_state=0), T),
    "tube": (SparseSVR(10, C=10.0, loss="squared_epsilon_insensitive", random_state=0), T),
    "ridge": (SparseKernelRidge(10, C=100.0, random_state=0), T),
    "two targets": (SparseKernelRidge(10, C=100.0, random_state=0), np.column_stack([T, X[:, 1]])),
    "one class": (SparseOneClassSVM(10, random_state=0), None),
    "reduced": (ReducedSVC(10, C=10.0, random_state=0), y),
    "ridge rsvm": (ReducedSVC(10, C=10.0, regularizer="ridge", random_state=0), y),
    "fisher": (KernelFisherClassifier(8, random_state=0), y),
    "full fisher": (KernelFisherClassifier(random_state=0), y),
}


def weighted_value(machine, Y, costs, loss):
    """1/2 sum_k beta_k'K beta_k + sum_ik C_i loss, by plain arithmetic."""
    K = machine.kernel(machine.vectors, machine.vectors)
    scores = machine.decision_function(X).reshape(len(X), -1)
    lack = np.maximum(0.0, 1.0 - Y * scores)
    lack = lack**2 if loss == "squared_hinge" else lack
    beta = machine.coefficients
    return 0.5 * np.trace(beta.T @ K @ beta) + float(costs @ lack.sum(axis=1))


@pytest.mark.parametrize("name", list(ESTIMATORS))
@pytest.mark.parametrize("bits", [3, 5, 8, 12])
def test_predictions_are_those_of_the_machine_in_few_bits(name, bits):
    estimator, targets = ESTIMATORS[name]
    exact = clone(estimator).fit(X, targets)
    rounded = clone(estimator).set_params(vector_bits=bits).fit(X, targets)
    assert exact.machine_.compact is None
    form = rounded.machine_.compact
    assert form.grid.bits == bits
    assert form.coefficient_bits in COEFFICIENT_BITS
    assert np.abs(form.coefficients).max() < 2 ** (form.coefficient_bits - 1)
    assert rounded.machine_ == KernelMachine.from_compact(form)
    before, after = (m.machine_.decision_function(X) for m in (exact, rounded))
    moved = np.sqrt(np.mean((after - before) ** 2)) / before.std()
    # two features in 3 bits each leave 64 places for a vector
    assert moved < {3: 0.8, 5: 0.25, 8: 0.2, 12: 0.2}[bits]
    if targets is not None:
        assert rounded.score(X, targets) > exact.score(X, targets) - {3: 0.1}.get(bits, 0.03)


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
@pytest.mark.parametrize("bits", [3, 8])
def test_the_problem_is_solved_again_over_the_rounded_vectors(bits, loss):
    m = SparseSVC(8, C=10.0, loss=loss, vector_bits=bits, random_state=0).fit(X, y)
    Z, kernel = m.machine_.vectors, m.machine_.kernel
    signs = np.where(y == m.classes_[1], 1.0, -1.0)
    costs = np.full(len(X), 10.0)
    value, *_ = svm_by_clarabel(kernel(X, Z), kernel(Z, Z), signs, costs, loss)
    assert_allclose(m.objective_, value, rtol=1e-4)
    # and rounding the coefficients raises it by no more than it may
    reached = weighted_value(m.machine_, signs[:, None], costs, loss)
    assert value * (1 - 1e-6) <= reached <= 1.051 * value


@pytest.mark.parametrize("bits", [2, 3, 4])
def test_solving_again_makes_up_for_most_of_what_rounding_does(bits):
    exact = SparseSVC(8, C=10.0, random_state=0).fit(X, y)
    rounded = SparseSVC(8, C=10.0, vector_bits=bits, random_state=0).fit(X, y)
    grid, machine = rounded.machine_.compact.grid, exact.machine_
    nearest = moved_to(grid, grid.seen(exact.vectors_))
    careless = KernelMachine(
        nearest.full_kernel, nearest.vectors, machine.coefficients, machine.intercepts
    )
    signs, costs = np.where(y == exact.classes_[1], 1.0, -1.0)[:, None], np.full(len(X), 10.0)
    before, after, without = (
        weighted_value(m, signs, costs, "squared_hinge")
        for m in (machine, rounded.machine_, careless)
    )
    assert_allclose(before, exact.objective_, rtol=1e-4)
    assert after - before < 0.5 * (without - before)


def test_a_search_on_the_grid_ends_lower_than_the_nearest_points():
    signs = np.where(LABELS[:600, None] == np.arange(10), 1.0, -1.0)
    rows = RowsInMemory(
        DIGITS[:600], np.ones(600), SVMProblem(signs, np.full(600, 10.0), "squared_hinge")
    )
    exact = SparseSVC(15, C=10.0, learn_kernel=False, random_state=0).fit(
        DIGITS[:600], LABELS[:600]
    )

    def value(kernel, Z):
        K, gram, costs = kernel(DIGITS[:600], Z), kernel(Z, Z), np.full(600, 10.0)
        return sum(svm_by_clarabel(K, gram, c, costs, "squared_hinge")[0] for c in signs.T)

    for bits in (2, 3, 4):
        grid = vector_grid(exact.machine_.kernel, exact.vectors_, bits)
        found = search_on_grid(rows, grid, grid.seen(exact.vectors_), exact.machine_.coefficients)
        assert found.codes.max() < 2**bits
        assert_array_equal(found.centres, grid.centres)
        values = [value(g.full_kernel, g.vectors) for g in (grid, found)]
        lowest = value(exact.machine_.kernel, exact.vectors_)
        # 2 bits leave so little choice that less is gained
        assert values[1] - lowest < {2: 0.9}.get(bits, 0.75) * (values[0] - lowest)


@pytest.mark.parametrize("n_vectors", [1, 8])
@pytest.mark.parametrize("factor", [2.0**-12, 2.0**12])
def test_the_search_on_the_grid_does_not_depend_on_the_unit_of_the_rows(factor, n_vectors):
    parameters = {"learn_kernel": False, "vector_bits": 4, "random_state": 0}
    one = SparseSVC(n_vectors, gamma=1.0, **parameters).fit(X, y)
    other = SparseSVC(n_vectors, gamma=1.0 / factor**2, **parameters).fit(factor * X, y)
    assert_allclose(other.machine_.vectors / factor, one.machine_.vectors, rtol=1e-6)
    assert_allclose(other.decision_function(factor * X), one.decision_function(X), rtol=1e-6)


def test_whole_numbers_nearest_in_scores():
    """Of vectors far apart each coefficient is rounded for itself; of like ones less is lost."""
    rng = np.random.default_rng(0)
    Z = np.arange(5.0)[:, None] * 100.0
    beta = rng.normal(size=(5, 2))
    grid = vector_grid(Gaussian(1.0), Z, 16)
    machine = KernelMachine(grid.full_kernel, grid.vectors, beta, np.zeros(2))
    rows = np.concatenate([grid.vectors, np.linspace(1e4, 2e4, 1000)[:, None]])
    form = in_few_bits(grid, machine, Judge(rows)).compact
    scales = form.scales.values[:, None]
    assert_array_equal(form.coefficients, np.rint(beta / scales))

    Z = rng.uniform(size=(12, 1)) * 3.0
    rows = np.linspace(-1.0, 4.0, 200)[:, None]
    grid = vector_grid(Gaussian(1.0), Z, 16)
    machine = KernelMachine(grid.full_kernel, grid.vectors, rng.normal(size=(12, 1)) * 10.0)
    judge = Judge(rows, loss=lambda scores: 0.0)  # takes as few bits as there are
    rounded = in_few_bits(grid, machine, judge)
    form = rounded.compact
    nearest = np.rint(machine.coefficients / form.scales.values[:, None])
    careless = machine.kernel(rows, machine.vectors) @ (nearest * form.scales.values[:, None])
    exact = machine.decision_function(rows)
    lost = np.linalg.norm(careless[:, 0] - exact)
    assert np.linalg.norm(rounded.decision_function(rows) - exact) < 0.5 * lost


@pytest.mark.parametrize("bits", [4, 8])
def test_fits_are_repeatable_and_sparse_rows_give_the_same(bits):
    models = [
        SparseSVC(6, C=1.0, vector_bits=bits, random_state=0).fit(rows, y)
        for rows in (X, X, sparse.csr_matrix(X))
    ]
    assert models[0].machine_ == models[1].machine_
    # the last digits of kernel values decide where a number between two points of the grid goes
    assert_allclose(models[2].objective_, models[0].objective_, rtol=0.1)
    assert np.mean(models[2].predict(X) == models[0].predict(X)) > 0.95
    again = pickle.loads(pickle.dumps(models[0]))
    assert again.machine_ == models[0].machine_


def test_separate_vectors_share_a_grid():
    m = SparseSVC(4, vectors="per_class", vector_bits=5, C=10.0, random_state=0)
    m.fit(DIGITS[:500], LABELS[:500])
    assert m.n_vectors_ == 40
    assert m.machine_.compact.grid.codes.shape[0] == 40
    assert m.score(DIGITS[500:], LABELS[500:]) > 0.85


def test_constant_columns_cost_nothing_but_to_an_outlier_detector():
    rows = np.column_stack([X, np.full(len(X), 3.0), np.zeros(len(X))])
    kept = [0, 1]
    m = SparseSVC(6, C=1.0, learn_kernel=False, vector_bits=5, random_state=0).fit(rows, y)
    assert m.machine_.compact.grid.used.tolist() == kept
    guard = SparseOneClassSVM(6, vector_bits=5, random_state=0).fit(rows)
    assert guard.machine_.compact.grid.used.tolist() == [0, 1, 2, 3]
    strange = rows[:5] + np.array([0.0, 0.0, 10.0, 0.0])
    assert (guard.predict(strange) == -1).all()


@pytest.mark.parametrize("n", [0, 3, 30])
def test_ctrl_c_leaves_a_machine_in_few_bits(n, monkeypatch):
    whole = SparseSVC(8, C=10.0, vector_bits=3, random_state=0)
    with monkeypatch.context() as patch:
        seen = interrupt_after(patch, np.inf)
        whole.fit(X, y)
        before = SparseSVC(8, C=10.0, random_state=0).fit(X, y).n_evaluations_
        assert len(seen) > before
    calls = []
    m = clone(whole)
    with monkeypatch.context() as patch:
        # during the rounds on the grid, once: the search itself has ended
        from kernelet.learners.direct.search import on_grid

        class Interrupted(on_grid.MarginalObjective):
            def __call__(self, *arguments, **options):
                calls.append(1)
                if len(calls) == n + 1:
                    raise KeyboardInterrupt
                return super().__call__(*arguments, **options)

        patch.setattr(on_grid, "MarginalObjective", Interrupted)
        m.fit(X, y)
    assert m.interrupted_ == (len(calls) == n + 1)
    assert m.machine_.compact.grid.bits == 3
    assert m.score(X, y) > 0.8


@pytest.mark.parametrize("wrong", [1, 17, 4.5, "4", True])
def test_impossible_bits_are_refused_by_name(wrong):
    for estimator, targets in ESTIMATORS.values():
        with pytest.raises(ValueError, match="vector_bits must be None, or a whole number from 2"):
            clone(estimator).set_params(vector_bits=wrong).fit(X, targets)
    with pytest.raises(ValueError, match="vector_bits"):
        compress(SVC().fit(X, y), 5, vector_bits=wrong)


@pytest.mark.parametrize("refit", ["none", "margin", "direct"])
def test_compressed_models(refit):
    svc = SVC(C=10.0).fit(X, y)
    small = compress(svc, 10, X, y, refit=refit, vector_bits=6)
    assert small.machine_.compact.grid.bits == 6
    assert np.mean(small.predict(X) == svc.predict(X)) > 0.95
    if refit == "none":
        smooth = compress(SVR(C=10.0).fit(X, T), 15, vector_bits=8)
        assert_allclose(smooth.predict(X), SVR(C=10.0).fit(X, T).predict(X), atol=0.25)


def test_targets_of_very_different_size_are_not_lost_silently():
    targets = np.column_stack([T, 1e7 * X[:, 1]])
    with pytest.warns(UserWarning, match="16 bits are too few .* Scale the targets"):
        SparseKernelRidge(10, vector_bits=4, random_state=0).fit(X, targets)


@pytest.mark.parametrize("C", [1e-9, 1e9])
@pytest.mark.filterwarnings("ignore:SparseSVC", "ignore:16 bits are too few")
def test_extreme_costs(C):
    m = SparseSVC(8, C=C, vector_bits=4, random_state=0).fit(X, y)
    assert np.isfinite(m.decision_function(X)).all()
    assert C < 1 or m.score(X, y) > 0.9


@pytest.mark.filterwarnings("ignore:SparseSVC", "ignore:n_vectors")
def test_rows_that_are_all_the_same():
    m = SparseSVC(5, vector_bits=4, random_state=0).fit(np.ones((40, 2)), np.arange(40) % 4 == 0)
    assert not m.predict(np.ones((3, 2))).any()


def test_a_warm_start_goes_on_from_vectors_before_rounding():
    m = SparseSVC(5, C=10.0, vector_bits=4, warm_start=True, random_state=0).fit(X, y)
    first = m.objective_
    exact = SparseSVC(5, C=10.0, random_state=0).fit(X, y)
    m.fit(X, y)
    assert m.n_iter_ <= exact.n_iter_
    assert m.objective_ <= 1.2 * first
