"""What is learned in front of a kernel: projections, fair scales, features that are left out."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import load_iris, load_wine, make_classification, make_friedman1

from kernelet import load
from kernelet.kernels import Gaussian, Matern52, ProjectedFeatures, ScaledFeatures
from kernelet.learners import KernelFisherClassifier, SparseKernelRidge, SparseSVC, SparseSVR
from kernelet.learners.direct.kernel_learning.input_stage import StandardRows
from kernelet.learners.direct.kernel_learning.projection_stage import ProjectionStage
from kernelet.learners.direct.kernel_learning.scales_stage import FeatureScales
from kernelet.learners.direct.kernel_learning.small_scales import without_small_scales
from kernelet.learners.direct.problems.ridge import RidgeProblem
from kernelet.learners.direct.search.joint_objective import JointObjective
from kernelet.learners.direct.search.marginal_objective import MarginalObjective
from kernelet.learners.direct.search.objective import Place
from kernelet.learners.direct.search.samples import SampleInMemory

RNG = np.random.default_rng(0)
X = RNG.normal(size=(60, 4)) * [1.0, 2.0, 0.5, 1.0] + 5.0
Z = X[:5] + 0.3 * RNG.normal(size=(5, 4))
TARGETS = np.sin(X[:, :2]) + 0.1 * RNG.normal(size=(60, 2))
PROBLEM = RidgeProblem(TARGETS, RNG.uniform(0.5, 3.0, 60))
IRIS, SPECIES = load_iris(return_X_y=True)


def objective(rows=X, kernel=None, rank=2, **options):
    kernel = Gaussian(0.2) if kernel is None else kernel
    source = SampleInMemory(rows, PROBLEM, 0)
    return JointObjective(source, kernel, "projection", 5, rank=rank, **options)


def standard_rows(rows):
    problem = RidgeProblem(np.zeros((len(rows), 1)), np.ones(len(rows)))
    return StandardRows(SampleInMemory(rows, problem, 0), len(rows), np.float64)


class TestProjection:
    @pytest.mark.parametrize("rows", [X, sparse.csr_array(np.where(X > 5.0, X, 0.0))], ids=type)
    @pytest.mark.parametrize("kernel", [Gaussian(0.2), Matern52(0.1)], ids=repr)
    def test_slopes_are_those_of_differences(self, rows, kernel):
        rng = np.random.default_rng(1)
        W = objective(rows, kernel, single=False)
        at = W(Z)
        # away from the start, where the regulariser has no slope
        place = Place(at.place.parameters + 0.1 * rng.normal(size=8), at.place.v)
        slopes = W.at(place).slopes
        flat = np.concatenate([place.parameters, place.v.ravel()])
        for k in range(0, flat.size, 3):
            values = []
            for step in (1e-5, -1e-5):
                moved = flat.copy()
                moved[k] += step
                values.append(W.at(Place(moved[:8], moved[8:].reshape(place.v.shape))).value)
            assert_allclose(slopes[k], (values[0] - values[1]) / 2e-5, rtol=1e-5, atol=1e-6)

    def test_the_value_is_that_of_the_machine(self):
        at = objective(single=False)(Z)
        assert isinstance(at.kernel, ProjectedFeatures)
        assert at.kernel.matrix.shape == (2, 4)
        other = MarginalObjective(X, at.kernel, PROBLEM)(at.vectors)
        assert_allclose(at.value - at.regulariser, other.value, rtol=1e-9)

    def test_it_begins_with_the_leading_directions(self):
        at = objective(rank=1, single=False)(Z)
        centred = X - X.mean(axis=0)
        leading = np.linalg.svd(centred, full_matrices=False)[2][0]
        assert_allclose(np.abs(at.kernel.matrix[0]), np.abs(leading), atol=1e-6)
        assert at.regulariser == 0.0
        largest = np.abs(at.kernel.matrix[0]).argmax()
        assert at.kernel.matrix[0, largest] > 0.0

    def test_an_earlier_kernel_is_recalled(self):
        rng = np.random.default_rng(1)
        learned = ProjectedFeatures(Gaussian(0.2), rng.normal(size=(2, 4)))
        at = objective(learned=learned, single=False)(Z)
        assert_allclose(at.kernel.matrix, learned.matrix, rtol=1e-12)
        for other in (Gaussian(0.2), ProjectedFeatures(Gaussian(0.2), np.ones((3, 4)))):
            assert objective(learned=other, single=False)(Z).regulariser == 0.0

    def test_combinations_are_found(self):
        """The sum of all features separates the classes, which no scales can express."""
        rng = np.random.default_rng(1)
        rows = rng.normal(size=(1200, 6))
        labels = np.sign(np.sin(2.0 * rows.sum(axis=1) / np.sqrt(6.0)))
        kept, held = slice(900), slice(900, None)
        scores = {
            learn: SparseSVC(6, learn_kernel=learn, random_state=0)
            .fit(rows[kept], labels[kept])
            .score(rows[held], labels[held])
            for learn in ("features", "projection")
        }
        assert scores["projection"] > scores["features"] + 0.05


class TestEstimators:
    @pytest.mark.parametrize(
        "model",
        [
            SparseSVC(5, learn_kernel="projection", rank=2, random_state=0),
            SparseKernelRidge(5, learn_kernel="projection", rank=2, random_state=0),
            SparseSVR(
                *(5,),
                learn_kernel="projection",
                rank=2,
                loss="squared_epsilon_insensitive",
                random_state=0,
            ),
            KernelFisherClassifier(5, learn_kernel="projection", rank=2, random_state=0),
            KernelFisherClassifier(5, learn_kernel="features", random_state=0),
            KernelFisherClassifier(5, learn_kernel=True, random_state=0),
        ],
        ids=repr,
    )
    def test_refits_and_files(self, model, tmp_path):
        m = clone(model).fit(IRIS, SPECIES)
        assert m.machine_ == clone(model).fit(IRIS, SPECIES).machine_
        assert m.score(IRIS, SPECIES) > 0.85
        assert m.kernel_gain_ > 0.0
        assert m.vectors_.shape == (5, 4)
        if model.learn_kernel == "projection":
            assert m.machine_.kernel.matrix.shape == (2, 4)
        m.save(tmp_path / "model.kernelet")
        loaded = load(tmp_path / "model.kernelet")
        assert loaded.machine_ == m.machine_
        assert loaded.get_params() == m.get_params()
        assert_array_equal(loaded.predict(IRIS), m.predict(IRIS))

    @pytest.mark.parametrize(
        ("shape", "kernel"),
        [((400, 10), ProjectedFeatures), ((399, 10), ScaledFeatures), ((900, 21), ScaledFeatures)],
    )
    def test_auto_learns_combinations_of_few_features(self, shape, kernel):
        rows, labels = make_classification(*shape, random_state=0)
        m = SparseSVC(4, C=1.0, max_iter=3, tol=0.9, random_state=0).fit(rows, labels)
        assert isinstance(m.machine_.kernel, kernel)

    def test_auto_leaves_other_kernels_and_separate_vectors(self):
        for parameters in ({"kernel": "poly", "coef0": 1.0}, {"vectors": "per_class"}):
            m = SparseSVC(3, C=1.0, random_state=0, **parameters).fit(IRIS, SPECIES)
            assert m.kernel_gain_ == 0.0
            assert not isinstance(m.machine_.kernel, ScaledFeatures | ProjectedFeatures)

    def test_errors(self):
        with pytest.raises(ValueError, match="rank must be a whole number of at least 1; got 0"):
            SparseSVC(3, learn_kernel="projection", rank=0).fit(IRIS, SPECIES)
        with pytest.raises(ValueError, match="needs a loss that is smooth; give learn_kernel=True"):
            SparseSVR(3, loss="quantile", learn_kernel="projection").fit(IRIS, SPECIES)
        with pytest.raises(ValueError, match="learns one kernel for all classes"):
            SparseSVC(3, learn_kernel="projection", vectors="per_class").fit(IRIS, SPECIES)


class TestFairScales:
    def test_units_that_differ_do_not_matter(self):
        rng = np.random.default_rng(1)
        rows, labels = load_wine(return_X_y=True)  # one feature has a spread of 300, most of 1
        scores = SparseSVC(5, random_state=0).fit(rows, labels).score(rows, labels)
        assert scores > 0.97
        units = 10.0 ** rng.integers(-8, 9, size=13)
        assert (
            SparseSVC(5, random_state=0).fit(rows * units, labels).score(rows * units, labels)
            >= scores - 0.02
        )

    def test_features_of_like_spread_keep_it(self):
        rng = np.random.default_rng(1)
        rows = rng.normal(size=(50, 6)) * [1.0, 2.0, 3.0, 1.0, 2.0, 3.0]
        standard = standard_rows(rows)
        assert standard.fair_scales() is None
        assert not FeatureScales(standard, Gaussian(1.0)).parameters.any()

    def test_constant_columns_do_not_count(self):
        rng = np.random.default_rng(1)
        rows = np.hstack([rng.normal(size=(50, 6)), np.ones((50, 30))])
        assert standard_rows(rows).fair_scales() is None
        rows[:, 0] *= 1e4
        scales = standard_rows(rows).fair_scales()
        parts = scales[:6] * rows[:, :6].var(axis=0)
        assert_allclose(parts, parts[0])
        assert_array_equal(scales[6:], 1.0)

    def test_a_projection_begins_fair_as_well(self):
        rng = np.random.default_rng(1)
        rows = rng.normal(size=(50, 8)) * [1e4, *[1.0] * 7]
        stage = ProjectionStage(standard_rows(rows), Gaussian(1.0), 8)
        lengths = np.square(stage.parameters.reshape(8, 8)).sum(axis=0)
        assert_allclose(lengths, lengths[0], rtol=1e-6)


class TestSmallScales:
    def test_constant_columns_are_left_out(self):
        rows, y = make_friedman1(300, 25, random_state=0)
        rows = np.hstack([rows, np.full((300, 2), 7.0)])
        m = SparseKernelRidge(10, random_state=0).fit(rows, y)
        assert_array_equal(np.array(m.machine_.kernel.scales)[-2:], 0.0)
        assert_array_equal(m.vectors_[:, -2:], 7.0)

    def test_features_that_hardly_count_are_left_out_if_held_out_rows_agree(self):
        rng = np.random.default_rng(1)
        rows = rng.normal(size=(400, 3))
        y = np.sin(2.0 * rows[:, 0])
        problem = RidgeProblem(y[:, None], np.full(400, 10.0))
        for scale, left in ((1e-3, 0.0), (1.0, 1.0)):
            kernel = ScaledFeatures(Gaussian(1.0), (1.0, scale, 1e-4))
            at = MarginalObjective(rows, kernel, problem)(rows[:10])
            found = without_small_scales(SampleInMemory(rows, problem, 0), at, 0)
            expected = (1.0, left, 0.0)
            assert found.kernel.scales == expected
            assert found.value <= at.value * (1.0 + 1e-3)
            other = MarginalObjective(rows, found.kernel, problem)(found.vectors)
            assert_allclose(found.value, other.value, rtol=1e-6)

    def test_other_kernels_and_sparse_rows_stay(self):
        at = MarginalObjective(X, Gaussian(0.2), PROBLEM)(Z)
        assert without_small_scales(SampleInMemory(X, PROBLEM, 0), at, 0) is at


class TestConstantColumns:
    """Their standard deviation may be a rounding error, which is no unit."""

    @pytest.mark.parametrize("constant", [0.1, 0.7, 3.3])
    @pytest.mark.parametrize("learn", ["features", "projection"])
    @pytest.mark.parametrize("unit", [1.0, 1e3])
    def test_they_change_nothing(self, constant, learn, unit):
        rng = np.random.default_rng(0)
        rows = rng.normal(size=(1200, 6))
        labels = (rows[:, 1] * rows[:, 2] > 0.0).astype(int)
        rows[:, 0] *= unit
        maker = SparseSVC(8, C=1.0, gamma=0.2, learn_kernel=learn, tol=0.1, random_state=0)
        scores = []
        for value in (0.0, constant):
            rows[:, 5] = value
            scores.append(maker.fit(rows, labels).score(rows, labels))
        assert abs(scores[1] - scores[0]) < 0.01
        moved = rows.copy()
        moved[:, 5] *= 1.0 + 1e-9
        assert_allclose(maker.decision_function(moved), maker.decision_function(rows), atol=1e-3)
