"""C in 16-bit integers: what it rounds, what it refuses."""

import re

import numpy as np
import pytest
from sklearn.datasets import load_digits
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from kernelet import KernelMachine, SparseSVC, TableModel, compress
from kernelet.datasets import make_banana
from kernelet.export.to_c.exporter import c_source
from kernelet.kernels import Gaussian, Laplacian, ProjectedFeatures, ScaledFeatures
from kernelet.machine import CalibratedMachine, SigmoidCalibration
from run_c import compiled

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


def test_labels_agree_on_digits(tmp_path):
    X, y = load_digits(return_X_y=True)
    X = X / 16
    shared = SparseSVC(30, C=10.0, max_iter=25, tol=0.1, random_state=0).fit(X[:1000], y[:1000])
    svc = SVC(C=10.0).fit(X[:1000], y[:1000])
    models = [shared, compress(svc, 60, max_iter=5), SVC(break_ties=True).fit(X[:400], y[:400])]
    libraries = compiled([(model, "q15") for model in models], tmp_path)
    for model, library in zip(models, libraries, strict=True):
        agreement = np.mean(model.classes_[library.predict(X[1000:])] == model.predict(X[1000:]))
        assert agreement >= 0.995


@pytest.mark.parametrize("scale", [1e-3, 1.0, 1e4])
def test_scores_are_those_of_the_decision_function(scale, tmp_path):
    X, y = make_banana(300, random_state=0)
    X = X * scale + 100 * scale
    model = SparseSVC(8, gamma=0.5 / scale**2, random_state=0).fit(X, y)
    (library,) = compiled([(model, "q15")], tmp_path)
    assert np.mean(model.classes_[library.predict(X)] == model.predict(X)) >= 0.99
    error = np.abs(library.decision_function(X)[:, 0] - model.decision_function(X)).max()
    assert error < 2e-4 * np.abs(model.machine_.coefficients).sum()


def test_one_width_per_feature(tmp_path):
    X, y = make_banana(300, random_state=0)
    X = np.column_stack(
        [X * [1e-3, 1e3] + [2.0, -500.0], np.random.default_rng(0).normal(size=300)]
    )
    models = [
        SparseSVC(8, kernel=ScaledFeatures(Gaussian(0.5), scales), random_state=0)
        for scales in ([1e3, 1e-3, 0.0], [1.0, 2.0, 0.1])
    ]
    models[1] = make_pipeline(StandardScaler(), models[1])
    libraries = compiled([(model.fit(X, y), "q15") for model in models], tmp_path)
    for model, library in zip(models, libraries, strict=True):
        machine = model.machine_ if model is models[0] else model[-1].machine_
        error = np.abs(library.decision_function(X)[:, 0] - model.decision_function(X)).max()
        assert error < 2e-4 * np.abs(machine.coefficients).sum()
        assert np.mean(model.classes_[library.predict(X)] == model.predict(X)) >= 0.99


@pytest.fixture(scope="module")
def combined():
    """Models of 2 combinations of 6 features: of rows, behind scalers, and of a table."""
    X, y = make_banana(300, random_state=0)
    rng = np.random.default_rng(0)
    mixed = np.linalg.qr(rng.normal(size=(6, 6)))[0]
    rows = np.column_stack([X, rng.normal(size=(300, 4))]) @ mixed.T + 200.0
    A = mixed[:, :2].T  # which takes the mixture apart again

    def svc(matrix, inner=None):
        inner = Gaussian(0.5) if inner is None else inner
        return SparseSVC(8, kernel=ProjectedFeatures(inner, matrix), random_state=0)

    scaled = make_pipeline(StandardScaler(), svc(A * rows.std(axis=0)))
    table = {f"f{i}": column for i, column in enumerate(rows.T)}
    table |= {"kind": np.where(np.arange(300) % 3, "a", "b"), "y": np.where(y > 0, "yes", "no")}
    widths = np.column_stack([A * rows.std(axis=0), [[0.1, -0.1], [0.0, 0.0]]])
    whole = TableModel.fit(table, "y", svc(widths))
    models = [
        svc(A).fit(rows, y),
        svc(A, ScaledFeatures(Gaussian(0.5), [1.0, 0.8])).fit(rows, y),
        scaled.fit(rows, y),
        whole,
    ]
    codes = np.where(np.arange(300) % 3, 0.0, 1.0)
    return models, [rows, rows, rows, np.column_stack([rows, codes])], [*3 * [rows], table]


