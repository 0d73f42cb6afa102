"""Kernel Fisher discriminants against eigenvalue problems over the full Gram matrix."""

from __future__ import annotations

import pickle
import warnings

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from scipy.linalg import eigh
from sklearn.base import clone
from sklearn.datasets import load_digits, load_iris, load_wine
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.model_selection import GridSearchCV
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from kernelet.datasets import make_banana
from kernelet.kernels import Gaussian, Matern52, Polynomial
from kernelet.learners import KernelFisherClassifier, KernelFisherDiscriminant
from kernelet.learners.direct.problems.fisher import ContrastProblem
from kernelet.learners.direct.search.marginal_objective import MarginalObjective

X, y = make_banana(120, random_state=0)
WEIGHTS = np.random.default_rng(0).uniform(0.5, 2.0, 120)
IRIS, SPECIES = load_iris(return_X_y=True)
IRIS = StandardScaler().fit_transform(IRIS)
# the Matérn kernel: its Gram matrix has all its rank, so that the oracle is well conditioned
KERNELS = [Matern52(0.5), Gaussian(2.0)]
kernels = pytest.mark.parametrize("kernel", KERNELS, ids=lambda k: k.name)
mus = pytest.mark.parametrize("mu", [1e-1, 1e-3])


def scatters(K, codes, weights, mu):
    """S_b and S_w + mu K as matrices over the coefficients of all rows, by loops over classes."""
    share = weights / weights.sum()
    grand = share @ K
    between, within = np.zeros_like(K), mu * K
    for c in np.unique(codes):
        rows, size = codes == c, share[codes == c].sum()
        mean = share[rows] @ K[rows] / size
        between += size * np.outer(mean - grand, mean - grand)
        centred = K[rows] - mean
        within += centred.T @ (share[rows, None] * centred)
    return between, within


def contrast_oracle(kernel, codes, weights, mu):
    """Eigenvalue and scores of (60)-(62) for two classes, over the span of all rows."""
    K = kernel(X, X)
    _, within = scatters(K, codes, weights, mu)
    means = [np.average(K[codes == c], axis=0, weights=weights[codes == c]) for c in (1, 0)]
    contrast = means[0] - means[1]
    alpha = np.linalg.solve(within + 1e-12 * np.eye(len(K)), contrast)
    return contrast @ alpha, K @ alpha


