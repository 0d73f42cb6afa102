"""Numbers at the ends of their range: right, or refused in words that say what to scale."""

from __future__ import annotations

import inspect
import warnings
from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import csr_array
from sklearn.base import BaseEstimator, is_classifier

import kernelet
from benchmarks.hardening import model_files
from benchmarks.hardening.damage.models import MUTATIONS
from kernelet import KernelMachine
from kernelet.kernels import (
    CallableKernel,
    Exponential,
    Gaussian,
    Laplacian,
    Linear,
    Matern32,
    Matern52,
    Polynomial,
    ProjectedFeatures,
    RationalQuadratic,
    ScaledFeatures,
    Sigmoid,
)
from kernelet.learners.base.training_kernel import training_kernel
from kernelet.learners.direct.problems.ridge import RidgeProblem
from kernelet.machine import CalibratedMachine, SigmoidCalibration, TemperatureCalibration
from kernelet.machine.columns import ColumnEncoder
from kernelet.machine.reading import ordered_votes
from tests.rows.test_rows import cut

RNG = np.random.default_rng(0)
ROWS = RNG.normal(size=(30, 3))
LABELS = (ROWS[:, 0] > 0).astype(int)

pytestmark = pytest.mark.filterwarnings("error::RuntimeWarning")

VANISHING = [
    Gaussian(0.5),
    Exponential(0.5),
    Matern32(0.5),
    Matern52(0.5),
    RationalQuadratic(0.5, 1.0),
    Laplacian(1e10),
    ScaledFeatures(Gaussian(0.5), [1.0, 2.0, 0.5]),
    ProjectedFeatures(Matern52(0.5), [[1.0, -0.5, 0.5], [2.0, 0.0, 0.25]]),
    2.0 * Gaussian(0.5) * Matern32(1.0),
]


class TestKernels:
    @pytest.mark.parametrize("kernel", VANISHING, ids=repr)
    @pytest.mark.parametrize("size", [1e154, 1e200, 1e300])
    @pytest.mark.parametrize("n_rows", [1, 3, 40])
    def test_far_rows_have_the_value_zero(self, kernel, size, n_rows):
        far = size * np.ones((n_rows, 3))
        for rows in (far, csr_array(far)):
            assert_allclose(kernel(rows, ROWS), 0.0, atol=1e-99)
            machine = KernelMachine(kernel, ROWS, np.ones(30), 0.5)
            assert_array_equal(machine.decision_function(rows), 0.5)

    @pytest.mark.parametrize("kernel", VANISHING, ids=repr)
    def test_threads_are_as_quiet(self, kernel):
        far = np.full((50_000, 3), 1e200)
        machine = KernelMachine(kernel, ROWS, np.ones(30), 0.5)
        assert_array_equal(machine.decision_function(far, n_threads=2), 0.5)

    @pytest.mark.parametrize("kernel", VANISHING, ids=repr)
    def test_gradients_vanish_as_well(self, kernel):
        K, pullback = kernel.value_and_pullback(np.full((4, 3), 1e120), ROWS)
        assert_allclose(K, 0.0, atol=1e-99)
        assert np.isfinite(pullback(np.ones_like(K))).all()

    @pytest.mark.parametrize(
        ("kernel", "vectors", "words"),
        [
            (Gaussian(0.5), 1e160 * ROWS, "scale the data, or lower gamma"),
            (Gaussian(1e308), ROWS, "scale the data, or lower gamma"),
            (Polynomial(1e200, 0.0, 1), 1e200 * ROWS, "scale the data, or lower gamma"),
        ],
        ids=["vectors", "gamma", "product"],
    )
    def test_vectors_that_cannot_be_squared(self, kernel, vectors, words):
        with pytest.raises(ValueError, match=words):
            kernel(ROWS, vectors)

    @pytest.mark.parametrize(
        ("kernel", "bound"),
        [
            *((kernel, 1.0) for kernel in VANISHING[:-1]),
            (VANISHING[-1], 2.0),
            (Sigmoid(0.1), 1.0),
            (Gaussian() + 3.0 * Laplacian(), 4.0),
            (Linear(), np.inf),
            (Gaussian() * Polynomial(), np.inf),
        ],
        ids=repr,
    )
    def test_largest_value_is_a_bound(self, kernel, bound):
        assert kernel.largest_value == bound
        assert np.abs(kernel(ROWS, ROWS)).max() <= bound * (1.0 + 1e-12)


