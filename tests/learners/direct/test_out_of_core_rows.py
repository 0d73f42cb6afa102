"""Searches over out-of-core rows: the samples they see, how these grow, and where they end."""

import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.base import clone

from interrupts import watch_evaluations
from kernelet import KernelFisherClassifier, SparseSVC
from kernelet.datasets import make_banana
from kernelet.kernels import Gaussian
from kernelet.learners.base.out_of_core import out_of_core_data
from kernelet.learners.direct.losses import find_loss
from kernelet.learners.direct.problems.fisher import ContrastBlockProblem
from kernelet.learners.direct.problems.svm import ClassProblem
from kernelet.learners.direct.search import joint_objective, samples
from kernelet.learners.direct.search.joint_objective import JointObjective
from kernelet.learners.direct.search.learn import SearchLimits, descend
from kernelet.learners.direct.search.marginal_objective import MarginalObjective, SampledObjective
from kernelet.learners.direct.search.samples import SampleInMemory, SampleOutOfCore
from kernelet.rows import LabelledBlocks, open_pieces
from kernelet.rows.nested_samples import NestedSamples
from kernelet.solvers.blocks.margins import Targets
from kernelet.subspace import WhitenedMap
from tests.rows.test_rows import cut, labelled

N, FIRST = 6000, 500
X, Y = make_banana(N, random_state=0)
WEIGHTS = np.random.default_rng(0).uniform(0.5, 2.0, N)
LENGTHS = [2500, 2500, 1000]
Z = X[:6].copy()
TARGETS = Targets.of_classes(2)
PROBLEMS = {
    "squared hinge": ClassProblem(TARGETS, 2.0, find_loss("squared_hinge"), 1e-10),
    "Fisher": ContrastBlockProblem(TARGETS, 1e-3),
}
each_problem = pytest.mark.parametrize("name", PROBLEMS)


def out_of_core(problem, n_sample=FIRST, rows=X, seed=0):
    pieces = [cut(column, LENGTHS) for column in (rows, Y, WEIGHTS)]
    data = out_of_core_data(SparseSVC(random_state=0), *pieces, n_sample=n_sample)
    return SampleOutOfCore(data, problem, seed, 6)


def in_memory(problem):
    return SampleInMemory(X, problem.over(Y, WEIGHTS), 0)


@pytest.fixture(autouse=True)
def small_sample(monkeypatch):
    """As if there were far more rows than the first sample has."""
    monkeypatch.setattr(out_of_core_data, "__defaults__", (None, None, FIRST))
    monkeypatch.setattr(joint_objective, "_FEWEST_ROWS", FIRST)
    monkeypatch.setattr(joint_objective, "_ROWS_PER_VECTOR", 1)


