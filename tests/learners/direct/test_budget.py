"""n_vectors="auto" and max_bytes: oracles are plain loops over folds, and separate fits."""

from __future__ import annotations

import re
import warnings
from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import accuracy_score, r2_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from kernelet import ModelFileError, load
from kernelet.datasets import make_ripley
from kernelet.kernels import Gaussian
from kernelet.learners import (
    SparseKernelPCA,
    SparseKernelRidge,
    SparseOneClassSVM,
    SparseSVC,
    SparseSVR,
)
from kernelet.learners.base.progress import HAS_CALLBACKS, Loop
from kernelet.learners.direct import estimator as direct_estimator
from kernelet.learners.direct import few_bits
from kernelet.learners.direct import learn as direct_learn
from kernelet.learners.direct.budgets.shipping import Shipped, Shipping, within_limit
from kernelet.learners.direct.budgets.tried import (
    BUDGETS,
    Tried,
    chosen_budget,
    ends_at_limit,
    next_budget,
)
from kernelet.machine import stored_bytes
from kernelet.rows import Chunks

RNG = np.random.default_rng(0)
# in the order that fits bring them into, so that a number means the same row here and there
X = RNG.normal(size=(150, 3))
X = X[np.argsort(X[:, 0])]
LABELS = (np.sin(3.0 * X[:, 0]) + X[:, 1] + 0.3 * RNG.normal(size=150) > 0.0).astype(int)
LABELS[X[:, 2] > 1.0] = 2
VALUES = np.sin(2.0 * X[:, 0]) + 0.5 * X[:, 1] ** 2 + 0.1 * RNG.normal(size=150)
TWO = np.column_stack([VALUES, X[:, 0] * X[:, 1]])
ROWS, CLASSES = make_ripley(200, random_state=0)
IRIS, SPECIES = load_iris(return_X_y=True)
KERNEL = Gaussian(0.5)

CASES = {
    "svc": (SparseSVC, LABELS),
    "two classes": (SparseSVC, (LABELS == 1).astype(int)),
    "ridge": (SparseKernelRidge, VALUES),
    "ridge, 2 targets": (SparseKernelRidge, TWO),
    "svr": (SparseSVR, VALUES),
}
each = pytest.mark.parametrize(("kind", "target"), CASES.values(), ids=CASES)


def size(model):
    """Bytes of the export of a fitted model."""
    return stored_bytes(model.machine_, "c", n_labels=len(getattr(model, "classes_", ())))


def folds_by_hand(labels, random_state=0):
    """Each class dealt to three folds in turn, in an order drawn with the first seed of a fit."""
    first = np.random.RandomState(random_state).randint(np.iinfo(np.int32).max)
    order = np.random.default_rng(first).permutation(len(labels))
    order = [i for label in np.unique(labels) for i in order if labels[i] == label]
    return [np.sort(order[k::3]) for k in range(3)]


def predictions_by_hand(kind, target, budgets, weights, **options):
    """Of all rows by the models that have not seen them, for each number of vectors."""
    labels = target if kind is SparseSVC else np.zeros(len(target))
    predicted = {budget: np.empty_like(target) for budget in budgets}
    sizes = {budget: [] for budget in budgets}
    tol = 5.0 * kind().tol
    for held in folds_by_hand(labels):
        kept = np.setdiff1d(np.arange(len(target)), held)
        model = kind(kernel=KERNEL, tol=tol, warm_start=True, random_state=0, **options)
        for budget in budgets:
            model.set_params(n_vectors=budget).fit(X[kept], target[kept], weights[kept])
            predicted[budget][held] = model.predict(X[held])
            sizes[budget].append(size(model))
    return predicted, {budget: np.mean(found) for budget, found in sizes.items()}


def score_by_hand(kind, target, predicted, weights):
    """The score of all rows, and how far it may be off: each row is a draw."""
    share = weights / weights.sum()
    if kind is SparseSVC:
        score = accuracy_score(target, predicted, sample_weight=weights)
        own = (target == predicted).astype(float)
    else:
        score = r2_score(target, predicted, sample_weight=weights)
        spread = np.average((target - np.average(target, 0, weights)) ** 2, 0, weights)
        own = 1.0 - ((target - predicted) ** 2 / spread).reshape(len(target), -1).mean(axis=1)
    assert_allclose(share @ own, score)
    variance = np.average((own - score) ** 2, weights=weights) * (share**2).sum()
    return score, np.sqrt(variance)