class TestScores:
    @pytest.mark.parametrize("n_rows", [1, 5, 9000])
    @pytest.mark.parametrize("n_outputs", [1, 3])
    def test_scores_that_overflow_are_an_error(self, n_rows, n_outputs):
        machine = KernelMachine(
            Linear(), 1e200 * ROWS, np.full((30, n_outputs), 1e200), np.zeros(n_outputs)
        )
        with pytest.raises(ValueError, match=f"of {n_rows} rows are not finite.* scale X"):
            machine.decision_function(np.ones((n_rows, 3)))

    def test_large_scores_are_none(self):
        """The sum of their squares overflows, they do not."""
        machine = KernelMachine(Linear(), ROWS, np.full((30, 2), 1e200), np.zeros(2))
        scores = machine.decision_function(ROWS)
        assert_allclose(scores[:, 0], 1e200 * (ROWS @ ROWS.T).sum(axis=1), rtol=1e-12)

    @pytest.mark.parametrize("value", [np.nan, np.inf])
    def test_rows_that_are_not_finite_give_nan_as_before(self, value):
        rows = ROWS.copy()
        rows[4, 1] = value
        scores = KernelMachine(Linear(), ROWS, np.ones(30)).decision_function(rows)
        assert not np.isfinite(scores[4])
        assert np.isfinite(np.delete(scores, 4)).all()

    @pytest.mark.parametrize("factor", [1e200, 1e308])
    def test_calibrations_stay_probabilities(self, factor):
        scores = np.array([-1e10, -1.0, 0.0, 2.0, 1e10])
        for calibration in (
            SigmoidCalibration(np.array([-factor]), np.array([0.0])),
            TemperatureCalibration(factor),
        ):
            expected = np.array([0.0, 0.0, 0.5, 1.0, 1.0])
            assert_array_equal(calibration.probabilities(scores)[:, 1], expected)

    def test_a_column_beyond_its_scale_is_named(self):
        table = {"a": np.array([0.0, 1e-307]), "b": np.array([1.0, 2.0])}
        encoder = ColumnEncoder.fit(table, scaling="minmax")
        assert_array_equal(encoder.transform(table), [[0.0, 0.0], [1.0, 1.0]])
        with pytest.raises(ValueError, match=r"column 'a' holds 1e\+10 in row 1.*not finite"):
            encoder.transform({**table, "a": np.array([0.0, 1e10])})


def estimators():
    """All public estimators that learn from rows by themselves."""
    found = [getattr(kernelet, name) for name in kernelet.__all__]
    return [
        cls
        for cls in found
        if inspect.isclass(cls)
        and issubclass(cls, BaseEstimator)
        and cls not in (kernelet.BudgetSearchCV, kernelet.CalibratedClassifier)
    ]


