"""A fit that is no better than a constant warns, whatever the estimator."""

from __future__ import annotations

import inspect
import warnings
from pathlib import Path
from threading import Thread

import numpy as np
import pytest
from sklearn.base import clone, is_classifier, is_regressor
from sklearn.datasets import load_digits, load_iris, make_classification
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils import get_tags

import kernelet
from estimator_checks import instances
from kernelet.datasets import make_banana
from kernelet.kernels import Gaussian
from kernelet.kernels.caller import warn_caller
from kernelet.learners import (
    CoreVectorSVC,
    KernelFisherClassifier,
    KernelSubspace,
    MinimalKernelSVC,
    NormSVC,
    ReducedSVC,
    SparseKernelRidge,
    SparseSVC,
    SubspaceLPSVC,
)
from kernelet.learners.base import constant_fits as constant
from kernelet.machine import KernelMachine
from kernelet.rows import Chunks
from kernelet.selection import BudgetSearchCV

X, y = make_banana(120, random_state=0)
LABELS = np.array(["outer", "inner"])[y]
ESTIMATORS = instances()
UNSUPERVISED = [name for name, e in ESTIMATORS.items() if not get_tags(e).target_tags.required]
CLASSIFIERS = sorted({type(e) for e in ESTIMATORS.values() if is_classifier(e)}, key=repr)


def blind(label):
    """An estimator whose kernel does not distinguish rows 1e-9 apart.

    The Gaussian of width 1 is 1 - 1e-18 between any two of them. Features that are learned with
    their vectors find distant vectors, which do distinguish the rows; there it is so narrow that
    all rows are far from the vectors.
    """
    estimator = clone(ESTIMATORS[label])
    if is_classifier(estimator) or not hasattr(estimator, "transform"):
        return estimator.set_params(gamma=1.0)
    if "n_vectors" in estimator.get_params() and "Analysis" not in label:
        return estimator.set_params(gamma=1e30, n_vectors=3)
    return estimator.set_params(gamma=1.0)


def estimators(examples):
    return pytest.mark.parametrize("label", examples)


