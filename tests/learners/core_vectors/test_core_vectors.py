"""Core vector machines and margin features against a conic solver, and what users meet."""

from __future__ import annotations

import pickle
import tracemalloc
import warnings

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from scipy.spatial.distance import cdist
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_wine
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.model_selection import GridSearchCV
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

import kernelet
from core_vector_oracles import margin_machine
from kernelet import CoreVectorSVC, MaxMarginDiscriminantAnalysis
from kernelet.datasets import make_banana, make_twonorm
from kernelet.kernels import Gaussian, Linear
from kernelet.learners.base.progress import HAS_CALLBACKS
from kernelet.learners.core_vectors import margin_directions as margin_features
from kernelet.learners.core_vectors import rows as core_vector_rows
from kernelet.rows import labelled, opening
from kernelet.solvers.enclosing_ball.core_set import CoreSet

X, y = make_banana(120, random_state=0)
MANY, LABELS = make_twonorm(2400, random_state=0)
IRIS, SPECIES = load_iris(return_X_y=True)
IRIS = StandardScaler().fit_transform(IRIS)
NAMES = np.array(["setosa", "versicolor", "virginica"])[SPECIES]
KINDS = [CoreVectorSVC, MaxMarginDiscriminantAnalysis]
each_kind = pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)


def outputs(model, rows):
    """Scores or features."""
    return model.decision_function(rows) if hasattr(model, "predict") else model.transform(rows)


@pytest.fixture
def mapped(tmp_path):
    """A function from an array to the same rows in a file."""

    def to_file(array, name="rows"):
        file = np.memmap(tmp_path / name, dtype=array.dtype, mode="w+", shape=array.shape)
        file[...] = array
        file.flush()
        return np.memmap(tmp_path / name, dtype=array.dtype, mode="r", shape=array.shape)

    return to_file


@each_kind
def test_many_rows_are_not_copied(kind, mapped, monkeypatch):
    """An array of many rows takes the way of a file: blocks, and no sorted copy of it all."""
    model = kind(random_state=0)
    sorted_copy = outputs(clone(model).fit(MANY, LABELS), MANY)
    monkeypatch.setattr(core_vector_rows, "_MANY_ROWS", len(MANY))
    monkeypatch.setattr(core_vector_rows, "labelled_data", None)
    in_blocks = outputs(clone(model).fit(MANY, LABELS), MANY)
    from_file = outputs(clone(model).fit(mapped(MANY), LABELS), MANY)
    assert_array_equal(in_blocks, from_file)
    assert np.corrcoef(in_blocks.ravel(), sorted_copy.ravel())[0, 1] > 0.98
    whole = np.rint(10.0 * MANY)
    of_integers = outputs(clone(model).fit(whole.astype(np.int16), LABELS), whole)
    assert_array_equal(of_integers, outputs(clone(model).fit(whole, LABELS), whole))


def test_single_precision_is_left_where_it_says_too_little(mapped):
    """With such a C, the margins of a look in single precision are off by the loss itself."""
    rows = MANY.astype(np.float32)
    model = CoreVectorSVC(1e6, random_state=0).fit(mapped(rows), LABELS)
    machine = model.machine_.astype(np.float64)
    beta, bias = machine.coefficients[:, 0], machine.intercepts[0]
    slack = 1.0 - (2.0 * LABELS - 1.0) * machine.decision_function(rows.astype(np.float64))
    norms = beta @ machine.kernel(machine.vectors, machine.vectors) @ beta + bias**2
    value = 0.5 * norms + 0.5e6 * np.sum(np.maximum(0.0, slack) ** 2)
    assert_allclose(model.objective_, value, rtol=1e-8)


def test_the_exact_solver_takes_an_array_whatever_its_size(monkeypatch):
    model = MaxMarginDiscriminantAnalysis(2, solver="exact", gamma=1.0)
    few = clone(model).fit(X, y).transform(X)
    monkeypatch.setattr(core_vector_rows, "_MANY_ROWS", 100)
    assert_array_equal(clone(model).fit(X, y).transform(X), few)


