"""W over vectors and scales together: derivatives, precision, samples of the rows, and searches."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.datasets import make_friedman1
from sklearn.exceptions import ConvergenceWarning

from interrupts import ctrl_c_in, interrupt_after
from kernelet import load
from kernelet.datasets import make_banana
from kernelet.kernels import Gaussian, Matern52, RationalQuadratic, ScaledFeatures
from kernelet.learners import SparseKernelRidge, SparseSVC, SparseSVR
from kernelet.learners.direct.losses import squared_hinge
from kernelet.learners.direct.problems import interval as interval_problems
from kernelet.learners.direct.problems.fisher import ContrastProblem
from kernelet.learners.direct.problems.interval import SquaredIntervalProblem
from kernelet.learners.direct.problems.ridge import RidgeProblem
from kernelet.learners.direct.problems.svm import SVMProblem
from kernelet.learners.direct.search.joint_objective import JointObjective
from kernelet.learners.direct.search.learn import SearchLimits, descend
from kernelet.learners.direct.search.marginal_objective import MarginalObjective
from kernelet.learners.direct.search.objective import Place
from kernelet.learners.direct.search.samples import SampleInMemory
from kernelet.subspace import seed_vectors
from learner_oracles import central_differences, svm_objective

RNG = np.random.default_rng(0)
X = RNG.normal(size=(60, 3))
Z = RNG.normal(size=(4, 3))
TARGETS = np.sin(2.0 * X[:, :2]) + 0.2 * RNG.normal(size=(60, 2))
LABELS = np.where(TARGETS > 0.0, 1.0, -1.0)
C = RNG.uniform(0.5, 3.0, 60)
KERNELS = [Gaussian(0.4), Matern52(0.3), RationalQuadratic(0.4, 2)]
PROBLEMS = {
    "squared hinge": SVMProblem(LABELS, C, "squared_hinge", 1e-12),
    "ridge": RidgeProblem(TARGETS, C),
    "squared tube": SquaredIntervalProblem.tube(TARGETS[:, 0], C, 0.1, 1e-12),
    "Fisher contrast": ContrastProblem(LABELS, C, 0.1),
}
ROWS = {"dense": (X + 5.0, 5.0), "CSR": (sparse.csr_array(np.where(X > -0.5, X, 0.0)), 0.0)}
LOGS = {"features": np.array([-1.0, 0.3, 0.8]), "width": np.array([0.5]), "nothing": np.zeros(0)}

each_kernel = pytest.mark.parametrize("kernel", KERNELS, ids=repr)
each_problem = pytest.mark.parametrize("name", PROBLEMS)
each_part = pytest.mark.parametrize("learn", LOGS)


@pytest.fixture
def tight(monkeypatch):
    """Inner problems solved as finely as differences of W need."""
    for module in (squared_hinge, interval_problems):
        monkeypatch.setattr(module, "SEARCH_TOL", 1e-13)


def joint(rows, kernel, problem, learn, m=4, seed=0, **options):
    source = SampleInMemory(rows, problem, seed)
    return JointObjective(source, kernel, learn, m, **{"single": False, **options})


def place(objective, learn, vectors):
    return Place(LOGS[learn], objective.stage.coordinates(LOGS[learn], vectors))


@pytest.mark.usefixtures("tight")
class TestValueAndGradient:
    @each_kernel
    @each_problem
    @each_part
    @pytest.mark.parametrize("form", ROWS)
    def test_derivatives(self, kernel, name, learn, form):
        rows, offset = ROWS[form]
        objective = joint(rows, kernel, PROBLEMS[name], learn)
        start = place(objective, learn, Z + offset)
        split = start.parameters.size

        def value(z):
            moved = Place(z[:split], z[split:].reshape(Z.shape))
            return objective.at(moved).value

        at = objective.at(start)
        by_steps = central_differences(value, np.append(start.parameters, start.v), 1e-4)
        assert at.slopes.shape == (split + Z.size,)
        assert_allclose(at.slopes, by_steps, rtol=1e-5, atol=1e-6 * np.abs(by_steps).max())

    @each_kernel
    @each_problem
    @each_part
    @pytest.mark.parametrize("form", ROWS)
    def test_it_is_w_of_the_same_kernel_and_vectors(self, kernel, name, learn, form):
        rows, offset = ROWS[form]
        objective = joint(rows, kernel, PROBLEMS[name], learn)
        at = objective.at(place(objective, learn, Z + offset))
        assert_allclose(at.vectors, Z + offset, rtol=1e-12)
        other = MarginalObjective(rows, at.kernel, PROBLEMS[name])(at.vectors)
        assert_allclose(at.value - at.regulariser, other.value, rtol=1e-9)
        # coordinates are vectors times scales, so derivatives are those divided by them
        scales = np.broadcast_to(np.exp(0.5 * LOGS[learn]) if LOGS[learn].size else 1.0, 3)
        scales = scales * np.sqrt(abs(kernel.factor))
        there = at.gradient * scales
        assert_allclose(there, other.gradient, rtol=1e-5, atol=1e-6 * np.abs(other.gradient).max())
        # proven is W without the regulariser, in double precision, at the same place
        proven = objective.proven(at)
        assert_allclose(proven.value, other.value, rtol=1e-9)
        assert_array_equal(proven.vectors, at.vectors)

    @each_part
    def test_kernels_are_of_the_kind_that_is_learned(self, learn):
        kernel = joint(X, Gaussian(0.4), PROBLEMS["ridge"], learn).stage.kernel(LOGS[learn])
        if learn == "nothing":
            assert kernel == Gaussian(0.4)
        elif learn == "width":
            assert_allclose(kernel.gamma, 0.4 * np.exp(0.5))
        else:
            assert kernel == ScaledFeatures(Gaussian(0.4), tuple(np.exp(0.5 * LOGS[learn])))

    def test_the_regulariser_is_zero_for_equal_scales_alone(self):
        objective = joint(X, Gaussian(0.4), PROBLEMS["ridge"], "features")
        v = objective.stage.coordinates(np.zeros(3), Z)
        first = objective.at(Place(np.zeros(3), v))
        assert first.regulariser == 0.0
        assert objective.at(Place(np.full(3, 1.5), v)).regulariser == 0.0
        # in units of the first W: by the mean square about the mean
        spread = objective.at(Place(np.array([2.0, 2.0, -1.0]), v)).regulariser
        assert_allclose(spread, 0.03 * first.value * 2.0, rtol=1e-12)

    @each_kernel
    @each_problem
    @pytest.mark.parametrize("offset", [0.0, 5.0, 1e4])
    def test_single_precision(self, kernel, name, offset):
        evaluated = []
        for single in (False, True):
            objective = joint(X + offset, kernel, PROBLEMS[name], "features", single=single)
            evaluated.append(objective.at(place(objective, "features", Z + offset)))
        double, at = evaluated
        assert_allclose(at.value, double.value, rtol=1e-4)
        assert_allclose(at.slopes, double.slopes, atol=2e-3 * np.abs(double.slopes).max())

    @each_problem
    @pytest.mark.parametrize("single", [False, True])
    def test_far_from_the_origin(self, name, single):
        values = []
        for offset in (0.0, 1e4):
            objective = joint(X + offset, Gaussian(0.4), PROBLEMS[name], "features", single=single)
            values.append(objective.at(place(objective, "features", Z + offset)).value)
        # rows so far away keep twelve digits
        assert_allclose(values[1], values[0], rtol=1e-4 if single else 1e-9)

    @each_problem
    @each_kernel
    @pytest.mark.parametrize("single", [False, True])
    def test_units_of_features(self, name, kernel, single):
        """Features in other units, and scales that undo them: the same coordinates and slopes."""
        units = np.array([1e-8, 1.0, 1e8])
        given = joint(X + 5.0, kernel, PROBLEMS[name], "features", single=single)
        start = place(given, "features", Z + 5.0)
        scaled = joint((X + 5.0) * units, kernel, PROBLEMS[name], "features", single=single)
        at = given.at(start)
        other = scaled.at(Place(start.parameters - 2.0 * np.log(units), start.v))
        rtol = 1e-4 if single else 1e-9
        assert_allclose(other.value - other.regulariser, at.value - at.regulariser, rtol=rtol)
        slopes = [e.gradient for e in (other, at)]
        assert_allclose(*slopes, atol=20.0 * rtol * np.abs(slopes[1]).max())
        assert_allclose(other.vectors / units, at.vectors, rtol=1e-9)

    @pytest.mark.parametrize("factor", [1e-8, 1e8])
    def test_one_unit_for_all_features_and_gamma(self, factor):
        rows, labels = make_banana(300, random_state=0)
        ends = []
        for size in (1.0, factor):
            model = SparseSVC(5, C=1.0, gamma=0.5 / size**2, random_state=0)
            ends.append(model.fit(size * rows, labels))
        assert_allclose(ends[1].objective_, ends[0].objective_, rtol=1e-2)
        assert_allclose(
            ends[1].decision_function(factor * rows), ends[0].decision_function(rows), atol=0.05
        )

    @each_problem
    def test_constant_columns(self, name):
        rows = np.column_stack([X, np.full(60, 7.0), np.zeros(60), np.full(60, 0.1)])
        values = []
        for table, vectors in ((X, Z), (rows, np.hstack([Z, np.tile([7.0, 0.0, 0.1], (4, 1))]))):
            objective = joint(table, Gaussian(0.4), PROBLEMS[name], "features")
            logs = np.zeros(table.shape[1])
            logs[:3] = LOGS["features"]
            at = objective.at(Place(logs, objective.stage.coordinates(logs, vectors)))
            values.append(at.value - at.regulariser)
        assert_allclose(values[1], values[0], rtol=1e-9)
        # nothing but the regulariser moves their scales
        _, pull = objective.stage.penalty(logs)
        scale = at.regulariser / objective.stage.penalty(logs)[0]
        assert_allclose(at.slopes[3:6], scale * pull[3:], rtol=1e-9, atol=1e-12)
        assert_allclose(at.slopes[6:].reshape(4, 6)[:, 3:], 0.0, atol=1e-12)


class TestStart:
    LEARNED = ScaledFeatures(Gaussian(0.8), (0.5, 2.0, 1.0))

    def test_from_a_kernel_learned_before(self):
        objective = joint(X, Gaussian(0.4), PROBLEMS["ridge"], "features", learned=self.LEARNED)
        at = objective(Z)
        other = MarginalObjective(X, self.LEARNED, PROBLEMS["ridge"])(Z)
        assert_allclose(at.value - at.regulariser, other.value, rtol=1e-10)
        assert_allclose(at.vectors, Z)
        wide = joint(X, Gaussian(0.4), PROBLEMS["ridge"], "width", learned=Gaussian(0.8))
        assert_allclose(wide(Z).kernel.gamma, 0.8)

    @pytest.mark.parametrize(
        "learned",
        [
            Matern52(0.4),
            ScaledFeatures(Gaussian(0.4), (1e-3, 1.0, 1.0)),
            Gaussian(1e6),
            ScaledFeatures(Gaussian(0.4), (1.0, 2.0)),
        ],
        ids=repr,
    )
    def test_other_kernels_are_left(self, learned):
        """Of another kind, farther away than a search may go, of other rows."""
        objective = joint(X, Gaussian(0.4), PROBLEMS["ridge"], "features", learned=learned)
        assert_array_equal(objective.stage.parameters, np.zeros(3))

    def test_a_feature_left_out_begins_at_its_bound(self):
        learned = ScaledFeatures(Gaussian(0.4), (0.0, 1.0, 1.0))
        objective = joint(X, Gaussian(0.4), PROBLEMS["ridge"], "features", learned=learned)
        assert_allclose(objective.stage.parameters, [-np.log(1e4), 0.0, 0.0])

    def test_vectors_like_those_of_another_evaluation(self):
        objective = joint(X, Gaussian(0.4), PROBLEMS["ridge"], "features")
        at = objective.at(place(objective, "features", Z))
        assert objective(Z + 0.1, like=at).kernel == at.kernel
        assert objective(Z + 0.1).kernel == ScaledFeatures(Gaussian(0.4), (1.0, 1.0, 1.0))


BANANA, CLASSES = make_banana(3000, random_state=0)
SIGNS = (2.0 * CLASSES - 1.0)[:, None]


def banana_search(n_first=None, seed=0, learn="features", on_step=None, **options):
    problem = SVMProblem(SIGNS, np.ones(3000), "squared_hinge", 1e-6)
    objective = joint(
        BANANA, Gaussian(1.0), problem, learn, 6, n_first=n_first, seed=seed, **options
    )
    start = seed_vectors(BANANA, 6, "kmeans", Gaussian(1.0), 0)
    sizes = []

    def watch(step):
        sizes.append(objective.n_used)
        return None if on_step is None else on_step(step)

    end = descend(objective, start, SearchLimits(200, tol=3e-3), random_state=seed, on_step=watch)
    return objective, end, sizes


class TestSamples:
    def test_few_rows_are_all_used_at_once(self):
        _, end, sizes = banana_search()
        assert set(sizes) == {3000}
        assert end.converged

    @pytest.mark.parametrize("learn", ["features", "nothing"])
    @pytest.mark.parametrize("single", [False, True])
    def test_a_growing_sample_ends_as_low(self, learn, single):
        _, whole, _ = banana_search(learn=learn)
        for seed in range(3):
            objective, end, sizes = banana_search(150, seed, learn, single=single)
            assert sizes[0] == 150
            assert all(b in (a, 2 * a, 3000) for a, b in itertools.pairwise(sizes))
            assert objective.n_used == 3000
            assert end.converged
            # W is that of all rows, with a certificate
            assert end.best.gap <= 1e-6
            again = MarginalObjective(BANANA, end.best.kernel, objective.source.whole)
            assert_allclose(end.best.value, again(end.best.vectors).value, rtol=1e-5)
            assert_allclose(end.best.value, whole.best.value, rtol=0.05)

    def test_a_sample_stands_for_all_rows(self):
        objective, _, _ = banana_search(1000, on_step=lambda step: True)
        at = objective(seed_vectors(BANANA, 6, "kmeans", Gaussian(1.0), 0))
        assert at.row_losses.shape == (1000,)
        # costs are three times as high, so that W is that of all rows up to the sample's error
        assert_allclose(at.value, objective.proven(at).value, rtol=0.1)
        losses = at.row_losses.sum()
        norm = 0.5 * np.einsum(
            "ik,ij,jk->", at.coefficients, at.kernel(at.vectors, at.vectors), at.coefficients
        )
        assert_allclose(losses + norm, at.value - at.regulariser, rtol=1e-6)
        more = objective.on_more_rows(at)
        assert objective.n_used == 2000 and more.row_losses.shape == (2000,)
        assert_array_equal(more.place.v, at.place.v)
        rest = objective.on_more_rows(more)
        assert objective.n_used == 3000 and rest.row_losses is None
        assert objective.on_more_rows(rest) is None

    def test_gains_that_a_sample_cannot_tell_are_noise(self):
        objective, _, _ = banana_search(300, on_step=lambda step: True)
        Z = seed_vectors(BANANA, 6, "kmeans", Gaussian(1.0), 0)
        at, near, far = objective(Z), objective(Z + 1e-3), objective(Z + 2.0)
        low, high = sorted((at, near), key=lambda e: e.value)
        assert objective.is_noise(high, low)
        assert not objective.is_noise(far, at)
        objective.on_more_rows(at, all_rows=True)
        assert not objective.is_noise(objective(Z), objective(Z + 1e-3))

    def test_the_last_steps_are_on_all_rows(self):
        """Unless twice the rows gain almost nothing: here every step gains something."""
        problem = SVMProblem(SIGNS, np.ones(3000), "squared_hinge", 1e-6)
        objective = joint(BANANA, Gaussian(1.0), problem, "features", 6, n_first=150)
        start = seed_vectors(BANANA, 6, "kmeans", Gaussian(1.0), 0)
        sizes = []
        descend(
            objective,
            start,
            SearchLimits(8, tol=1e-9),
            on_step=lambda step: sizes.append((step.n_iter, objective.n_used)),
        )
        assert [n for step, n in sizes if step > 6] == [3000, 3000]

    def test_a_contrast_is_no_sum_and_takes_all_rows(self):
        objective = joint(X, Gaussian(0.4), PROBLEMS["Fisher contrast"], "nothing", n_first=10)
        assert objective.n_used == 60

    @pytest.mark.parametrize("single", [False, True])
    def test_same_seed_same_bits(self, single):
        (_, one, _), (_, two, _), (_, other, _) = (
            banana_search(150, seed, single=single) for seed in (0, 0, 1)
        )
        assert one.best.machine == two.best.machine
        assert one.history == two.history
        assert one.best.machine != other.best.machine

    @pytest.mark.parametrize("n", [1, 2, 5, 12])
    @pytest.mark.parametrize("n_first", [None, 150])
    def test_ctrl_c_keeps_the_best_point(self, n, n_first):
        with pytest.MonkeyPatch.context() as patch:
            seen = interrupt_after(patch, n)
            objective, end, _ = banana_search(n_first)
        assert end.interrupted and not end.converged
        assert len(seen) == n
        if n_first is None:
            best = min(seen, key=lambda at: at.value)
            assert_array_equal(end.best.vectors, best.vectors)
            assert end.best.kernel == best.kernel
        # on all rows, whatever the sample was
        again = MarginalObjective(BANANA, end.best.kernel, objective.source.whole)
        assert_allclose(end.best.value, again(end.best.vectors).value, rtol=1e-5)


ROWS_10, VALUES = make_friedman1(300, noise=1.0, random_state=0)
NEW, TRUTH = make_friedman1(1000, noise=1.0, random_state=1)


class TestEstimators:
    @pytest.mark.parametrize("gamma", [0.01, 0.1, 10.0])
    def test_a_bad_width_is_mended(self, gamma):
        # so wide a kernel is nearly linear at first: steps that a larger tol takes for the end
        options = {"C": 100.0, "gamma": gamma, "tol": 1e-3, "max_iter": 400, "random_state": 0}
        given = SparseKernelRidge(10, learn_kernel=False, **options).fit(ROWS_10, VALUES)
        learned = SparseKernelRidge(10, learn_kernel=True, **options).fit(ROWS_10, VALUES)
        assert given.kernel_gain_ == 0.0
        assert learned.kernel_gain_ > 0.2
        assert 0.05 < learned.machine_.kernel.gamma < 2.0
        assert learned.gamma == gamma
        assert learned.score(NEW, TRUTH) > given.score(NEW, TRUTH) + 0.02

    def test_the_gain_is_what_w_lies_below_that_of_the_kernel_given(self):
        options = {"C": 10.0, "gamma": 0.1, "random_state": 0}
        for learn in (True, "features"):
            m = SparseKernelRidge(6, learn_kernel=learn, **options).fit(ROWS_10, VALUES)
            problem = RidgeProblem(VALUES[:, None], np.full(300, 10.0))
            given = MarginalObjective(ROWS_10, Gaussian(0.1), problem)(m.vectors_).value
            assert_allclose(m.kernel_gain_, 1.0 - m.objective_ / given, rtol=1e-6)

    def test_a_width_that_leads_nowhere_stays(self):
        # so narrow that rows do not see each other
        model = SparseKernelRidge(10, C=1.0, gamma=1e6, learn_kernel=True, random_state=0)
        model.fit(ROWS_10, VALUES)
        assert model.kernel_gain_ < 1e-9
        assert_allclose(model.machine_.kernel.gamma, 1e6, rtol=1e-3)

    def test_scales_leave_noise_out(self):
        # of the ten features of Friedman 1 the last five are noise
        options = {"C": 10.0, "gamma": 0.1, "random_state": 0}
        one = SparseKernelRidge(10, learn_kernel=True, **options).fit(ROWS_10, VALUES)
        each = SparseKernelRidge(10, learn_kernel="features", **options).fit(ROWS_10, VALUES)
        assert each.kernel_gain_ > one.kernel_gain_
        assert 1.0 - each.score(NEW, TRUTH) < 0.7 * (1.0 - one.score(NEW, TRUTH))
        scales = np.array(each.machine_.kernel.scales)
        assert scales[:5].min() > 1.2 * scales[5:].max()
        default = SparseKernelRidge(10, **options).fit(ROWS_10, VALUES)
        assert default.machine_ == each.machine_

    @pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
    def test_scales_of_classifiers(self, loss):
        rows, labels = make_banana(200, random_state=0)
        noisy = np.hstack([rows, np.random.default_rng(0).normal(size=(200, 4))])
        options = {"C": 1.0, "gamma": 0.1, "loss": loss, "random_state": 0}
        each = SparseSVC(8, **options).fit(noisy, labels)
        assert max(each.machine_.kernel.scales[2:]) < 0.6 * min(each.machine_.kernel.scales[:2])
        new, truth = make_banana(1000, random_state=1)
        new = np.hstack([new, np.random.default_rng(1).normal(size=(1000, 4))])
        given = SparseSVC(8, learn_kernel=False, **options).fit(noisy, labels)
        assert each.score(new, truth) > given.score(new, truth) + 0.02

    @pytest.mark.parametrize("loss", ["epsilon_insensitive", "squared_epsilon_insensitive"])
    def test_support_vector_regression(self, loss):
        options = {"C": 10.0, "gamma": 0.01, "tol": 1e-2, "loss": loss, "random_state": 0}
        given = SparseSVR(10, learn_kernel=False, **options).fit(ROWS_10, VALUES)
        for learn in (True, "features"):
            learned = SparseSVR(10, learn_kernel=learn, **options).fit(ROWS_10, VALUES)
            assert learned.kernel_gain_ > 0.05
            assert learned.score(NEW, TRUTH) > given.score(NEW, TRUTH)

    def test_bits_weights_files_and_kernels(self, tmp_path):
        def make(**options):
            return SparseKernelRidge(5, **{"gamma": 0.05, "random_state": 0, **options})

        m = make().fit(ROWS_10, VALUES)
        assert make().fit(ROWS_10, VALUES).machine_ == m.machine_
        times = np.random.default_rng(0).integers(1, 3, 300)
        weighted = make().fit(ROWS_10, VALUES, sample_weight=times)
        repeated = make().fit(np.repeat(ROWS_10, times, axis=0), np.repeat(VALUES, times))
        assert weighted.machine_ == repeated.machine_
        assert weighted.C_ == repeated.C_
        m.save(tmp_path / "m.kernelet")
        loaded = load(tmp_path / "m.kernelet")
        assert loaded.kernel_gain_ == m.kernel_gain_ > 0.0
        assert loaded.C_ == m.C_
        assert loaded.machine_ == m.machine_
        assert make(kernel="matern52").fit(ROWS_10, VALUES).kernel_gain_ > 0.0
        for kernel in ("poly", "laplacian"):
            assert make(kernel=kernel).fit(ROWS_10, VALUES).kernel_gain_ == 0.0
            for learn in (True, "features"):
                with pytest.raises(ValueError, match="learns the width of a radial kernel"):
                    make(kernel=kernel, learn_kernel=learn).fit(ROWS_10, VALUES)

    def test_classes_with_vectors_of_their_own_keep_the_kernel(self):
        labels = np.digitize(VALUES, [10.0, 17.0])
        model = SparseSVC(3, vectors="per_class", gamma=0.1, random_state=0).fit(ROWS_10, labels)
        assert model.machine_.kernel == Gaussian(0.1)
        assert model.kernel_gain_ == 0.0

    def test_many_rows_begin_with_a_sample(self, monkeypatch):
        """10 000 rows at first: a model of all rows, also after Ctrl-C on the sample."""
        rows, labels = make_banana(14_000, random_state=0)
        options = {"C": 1.0, "random_state": 0}
        m = SparseSVC(4, **options).fit(rows, labels)
        assert m.machine_ == SparseSVC(4, **options).fit(rows, labels).machine_
        ctrl_c_in(monkeypatch, 4, most=4)
        with pytest.warns(ConvergenceWarning, match="interrupted"):
            stopped = SparseSVC(4, **options).fit(rows, labels)
        for model in (m, stopped):
            kernel, V, machine = model.machine_.kernel, model.vectors_, model.machine_
            value = svm_objective(
                kernel(rows, V),
                kernel(V, V),
                2.0 * labels - 1.0,
                np.ones(14_000),
                machine.coefficients[:, 0],
                machine.intercepts[0],
                "squared_hinge",
            )
            assert_allclose(model.objective_, value, rtol=1e-4)
