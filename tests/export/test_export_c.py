"""C is compiled with every warning an error, run, and compared with its model."""

import warnings

import numpy as np
import pytest
from hypothesis import Phase, given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import load_digits
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import SVC, SVR, OneClassSVM

import export_bounds
from kernelet import KernelFisherDiscriminant, KernelMachine, SparseSVC, calibrate, compress
from kernelet.datasets import make_banana
from kernelet.export import c
from kernelet.export.projection import projected
from kernelet.export.rounding import rounding_units
from kernelet.export.to_c.exporter import c_source
from kernelet.export.to_c.pieces import REALS, comment, identifier, integers, quoted, texts
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
    Sum,
)
from kernelet.kernels.profile import ProfileKernel
from kernelet.machine import CalibratedMachine, SigmoidCalibration, TemperatureCalibration
from random_examples import examples
from references import for_features
from run_c import DTYPES, compiled, compilers

FLOATS = ("float32", "float64")
MAKERS = [
    Gaussian,
    Exponential,
    Matern32,
    Matern52,
    lambda gamma: RationalQuadratic(gamma, 2.0),
    Laplacian,
    lambda gamma: gamma * Linear(),
    lambda gamma: Polynomial(degree=3, gamma=gamma, coef0=1.0),
    lambda gamma: Sigmoid(gamma=gamma, coef0=-0.5),
    lambda gamma: Gaussian(gamma) + 0.5 * Laplacian(gamma) * Linear(),
    lambda gamma: Matern52(gamma) * Polynomial(degree=2, gamma=gamma, coef0=1.0),
    lambda gamma: ScaledFeatures(Gaussian(gamma), [1.5, 0.2, 1.0]),
    lambda gamma: (
        Gaussian(gamma)
        + ScaledFeatures(
            Laplacian(gamma**0.5) + Linear() * ScaledFeatures(Matern52(gamma), [0.5, 2.0]),
            [1.0, 0.3],
        )
    ),
    lambda gamma: ProjectedFeatures(Gaussian(gamma), [[1.0, -0.5, 0.3], [0.2, 0.8, 1.0]]),
    lambda gamma: ProjectedFeatures(
        Laplacian(gamma**0.5) + Linear() * ScaledFeatures(Matern52(gamma), [0.5]), [[1.0, 2.0]]
    ),
    lambda gamma: (
        0.5 * ProjectedFeatures(Gaussian(gamma), np.eye(5, 2))
        + ScaledFeatures(ProjectedFeatures(Matern32(gamma), [[1.0, 1.0]]), [0.7, 1.3]) * Linear()
    ),
]
KERNELS = [for_features(make(0.3), 2) for make in MAKERS]
# k(x, z) = 0 for these where x is infinite
VANISHING = MAKERS[:6]


def bound(machine, X, dtype):
    """What the header states, and a little for the rounding of what is compared with."""
    units = rounding_units(machine) + 16
    return export_bounds.bound(machine, X, units * float(np.finfo(dtype).eps) / 2)


def test_every_kernel_is_there():
    def names(kernel):
        parts = getattr(kernel, "parts", None) or [getattr(kernel, "kernel", None)]
        return {kernel.name}.union(*(names(part) for part in parts if part is not None))

    assert set().union(*map(names, KERNELS)) == export_bounds.OURS


@st.composite
def machines(draw, dtype):
    """A machine with rows for it, of all magnitudes that the type has squares of."""
    largest = 6 if dtype == "float32" else 60
    make = draw(st.sampled_from(MAKERS))
    m, d, k = draw(st.integers(0, 6)), draw(st.integers(1, 9)), draw(st.integers(1, 3))
    scale = 10.0 ** draw(st.integers(-largest, largest))
    shift = scale * draw(st.sampled_from([0.0, 1.0, -300.0]))
    gamma = draw(st.sampled_from([0.01, 0.3, 5.0])) / scale ** (1 if make is Laplacian else 2)
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    Z = scale * rng.normal(size=(m, d)) + shift
    beta = 10.0 ** rng.integers(-5, 5, size=k) * rng.normal(size=(m, k))
    machine = KernelMachine(for_features(make(gamma), d), Z, beta, rng.normal(size=k))
    X = scale * rng.normal(size=(6, d)) + shift
    X[0] = Z[0] if m else 0.0
    X[1, 0] = 0.0
    cells = st.sampled_from([np.nan, np.inf, -np.inf, 1e30, -1e37])
    X[-2, rng.integers(d)] = draw(cells)
    X[-1] = draw(cells)
    return make, machine, X.astype(dtype).astype(float)