class TestClassifier:
    @pytest.mark.parametrize("C", [0.1, 1.0, 100.0])
    def test_small_eps_is_the_exact_machine(self, C):
        model = CoreVectorSVC(C, eps=1e-9, gamma=1.0).fit(X, y)
        value, beta, bias = margin_machine(Gaussian(1.0)(X, X), 2.0 * y - 1.0, C)
        assert_allclose(model.objective_, value, rtol=1e-6)
        assert_allclose(model.decision_function(X), Gaussian(1.0)(X, X) @ beta + bias, atol=1e-3)
        assert 0.0 <= model.gap_ + 1e-12 <= 1e-6

    def test_defaults_keep_their_promises(self):
        model = CoreVectorSVC(random_state=0).fit(MANY, LABELS)
        assert 1.0 <= model.reach_ <= 1.001
        assert model.gap_ <= 0.1
        assert model.n_core_vectors_.tolist() == [model.n_vectors_]
        assert model.n_iter_ >= model.n_vectors_
        assert model.radii_.shape == (1,)
        rows, labels = make_twonorm(3000, random_state=1)
        assert model.score(rows, labels) > 0.97
        paper = CoreVectorSVC(tol=None, random_state=0).fit(MANY, LABELS)
        assert paper.n_vectors_ < model.n_vectors_
        assert paper.gap_ > model.gap_

    def test_many_classes_are_one_against_the_rest(self):
        model = CoreVectorSVC(gamma=0.5).fit(IRIS, NAMES)
        assert model.machine_.n_outputs == 3
        for k, name in enumerate(model.classes_):
            alone = CoreVectorSVC(gamma=0.5).fit(IRIS, name == NAMES)
            assert_allclose(model.decision_function(IRIS)[:, k], alone.decision_function(IRIS))
            assert model.n_core_vectors_[k] == alone.n_vectors_
        assert model.score(IRIS, NAMES) > 0.95

    def test_linear_kernel_is_a_linear_svm(self):
        """k(x, x) is not constant: the points are lifted, and the machine is the same."""
        svc = LinearSVC(C=0.5, tol=1e-9, max_iter=100000).fit(X, y)
        model = CoreVectorSVC(C=1.0, kernel="linear", eps=1e-9).fit(X, y)
        assert_allclose(model.decision_function(X), svc.decision_function(X), atol=1e-3)

    @pytest.mark.parametrize("ratio", [1.0, 1e2, 1e5])
    def test_unequal_weights(self, ratio):
        weights = np.where(np.arange(120) % 3 == 0, 0.5, 0.5 * ratio)
        model = CoreVectorSVC(gamma=1.0, tol=1e-3).fit(X, y, weights)
        value, _, _ = margin_machine(Gaussian(1.0)(X, X), 2.0 * y - 1.0, weights)
        assert value * (1.0 - 1e-6) <= model.objective_ <= value * (1.0 + 2e-3)
        # k(x, x) + 1 + 1 / C_i at its largest, less the squared norm of the centre
        assert_allclose(model.radii_**2, [1.0 + 1.0 + 2.0 - 0.5 / value], rtol=1e-3)

    @pytest.mark.parametrize("absent", [0, 1, 2])
    def test_a_class_of_weight_zero_is_never_predicted(self, absent):
        weights = (absent != SPECIES).astype(float)
        model = CoreVectorSVC().fit(IRIS, SPECIES, sample_weight=weights)
        assert_array_equal(model.classes_, [0, 1, 2])
        assert absent not in model.predict(IRIS)

    def test_grid_search(self):
        search = GridSearchCV(CoreVectorSVC(), {"C": [1e-4, 10.0]}, cv=2).fit(X, y)
        assert search.best_params_ == {"C": 10.0}


