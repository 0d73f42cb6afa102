"""KernelSubspace and SubspaceLPSVC: against eigenvectors, scikit-learn's KPCA and SciPy's HiGHS."""

from __future__ import annotations

import pickle
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from scipy.optimize import linprog
from sklearn.base import clone
from sklearn.datasets import load_digits, load_iris
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import GridSearchCV

from kernelet import load
from kernelet.datasets import make_banana
from kernelet.kernels import Gaussian, Linear, Polynomial, Sigmoid
from kernelet.learners import KernelSubspace, SubspaceLPSVC, compress
from kernelet.learners.lp_subspace import learn, programs
from kernelet.learners.lp_subspace.batches import survey
from kernelet.solvers import Status
from kernelet.subspace import PrincipalMap

X, y = make_banana(150, random_state=0)
SIGNS = 2.0 * y - 1.0
IRIS, SPECIES = load_iris(return_X_y=True)
DIGITS, NUMBERS = load_digits(return_X_y=True)
DIGITS = DIGITS / 16


def model(n_components=10, **parameters):
    settings = {"n_landmarks": 40, "gamma": 1.0, "random_state": 0, "C": 5.0}
    return SubspaceLPSVC(n_components, **{**settings, **parameters})


class TestPrincipalMap:
    @pytest.mark.parametrize("kernel", [Gaussian(1.0), Polynomial(0.5, 1.0, 3)])
    def test_features_are_projections_onto_eigenvectors(self, kernel):
        """(3.4)-(3.6) and lemmas 3.2 and 3.3, by hand."""
        Z = X[:30]
        space = PrincipalMap.from_vectors(kernel, Z, 6)
        values, vectors = np.linalg.eigh(kernel(Z, Z))
        values, vectors = values[::-1][:6], vectors[:, ::-1][:, :6]
        assert_allclose(space.eigenvalues, values, rtol=1e-9)
        D = vectors * np.sqrt(values)
        for i, row in enumerate(X):
            coordinates = [
                sum(D[j, k] * kernel(row[None], Z[j : j + 1])[0, 0] for j in range(30)) / values[k]
                for k in range(6)
            ]
            assert_allclose(np.abs(space.features(row[None])[0]), np.abs(coordinates), rtol=1e-6)
            if i == 4:
                break
        # a sampled point has its row of D
        assert_allclose(np.abs(space.features(Z)), np.abs(D), rtol=1e-5, atol=1e-9)
        # the directions are orthonormal in the feature space
        T = space.transform
        assert_allclose(T @ kernel(Z, Z) @ T.T, np.eye(6), atol=1e-8)

    def test_all_directions_give_the_kernel_back(self):
        space = PrincipalMap.from_vectors(Gaussian(1.0), X[:20])
        assert_allclose(
            space.features(X[:20]) @ space.features(X[:20]).T,
            Gaussian(1.0)(X[:20], X[:20]),
            atol=1e-9,
        )

    def test_weights_and_coefficients_are_inverse(self):
        space = PrincipalMap.from_vectors(Gaussian(1.0), X[:30], 5)
        w = np.random.default_rng(0).normal(size=(5, 2))
        assert_allclose(space.weights(space.coefficients(w)), w, atol=1e-10)
        scores = Gaussian(1.0)(X, X[:30]) @ space.coefficients(w)
        assert_allclose(space.features(X) @ w, scores, atol=1e-10)

    def test_directions_without_length_are_left_out(self):
        doubled = np.vstack([X[:8], X[:8]])
        assert PrincipalMap.from_vectors(Gaussian(1.0), doubled, 12).rank == 8
        assert PrincipalMap.from_vectors(Linear(), X[:30], 10).rank == 2
        with pytest.raises(ValueError, match="no positive direction"):
            PrincipalMap.from_vectors(Sigmoid(1.0, -100.0), X[:1], 1)
        with np.errstate(over="ignore"), pytest.raises(ValueError, match="not finite"):
            PrincipalMap.from_vectors(Polynomial(1.0, 0.0, 400), 1e3 * X[:5], 1)
        for bad in (np.zeros((0, 2)), np.full((2, 2), np.nan)):
            with pytest.raises(ValueError, match="finite"):
                PrincipalMap.from_vectors(Linear(), bad)
        with pytest.raises(ValueError, match="n_components"):
            PrincipalMap.from_vectors(Linear(), X, 0)