class TestChoice:
    @each
    @pytest.mark.parametrize("is_weighted", [False, True])
    def test_scores_are_those_of_a_path_in_each_fold(self, kind, target, is_weighted):
        weights = RNG.uniform(0.5, 2.0, 150) if is_weighted else np.ones(150)
        options = {"C": 10.0, "learn_kernel": False}
        if kind is SparseSVR:  # the twin of the other loss knows the spread of all targets
            options["loss"] = "squared_epsilon_insensitive"
        model = kind("auto", kernel=KERNEL, random_state=0, **options)
        model.fit(X, target, sample_weight=weights)
        path = model.path_
        tried = path["n_vectors"].tolist()
        assert tried == list(BUDGETS[: len(tried)]) and len(tried) >= 3
        predicted, sizes = predictions_by_hand(kind, target, tried, weights, **options)
        found = [score_by_hand(kind, target, predicted[m], weights) for m in tried]
        # the inner problems of a path are solved a little more exactly than those of separate fits
        assert_allclose(path["score"], [score for score, _ in found], rtol=1e-9)
        assert_allclose(path["standard_error"], [error for _, error in found], rtol=1e-9)
        assert_array_equal(path["bytes"], [sizes[m] for m in tried])
        best = max(range(len(tried)), key=lambda k: path["score"][k])
        enough = path["score"][best] - path["standard_error"][best]
        wanted = min(m for m, score in zip(tried, path["score"], strict=True) if score >= enough)
        assert model.n_vectors_ == wanted
        alone = kind(wanted, kernel=KERNEL, random_state=0, **options)
        assert model.machine_ == alone.fit(X, target, sample_weight=weights).machine_
        assert model.objective_ == alone.objective_ and model.n_iter_ == alone.n_iter_

    @pytest.mark.parametrize("kind", [SparseSVC, SparseKernelRidge])
    def test_a_cost_and_a_kernel_that_are_learned(self, kind):
        target = CLASSES if kind is SparseSVC else ROWS[:, 0] * ROWS[:, 1]
        model = kind("auto", C="auto", random_state=0).fit(ROWS, target)
        alone = kind(model.n_vectors_, C="auto", random_state=0).fit(ROWS, target)
        assert model.machine_ == alone.machine_
        assert model.C_ == alone.C_ and model.kernel_gain_ == alone.kernel_gain_
        again = clone(model).fit(ROWS, target)
        assert again.machine_ == model.machine_
        for name, values in model.path_.items():
            assert_array_equal(again.path_[name], values)

    @each
    def test_a_weight_is_a_repetition(self, kind, target):
        times = np.random.default_rng(0).integers(0, 4, 150)
        weighted = kind("auto", C=1.0, random_state=0).fit(X, target, sample_weight=times)
        rows = np.random.default_rng(1).permutation(np.repeat(np.arange(150), times))
        repeated = kind("auto", C=1.0, random_state=0).fit(X[rows], target[rows])
        assert weighted.machine_ == repeated.machine_
        for name, values in weighted.path_.items():
            assert_array_equal(repeated.path_[name], values)

    def test_a_number_has_no_path(self):
        path = SparseKernelRidge(4, C=1.0).fit(X, VALUES).path_
        assert {name: values.shape for name, values in path.items()} == dict.fromkeys(
            ["n_vectors", "score", "standard_error", "bytes"], (0,)
        )

    def test_classes_weigh_in_the_choice_what_they_do_in_the_fit(self):
        rare = (np.arange(200) % 10 == 0) & (CLASSES == 1)
        few = np.flatnonzero((CLASSES == 0) | rare)
        options = {"C": 1.0, "random_state": 0}
        weights = np.where(CLASSES[few] == 1, 7.3, 1.1)
        given = SparseSVC("auto", **options).fit(ROWS[few], CLASSES[few], sample_weight=weights)
        by_class = SparseSVC("auto", class_weight={0: 1.1, 1: 7.3}, **options)
        by_class.fit(ROWS[few], CLASSES[few])
        assert_array_equal(by_class.path_["score"], given.path_["score"])

    def test_random_states_and_warm_starts(self):
        generator = np.random.RandomState(3)
        model = SparseSVC("auto", C=1.0, random_state=generator).fit(ROWS, CLASSES)
        seeded = SparseSVC("auto", C=1.0, random_state=3).fit(ROWS, CLASSES)
        assert model.machine_ == seeded.machine_
        drawn = np.random.RandomState(3)
        alone = SparseSVC(model.n_vectors_, C=1.0, random_state=drawn).fit(ROWS, CLASSES)
        assert alone.machine_ == model.machine_
        assert generator.randint(10**6) == drawn.randint(10**6)
        seeded.set_params(warm_start=True).fit(ROWS, CLASSES)
        assert seeded.n_vectors_ == model.n_vectors_
        assert seeded.objective_ <= 1.001 * model.objective_

    def test_sparse_rows_and_pipelines(self):
        model = make_pipeline(StandardScaler(), SparseSVC("auto", C=1.0, random_state=0))
        assert model.fit(IRIS, SPECIES).score(IRIS, SPECIES) > 0.9
        options = {"C": 1.0, "learn_kernel": False, "random_state": 0}
        dense = SparseSVC("auto", **options).fit(IRIS, SPECIES)
        csr = SparseSVC("auto", **options).fit(sparse.csr_array(IRIS), SPECIES)
        assert_allclose(csr.path_["score"], dense.path_["score"], atol=0.02)

    def test_out_of_core_rows_are_chosen_by_in_memory(self):
        parts = np.array_split(np.arange(200), 3)
        chunks = [Chunks(lambda k, a=a: a[parts[k]], 3) for a in (ROWS, CLASSES)]
        model = SparseSVC("auto", C=1.0, random_state=0).fit(*chunks)
        alone = SparseSVC(model.n_vectors_, C=1.0, random_state=0).fit(*chunks)
        assert model.machine_ == alone.machine_
        near = SparseSVC("auto", C=1.0, random_state=0).fit(ROWS, CLASSES)
        assert_allclose(model.path_["score"][:3], near.path_["score"][:3], atol=0.05)
        small = SparseSVC("auto", C=1.0, max_bytes=100, random_state=0).fit(*chunks)
        assert size(small) <= 100

    def test_files(self, tmp_path):
        model = SparseSVC("auto", C=1.0, max_bytes=300, random_state=0).fit(ROWS, CLASSES)
        model.save(tmp_path / "model.kernelet")
        loaded = load(tmp_path / "model.kernelet")
        assert loaded.get_params() == model.get_params()
        assert list(loaded.path_) == list(model.path_)
        for name, values in model.path_.items():
            assert_array_equal(loaded.path_[name], values)
            assert loaded.path_[name].dtype == values.dtype

    def test_a_file_whose_table_is_none_is_refused(self, tmp_path):
        model = SparseKernelRidge("auto", C=1.0, random_state=0).fit(X, VALUES)
        for wrong in (np.ones((2, 3)), np.ones(4), np.zeros((2, 4))):
            model._path = wrong
            model.save(tmp_path / "model.kernelet")
            with pytest.raises(ModelFileError, match="no table"):
                load(tmp_path / "model.kernelet")


