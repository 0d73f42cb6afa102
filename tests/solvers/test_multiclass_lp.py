"""One linear program for all classes, against SciPy's HiGHS over all pairs and weights."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.optimize import linprog
from sklearn.datasets import load_iris

from kernelet.kernels import Gaussian
from kernelet.solvers import ArrayRows, hinge_lasso, hinge_lasso_many
from kernelet.solvers.blocks.rows import BlockRows
from kernelet.solvers.linear_program.multiclass import multiclass_hinge_lasso

IRIS, SPECIES = load_iris(return_X_y=True)


def value(Phi, codes, C, W, b, penalty=0.5):
    """The primal value by a double loop."""
    total = penalty * np.abs(W).sum()
    for i, row in enumerate(Phi):
        scores = row @ W + b
        for k in range(W.shape[1]):
            if k != codes[i]:
                total += C[i] * max(0.0, 1.0 - 0.5 * (scores[codes[i]] - scores[k]))
    return total


def value_by_linprog(Phi, codes, n_classes, C, penalty=0.5):
    n, m = Phi.shape
    rows, costs = [], []
    for i in range(n):
        for k in range(n_classes):
            if k == codes[i]:
                continue
            W, b = np.zeros((m, n_classes)), np.zeros(n_classes)
            W[:, codes[i]], W[:, k] = 0.5 * Phi[i], -0.5 * Phi[i]
            b[codes[i]], b[k] = 0.5, -0.5
            rows.append(np.concatenate([W.ravel(), -W.ravel(), b]))
            costs.append(C[i])
    A = np.array(rows)
    size = 2 * m * n_classes
    cost = np.concatenate([np.full(size, penalty), np.zeros(n_classes), costs])
    bounds = [(0, None)] * size + [(None, None)] * n_classes + [(0, None)] * len(A)
    upper = -np.ones(len(A))
    return linprog(cost, A_ub=np.hstack([-A, -np.eye(len(A))]), b_ub=upper, bounds=bounds).fun


@pytest.mark.parametrize("C", [0.02, 1.0, 300.0])
@pytest.mark.parametrize("penalty", [0.5, 3.0])
def test_value_is_that_of_an_independent_solver(C, penalty):
    Phi, codes = IRIS[::2], SPECIES[::2]
    costs = C * np.random.default_rng(0).uniform(0.5, 2.0, len(codes))
    solution = multiclass_hinge_lasso(Phi, codes, 3, costs, penalty=penalty, tol=1e-8)
    assert solution.is_optimal
    assert solution.gap <= 1e-8
    expected = value_by_linprog(Phi, codes, 3, costs, penalty)
    assert_allclose(solution.primal_value, expected, rtol=1e-7)
    own = value(Phi, codes, costs, solution.weights, solution.intercepts, penalty)
    assert_allclose(own, solution.primal_value, rtol=1e-9)
    assert_allclose(solution.intercepts.sum(), 0.0, atol=1e-9)


def test_multipliers_prove_it():
    """Feasible for the dual, with the dual value as their sum."""
    C = 2.0
    s = multiclass_hinge_lasso(IRIS, SPECIES, 3, C)
    own = SPECIES[:, None] == np.arange(3)
    assert (s.multipliers >= 0).all() and (s.multipliers <= C).all()
    assert (s.multipliers[own] == 0).all()
    V = np.where(own, 0.5 * s.multipliers.sum(axis=1, keepdims=True), -0.5 * s.multipliers)
    assert np.abs(IRIS.T @ V).max() <= 0.5 + 1e-9
    assert_allclose(V.sum(axis=0), 0.0, atol=1e-8)
    assert_allclose(s.multipliers.sum(), s.dual_value, rtol=1e-9)


def test_two_classes_are_the_binary_program():
    codes = (SPECIES == 1).astype(int)
    both = multiclass_hinge_lasso(IRIS, codes, 2, 2.0)
    binary = hinge_lasso(IRIS, 2.0 * codes - 1.0, 2.0)
    assert_allclose(both.primal_value, binary.primal_value, rtol=1e-7)


def test_a_start_and_blocks_of_rows_change_nothing_but_the_way():
    Phi = Gaussian(0.3)(IRIS, IRIS[::6])
    Y = np.where(SPECIES[:, None] == np.arange(3), 1.0, -1.0)
    single = hinge_lasso_many(Phi, Y, 10.0)
    start = np.vstack([np.stack([s.weights for s in single], 1), [s.intercept for s in single]])
    values = [
        multiclass_hinge_lasso(rows, SPECIES, 3, 10.0, start=first, tol=1e-8).primal_value
        for rows in (Phi, ArrayRows(Phi), BlockRows(Phi, 7))
        for first in (None, start)
    ]
    assert_allclose(values, value_by_linprog(Phi, SPECIES, 3, np.full(150, 10.0)), rtol=1e-7)


def test_rows_without_cost_do_not_matter():
    costs = np.where(np.arange(150) % 3 == 0, 0.0, 1.0)
    kept = costs > 0
    assert_allclose(
        multiclass_hinge_lasso(IRIS, SPECIES, 3, costs).primal_value,
        multiclass_hinge_lasso(IRIS[kept], SPECIES[kept], 3, 1.0).primal_value,
        rtol=1e-7,
    )


def test_input_is_checked():
    with pytest.raises(ValueError, match="codes"):
        multiclass_hinge_lasso(IRIS, SPECIES, 2)
    with pytest.raises(ValueError, match="penalty"):
        multiclass_hinge_lasso(IRIS, SPECIES, 3, penalty=0.0)


class TestBlockRows:
    def test_same_answers_as_an_array(self):
        rng = np.random.default_rng(0)
        Phi = rng.normal(size=(103, 5))
        array, blocks = ArrayRows(Phi), BlockRows(Phi, 10)
        v, V, w = rng.normal(size=103), rng.normal(size=(103, 2)), rng.normal(size=(5, 3))
        assert blocks.shape == array.shape
        assert_allclose(blocks.scores(w), array.scores(w))
        assert_allclose(blocks.scores(w[:, 0]), array.scores(w[:, 0]))
        for weights in (v, V):
            assert_allclose(blocks.weighted_sum(weights), array.weighted_sum(weights))
        assert_allclose(blocks.weighted_gram(v), array.weighted_gram(v))
        index = np.array([7, 3, 99, 3])
        assert_allclose(blocks.take(index), array.take(index))
        assert_allclose(blocks.take_all(), array.take_all())

    def test_a_file_is_read_in_blocks_only(self, tmp_path):
        Phi = np.random.default_rng(0).normal(size=(3000, 4))
        y = np.where(Phi[:, 0] + 0.3 * Phi[:, 1] > 0.1, 1.0, -1.0)
        file = np.memmap(tmp_path / "rows", dtype=np.float32, mode="w+", shape=Phi.shape)
        file[:] = Phi
        largest = 0

        class Watched:
            shape = file.shape

            def __getitem__(self, index):
                nonlocal largest
                rows = file[index]
                largest = max(largest, len(rows))
                return rows

        rows = BlockRows(Watched(), 100)
        solution = hinge_lasso(rows, y, 1.0)
        expected = hinge_lasso(Phi.astype(np.float32).astype(float), y, 1.0)
        assert_allclose(solution.primal_value, expected.primal_value, rtol=1e-7)
        # the working set is all that is larger than a block
        assert largest < 2000

    def test_input_is_checked(self):
        with pytest.raises(ValueError, match="two-dimensional"):
            BlockRows(np.zeros(3))
        with pytest.raises(ValueError, match="block_rows"):
            BlockRows(np.zeros((3, 2)), 0)
        with pytest.raises(ValueError, match="NaN"):
            BlockRows(np.full((3, 2), np.nan))
