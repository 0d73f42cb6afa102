"""C of machines in few bits: compared with Python, with what it states, byte by byte."""

import re
import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.datasets import load_digits, load_iris
from sklearn.exceptions import ConvergenceWarning
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, StandardScaler
from sklearn.svm import SVC, OneClassSVM

import kernelet
from kernelet import KernelMachine, SparseSVC, TableModel, calibrate, compress
from kernelet.datasets import make_banana
from kernelet.export.model import exported_model
from kernelet.export.to_c.compact_arithmetic import compact_arithmetic
from kernelet.export.to_c.exporter import c_cost, c_source
from kernelet.kernels import Gaussian, Laplacian, ProjectedFeatures, ScaledFeatures
from kernelet.machine import stored_bytes
from kernelet.machine.calibration import CalibratedMachine, TemperatureCalibration
from kernelet.machine.rounding import coefficient_scales, compact_form, vector_grid
from run_c import compiled, compilers
from run_c_program import SANITIZED, program

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


def in_bits(kernel, vectors, coefficients, intercepts, bits=5, coefficient_bits=6, flat=None):
    """A machine whose numbers are rounded, each for itself."""
    grid = vector_grid(kernel, np.asarray(vectors, dtype=float), bits, droppable=flat)
    beta = np.asarray(coefficients, dtype=float)
    beta = beta if beta.ndim == 2 else beta[:, np.newaxis]
    b = np.broadcast_to(np.asarray(intercepts, dtype=float), beta.shape[1:])
    scales = coefficient_scales(beta, b, coefficient_bits)
    codes = np.rint(beta / scales.values[:, np.newaxis])
    return KernelMachine.from_compact(compact_form(grid, codes, scales, b, coefficient_bits))


def arithmetic_of(model):
    return compact_arithmetic(exported_model(model, with_columns=True))


def limit_of(model, machine):
    """What the header states, and what is left of the score unit in float32."""
    arithmetic = arithmetic_of(model)
    size = np.abs(machine.coefficients).sum(axis=0).max() + np.abs(machine.intercepts).max()
    return arithmetic.score_error + arithmetic.moved_scores + 1e-6 * size


@pytest.fixture(scope="module")
def digits():
    X, y = load_digits(return_X_y=True)
    return (X / 16).astype(np.float32).astype(float), y


@pytest.fixture(scope="module")
def models(digits):
    """name -> (model, its machine, rows, labels have a table)"""
    X, y = digits
    train = slice(0, 800)
    few = {"max_iter": 10, "random_state": 0}
    rng = np.random.default_rng(0)
    mixed = np.linalg.qr(rng.normal(size=(64, 12)))[0].T
    scales = np.exp(rng.normal(size=64, scale=0.5))
    fits = {
        "classes": (SparseSVC(20, C=10.0, vector_bits=5, **few), y),
        "4 bits": (SparseSVC(20, C=10.0, vector_bits=4, **few), y),
        "8 bits": (SparseSVC(20, C=10.0, vector_bits=8, **few), y),
        "binary": (SparseSVC(8, vector_bits=3, **few), np.where(y % 2, "odd", "even")),
        "plain": (SparseSVC(8, gamma=0.05, learn_kernel=False, vector_bits=6, **few), y % 2),
        "per class": (SparseSVC(3, C=10.0, vectors="per_class", vector_bits=5, **few), y),
        "scaled": (
            SparseSVC(20, kernel=ScaledFeatures(Gaussian(0.05), scales), vector_bits=5, **few),
            y,
        ),
        "matrix": (
            SparseSVC(20, kernel=ProjectedFeatures(Gaussian(0.3), mixed), vector_bits=5, **few),
            y,
        ),
        "reduced": (kernelet.ReducedSVC(30, vector_bits=5, random_state=0), y),
        "fisher": (kernelet.KernelFisherClassifier(10, vector_bits=5, **few), y),
        "regression": (kernelet.SparseSVR(10, vector_bits=5, **few), y),
        "targets": (kernelet.SparseKernelRidge(10, vector_bits=5, **few), np.eye(10)[y]),
        "outliers": (kernelet.SparseOneClassSVM(10, vector_bits=5, **few), None),
    }
    found = {}
    for name, (model, target) in fits.items():
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            model.fit(X[train], None if target is None else target[train])
        found[name] = (model, model.machine_, X)
    for name, big in (
        ("compressed pairs", SVC(C=10.0).fit(X[:400], y[:400])),
        ("compressed outliers", OneClassSVM(nu=0.2).fit(X[:300])),
    ):
        model = compress(big, 20, max_iter=5, vector_bits=5)
        found[name] = (model, model.machine_, X)
    return found