class TestKernelSubspace:
    def test_features(self):
        space = KernelSubspace(5, n_landmarks=30, gamma=1.0, random_state=0).fit(X)
        assert space.n_components_ == 5
        assert space.landmarks_.shape == (30, 2)
        direct = PrincipalMap.from_vectors(Gaussian(1.0), space.landmarks_, 5)
        assert_allclose(space.transform(X), direct.features(X), atol=1e-10)
        assert list(space.get_feature_names_out())[:2] == ["kernelsubspace0", "kernelsubspace1"]

    @pytest.mark.parametrize("landmarks", ["random", "kmeans", "greedy", "sgma"])
    def test_landmarks_of_all_kinds(self, landmarks):
        space = KernelSubspace(5, n_landmarks=20, landmarks=landmarks, random_state=0).fit(X)
        assert space.landmarks_.shape == (20, 2)
        assert (np.diff(space.eigenvalues_) <= 0).all()

    def test_given_landmarks(self):
        space = KernelSubspace(5, landmarks=X[:12]).fit(X)
        assert_array_equal(space.landmarks_, X[:12])

    def test_few_rows_give_few_components(self):
        space = KernelSubspace(gamma=1.0).fit(X[:7])
        assert space.n_components_ == space.n_landmarks_ == 7

    def test_mistakes_are_named(self):
        for parameters, word in (
            ({"n_components": 0}, "n_components"),
            ({"n_landmarks": 3}, "n_landmarks"),
            ({"landmarks": "best"}, "landmarks"),
        ):
            with pytest.raises(ValueError, match=word):
                KernelSubspace(**{"n_components": 5, **parameters}).fit(X)


def objective(Phi, signs, costs, w, b, norm):
    size = {1: np.abs(w).sum(), "inf": np.abs(w).max(), None: 0.0}[norm]
    return size + costs @ np.maximum(0.0, 1.0 - signs * (Phi @ w + b))


def value_by_linprog(Phi, signs, costs, norm):
    """(2.4), (2.7) and (2.9) with all variables spelt out: w, b, xi and s or its largest."""
    n, m = Phi.shape
    n_sizes = {1: m, "inf": 1, None: 0}[norm]
    cost = np.concatenate([np.zeros(m + 1), costs, np.ones(n_sizes)])
    margins = np.hstack([-signs[:, None] * Phi, -signs[:, None], -np.eye(n)])
    A = [np.hstack([margins, np.zeros((n, n_sizes))])]
    b = [-np.ones(n)]
    if norm is not None:
        size = np.eye(m) if norm == 1 else np.ones((m, 1))
        for sign in (1.0, -1.0):
            A.append(np.hstack([sign * np.eye(m), np.zeros((m, 1 + n)), -size]))
            b.append(np.zeros(m))
    bounds = [(None, None)] * (m + 1) + [(0, None)] * (n + n_sizes)
    return linprog(cost, A_ub=np.vstack(A), b_ub=np.concatenate(b), bounds=bounds).fun


