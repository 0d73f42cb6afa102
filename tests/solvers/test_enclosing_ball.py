"""Minimum enclosing balls against a conic solver over the full Gram matrix."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.svm import LinearSVC

from core_vector_oracles import least_on_simplex, margin_gram, margin_machine
from kernelet import solvers
from kernelet.datasets import make_banana
from kernelet.kernels import CallableKernel, Gaussian, Laplacian, Linear, Polynomial, Sigmoid
from kernelet.rows import Chunks, LabelledBlocks, open_pieces
from kernelet.rows.survey import survey
from kernelet.solvers import Status, minimum_enclosing_ball
from kernelet.solvers.enclosing_ball import growth as ball_growth
from kernelet.solvers.enclosing_ball import look as ball_look
from kernelet.solvers.enclosing_ball.ball import Ball
from kernelet.solvers.enclosing_ball.core_set import CoreSet, settle
from kernelet.solvers.enclosing_ball.exact_margin import exact_margin, newton_multipliers
from kernelet.solvers.enclosing_ball.expansions import Directions, Expansion, direction
from kernelet.solvers.enclosing_ball.free_points import FreePoints
from kernelet.solvers.enclosing_ball.labelled_rows import OutOfCoreLabelledRows, TableRows
from random_examples import examples

X, y = make_banana(400, random_state=0)
y = 2.0 * y - 1.0
SEEDS = range(200)


def problem(seed):
    """Rows, labels, costs, a kernel and eps, all at random."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(20, 60))
    # a polynomial of two columns has six coefficients: room for a few directions
    rows = rng.normal(size=(n, int(rng.integers(2, 6))))
    labels = np.where(rows[:, 0] + rng.normal(size=n) * rng.uniform(0, 2) > 0, 1.0, -1.0)
    labels[:2] = [-1.0, 1.0]
    # the coefficients of a polynomial's directions cancel, the more so for large costs
    largest = 1.0 if seed % 3 == 2 else 2.0
    costs = 10.0 ** rng.uniform(-1, largest) * (
        np.ones(n) if seed % 2 else rng.uniform(0.5, 2.0, n)
    )
    gamma = 10.0 ** rng.uniform(-1.5, 0.5)
    kernel = [Gaussian(gamma), Laplacian(gamma), Polynomial(0.3, 1.0, 2)][seed % 3]
    return rows, labels, costs, kernel, float(10.0 ** rng.uniform(-4, -0.6))


def directions_of(rows, labels, costs, kernel, count):
    """The first directions of algorithm 1, exactly, with their coefficients over all rows."""
    found, parts, columns = None, [], []
    for _ in range(count):
        machine = exact_margin(rows, labels, costs, kernel, found)
        parts.append(direction(kernel, machine.function, float(kernel.diagonal(rows).max()), found))
        beta = np.zeros(len(labels))
        beta[parts[-1].index] = parts[-1].coefficients[:, 0]
        columns.append(beta)
        joined = Expansion.joined(parts)
        linear = Expansion(joined.index, joined.vectors, joined.coefficients, np.zeros(len(parts)))
        found = Directions(kernel, linear, linear.values(kernel, rows))
    return found, np.stack(columns, axis=1) if columns else None