class TestClassifier:
    @kernels
    @mus
    def test_full_is_the_generalised_eigenvector(self, kernel, mu):
        m = KernelFisherClassifier(kernel=kernel, mu=mu).fit(X, y, WEIGHTS)
        eigenvalue, scores = contrast_oracle(kernel, y, WEIGHTS, mu)
        assert_allclose(m.objective_, eigenvalue, rtol=1e-6)
        assert m.n_vectors_ == 120
        assert m.n_iter_ == 1
        # slope and bias come after: the scores are an increasing affine function of the oracle's
        ours = m.decision_function(X)
        assert_allclose(np.corrcoef(ours, scores)[0, 1], 1.0, atol=1e-8)

    @pytest.mark.parametrize("C", [1e-3, 1.0])
    def test_slope_and_bias_are_an_svm_on_the_direction(self, C):
        m = KernelFisherClassifier(kernel=KERNELS[0], C=C).fit(X, y)
        _, scores = contrast_oracle(KERNELS[0], y, np.ones(120), 1e-3)
        # the direction has unit length in S_w + mu
        _, within = scatters(KERNELS[0](X, X), y, np.ones(120), 1e-3)
        alpha = np.linalg.solve(KERNELS[0](X, X), scores)
        unit = scores / np.sqrt(alpha @ within @ alpha)
        svc = SVC(C=C, kernel="linear", tol=1e-7).fit(unit[:, None], y)
        assert_allclose(m.decision_function(X), svc.decision_function(unit[:, None]), atol=1e-3)

    @kernels
    @mus
    def test_sparse_never_passes_the_full(self, kernel, mu):
        full = KernelFisherClassifier(kernel=kernel, mu=mu).fit(X, y).objective_
        ends = []
        for m in (1, 3, 8):
            sparse_model = KernelFisherClassifier(m, kernel=kernel, mu=mu, random_state=0).fit(X, y)
            assert sparse_model.n_vectors_ == m
            ends.append(sparse_model.objective_)
        assert ends[0] < ends[1] < ends[2] <= full * (1.0 + 1e-6)
        assert ends[2] > 0.5 * full

    def test_vectors_at_all_rows_are_the_full_one(self):
        full = KernelFisherClassifier(kernel=KERNELS[0], mu=0.1).fit(X, y)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            same = KernelFisherClassifier(120, init=X, kernel=KERNELS[0], mu=0.1, max_iter=1).fit(
                X, y
            )
        assert_allclose(same.objective_, full.objective_, rtol=1e-4)

    def test_learned_vectors_beat_chosen_ones(self):
        learned = KernelFisherClassifier(5, gamma=1.0, random_state=0).fit(X, y).objective_
        rng = np.random.default_rng(0)
        for _ in range(10):
            Z = X[rng.choice(120, 5, replace=False)]
            K, gram = Gaussian(1.0)(X, Z), Gaussian(1.0)(Z, Z)
            means = [K[y == c].mean(axis=0) for c in (1, 0)]
            centred = K - np.where(y[:, None] == 1, means[0], means[1])
            within = centred.T @ centred / 120.0 + 1e-3 * gram
            contrast = means[0] - means[1]
            assert contrast @ np.linalg.solve(within, contrast) < learned

    def test_many_classes(self):
        full = KernelFisherClassifier().fit(IRIS, SPECIES)
        few = KernelFisherClassifier(6, random_state=0).fit(IRIS, SPECIES)
        assert few.n_vectors_ == 6
        assert few.machine_.n_outputs == full.machine_.n_outputs == 3
        assert few.objective_ <= full.objective_
        # the sum of eigenvalues is mostly that of the class that is easily separated
        assert few.score(IRIS, SPECIES) > 0.85
        assert full.score(IRIS, SPECIES) > 0.95
        alone = [KernelFisherClassifier().fit(IRIS, k == SPECIES).objective_ for k in range(3)]
        assert_allclose(full.objective_, np.sum(alone), rtol=1e-6)

    def test_accuracy_on_unseen_rows(self):
        rows, labels = make_banana(2000, random_state=5)
        best = SVC().fit(X, y).score(rows, labels)
        for m in (None, 8):
            model = KernelFisherClassifier(m, mu=1e-2, random_state=0).fit(X, y)
            assert model.score(rows, labels) > best - 0.03

    @pytest.mark.parametrize("n_vectors", [None, 4])
    def test_weights_strings_sparse_pandas(self, n_vectors):
        def model(**parameters):
            return KernelFisherClassifier(n_vectors, random_state=0, **parameters)

        times = np.random.default_rng(0).integers(0, 3, 150)
        weighted = model(class_weight="balanced").fit(IRIS, SPECIES, times)
        repeated = model(class_weight="balanced").fit(
            np.repeat(IRIS, times, axis=0), np.repeat(SPECIES, times)
        )
        assert weighted.machine_ == repeated.machine_
        plain = model().fit(IRIS, SPECIES)
        names = np.array(["a", "b", "c"])[SPECIES]
        frame = pd.DataFrame(IRIS, columns=list("wxyz"))
        named = model().fit(frame, names)
        assert named.machine_ == plain.machine_
        assert_array_equal(named.feature_names_in_, list("wxyz"))
        assert set(named.predict(frame)) == {"a", "b", "c"}
        csr = model().fit(sparse.csr_array(IRIS), SPECIES)
        assert np.mean(csr.predict(IRIS) == plain.predict(IRIS)) > 0.97
        single = model().fit(IRIS.astype(np.float32), SPECIES)
        assert np.mean(single.predict(IRIS) == plain.predict(IRIS)) > 0.97
        assert clone(plain).fit(IRIS, SPECIES).machine_ == plain.machine_
        assert pickle.loads(pickle.dumps(plain)).machine_ == plain.machine_

    @pytest.mark.parametrize("n_vectors", [None, 4])
    @pytest.mark.parametrize("absent", [0, 1, 2])
    def test_a_class_of_weight_zero_is_never_predicted(self, n_vectors, absent):
        m = KernelFisherClassifier(n_vectors, random_state=0)
        m.fit(IRIS, SPECIES, sample_weight=(absent != SPECIES).astype(float))
        assert_array_equal(m.classes_, [0, 1, 2])
        assert absent not in m.predict(IRIS)
        assert np.mean(m.predict(IRIS)[absent != SPECIES] == SPECIES[absent != SPECIES]) > 0.9

    @pytest.mark.parametrize(
        ("parameters", "words"),
        [
            ({"n_vectors": 0}, "n_vectors must"),
            ({"mu": 0.0}, "mu must"),
            ({"C": -1.0}, "C must"),
            ({"n_vectors": 4, "tol": 0.0}, "tol must"),
            ({"n_vectors": 4, "max_iter": 0}, "max_iter must"),
            ({"n_vectors": 4, "init": "means"}, "means"),
            (
                {"n_vectors": 4, "kernel": lambda A, B: A @ B.T},
                "KernelFisherClassifier needs the gradient",
            ),
            ({"class_weight": {0: 0.0}}, "two classes"),
        ],
    )
    def test_a_bad_parameter_is_named(self, parameters, words):
        with pytest.raises(ValueError, match=words):
            KernelFisherClassifier(**parameters).fit(X, y)

    def test_one_class_and_nan(self):
        with pytest.raises(ValueError, match="two classes"):
            KernelFisherClassifier().fit(X, np.zeros(120))
        with pytest.raises(ValueError, match="NaN"):
            KernelFisherClassifier().fit(np.where(X > 0, np.nan, X), y)

    def test_functions_as_kernels_take_all_rows(self):
        m = KernelFisherClassifier(kernel=lambda A, B: Gaussian(1.0)(A, B)).fit(X, y)
        same = KernelFisherClassifier(gamma=1.0).fit(X, y)
        assert_allclose(m.objective_, same.objective_, rtol=1e-6)

    def test_duplicate_rows_are_one_vector(self):
        m = KernelFisherClassifier().fit(np.repeat(X, 2, axis=0), np.repeat(y, 2))
        assert m.n_vectors_ == 120
        contradicting = KernelFisherClassifier().fit(np.vstack([X, X[:5]]), np.append(y, 1 - y[:5]))
        assert contradicting.n_vectors_ == 120

    def test_features_beside_which_mu_has_no_digits(self):
        """Twenty multiples of one feature: their variance is singular, up to rounding."""
        rng = np.random.default_rng(0)
        scores = rng.normal(size=100) + np.repeat([0.0, 5.0], 50)
        Phi = 1e20 * np.outer(scores, rng.normal(size=20))
        targets = np.repeat([[-1.0], [1.0]], 50, axis=0)
        solution = ContrastProblem(targets, np.ones(100), 1e-3).solve(Phi, None)
        found = Phi @ solution.weights[:, 0]
        assert abs(np.corrcoef(found, scores)[0, 1]) > 0.99

    @pytest.mark.filterwarnings("ignore:.*the same for all:UserWarning")
    @pytest.mark.parametrize("gamma", [1e-9, 1e9])
    @pytest.mark.parametrize("n_vectors", [None, 5])
    def test_extreme_widths(self, gamma, n_vectors):
        m = KernelFisherClassifier(n_vectors, gamma=gamma, random_state=0).fit(X, y)
        assert np.isfinite(m.decision_function(X)).all()

    @pytest.mark.parametrize("mu", [1e-12, 1e9])
    def test_extreme_regularisation(self, mu):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            m = KernelFisherClassifier(5, mu=mu, random_state=0).fit(X, y)
        assert m.score(X, y) > 0.7

    def test_too_few_steps_and_interrupts(self, monkeypatch):
        with pytest.warns(ConvergenceWarning, match=r"KernelFisherClassifier .* max_iter=1 "):
            KernelFisherClassifier(4, max_iter=1, random_state=0).fit(X, y)
        evaluate, calls = MarginalObjective.__call__, []

        def interrupted(self, Z, rank=None):
            calls.append(1)
            if len(calls) == 5:
                raise KeyboardInterrupt
            return evaluate(self, Z, rank)

        monkeypatch.setattr(MarginalObjective, "__call__", interrupted)
        with pytest.warns(ConvergenceWarning, match="interrupted"):
            m = KernelFisherClassifier(4, random_state=0).fit(X, y)
        assert m.score(X, y) > 0.7

    def test_verbose_and_grid_search(self, capsys):
        m = KernelFisherClassifier(4, random_state=0, verbose=1).fit(X, y)
        out, err = capsys.readouterr()
        assert out == ""
        assert len(err.splitlines()) == m.n_iter_
        search = GridSearchCV(
            KernelFisherClassifier(random_state=0, max_iter=500), {"n_vectors": [1, 6]}, cv=2
        ).fit(X, y)
        assert search.best_params_ == {"n_vectors": 6}