NAMES = ["classes", "4 bits", "8 bits", "binary", "plain", "per class", "scaled", "matrix"]
NAMES += ["reduced", "fisher", "regression", "targets", "outliers"]
NAMES += ["compressed pairs", "compressed outliers"]


def expected_scores(model, machine, X):
    """Of pairs, the scores of the pairs."""
    return machine.decision_function(X).reshape(len(X), -1)


@pytest.mark.parametrize("name", NAMES)
def test_estimators(name, models, tmp_path):
    model, machine, X = models[name]
    (library,) = compiled([(model, "q7")], tmp_path)
    found, expected = library.decision_function(X), expected_scores(model, machine, X)
    assert np.abs(found - expected).max() <= limit_of(model, machine)
    # far below the bound, which is what there is if all roundings agree
    assert np.abs(found - expected).max() <= 3e-4 * np.abs(machine.coefficients).sum(axis=0).max()
    if name not in ("regression", "targets"):
        predicted = library.predict(X)
        labels = predicted if "outliers" in name else model.classes_[predicted]
        differ = labels != model.predict(X)
        # behind a random projection more rows lie between classes
        assert np.mean(differ) <= (0.004 if name == "matrix" else 0.001)
        if expected.shape[1] == 10:
            lower, upper = np.sort(expected[differ], axis=1)[:, -2:].T
            assert (upper - lower <= 2 * np.abs(found - expected).max()).all()


@pytest.mark.parametrize("name", NAMES)
def test_tables_take_the_bytes_that_are_counted(name, models):
    model, machine, _ = models[name]
    n_labels = 0 if "outliers" in name else len(getattr(model, "classes_", ()))
    written = c_source(model, "m", "q7")
    if name == "binary":  # texts are in a macro, which nothing but its user stores
        assert '#define M_LABEL_NAMES { \\\n    "even", "odd", \\\n}\n' in written.header
        n_labels = 0
    assert written.flash_bytes == stored_bytes(machine, n_labels=n_labels)
    assert f"Flash: {written.flash_bytes} bytes of tables, " in written.header
    assert written.cost == c_cost(model, "q7")
    assert written.cost.common_bytes in (130, 162)
    # what the compiler sees
    sizes = {"int8_t": 1, "uint8_t": 1, "int16_t": 2, "uint16_t": 2, "int32_t": 4, "uint32_t": 4}
    tables = re.findall(r"^(?:static )?const (\w+) (\w+)\[(\d+)\] = ", written.source, re.M)
    stored = sum(sizes[kind] * int(n) for kind, name, n in tables if kind in sizes)
    stored += 32 if written.cost.common_bytes == 162 else 0
    assert stored == written.flash_bytes + written.cost.common_bytes


def test_labels_take_as_few_bytes_as_they_can(digits):
    X, y = digits
    for change, kind in ((0, "int8_t"), (200, "uint8_t"), (-300, "int16_t"), (30000, "int16_t")):
        model = SparseSVC(4, vector_bits=4, max_iter=1).fit(X[:200], y[:200] + change)
        assert f"extern const {kind} m_labels[10];" in c_source(model, "m", "q7").header
    assert "extern const int m_labels[10];" in c_source(model, "m", "float32").header


