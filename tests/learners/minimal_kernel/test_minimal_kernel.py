"""MinimalKernelSVC: algorithm 4.2 against linear programs spelt out for SciPy's HiGHS."""

from __future__ import annotations

import pickle
import warnings

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from scipy.optimize import linprog
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import GridSearchCV

from kernelet import load
from kernelet.datasets import checkerboard_grid, make_banana, make_checkerboard
from kernelet.kernels import Gaussian
from kernelet.learners import MinimalKernelSVC
from kernelet.learners.base.progress import HAS_CALLBACKS
from kernelet.learners.minimal_kernel.candidates import Kept, inclusion, n_candidates_of, retire
from kernelet.learners.minimal_kernel.linearisation import (
    SOLVERS,
    PoundLoss,
    SuccessiveLinearisation,
)
from kernelet.solvers import hinge_lasso

X, y = make_banana(120, random_state=0)
SIGNS = 2.0 * y - 1.0
IRIS, SPECIES = load_iris(return_X_y=True)
both = pytest.mark.parametrize("solver", ["interior_point", "simplex"])


def model(C=10.0, **parameters):
    return MinimalKernelSVC(C, **{"gamma": 1.0, "random_state": 0, **parameters})


def linear_program(Phi, signs, C, c):
    """(10) and (26) with u, b, xi spelt out: min c'|u| + C'xi."""
    n, m = Phi.shape
    A = np.hstack([-signs[:, None] * Phi, signs[:, None] * Phi, -signs[:, None], -np.eye(n)])
    bounds = [(0, None)] * (2 * m) + [(None, None)] + [(0, None)] * n
    cost = np.concatenate([c, c, [0.0], C])
    return linprog(cost, A_ub=A, b_ub=-np.ones(n), bounds=bounds).fun


def slacks(signs, scores):
    return np.maximum(0.0, 1.0 - signs * scores)


class TestPoundLoss:
    def test_formulas(self):
        loss = PoundLoss(mu=2.0, alpha=3.0)
        x = np.array([0.0, 1e-6, 0.5, 4.0])
        assert_allclose(loss.exact(x), [0.0, 2.0 + 1e-6, 2.5, 6.0])
        assert_allclose(loss.smooth(x), [v + 2.0 * (1.0 - np.exp(-3.0 * v)) for v in x])
        h = 1e-6
        differences = (loss.smooth(x + h) - loss.smooth(x - h)) / (2 * h)
        assert_allclose(loss.slope(x), differences, rtol=1e-6)

    def test_smooth_form_approaches_the_exact_one(self):
        x = np.array([0.0, 0.01, 1.0])
        assert_allclose(PoundLoss(1.0, 1e4).smooth(x), PoundLoss(1.0).exact(x))