class TestFewRows:
    @pytest.mark.parametrize("n_rows", [1, 2, 3, 4, 7, 12, 20])
    @pytest.mark.parametrize("kind", [SparseKernelRidge, SparseSVR])
    def test_regression(self, n_rows, kind):
        model = kind("auto", C=1.0, learn_kernel=False, random_state=0)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model.fit(X[:n_rows], VALUES[:n_rows])
        assert 1 <= model.n_vectors_ <= n_rows
        # a fold of two rows is the smallest
        assert (model.path_["n_vectors"].size > 0) == (n_rows > 5)
        assert np.isfinite(model.predict(X)).all()

    @pytest.mark.parametrize("n_rows", [2, 3, 5, 8, 14])
    def test_classes(self, n_rows):
        labels = np.arange(n_rows) % 2
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model = SparseSVC("auto", random_state=0).fit(X[:n_rows], labels)
        assert 1 <= model.n_vectors_ <= n_rows
        assert set(model.predict(X)) <= {0, 1}

    def test_a_class_of_a_single_row(self):
        labels = np.where(np.arange(40) == 3, 5, CLASSES[:40])
        model = SparseSVC("auto", C=1.0, random_state=0).fit(ROWS[:40], labels)
        assert model.machine_.n_outputs == 3
        assert np.isfinite(model.path_["score"]).all()

    def test_one_class_is_refused_as_ever(self):
        with pytest.raises(ValueError, match="at least two classes"):
            SparseSVC("auto").fit(X, np.zeros(150))

    def test_targets_that_are_all_the_same(self):
        model = SparseKernelRidge("auto", C=1.0, random_state=0).fit(X, np.full(150, 3.0))
        assert model.n_vectors_ == 5
        assert_allclose(model.predict(X), 3.0)

    def test_rows_that_are_often_the_same(self):
        rows = X[np.arange(150) % 7]
        with warnings.catch_warnings():
            warnings.simplefilter("error")  # no number of vectors beyond that of distinct rows
            model = SparseKernelRidge("auto", C=1.0, learn_kernel=False, random_state=0)
            model.fit(rows, VALUES)
        assert model.n_vectors_ <= 7