class TestLinearProgram:
    @pytest.mark.parametrize("norm", [1, "inf", None])
    @pytest.mark.parametrize("C", [0.05, 12.5])
    def test_value_is_that_of_an_independent_solver(self, norm, C):
        m = model(norm=norm, C=C).fit(X, y)
        space = PrincipalMap.from_vectors(Gaussian(1.0), m.vectors_, 10)
        Phi = space.features(X)
        costs = np.full(len(X), C)
        expected = value_by_linprog(Phi, SIGNS, costs, norm)
        assert_allclose(m.objective_, expected, rtol=1e-6)
        w, b = m.weights_[:, 0], m.machine_.intercepts[0]
        assert_allclose(objective(Phi, SIGNS, costs, w, b, norm), expected, rtol=1e-6)
        assert_allclose(m.decision_function(X), Phi @ w + b, atol=1e-8)
        assert m.gap_ <= 1e-6

    def test_classes_share_the_subspace(self):
        m = model(gamma=0.5).fit(IRIS, SPECIES)
        assert m.machine_.n_outputs == 3
        assert m.n_vectors_ == 40
        assert m.score(IRIS, SPECIES) > 0.95
        for k in range(3):
            one = model(gamma=0.5, landmarks=m.vectors_).fit(IRIS, k == SPECIES)
            assert_allclose(one.decision_function(IRIS), m.decision_function(IRIS)[:, k], atol=1e-5)

    def test_one_program_for_all_classes(self):
        m = model(8, gamma=0.5, strategy="direct").fit(IRIS, SPECIES)
        assert m.score(IRIS, SPECIES) > 0.95
        space = PrincipalMap.from_vectors(Gaussian(0.5), m.vectors_, 8)
        scores = space.features(IRIS) @ m.weights_ + m.machine_.intercepts
        own = scores[np.arange(150), SPECIES][:, None]
        hinges = np.maximum(0.0, 1.0 - 0.5 * (own - scores))
        hinges[np.arange(150), SPECIES] = 0.0
        assert_allclose(
            m.objective_, 0.5 * np.abs(m.weights_).sum() + 5.0 * hinges.sum(), rtol=1e-6
        )
        two = [model(strategy=s).fit(X, y).objective_ for s in ("direct", "one_vs_rest")]
        assert_allclose(*two, rtol=1e-6)

    def test_path(self):
        costs = np.geomspace(0.1, 50.0, 6)
        path = model(gamma=0.5).fit_path(IRIS, SPECIES, costs)
        assert [m.C for m in path] == list(costs)
        for m in path:
            alone = model(gamma=0.5, C=m.C).fit(IRIS, SPECIES)
            assert_allclose(m.objective_, alone.objective_, rtol=1e-6)
            assert_array_equal(m.vectors_, alone.vectors_)
            assert m.gap_ <= 1e-6
        assert model().fit_path(X, y, []) == []
        frame = pd.DataFrame(X, columns=["a", "b"])
        assert list(model().fit_path(frame, y, [1.0, 2.0])[1].feature_names_in_) == ["a", "b"]


class TestSparseInPoints:
    def test_both_machines_are_there(self):
        m = SubspaceLPSVC(30, n_landmarks=200, n_vectors=40, random_state=0)
        m.fit(DIGITS[:800], NUMBERS[:800])
        assert m.n_vectors_ == 40
        assert m.subspace_machine_.n_vectors == 200
        plain = clone(m).set_params(n_vectors=None).fit(DIGITS[:800], NUMBERS[:800])
        assert plain.machine_ == m.subspace_machine_
        assert plain.relative_error_ == 0.0
        assert 0.0 < m.relative_error_ < 1.0
        rest = DIGITS[800:], NUMBERS[800:]
        assert m.score(*rest) > plain.score(*rest) - 0.03
        assert compress(plain, 40).n_vectors_ == 40

    def test_a_larger_budget_changes_nothing(self):
        assert model(n_vectors=40).fit(X, y).machine_ == model().fit(X, y).machine_


class Batches:
    def __init__(self, *parts):
        self.parts, self.n_readings = parts, 0

    def __iter__(self):
        self.n_readings += 1
        return iter(self.parts)