def test_combinations_of_features(combined, tmp_path):
    models, rows, data = combined
    libraries = compiled([(model, "q15") for model in models], tmp_path)
    for model, library, X, given in zip(models, libraries, rows, data, strict=True):
        inner = getattr(model, "estimator", model[-1] if hasattr(model, "steps") else model)
        quantized, outside = library.quantize(X)
        assert quantized.shape == (300, 2)
        assert not outside.any()
        scores = model.decision_function(given)
        error = np.abs(library.decision_function(X)[:, 0] - scores).max()
        assert error < 4e-4 * np.abs(inner.machine_.coefficients).sum()
        labels = model.predict(given)
        assert np.mean(inner.classes_[library.predict(X)] == labels) >= 0.99


def test_what_combinations_cost_is_said(combined):
    machine = combined[0][0].machine_
    m, d, r = machine.n_vectors, 6, 2
    written = c_source(machine, "m", "q15")
    assert written.cost.arithmetic == (2 * r * d + d) + m * (3 * r + 2)
    assert f"that the kernel has: {2 * r * d + d} of the" in written.header
    assert "int m_quantize(const float x[M_FEATURES], int16_t q[M_COMBINATIONS]);" in written.header
    powers, intercept = 2 * 65, 8
    floats = 4 * (d + r + r)  # origin, centres, rates
    assert written.flash_bytes == floats + 2 * (r * d + m * r + m) + intercept + powers


def test_rounding_a_matrix_is_as_exact_as_stated(tmp_path):
    """The largest error there can be: every number by nearly half a unit, in one direction."""
    rng = np.random.default_rng(0)
    d, unit = 200, 1.0 / 32767
    signs = rng.choice([-1.0, 1.0], size=d)
    A = np.rint(rng.uniform(-0.5, 0.5, size=(1, d)) / unit) * unit + 0.499 * unit * signs
    A[0, 0] = 1.0  # one of 32767 units
    Z = np.stack([0.3 * signs, -0.3 * signs])
    machine = KernelMachine(ProjectedFeatures(Gaussian(0.5 / (A @ Z[0])[0] ** 2), A), Z, [0.0, 1.0])
    (library,) = compiled([(machine, "q15")], tmp_path)
    stated = float(re.search(r"16 bits moves kernel values by (\S+) at", library.written.header)[1])
    others = [
        float(re.search(pattern, library.written.header)[1])
        for pattern in (r"exact to (\S+) for", r"moves them by (\S+) at most")
    ]
    X = np.linspace(-1.0, 1.0, 201)[:, None] * Z[:1]
    error = np.abs(library.decision_function(X)[:, 0] - machine.decision_function(X)).max()
    assert 0.3 * stated < error < stated + sum(others)


def test_a_matrix_that_16_bits_would_spoil_stays_in_floats(tmp_path):
    """A large number next to those that matter."""
    rng = np.random.default_rng(0)
    Z = rng.normal(size=(10, 5))
    Z[:, 0] = 0.0
    A = np.array([[1e4, 1.0, 0.0, 0.0, 0.5], [0.0, 0.0, 1.0, -1.0, 0.0]])
    machine = KernelMachine(ProjectedFeatures(Gaussian(0.5), A), Z, rng.normal(size=10))
    (library,) = compiled([(machine, "q15")], tmp_path)
    assert "Rounding the matrix" not in library.written.header
    error = np.abs(library.decision_function(Z)[:, 0] - machine.decision_function(Z)).max()
    assert error < 4e-4 * np.abs(machine.coefficients).sum()


