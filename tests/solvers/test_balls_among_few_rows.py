"""Balls among few rows, whose kernel values are kept, against looks that compute them anew."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

from kernelet.datasets import make_banana
from kernelet.kernels import Gaussian, Polynomial
from kernelet.rows import Block
from kernelet.solvers import minimum_enclosing_ball
from kernelet.solvers.enclosing_ball import growth as ball_growth
from kernelet.solvers.enclosing_ball.ball import Ball
from kernelet.solvers.enclosing_ball.exact_margin import exact_margin
from kernelet.solvers.enclosing_ball.expansions import Directions, direction
from kernelet.solvers.enclosing_ball.few_rows import KernelRows, RowsAround
from kernelet.solvers.enclosing_ball.labelled_rows import TableRows
from kernelet.solvers.enclosing_ball.look import look_at_all

X, codes = make_banana(300, random_state=0)
WEIGHTS = np.random.default_rng(0).uniform(0.5, 2.0, 300)
KERNELS = pytest.mark.parametrize(
    "kernel", [Gaussian(1.0), Polynomial(0.3, 1.0, 2)], ids=lambda kernel: kernel.name
)


def directions_of(kernel):
    """The first direction of algorithm 1."""
    labels = 2.0 * codes - 1.0
    machine = exact_margin(X, labels, WEIGHTS, kernel)
    own = direction(kernel, machine.function, float(kernel.diagonal(X).max()), None)
    own = own.without_intercept()
    return Directions(kernel, own, own.values(kernel, X))


def new_ball(kernel, directions=None, eps=1e-3):
    lift = float((kernel.diagonal(X) + 1.0 + 1.0 / WEIGHTS).max())
    return Ball(kernel, 2, lift, eps, C=1.0, code=1, directions=directions)


@pytest.fixture
def rows():
    return TableRows(X, codes.astype(np.intp), WEIGHTS)


class TestRowsAround:
    @KERNELS
    @pytest.mark.parametrize("with_direction", [False, True])
    def test_looks_and_steps_are_those_of_the_kernel(self, kernel, with_direction, rows):
        known = directions_of(kernel) if with_direction else None
        ball, other = new_ball(kernel, known), new_ball(kernel, known)
        around = None
        for limit in (3, 10, 40):
            for each in (ball, other):
                each.start(rows)
            # one that grows with the ball, and one that takes up what others have added
            around = around or RowsAround(ball, KernelRows(kernel, rows.whole()))
            fresh = RowsAround(ball, KernelRows(kernel, rows.whole()))
            (look,) = look_at_all([other], rows)
            for seen in (around.look(), fresh.look()):
                assert_allclose([seen.furthest, seen.loss], [look.furthest, look.loss], rtol=1e-9)
                assert seen.n_outside == look.n_outside
                assert_array_equal(seen.kept.index, look.kept.index)
            begin = ball.core.size
            added, furthest = around.absorb(limit)
            assert added == limit - begin
            while other.core.size < limit:
                (look,) = look_at_all([other], rows)
                other.absorb(look.pool, other.core.size + 1)
            (look,) = look_at_all([other], rows)
            assert_array_equal(ball.core.index, other.core.index)
            assert_allclose(furthest, look.furthest, rtol=1e-9)
            assert_allclose(ball.core.multipliers, other.core.multipliers, rtol=1e-6)

    def test_what_is_inside_is_not_taken_in(self, rows):
        ball = new_ball(Gaussian(1.0))
        ball.start(rows)
        around = RowsAround(ball, KernelRows(Gaussian(1.0), rows.whole()))
        around.absorb(5000)
        size = ball.core.size
        added, furthest = around.absorb(5000)
        assert (added, ball.core.size) == (0, size)
        assert 0.0 < furthest <= ball.bound

    def test_rows_are_found_by_their_index(self):
        """Rows of weight zero are left out: places are not indices."""
        weights = np.where(np.arange(300) % 3 == 0, 0.0, WEIGHTS)
        rows = TableRows(X, codes.astype(np.intp), weights)
        ball = new_ball(Gaussian(1.0))
        ball_growth.enclose([ball], rows, np.random.RandomState(0))
        assert (ball.core.index % 3 != 0).all()
        assert np.unique(ball.core.index).size == ball.core.size
        kept = np.flatnonzero(weights)
        labels = 2.0 * codes[kept] - 1.0
        best = exact_margin(X[kept], labels, weights[kept], Gaussian(1.0))
        assert ball.dual_value <= best.primal_value * (1.0 + 1e-9)
        assert best.primal_value <= ball.primal_value * (1.0 + 1e-9)


class TestKernelRows:
    @KERNELS
    @pytest.mark.parametrize("kind", [np.asarray, np.float32, sparse.csr_matrix])
    def test_values_of_the_kernel_each_row_once(self, kernel, kind, monkeypatch):
        table = kind(X)
        block = Block(np.arange(300), table, codes.astype(np.intp), WEIGHTS)
        shared = KernelRows(kernel, block)
        exact = X.astype(np.float32) if kind is np.float32 else X
        for place in (0, 17, 299):
            oracle = kernel(exact.astype(np.float64), exact[place : place + 1].astype(np.float64))
            assert_allclose(shared.at(place), oracle[:, 0], rtol=1e-12)
        first = shared.at(17)
        assert shared.at(17) is first


class TestFewRows:
    @pytest.mark.parametrize("kind", [np.asarray, sparse.csr_matrix])
    def test_nothing_is_drawn(self, kind):
        labels = 2.0 * codes - 1.0
        balls = [
            minimum_enclosing_ball(kind(X), Gaussian(1.0), labels, random_state=seed)
            for seed in (0, 1)
        ]
        assert_array_equal(balls[0].index, balls[1].index)
        assert_array_equal(balls[0].multipliers, balls[1].multipliers)

    def test_sparse_rows_have_the_ball_of_dense_ones(self):
        labels = 2.0 * codes - 1.0
        dense, thin = (
            minimum_enclosing_ball(kind(X), Gaussian(1.0), labels)
            for kind in (np.asarray, sparse.csr_matrix)
        )
        assert_array_equal(thin.index, dense.index)
        assert_allclose(thin.multipliers, dense.multipliers, rtol=1e-6)