class TestAlgorithm:
    @both
    @pytest.mark.parametrize("C", [1.0, 10.0, 1000.0])
    def test_starts_from_the_linear_program_and_ends_in_a_fixed_point(self, C, solver):
        Phi, loss = Gaussian(1.0)(X, X), PoundLoss(1.0, 5.0)
        first = hinge_lasso(Phi, SIGNS, C)
        ones = np.ones(len(X))
        assert_allclose(first.primal_value, linear_program(Phi, SIGNS, C * ones, ones), rtol=1e-7)
        programs = SOLVERS[solver](Phi, SIGNS, 1e-8)
        sequence = SuccessiveLinearisation(Phi, SIGNS, C * ones, loss, programs)
        *_, end = sequence.steps(sequence.start(first), 50)
        assert end.is_stationary
        # the smooth objective never rises
        assert all(b <= a * (1 + 1e-12) for a, b in zip(end.history, end.history[1:], strict=False))
        u, b = end.solution.weights, end.solution.intercept
        xi, v = slacks(SIGNS, Phi @ u + b), np.abs(u)
        assert_allclose(
            end.history[-1],
            C * np.sum(xi + 1.0 - np.exp(-5.0 * xi)) + np.sum(v + 1.0 - np.exp(-5.0 * v)),
        )
        # (27), with mu in both exponentials: the linearisation at the end cannot be lowered
        costs, penalties = C * (1 + 5 * np.exp(-5 * xi)), 1 + 5 * np.exp(-5 * v)
        here = costs @ xi + penalties @ v
        assert_allclose(here, linear_program(Phi, SIGNS, costs, penalties), rtol=1e-7)
        # exact zeros
        assert np.abs(u[u != 0]).min() > 1e-10
        assert np.count_nonzero(u) <= np.count_nonzero(first.weights)

    def test_both_solvers_find_the_same(self):
        models = [model(solver=solver).fit(X, y) for solver in ("interior_point", "simplex")]
        assert_allclose(*[m.objective_ for m in models], rtol=1e-9)
        assert_allclose(*[m.decision_function(X) for m in models], atol=1e-6)

    @both
    @pytest.mark.parametrize("C", [0.5, 10.0, 1e4])
    def test_the_reduced_kernel_has_the_same_optimum(self, C, solver):
        """Remark 4.4; also where rows and candidates are there several times and on a lattice."""
        lattice = np.round(2 * X) / 2
        for rows in (X, lattice, np.hstack([X, X])):
            m = model(C, solver=solver).fit(rows, y)
            (reduced,) = m.reduced_kernels_
            assert reduced.shape == (m.n_constraints_, m.n_vectors_)
            assert_allclose(reduced.solve(1e-11).primal_value, reduced.objective, rtol=1e-9)
            if reduced.shape[1]:
                by_highs = linear_program(
                    reduced.matrix(), reduced.y, reduced.costs, reduced.penalties
                )
                assert_allclose(by_highs, reduced.objective, rtol=1e-7)

    def test_checkerboard(self):
        """Section 5.1: at most 33 vectors, at least 96.5 % of the grid."""
        board, colours = make_checkerboard(1000, random_state=1)
        m = model(100.0, n_candidates=1.0).fit(board, colours)
        assert m.n_vectors_ <= 33
        assert m.n_vectors_ + m.n_constraints_ < 100
        assert m.score(*checkerboard_grid()) >= 0.965


class TestLeaveOneOut:
    @pytest.mark.parametrize("C", [0.3, 3.0, 100.0])
    def test_bound_holds_for_the_linear_program(self, C):
        n = 40
        rows, signs = X[:n], SIGNS[:n]
        m = model(C).fit(rows, y[:n])
        wrong = 0
        for i in range(n):
            rest = np.arange(n) != i
            Phi = Gaussian(1.0)(rows[rest], rows[rest])
            s = hinge_lasso(Phi, signs[rest], C)
            score = Gaussian(1.0)(rows[i : i + 1], rows[rest]) @ s.weights + s.intercept
            wrong += signs[i] * score[0] <= 0
        assert wrong / n <= m.loo_error_bound_ < 1
        assert_allclose(m.loo_error_bound_ + m.loo_correctness_bound_, 1.0)
        # (13), counted
        s = hinge_lasso(Gaussian(1.0)(rows, rows), signs, C)
        assert_allclose(m.loo_error_bound_, np.mean((s.multipliers > 0) | (s.weights != 0)))

    def test_a_row_of_many_classes_counts_once(self):
        m = model(gamma=0.5).fit(IRIS, SPECIES)
        marked = np.zeros(len(np.unique(IRIS, axis=0)), dtype=bool)
        distinct, weights = np.unique(IRIS, axis=0, return_counts=True)
        codes = [SPECIES[np.all(row == IRIS, axis=1)][0] for row in distinct]
        for k in range(3):
            signs = np.where(np.array(codes) == k, 1.0, -1.0)
            s = hinge_lasso(Gaussian(0.5)(distinct, distinct), signs, 10.0 * weights)
            marked |= (s.multipliers > 0) | (s.weights != 0)
        assert_allclose(m.loo_error_bound_, weights[marked].sum() / 150)


