"""calibrate: scikit-learn's probabilities, carried by the machine."""

from __future__ import annotations

import pickle
import warnings

import numpy as np
import pandas as pd
import pytest
import sklearn
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from scipy.special import expit, softmax
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import load_digits
from sklearn.exceptions import NotFittedError
from sklearn.frozen import FrozenEstimator
from sklearn.metrics import log_loss
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, SVR, OneClassSVM
from sklearn.utils.fixes import parse_version

from kernelet.datasets import make_banana
from kernelet.kernels import Gaussian
from kernelet.learners import (
    CalibratedClassifier,
    KernelFisherClassifier,
    ReducedSVC,
    SparseSVC,
    calibrate,
    compress,
)
from kernelet.machine import (
    CalibratedMachine,
    KernelMachine,
    SigmoidCalibration,
    TemperatureCalibration,
)

HAS_TEMPERATURE = parse_version(sklearn.__version__) >= parse_version("1.8")
METHODS = ["sigmoid", "temperature"] if HAS_TEMPERATURE else ["sigmoid"]
methods = pytest.mark.parametrize("method", METHODS)

X, y = make_banana(400, random_state=0)
DIGITS, FIGURES = load_digits(n_class=4, return_X_y=True)


def banana(maker=lambda: ReducedSVC(10, random_state=0)):
    return maker().fit(X[:150], y[:150])


def digits():
    return ReducedSVC(10, C=5.0, random_state=0).fit(DIGITS[:200], FIGURES[:200])


HELD = {"two classes": (banana, X[150:], y[150:]), "four": (digits, DIGITS[200:], FIGURES[200:])}
cases = pytest.mark.parametrize("case", HELD)


@methods
@cases
def test_probabilities_are_scikit_learns(case, method):
    maker, rows, labels = HELD[case]
    model = maker()
    ours = calibrate(model, rows, labels, method=method)
    theirs = CalibratedClassifierCV(FrozenEstimator(model), method=method).fit(rows, labels)
    probabilities = ours.predict_proba(rows)
    assert_allclose(probabilities, theirs.predict_proba(rows), rtol=0.0, atol=1e-12)
    assert_array_equal(ours.predict(rows), theirs.predict(rows))
    assert_allclose(probabilities.sum(axis=1), 1.0)
    assert_array_equal(ours.predict(rows), ours.classes_[probabilities.argmax(axis=1)])


@methods
@cases
def test_sample_weights(case, method):
    maker, rows, labels = HELD[case]
    model, weights = maker(), np.random.default_rng(0).uniform(0.5, 3.0, len(rows))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ours = calibrate(model, rows, labels, method=method, sample_weight=weights)
    theirs = CalibratedClassifierCV(FrozenEstimator(model), method=method)
    with pytest.warns(UserWarning, match="FrozenEstimator"):
        theirs.fit(rows, labels, sample_weight=weights)
    assert_allclose(ours.predict_proba(rows), theirs.predict_proba(rows), rtol=0.0, atol=1e-12)
    plain = calibrate(model, rows, labels, method=method)
    assert np.abs(ours.predict_proba(rows) - plain.predict_proba(rows)).max() > 1e-6


@pytest.mark.parametrize("case", HELD)
def test_temperature_keeps_the_labels(case):
    maker, rows, labels = HELD[case]
    model = maker()
    if HAS_TEMPERATURE:
        calibrated = calibrate(model, rows, labels, method="temperature")
        assert_array_equal(calibrated.predict(rows), model.predict(rows))
        assert_allclose(calibrated.score(rows, labels), model.score(rows, labels))
    else:
        with pytest.raises(ValueError, match=r"temperature.*scikit-learn 1\.8"):
            calibrate(model, rows, labels, method="temperature")


LABELS = {
    "signs": np.array([-3, -1, 1, 3]),
    "large": 10**9 * np.arange(4) - 10**15,
    "floats": np.array([3.0, 5.0, 7.0, 9.0]),
    "unsigned": np.arange(1, 5, dtype=np.uint8),
    "texts": np.array(["a", "b", "c", "d"], dtype=object),
}