def tried(*entries):
    return [Tried(*entry) for entry in entries]


class TestRules:
    def test_the_list_is_gone_through(self):
        assert next_budget([], 300) == 5
        assert next_budget(tried((5, 0.5, 0.01, 1.0)), 300) == 10
        assert next_budget([], 3) == 3  # with fewer rows than that
        assert next_budget(tried((3, 0.5, 0.01, 1.0)), 3) is None
        assert next_budget(tried((5, 0.1, 0.01, 1.0), (10, 0.5, 0.01, 1.0)), 19) is None
        whole = [(m, m / 200, 0.001, 1.0) for m in BUDGETS]
        assert next_budget(tried(*whole), 300) is None

    def test_two_that_gain_nothing_end_it(self):
        steps = [(5, 0.50, 0.01, 1.0), (10, 0.505, 0.01, 1.0)]
        assert next_budget(tried(*steps), 300) == 20
        assert next_budget(tried(*steps, (20, 0.509, 0.01, 1.0)), 300) is None
        # small gains add up
        assert next_budget(tried(*steps, (20, 0.511, 0.01, 1.0)), 300) == 50
        later = [*steps, (20, 0.6, 0.01, 1.0), (50, 0.60, 0.01, 1.0)]
        assert next_budget(tried(*later), 300) == 100
        assert next_budget(tried(*later, (100, 0.55, 0.01, 1.0)), 300) is None

    def test_bytes_lead_to_numbers_in_between(self):
        fits = (5, 0.5, 0.0, 100.0, True, 17.0)
        assert next_budget(tried(fits), 300) == 10
        ten = (10, 0.6, 0.0, 190.0, True, 17.0)
        assert next_budget(tried(fits, ten), 300) == 17
        assert next_budget(tried(fits, ten, (17, 0.7, 0.0, 300.0, True, 18.0)), 300) is None
        assert next_budget(tried(fits, ten, (17, 0.7, 0.0, 330.0, False, 15.0)), 300) == 15
        # what does not fit is not tried again, nor what is beyond it
        assert next_budget(tried(fits, ten, (17, 0.7, 0.0, 330.0, False, 20.0)), 300) == 16
        assert next_budget(tried(fits, ten, (11, 0.7, 0.0, 330.0, False, 4.0)), 300) is None

    def test_few_bytes_lead_below_the_list(self):
        assert next_budget(tried((5, 0.5, 0.0, 100.0, False, 3.0)), 300) == 3
        assert next_budget(tried((5, 0.5, 0.0, 100.0, False, -2.0)), 300) == 1
        nothing = tried((5, 0.5, 0.0, 100.0, False, -2.0), (1, 0.3, 0.0, 80.0, False, -1.0))
        assert next_budget(nothing, 300) is None
        assert chosen_budget(nothing, True) == 1

    def test_the_choice(self):
        path = tried((5, 0.8, 0.02, 1), (10, 0.89, 0.02, 2), (20, 0.9, 0.02, 3), (50, 0.9, 0.1, 4))
        assert chosen_budget(path, False) == 10
        assert chosen_budget(path, True) == 20  # the first of the best
        limited = tried((5, 0.8, 0.5, 1), (10, 0.85, 0.5, 2), (20, 0.9, 0.02, 3, False))
        assert chosen_budget(limited, True) == 10

    def test_whether_bytes_end_the_path(self):
        path = tried((5, 0.8, 0.0, 1, True, 30.0), (10, 0.9, 0.0, 2, True, 18.0))
        assert ends_at_limit(path, 10) and not ends_at_limit(path, 5)
        assert ends_at_limit([*path, *tried((17, 0.9, 0.0, 2, False, 12.0))], 10)
        assert not ends_at_limit(tried((10, 0.9, 0.0, 2, True, 40.0)), 10)
        assert not ends_at_limit(tried((200, 0.9, 0.0, 2, True, 240.0)), 200)
        assert not ends_at_limit([], 5)