class TestBatches:
    def parts(self, n=5):
        return Batches(*[(X[k::n], y[k::n]) for k in range(n)])

    def test_the_same_landmarks_give_the_same_machine(self, tmp_path):
        batches = self.parts()
        m = model(landmarks=X[:40]).fit_batches(batches, folder=tmp_path)
        assert list(tmp_path.iterdir()) == []
        assert m.n_features_in_ == 2
        whole = model(landmarks=X[:40]).fit(X, y)
        # coordinates are in single precision on disk
        assert_allclose(m.objective_, whole.objective_, rtol=1e-5)
        assert_allclose(m.decision_function(X), whole.decision_function(X), atol=1e-3)

    def test_random_landmarks(self):
        m = SubspaceLPSVC(20, n_landmarks=100, random_state=0)
        parts = [(DIGITS[k : k + 200], NUMBERS[k : k + 200]) for k in range(0, 1200, 200)]
        m.fit_batches(parts)
        assert m.score(DIGITS[1200:], NUMBERS[1200:]) > 0.85
        assert all((z == DIGITS).all(axis=1).any() for z in m.vectors_)
        texts = [(sparse.csr_matrix(rows), labels.astype(str)) for rows, labels in parts]
        other = clone(m).fit_batches(texts)
        assert_array_equal(other.predict(DIGITS).astype(int), m.predict(DIGITS))

    def test_the_sample_is_uniform_over_all_batches(self):
        rows = np.arange(300.0)[:, None]
        parts = [(rows[a:b], np.arange(a, b) % 2) for a, b in ((0, 10), (10, 250), (250, 300))]
        drawn = np.zeros(300)
        for seed in range(400):
            seen = survey(parts, 30, np.random.RandomState(seed))
            assert seen.sample.shape == (30, 1)
            drawn[seen.sample[:, 0].astype(int)] += 1
        assert seen.n_rows == 300
        # binomial counts of mean 40 and standard deviation 6
        assert drawn.min() > 15 and drawn.max() < 68
        assert abs(drawn[:10].mean() - 40) < 8

    def test_mistakes_are_named(self):
        with pytest.raises(ValueError, match="read twice"):
            model().fit_batches(iter([(X, y)]))
        with pytest.raises(ValueError, match="no rows"):
            model().fit_batches([])
        with pytest.raises(ValueError, match="one class"):
            model().fit_batches([(X, np.zeros(len(X)))])
        with pytest.raises(ValueError, match="columns"):
            model().fit_batches([(X, y), (np.hstack([X, X]), y)])

        class Changing(Batches):
            def __iter__(self):
                self.n_readings += 1
                return iter(self.parts[: 1 if self.n_readings > 2 else 2])

        with pytest.raises(ValueError, match="changed"):
            model().fit_batches(Changing((X, y), (X, y)))