def hostile_problem(cls, seed):
    """Rows, targets and parameters, most of them of absurd size."""
    rng = np.random.default_rng(seed)
    n, d = int(rng.integers(6, 30)), int(rng.integers(1, 5))
    X = rng.normal(size=(n, d))
    X = np.round(X) if rng.random() < 0.3 else X
    X = X[rng.integers(0, max(2, n // 3), n)] if rng.random() < 0.3 else X
    if rng.random() < 0.3:
        X[:, rng.integers(d)] = rng.choice([0.0, 1.0, 1e10])
    X *= 10.0 ** rng.choice([0, 0, 0, -6, 6, 20, 100, 145, 154, 200, 280, -20, -100, -160, -200])
    y = np.arange(n) % int(rng.integers(2, 4))
    if cls.__name__.endswith(("SVR", "Ridge", "Regressor")):
        y = rng.normal(size=n) * 10.0 ** rng.choice([0, 0, 0, -8, 8, -200, 200])
    known = inspect.signature(cls).parameters
    kernels = ["rbf", "linear", "poly", "laplacian", "sigmoid", "matern32", "matern52"]
    options = {
        "kernel": str(rng.choice(kernels)),
        "gamma": float(10.0 ** rng.choice([-200, -8, -2, 0, 1, 8, 200])),
        "degree": int(rng.choice([2, 5, 20, 100])),
        "coef0": float(rng.choice([0.0, 1.0, -1.0, 1e100])),
        "C": float(10.0 ** rng.choice([-8, -2, 2, 6])),
        "max_iter": 20,
    }
    chosen = {name: value for name, value in options.items() if rng.random() < 0.6}
    fixed = {"n_vectors": int(rng.integers(1, 5)), "random_state": 0}
    return X, y, {name: value for name, value in {**chosen, **fixed}.items() if name in known}


@pytest.mark.slow
@pytest.mark.parametrize("cls", estimators(), ids=lambda cls: cls.__name__)
def test_no_warning_of_numpy_leaks(cls):
    """A fit and its predictions are finite, or an error says what to change."""
    n_fitted = 0
    for seed in range(60):
        X, y, options = hostile_problem(cls, seed)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            warnings.simplefilter("error", RuntimeWarning)
            try:
                model = cls(**options).fit(X, y)
                asked = [
                    getattr(model, name)(X[:3])
                    for name in ("predict", "decision_function", "transform", "predict_proba")
                    if hasattr(model, name)
                ]
            except np.linalg.LinAlgError:
                raise
            except ValueError:  # which says what to change; a warning is no ValueError
                continue
        n_fitted += 1
        for answers in asked:
            assert answers.dtype.kind != "f" or np.isfinite(answers).all(), (seed, options)
    assert n_fitted >= 10


class TestTraining:
    @pytest.mark.parametrize("cls", estimators(), ids=lambda cls: cls.__name__)
    @pytest.mark.parametrize("size", [1e154, 1e200, 1e-200])
    def test_rows_that_cannot_be_squared(self, cls, size):
        with pytest.raises(ValueError, match=r"X.*divide X by (their size|the size)"):
            cls().fit(size * ROWS, LABELS)

    @pytest.mark.parametrize("cls", estimators(), ids=lambda cls: cls.__name__)
    def test_kernels_of_high_degree(self, cls):
        with pytest.raises(
            ValueError, match=r"Polynomial.*scale the data, or lower gamma or degree"
        ):
            cls(kernel="poly", gamma=1.0, degree=400).fit(10.0 * ROWS, LABELS)

    @pytest.mark.parametrize("cls", estimators(), ids=lambda cls: cls.__name__)
    @pytest.mark.parametrize("gamma", [1e-30, 1e-50, 1e-52, 1e-80, 1e-104, 1e-200])
    def test_kernels_of_next_to_nothing(self, cls, gamma):
        """From 1e-90 over values whose squares vanish to zero: a good model, or it is said."""
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            try:
                model = cls(kernel="poly", gamma=gamma).fit(ROWS, LABELS)
            except ValueError as error:
                assert "gamma" in str(error) or "scale" in str(error)
                return
        assert not [str(w.message) for w in caught if issubclass(w.category, RuntimeWarning)]
        is_said = any("scale" in str(item.message).lower() for item in caught)
        assert is_said or not is_classifier(model) or model.score(ROWS, LABELS) > 0.6


OUT_OF_CORE = [
    kernelet.CoreVectorSVC,
    kernelet.SparseSVC,
    kernelet.ReducedSVC,
    kernelet.KernelFisherClassifier,
    kernelet.KernelSubspace,
]


class TestOutOfCoreRows:
    """The same words as for rows in memory."""

    def fit(self, model, X, dtype=np.float64):
        lengths = [10, 20]
        if isinstance(model, kernelet.CoreVectorSVC):
            return model.fit_batches([(X[:10], LABELS[:10]), (X[10:], LABELS[10:])])
        return model.fit(
            cut(X.astype(dtype), lengths), cut(LABELS, lengths) if is_classifier(model) else None
        )

    @pytest.mark.parametrize("cls", OUT_OF_CORE, ids=lambda cls: cls.__name__)
    @pytest.mark.parametrize("size", [1e154, 1e160, 1e300, 1e-170, 1e-200])
    def test_rows_that_cannot_be_squared(self, cls, size):
        with pytest.raises(ValueError, match=r"X.*divide X by (their size|the size)") as here:
            cls().fit(size * ROWS, LABELS)
        with pytest.raises(ValueError) as there:
            self.fit(cls(), size * ROWS)
        assert str(there.value) == str(here.value)

    @pytest.mark.parametrize("cls", OUT_OF_CORE, ids=lambda cls: cls.__name__)
    def test_kernels_of_high_degree(self, cls):
        model = cls(kernel="poly", gamma=1.0, degree=20)
        with pytest.raises(
            ValueError, match=r"Polynomial.*scale the data, or lower gamma or degree"
        ) as here:
            model.fit(1e10 * ROWS, LABELS)
        with pytest.raises(ValueError) as there:
            self.fit(model, 1e10 * ROWS)
        assert str(there.value) == str(here.value)

    def test_rows_without_weight_do_not_count(self):
        X = np.vstack([ROWS, np.full((1, 3), 1e200)])
        y, weights = np.append(LABELS, 0), np.append(np.ones(30), 0.0)
        parts = [cut(values, [10, 21]) for values in (X, y, weights)]
        model = kernelet.SparseSVC(2, random_state=0).fit(*parts)
        assert model.score(ROWS, LABELS) > 0.8

    def test_values_beyond_float32_are_none_in_double_precision(self):
        model = kernelet.KernelSubspace(kernel="poly", gamma=1.0, degree=4)
        assert np.isfinite(self.fit(model, 1e10 * ROWS, np.float32).transform(ROWS)).all()


@pytest.mark.parametrize(
    "wrap",
    [
        lambda kernel: kernel,
        lambda kernel: 2.0 * kernel,
        lambda kernel: kernel + Linear(),
        lambda kernel: 2.0 * (kernel * Gaussian(1.0)) + Linear(),
        lambda kernel: ScaledFeatures(kernel, [1.0, 2.0, 0.5]),
        lambda kernel: ProjectedFeatures(kernel, np.eye(2, 3)),
    ],
    ids=["alone", "scaled", "sum", "deep", "features", "projected"],
)
def test_the_diagonal_of_a_function_is_not_asked(wrap, monkeypatch):
    """It may be as expensive as the fit, also where the function is part of another kernel."""

    def diagonal(kernel, X):
        raise AssertionError("asked")

    kernel = wrap(CallableKernel(lambda X, Z: X @ Z.T))
    monkeypatch.setattr(CallableKernel, "diagonal", diagonal)
    assert training_kernel(kernelet.SparseSVC(kernel=kernel), ROWS, np.ones(30)) == kernel


@pytest.mark.parametrize("cls", estimators(), ids=lambda cls: cls.__name__)
def test_every_estimator_says_whether_it_rescales(cls):
    assert cls._rescales_kernel_values is (cls is kernelet.RelevanceVectorClassifier)


def test_a_ridge_below_rounding():
    """2^84 and 1 have no sum in double precision: equal features are one, exactly, to Cholesky."""
    column = np.tile([1.0, -1.0], 8)
    features = 2.0**40 * np.column_stack([column, column])
    problem = RidgeProblem(2.0 * column[:, None], np.ones(16))
    solution = problem.solve(features, None)
    assert_allclose(features @ solution.weights, 2.0 * column[:, None], atol=1e-4)
    assert np.isfinite(problem.leverages(features)).all()


def test_votes_of_huge_scores_are_numbers():
    """A share orders equal votes; the sums of the scores that decide it overflow."""
    largest = np.finfo(float).max
    scores = np.array([[largest, largest, -largest], [-largest, 1.0, 1.0], [largest, -largest, 2]])
    votes = ordered_votes(scores, 3)
    third = 1.0 / 3.0  # of votes 2, 0, 1 and 1, 2, 0 and 1, 1, 1
    expected = [[2 + third, -third, 1], [1 - third, 2 + third, -2 / 9], [1, 1 - third, 1 + third]]
    assert_allclose(votes, expected, rtol=1e-12)


class TestModelFiles:
    OVERFLOWING = pytest.mark.parametrize(
        ("coefficients", "intercept"),
        [([1e308, 1e308], 0.0), ([1e308, -1e308], 0.0), ([1e308], 1e308)],
    )

    def saved(self, path, kernel, coefficients, intercept=0.0):
        vectors = ROWS[: len(coefficients)]
        KernelMachine(kernel, vectors, coefficients, intercept).save(path)
        return path

    @OVERFLOWING
    @pytest.mark.parametrize("kernel", [Gaussian(1.0), Sigmoid(1.0), Gaussian(1.0) + Matern32(1.0)])
    def test_coefficients_whose_sum_overflows(self, kernel, coefficients, intercept, tmp_path):
        small = [0.123 + i for i in range(len(coefficients))]
        path = self.saved(tmp_path / "m.kernelet", kernel, small, 0.789)
        data = path.read_bytes()
        for old, new in ((small, coefficients), ([0.789], [intercept])):
            assert data.count(np.array(old).tobytes()) == 1
            data = data.replace(np.array(old).tobytes(), np.array(new).tobytes())
        path.write_bytes(data)
        with pytest.raises(kernelet.ModelFileError, match="scores overflow"):
            kernelet.load(path)

    @OVERFLOWING
    @pytest.mark.parametrize("write", [kernelet.save, kernelet.export.json])
    def test_are_not_written_either(self, write, coefficients, intercept, tmp_path):
        machine = KernelMachine(Gaussian(1.0), ROWS[: len(coefficients)], coefficients, intercept)
        with pytest.raises(ValueError, match=r"scores overflow float64; divide them"):
            write(machine, tmp_path / "model")
        assert list(tmp_path.iterdir()) == []

    def test_float32_overflows_earlier(self, tmp_path):
        machine = KernelMachine(Gaussian(1.0), ROWS[:2], [3e38, 3e38])
        kernelet.export.json(machine, tmp_path / "model.json")
        assert kernelet.export.read_json(tmp_path / "model.json") == machine
        with pytest.raises(ValueError, match="scores overflow float32"):
            kernelet.export.json(machine, tmp_path / "model.json", dtype="float32")

    @pytest.mark.parametrize("value", [-1.0, np.nan, np.inf])
    def test_temperatures_without_a_meaning(self, value):
        with pytest.raises(ValueError, match="inverse_temperature must be a finite number of at"):
            TemperatureCalibration(value)

    @pytest.mark.parametrize(
        ("slopes", "offsets", "words"),
        [
            ([np.nan], [0.0], "must be finite"),
            ([1.0], [np.inf], "must be finite"),
            ([1.0, 2.0], [0.0], "as many slopes as offsets"),
            ([], [], "as many slopes as offsets"),
            ([1.0, 2.0], [0.0, 0.0], "another number of outputs.*2 slopes for 1 outputs"),
        ],
    )
    def test_sigmoids_that_no_file_may_hold(self, slopes, offsets, words):
        machine = KernelMachine(Gaussian(1.0), ROWS[:2], [1.0, -1.0])
        with pytest.raises(ValueError, match=words):
            CalibratedMachine(machine, SigmoidCalibration(np.array(slopes), np.array(offsets)))

    def test_coefficients_whose_sum_does_not(self, tmp_path):
        path = self.saved(tmp_path / "m.kernelet", Gaussian(1.0), [1e307, -1e307])
        scores = kernelet.load(path).decision_function(ROWS)
        assert np.isfinite(scores).all() and np.abs(scores).max() > 1e305

    def test_kernels_without_a_bound_are_an_error_when_asked(self, tmp_path):
        path = self.saved(tmp_path / "m.kernelet", Linear(), [1e308, 1e308])
        machine = kernelet.load(path)
        with pytest.raises(ValueError, match="not finite"):
            machine.decision_function(100.0 * np.abs(ROWS))

    @pytest.mark.slow
    def test_what_loads_predicts_finite_numbers(self):
        """Thousands of files, most of them with numbers at the ends of their range."""
        names = ("extremes", "numbers", "model_values", "flip_bits", "set_bytes")
        mutations = {name: MUTATIONS[name] for name in names}
        reader = replace(model_files.READER, mutations=mutations)
        outcomes = [reader.case(number) for number in range(3000)]
        assert [outcome for outcome in outcomes if outcome.is_defect] == []
        results = Counter(outcome.result for outcome in outcomes)
        assert results["a model"] > 500
        assert results["refused"] > 1000


def test_the_settings_of_numpy_stay_as_they_are():
    """Calls nest, and before NumPy 2 one errstate remembers one state."""
    before = np.geterr()
    Gaussian(1.0)(ROWS, ROWS)
    kernelet.SparseSVC(2, random_state=0).fit(ROWS, LABELS).predict(ROWS)
    assert np.geterr() == before