class TestNestedSamples:
    def nested(self, lengths=LENGTHS, seed=3, labels=Y):
        rows = labelled(open_pieces(cut(X, lengths), cut(labels, lengths)))
        return NestedSamples(rows, rows.sample(FIRST, 0), seed)

    def test_each_contains_the_one_before(self):
        nested = self.nested()
        for size in (1000, 2000, 4000, N):
            before = [set(mine.tolist()) for mine in nested.places]
            block = nested.grow(size)
            assert_allclose(nested.size, size, rtol=0.01)
            for mine, then in zip(nested.places, before, strict=True):
                assert then < set(mine.tolist())
                assert np.unique(mine).size == mine.size
            # what is brought back is what was missing
            assert block.index.size == nested.size - sum(map(len, before))
            assert_array_equal(block.X, X[block.index])
        assert nested.size == N and nested.grow(N) is None

    def test_rows_depend_on_the_size_alone(self):
        """Neither on the sizes on the way, nor on the pieces; but on the seed."""
        steps, at_once, pieces = self.nested(), self.nested(), self.nested([N // 2, N // 2])
        other = self.nested(seed=4)
        for size in (1000, 2000, 4000):
            steps.grow(size)
        for nested in (at_once, pieces, other):
            nested.grow(steps.size)
        for mine, here, there in zip(steps.places, at_once.places, pieces.places, strict=True):
            assert_array_equal(mine, here)
            assert_array_equal(mine, there)
        assert any(np.setdiff1d(a, b).size for a, b in zip(steps.places, other.places, strict=True))

    def test_they_are_fair(self):
        drawn = np.zeros(N)
        for seed in range(60):
            nested = self.nested(seed=seed)
            drawn[nested.grow(2000).index] += 1
        # those of the first sample, the same each time, cannot be drawn again
        first = self.nested()._rows.sample(FIRST, 0).block.index
        assert not drawn[first].any()
        free = np.delete(drawn, first)
        share = 1500 / (N - FIRST)
        assert_allclose(free.mean(), 60 * share, rtol=0.02)
        assert_allclose(free.var(), 60 * share * (1.0 - share), rtol=0.1)

    def test_a_rare_class_is_there(self):
        labels = np.where(np.arange(N) % 100 == 7, 2, Y)  # 60 rows
        nested = self.nested(labels=labels)
        assert nested.places[2].size == 60
        nested.grow(2000)
        assert nested.places[2].size == 60


class TestRows:
    @each_problem
    def test_a_sample_stands_for_all_rows(self, name):
        source = out_of_core(PROBLEMS[name])
        rows = source.take(FIRST)
        assert rows.shape == (source.n_least, 2)
        objective = MarginalObjective(rows, Gaussian(1.0), source.problem(len(rows)))
        whole = MarginalObjective(X, Gaussian(1.0), PROBLEMS[name].over(Y, WEIGHTS))
        assert_allclose(objective(Z).value, whole(Z).value, rtol=0.15)
        more = source.take(2 * FIRST)
        assert_allclose(len(rows) + len(more), 2 * FIRST, rtol=0.01)
        # rows and their labels belong together
        both = np.concatenate([rows, more])
        problem = source.problem(len(both))
        index = [int(np.flatnonzero((row == X).all(axis=1))[0]) for row in both]
        assert_array_equal(problem.Y, TARGETS.of(Y[index]))

    @each_problem
    @pytest.mark.parametrize("learn", ["features", "projection", "nothing"])
    def test_all_rows_are_those_in_memory(self, name, learn):
        found = []
        for source in (out_of_core(PROBLEMS[name]), in_memory(PROBLEMS[name])):
            objective = JointObjective(
                source, Gaussian(1.0), learn, 6, n_first=N, single=False, rank=2
            )
            assert objective.n_used == N and not objective.is_sample
            found.append(objective(Z))
        assert_allclose(found[0].value, found[1].value, rtol=1e-5)
        # the origin and the units of the features are those of weighted rows out of core
        assert_allclose(found[0].vectors, found[1].vectors, atol=1e-8)

    @each_problem
    def test_the_last_solve_is_over_all_rows(self, name):
        space = WhitenedMap.from_vectors(Gaussian(1.0), Z)
        found = out_of_core(PROBLEMS[name]).solve(space, None)
        expected = in_memory(PROBLEMS[name]).solve(space, None)
        assert_allclose(found.value, expected.value, rtol=1e-9)
        assert_allclose(found.weights, expected.weights, atol=1e-5)
        assert found.gap <= 1e-10

    def test_columns_are_known_from_all_rows(self):
        constant = np.column_stack([X, np.full(N, 0.1)])
        source = out_of_core(PROBLEMS["squared hinge"], rows=constant)
        assert_allclose(source.centre, np.average(constant, axis=0, weights=WEIGHTS), rtol=1e-12)
        mean = source.centre[:2]
        spread = np.sqrt(np.average((X - mean) ** 2, axis=0, weights=WEIGHTS))
        assert_allclose(source.spread, [*spread, 0.0], rtol=1e-10)

    def test_sparse_rows(self):
        kept = sparse.csr_array(np.where(X > 0.0, X, 0.0))
        source = out_of_core(PROBLEMS["squared hinge"], rows=kept)
        objective = JointObjective(source, Gaussian(1.0), "features", 6)
        at = objective.on_more_rows(objective(Z))
        assert_allclose(objective.n_used, 2 * FIRST, rtol=0.01)
        assert_allclose(at.value, objective.proven(at).value, rtol=0.15)
        assert objective.candidates(7, np.random.default_rng(0)).shape == (7, 2)


def search(objective, max_iter=200):
    sizes = []
    end = descend(
        objective,
        Z,
        SearchLimits(max_iter, tol=3e-3),
        on_step=lambda step: sizes.append(step.n_used),
    )
    return end, sizes


class TestSearch:
    @each_problem
    @pytest.mark.parametrize("kind", ["joint", "sampled"])
    def test_it_ends_as_low_as_in_memory(self, name, kind):
        ends = []
        for source in (out_of_core(PROBLEMS[name]), in_memory(PROBLEMS[name])):
            if kind == "joint":
                objective = JointObjective(source, Gaussian(1.0), "features", 6)
            else:
                objective = SampledObjective(source, Gaussian(1.0), 100)
            end, sizes = search(objective)
            assert end.converged
            ends.append(end)
            if len(ends) == 1:
                assert sizes[0] < 1.1 * FIRST and sizes == sorted(sizes) and sizes[-1] > sizes[0]
        assert_allclose(ends[0].best.value, ends[1].best.value, rtol=0.05)
        # W is that of all rows
        again = MarginalObjective(X, ends[0].best.kernel, PROBLEMS[name].over(Y, WEIGHTS))
        assert_allclose(ends[0].best.value, again(ends[0].best.vectors).value, rtol=1e-8)

    @pytest.mark.parametrize("kind", ["joint", "sampled"])
    @pytest.mark.parametrize("max_iter", [12, 300])
    def test_a_sample_that_cannot_grow_is_enough(self, kind, max_iter, monkeypatch):
        """The vectors are those of the largest sample, the machine that of all rows."""
        in_a_row = 2 * X.shape[1] + samples._ARRAYS * (6 + np.unique(Y).size)
        monkeypatch.setattr(samples, "_MOST_NUMBERS", in_a_row * 1300)
        source = out_of_core(PROBLEMS["squared hinge"])
        make = {
            "joint": lambda: JointObjective(source, Gaussian(1.0), "features", 6),
            "sampled": lambda: SampledObjective(source, Gaussian(1.0)),
        }[kind]
        objective = make()
        end, sizes = search(objective, max_iter)
        assert objective.is_sample and max(sizes) <= 1.01 * 1300
        assert max(sizes) > 1.01 * FIRST
        assert end.n_iter <= max_iter
        if max_iter == 300:
            assert end.converged
        again = MarginalObjective(X, end.best.kernel, source.whole.over(Y, WEIGHTS))
        assert_allclose(end.best.value, again(end.best.vectors).value, rtol=1e-8)


MODELS = {
    "features": SparseSVC(6, C=1.0, learn_kernel="features", tol=3e-3, random_state=0),
    "projection": SparseSVC(6, C=1.0, tol=3e-3, random_state=0),
    "fixed": SparseSVC(6, C=1.0, learn_kernel=False, tol=3e-3, random_state=0),
    "poly": SparseSVC(6, C=1.0, kernel="poly", coef0=1.0, tol=3e-3, random_state=0),
    "Fisher": KernelFisherClassifier(6, random_state=0),
    "Fisher, width": KernelFisherClassifier(6, learn_kernel=True, random_state=0),
}
TEST, TRUTH = make_banana(10_000, random_state=1)


def quietly(model, *rows):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return clone(model).fit(*rows)


class TestEstimators:
    @pytest.mark.parametrize("name", MODELS)
    def test_the_same_error_from_few_passes(self, name, monkeypatch):
        passes, total = [], LabelledBlocks.total

        def watched(self, function, called, single=False):
            passes.append(called)
            return total(self, function, called, single)

        monkeypatch.setattr(LabelledBlocks, "total", watched)
        here = quietly(MODELS[name], X, Y)
        there = quietly(MODELS[name], cut(X, LENGTHS), cut(Y, LENGTHS))
        assert_allclose(there.objective_, here.objective_, rtol=0.05)
        assert there.score(TEST, TRUTH) >= here.score(TEST, TRUTH) - 0.005
        # all steps are in memory: no pass pulls slopes back, and few solve the last problem
        assert set(passes) <= {"newton", "moments", "margins"}
        assert passes.count("newton") <= 8

    @pytest.mark.parametrize("name", ["features", "poly", "Fisher"])
    def test_a_fit_goes_on_with_the_same_sample(self, name, tmp_path, monkeypatch):
        rows = cut(X, LENGTHS), cut(Y, LENGTHS)
        model = clone(MODELS[name]).set_params(checkpoint=tmp_path / "fit.checkpoint")
        taken, take = [], SampleOutOfCore.take

        def watched(self, n):
            found = take(self, n)
            taken.append((self._codes.size, {tuple(mine) for mine in self._nested.places}))
            return found

        monkeypatch.setattr(SampleOutOfCore, "take", watched)

        class Stop(Exception):
            pass

        def before(number):
            # three samples, and a step on the last: there is something to go on with
            if len(taken) == 3 and number > before.since + 6:
                raise Stop
            if len(taken) < 3:
                before.since = number

        before.since = 0
        with monkeypatch.context() as patch:
            watch_evaluations(patch, before)
            with pytest.raises(Stop):
                quietly(model, *rows)
        last = taken[-1]
        taken.clear()
        resumed = quietly(model, *rows)
        assert taken[0] == last
        whole = quietly(MODELS[name], *rows)
        assert_allclose(resumed.objective_, whole.objective_, rtol=0.03)
