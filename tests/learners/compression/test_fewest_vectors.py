"""compress(n_vectors="auto"): as few vectors as keep the scores, and what the result says."""

from __future__ import annotations

import re
import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.datasets import load_digits
from sklearn.svm import SVC, SVR, OneClassSVM

from kernelet import load
from kernelet.datasets import make_banana
from kernelet.kernels import Gaussian, Linear
from kernelet.learners import SparseSVC, compress
from kernelet.learners.compression.fewest_vectors import fewest_vectors
from kernelet.learners.direct.reduced_set import ReducedSet
from kernelet.machine import KernelMachine, stored_bytes

X, y = make_banana(150, random_state=0)
NEW = np.random.default_rng(0).uniform(-2.0, 2.0, (300, 2))
DIGITS, FIGURES = load_digits(n_class=4, return_X_y=True)
DIGITS = DIGITS / 16.0
TARGET = np.sin(2.0 * X[:, 0]) + X[:, 1]
OVO = {"decision_function_shape": "ovo"}


def gram(A, B, gamma):
    return np.exp(-gamma * np.square(A[:, None, :] - B[None, :, :]).sum(axis=2))


def score_error(small, model, rows):
    """From the scores that the two models give themselves."""
    exact, near = model.decision_function(rows), small.decision_function(rows)
    return np.sqrt(np.mean((exact - near) ** 2) / np.mean(exact**2))


def distance(small, svc):
    """In the feature space, relative, with kernel values and coefficients of scikit-learn's own."""
    gamma = svc._gamma
    points = np.vstack([svc.support_vectors_, small.vectors_])
    weights = np.concatenate([svc.dual_coef_[0], -small.machine_.coefficients[:, 0]])
    alone = np.where(np.arange(len(points)) < len(svc.support_vectors_), weights, 0.0)
    K = gram(points, points, gamma)
    return np.sqrt((weights @ K @ weights) / (alone @ K @ alone))


class TestAuto:
    @pytest.mark.parametrize("max_error", [0.3, 0.05, 0.005])
    def test_of_scores_on_rows(self, max_error):
        svc = SVC(C=10.0, **OVO).fit(DIGITS[:300], FIGURES[:300])
        small = compress(svc, "auto", DIGITS[:300], max_error=max_error)
        found = score_error(small, svc, DIGITS[:300])
        assert_allclose(small.score_error_, found, rtol=1e-6)
        assert found <= max_error
        one_less = compress(svc, small.n_vectors_ - 1, DIGITS[:300])
        assert score_error(one_less, svc, DIGITS[:300]) > max_error
        assert 1 < small.n_vectors_ < len(svc.support_)

    @pytest.mark.parametrize("max_error", [0.5, 0.05, 0.005])
    def test_in_the_feature_space(self, max_error):
        svc = SVC(C=5.0).fit(X, y)
        small = compress(svc, n_vectors="auto", max_error=max_error)
        assert_allclose(small.relative_error_, distance(small, svc), rtol=1e-4)
        assert distance(small, svc) <= max_error
        assert distance(compress(svc, small.n_vectors_ - 1), svc) > max_error
        assert np.isnan(small.score_error_)

    def test_the_error_has_a_default(self):
        svc = SVC(C=5.0).fit(X, y)
        small = compress(svc, "auto")
        assert small.n_vectors_ == compress(svc, "auto", max_error=0.005).n_vectors_
        assert distance(small, svc) <= 0.005

    def test_it_is_what_the_number_gives(self):
        svc = SVC().fit(X, y)
        small = compress(svc, "auto", max_error=0.1, n_init=2, random_state=3)
        again = compress(svc, small.n_vectors_, n_init=2, random_state=3)
        assert again.machine_ == small.machine_

    @pytest.mark.parametrize("model", [SVR(), OneClassSVM(nu=0.3)], ids=["SVR", "one class"])
    def test_other_models(self, model):
        model.fit(X, TARGET)
        small = compress(model, "auto", NEW, max_error=0.01)
        scores = "predict" if isinstance(model, SVR) else "decision_function"
        exact, near = getattr(model, scores)(NEW), getattr(small, scores)(NEW)
        assert np.sqrt(np.mean((exact - near) ** 2) / np.mean(exact**2)) <= 0.01
        assert small.n_vectors_ < len(model.support_)

    def test_a_machine(self):
        machine = SparseSVC(20, random_state=0).fit(X, y).machine_
        small = compress(machine, "auto", NEW, max_error=0.05)
        assert isinstance(small, KernelMachine)
        assert small.n_vectors < 20
        assert score_error(small, machine, NEW) <= 0.05
        assert score_error(compress(machine, small.n_vectors - 1), machine, NEW) > 0.05

    def test_functions_of_few_dimensions(self):
        """x'z in two dimensions: the functions need two vectors, whatever the error."""
        machine = KernelMachine(
            Linear(), X, np.random.default_rng(0).normal(size=(150, 3)), np.zeros(3)
        )
        small = compress(machine, "auto", max_error=1e-6)
        assert small.n_vectors == 2
        assert_allclose(
            small.decision_function(NEW), machine.decision_function(NEW), rtol=1e-4, atol=1e-3
        )

    def test_a_constant_model(self):
        machine = KernelMachine(Gaussian(1.0), X, np.zeros(150), 2.0)
        assert compress(machine, "auto").n_vectors == 1

    def test_few_tries(self):
        """Of 542 vectors, a bisection of numbers would try nine or ten, of all sizes."""
        tried = []

        def reduced_to(number):
            tried.append(number)
            # as measured on digits: exponential at first, and exact at the end
            error = np.exp(-number / 60.0) * (1.0 - number / 542.0)
            machine = KernelMachine(Gaussian(), np.zeros((number, 1)), np.zeros(number))
            return ReducedSet(machine, error, error)

        for max_error in (0.9, 0.3, 0.1, 0.01, 1e-3, 1e-5):
            tried.clear()
            best = fewest_vectors(reduced_to, lambda r: r.relative_error, max_error, 542)
            assert best.relative_error <= max_error
            assert best.machine.n_vectors - 1 in tried
            assert len(tried) == len(set(tried)) <= 10

    def test_all_vectors_are_needed(self):
        """Orthogonal functions of the same norm: each that is missing counts."""
        machine = KernelMachine(Gaussian(1.0), 100.0 * np.arange(8.0)[:, None], np.ones(8))
        with pytest.warns(UserWarning, match="needs all of its 8 vectors"):
            same = compress(machine, "auto", max_error=0.1)
        assert same is machine

    def test_not_even_all_vectors_are_enough(self):
        svc = SVC(C=5.0).fit(X, y)
        n_vectors = len(svc.support_)
        with pytest.raises(ValueError, match=rf"even all {n_vectors} vectors .* more vector_bits"):
            compress(svc, "auto", X, max_error=0.001, vector_bits=2)
        small = compress(svc, "auto", X, max_error=0.1, vector_bits=8)
        assert small.machine_.compact is not None
        assert score_error(small, svc, X) <= 0.1

    @pytest.mark.parametrize(
        ("options", "words"),
        [
            ({"n_vectors": "fewest"}, "n_vectors must be a whole number or .auto.; got 'fewest'"),
            ({"max_error": 0.0}, "max_error must be a finite number above zero"),
            ({"refit": "margin", "X": X, "y": y}, 'refit="margin" learns others'),
        ],
    )
    def test_errors(self, options, words):
        with pytest.raises(ValueError, match=words):
            compress(SVC().fit(X, y), **{"n_vectors": "auto", **options})