class TestBytes:
    @each
    @pytest.mark.parametrize("bits", [None, 5])
    def test_the_machine_keeps_to_them(self, kind, target, bits):
        options = {"C": 10.0, "vector_bits": bits, "random_state": 0}
        least = size(kind(1, **options).fit(X, target))
        sizes = []
        for max_bytes in (least, 2 * least, 5 * least):
            model = kind("auto", max_bytes=max_bytes, **options).fit(X, target)
            assert size(model) <= max_bytes
            alone = kind(model.n_vectors_, **options).fit(X, target)
            assert alone.machine_ == model.machine_
            sizes.append(size(model))
        assert sizes == sorted(sizes)
        path = model.path_
        assert (np.diff(path["n_vectors"]) > 0).all()
        with pytest.raises(
            ValueError, match=rf"max_bytes={least - 1} cannot be met: .* takes {least} bytes"
        ):
            kind("auto", max_bytes=least - 1, **options).fit(X, target)

    def test_the_largest_number_that_fits_is_tried(self):
        options = {"C": 10.0, "learn_kernel": False, "random_state": 0}
        # float32: three features and three coefficients a vector, three intercepts and labels
        limit = 24 * 14 + 15 + 9
        model = SparseSVC("auto", max_bytes=limit, **options).fit(X, LABELS)
        assert_array_equal(model.path_["n_vectors"], [5, 10, 14])
        assert_array_equal(model.path_["bytes"], [24 * m + 15 for m in (5, 10, 14)])
        best = model.path_["n_vectors"][np.argmax(model.path_["score"])]
        assert model.n_vectors_ == best

    def test_what_all_rows_leave_is_used(self):
        """Here the machines of the folds use more features than that on all rows."""
        noise = np.random.default_rng(0).normal(size=(150, 12))
        rows = np.hstack([IRIS, noise])
        options = {"C": 1.0, "learn_kernel": "features", "random_state": 0}
        for limit in (300, 500, 800):
            model = SparseSVC("auto", max_bytes=limit, **options).fit(rows, SPECIES)
            assert size(model) <= limit
            alone = SparseSVC(model.n_vectors_, **options).fit(rows, SPECIES)
            assert model.machine_ == alone.machine_

    @each
    def test_a_number_of_vectors_that_is_too_large_is_an_error(self, kind, target):
        options = {"C": 1.0, "random_state": 0}
        n_bytes = size(kind(8, **options).fit(X, target))
        kind(8, max_bytes=n_bytes, **options).fit(X, target)
        text = rf"max_bytes={n_bytes - 1} is exceeded: the machine of 8 vectors takes {n_bytes} "
        with pytest.raises(ValueError, match=text):
            kind(8, max_bytes=n_bytes - 1, **options).fit(X, target)

    def test_vectors_for_each_class(self):
        options = {"vectors": "per_class", "C": 1.0, "random_state": 0}
        n_bytes = size(SparseSVC((2, 3, 4), **options).fit(X, LABELS))
        SparseSVC((2, 3, 4), max_bytes=n_bytes, **options).fit(X, LABELS)
        with pytest.raises(ValueError, match=f"takes {n_bytes} bytes"):
            SparseSVC((2, 3, 4), max_bytes=n_bytes - 1, **options).fit(X, LABELS)

    @pytest.mark.parametrize(
        ("options", "text"),
        [
            ({"n_vectors": "many"}, "n_vectors must be .* or \"auto\"; got 'many'"),
            ({"target": "wasm"}, "target must be one of 'c'; got 'wasm'"),
            ({"target": "wasm", "n_vectors": 3}, "target must be one of 'c'; got 'wasm'"),
            ({"max_bytes": 0}, "max_bytes must be a finite number above zero"),
            ({"max_bytes": "4k"}, "max_bytes must be a finite number above zero"),
            ({"vectors": "per_class"}, 'give vectors="shared", or numbers of vectors'),
            ({"checkpoint": "fit.checkpoint"}, "checkpoint= holds one"),
            ({"init": X[:5]}, "needs the name of an init"),
        ],
    )
    def test_what_is_refused(self, options, text):
        with pytest.raises(ValueError, match=text):
            SparseSVC(**{"n_vectors": "auto", **options}).fit(X, LABELS)

    def test_others_choose_no_number(self):
        for kind in (SparseOneClassSVM, SparseKernelPCA):
            with pytest.raises(ValueError, match=r"n_vectors must be a whole number.*'auto'"):
                kind("auto").fit(X)