@pytest.mark.parametrize("gamma", [1e-3, 0.3, 40.0, 2000.0])
def test_kernel_values_are_as_exact_as_stated(gamma, tmp_path):
    machine = KernelMachine(Gaussian(gamma), [[-1.0], [1.0]], [0.0, 1.0], 0.0)
    (library,) = compiled([(machine, "q15")], tmp_path)
    stated = float(re.search(r"exact to (\S+) for", library.written.header).group(1))
    assert stated < 7e-5
    reach = 1.0 + 3.3 / np.sqrt(gamma)  # from the centre, 0
    X = np.linspace(-reach, reach, 20_000)[1:-1, None]
    quantized, outside = library.quantize(X)
    assert not outside.any()
    rounded = quantized * reach / 32767
    vector = np.rint(32767 / reach) * reach / 32767
    exact = np.exp(-gamma * (rounded - vector) ** 2)[:, 0]
    errors = np.abs(library.decision_function(X)[:, 0] - exact)
    assert 0.4 * stated < errors.max() <= stated


def test_values_out_of_range_are_reported(tmp_path):
    machine = KernelMachine(Gaussian(0.5), [[-1.0, 0.0], [1.0, 2.0]], [1.0, -1.0], 0.25)
    (library,) = compiled([(machine, "q15")], tmp_path)
    rows = [[0.0, 1.0], [1e9, 1.0], [np.nan, -np.inf], [-4.0, 5.0], [1.0, np.inf]]
    quantized, outside = library.quantize(rows)
    assert outside.tolist() == [0, 1, 2, 0, 1]
    assert quantized[1, 0] == quantized[4, 1] == 32767
    assert quantized[2].tolist() == [-32767, -32767]
    # there all kernel values are nothing, as they are where the row is
    assert np.abs(library.decision_function(rows)[[1, 2, 4], 0] - 0.25).max() < 1e-4


def test_random_machines(tmp_path):
    rng = np.random.default_rng(0)
    cases = []
    for scale, d, m, k in ((1e-9, 3, 1, 1), (1.0, 1, 5, 3), (1e9, 70, 4, 2), (30.0, 2, 200, 1)):
        Z = scale * rng.normal(size=(m, d)) + 3 * scale
        gamma = 0.3 / scale**2 / d
        machine = KernelMachine(
            Gaussian(gamma), Z, 1e3 * rng.normal(size=(m, k)), rng.normal(size=k)
        )
        X = Z[rng.integers(m, size=20)] + 0.1 * scale * rng.normal(size=(20, d))
        cases.append((machine, X))
    libraries = compiled([(machine, "q15") for machine, _ in cases], tmp_path)
    for (machine, X), library in zip(cases, libraries, strict=True):
        exact = machine.decision_function(X).reshape(len(X), -1)
        size = np.abs(machine.coefficients).sum(axis=0) + np.abs(machine.intercepts)
        assert (np.abs(library.decision_function(X) - exact) <= 5e-4 * size).all()


def test_what_it_cannot_hold_is_refused():
    vectors, coefficients = [[0.0], [1.0]], [1.0, -1.0]

    def refused(kernel, b=0.0, calibration=None):
        machine = KernelMachine(kernel, vectors, coefficients, b)
        model = machine if calibration is None else CalibratedMachine(machine, calibration)
        with pytest.raises(ValueError) as caught:
            c_source(model, "m", "q15")
        assert "use float" in str(caught.value)
        return str(caught.value)

    assert "Gaussian kernels" in refused(Laplacian(1.0))
    assert "Gaussian kernels" in refused(ProjectedFeatures(Laplacian(1.0), [[2.0]]))
    for gamma in (1e30, 1e308):
        assert "gamma" in refused(Gaussian(gamma))
    assert "out of the range of float32" in refused(Gaussian(5e-324))
    assert "intercepts are too large" in refused(Gaussian(1.0), 1e30)
    steep = SigmoidCalibration(np.array([-1e30]), np.zeros(1))
    assert "the calibration is out of the range" in refused(Gaussian(1.0), calibration=steep)