class TestCandidates:
    def test_how_many(self):
        assert n_candidates_of(None, 500) == 500
        assert n_candidates_of(None, 1000) == 200
        assert n_candidates_of(None, 10**6) == 500
        assert n_candidates_of(30, 1000) == 30
        assert n_candidates_of(3000, 1000) == 1000
        assert n_candidates_of(0.25, 1000) == 250
        assert n_candidates_of(1.0, 1000) == 1000
        for bad in (0, -1, 0.0, 1.5, "all", True):
            with pytest.raises(ValueError, match="n_candidates"):
                n_candidates_of(bad, 10)

    def test_vectors_are_rows_among_the_candidates(self):
        m = model(n_candidates=10).fit(X, y)
        assert 0 < m.n_vectors_ <= 10
        assert all((z == X).all(axis=1).any() for z in m.vectors_)
        others = model(n_candidates=10, random_state=1).fit(X, y)
        assert not np.array_equal(m.vectors_, others.vectors_)

    def test_rows_without_weight_are_none(self):
        weights = (np.arange(len(X)) % 2).astype(float)
        m = model().fit(X, y, sample_weight=weights)
        assert m.machine_ == model().fit(X[1::2], y[1::2]).machine_
        assert all((z == X[1::2]).all(axis=1).any() for z in m.vectors_)