class TestWatched:
    @pytest.mark.parametrize("comes_at", [1, 5, 30, 10**6])
    @pytest.mark.parametrize("max_bytes", [None, 120])
    def test_ctrl_c_leaves_a_model(self, comes_at, max_bytes, monkeypatch):
        report, steps = Loop.report, []

        def pressed(self, step, *arguments):
            steps.append(step.line)
            # the last time while all rows are searched
            is_last = comes_at == 10**6 and not step.line.startswith("choosing")
            if len(steps) == comes_at or (is_last and not self.interrupted):
                raise KeyboardInterrupt
            return report(self, step, *arguments)

        def counted(*arguments):
            chosen.append(1)
            return choose_cost(*arguments)

        choose_cost, chosen = direct_learn.choose_cost, []
        monkeypatch.setattr(direct_learn, "choose_cost", counted)
        monkeypatch.setattr(Loop, "report", pressed)
        model = SparseSVC("auto", max_bytes=max_bytes, random_state=0)
        with pytest.warns(ConvergenceWarning, match="interrupted"):
            model.fit(ROWS, CLASSES)
        assert model.interrupted_
        assert model.score(ROWS, CLASSES) > 0.6
        assert size(model) <= (max_bytes or np.inf)
        if comes_at < 6:
            # not one number has been tried in all folds, and nothing is searched for long
            assert model.path_["n_vectors"].size == 0
            assert model.n_vectors_ <= 5
        assert len(steps) <= comes_at + 3
        # and C is not chosen for less than the choice deserves
        assert len(chosen) == (2 if comes_at == 10**6 else 1)

    @pytest.mark.parametrize("comes_at", [2, 7, 10**6])
    def test_ctrl_c_while_vectors_are_rounded(self, comes_at, monkeypatch):
        search, calls, said = few_bits.search_on_grid, [], []

        def pressed(*arguments):
            calls.append(1)
            is_last = comes_at == 10**6 and any("is taken" in text for text in said)
            if len(calls) == comes_at or is_last:
                raise KeyboardInterrupt
            return search(*arguments)

        monkeypatch.setattr(few_bits, "search_on_grid", pressed)
        monkeypatch.setattr(Loop, "say", lambda self, text: said.append(text))
        model = SparseSVC("auto", C=1.0, vector_bits=4, max_bytes=100, random_state=0)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            model.fit(ROWS, CLASSES)
        assert model.interrupted_
        assert size(model) <= 100
        assert model.score(ROWS, CLASSES) > 0.6
        # three folds for each number; what comes in one of them ends the choice
        n_tried = {2: 0, 7: 2}.get(comes_at)
        if n_tried is not None:
            assert model.path_["n_vectors"].size == n_tried
            assert len(calls) == comes_at

    def test_ctrl_c_in_a_search_that_only_spends_what_is_left(self):
        """The machine that fits is as good as ever."""
        fitted = SparseSVC(5, C=1.0, random_state=0)
        fitted._found = found = direct_estimator._Found()
        fitted.fit(ROWS, CLASSES)
        shipping = Shipping(None, True, "c", 2, 1000.0)
        whole = found.learned
        cut = Shipped(replace(whole, interrupted=True))
        made = within_limit(lambda m: Shipped(whole) if m == 5 else cut, 5, shipping, 200)
        assert made.machine == fitted.machine_
        assert made.interrupted and made.learned.searches[0].interrupted
        assert within_limit(lambda m: Shipped(whole), 5, shipping, 200).learned is whole

    @pytest.mark.skipif(not HAS_CALLBACKS, reason="this scikit-learn has no callbacks")
    def test_callbacks_see_and_stop_the_choice(self):
        class Stopping:
            texts = ()

            def setup(self, estimator, context):
                self.texts = []

            def teardown(self, estimator, context):
                pass

            def on_fit_task_begin(self, estimator, context):
                pass

            def on_fit_task_end(self, estimator, context):
                if context.task_name != "step":
                    return False
                self.texts.append(estimator._last_step.brief)
                return len(self.texts) >= 4

        callback = Stopping()
        model = SparseSVC("auto", C=1.0, random_state=0).set_callbacks(callback)
        with pytest.warns(ConvergenceWarning, match="stopped"):
            model.fit(ROWS, CLASSES)
        assert callback.texts[0].startswith("choosing n_vectors: 5, fold 1 of 3: W ")
        assert callback.texts[-1].startswith("W ")
        # four steps of the choice, and one on all rows
        assert len(callback.texts) == 5
        assert model.n_iter_ == 1 and not model.interrupted_

    def test_what_is_printed(self, capsys):
        model = SparseSVC("auto", C=1.0, verbose=10**6, random_state=0).fit(ROWS, CLASSES)
        lines = capsys.readouterr().err.splitlines()
        assert lines[-1] == f"choosing n_vectors: {model.n_vectors_} is taken"
        first = r"choosing n_vectors: 5 have a score of 0\.\d{4} \+- 0\.\d{4} and take \d+ bytes"
        assert re.fullmatch(first, lines[0])
        assert len(lines) == len(model.path_["n_vectors"]) + 1
        SparseSVC("auto", C=1.0, verbose=1, random_state=0).fit(ROWS, CLASSES)
        steps = capsys.readouterr().err.splitlines()
        assert steps[0].startswith("choosing n_vectors: 5, fold 1 of 3: step    1")
        assert steps[-1].startswith("step ")