def fitted(estimator, rows=X, labels=LABELS, *more):
    """The estimator, fitted, and the texts of its warnings."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        estimator = clone(estimator)
        if is_regressor(estimator) and labels is not None and labels.dtype.kind == "U":
            labels = rows[:, 0]
        estimator.fit(rows, labels, *more)
    return estimator, [str(warning.message) for warning in caught]


def of_constants(texts):
    return [text for text in texts if "Scale the columns of X" in text]


class TestEveryEstimator:
    ROWS = 1e-9 * np.random.default_rng(0).normal(size=(60, 3))

    @estimators(ESTIMATORS)
    def test_rows_that_are_all_alike_to_the_kernel(self, label):
        rows, estimator = self.ROWS, blind(label)
        model, texts = fitted(estimator, rows, np.where(rows[:, 0] + rows[:, 1] > 0, "a", "b"))
        (text,) = of_constants(texts)
        assert text.startswith(type(estimator).__name__ + ": ")
        assert "the same for all" in text
        assert f"gamma (now {estimator.gamma:.3g})" in text
        if is_classifier(model):
            (predicted,) = np.unique(model.predict(rows))
            assert f"predicts class {str(predicted)!r} for every row" in text
        elif is_regressor(model):
            assert np.ptp(model.predict(rows)) < 1e-2 * np.ptp(rows[:, 0])

    @estimators(
        [
            name
            for name in ESTIMATORS
            if not name.startswith(("KernelSub", "MaxMargin", "SubspaceLP"))
        ]
    )
    def test_a_kernel_that_is_zero(self, label):
        """The three left out raise: they need a direction, and say that there is none."""
        estimator = clone(ESTIMATORS[label]).set_params(kernel="poly", gamma=1.0)
        model, texts = fitted(estimator, 1e-200 * X)
        (text,) = of_constants(texts)
        assert "the same for all" in text
        assert "a positive coef0" in text
        assert not np.asarray(model.machine_.kernel(1e-200 * X, 1e-200 * X)).any()

    @estimators(ESTIMATORS)
    def test_a_good_fit_does_not_warn(self, label):
        texts = fitted(clone(ESTIMATORS[label]).set_params(gamma="scale"))[1]
        assert of_constants(texts) == []

    @estimators([label for label in ESTIMATORS if is_regressor(ESTIMATORS[label])])
    def test_constant_targets_do_not_warn(self, label):
        model, texts = fitted(ESTIMATORS[label], X, np.full(len(X), 3.0))
        assert of_constants(texts) == []
        assert np.ptp(model.predict(X)) < 1e-6

    @estimators(UNSUPERVISED)
    def test_one_distinct_row_does_not_warn(self, label):
        assert of_constants(fitted(ESTIMATORS[label], np.ones((10, 2)), None)[1]) == []


class TestClassifiers:
    def test_worse_than_a_constant(self):
        """Scores that differ, and classes that do not follow them."""
        machine = KernelMachine(Gaussian(1.0), X[:1], [1.0], 0.1)
        model = KernelFisherClassifier().fit(X, LABELS)
        model.machine_ = machine
        rare = np.zeros(len(X), dtype=np.intp)
        with pytest.warns(
            UserWarning, match=r"wrong on 98% of the training rows, by weight; predicting"
        ):
            constant.warn_if_constant(model, X, np.where(np.arange(120) < 2, 1, rare), np.ones(120))
        # by weight it is right
        heavy = np.where(np.arange(120) < 2, 1e6, 1.0)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            constant.warn_if_constant(model, X, np.where(np.arange(120) < 2, 1, rare), heavy)

    def test_classes_whose_machines_are_constants(self):
        """The hinge losses of one class against the rest are lowest at a constant."""
        rows, labels = make_classification(
            2000,
            54,
            n_informative=12,
            n_redundant=6,
            n_classes=7,
            n_clusters_per_class=2,
            flip_y=0.05,
            random_state=0,
        )
        rows, labels = rows[:1500], labels[:1500]
        hinge = SparseSVC(20, loss="hinge", learn_kernel=False, random_state=0)
        model, texts = fitted(hinge, rows, labels)
        (text,) = of_constants(texts)
        assert "the scores of" in text
        assert "of 7 classes" in text
        assert 'loss="squared_hinge"' in text
        assert 'vectors="per_class"' in text
        assert 1.0 - model.score(rows, labels) > 0.4
        for remedy in ({"loss": "squared_hinge"}, {"vectors": "per_class", "n_vectors": 21}):
            better = clone(model).set_params(**remedy)
            better, texts = fitted(better, rows, labels)
            assert of_constants(texts) == []
            assert 1.0 - better.score(rows, labels) < 0.75 * (1.0 - model.score(rows, labels))

    def test_fewer_vectors_than_classes_do_not_warn(self):
        """They cannot serve all classes, as a search over budgets knows."""
        rows, labels = load_digits(return_X_y=True)
        plain = {"C": 1.0, "loss": "hinge", "learn_kernel": False, "random_state": 0}
        model, texts = fitted(SparseSVC(5, **plain), rows, labels)
        assert np.ptp(model.decision_function(rows), axis=0).min() < 1e-2
        assert of_constants(texts) == []

    def test_a_class_with_a_constant_score_may_be_predicted_well(self):
        """Where the two others are not it."""
        rows, codes = np.repeat([[0.0], [5.0], [10.0]], 20, axis=0), np.repeat([0, 1, 2], 20)
        model = ReducedSVC(3, random_state=0, gamma=1.0).fit(rows, codes)
        model.machine_ = KernelMachine(
            Gaussian(1.0), [[0.0], [5.0]], [[2, 0, 0], [0, 2, 0]], [-1.0, -1.0, -0.5]
        )
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            constant.warn_if_constant(model, rows, codes, np.ones(60))

    def test_small_scores_of_balanced_classes_are_no_constant(self):
        """With tiny costs all intercepts are -1, and what is left decides rightly."""
        rows, labels = load_iris(return_X_y=True)
        model, texts = fitted(ReducedSVC(30, C=1e-7, init="kmeans", random_state=0), rows, labels)
        relative = model.decision_function(rows) + 1.0
        assert np.abs(relative).max() < 1e-4
        assert model.score(rows, labels) > 0.7
        assert of_constants(texts) == []

    @pytest.mark.parametrize("maker", [SparseSVC, NormSVC, MinimalKernelSVC, SubspaceLPSVC])
    def test_defaults_on_digits(self, maker):
        rows, labels = load_digits(return_X_y=True)
        assert of_constants(fitted(maker(), rows[:300], labels[:300])[1]) == []


class TestCost:
    """Few rows are looked at where nothing is wrong, whatever their number."""

    @pytest.fixture
    def looked_at(self, monkeypatch):
        counts = []
        whole = KernelMachine.decision_function

        def counted(machine, rows, *more):
            if inspect.stack()[1].function == "warn_if_constant":
                counts.append(rows.shape[0])
            return whole(machine, rows, *more)

        monkeypatch.setattr(KernelMachine, "decision_function", counted)
        return counts

    def test_a_sample_of_every_class(self, looked_at):
        rows, labels = make_banana(20_000, random_state=0)
        ReducedSVC(5, gamma=1.0, random_state=0).fit(rows, labels)
        assert len(looked_at) == 1
        assert looked_at[0] < 1.2 * constant._SAMPLE_ROWS

    def test_all_rows_before_it_warns(self, looked_at):
        """Rows of a class that are few, and far from those that are looked at."""
        rows = np.linspace(0.0, 1.0, 5000)[:, None]
        labels = np.zeros(5000, dtype=int)
        labels[[1, 3]] = 1
        model = ReducedSVC(2, gamma=1.0, random_state=0)
        fitted(model, rows, labels)
        assert looked_at[-1] == 5000
        looked_at.clear()
        model.machine_ = KernelMachine(Gaussian(1e8), rows[[1, 3]], [2.0, 2.0], -1.0)
        model.classes_ = np.array([0, 1])
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            constant.warn_if_constant(model, rows, labels, np.ones(5000))
        assert max(looked_at) < 1500


class TestOtherWaysToFit:
    def warns(self, fit):
        with pytest.warns(UserWarning, match="the same for all") as caught:
            fit()
        assert {warning.filename for warning in caught} == {__file__}

    def test_out_of_core_rows(self):
        rows, labels = Chunks(lambda _: 1e-9 * X, 1), Chunks(lambda _: y, 1)
        for maker in (ReducedSVC, CoreVectorSVC):
            self.warns(lambda maker=maker: maker(gamma=1.0).fit(rows, labels))
        self.warns(lambda: KernelSubspace(gamma=1.0).fit(rows))

    def test_batches_paths_and_parts(self):
        batches = [(1e-9 * X[:60], y[:60]), (1e-9 * X[60:], y[60:])]
        self.warns(lambda: SubspaceLPSVC(gamma=1.0).fit_batches(batches))
        self.warns(lambda: CoreVectorSVC(gamma=1.0).fit_batches(batches))
        self.warns(lambda: SubspaceLPSVC(gamma=1.0).fit_path(1e-9 * X, y, [1.0, 2.0]))
        self.warns(lambda: MinimalKernelSVC(gamma=1.0).partial_fit(1e-9 * X, y))

    def test_several_targets(self):
        self.warns(lambda: SparseKernelRidge(3, gamma=1.0).fit(1e-9 * X, X))


class TestTheLineThatIsShown:
    """The warning of a fit points at this file, and not into scikit-learn's machinery."""

    ROWS = 1e-9 * X

    def lines(self, fit):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            fit()
        ours = [w for w in caught if "Scale the columns" in str(w.message)]
        assert ours
        return {warning.filename for warning in ours}

    @pytest.mark.parametrize("kind", CLASSIFIERS, ids=lambda kind: kind.__name__)
    @pytest.mark.parametrize("way", ["plain", "pipeline", "search"])
    def test_of_every_classifier(self, kind, way):
        self.check(kind(gamma=1.0), way)

    @pytest.mark.parametrize("way", ["plain", "pipeline", "search"])
    @estimators([label for label in ESTIMATORS if not is_classifier(ESTIMATORS[label])])
    def test_of_every_other_estimator(self, label, way):
        self.check(blind(label), way)

    def check(self, estimator, way):
        targets = X[:, 0] if is_regressor(estimator) else y
        if way == "pipeline":
            estimator = make_pipeline(StandardScaler(with_std=False), estimator)
        elif way == "search":
            estimator = GridSearchCV(
                estimator, {"gamma": [estimator.gamma]}, cv=2, n_jobs=1, scoring=lambda *_: 0.0
            )
        assert self.lines(lambda: estimator.fit(self.ROWS, targets)) == {__file__}

    def test_of_a_search_of_ours(self):
        search = BudgetSearchCV(ReducedSVC(gamma=1.0, random_state=0), [2, 3], cv=2)
        assert self.lines(lambda: search.fit(self.ROWS, y)) == {__file__}

    def test_no_other_module_warns_by_itself(self):
        sources = Path(kernelet.__file__).parent.rglob("*.py")
        warn = [source.name for source in sources if "warnings.warn(" in source.read_text("utf-8")]
        assert warn == ["caller.py"]

    def test_without_a_line_of_the_user_the_outermost_is_shown(self):
        thread = Thread(target=warn_caller, args=("Scale the columns", UserWarning))

        def run():
            thread.start()
            thread.join()

        (shown,) = self.lines(run)
        assert shown.endswith("threading.py")