def assert_close(found, machine, X, dtype):
    """Within the bound; numbers next to nothing are rounded to nothing."""
    smallest = len(machine.vectors) * float(np.finfo(dtype).tiny)
    beta = np.abs(machine.coefficients).max(initial=1.0)
    limit = bound(machine, X, dtype) + 4 * smallest * (1 + beta)
    assert (np.abs(found - export_bounds.expected(machine, X)) <= limit).all()
    if dtype == "float64":
        ours = machine.decision_function(X).reshape(found.shape)
        assert (np.abs(found - ours) <= export_bounds.bound(machine, X, 1e-12)).all()


# nothing is shrunk: each attempt would be a compilation
@examples(5, phases=[Phase.explicit, Phase.reuse, Phase.generate])
@given(data=st.data())
@pytest.mark.parametrize("dtype", FLOATS)
def test_random_machines(dtype, tmp_path_factory, data):
    """One compilation for all machines of an example."""
    drawn = data.draw(st.lists(machines(dtype), min_size=4, max_size=10))
    models = [(machine, dtype) for _, machine, _ in drawn]
    libraries = compiled(models, tmp_path_factory.mktemp("example"))
    for library, (make, machine, X) in zip(libraries, drawn, strict=True):
        with np.errstate(all="ignore"):
            found = library.decision_function(X)
        assert_close(found[:-2], machine, X[:-2], dtype)
        for row, values in zip(X[-2:], found[-2:], strict=True):
            if not machine.n_vectors:
                assert_allclose(values, machine.intercepts, rtol=1e-6)
            elif np.isnan(row).any():
                assert np.isnan(values).all()
            elif make in VANISHING and np.abs(row).max() > 1e25 * np.abs(X[:-2]).max():
                assert_allclose(values, machine.intercepts, rtol=1e-6)


@pytest.mark.parametrize("compiler", compilers())
def test_every_piece_compiles_without_a_warning(compiler, tmp_path):
    X, y = load_digits(n_class=4, return_X_y=True)
    X, y = X[:60] / 16, y[:60]
    rng = np.random.default_rng(0)
    binary = SparseSVC(4, random_state=0, tol=0.1).fit(X, y % 2)
    machine = KernelMachine(Gaussian(0.1), X[:3], rng.normal(size=(3, 4)), np.zeros(4))
    gaussians = [
        SVC().fit(X, y),
        SVC(break_ties=True).fit(X, y),
        OneClassSVM().fit(X),
        SVR().fit(X, y),
        calibrate(binary, X, y % 2),
        CalibratedMachine(machine, TemperatureCalibration(2.0)),
        CalibratedMachine(machine, SigmoidCalibration(-np.ones(4), np.zeros(4))),
    ]
    others = [
        KernelMachine(for_features(Sum(KERNELS), 64), X[:3], np.ones((3, 2)), [0.0, 1.0]),
        KernelMachine(Linear(), np.empty((0, 2)), np.empty((0, 1)), 1.5),
    ]
    models = [(model, dtype) for model in gaussians for dtype in DTYPES]
    models += [(model, dtype) for model in others for dtype in FLOATS]
    # some warnings need the analysis of an optimizer
    libraries = compiled(models, tmp_path, compiler=compiler, optimize="-O2")
    for (model, dtype), library in zip(models[:3], libraries, strict=False):
        agreement = np.mean(model.classes_[library.predict(X)] == model.predict(X))
        assert agreement >= (0.99 if dtype == "q15" else 1.0)


@pytest.fixture(scope="module")
def digits():
    X, y = load_digits(return_X_y=True)
    return X[:1000] / 16, y[:1000], X[1000:] / 16, y[1000:]


@pytest.fixture(scope="module")
def shared(digits):
    X, y, _, _ = digits
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return SparseSVC(30, C=10.0, max_iter=25, tol=0.1, random_state=0).fit(X, y)


def test_shared_vectors_on_digits(shared, digits, tmp_path):
    X, machine = digits[2], shared.machine_
    scores = shared.decision_function(X)
    top = np.sort(scores, axis=1)
    libraries = compiled([(shared, dtype) for dtype in FLOATS], tmp_path)
    for dtype, library in zip(FLOATS, libraries, strict=True):
        limit = bound(machine, X, dtype)
        if dtype == "float64":
            limit = export_bounds.bound(machine, X, 1e-12)
        assert (np.abs(library.decision_function(X) - scores) <= limit).all()
        sure = top[:, -1] - top[:, -2] > 2 * limit.max(axis=1)
        assert sure.mean() > 0.9
        labels = shared.classes_[library.predict(X)]
        assert_array_equal(labels[sure], shared.predict(X)[sure])