MAKERS = {
    "svc": lambda **o: SparseSVC(C=1.0, random_state=0, **o),
    "svc, per class": lambda **o: SparseSVC(C=1.0, vectors="per_class", random_state=0, **o),
    "svc, C": lambda **o: SparseSVC(random_state=0, **o),
    "ridge": lambda **o: SparseKernelRidge(random_state=0, **o),
    "svr": lambda **o: SparseSVR(loss="squared_epsilon_insensitive", random_state=0, **o),
    "one class": lambda **o: SparseOneClassSVM(random_state=0, **o),
}


class TestBitsOfAPath:
    @pytest.mark.parametrize("make", MAKERS.values(), ids=MAKERS)
    def test_there_is_one_search_for_each_budget(self, make, monkeypatch):
        target = LABELS if isinstance(make(), SparseSVC) else VALUES
        learn, n_searches = direct_estimator.learn_vectors, []

        def counted(*arguments, **options):
            n_searches.append(1)
            return learn(*arguments, **options)

        monkeypatch.setattr(direct_estimator, "learn_vectors", counted)
        models = make().fit_path(X, target, (2, 5), vector_bits=(4, None, 7))
        assert len(n_searches) == 2
        monkeypatch.undo()
        assert [model.n_vectors for model in models] == [2, 2, 2, 5, 5, 5]
        assert [model.vector_bits for model in models] == [4, None, 7] * 2
        plain = make().fit_path(X, target, (2, 5))
        for k, model in enumerate(models):
            assert (
                model.get_params()
                == make(n_vectors=(2, 5)[k // 3])
                .set_params(vector_bits=(4, None, 7)[k % 3])
                .get_params()
            )
            grid = model.machine_.compact
            assert (None if grid is None else grid.grid.bits) == (4, None, 7)[k % 3]
            assert not hasattr(model, "_found") or model._found is None
        for k in (0, 1):
            assert models[3 * k + 1].machine_ == plain[k].machine_
        # the first budget is that of separate fits, whatever their bits, to the path's tolerance
        tol = make().tol
        for model in models[:3]:
            alone = clone(model).set_params(tol=5.0 * tol).fit(X, target)
            assert alone.machine_ == model.machine_
            assert alone.objective_ == model.objective_
            if hasattr(alone, "loo_error_"):
                assert alone.loo_error_ == model.loo_error_

    def test_in_the_order_given_and_lazily(self):
        path = SparseKernelRidge(random_state=0).iter_path(X, VALUES, (3,), vector_bits=(6, 4))
        assert next(path).vector_bits == 6
        assert next(path).vector_bits == 4
        assert next(path, None) is None

    def test_what_is_refused(self):
        with pytest.raises(ValueError, match="SparseKernelPCA has no parameter vector_bits"):
            SparseKernelPCA().fit_path(X, None, (2,), vector_bits=(4,))
        with pytest.raises(ValueError, match="vector_bits must be None, or a whole number from 2"):
            SparseSVC().fit_path(X, LABELS, (2,), vector_bits=(1,))