# Rows of any size and place, and parameters that suit them or not.
SCALES = [1e-12, 1e-8, 1e-4, 1.0, 1.0, 1e4, 1e8, 1e12]


def hostile(kind, seed):
    """Rows, labels, weights and an estimator that may suit them or not."""
    rng = np.random.default_rng(seed)
    n, d, k = int(rng.integers(20, 120)), int(rng.integers(1, 6)), int(rng.integers(2, 5))
    labels = rng.integers(k, size=n)
    if rng.random() < 0.3:
        labels = np.minimum(rng.geometric(0.6, size=n) - 1, k - 1)
    labels[:k] = np.arange(k)
    rows = rng.normal(size=(n, d)) + rng.choice([0.0, 1.0, 3.0]) * rng.normal(size=(k, d))[labels]
    rows *= rng.choice(SCALES)
    rows += rng.choice([0.0, 0.0, 1.0, 1e4, 1e8])
    rows[:, 0] *= rng.choice([1.0, 1.0, 1e-6, 1e6])
    kernels = ["rbf", "poly", "linear", "laplacian", "matern32"]
    kernels += [] if kind is CoreVectorSVC else ["sigmoid"]  # it takes positive definite ones
    parameters = {
        "kernel": str(rng.choice(kernels)),
        "gamma": rng.choice(np.array(["scale", "auto", 1e-6, 1.0, 1e6], dtype=object)),
        "coef0": float(rng.choice([0.0, 1.0])),
        "degree": int(rng.choice([2, 3, 5])),
        "C": float(rng.choice([1e-6, 1e-2, 1.0, 1e4])),
        "n_vectors": int(rng.choice([1, 3, 10])),
        "mu": float(rng.choice([1e-6, 1e-3, 1.0])),
        "random_state": 0,
    }
    known = kind().get_params()
    estimator = kind(**{name: value for name, value in parameters.items() if name in known})
    weights = np.ones(n) if rng.random() < 0.7 else rng.integers(0, 4, size=n).astype(float)
    weights[:k] = np.maximum(weights[:k], 1.0)
    return estimator, rows, labels, weights


@pytest.mark.slow
@pytest.mark.parametrize("kind", CLASSIFIERS, ids=lambda kind: kind.__name__)
def test_no_classifier_is_clearly_worse_than_a_constant_in_silence(kind):
    n_worse = 0
    for seed in range(125):
        estimator, rows, labels, weights = hostile(kind, seed)
        with np.errstate(all="ignore"):
            model, texts = fitted(estimator, rows, labels, weights)
            error = weights @ (model.predict(rows) != labels) / weights.sum()
        best = 1.0 - np.bincount(labels, weights).max() / weights.sum()
        # by a twentieth of the rows, and a hair for what rounding decides twice
        if error > best + 0.051:
            n_worse += 1
            assert texts, (seed, estimator, error, best)
    assert n_worse < 60  # hostile, but most fits are of use


@pytest.mark.parametrize("kind", [kernelet.SparseSVR, kernelet.NormSVR])
def test_one_target_far_from_all_others_is_no_reason_to_warn(kind):
    rows = np.linspace(-3.0, 3.0, 200)[:, None]
    targets = np.sin(rows[:, 0])
    targets[50] = 1000.0
    model = kind(kernel="rbf", gamma=1.0)
    _, texts = fitted(model, rows, targets)
    assert of_constants(texts) == []