def test_pairs_of_an_svc_and_of_what_it_is_compressed_to(digits, tmp_path):
    X, y, X_test, _ = digits
    models = []
    for options in ({}, {"decision_function_shape": "ovo"}, {"break_ties": True}):
        svc = SVC(C=10.0, **options).fit(X[:200], y[:200])
        models += [svc, compress(svc, 30, max_iter=5)]
    cases = [(model, dtype) for model in models for dtype in FLOATS]
    for (model, dtype), library in zip(cases, compiled(cases, tmp_path), strict=True):
        scores = model.decision_function(X_test)
        values = library.decision_function(X_test)
        assert np.abs(values - scores).max() < (1e-9 if dtype == "float64" else 1e-3)
        assert np.mean(model.classes_[library.predict(X_test)] == model.predict(X_test)) > 0.999


def test_two_classes_of_text(tmp_path):
    X, y = make_banana(200, random_state=0)
    labels = np.where(y > 0, 'with "quotes" ??/', "ü")
    model = SparseSVC(6, random_state=0).fit(X, labels)
    (library,) = compiled([(model, "float64")], tmp_path)
    assert_array_equal(model.classes_[library.predict(X)], model.predict(X))
    assert library.texts("labels", 2) == model.classes_.tolist()


@pytest.mark.parametrize("n_classes", [2, 4])
def test_probabilities(n_classes, tmp_path):
    X, y = load_digits(n_class=n_classes, return_X_y=True)
    X = X[:300] / 16
    small = SparseSVC(8, random_state=0).fit(X[:150], y[:150])
    platt = calibrate(small, X[150:], y[150:300]).calibrated_machine_.calibration
    k = len(platt.slopes)
    calibrations = [
        platt,
        TemperatureCalibration(1.7),  # fitted by scikit-learn 1.8 only, but known to all
        TemperatureCalibration(900.0),
        SigmoidCalibration(np.full(k, -50.0), np.zeros(k)),
    ]
    models = [
        (CalibratedMachine(small.machine_, fitted), t) for fitted in calibrations for t in DTYPES
    ]
    for (model, dtype), library in zip(models, compiled(models, tmp_path), strict=True):
        probabilities = model.predict_proba(X)
        found = library.predict_proba(X)
        # how far scores are off, how steep a calibration is, and the rounding of a share
        unit = {"float64": 1e-13, "float32": 1e-6, "q15": 2e-4}[dtype]
        error = unit * np.abs(small.machine_.coefficients).sum(axis=0).max()
        slopes = getattr(model.calibration, "slopes", None)
        steep = np.abs(model.calibration.inverse_temperature if slopes is None else slopes).max()
        assert_allclose(found, probabilities, rtol=0, atol=steep * error + unit)
        assert_allclose(found.sum(axis=1), 1.0, atol=1e-3)
        agreement = np.mean(library.predict(X) == probabilities.argmax(axis=1))
        assert agreement >= (0.99 if dtype == "q15" else 1.0)


def test_saturated_probabilities_keep_their_order(tmp_path):
    """In 32 bits a sigmoid is 1 beyond 17; the class of the largest score is predicted."""
    machine = KernelMachine(Linear(), [[1.0, 0.0], [0.0, 1.0]], np.eye(2), [0.0, 0.0])
    model = CalibratedMachine(machine, SigmoidCalibration(-np.ones(2), np.zeros(2)))
    (library,) = compiled([(model, "float32")], tmp_path)
    X = np.array([[20.0, 25.0], [25.0, 20.0], [-20.0, -25.0], [-25.0, -20.0]])
    assert library.predict(X).tolist() == [1, 0, 0, 1]


def test_outliers_values_and_features(tmp_path):
    X, y = make_banana(100, random_state=1)
    outliers, regression = OneClassSVM(nu=0.2).fit(X), SVR().fit(X, X[:, 0])
    features = KernelFisherDiscriminant(n_vectors=5, random_state=0).fit(X, y)
    models = [(model, "float64") for model in (outliers, regression, features)]
    found = compiled(models, tmp_path)
    assert_array_equal(found[0].predict(X), outliers.predict(X))
    assert_allclose(found[1].decision_function(X)[:, 0], regression.predict(X), atol=1e-9)
    assert_allclose(found[2].decision_function(X), features.transform(X), atol=1e-9)
    assert "_predict(" not in found[1].written.header