@methods
@pytest.mark.parametrize("labels", LABELS)
@cases
def test_probabilities_do_not_depend_on_the_labels(case, labels, method):
    """Up to scikit-learn 1.9, labels such as -1 and 1 are places in an array to a temperature."""
    maker, rows, codes = HELD[case]
    model, named = maker(), LABELS[labels][codes]
    expected = calibrate(model, rows, codes, method=method).predict_proba(rows)
    model.classes_ = LABELS[labels][model.classes_]
    calibrated = calibrate(model, rows, named, method=method)
    assert_allclose(calibrated.predict_proba(rows), expected, rtol=0.0, atol=1e-12)
    assert_array_equal(calibrated.classes_, model.classes_)


@methods
def test_probabilities_are_worth_more_than_those_of_raw_scores(method):
    model = banana()
    calibrated = calibrate(model, X[150:], y[150:], method=method)
    raw = expit(model.decision_function(X[150:]))
    assert log_loss(y[150:], calibrated.predict_proba(X[150:])) < log_loss(y[150:], raw)


@methods
@pytest.mark.parametrize(
    "maker",
    [
        lambda: SparseSVC(4, random_state=0),
        lambda: SparseSVC(4, loss="squared_hinge", random_state=0),
        lambda: KernelFisherClassifier(4, random_state=0),
        lambda: KernelFisherClassifier(),
    ],
)
def test_every_classifier_of_ours(maker, method):
    model = banana(maker)
    calibrated = calibrate(model, X[150:], y[150:], method=method)
    assert calibrated.score(X[150:], y[150:]) > 0.85
    assert calibrated.n_vectors_ == model.n_vectors_
    assert calibrated.machine_ is model.machine_


@methods
def test_a_compressed_machine(method):
    model = compress(SVC().fit(X[:150], y[:150]), 8)
    calibrated = calibrate(model, X[150:], y[150:], method=method)
    assert calibrated.predict_proba(X[150:]).shape == (250, 2)


class TestMachine:
    @methods
    @cases
    def test_it_works_alone(self, case, method):
        maker, rows, labels = HELD[case]
        calibrated = calibrate(maker(), rows, labels, method=method)
        alone = calibrated.calibrated_machine_
        assert isinstance(alone, CalibratedMachine)
        assert_allclose(alone.predict_proba(rows), calibrated.predict_proba(rows), atol=1e-15)
        again = pickle.loads(pickle.dumps(alone))
        assert_array_equal(again.predict_proba(rows), alone.predict_proba(rows))

    def test_sigmoid_formula(self):
        scores = np.array([-3.0, 0.0, 2.0])
        calibration = SigmoidCalibration(np.array([-1.5]), np.array([0.25]))
        expected = 1.0 / (1.0 + np.exp(-1.5 * scores + 0.25))
        assert_allclose(calibration.probabilities(scores)[:, 1], expected)
        many = SigmoidCalibration(np.array([-1.0, -2.0, -0.5]), np.array([0.0, 0.5, -0.5]))
        table = np.random.default_rng(0).normal(size=(5, 3))
        shares = expit(-(table * many.slopes + many.offsets))
        assert_allclose(many.probabilities(table), shares / shares.sum(axis=1, keepdims=True))

    def test_temperature_formula(self):
        table = np.random.default_rng(0).normal(size=(5, 3))
        calibration = TemperatureCalibration(0.7)
        assert_allclose(calibration.probabilities(table), softmax(0.7 * table, axis=1))
        two = calibration.probabilities(table[:, 0])
        assert_allclose(two[:, 1], expit(2.0 * 0.7 * table[:, 0]))

    def test_scores_beyond_all_measure(self):
        """No overflow, and where all sigmoids vanish the classes are equally likely."""
        huge = np.array([-1e6, 1e6])
        with np.errstate(all="raise", under="ignore"):
            assert_array_equal(
                SigmoidCalibration(np.array([-1.0]), np.array([0.0])).probabilities(huge),
                [[1.0, 0.0], [0.0, 1.0]],
            )
            flat = SigmoidCalibration(-np.ones(3), np.zeros(3)).probabilities(np.full((1, 3), -1e6))
            assert_allclose(flat, 1.0 / 3.0)
            sharp = TemperatureCalibration(5.0).probabilities(np.array([[1e6, -1e6, 0.0]]))
            assert_array_equal(sharp, [[1.0, 0.0, 0.0]])

    def test_float32(self):
        machine = KernelMachine(Gaussian(1.0), X[:3].astype(np.float32), [1.0, -1.0, 0.5])
        calibrated = CalibratedMachine(machine, SigmoidCalibration(np.array([-2.0]), np.zeros(1)))
        double = CalibratedMachine(machine.astype(np.float64), calibrated.calibration)
        assert_allclose(calibrated.predict_proba(X), double.predict_proba(X), atol=1e-6)