def test_probabilities(models, digits, tmp_path):
    X, y = digits
    sigmoids = [
        calibrate(models[name][0], X[800:1200], target[800:1200])
        for name, target in (("classes", y), ("plain", y % 2))
    ]
    soft = [CalibratedMachine(m, TemperatureCalibration(1.7)) for m in (models["classes"][1],)]
    soft.append(CalibratedMachine(models["plain"][1], TemperatureCalibration(0.6)))
    libraries = compiled([(model, "q7") for model in (*sigmoids, *soft)], tmp_path)
    for model, library in zip((*sigmoids, *soft), libraries, strict=True):
        shares, found = model.predict_proba(X), library.predict_proba(X)
        np.testing.assert_allclose(found, shares, atol=3e-3)
        np.testing.assert_allclose(found.sum(axis=1), 1.0, atol=1e-3)
        assert np.mean(library.predict(X) == shares.argmax(axis=1)) >= 0.999


def test_pipelines(digits, tmp_path):
    X, y = load_iris(return_X_y=True)
    X = X.astype(np.float32).astype(float)
    made = [
        make_pipeline(scaler, SparseSVC(6, vector_bits=bits, random_state=0)).fit(X, y)
        for scaler, bits in ((StandardScaler(), 4), (MinMaxScaler(), 9))
    ]
    libraries = compiled([(model, "q7") for model in made], tmp_path)
    for model, library in zip(made, libraries, strict=True):
        machine = model[-1].machine_
        error = np.abs(library.decision_function(X) - model.decision_function(X)).max()
        assert error <= 1.2 * limit_of(model, machine)
        assert (library.predict(X) == model.predict(X)).all()
        # shift and scale of each column
        assert library.written.flash_bytes == stored_bytes(machine, n_labels=3) + 8 * 4
        assert library.quantize([[np.nan, 0.0, 1.0, 1e30]])[1] == 2