def test_rows_that_are_not_finite(shared, digits, tmp_path):
    libraries = compiled([(shared, "float32"), (shared, "float64")], tmp_path)
    X = digits[2][:3].copy()
    X[0, 5], X[1, 5] = np.nan, np.inf
    for library in libraries:
        values = library.decision_function(X)
        assert np.isnan(values[0]).all()
        assert_allclose(values[1], shared.machine_.intercepts, rtol=1e-6)
        assert library.predict(X)[0] == -1
        assert (library.predict(X)[1:] >= 0).all()


def without_scales(machine):
    """The same vectors and coefficients with the kernel inside ScaledFeatures."""
    assert isinstance(machine.kernel, ScaledFeatures)
    return KernelMachine(
        machine.kernel.kernel, machine.vectors, machine.coefficients, machine.intercepts
    )


def test_what_it_costs_is_said(shared):
    machine, labels = 30 * 64 + 30 * 10 + 10, 4 * 10
    used = int(np.count_nonzero(shared.machine_.kernel.scales))
    assert used < 64  # the search leaves out pixels that are always white
    for dtype, itemsize in (("float32", 4), ("float64", 8)):
        written = c_source(shared, "digits", dtype)  # with a learned scale for each feature
        stored = 30 * used + 30 * 10 + 10
        assert written.flash_bytes == itemsize * (stored + used) + 2 * used + labels
        operations = 30 * (4 * used + 2 * 10) + 64 + used
        assert written.cost.arithmetic == operations
        assert written.cost.calls == 30
        said = f"{operations} additions and multiplications, 30 calls of math.h"
        assert written.operations == said
        plain = c_source(without_scales(shared.machine_), "digits", dtype)
        assert plain.flash_bytes == itemsize * machine
        assert plain.cost.arithmetic == 30 * (3 * 64 + 2 * 10)
    for dtype in DTYPES:
        written = c_source(shared, "digits", dtype)
        for line in (
            f"Flash: {written.flash_bytes} bytes of tables",
            f"RAM: {written.ram_bytes} bytes of stack",
            f"One prediction: {written.operations}.",
        ):
            assert line in written.header
    integers = c_source(shared, "digits", "q15").flash_bytes
    assert integers < 0.6 * c_source(shared, "digits").flash_bytes


@pytest.fixture(scope="module")
def combined():
    """A machine of 3 combinations of 40 features, with rows far from 0 that 32 bits can hold."""
    rng = np.random.default_rng(0)
    A = rng.normal(size=(3, 40)) / 6.0
    X, Z = ((rng.normal(size=(n, 40)) + 500.0).astype(np.float32).astype(float) for n in (30, 20))
    return KernelMachine(
        ProjectedFeatures(Gaussian(0.5), A), Z, rng.normal(size=(20, 2)), [0, 1]
    ), X


def test_combinations_of_features_far_from_zero(combined, tmp_path):
    """Within the bound of the header, which knows the origin: 500 would be felt in 32 bits."""
    machine, X = combined
    libraries = compiled([(machine, dtype) for dtype in FLOATS], tmp_path)
    for dtype, library in zip(FLOATS, libraries, strict=True):
        error = np.abs(library.decision_function(X) - export_bounds.expected(machine, X))
        origin = projected(machine, dtype)[0].origin
        assert np.abs(origin - 500.0).max() < 1.0
        moved = KernelMachine(
            machine.kernel, machine.vectors - origin, machine.coefficients, machine.intercepts
        )
        units = rounding_units(machine) * float(np.finfo(dtype).eps) / 2
        limit = export_bounds.bound(moved, X - origin, units)
        assert (error <= limit).all()
        assert error.max() < (2e-5 if dtype == "float32" else 1e-12)
    header = libraries[0].written.header
    assert f"{rounding_units(machine)} * 2^-24" in header
    assert "x stands for |A| |x - origin| there" in header


def test_what_combinations_cost_is_said(combined, shared):
    machine, _ = combined
    m, d, r, k = 20, 40, 3, 2
    for dtype, itemsize in (("float32", 4), ("float64", 8)):
        cost = c_source(machine, "combined", dtype).cost
        assert cost.flash_bytes == itemsize * (r * d + d + m * r + m * k + k)
        assert cost.arithmetic == (2 * r * d + d) + m * (3 * r + 2 * k)
        assert cost.calls == m
        near = KernelMachine(machine.kernel, machine.vectors - 500.0, machine.coefficients, [0, 1])
        assert c_source(near, "near", dtype).flash_bytes == near.astype(dtype).nbytes
    assert "#define COMBINED_COMBINATIONS 3" in c_source(machine, "combined").header
    assert "COMBINATIONS" not in c_source(shared, "digits").header