class TestEstimator:
    @pytest.fixture(scope="class")
    @staticmethod
    def calibrated():
        return calibrate(banana(), X[150:], y[150:])

    def test_attributes(self, calibrated):
        assert isinstance(calibrated, CalibratedClassifier)
        assert calibrated.n_features_in_ == 2
        assert calibrated.n_vectors_ == 10
        assert_array_equal(calibrated.classes_, [0, 1])
        assert_array_equal(
            calibrated.decision_function(X), calibrated.estimator_.decision_function(X)
        )

    def test_copies_are_the_model_itself(self, calibrated):
        assert clone(calibrated) is calibrated
        assert calibrated.fit(X, 1 - y) is calibrated
        pipe = make_pipeline(StandardScaler(with_mean=False, with_std=False), calibrated)
        assert_array_equal(pipe.fit(X, y).predict(X), calibrated.predict(X))
        back = pickle.loads(pickle.dumps(calibrated))
        assert_array_equal(back.predict_proba(X), calibrated.predict_proba(X))

    def test_sparse_rows(self, calibrated):
        assert_allclose(calibrated.predict_proba(sparse.csr_array(X)), calibrated.predict_proba(X))

    def test_string_labels_and_names_of_features(self):
        names = np.array(["no", "yes"])[y]
        frame = pd.DataFrame(X, columns=["a", "b"])
        model = ReducedSVC(10, random_state=0).fit(frame[:150], names[:150])
        calibrated = calibrate(model, frame[150:], names[150:])
        assert set(calibrated.predict(frame)) == {"no", "yes"}
        assert_array_equal(calibrated.feature_names_in_, ["a", "b"])

    def test_not_made_by_calibrate(self):
        for method in ("predict", "predict_proba", "decision_function"):
            with pytest.raises(NotFittedError):
                getattr(CalibratedClassifier(), method)(X)

    @pytest.mark.parametrize("count", [1, 2, 4])
    def test_few_rows_of_each_class(self, count):
        rows = np.concatenate([np.flatnonzero(y == c)[:count] for c in (0, 1)])
        probabilities = calibrate(banana(), X[rows], y[rows]).predict_proba(X)
        assert np.isfinite(probabilities).all()


class TestErrors:
    def test_method(self):
        with pytest.raises(ValueError, match="method must be one of 'sigmoid', 'temperature'"):
            calibrate(banana(), X, y, method="isotonic")

    @pytest.mark.parametrize(
        ("maker", "found"),
        [
            (lambda: SVR().fit(X, y), "CompressedRegressor"),
            (lambda: OneClassSVM().fit(X), "CompressedOutlierDetector"),
            (lambda: banana().machine_, "KernelMachine"),
        ],
    )
    def test_models_of_another_kind(self, maker, found):
        with pytest.raises(TypeError, match=f"{found} is no classifier"):
            calibrate(maker(), X, y)

    def test_not_fitted(self):
        with pytest.raises(NotFittedError):
            calibrate(ReducedSVC(), X, y)

    def test_labels(self):
        with pytest.raises(ValueError, match=r"y holds no row of \[3\]"):
            calibrate(digits(), DIGITS[FIGURES < 3], FIGURES[FIGURES < 3])
        with pytest.raises(ValueError, match=r"y holds \[2\], which the model does not know"):
            calibrate(banana(), X, 2 * y)

    def test_rows(self):
        with pytest.raises(ValueError, match="features"):
            calibrate(banana(), DIGITS, FIGURES % 2)
        with pytest.raises(ValueError, match="NaN"):
            calibrate(banana(), np.full_like(X, np.nan), y)
        with pytest.raises(ValueError, match="X has 400 rows, but y has 399; they must be as many"):
            calibrate(banana(), X, y[:-1])