class TestFeatures:
    @pytest.mark.parametrize("kernel", [Gaussian(1.0), Gaussian(0.2)])
    def test_exact_features_are_algorithm_1(self, kernel):
        model = MaxMarginDiscriminantAnalysis(4, solver="exact", kernel=kernel).fit(X, y)
        K, labels = kernel(X, X), 2.0 * y - 1.0
        U, features, values = np.empty((120, 0)), [], []
        for _ in range(4):
            value, beta, bias = margin_machine(K, labels, 1.0, U if U.size else None)
            length = np.sqrt(beta @ K @ beta)
            U = np.column_stack([U, beta / length])
            features.append((K @ beta + bias) / length)
            values.append(value)
        assert_allclose(model.objective_, np.sum(values), rtol=1e-6)
        # the conic solver ends a few digits earlier
        assert_allclose(model.transform(X), np.stack(features, axis=1), atol=1e-3)
        assert model.gap_ < 1e-9
        assert model.reach_ == 1.0

    def test_core_sets_end_where_the_exact_solver_does(self):
        exact = MaxMarginDiscriminantAnalysis(3, solver="exact").fit(X, y)
        distances = [
            np.abs(
                MaxMarginDiscriminantAnalysis(3, eps=eps).fit(X, y).transform(X)
                - exact.transform(X)
            ).max()
            for eps in (1e-2, 1e-4, 1e-8)
        ]
        assert distances[0] > distances[1] > distances[2]
        assert distances[2] < 1e-3
        assert_allclose(
            MaxMarginDiscriminantAnalysis(3, eps=1e-8).fit(X, y).objective_,
            exact.objective_,
            rtol=1e-6,
        )

    @pytest.mark.parametrize("solver", ["core_set", "exact"])
    @pytest.mark.parametrize("kept", [True, False])
    def test_directions_of_a_class_are_orthonormal(self, solver, kept, monkeypatch):
        if not kept:
            monkeypatch.setattr(margin_features, "_MOST_BYTES", 0)
        model = MaxMarginDiscriminantAnalysis(12, solver=solver, random_state=0).fit(IRIS, NAMES)
        machine = model.machine_
        gram = machine.coefficients.T @ machine.kernel(machine.vectors, machine.vectors)
        gram = gram @ machine.coefficients
        assert_array_equal(model.feature_classes_, np.tile([0, 1, 2], 4))
        for code in range(3):
            mine = model.feature_classes_ == code
            assert_allclose(gram[np.ix_(mine, mine)], np.eye(4), atol=1e-8)

    def test_many_directions_stay_orthogonal(self):
        """Where coefficients cancel; orthogonalising once leaves 1e-5 here."""
        machine = MaxMarginDiscriminantAnalysis(12, C=100.0, gamma=0.1).fit(X, y).machine_
        gram = machine.coefficients.T @ machine.kernel(machine.vectors, machine.vectors)
        assert_allclose(gram @ machine.coefficients, np.eye(12), atol=1e-8)

    def test_values_that_are_not_kept_are_computed(self, monkeypatch):
        kept = MaxMarginDiscriminantAnalysis(3, random_state=0).fit(MANY, LABELS)
        monkeypatch.setattr(margin_features, "_MOST_BYTES", 0)
        computed = MaxMarginDiscriminantAnalysis(3, random_state=0).fit(MANY, LABELS)
        assert_allclose(computed.transform(X_TEST), kept.transform(X_TEST), atol=1e-6)

    def test_features_are_spread_over_the_classes(self):
        few = MaxMarginDiscriminantAnalysis(2).fit(IRIS, NAMES)
        assert_array_equal(few.feature_classes_, [0, 1])
        assert few.transform(IRIS).shape == (150, 2)
        five = MaxMarginDiscriminantAnalysis(5).fit(IRIS, NAMES)
        assert_array_equal(five.feature_classes_, [0, 1, 2, 0, 1])
        # the first are the same, however many follow
        assert_allclose(five.transform(IRIS)[:, :2], few.transform(IRIS))
        assert MaxMarginDiscriminantAnalysis().fit(IRIS, NAMES).n_components_ == 3
        assert MaxMarginDiscriminantAnalysis().fit(X, y).n_components_ == 1

    def test_width_is_the_mean_squared_distance(self):
        weights = np.random.default_rng(0).integers(1, 4, 120)
        model = MaxMarginDiscriminantAnalysis().fit(X, y, weights)
        rows = np.repeat(X, weights, axis=0)
        assert_allclose(model.machine_.kernel.gamma, 1.0 / np.mean(cdist(rows, rows) ** 2))
        csr = MaxMarginDiscriminantAnalysis().fit(sparse.csr_array(X), y, weights)
        assert_allclose(csr.machine_.kernel.gamma, model.machine_.kernel.gamma)

    @pytest.mark.parametrize("solver", ["core_set", "exact"])
    def test_more_components_than_the_space_has(self, solver):
        model = MaxMarginDiscriminantAnalysis(2, solver=solver, kernel=Linear()).fit(X, y)
        assert model.n_components_ == 2
        # the rows span two, up to rounding, of which a little may look like a third
        reason = "no more than 2 in the feature space|after 2 the classes differ by no more than"
        with pytest.raises(ValueError, match=reason):
            model.set_params(n_components=3).fit(X, y)
        with pytest.raises(ValueError, match="n_components=7 asks for 3 orthogonal"):
            model.set_params(n_components=7).fit(IRIS[:, :2], NAMES)
        model.set_params(n_components=121, kernel=Gaussian(1.0))
        with pytest.raises(ValueError, match="n_components=121 asks for 121 orthogonal"):
            model.fit(X, y)

    @pytest.mark.parametrize("kernel", ["linear", "poly"])
    def test_a_ball_that_holds_all_with_no_direction_is_made_finer(self, kernel):
        """Rows as they come, so long that the first two make a ball that is wide enough."""
        rows, labels = load_breast_cancer(return_X_y=True)
        model = MaxMarginDiscriminantAnalysis(4, kernel=kernel, random_state=0).fit(rows, labels)
        machine = model.machine_
        gram = machine.coefficients.T @ machine.kernel(machine.vectors, machine.vectors)
        assert_allclose(gram @ machine.coefficients, np.eye(4), atol=1e-7)
        assert model.reach_ <= 1.001

    @pytest.mark.parametrize("C", [1.0, 100.0])
    def test_exact_features_of_long_rows(self, C):
        """Large multipliers cancel in w, and rounding is not taken for too few steps."""
        rows, labels = load_wine(return_X_y=True)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            model = MaxMarginDiscriminantAnalysis(6, C=C, solver="exact", kernel="linear")
            features = model.fit(rows, labels).transform(rows)
        w = model.machine_.coefficients.T @ model.machine_.vectors
        for code in range(3):
            mine = w[model.feature_classes_ == code]
            # half of the digits are left, and fewer would be reported
            assert_allclose(mine @ mine.T, np.eye(2), atol=1e-6)
        assert_allclose(features, rows @ w.T + model.machine_.intercepts, atol=1e-5)
        assert abs(model.gap_) < 1e-6

    def test_long_rows_that_overlap(self):
        rng = np.random.default_rng(0)
        rows, labels = 100.0 * rng.standard_normal((60, 3)), np.arange(60) % 2
        model = MaxMarginDiscriminantAnalysis(C=100.0, solver="exact", kernel="linear")
        features = model.fit(rows, labels).transform(rows)[:, 0]
        svm = LinearSVC(C=50.0, dual=False, tol=1e-10, max_iter=10_000).fit(rows, labels)
        normal = np.linalg.norm(svm.coef_)
        assert_allclose(features, svm.decision_function(rows) / normal, rtol=1e-4, atol=1e-3)
        with pytest.raises(ValueError, match="no more than 3 in the feature space"):
            model.set_params(n_components=4).fit(rows, labels)

    def test_features_separate_the_classes(self):
        digits, figures = load_digits(return_X_y=True)
        pipe = make_pipeline(
            MaxMarginDiscriminantAnalysis(20, random_state=0), KNeighborsClassifier(1)
        ).fit(digits[:1200], figures[:1200])
        assert pipe.score(digits[1200:], figures[1200:]) > 0.95

    def test_names_and_frames(self):
        frame = pd.DataFrame(IRIS, columns=list("wxyz"))
        model = MaxMarginDiscriminantAnalysis().set_output(transform="pandas").fit(frame, NAMES)
        names = [f"maxmargindiscriminantanalysis{k}" for k in range(3)]
        assert_array_equal(model.get_feature_names_out(), names)
        assert list(model.transform(frame).columns) == names
        with pytest.raises(NotFittedError):
            MaxMarginDiscriminantAnalysis().transform(IRIS)