class TestEstimator:
    def test_weights_equal_repetition(self):
        weights = np.random.default_rng(0).integers(0, 4, len(X))
        weighted = model().fit(X, y, sample_weight=weights)
        repeated = model().fit(np.repeat(X, weights, axis=0), np.repeat(y, weights))
        assert weighted.machine_ == repeated.machine_
        by_class = model(class_weight={0: 2.0}, landmarks=X[:30]).fit(X, y)
        by_row = model(landmarks=X[:30]).fit(X, y, np.where(y == 0, 2.0, 1.0))
        assert by_class.machine_ == by_row.machine_

    def test_labels_frames_sparse_and_single_precision(self):
        plain = model().fit(X, y)
        names = np.array(["no", "yes"])
        frame = pd.DataFrame(X, columns=["a", "b"])
        assert_array_equal(model().fit(frame, names[y]).predict(frame), names[plain.predict(X)])
        csr = model().fit(sparse.csr_matrix(X), y)
        assert_allclose(csr.objective_, plain.objective_, rtol=1e-6)
        single = model().fit(X.astype(np.float32), y)
        assert_allclose(single.score(X, y), plain.score(X, y), atol=0.02)

    def test_refits_copies_and_searches(self):
        m = model()
        first = m.fit(X, y).machine_
        assert m.fit(X, y).machine_ == first
        assert clone(m).fit(X, y).machine_ == first
        loaded = pickle.loads(pickle.dumps(m))
        assert_array_equal(loaded.decision_function(X), m.decision_function(X))
        grid = {"C": [1.0, 10.0], "norm": [1, "inf"]}
        assert GridSearchCV(model(), grid, cv=3).fit(X, y).best_score_ > 0.8

    @pytest.mark.parametrize(
        ("parameters", "word"),
        [
            ({"C": 0.0}, "C"),
            ({"norm": 2}, "norm"),
            ({"norm": True}, "norm"),
            ({"strategy": "pairs"}, "strategy"),
            ({"tol": 0.0}, "tol"),
            ({"n_components": 0}, "n_components"),
            ({"n_vectors": 0}, "n_vectors"),
            ({"n_landmarks": 5}, "n_landmarks"),
        ],
    )
    def test_bad_parameters_are_named(self, parameters, word):
        with pytest.raises(ValueError, match=word):
            model(**parameters).fit(X, y)

    def test_the_direct_program_has_one_norm_only(self):
        with pytest.raises(ValueError, match="needs norm=1"):
            model(strategy="direct", norm="inf").fit(IRIS, SPECIES)

    def test_a_gap_is_reported(self, monkeypatch):
        solve = programs.hinge_lasso_many

        def rough(*args, **settings):
            solutions = solve(*args, **settings)
            return [replace(solution, status=Status.NUMERICAL_LIMIT) for solution in solutions]

        monkeypatch.setattr(programs, "hinge_lasso_many", rough)
        with pytest.warns(ConvergenceWarning, match="relative gap of"):
            model().fit(X, y)

    def test_interrupt_leaves_a_usable_model(self, monkeypatch):
        solve, calls = programs.hinge_lasso_many, []

        def interrupted(Phi, *args, **settings):
            calls.append(len(Phi))
            if len(calls) == 1:
                raise KeyboardInterrupt
            return solve(Phi, *args, **settings)

        monkeypatch.setattr(programs, "hinge_lasso_many", interrupted)
        monkeypatch.setattr(learn, "_INTERRUPTED_ROWS", 50)
        with pytest.warns(ConvergenceWarning, match="Ctrl-C"):
            m = model(gamma=0.5).fit(IRIS, SPECIES)
        assert m.interrupted_
        # a row more than a third of them for each class
        assert calls[1] <= 53 < calls[0]
        assert m.score(IRIS, SPECIES) > 0.9
        assert not model().fit(X, y).interrupted_

    def test_interrupt_in_batches_leaves_a_usable_model(self, monkeypatch):
        solve, calls = programs.hinge_lasso_many, []

        def interrupted(*args, **settings):
            calls.append(1)
            if len(calls) == 1:
                raise KeyboardInterrupt
            return solve(*args, **settings)

        monkeypatch.setattr(programs, "hinge_lasso_many", interrupted)
        with pytest.warns(ConvergenceWarning, match="Ctrl-C"):
            m = model(gamma=0.5).fit_batches(
                [(IRIS[::2], SPECIES[::2]), (IRIS[1::2], SPECIES[1::2])]
            )
        assert m.interrupted_
        assert m.score(IRIS, SPECIES) > 0.9

    def test_interrupt_ends_one_model_of_a_path(self, monkeypatch):
        solve, calls = programs.hinge_lasso_many, []

        def interrupted(*args, **settings):
            calls.append(1)
            if len(calls) == 2:
                raise KeyboardInterrupt
            return solve(*args, **settings)

        monkeypatch.setattr(programs, "hinge_lasso_many", interrupted)
        with pytest.warns(ConvergenceWarning, match="Ctrl-C"):
            path = model().fit_path(X, y, [1.0, 2.0, 3.0])
        assert [m.interrupted_ for m in path] == [False, True, False]

    def test_files(self, tmp_path):
        for fitted in (model().fit(X, y), KernelSubspace(5, random_state=0).fit(X)):
            fitted.save(tmp_path / "model.kernelet")
            loaded = load(tmp_path / "model.kernelet")
            assert loaded.machine_ == fitted.machine_
            assert_array_equal(loaded.eigenvalues_, fitted.eigenvalues_)
            assert loaded.n_components_ == fitted.n_components_

    def test_stages_are_printed(self, capsys):
        m = model(verbose=1).fit(X, y)
        line = capsys.readouterr().err
        assert all(stage in line for stage in ("eigenvectors", "projection", "linear_programs"))
        assert set(m.seconds_) == {"eigenvectors", "projection", "linear_programs", "compression"}