class TestDiscriminant:
    @kernels
    @mus
    def test_features_are_the_generalised_eigenvectors(self, kernel, mu):
        codes = np.digitize(X[:, 0] + 0.5 * X[:, 1], [0.0, 1.0])
        model = KernelFisherDiscriminant(kernel=kernel, mu=mu).fit(X, codes, WEIGHTS)
        K = kernel(X, X)
        between, within = scatters(K, codes, WEIGHTS, mu)
        values, alpha = eigh(between, within + 1e-12 * np.eye(120))
        values, alpha = values[:-3:-1], alpha[:, :-3:-1]
        assert_allclose(model.objective_, values.sum(), rtol=1e-6)
        expected = K @ alpha
        expected = expected - np.average(expected, axis=0, weights=WEIGHTS)
        features = model.transform(X)
        assert features.shape == (120, 2)
        signs = np.sign((features * expected).sum(axis=0))
        scale = np.abs(expected).max()
        assert_allclose(features, signs * expected, atol=1e-4 * scale)

    def test_linear_kernel_is_linear_discriminant_analysis(self):
        """With little regularisation, up to a linear map of the features."""
        wine, cultivar = load_wine(return_X_y=True)
        wine = StandardScaler().fit_transform(wine)
        features = KernelFisherDiscriminant(kernel="linear", mu=1e-9).fit_transform(wine, cultivar)
        lda = LinearDiscriminantAnalysis(solver="eigen").fit(wine, cultivar)
        expected = lda.transform(wine)[:, :2]
        _, residual, *_ = np.linalg.lstsq(
            np.column_stack([features, np.ones(len(wine))]), expected, rcond=None
        )
        assert residual.max() < 1e-8 * np.square(expected).sum()

    def test_fewer_features_are_the_first_ones(self):
        digits, figures = load_digits(n_class=5, return_X_y=True)
        digits, figures = digits[:150], figures[:150]
        four = KernelFisherDiscriminant().fit(digits, figures)
        two = KernelFisherDiscriminant(2).fit(digits, figures)
        assert four.transform(digits).shape == (150, 4)
        assert_allclose(two.transform(digits), four.transform(digits)[:, :2], atol=1e-6)
        assert two.objective_ < four.objective_

    def test_sparse_never_passes_the_full(self):
        full = KernelFisherDiscriminant(gamma=0.3).fit(IRIS, SPECIES).objective_
        ends = [
            KernelFisherDiscriminant(n_vectors=m, gamma=0.3, random_state=0)
            .fit(IRIS, SPECIES)
            .objective_
            for m in (2, 5, 12)
        ]
        assert ends[0] < ends[1] < ends[2] <= full * (1.0 + 1e-6)

    def test_features_separate_the_classes(self):
        pipe = make_pipeline(
            KernelFisherDiscriminant(n_vectors=8, random_state=0), KNeighborsClassifier(3)
        )
        assert pipe.fit(IRIS, SPECIES).score(IRIS, SPECIES) > 0.95

    @pytest.mark.parametrize(
        ("parameters", "words"),
        [
            ({"n_components": 3}, "n_components=3 is more than 2, one fewer"),
            ({"n_components": 0}, "n_components must"),
            ({"n_components": 2, "n_vectors": 1}, "2 features need at least as many vectors"),
            ({"n_vectors": 1}, "2 features need at least as many vectors"),
            ({"mu": -1.0}, "mu must"),
            ({"n_vectors": 0}, "n_vectors must"),
        ],
    )
    def test_a_bad_parameter_is_named(self, parameters, words):
        with pytest.raises(ValueError, match=words):
            KernelFisherDiscriminant(**parameters).fit(IRIS, SPECIES)

    def test_one_class_and_not_fitted(self):
        with pytest.raises(ValueError, match="two classes"):
            KernelFisherDiscriminant().fit(IRIS, np.zeros(150))
        with pytest.raises(NotFittedError):
            KernelFisherDiscriminant().transform(IRIS)

    @pytest.mark.parametrize("absent", [0, 1, 2])
    def test_a_class_of_weight_zero_is_none(self, absent):
        kept = absent != SPECIES
        model = KernelFisherDiscriminant().fit(IRIS, SPECIES, kept.astype(float))
        alone = KernelFisherDiscriminant().fit(IRIS[kept], SPECIES[kept])
        assert model.machine_ == alone.machine_
        assert model.transform(IRIS).shape == (150, 1)
        with pytest.raises(ValueError, match="more than 1"):
            KernelFisherDiscriminant(2).fit(IRIS, SPECIES, kept.astype(float))

    @pytest.mark.parametrize("n_vectors", [None, 6])
    def test_frames_in_and_out(self, n_vectors):
        frame = pd.DataFrame(IRIS, columns=list("wxyz"))
        model = KernelFisherDiscriminant(n_vectors=n_vectors, random_state=0)
        out = model.set_output(transform="pandas").fit_transform(frame, SPECIES)
        names = ["kernelfisherdiscriminant0", "kernelfisherdiscriminant1"]
        assert list(out.columns) == names
        assert_array_equal(model.get_feature_names_out(), names)
        assert_array_equal(model.feature_names_in_, list("wxyz"))
        plain = KernelFisherDiscriminant(n_vectors=n_vectors, random_state=0).fit(IRIS, SPECIES)
        assert_array_equal(out.to_numpy(), plain.transform(IRIS))

    @pytest.mark.parametrize("n_vectors", [None, 6])
    def test_weights_sparse_float32_and_copies(self, n_vectors):
        def model():
            return KernelFisherDiscriminant(n_vectors=n_vectors, random_state=0)

        times = np.random.default_rng(0).integers(0, 3, 150)
        weighted = model().fit(IRIS, SPECIES, times)
        repeated = model().fit(np.repeat(IRIS, times, axis=0), np.repeat(SPECIES, times))
        assert weighted.machine_ == repeated.machine_
        plain = model().fit(IRIS, SPECIES)
        assert_allclose(plain.transform(sparse.csr_array(IRIS)), plain.transform(IRIS), atol=1e-9)
        single = plain.transform(IRIS.astype(np.float32))
        assert_allclose(single, plain.transform(IRIS), atol=1e-3 * np.abs(single).max())
        assert clone(plain).fit(IRIS, SPECIES).machine_ == plain.machine_
        assert pickle.loads(pickle.dumps(plain)).machine_ == plain.machine_

    def test_polynomial_features(self):
        """A kernel whose feature space is small: the rank is that of the space, not of the rows."""
        model = KernelFisherDiscriminant(kernel=Polynomial(1.0, 1.0, 2), mu=1e-3)
        features = model.fit(X, np.digitize(X[:, 0], [0.0, 1.0])).transform(X)
        assert np.isfinite(features).all()
        assert np.abs(features).max() < 100.0