class TestGuarantee:
    @pytest.mark.parametrize("seed", SEEDS)
    def test_against_the_exact_ball(self, seed):
        self.check_against_the_exact_ball(seed)

    @examples(20)
    @given(seed=st.integers(len(SEEDS), 2**32 - 1))
    @example(seed=8207591)
    def test_against_the_exact_ball_of_any_seed(self, seed):
        self.check_against_the_exact_ball(seed)

    def check_against_the_exact_ball(self, seed):
        """Section 4.4: radius, ratio of the values, orthogonality, size of the core set."""
        rows, labels, costs, kernel, eps = problem(seed)
        count = seed % 4
        known, U = directions_of(rows, labels, costs, kernel, count)
        ball = minimum_enclosing_ball(rows, kernel, labels, costs, eps=eps, directions=known)
        K = np.asarray(kernel(rows, rows))
        squared, _ = least_on_simplex(margin_gram(K, labels, costs, U))
        lift = float((np.diag(K) + 1.0 + 1.0 / costs).max())
        best = np.sqrt(lift - squared)
        # of the terms of a squared norm, which cancel where directions are taken out
        terms = np.abs(K) + 1.0 + np.diag(1.0 / costs)
        if U is not None:
            taken = np.abs(K) @ np.abs(U)
            terms += taken @ taken.T
        own = np.ix_(ball.index, ball.index)
        noise = 1e-15 * float(ball.multipliers @ terms[own] @ ball.multipliers)
        rounding = 1.0 + 1e-9 + noise / lift
        assert ball.status is Status.OPTIMAL
        assert 1.0 <= ball.reach <= 1.0 + eps
        # the ball around the core set is inside the smallest, which is inside its multiple
        assert ball.radius <= best * rounding
        assert best <= ball.radius * ball.reach * rounding
        ratio = ball.radius**2 / (lift - squared)
        assert max(ratio, 1.0 / ratio) <= (1.0 + eps) ** 2
        assert ball.core_size <= max(2.0, 2.0 / eps)
        # distances of all rows, written out
        signed = margin_gram(K, labels, costs, U)
        margins = signed[:, ball.index] @ ball.multipliers
        norm = float(ball.multipliers @ signed[own] @ ball.multipliers)
        distances = np.sqrt(lift - 2.0 * margins + norm)
        assert_allclose(norm, ball.squared_norm, rtol=1e-8, atol=noise)
        assert distances.max() <= (1.0 + eps) * ball.radius * rounding
        assert_allclose(ball.multipliers.sum(), 1.0)
        if U is not None:
            w = ball.centre.coefficients[:, 0] @ kernel(ball.centre.vectors, rows)
            length = np.sqrt(
                ball.centre.coefficients[:, 0]
                @ kernel(ball.centre.vectors, ball.centre.vectors)
                @ ball.centre.coefficients[:, 0]
            )
            size = np.abs(kernel(rows, ball.centre.vectors)) @ np.abs(
                ball.centre.coefficients[:, 0]
            )
            assert np.abs(U.T @ w).max() <= 1e-8 * length + 1e-14 * (np.abs(U).T @ size).max()

    @pytest.mark.parametrize("seed", range(0, 200, 8))
    def test_small_eps_is_exact(self, seed):
        rows, labels, costs, kernel, _ = problem(seed)
        known, U = directions_of(rows, labels, costs, kernel, seed // 8 % 3)
        ball = minimum_enclosing_ball(rows, kernel, labels, costs, eps=1e-9, directions=known)
        value, beta, bias = margin_machine(np.asarray(kernel(rows, rows)), labels, costs, U)
        assert_allclose(0.5 / ball.squared_norm, value, rtol=1e-6)
        assert ball.gap <= 1e-6
        f = ball.centre.decision_function(rows) / ball.squared_norm
        exact = exact_margin(rows, labels, costs, kernel, known)
        assert_allclose(exact.primal_value, value, rtol=1e-7)
        assert_allclose(exact.dual_value, exact.primal_value, rtol=1e-9)
        oracle = kernel(rows, rows) @ beta + bias
        # the objective is strongly convex in f: margins agree as far as values do
        assert_allclose(exact.function.values(kernel, rows)[:, 0], oracle, atol=1e-3)
        assert_allclose(f, exact.function.values(kernel, rows)[:, 0], atol=1e-3)

    @pytest.mark.parametrize("kernel", [Gaussian(2.0), Laplacian(1.0)], ids=lambda k: k.name)
    @pytest.mark.parametrize("n", [1, 2, 50])
    def test_the_plain_ball(self, kernel, n):
        ball = minimum_enclosing_ball(X[:n], kernel, eps=1e-7)
        squared, _ = least_on_simplex(np.asarray(kernel(X[:n], X[:n])))
        assert_allclose(ball.radius, np.sqrt(max(0.0, 1.0 - squared)), atol=2e-6)
        assert np.isnan(ball.gap)
        assert_array_equal(ball.gammas, [])

    def test_rows_in_one_place(self):
        ball = minimum_enclosing_ball(np.ones((5, 2)), Gaussian(1.0), eps=np.float32(1e-3))
        assert ball.radius < 1e-5
        assert ball.reach == 1.0
        # the first is enough
        assert ball.core_size == 1
        assert ball.status is Status.OPTIMAL


class TestSampling:
    rows, labels = make_banana(3000, random_state=1)
    labels = 2.0 * labels - 1.0

    def test_of_many_rows_a_few_are_drawn_and_all_are_checked(self):
        ball = minimum_enclosing_ball(self.rows, Gaussian(1.0), self.labels, eps=3e-3)
        assert ball.status is Status.OPTIMAL
        assert ball.reach <= 1.003
        best = exact_margin(self.rows, self.labels, np.ones(3000), Gaussian(1.0))
        radius = np.sqrt(3.0 - 0.5 / best.primal_value)
        assert ball.radius <= radius <= ball.radius * ball.reach

    def test_without_the_last_look_most_rows_are_inside(self):
        ball = minimum_enclosing_ball(
            self.rows, Gaussian(1.0), self.labels, eps=3e-3, exact_sweep=False
        )
        assert np.isnan(ball.reach)
        margins = self.labels * ball.centre.decision_function(self.rows)
        distances = 3.0 + ball.squared_norm - 2.0 * margins
        assert np.mean(distances > (1.003 * ball.radius) ** 2) < 0.1

    def test_few_rows_are_drawn_from_if_nothing_else_is_done(self):
        ball = minimum_enclosing_ball(X, Gaussian(1.0), y, eps=3e-3, exact_sweep=False)
        assert ball.core_size > 20
        with pytest.raises(ValueError, match="set exact_sweep=True"):
            minimum_enclosing_ball(X, Gaussian(1.0), y, sample_size=None, exact_sweep=False)

    def test_most_rows_may_have_no_weight(self):
        weights = np.zeros(3000)
        weights[[5, 7, 1000, 2500]] = 1.0
        codes = (self.labels > 0).astype(np.intp)
        codes[[5, 7]] = [0, 1]
        table = TableRows(self.rows, codes, weights)
        ball = Ball(Gaussian(1.0), 2, 3.0, 3e-3, C=1.0, code=1)
        ball_growth.enclose([ball], table, np.random.RandomState(0))
        assert set(ball.core.index) <= {5, 7, 1000, 2500}
        assert ball.reach <= 1.003

    def test_seeds_repeat_and_differ(self):
        def core(seed, **options):
            ball = minimum_enclosing_ball(
                self.rows, Gaussian(1.0), self.labels, eps=0.01, random_state=seed, **options
            )
            return ball.index.tolist()

        assert core(0) == core(0) != core(1)
        assert core(0, sample_size=None) == core(1, sample_size=None)

    @pytest.mark.parametrize("n_sample", [3000, 600])
    def test_out_of_core_rows_are_like_a_table(self, n_sample):
        """Same rows, in chunks: same guarantee, and blocks with the right numbers."""
        codes, weights = (self.labels > 0).astype(np.intp), np.ones(3000)
        weights[::7] = 0.0
        parts = [slice(start, start + 700) for start in range(0, 3000, 700)]
        pieces = open_pieces(
            *(Chunks.of([column[part] for part in parts]) for column in (self.rows, codes, weights))
        )
        seen = survey(pieces)
        blocks = LabelledBlocks(pieces, seen.classes, np.ones(2), seen.lengths, seen.counts, 2)
        sample = blocks.sample(n_sample, 0)
        distant, table = (
            OutOfCoreLabelledRows(blocks, sample),
            TableRows(self.rows, codes, weights),
        )
        assert distant.shape == table.shape
        assert_array_equal(table.whole().index, np.flatnonzero(weights))
        rng = np.random.RandomState(0)
        for rows in (distant, table):
            indices = rows.total(lambda block: block.index.tolist(), "index")
            assert_array_equal(indices, np.flatnonzero(weights))
            drawn = rows.draw(rng, 500)
            assert_array_equal(drawn.X, self.rows[drawn.index])
            assert_array_equal(drawn.codes, codes[drawn.index])
            assert drawn.weights.all()
            assert_array_equal(rows.first_of_each_class().codes, [0, 1])
            ball = Ball(Gaussian(1.0), 2, 3.0, 3e-3, C=1.0, code=1)
            assert not ball_growth.enclose([ball], rows, rng)
            assert ball.reach <= 1.003
            assert not np.isin(ball.core.index, np.flatnonzero(weights == 0.0)).any()

    def test_rare_classes_are_drawn_as_they_are(self):
        """The sample has more of them, so that each of its rows represents fewer."""
        codes = (np.arange(3000) < 150).astype(np.intp)
        pieces = open_pieces(Chunks.of([self.rows]), Chunks.of([codes]))
        seen = survey(pieces)
        blocks = LabelledBlocks(pieces, seen.classes, np.ones(2), seen.lengths, seen.counts, 2)
        sample = blocks.sample(300, 0)
        assert np.bincount(sample.block.codes).tolist() == [285, 100]
        drawn = OutOfCoreLabelledRows(blocks, sample).draw(np.random.RandomState(0), 20_000)
        assert_allclose(np.mean(drawn.codes), 0.05, atol=0.005)

    @pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int16])
    def test_single_precision_is_left(self, dtype):
        pieces = open_pieces(
            Chunks.of([self.rows.astype(dtype)]), Chunks.of([(self.labels > 0).astype(int)])
        )
        seen = survey(pieces)
        blocks = LabelledBlocks(pieces, seen.classes, np.ones(2), seen.lengths, seen.counts, 2)
        rows = OutOfCoreLabelledRows(blocks, blocks.sample(300, 0))
        found = rows.total(lambda block: [block.X.dtype], "dtype")
        assert found == [np.float32 if dtype == np.float32 else np.float64]
        assert rows.first_of_each_class().X.dtype == np.float64

    def test_what_parts_tell_is_what_the_whole_does(self, monkeypatch):
        """The pool is the furthest rows of all, unless there are very many blocks."""
        codes, weights = (self.labels > 0).astype(np.intp), np.ones(3000)
        ball = Ball(Gaussian(1.0), 2, 3.0, 3e-3, C=1.0, code=1)
        table = TableRows(self.rows, codes, weights)
        ball.start(table)
        monkeypatch.setattr(ball_look, "_REPORTED_ROWS", 5 * ball_look.POOL)
        (whole,) = ball_look.look_at_all([ball], table)
        assert whole.pool.codes.size == ball_look.POOL
        assert not whole.is_whole
        # each of the many blocks only reports its furthest row
        for length, reported in [(700, 5 * ball_look.POOL), (2, 1500)]:
            monkeypatch.setattr(ball_look, "_REPORTED_ROWS", reported)
            parts = [slice(start, start + length) for start in range(0, 3000, length)]
            pieces = open_pieces(
                *(Chunks.of([column[part] for part in parts]) for column in (self.rows, codes))
            )
            seen = survey(pieces)
            blocks = LabelledBlocks(pieces, seen.classes, np.ones(2), seen.lengths, seen.counts, 2)
            rows = OutOfCoreLabelledRows(blocks, blocks.sample(300, 0))
            (look,) = ball_look.look_at_all([ball], rows)
            assert look.furthest == whole.furthest
            assert_allclose(look.loss, whole.loss)
            assert look.pool.codes.size == 1000
            assert not look.is_whole
            if length == 700:
                assert_array_equal(look.pool.index, whole.pool.index)
            else:
                assert np.unique(look.pool.index // 2).size == 1000
                assert look.pool.index[0] == whole.pool.index[0]

    def out_of_core(self, length, size):
        codes = (self.labels > 0).astype(np.intp)
        parts = [slice(start, start + length) for start in range(0, 3000, length)]
        pieces = open_pieces(
            *(Chunks.of([column[part] for part in parts]) for column in (self.rows, codes))
        )
        seen = survey(pieces)
        blocks = LabelledBlocks(pieces, seen.classes, np.ones(2), seen.lengths, seen.counts, 2)
        return OutOfCoreLabelledRows(blocks, blocks.sample(size, 0))

    def test_rows_next_to_the_ball_are_reported_with_those_outside(self, monkeypatch):
        rows = self.out_of_core(500, 300)
        ball = Ball(Gaussian(1.0), 2, 3.0, 3e-3, C=1.0, code=1)
        ball_growth.enclose([ball], rows, np.random.RandomState(0))
        # all are inside: rows next to the ball are not reported
        (look,) = ball_look.look_at_all([ball], rows)
        assert look.pool is None and look.is_whole
        n_outside, excess = 0, ball.reach - 1.0
        while n_outside < 3:
            excess *= 0.999
            ball.eps = excess
            (bare,) = ball_look.look_at_all([ball], TableRows(*self.table()))
            n_outside = bare.pool.codes.size
        (look,) = ball_look.look_at_all([ball], rows)
        assert n_outside < look.pool.codes.size <= ball_look.POOL
        assert_array_equal(look.pool.index[:n_outside], bare.pool.index)
        assert look.is_whole
        monkeypatch.setattr(ball_look, "POOL", n_outside - 1)
        (less,) = ball_look.look_at_all([ball], rows)
        assert not less.is_whole

    def table(self):
        return self.rows, (self.labels > 0).astype(np.intp), np.ones(3000)

    @pytest.mark.parametrize("at_hand", [True, False])
    def test_rows_at_hand_come_first(self, at_hand, monkeypatch):
        """A sample in memory saves looks at rows that are not."""
        rows = self.out_of_core(500, 1500)
        near, look_at_rows = rows.at_hand(), rows.total
        assert near.whole().codes.size == 1500
        assert_array_equal(near.whole().X, self.rows[near.whole().index])
        if not at_hand:
            monkeypatch.setattr(rows, "at_hand", lambda: None)
        ball = Ball(Gaussian(1.0), 2, 3.0, 1e-4, C=1.0, code=1)
        is_inside = []

        def total(function, name):
            is_inside.append(ball_look.look_at_all([ball], near)[0].pool is None)
            return look_at_rows(function, name)

        monkeypatch.setattr(rows, "total", total)
        assert not ball_growth.enclose([ball], rows, np.random.RandomState(0))
        assert ball.status is Status.OPTIMAL and ball.reach <= 1.0001
        assert is_inside[0] is at_hand


class TestLimits:
    def test_too_few_points(self):
        ball = minimum_enclosing_ball(X, Gaussian(1.0), y, eps=1e-4, max_iter=10)
        assert ball.status is Status.ITERATION_LIMIT
        assert ball.core_size == 10
        assert ball.reach > 1.0001
        assert 0.0 < ball.gap < 1.0

    @pytest.mark.parametrize("C", [1.0, 1e3, 1e6])
    def test_a_gap_can_be_asked_for(self, C):
        loose = minimum_enclosing_ball(X, Gaussian(1.0), y, C, eps=0.1)
        tight = minimum_enclosing_ball(X, Gaussian(1.0), y, C, eps=0.1, tol=1e-3)
        assert loose.gap > 0.1
        assert tight.gap <= 1e-3
        exact = exact_margin(X, y, np.full(400, C), Gaussian(1.0))
        value = 0.5 / tight.squared_norm
        assert exact.primal_value * (1.0 - 1e-3) <= value <= exact.primal_value * (1.0 + 1e-9)

    @pytest.mark.parametrize("repeats", [1, 7])
    def test_duplicates_share_a_cost(self, repeats):
        rows, labels = np.repeat(X[:60], repeats, axis=0), np.repeat(y[:60], repeats)
        ball = minimum_enclosing_ball(rows, Gaussian(1.0), labels, 10.0 / repeats, eps=1e-9)
        once = minimum_enclosing_ball(X[:60], Gaussian(1.0), y[:60], 10.0, eps=1e-9)
        assert_allclose(ball.squared_norm, once.squared_norm, rtol=1e-6)

    def test_contradicting_labels_and_one_class(self):
        rows, labels = np.repeat(X[:50], 2, axis=0), np.tile([1.0, -1.0], 50)
        ball = minimum_enclosing_ball(rows, Gaussian(1.0), labels, 10.0, eps=1e-6)
        assert ball.status is Status.OPTIMAL
        assert_allclose(ball.centre.decision_function(rows), 0.0, atol=1e-9)
        ball = minimum_enclosing_ball(X, Gaussian(1.0), np.ones(400), eps=1e-3)
        assert (ball.centre.decision_function(X) > 0.0).all()

    @pytest.mark.parametrize("eps", [0.0, -1.0, np.nan, "small"])
    def test_eps_must_be_positive(self, eps):
        with pytest.raises(ValueError, match="eps must"):
            minimum_enclosing_ball(X, Gaussian(1.0), y, eps=eps)

    def test_bad_input(self):
        with pytest.raises(ValueError, match="not constant; take a kernel"):
            minimum_enclosing_ball(X, Linear())
        with pytest.raises(ValueError, match="positive definite"):
            minimum_enclosing_ball(X, Sigmoid(1.0), y)
        with pytest.raises(ValueError, match="C must be"):
            minimum_enclosing_ball(X, Gaussian(1.0), y, 0.0)
        with pytest.raises(ValueError, match="labels"):
            minimum_enclosing_ball(X, Gaussian(1.0), y + 1.0)
        with pytest.raises(ValueError, match="is zero"):
            minimum_enclosing_ball(np.zeros((3, 2)), Linear())
        with pytest.raises(ValueError, match="C must be a number or have shape"):
            minimum_enclosing_ball(X, Gaussian(1.0), y, np.ones(3))
        for rows in (np.full((3, 2), np.nan), sparse.csr_array([[np.inf]]), np.empty((0, 2))):
            with pytest.raises(ValueError, match="at least one row, and neither NaN"):
                minimum_enclosing_ball(rows, Gaussian(1.0))

    def test_sparse_rows_and_functions_as_kernels(self):
        plain = minimum_enclosing_ball(X, Gaussian(1.0), y)
        csr = minimum_enclosing_ball(sparse.csr_array(X), Gaussian(1.0), y)
        assert_allclose(csr.radius, plain.radius, rtol=1e-3)
        function = CallableKernel(lambda A, B: Gaussian(1.0)(A, B))
        assert_allclose(minimum_enclosing_ball(X, function, y).radius, plain.radius, rtol=1e-3)


class TestExactMargin:
    @pytest.mark.parametrize("C", [0.1, 1.0, 30.0])
    def test_is_a_linear_svm(self, C):
        """The issue's oracle: its C is ours over 2, and its bias is penalised as ours is."""
        svc = LinearSVC(C=C / 2.0, intercept_scaling=1.0, tol=1e-10, max_iter=100000).fit(X, y)
        machine = exact_margin(X, y, np.full(400, C), Linear())
        w = machine.function.coefficients[:, 0] @ machine.function.vectors
        assert_allclose(w, svc.coef_[0], rtol=1e-5)
        assert_allclose(machine.function.intercepts, svc.intercept_, rtol=1e-5)

    def test_working_sets_end_where_all_rows_do(self, monkeypatch):
        whole = exact_margin(X, y, np.ones(400), Gaussian(1.0))
        monkeypatch.setattr("kernelet.solvers.enclosing_ball.exact_margin._FIRST", 20)
        monkeypatch.setattr("kernelet.solvers.enclosing_ball.exact_margin._MOST_ADDED", 30)
        parts = exact_margin(X, y, np.ones(400), Gaussian(1.0))
        assert_allclose(parts.primal_value, whole.primal_value, rtol=1e-9)
        assert_allclose(parts.dual_value, whole.primal_value, rtol=1e-9)
        assert parts.n_vectors == whole.n_vectors

    def test_too_few_systems(self):
        K = margin_gram(np.asarray(Gaussian(5.0)(X, X)), y, np.inf)
        assert not newton_multipliers(K, np.full(400, 100.0), np.zeros(400), 1)[2]
        assert newton_multipliers(K, np.full(400, 100.0), np.zeros(400), 100)[2]

    def test_directions_need_their_values(self):
        known, _ = directions_of(X, y, np.ones(400), Gaussian(1.0), 1)
        unknown = Directions(known.kernel, known.expansion)
        with pytest.raises(ValueError, match="values at all rows"):
            exact_margin(X, y, np.ones(400), Gaussian(1.0), unknown)

    def test_nothing_is_left_of_a_small_space(self):
        known, _ = directions_of(X, y, np.ones(400), Linear(), 2)
        machine = exact_margin(X, y, np.ones(400), Linear(), known)
        assert direction(Linear(), machine.function, 1.0, known) is None


class TestCoreSet:
    @staticmethod
    def assert_least(core, gram):
        """The conditions of the optimum, with a factor that is made anew."""
        free = core.free
        expected = np.linalg.solve(gram[np.ix_(free, free)], np.ones(free.size))
        assert_allclose(core.multipliers[free], expected, rtol=1e-6)
        assert (gram @ core.multipliers > 1.0 - 1e-8).all()

    @pytest.mark.parametrize("seed", range(20))
    def test_every_point_leads_to_the_minimum(self, seed):
        rows, labels, costs, kernel, _ = problem(seed)
        K = np.asarray(kernel(rows, rows))
        gram = margin_gram(K, labels, costs)
        core = CoreSet(rows.shape[1])
        for i in range(len(rows)):
            core.add(rows[i], K[i, :i], K[i, i], sign=labels[i], ridge=1.0 / costs[i], index=i)
            self.assert_least(core, gram[: i + 1, : i + 1])
        value, _, _ = margin_machine(K, labels, costs)
        assert_allclose(0.5 * core.total, value, rtol=1e-7)

    def test_leaves_what_is_inside(self):
        K = np.array([[1.0, 0.9], [0.9, 0.85]])
        points, a = settle(K, FreePoints.none().joined_by(0, K), np.array([1.0, 0.0]), 1e-9)
        assert_array_equal(points.index, [1])
        assert_allclose(a, [0.0, 1.0 / 0.85])

    def test_a_point_that_is_there_twice_changes_nothing(self):
        """Its margin is 1 up to rounding, and the pivot of its column rounding alone."""
        K = np.ones((3, 3)) + np.diag([0.5, 0.0, 0.0])
        _, a = settle(K, FreePoints.none(), np.zeros(3), 1e-9)
        assert_allclose(K @ a, [1.0, 1.0, 1.0])
        assert_allclose(a.sum(), 1.0)

    @pytest.mark.parametrize("seed", range(10))
    def test_points_that_depend_on_others_take_their_place(self, seed):
        """Gram matrices of rank 3, whose minimum is that of the rows themselves."""
        rng = np.random.default_rng(seed)
        rows = rng.normal(size=(12, 3)) + np.array([3.0, 0.0, 0.0])
        rows *= rng.uniform(0.2, 2.0, size=(12, 1))
        K = rows @ rows.T
        _, a = settle(K, FreePoints.none(), np.zeros(12), 1e-10)
        assert (a >= 0.0).all()
        assert (K @ a >= 1.0 - 1e-6).all()
        assert_allclose(a @ K @ a, a.sum(), rtol=1e-6)  # no gap

    def test_the_shorter_of_two_equal_directions_is_the_one(self):
        K = np.array([[4.0, 2.0], [2.0, 1.0]])
        _, a = settle(K, FreePoints.none(), np.zeros(2), 1e-9)
        assert_allclose(a, [0.0, 1.0])

    def test_a_matrix_that_is_not_positive_definite_ends_in_numbers(self):
        """Directions that are orthogonal to 1e-7 only leave such matrices of equal points."""
        K = np.full((40, 40), -1.0) + np.diag(np.full(40, 2.0))
        K[:, 0] = K[0, :] = -1.000001
        K[0, 0] = 1.0
        _, a = settle(K, FreePoints.none(), np.zeros(40), 1e-9)
        assert np.isfinite(a).all()
        assert (a >= 0.0).all()
        assert a.sum() > 0.0

    @pytest.mark.parametrize("at", [0, 1, 30, 68, 69])
    def test_factor_without_a_point(self, at):
        """Of 70 points, more than LAPACK reflects at a time; then one joins."""
        rng = np.random.default_rng(at)
        A = rng.normal(size=(71, 40))
        K = A @ A.T + np.eye(71)
        points = FreePoints.none()
        for i in range(70):
            points = points.joined_by(i, K)
        before = points.solved()
        less = points.without(at).joined_by(70, K)
        assert_array_equal(less.index, np.delete(np.arange(71), at))
        expected = np.linalg.solve(K[np.ix_(less.index, less.index)], np.ones(70))
        assert_allclose(less.solved(), expected, rtol=1e-9)
        assert_array_equal(points.solved(), before)

    # problems in which points leave on the way
    @pytest.mark.parametrize("seed", [0, 5, 8, 14, 16])
    @pytest.mark.parametrize("method", ["joined_by", "solved", "without"])
    def test_an_interruption_leaves_the_last_ball(self, seed, method, monkeypatch):
        """Wherever Ctrl-C comes; and what joins then leads to the minimum."""
        rows, labels, costs, kernel, _ = problem(seed)
        K = np.asarray(kernel(rows, rows))
        gram = margin_gram(K, labels, costs)
        core, kept, n_interrupted = CoreSet(rows.shape[1]), [], 0
        whole = getattr(FreePoints, method)

        def interrupted(*arguments):
            whole(*arguments)
            raise KeyboardInterrupt

        for i in range(len(rows)):
            point = {"sign": labels[i], "ridge": 1.0 / costs[i], "index": i}
            if i % 3 == 2:
                before = core.multipliers.copy()
                with monkeypatch.context() as patch:
                    patch.setattr(FreePoints, method, interrupted)
                    try:
                        core.add(rows[i], K[i, kept], K[i, i], **point)
                    except KeyboardInterrupt:
                        n_interrupted += 1
                        assert_array_equal(core.multipliers, before)
                        continue
            else:
                core.add(rows[i], K[i, kept], K[i, i], **point)
            kept.append(i)
            self.assert_least(core, gram[np.ix_(kept, kept)])
        assert_array_equal(core.index, kept)
        assert n_interrupted > 0


def test_exported():
    assert solvers.minimum_enclosing_ball is minimum_enclosing_ball