X_TEST, _ = make_twonorm(50, random_state=3)


class TestBoth:
    @each_kind
    def test_weights_strings_sparse_float32_and_copies(self, kind, tmp_path):
        def model(**parameters):
            return kind(random_state=0, **parameters)

        times = np.random.default_rng(0).integers(0, 3, 150)
        weighted = model(class_weight="balanced").fit(IRIS, SPECIES, times)
        repeated = model(class_weight="balanced").fit(
            np.repeat(IRIS, times, axis=0), np.repeat(SPECIES, times)
        )
        assert weighted.machine_ == repeated.machine_
        plain = model().fit(IRIS, SPECIES)
        assert (
            model().fit(pd.DataFrame(IRIS, columns=list("wxyz")), NAMES).machine_ == plain.machine_
        )
        assert clone(plain).fit(IRIS, SPECIES).machine_ == plain.machine_
        assert pickle.loads(pickle.dumps(plain)).machine_ == plain.machine_
        shuffled = np.random.default_rng(1).permutation(150)
        assert model().fit(IRIS[shuffled], SPECIES[shuffled]).machine_ == plain.machine_
        # other rounding, other core vectors: the same guarantee
        for rows in (sparse.csr_array(IRIS), IRIS.astype(np.float32)):
            other = model().fit(rows, SPECIES)
            assert other.reach_ <= 1.001
            assert_allclose(other.radii_, plain.radii_, rtol=1e-3)
        assert_allclose(outputs(plain, IRIS.astype(np.float32)), outputs(plain, IRIS), atol=1e-4)
        plain.save(tmp_path / "model.kernelet")
        loaded = kernelet.load(tmp_path / "model.kernelet")
        assert loaded.machine_ == plain.machine_
        assert_array_equal(loaded.n_core_vectors_, plain.n_core_vectors_)
        assert loaded.reach_ == plain.reach_

    @each_kind
    def test_fits_repeat_and_seeds_differ(self, kind):
        models = [kind(random_state=seed).fit(MANY, LABELS) for seed in (0, 0, 1)]
        assert models[0].machine_ == models[1].machine_ != models[2].machine_

    @each_kind
    @pytest.mark.parametrize("dtype", [np.float64, np.float32])
    def test_rows_in_a_file(self, kind, dtype, mapped, monkeypatch):
        monkeypatch.setattr(opening, "_PIECE", 500 * 20)
        monkeypatch.setattr(labelled, "BLOCK_ROWS", 300)
        model = kind(random_state=0, class_weight="balanced")
        weights = np.where(np.arange(2400) % 5, 1.0, 0.0)
        rows, labels = mapped(MANY.astype(dtype)), mapped(LABELS, "labels")
        on_disk = clone(model).fit(rows, labels, weights)
        in_memory = model.fit(MANY, LABELS, weights)
        assert on_disk.reach_ <= 1.001
        assert on_disk.n_features_in_ == 20
        assert_array_equal(on_disk.classes_, in_memory.classes_)
        assert_allclose(on_disk.machine_.kernel.gamma, in_memory.machine_.kernel.gamma, rtol=1e-4)
        assert_allclose(on_disk.radii_, in_memory.radii_, rtol=1e-3)
        exact = kind(eps=1e-7, tol=None, random_state=0, max_iter=2400)
        near = clone(exact).fit(rows[:300].copy(), labels[:300]) if dtype == np.float64 else None
        if near is not None:
            file = mapped(MANY[:300], "few")
            far = clone(exact).fit(file, LABELS[:300])
            assert_allclose(outputs(far, X_TEST), outputs(near, X_TEST), atol=1e-4)

    @each_kind
    @pytest.mark.parametrize("gamma", ["scale", "mean_distance"])
    def test_rows_in_batches(self, kind, gamma):
        class Batches:
            readings = 0

            def __iter__(self):
                self.readings += 1
                for start in range(0, 2400, 700):
                    yield MANY[start : start + 700], LABELS[start : start + 700]

        batches = Batches()
        model = kind(random_state=0, gamma=gamma).fit_batches(batches)
        in_memory = kind(random_state=0, gamma=gamma).fit(MANY, LABELS)
        assert 3 <= batches.readings <= 25
        assert model.reach_ <= 1.001
        assert_allclose(model.radii_, in_memory.radii_, rtol=1e-3)
        assert_allclose(model.machine_.kernel.gamma, in_memory.machine_.kernel.gamma)
        csr = [(sparse.csr_array(MANY[k::3]), LABELS[k::3]) for k in range(3)]
        again = kind(random_state=0, gamma=gamma).fit_batches(csr)
        assert again.reach_ <= 1.001
        assert_allclose(again.machine_.kernel.gamma, in_memory.machine_.kernel.gamma)
        with pytest.raises(ValueError, match="this iterator can be read once"):
            kind().fit_batches(iter(csr))

    def test_memory_does_not_grow_with_the_rows(self, mapped, monkeypatch):
        monkeypatch.setattr(opening, "_PIECE", 40_000)
        peaks = []
        for n in (20_000, 320_000):
            rows = mapped(make_twonorm(n, random_state=0)[0][:, :4].astype(np.float32), str(n))
            labels = mapped((rows.sum(axis=1) > 0).astype(np.int8), f"labels{n}")
            CoreVectorSVC(eps=0.03, tol=None, random_state=0).fit(rows[:100].copy(), labels[:100])
            tracemalloc.start()
            CoreVectorSVC(eps=0.03, tol=None, random_state=0).fit(rows, labels)
            peaks.append(tracemalloc.get_traced_memory()[1])
            tracemalloc.stop()
        # 16 times the rows; threads have a workspace each
        assert peaks[1] < 2.0 * peaks[0]
        assert peaks[1] < rows.nbytes

    @each_kind
    def test_too_few_core_vectors(self, kind):
        with pytest.warns(
            ConvergenceWarning, match=rf"{kind.__name__} .* max_iter=5 .* radii .* relative gap"
        ):
            model = kind(max_iter=5).fit(X, y)
        assert model.n_core_vectors_.max() <= 5
        assert model.reach_ > 1.001

    @each_kind
    @pytest.mark.parametrize("exact_sweep", [True, False])
    def test_without_the_last_look(self, kind, exact_sweep):
        model = kind(exact_sweep=exact_sweep, random_state=0).fit(MANY, LABELS)
        assert np.isnan(model.reach_) != exact_sweep
        assert np.isnan(model.gap_) != exact_sweep
        assert np.isfinite(model.objective_)
        assert np.isfinite(outputs(model, X_TEST)).all()

    @each_kind
    @pytest.mark.parametrize("solver", ["core_set", "exact"])
    @pytest.mark.parametrize("when", [1, 30, 150])
    def test_ctrl_c_leaves_a_model(self, kind, solver, when, monkeypatch):
        target, method = (CoreSet, "add") if solver == "core_set" else (None, None)
        if solver == "exact":
            if kind is CoreVectorSVC:
                return
            import kernelet.solvers.enclosing_ball.exact_margin as module

            target, method, when = module, "newton_multipliers", 1 + when // 75
        original, calls = getattr(target, method), []

        def interrupted(*args, **options):
            calls.append(1)
            if len(calls) == when:
                raise KeyboardInterrupt
            return original(*args, **options)

        monkeypatch.setattr(target, method, interrupted)
        parameters = {} if kind is CoreVectorSVC else {"solver": solver, "n_components": 6}
        model = kind(random_state=0, **parameters)
        with pytest.warns(ConvergenceWarning, match="interrupted"):
            model.fit(IRIS, NAMES)
        assert model.interrupted_
        out = outputs(model, IRIS)
        assert out.shape == (150, 3 if kind is CoreVectorSVC else 6)
        nearest = KNeighborsClassifier(1).fit(out, NAMES)
        assert nearest.score(out, NAMES) > 0.9

    @each_kind
    def test_verbose(self, kind, capsys):
        kind(verbose=1).fit(IRIS, NAMES)
        out, err = capsys.readouterr()
        assert out == ""
        assert "core vectors" in err.splitlines()[0]

    @each_kind
    def test_a_callback_can_end_it(self, kind):
        class Impatient:
            def setup(self, estimator, context): ...
            def teardown(self, estimator, context): ...
            def on_fit_task_begin(self, estimator, context): ...
            def on_fit_task_end(self, estimator, context):
                return True

        if not HAS_CALLBACKS:
            assert not hasattr(kind(), "set_callbacks")
            return
        model = kind(eps=1e-6, random_state=0).set_callbacks(Impatient())
        with pytest.warns(ConvergenceWarning, match="callback"):
            model.fit(X, y)
        assert np.isfinite(outputs(model, X)).all()

    @each_kind
    def test_callbacks_see_the_core_set_grow(self, kind):
        steps = []

        class Listening:
            def setup(self, estimator, context): ...
            def teardown(self, estimator, context): ...
            def on_fit_task_begin(self, estimator, context): ...
            def on_fit_task_end(self, estimator, context):
                if context.parent is not None:
                    steps.append(estimator._last_step)

        if not HAS_CALLBACKS:
            return
        model = kind(random_state=0).set_callbacks(Listening()).fit(MANY, LABELS)
        sizes = [step.n_vectors for step in steps]
        assert sizes == sorted(sizes)
        assert sizes[-1] == model.n_iter_
        assert steps[-1].brief == f"{model.n_iter_} core vectors"
        assert steps[-1].reach == model.reach_

    @each_kind
    def test_callbacks_see_rows_that_are_in_memory(self, kind, monkeypatch):
        seen = []

        class Listening:
            def setup(self, estimator, context): ...
            def teardown(self, estimator, context): ...
            def on_fit_task_begin(self, estimator, context): ...
            def on_fit_task_end(self, estimator, context, *, X=None, y=None):
                seen.append((X, y))

        if not HAS_CALLBACKS:
            return
        monkeypatch.setattr(core_vector_rows, "_MANY_ROWS", 100)
        kind().set_callbacks(Listening()).fit(X, y)
        assert seen
        assert all(rows is X and labels is y for rows, labels in seen)

    @each_kind
    @pytest.mark.parametrize(
        ("parameters", "words"),
        [
            ({"eps": 0.0}, "eps must"),
            ({"eps": -1e-3}, "eps must"),
            ({"C": 0.0}, "C must"),
            ({"tol": -1.0}, "tol must"),
            ({"max_iter": 1}, "max_iter must"),
            ({"sample_size": 0}, "sample_size must"),
            ({"kernel": "sigmoid"}, "needs a positive definite kernel"),
            ({"gamma": "mean"}, "gamma must"),
            ({"class_weight": {0: 0.0}}, "two classes"),
        ],
    )
    def test_a_bad_parameter_is_named(self, kind, parameters, words, mapped):
        with pytest.raises(ValueError, match=words):
            kind(**parameters).fit(X, y)
        with pytest.raises(ValueError, match=words):
            kind(**parameters).fit(mapped(X), y)

    @each_kind
    def test_bad_rows(self, kind, mapped):
        holes = np.where(X > 0, np.nan, X)
        for rows in (holes, mapped(holes)):
            with pytest.raises(ValueError, match="NaN"):
                kind().fit(rows, y)
        for rows in (X, mapped(X)):
            with pytest.raises(ValueError, match="one class"):
                kind().fit(rows, np.zeros(120))
        with pytest.raises(ValueError, match="y must have a value for each of the 120"):
            kind().fit(mapped(X), y[:-1])
        with pytest.raises(ValueError, match="sample_weight"):
            kind().fit(mapped(X), y, np.ones(3))
        with pytest.raises(ValueError, match="sample_weight that is negative"):
            kind().fit(mapped(X), y, -np.ones(120))
        for rows in (X, mapped(X)):
            with pytest.raises(ValueError, match="requires y"):
                kind().fit(rows, None)
        for hole in (None, np.nan):
            labels = np.array(["no", "yes"], dtype=object)[y]
            labels[5] = hole
            with pytest.raises(ValueError, match="has labels of another kind than classes"):
                kind().fit(mapped(X), labels)

    def test_parameters_of_the_features(self, mapped):
        with pytest.raises(ValueError, match="n_components must"):
            MaxMarginDiscriminantAnalysis(0).fit(X, y)
        with pytest.raises(ValueError, match="solver must"):
            MaxMarginDiscriminantAnalysis(solver="fast").fit(X, y)
        exact = MaxMarginDiscriminantAnalysis(solver="exact")
        with pytest.raises(ValueError, match="needs all rows in memory"):
            exact.fit_batches([(X, y)])
        assert exact.fit(mapped(X), y).machine_ == clone(exact).fit(X, y).machine_

    def test_exact_solver_with_too_few_systems(self):
        with pytest.warns(ConvergenceWarning, match="max_iter=2 was reached"):
            MaxMarginDiscriminantAnalysis(solver="exact", C=1e4, gamma=5.0, max_iter=2).fit(X, y)

    @each_kind
    def test_duplicates_and_constant_columns(self, kind):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            rows = np.column_stack([np.repeat(X[:40], 3, axis=0), np.ones(120)])
            model = kind(eps=1e-6).fit(rows, np.repeat(y[:40], 3))
        assert model.machine_.n_vectors <= 40

    def test_rows_that_contradict_one_another(self):
        rows, labels = np.vstack([X, X]), np.append(y, 1 - y)
        assert_allclose(CoreVectorSVC().fit(rows, labels).decision_function(X), 0.0, atol=1e-9)
        for solver in ("core_set", "exact"):
            with pytest.raises(ValueError, match="no direction"):
                MaxMarginDiscriminantAnalysis(solver=solver).fit(rows, labels)
        some = np.append(y, 1 - y[:20])
        for kind in KINDS:
            assert np.isfinite(outputs(kind().fit(np.vstack([X, X[:20]]), some), X)).all()