class TestEstimator:
    def test_many_classes_share_the_pool_of_vectors(self):
        m = model(gamma=0.5).fit(IRIS, SPECIES)
        assert m.score(IRIS, SPECIES) > 0.95
        assert m.machine_.n_outputs == 3
        assert m.n_vectors_ <= m.n_coefficients_ == np.count_nonzero(m.machine_.coefficients)
        assert len(m.history_) == len(m.reduced_kernels_) == 3
        for k in range(3):
            one = model(gamma=0.5).fit(IRIS, k == SPECIES)
            assert_allclose(m.decision_function(IRIS)[:, k], one.decision_function(IRIS), atol=1e-9)

    def test_weights_equal_repetition(self):
        weights = np.random.default_rng(0).integers(0, 4, len(X))
        weighted = model().fit(X, y, sample_weight=weights)
        repeated = model().fit(np.repeat(X, weights, axis=0), np.repeat(y, weights))
        assert weighted.machine_ == repeated.machine_
        assert weighted.loo_error_bound_ == repeated.loo_error_bound_
        by_class = model(class_weight={0: 2.0}).fit(X, y)
        assert by_class.machine_ == model().fit(X, y, np.where(y == 0, 2.0, 1.0)).machine_

    def test_labels_frames_sparse_and_single_precision(self):
        plain = model().fit(X, y)
        names = np.array(["no", "yes"])
        frame = pd.DataFrame(X, columns=["a", "b"])
        named = model().fit(frame, names[y])
        assert_array_equal(named.predict(frame), names[plain.predict(X)])
        csr = model().fit(sparse.csr_matrix(X), y)
        assert_allclose(csr.decision_function(sparse.csr_matrix(X)), plain.decision_function(X))
        single = model().fit(X.astype(np.float32), y)
        assert_allclose(single.score(X, y), plain.score(X, y), atol=0.02)

    def test_refits_copies_and_searches(self):
        m = model()
        first = m.fit(X, y).machine_
        assert m.fit(X, y).machine_ == first
        assert clone(m).fit(X, y).machine_ == first
        loaded = pickle.loads(pickle.dumps(m))
        assert_array_equal(loaded.decision_function(X), m.decision_function(X))
        search = GridSearchCV(model(), {"C": [1.0, 10.0], "mu": [1.0, 5.0]}, cv=3).fit(X, y)
        assert search.best_score_ > 0.8

    @pytest.mark.parametrize(
        ("parameters", "word"),
        [({"C": 0.0}, "C"), ({"mu": -1.0}, "mu"), ({"alpha": 0.0}, "alpha"),
         ({"max_iter": 0}, "max_iter"), ({"tol": 0.0}, "tol"), ({"max_kept": 0}, "max_kept"),
         ({"solver": "guess"}, "solver"), ({"n_candidates": 0}, "n_candidates")],
    )  # fmt: skip
    def test_bad_parameters_are_named(self, parameters, word):
        with pytest.raises(ValueError, match=word):
            model(**parameters).fit(X, y)

    def test_an_early_end_warns(self):
        with pytest.warns(ConvergenceWarning, match="1 of 1 machines .* after 1 linear program"):
            m = model(max_iter=1).fit(X, y)
        assert len(m.history_[0]) == 2
        assert m.score(X, y) > 0.8

    def test_no_vector_left_warns(self):
        with pytest.warns(UserWarning, match=r"the same for all rows: .* larger C \(now 0.0001\)"):
            m = model(1e-4).fit(X, y)
        assert m.n_vectors_ == 0
        assert len(np.unique(m.predict(X))) == 1

    def test_steps_are_printed(self, capsys):
        m = model(verbose=1).fit(X, y)
        lines = capsys.readouterr().err.splitlines()
        assert len(lines) == m.n_iter_ - 1
        assert "linear program   1" in lines[0]

    def test_interrupt_leaves_a_usable_model(self, monkeypatch):
        calls = 0
        step = SuccessiveLinearisation.step

        def interrupted(self, at):
            nonlocal calls
            calls += 1
            if calls == 2:
                raise KeyboardInterrupt
            return step(self, at)

        monkeypatch.setattr(SuccessiveLinearisation, "step", interrupted)
        with pytest.warns(ConvergenceWarning, match="Ctrl-C"):
            m = model(gamma=0.5).fit(IRIS, SPECIES)
        assert m.interrupted_
        assert m.score(IRIS, SPECIES) > 0.9

    def test_a_callback_can_end_the_fit(self):
        if not HAS_CALLBACKS:
            assert not hasattr(model(), "set_callbacks")
            return

        class Stop:
            n = 0

            def setup(self, estimator, context):
                pass

            def teardown(self, estimator, context):
                pass

            def on_fit_task_begin(self, estimator, context):
                pass

            def on_fit_task_end(self, estimator, context, *, fitted_estimator=None):
                if context.task_name == "step":
                    self.n += 1
                    self.score = fitted_estimator.score(X, y)
                    return True
                return None

        stop = Stop()
        with pytest.warns(ConvergenceWarning, match="callback"):
            m = model().set_callbacks(stop).fit(X, y)
        assert stop.n == 1 == len(m.history_[0]) - 1
        assert stop.score > 0.8


