"""C="auto": how rows are divided, the path over costs, and what users see of it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import make_blobs
from sklearn.exceptions import ConvergenceWarning

from interrupts import ctrl_c_in, interrupt_after, watch_evaluations
from kernelet import load
from kernelet.datasets import make_banana
from kernelet.kernels import Gaussian
from kernelet.learners import SparseKernelRidge, SparseSVC, SparseSVR
from kernelet.learners.direct import learn as direct_learn
from kernelet.learners.direct.kernel_learning.choice import KernelTask
from kernelet.learners.direct.problems.ridge import RidgeProblem
from kernelet.learners.direct.problems.svm import SVMProblem
from kernelet.learners.direct.search import cost_path
from kernelet.learners.direct.search.cost_path import choose_cost, divided
from kernelet.learners.direct.search.learn import SearchStart, search_vectors
from kernelet.learners.direct.search.objective import JointEvaluation
from kernelet.learners.direct.search.rows import RowsInMemory
from kernelet.subspace import seed_vectors

X, y = make_banana(200, random_state=0)
POWERS = [float(f"1e{k}") for k in range(-3, 6)]


class TestDivision:
    def test_rows_are_held_out_once_where_they_are_many(self):
        ((kept, held),) = divided(np.ones(1000), 0)
        assert held.index.size == 250 and kept.index.size == 750
        assert_array_equal(np.sort(np.append(kept.index, held.index)), np.arange(1000))
        assert (kept.shares == 1.0).all() and (held.shares == 1.0).all()

    def test_few_rows_are_held_out_in_turn(self):
        parts = divided(np.ones(101), 0)
        assert len(parts) == 4
        held = np.concatenate([part.index for _, part in parts])
        assert_array_equal(np.sort(held), np.arange(101))
        for kept, out in parts:
            assert_array_equal(np.sort(np.append(kept.index, out.index)), np.arange(101))

    def test_no_more_than_4000_rows(self):
        ((kept, held),) = divided(np.ones(100_000), 0)
        assert held.index.size == 1000 and kept.index.size == 3000

    @pytest.mark.parametrize("unit", [1.0])
    def test_repeated_rows_are_split(self, unit):
        """As if they were there one by one: each part has its share of the weight."""
        counts = np.random.default_rng(0).integers(1, 6, 40)
        parts = divided(unit * counts, 0)
        assert len(parts) == 4
        some_are_split = False
        for kept, held in parts:
            total = np.zeros(40)
            total[kept.index] += kept.shares * counts[kept.index]
            total[held.index] += held.shares * counts[held.index]
            assert_allclose(total, counts)
            assert abs((held.shares * counts[held.index]).sum() - counts.sum() / 4) < 1.0
            some_are_split |= bool(np.intersect1d(kept.index, held.index).size)
        assert some_are_split

    def test_weights_that_are_no_counts_are_not_split(self):
        weights = np.random.default_rng(0).uniform(0.5, 3.0, 40)
        for kept, held in divided(weights, 0):
            assert not np.intersect1d(kept.index, held.index).size
            assert (kept.shares == 1.0).all() and (held.shares == 1.0).all()

    def test_the_seed_draws_the_rows(self):
        first, again, other = (divided(np.ones(300), seed)[0][1].index for seed in (0, 0, 1))
        assert_array_equal(first, again)
        assert set(first) != set(other)


def squared_hinge(rows, labels):
    return SVMProblem((2.0 * labels - 1.0)[:, None], np.ones(len(rows)), "squared_hinge", 1e-6)


def chosen(rows, problem, kernel, m=6, first=1.0, costs=None, **options):
    """The cost chosen for vectors searched for by ridge or squared hinge, the kernel given."""
    weights = np.ones(rows.shape[0])

    def search(index, part, vectors, found):
        if costs is not None:
            costs.append(float(np.median(part.C)))
        return search_vectors(
            RowsInMemory(rows[index], weights[index], part),
            KernelTask(kernel),
            SearchStart(vectors),
            max_iter=100,
            tol=3e-2,
            **options,
        )

    start = seed_vectors(rows, m, "kmeans", kernel, 0)
    return choose_cost(rows, weights, problem, start, search, 0, first)


class TestPath:
    def test_too_few_rows_keep_the_first_cost(self):
        for n in range(2, 8):
            calls = []
            end = choose_cost(
                X[:n], np.ones(n), None, X[:2], lambda *given, calls=calls: calls.append(1), 0, 7.0
            )
            assert end.cost == 7.0 and end.kernel is None and not end.interrupted
            assert calls == []

    def test_noise_asks_for_a_lower_cost(self):
        rng = np.random.default_rng(0)
        rows = rng.normal(size=(200, 2))
        clean = np.sin(2.0 * rows[:, :1]) * np.cos(rows[:, 1:])
        noisy = clean + 3.0 * rng.normal(size=(200, 1))
        kernel = Gaussian(0.5)
        costs = [
            chosen(rows, RidgeProblem(values, np.ones(200)), kernel, 20).cost
            for values in (clean, noisy)
        ]
        assert costs[1] < 0.05 * costs[0]
        assert set(costs) <= set(POWERS)

    def test_each_cost_is_no_worse_on_rows_held_out(self):
        """The risk, recomputed from the machines themselves."""
        problem = squared_hinge(X, y)
        kernel, costs = Gaussian(0.5), []
        end = chosen(X, problem, kernel, costs=costs)
        assert costs[0] == 1.0
        assert len(set(costs)) <= cost_path._SEARCHES
        assert end.cost in costs

        def risk(cost):
            total = 0.0
            start = seed_vectors(X, 6, "kmeans", kernel, 0)
            for kept, held in divided(np.ones(200), 0):
                part = problem.subset(kept.index, cost * kept.shares)
                near = RowsInMemory(X[kept.index], np.ones(kept.index.size), part)
                best = search_vectors(
                    near, KernelTask(kernel), SearchStart(start), max_iter=100, tol=3e-2
                ).best
                scores = best.machine.decision_function(X[held.index]).reshape(-1, 1)
                total += problem.subset(held.index, held.shares).loss(scores)
            return total

        # new searches, from the start and not from a nearby cost, differ by some per cent
        assert risk(end.cost) <= 1.05 * min(risk(cost) for cost in (0.1, 1.0, 10.0, 100.0))

    def test_the_first_cost_is_where_it_begins(self):
        costs = []
        end = chosen(X, squared_hinge(X, y), Gaussian(0.5), first=100.0, costs=costs)
        assert costs[0] == 100.0
        assert end.cost <= 100.0

    def test_costs_stay_within_their_bounds(self, monkeypatch):
        """Where each cost is better than the last, in either direction; written as they are."""
        for sign, end in ((-1.0, 1e5), (1.0, 1e-3)):
            monkeypatch.setattr(
                cost_path._Path, "_risk", lambda path, c, s=sign: 1e6 * c ** (0.3 * s)
            )
            assert chosen(X, squared_hinge(X, y), Gaussian(0.5)).cost == end

    def test_a_risk_that_is_nothing_asks_for_no_higher_cost(self, monkeypatch):
        """Below a thousandth of the first, each tenth of a risk is as good as the last."""
        monkeypatch.setattr(cost_path._Path, "_risk", lambda path, c: 1e6 / c**2)
        assert chosen(X, squared_hinge(X, y), Gaussian(0.5)).cost == 100.0

    def test_sparse_rows(self):
        problem = squared_hinge(X, y)
        dense = chosen(X, problem, Gaussian(0.5))
        csr = chosen(sparse.csr_array(X), problem, Gaussian(0.5))
        assert csr.cost == dense.cost

    def test_ctrl_c_in_the_first_search(self):
        """Its cost and what it found are kept."""
        with pytest.MonkeyPatch.context() as patch:
            ctrl_c_in(patch, 4, most=2)
            end = chosen(X, squared_hinge(X, y), Gaussian(0.5))
        assert end.interrupted
        assert end.cost == 1.0

    def test_ctrl_c_in_a_later_search_keeps_the_cost_before(self):
        noisy = np.random.default_rng(1).integers(0, 2, 200)  # for which 1 is too much
        problem, costs = squared_hinge(X, noisy), []
        assert chosen(X, problem, Gaussian(0.5), costs=costs).cost < 1.0
        n_first = costs.count(1.0)
        assert 0 < n_first < len(costs)
        seen = []

        def interrupting(index, part, vectors, found):
            seen.append(1)
            end = search_vectors(
                RowsInMemory(X[index], np.ones(len(index)), part),
                KernelTask(Gaussian(0.5)),
                SearchStart(vectors),
                max_iter=100,
                tol=3e-2,
            )
            return replace(end, interrupted=True) if len(seen) > n_first else end

        start = seed_vectors(X, 6, "kmeans", Gaussian(0.5), 0)
        end = choose_cost(X, np.ones(200), problem, start, interrupting, 0)
        assert end.interrupted
        assert end.cost == 1.0
        assert len(seen) == n_first + 1

    @pytest.mark.parametrize("place", ["descend_from", "search"])
    def test_ctrl_c_between_searches(self, monkeypatch, place):
        def interrupted(self, cost):
            raise KeyboardInterrupt

        monkeypatch.setattr(cost_path._Path, place, interrupted)
        end = chosen(X, squared_hinge(X, y), Gaussian(0.5))
        assert end.interrupted
        assert end.cost == 1.0
        assert (end.kernel is None) == (place == "search")


MAKERS = {
    "svc": lambda **o: SparseSVC(5, **{"random_state": 0, **o}),
    "svc, hinge": lambda **o: SparseSVC(5, **{"loss": "hinge", "random_state": 0, **o}),
    "svc, per class": lambda **o: SparseSVC(3, **{"vectors": "per_class", "random_state": 0, **o}),
    "ridge": lambda **o: SparseKernelRidge(5, **{"random_state": 0, **o}),
    "svr": lambda **o: SparseSVR(5, **{"C": "auto", "random_state": 0, **o}),
    "quantile": lambda **o: SparseSVR(
        5, **{"C": "auto", "loss": "quantile", "random_state": 0, **o}
    ),
}
each = pytest.mark.parametrize("make", MAKERS.values(), ids=MAKERS)


class TestEstimators:
    @each
    def test_the_cost_is_kept_as_an_attribute(self, make, tmp_path):
        m = make().fit(X, y)
        assert m.C_ in POWERS and type(m.C_) is float
        assert m.C == "auto"
        given = make(C=3).fit(X, y)
        assert given.C_ == 3.0 and type(given.C_) is float
        assert given.C == 3
        m.save(tmp_path / "m.kernelet")
        loaded = load(tmp_path / "m.kernelet")
        assert loaded.C_ == m.C_ and loaded.C == "auto"

    @each
    def test_fit_changes_no_parameter(self, make):
        m = make()
        before = m.get_params()
        assert m.fit(X, y).get_params() == before
        copy = clone(m)
        assert copy.get_params() == before
        assert not hasattr(copy, "C_")
        assert copy.fit(X, y).machine_ == m.machine_
        assert m.fit(X, y).machine_ == copy.machine_

    @each
    def test_a_bad_cost_is_named(self, make):
        words = """C must be a finite number above zero, or "auto"; got 'nonsense'."""
        with pytest.raises(ValueError, match=words):
            make(C="nonsense").fit(X, y)
        for cost in (0.0, -1.0, np.nan, np.inf, None):
            with pytest.raises(ValueError, match=f"C must be a finite number.*; got {cost}"):
                make(C=cost).fit(X, y)

    @each
    def test_weights_are_repetitions(self, make):
        times = np.random.default_rng(0).integers(0, 4, 200)
        weighted = make().fit(X, y, sample_weight=times)
        repeated = make().fit(np.repeat(X, times, axis=0), np.repeat(y, times))
        assert weighted.C_ == repeated.C_
        assert weighted.machine_ == repeated.machine_

    def test_noisy_labels_get_a_lower_cost(self):
        rng = np.random.default_rng(0)
        rows = rng.normal(size=(400, 2))
        clean = (rows[:, 0] * rows[:, 1] > 0.0).astype(int)
        noisy = np.where(rng.uniform(size=400) < 0.4, 1 - clean, clean)
        costs = [SparseSVC(10, random_state=0).fit(rows, labels).C_ for labels in (clean, noisy)]
        assert costs[1] < costs[0]

    def test_a_model_at_the_cost_chosen_is_as_good(self):
        for make in (MAKERS["svc"], MAKERS["ridge"]):
            m = make().fit(X, y)
            given = make(C=m.C_).fit(X, y)
            # the search starts where that for the cost ended
            assert_allclose(m.objective_, given.objective_, rtol=0.1)

    @pytest.mark.parametrize("vectors", ["shared", "per_class"])
    def test_hinge_losses_begin_with_the_squared_hinge(self, monkeypatch, vectors):
        """Also where the cost is searched for and the kernel is given."""
        seen = watch_evaluations(monkeypatch)
        SparseSVC(5, loss="hinge", vectors=vectors, learn_kernel=False, random_state=0).fit(X, y)
        assert isinstance(seen[0], JointEvaluation)
        assert not isinstance(seen[-1], JointEvaluation)

    def test_a_warm_start_goes_on_from_the_cost_before(self, monkeypatch):
        m = SparseSVC(5, warm_start=True, random_state=0).fit(X, y)
        firsts, choose = [], direct_learn.choose_cost

        def recorded(*arguments):
            firsts.append(arguments[-1])
            return choose(*arguments)

        monkeypatch.setattr(direct_learn, "choose_cost", recorded)
        before = m.C_
        m.fit(X, y)
        assert firsts == [before]
        SparseSVC(5, random_state=0).fit(X, y)
        assert firsts[1] == 1.0

    def test_two_rows(self):
        with pytest.warns(UserWarning, match="2 are used"):
            m = SparseSVC(5).fit([[0.0], [1.0]], [0, 1])
        assert m.C_ == 1.0
        assert_array_equal(m.predict([[-0.1], [1.1]]), [0, 1])

    def test_a_class_that_is_not_held_out(self):
        """Or not kept: a single row of it."""
        labels = np.where(np.arange(200) == 17, 2, y)
        for parameters in ({}, {"vectors": "per_class"}, {"loss": "hinge"}):
            m = SparseSVC(5, random_state=0, **parameters).fit(X, labels)
            assert m.C_ > 0.0
            assert np.isfinite(m.decision_function(X)).all()

    @each
    @pytest.mark.parametrize("number", [1, 3, 10])
    def test_ctrl_c_leaves_a_usable_model(self, monkeypatch, make, number):
        seen = ctrl_c_in(monkeypatch, number, most=15)
        with pytest.warns(ConvergenceWarning, match="interrupted"):
            m = make().fit(X, y)
        assert m.interrupted_ is True
        assert m.C_ == 1.0
        assert len(seen) >= number - 1
        assert np.isfinite(m.predict(X)).all()

    def test_ctrl_c_while_a_risk_is_computed(self, monkeypatch):
        def interrupted(self, cost):
            raise KeyboardInterrupt

        monkeypatch.setattr(cost_path._Path, "descend_from", interrupted)
        with pytest.warns(ConvergenceWarning, match="interrupted"):
            m = SparseSVC(5, random_state=0).fit(X, y)
        assert m.interrupted_ is True and m.C_ == 1.0
        assert m.score(X, y) > 0.8

    def test_ctrl_c_again_is_passed_on(self, monkeypatch):
        interrupt_after(monkeypatch, 3)
        with pytest.raises(KeyboardInterrupt):
            SparseSVC(5, random_state=0).fit(X, y)


class TestWeights:
    X, y = make_blobs(200, centers=2, cluster_std=3.0, random_state=0)

    @pytest.mark.parametrize(
        "weights",
        [
            np.r_[1e-9, np.ones(199)],
            np.r_[1e-300, np.ones(199)],
            np.r_[1.0, np.full(199, 1e7)],
            np.full(200, 1e-6),
            np.full(200, 1e6),
        ],
        ids=["one light", "one next to nothing", "one of 1e7", "all light", "all heavy"],
    )
    def test_of_any_size(self, weights):
        """Neither memory nor the unit of weights stands in the way of a good cost."""
        m = SparseSVC(5, random_state=0).fit(self.X, self.y, sample_weight=weights)
        plain = SparseSVC(5, random_state=0).fit(self.X, self.y)
        assert m.score(self.X, self.y) > plain.score(self.X, self.y) - 0.05

    def test_fewer_rows_than_vectors(self):
        with pytest.warns(UserWarning, match="8 are used"):
            m = SparseSVC(random_state=0).fit(self.X[:8], np.arange(8) % 2)
        assert m.n_vectors_ == 8


def test_a_checkpoint_that_cannot_be_written_is_refused_at_once(tmp_path):
    for path in (tmp_path, tmp_path / "none" / "fit"):
        with pytest.raises(ValueError, match="is no file in a folder that exists"):
            SparseSVC(3, checkpoint=path).fit(*make_blobs(20, random_state=0))