def test_a_matrix_beyond_the_type_is_refused():
    machine = KernelMachine(ProjectedFeatures(Gaussian(0.5), [[1e30, 0.0]]), [[1.0, 1e20]], [1.0])
    assert c_source(machine, "m", "float64").flash_bytes
    large = KernelMachine(ProjectedFeatures(Linear(), [[1e30]]), [[1e20]], [1.0])
    with pytest.raises(ValueError, match=r"matrix of the kernel.* too large for float32"):
        c_source(large, "m")


def test_what_rounding_does_is_said(shared):
    assert rounding_units(without_scales(shared.machine_)) == 30 + 6 + (2 * 64 + 8)
    units = rounding_units(shared.machine_)
    assert units == 30 + 6 + (2 * 64 + 8 + 4)
    assert f"{units} * 2^-24" in c_source(shared, "digits").header
    assert f"{units} * 2^-53" in c_source(shared, "digits", "float64").header


def test_a_laplacian_has_distances_and_no_squares_of_them(tmp_path):
    """Vectors are rounded: at their own place as well, in a small unit far from the origin."""
    rng = np.random.default_rng(0)
    Z = 1e-6 * (rng.normal(size=(5, 3)) - 300.0)
    machine = KernelMachine(Laplacian(5e6), Z, np.full(5, 0.01), 0.1)
    (library,) = compiled([(machine, "float32")], tmp_path)
    rows = Z.astype(np.float32).astype(float)
    found = library.decision_function(rows).reshape(5, 1)
    assert (
        np.abs(found - export_bounds.expected(machine, rows)) <= bound(machine, rows, "f4")
    ).all()
    assert "|x|_1 + max_j |z_j|_1" in c_source(machine, "m").header
    gaussian = KernelMachine(Gaussian(1.0), Z, np.ones(5))
    assert "|x|_1" not in c_source(gaussian, "m").header


def test_code_can_be_read(shared):
    """Tables are constant, loops are loops, nothing is on the heap."""
    for dtype in DTYPES:
        source = c_source(shared, "digits", dtype).source
        code = source[source.index("kernel(") :]
        assert "malloc" not in source and "{" in code
        assert source.count("for (") < 16 and len(code.splitlines()) < 120
        tables = [line for line in source.splitlines() if line.endswith("= {")]
        assert tables and all("const " in line for line in tables)


def test_names():
    assert identifier("my model-2") == "my_model_2"
    assert identifier("2nd") == "machine_2nd"
    assert identifier("ü") == "machine"
    assert quoted('a"\\?ü') == '"a\\042\\134\\077\\303\\274"'
    assert comment("a */ b\n???/ \\") == "a * / b<U+000A>? ? ?/ <U+005C>"


def test_a_kernel_without_a_formula_is_refused(monkeypatch):
    monkeypatch.delattr(ProfileKernel, "expression")
    with pytest.raises(ValueError, match=r"Gaussian\(gamma=.*\) has no formula"):
        c_source(KernelMachine(Gaussian(1.0), [[1.0]], [1.0]), "m")


def test_bytes_of_tables():
    """Pointers and texts as a 32-bit processor has them; equal texts are stored once."""
    assert texts("t", ["ab", "abc", "abcd", "ü", "ab"]).nbytes == 5 * 4 + 4 + 4 + 8 + 4
    assert REALS["float64"].table("t", np.zeros((3, 2))).nbytes == 48
    assert integers("uint16_t", "t", [1, 2, 3]).nbytes == 6


def test_errors(tmp_path, shared):
    with pytest.raises(ValueError, match="must end in"):
        c(shared, tmp_path / "model.txt")
    with pytest.raises(ValueError, match="dtype"):
        c(shared, tmp_path / "model.c", dtype="float16")
    for machine in (
        KernelMachine(Gaussian(1.0), [[1e39]], [1.0], 0.0),
        KernelMachine(Gaussian(1e39), [[1.0]], [1.0], 0.0),
        KernelMachine(Gaussian(1e-50), [[1.0]], [1.0], 0.0),
    ):
        with pytest.raises(ValueError, match=r"float32; use float64"):
            c(machine, tmp_path / "model.c")
    own = KernelMachine(CallableKernel(lambda X, Z: X @ Z.T), [[1.0]], [1.0], 0.0)
    with pytest.raises(ValueError, match="Python function"):
        c(own, tmp_path / "model.c")
    assert list(tmp_path.iterdir()) == []