class TestStream:
    def batches(self, n=12, size=300):
        return [make_banana(size, random_state=seed) for seed in range(n)]

    def test_error_and_memory_are_those_of_a_batch(self):
        test = make_banana(5000, random_state=100)
        stream = model(1.0, max_kept=400, n_candidates=60)
        sizes = []
        for rows, labels in self.batches():
            stream.partial_fit(rows, labels)
            sizes.append(len(stream._kept.codes))
        assert stream.n_rows_seen_ == 12 * 300
        assert max(sizes) <= 400
        rows, labels = (np.concatenate(part) for part in zip(*self.batches(), strict=True))
        batch = model(1.0, n_candidates=60).fit(rows, labels)
        assert stream.score(*test) > batch.score(*test) - 0.01

    def test_the_first_batch_is_a_fit(self):
        assert model().partial_fit(X, y).machine_ == model().fit(X, y).machine_

    def test_goes_on_after_fit_and_is_repeatable(self):
        runs = [model().fit(X, y).partial_fit(*make_banana(100, random_state=1)) for _ in range(2)]
        assert runs[0].machine_ == runs[1].machine_
        assert runs[0].n_rows_seen_ == 220
        assert runs[0].machine_ != model().fit(X, y).machine_

    def test_keeps_the_rows_that_matter(self):
        m = model(max_kept=50).fit(X, y)
        (reduced,) = m.reduced_kernels_
        kept = m._kept
        for z in m.vectors_:
            assert (kept.X[kept.is_vector] == z).all(axis=1).any()
        free = m.n_vectors_ + 1
        on_margin = np.abs(np.abs(m.decision_function(kept.X)) - 1.0) < 1e-7
        assert on_margin.sum() >= min(free, reduced.shape[0])

    def test_classes_may_come_later(self):
        order = np.argsort(SPECIES, kind="stable")
        m = model(gamma=0.5, n_candidates=1.0)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            for part in np.array_split(order, 6):
                m.partial_fit(IRIS[part], SPECIES[part], classes=[0, 1, 2])
        assert m.score(IRIS, SPECIES) > 0.9

    def test_sparse_batches_and_weights(self):
        dense, csr = model(), model()
        for rows, labels in self.batches(3, 60):
            weights = np.arange(60) % 3
            dense.partial_fit(rows, labels, sample_weight=weights)
            csr.partial_fit(sparse.csr_matrix(rows), labels, sample_weight=weights)
        assert_allclose(csr.decision_function(X), dense.decision_function(X), rtol=1e-6)

    def test_mistakes_are_named(self):
        with pytest.raises(ValueError, match="classes"):
            model().partial_fit(X[:3], [0, 0, 0])
        with pytest.raises(ValueError, match="balanced"):
            model(class_weight="balanced").partial_fit(X, y)
        m = model().partial_fit(X, y)
        with pytest.raises(ValueError, match="does not name"):
            m.partial_fit(X, y + 1)
        with pytest.raises(ValueError, match="as in the first call"):
            m.partial_fit(X, y, classes=[0, 1, 2])

    def test_a_model_from_a_file_has_no_rows_to_go_on_from(self, tmp_path):
        model().fit(X, y).save(tmp_path / "model.kernelet")
        loaded = load(tmp_path / "model.kernelet")
        assert_allclose(loaded.decision_function(X), model().fit(X, y).decision_function(X))
        with pytest.raises(ValueError, match="pickle"):
            loaded.partial_fit(X, y)

    def test_what_is_kept_stands_for_all(self):
        rng = np.random.default_rng(0)
        n = 300
        rows = Kept(
            rng.normal(size=(n, 2)), np.arange(n) % 2, rng.uniform(0.5, 1.5, n), np.arange(n) < 5
        )
        margins, costs = rng.uniform(-1.0, 3.0, (n, 1)), np.ones((n, 1))
        multipliers = np.where(margins < 1.0, costs, 0.0)
        drawn = [
            retire(rows, multipliers, costs, margins, 100, np.random.RandomState(seed))
            for seed in range(200)
        ]
        assert {kept.codes.size for kept in drawn} == {100}
        assert all(kept.is_vector.sum() == 5 for kept in drawn)
        total = np.mean([kept.weights.sum() for kept in drawn])
        assert_allclose(total, rows.weights.sum(), rtol=0.02)
        moment = np.mean([kept.weights @ kept.X for kept in drawn], axis=0)
        assert_allclose(moment, rows.weights @ rows.X, atol=6.0)
        # and no more than four times as many rows as there are
        heavy = Kept(rows.X, rows.codes, 1e3 * rows.weights, rows.is_vector)
        kept = retire(heavy, multipliers, costs, margins, 100, np.random.RandomState(0))
        assert_allclose(kept.weights.sum(), 400.0)

    def test_chances_add_up_and_none_is_above_one(self):
        score = np.array([100.0, 5.0, 1.0, 1.0, 1.0, 0.5])
        for size in range(1, 6):
            chance = inclusion(score, size)
            assert_allclose(chance.sum(), size)
            assert chance.max() <= 1.0
            uncertain = chance < 1.0
            assert_allclose(np.ptp((chance / score)[uncertain]), 0.0, atol=1e-12)