class TestModelsThatAreSmaller:
    def test_a_warning_says_so(self):
        svc = SVC().fit(X, y)
        n_vectors = len(svc.support_)
        with pytest.warns(
            UserWarning, match=f"has {n_vectors} vectors, fewer than n_vectors=5000, so the"
        ) as caught:
            same = compress(svc, n_vectors=5000)
        assert caught[0].filename == __file__
        assert same.n_vectors_ == n_vectors
        assert_allclose(same.decision_function(NEW), svc.decision_function(NEW), atol=1e-12)

    def test_as_many_as_there_are_is_no_surprise(self):
        svc = SVC().fit(X, y)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            assert compress(svc, len(svc.support_)).n_vectors_ == len(svc.support_)


class TestRepr:
    def test_vectors_and_bytes(self):
        svc = SVC(C=10.0).fit(DIGITS[:300], FIGURES[:300])
        small = compress(svc, 20)
        before = 8 * (len(svc.support_) * (64 + 6) + 6)
        after = 8 * (20 * (64 + 6) + 6)
        assert (small.n_vectors_before_, small.n_bytes_before_) == (len(svc.support_), before)
        sizes = f"{before / 1000:.1f} kB -> {after / 1000:.1f} kB"
        numbers = f"{len(svc.support_)} -> 20 vectors"
        assert repr(small) == f"CompressedPairwiseClassifier({numbers}, {sizes})"

    def test_in_few_bits(self):
        small = compress(SVC().fit(X, y), 10, vector_bits=5)
        text = f"-> 10 vectors, {8 * (small.n_vectors_before_ * 3 + 1) / 1000:.1f} kB -> "
        assert repr(small).endswith(f"{text}{stored_bytes(small.machine_)} bytes)")

    def test_files_and_clones_keep_it(self, tmp_path):
        for model in (SVC().fit(X, y), SVR().fit(X, TARGET), OneClassSVM(nu=0.2).fit(X)):
            small = compress(model, 7, X)
            small.save(tmp_path / "small.kernelet")
            loaded = load(tmp_path / "small.kernelet")
            assert repr(loaded) == repr(small) == repr(clone(small))
            assert loaded.score_error_ == small.score_error_
            assert_array_equal(loaded.predict(NEW), small.predict(NEW))

    def test_of_a_model_compressed_twice(self):
        once = compress(SVC().fit(X, y), 20, X)
        twice = compress(once, 5)
        assert twice.n_vectors_before_ == 20
        assert np.isnan(twice.score_error_)
        assert "(20 -> 5 vectors, " in repr(twice)

    def test_unfitted_and_older_ones(self):
        small = compress(SVC().fit(X, y), 5)
        del small.n_vectors_before_
        assert re.fullmatch(r"CompressedClassifier\(5 vectors, \d+ bytes\)", repr(small))
        assert repr(type(small)()) == "CompressedClassifier()"