def test_tables(tmp_path):
    """Categories, missing values, and a column that the kernel leaves out."""
    rng = np.random.default_rng(0)
    n = 300
    colours = np.array(["red", "", "green", "blue"], dtype=object)[rng.integers(4, size=n)]
    length, width = rng.normal(size=(2, n)).astype(np.float32).astype(float)
    width[::9] = np.nan
    kind = np.where((length > 0) ^ (colours == "red"), "fig", "plum")
    table = {"length": length, "colour": colours, "width": width, "kind": kind}
    table["constant"] = np.full(n, 7.0)
    estimator = SparseSVC(8, vector_bits=5, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = TableModel.fit(table, "kind", estimator)
    columns = [column.name for column in model.encoder.columns]
    (library,) = compiled([(model, "q7")], tmp_path)
    codes = [library.category(columns.index("colour"), text) for text in colours]
    known = {"length": length, "width": width, "colour": codes, "constant": table["constant"]}
    rows = np.column_stack([known[name] for name in columns])
    machine = model.estimator.machine_
    error = np.abs(library.decision_function(rows)[:, 0] - model.decision_function(table)).max()
    assert error <= 1.2 * limit_of(model, machine)
    found = model.classes_[library.predict(rows)]
    assert np.mean(found == model.predict(table)) >= 0.999


def fitted_table(table, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return TableModel.fit(table, "kind", SparseSVC(8, random_state=0, **options))


@pytest.mark.parametrize(
    "units, column_bytes",
    [
        ([1.0, 1.0, 1.0], 1),  # of shifts, and of scales where they differ
        ([2.0, 3000.0, 0.5], 2),
        ([1e-3, 1.0, 1e3], 2),
        ([1e-6, 1.0, 1e6], 8),  # more than the 256 powers of a byte span
    ],
)
def test_scales_of_columns_take_a_byte(units, column_bytes, tmp_path):
    rng = np.random.default_rng(0)
    X = rng.permutation(np.linspace(-1.0, 1.0, 900)).reshape(300, 3) * units + units
    X = X.astype(np.float32).astype(float)
    kind = np.where(X[:, 0] * X[:, 1] > np.mean(X[:, 0] * X[:, 1]), "fig", "plum")
    table = {"a": X[:, 0], "b": X[:, 1], "c": X[:, 2], "kind": kind}
    model = fitted_table(table, vector_bits=5)
    (library,) = compiled([(model, "q7")], tmp_path)
    machine = model.machine_
    fills = 0 if column_bytes < 8 else 3 * 4
    around = library.written.flash_bytes - stored_bytes(machine)
    assert around == 3 * column_bytes + fills
    found = library.decision_function(X)[:, 0]
    assert np.abs(found - model.decision_function(table)).max() <= 1.5 * limit_of(model, machine)
    missing = {"a": [np.nan], "b": [X[0, 1]], "c": [np.nan]}
    found = library.decision_function(np.array([[np.nan, X[0, 1], np.nan]]))[0, 0]
    assert abs(found - model.decision_function(missing)[0]) <= 1.5 * limit_of(model, machine)
    if column_bytes < 8:
        # as good as scales that are not rounded, which other machines keep
        exact = fitted_table(table)
        deviations = [column.scale for column in exact.encoder.columns]
        assert_allclose(deviations, X.std(axis=0))
        rounded = [column.scale for column in model.encoder.columns]
        assert_allclose(rounded, deviations, rtol=0.045)
        assert model.score(table) >= 0.9


KERNELS = {
    "plain": lambda d, rng: Gaussian(0.3 / d),
    "scales": lambda d, rng: ScaledFeatures(
        Gaussian(0.3 / d), np.exp(rng.normal(size=d)) * (np.arange(d) % 5 != 1)
    ),
    "matrix": lambda d, rng: ProjectedFeatures(
        Gaussian(0.3), rng.normal(size=(3, d)) / np.sqrt(d) * (np.arange(d) % 5 != 1)
    ),
}


def random_machine(bits, rng, name):
    d, m, k = int(rng.integers(1, 20)), int(rng.integers(1, 25)), int(rng.integers(1, 5))
    Z = rng.normal(size=(m, d)) * np.exp(rng.normal(size=d)) + rng.normal(size=d)
    Z[:, 3::7] = 1.25  # the same in all vectors
    beta = rng.normal(size=(m, k)) * np.exp(rng.normal(size=(m, 1), scale=2.0))
    b = rng.normal(size=k) * rng.choice([0.0, 1.0, 1e3])
    coefficient_bits = int(rng.choice([4, 5, 6, 8, 16]))
    flat = np.arange(d) % 3 == 0
    machine = in_bits(KERNELS[name](d, rng), Z, beta, b, bits, coefficient_bits, flat)
    noise = rng.normal(size=(60, d)) * 10.0 ** rng.uniform(-3, 1, size=(60, 1))
    X = machine.vectors[rng.integers(m, size=60)] + noise
    return machine, X.astype(np.float32).astype(float)


def exact_scores(machine, quantized):
    """f of the integers that rows became, in double precision and without any trick."""
    form, unit = machine.compact, arithmetic_of(machine).unit
    a = form.grid.steps.values
    scores = np.zeros((len(quantized), machine.n_outputs))
    for x, q in enumerate(quantized.astype(float)):
        squares = [sum((q * unit - a * e) ** 2) for e in form.grid.offsets.astype(float)]
        values = np.exp(-form.grid.kernel.gamma * np.array(squares).reshape(-1))
        scores[x] = values @ machine.coefficients + machine.intercepts
    return scores


@pytest.mark.parametrize("bits", range(2, 17))
def test_random_machines_are_as_exact_as_stated(bits, tmp_path):
    rng = np.random.default_rng(bits)
    cases = [random_machine(bits, rng, name) for name in KERNELS for _ in range(2)]
    libraries = compiled([(machine, "q7") for machine, _ in cases], tmp_path)
    for (machine, X), library in zip(cases, libraries, strict=True):
        arithmetic = arithmetic_of(machine)
        assert library.written.flash_bytes == stored_bytes(machine)
        quantized, _ = library.quantize(X)
        found = library.decision_function(X)
        rounding = 1e-6 * np.abs(found).max()
        of_integers = exact_scores(machine, quantized)
        assert np.abs(found - of_integers).max() <= arithmetic.score_error + rounding
        exact = machine.decision_function(X).reshape(found.shape)
        assert np.abs(found - exact).max() <= limit_of(machine, machine) + rounding


@pytest.mark.parametrize("gamma", [1e-3, 0.3, 40.0])
@pytest.mark.parametrize("bits", [2, 5, 8, 16])
def test_kernel_values_are_as_exact_as_stated(gamma, bits, tmp_path):
    """Where one vector is, and on the way there."""
    ends = np.array([[-1.0], [1.0]])
    machine = in_bits(Gaussian(gamma), ends, [0.0, 1.0], 0.0, bits)
    (library,) = compiled([(machine, "q7")], tmp_path)
    stated, moved = (
        float(re.search(pattern, library.written.header)[1])
        for pattern in (r"Kernel values are exact to (\S+) for", r"moves them by (\S+) and")
    )
    assert stated < 4e-3 and moved < 1e-3
    reach = 1.0 + 3.3 / np.sqrt(gamma)
    X = np.linspace(-reach, reach, 20_000)[:, np.newaxis]
    quantized, outside = library.quantize(X)
    assert not outside.any()
    found = library.decision_function(X)[:, 0]
    scale = machine.coefficients.max()
    of_integers = np.abs(found - exact_scores(machine, quantized)[:, 0]).max() / scale
    assert 0.1 * stated < of_integers <= 1.05 * stated
    exact = np.abs(found - machine.decision_function(X)).max() / scale
    assert exact <= 1.05 * (stated + moved)


def test_values_between_two_entries_of_the_table_are_not_rounded(tmp_path):
    """Straight lines and the table's own digits make 3.1e-5, the 16 digits of t another 1.1e-5."""
    machine = in_bits(Gaussian(0.5), [[0.0]], [1.0], 0.0)
    (library,) = compiled([(machine, "q7")], tmp_path)
    X = np.linspace(0.0, 2.0, 20_000)[:, np.newaxis]
    exact = exact_scores(machine, library.quantize(X)[0])[:, 0]
    errors = np.abs(library.decision_function(X)[:, 0] - exact) / machine.coefficients.max()
    assert 3.1e-5 < errors.max() < 4.2e-5


@pytest.mark.parametrize("gamma", [0.1, 0.3, 1.0, 3.0])
def test_lengths_use_all_the_integers_that_they_are_stored_in(gamma):
    machine = in_bits(Gaussian(gamma), [[-1.0], [1.0], [0.7]], np.ones(3), 0.0, 8)
    lengths = arithmetic_of(machine).lengths
    assert 2**16 - 100 < lengths.max() < 2**16


def test_values_out_of_range_are_reported(tmp_path):
    machine = in_bits(Gaussian(0.5), [[-1.0, 0.0], [1.0, 2.0]], [1.0, -1.0], 0.25)
    scales = ScaledFeatures(Gaussian(0.5), [0.0, 1.0, 2.0])
    dropped = in_bits(scales, [[0.0, -1.0, 0.0], [0.0, 1.0, 2.0]], [1.0, -1.0], 0.25)
    library, other = compiled([(machine, "q7"), (dropped, "q7")], tmp_path)
    rows = [[0.0, 1.0], [1e9, 1.0], [np.nan, -np.inf], [-3.0, 4.0], [1.0, np.inf]]
    quantized, outside = library.quantize(rows)
    assert outside.tolist() == [0, 1, 2, 0, 1]
    assert quantized[1, 0] == quantized[4, 1] == 32767
    assert quantized[2].tolist() == [-32767, -32767]
    assert np.abs(library.decision_function(rows)[[1, 2, 4], 0] - 0.25).max() < 1e-4
    # NaN in what is not in use counts in all that is; any other number does not
    rows = [[0.0, 0.0, 0.0], [np.nan, 0.0, 0.0], [1e30, 0.0, 0.0]]
    quantized, outside = other.quantize(rows)
    assert outside.tolist() == [0, 2, 0]
    assert quantized[1].tolist() == [-32767, -32767]
    assert quantized[2].tolist() == quantized[0].tolist()


def extremes():
    """name -> (machine, rows), where sums are long, or words or tables short of something."""
    rng = np.random.default_rng(0)

    def near(machine, noise=0.3):
        m = max(1, machine.n_vectors)
        Z = machine.vectors if machine.n_vectors else np.zeros((1, machine.n_features))
        spread = noise * (np.abs(Z).max() or 1.0) / np.sqrt(machine.n_features)
        X = Z[rng.integers(m, size=12)] + spread * rng.normal(size=(12, machine.n_features))
        X[0], X[1], X[2] = Z[0], 1e30, -1e4
        return machine, X.astype(np.float32).astype(float)

    wide = rng.normal(size=(4, 5000))
    long = rng.uniform(-1.0, 1.0, size=(4000, 2))
    many = rng.normal(size=(30, 3))
    far = np.array([[0.0, 0.0], [1.0, 900.0], [1.0, -900.0], [0.5, 0.1]])
    steps = rng.normal(size=(20, 3)) * [1.0, 1e-5, 1e-8]
    odd = rng.normal(size=(9, 7))
    beta = {len(Z): rng.normal(size=len(Z)) for Z in (wide, long, many, far, steps, odd)}
    made = {
        "wide": in_bits(Gaussian(0.3 / 5000), wide, beta[4], 0.5, 8),
        "wide, 16 bits": in_bits(Gaussian(0.3 / 5000), wide, beta[4], 0.5, 16, 16),
        "long": in_bits(Gaussian(3.0), long, beta[4000], -3.0, 2, 4),
        "long, 16 bits": in_bits(Gaussian(3.0), long, beta[4000], -3.0, 4, 16),
        "many outputs": in_bits(Gaussian(0.3), many, rng.normal(size=(30, 70)), 1.0, 7, 5),
        "far": in_bits(Gaussian(0.1), far, beta[4], 0.0, 16, 6),
        "steps": in_bits(Gaussian(0.3), steps, beta[20], 0.0, 5),
        "large intercept": in_bits(Gaussian(0.3), many, beta[30], 1e5, 5, 4),
        "intercept alone": in_bits(Gaussian(0.3), np.zeros((0, 3)), np.zeros((0, 2)), [1.0, -2.5]),
        "one vector": in_bits(Gaussian(0.3), [[1.0, -2.0]], [1.0], 0.25),
        "all flat": in_bits(Gaussian(0.3), [[1.0, -2.0], [1.0, -2.0]], [1.0, 0.3], 0.25),
        "zeros": in_bits(Gaussian(0.3), [[1.0, -2.0], [0.0, 1.0]], [0.0, 0.0], 0.0),
        **{f"odd, {bits} bits": in_bits(Gaussian(0.1), odd, beta[9], 0.0, bits) for bits in (3, 4)},
        "small": in_bits(Gaussian(1e12), 1e-6 * many, 1e-9 * beta[30], 0.0),
        "large": in_bits(Gaussian(1e-12), 1e6 * many, 1e9 * beta[30], 0.0),
    }
    return {name: near(machine) for name, machine in made.items()}


def test_extremes_without_undefined_behaviour(tmp_path):
    cases = extremes()
    made = program([(machine, "q7") for machine, _ in cases.values()], tmp_path, SANITIZED)
    found = [
        made.run(i, X).scores[: len(X)] * made.models[i].library.constant("SCORE_UNIT")
        for i, (_, X) in enumerate(cases.values())
    ]
    words = {name: arithmetic_of(machine).word for name, (machine, _) in cases.items()}
    assert words["far"] == words["wide, 16 bits"] == 64 and words["wide"] == words["long"] == 32
    wide_sums = {name for name, (m, _) in cases.items() if arithmetic_of(m).sums.is_wide}
    assert wide_sums >= {"long, 16 bits", "large intercept"} and "wide" not in wide_sums
    for scores, (name, (machine, X)) in zip(found, cases.items(), strict=True):
        exact = machine.decision_function(X).reshape(scores.shape)
        assert np.abs(scores - exact).max() <= limit_of(machine, machine), name
        assert c_source(machine, "m", "q7").flash_bytes == stored_bytes(machine), name
    scores, (machine, _) = found[list(cases).index("many outputs")], cases["many outputs"]
    np.testing.assert_allclose(scores[1], machine.intercepts, rtol=1e-5)  # far from all vectors


@pytest.mark.parametrize("optimize", ["-Os", "-O3"])
def test_compilers_agree(optimize, models, digits, tmp_path):
    X, _ = digits
    chosen = [models[name][0] for name in ("classes", "4 bits", "matrix", "plain")]
    pairs = [(model, "q7") for model in chosen]
    first = compiled(pairs, tmp_path / "first")
    for compiler in compilers():
        folder = tmp_path / compiler
        libraries = compiled(pairs, folder, compiler=compiler, optimize=optimize)
        for one, other in zip(first, libraries, strict=True):
            # float32 may be kept in more digits while a row is rounded
            rows = one.quantize(X)[0]
            assert np.abs(rows - other.quantize(X)[0]).max() <= 1
            assert np.mean(one.predict(X) == other.predict(X)) >= 0.999


def test_what_it_cannot_hold_is_refused(digits):
    X, y = make_banana(100, random_state=0)
    plain = SparseSVC(5, random_state=0).fit(X, y)
    with pytest.raises(ValueError, match=r"machines in few bits; fit with vector_bits=5.*compress"):
        c_source(plain, "m", "q7")
    Z, beta = [[0.0], [1.0]], [1.0, -1.0]
    with pytest.raises(ValueError, match=r"is for Gaussian kernels.*Laplacian.*use float32"):
        c_source(in_bits(Laplacian(1.0), Z, beta, 0.0), "m", "q7")
    with pytest.raises(ValueError, match=r"gamma=1e\+30 is out of the range.*use float32"):
        c_source(in_bits(Gaussian(1e30), Z, beta, 0.0), "m", "q7")
    rng = np.random.default_rng(0)
    apart = rng.normal(size=(5, 300))
    apart[0, 0] = 1e4
    with pytest.raises(ValueError, match=r"too far apart for dtype=\"q7\".*use float32"):
        c_source(in_bits(Gaussian(0.5), apart, np.ones(5), 0.0), "m", "q7")


def test_the_header_says_what_it_costs(models):
    model, machine, _ = models["classes"]
    written = c_source(model, "m", "q7")
    cost = written.cost
    grid = machine.compact.grid
    assert f"{cost.flash_bytes} bytes of tables, 162 bytes of tables of powers" in written.header
    assert f"RAM: {cost.ram_bytes} bytes of stack" in written.header
    assert "Bits: 5 of a vector's entry" in written.header
    assert cost.calls == 0
    products = 20 * (int(grid.varying.sum()) + 10)
    assert 2 * products < cost.arithmetic < 2 * products + 1000
    others = {dtype: c_cost(model, dtype).flash_bytes for dtype in ("float32", "q15")}
    assert 2 * cost.flash_bytes < others["q15"] < others["float32"]
