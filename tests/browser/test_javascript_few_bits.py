"""Machines in few bits as JavaScript, executed: what Python computes with, to the last bit."""

import json
import re
import subprocess
import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import load_digits
from sklearn.exceptions import ConvergenceWarning

import compact_machines
import kernelet
from compact_machines import BITS, fitted, machine_of, random_machine, rows_for
from export_bounds import KERNELS, bound, expected, far_from_ties
from kernelet import KernelMachine, kernels
from kernelet.export import javascript
from kernelet.export.compact import compact_form, table
from kernelet.export.documents import script_json
from kernelet.export.javascript import javascript_module, model_document, runtime
from kernelet.machine import CompactForm, VectorGrid
from kernelet.machine.powers import Powers
from kernelet.machine.vector_grid import GridMatrix
from references import for_features
from run_node import need_node, numbers, run_modules

SHAPES = [(0, 3, 2), (1, 3, 1), (2, 3, 2), (6, 4, 3), (30, 9, 1)]


@pytest.mark.parametrize("bits", BITS)
def test_every_kernel(bits, tmp_path):
    machines = [
        random_machine(for_features(kernel, shape[1]), shape, bits, seed=100 * place + bits)
        for place, kernel in enumerate(KERNELS)
        for shape in SHAPES
    ]
    tasks = [(machine, X, ["decisionFunction"], None) for machine, X in machines]
    n_compact = 0
    for (machine, X), answer in zip(machines, run_modules(tasks, tmp_path), strict=True):
        found = numbers(answer["decisionFunction"]).reshape(len(X), -1)
        assert_array_equal(numbers(answer["oneByOne"]).reshape(found.shape), found)
        limit = bound(machine, X)
        assert (np.abs(found - expected(machine, X)) <= limit).all()
        ours = machine.decision_function(X).reshape(found.shape)
        assert (np.abs(found - ours) <= limit).all()
        is_compact = compact_form(machine) is not None
        n_compact += is_compact
        assert answer["metadata"]["vectorBits"] == (bits if is_compact else None)
        _check_described(machine, X, answer["metadata"])
    # all but a product with a matrix in one of its factors, which is written in 64 bits
    assert n_compact == len(machines) - len(SHAPES)


def test_a_kernel_that_uses_no_feature(tmp_path):
    kernel = kernels.ScaledFeatures(kernels.Gaussian(0.5), [0.0, 0.0, 0.0])
    machine, X = random_machine(kernel, (4, 3, 2), 5, seed=1)
    (answer,) = run_modules([(machine, X, ["decisionFunction"], None)], tmp_path)
    found = numbers(answer["decisionFunction"])
    assert (np.abs(found - machine.decision_function(X)) <= bound(machine, X)).all()
    assert answer["metadata"]["usedFeatures"] == [0]


def _check_described(machine, X, metadata):
    """The kernel that a module says it has is that of the features in use."""
    used, Z = metadata["usedFeatures"], machine.vectors
    described = kernels.kernel_from_specification(metadata["kernel"])
    own = slice(None) if used is None else used
    assert_allclose(described(X[:, own], Z[:, own]), machine.kernel(X, Z), rtol=1e-9, atol=1e-12)


def _grid(**changes):
    rng = np.random.default_rng(5)
    integers = {
        "kernel": kernels.Gaussian(0.3),
        "n_features": 11,
        "used": np.array([0, 1, 2, 4, 5, 6, 8, 9, 10]),
        "bits": 6,
        "codes": rng.integers(0, 64, size=(7, 9)).astype(np.uint16),
        "centres": rng.integers(-(2**30), 2**30, size=9).astype(np.int32),
        "steps": Powers(0.7, np.arange(9, dtype=np.uint8) * 31),
        "scales": Powers(1e-3, np.arange(9, dtype=np.uint8) + 200),
    }
    return VectorGrid(**{**integers, **changes})


def _forms():
    """Integers as large as they get, columns in which vectors do not differ, powers all alike."""
    rng = np.random.default_rng(6)
    coefficients = rng.integers(-7, 8, size=(7, 3)).astype(np.int16)
    scales = Powers(2.3e-5, rng.integers(0, 256, size=7).astype(np.uint8))
    intercepts = np.array([2**31 - 1, -(2**31), 5], dtype=np.int32)
    flat = _grid()
    flat.codes[:, 3:7] = 32
    codes = rng.integers(-31, 32, size=(2, 9)).astype(np.int16)
    matrix = GridMatrix(codes, Powers(3.1, rng.integers(0, 90, size=9).astype(np.uint8)))
    combined = _grid(
        codes=flat.codes[:, :2],
        centres=flat.centres[:2],
        steps=Powers(0.1, np.array([3, 3], dtype=np.uint8)),
        scales=None,
        matrix=matrix,
    )
    long = rng.integers(0, 2**16, size=(7, 9)).astype(np.uint16)
    for grid in (_grid(), flat, combined, _grid(bits=16, codes=long, scales=None)):
        yield CompactForm(grid, 4, coefficients, scales, intercepts)
    wide = rng.integers(-32767, 32768, size=(7, 3)).astype(np.int16)
    yield CompactForm(_grid(), 16, wide, Powers(1.0, np.full(7, 9, np.uint8)), intercepts)


_UNPACK = """
const text = (value) => value && Array.from(value, (x) => x.toString());
const chosen = [];
for (const document of documents) {
  const { features, scales, matrix, vectors, coefficients, intercepts } = unpacked(document);
  chosen.push(Object.fromEntries(
    Object.entries({ features, scales, matrix, vectors, coefficients, intercepts })
      .map(([name, value]) => [name, text(value)])));
}
console.log(JSON.stringify(chosen));
"""


def test_numbers_are_exactly_those_of_python(tmp_path):
    need_node()
    forms = list(_forms())
    machines = [KernelMachine.from_compact(form) for form in forms]
    documents = script_json([model_document(machine) for machine in machines])
    script = tmp_path / "unpack.mjs"
    script.write_text(f"{runtime(with_tables=True)}\nconst documents = {documents};\n{_UNPACK}")
    done = subprocess.run(["node", str(script)], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    for form, found in zip(forms, json.loads(done.stdout), strict=True):
        grid = form.grid
        assert found["features"] == [str(place) for place in grid.used]
        assert_array_equal(numbers(found["vectors"]), grid.points.ravel())
        assert_array_equal(numbers(found["coefficients"]), form.coefficient_values.ravel())
        assert_array_equal(numbers(found["intercepts"]), form.intercept_values)
        if grid.scales is None:
            assert found["scales"] is None
        else:
            assert_array_equal(numbers(found["scales"]), grid.scales.values)
        if grid.matrix is None:
            assert found["matrix"] is None
        else:
            assert_array_equal(numbers(found["matrix"]), grid.matrix.values.ravel())


_IMPORT = """
delete globalThis.atob;
delete globalThis.Buffer;
try {
  const { decisionFunction } = await import("./machine.mjs");
  console.log(Array.from(decisionFunction([[0.5, 1.5, -1, 2]])).join(" "));
} catch (error) {
  console.log(`${error.name}: ${error.message}`);
}
"""


@pytest.mark.parametrize(
    ("pattern", "damaged", "reason"),
    [
        (r"$^", "", None),
        (
            r'text: "....',
            'text: "',
            "RangeError: a table of the model holds 9 bytes, not 24 integers",
        ),
        (r'text: "', 'text: "AAAA', "15 bytes, not 24 integers of 4 bits: the file is damaged"),
        (r'text: "..', 'text: "?!', "SyntaxError: a table of the model is not base64"),
        (r'text: "..', 'text: " \\n', "SyntaxError: a table of the model is not base64"),
        (r'text: "..', 'text: "--', "SyntaxError: a table of the model is not base64"),
    ],
)
def test_without_what_only_some_have_and_damaged(pattern, damaged, reason, tmp_path):
    """No Buffer, no atob; a text that lacks bytes is refused when the module is loaded."""
    need_node()
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 16, size=(6, 4)).astype(np.uint16)
    codes[0, :2] = 0, 15
    one = Powers(0.25, np.zeros(4, np.uint8))
    grid = VectorGrid(kernels.Gaussian(), 4, np.arange(4), 4, codes, np.zeros(4, np.int32), one)
    beta = rng.integers(-7, 8, size=(6, 1)).astype(np.int16)
    scales = Powers(1.0, np.zeros(6, np.uint8))
    form = CompactForm(grid, 4, beta, scales, np.array([3], dtype=np.int32))
    machine = KernelMachine.from_compact(form)
    text = javascript_module(machine)
    start = text.index("  vectors: ")
    text = text[:start] + re.sub(pattern, lambda _: damaged, text[start:], count=1)
    (tmp_path / "machine.mjs").write_text(text)
    (tmp_path / "import.mjs").write_text(_IMPORT)
    command = ["node", "import.mjs"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert done.stderr == ""
    if reason is None:
        score = machine.decision_function([[0.5, 1.5, -1.0, 2.0]])
        assert_allclose(float(done.stdout), score[0], rtol=1e-14)
    else:
        assert reason in done.stdout


_ANSWERS = """
import { readFileSync } from "node:fs";
const answers = [];
for (const { module, rows, calls } of JSON.parse(readFileSync(0, "utf8"))) {
  const machine = await import(module);
  const lists = (values) => Array.from(values, (v) => (ArrayBuffer.isView(v) ? Array.from(v) : v));
  const said = calls.map((call) => [call, lists(machine[call](rows))]);
  answers.push({ ...Object.fromEntries(said), metadata: machine.metadata });
}
console.log(JSON.stringify(answers));
"""


@pytest.fixture(scope="module")
def answered(tmp_path_factory):
    """Name -> what its module says, of every kind of model."""
    need_node()
    folder = tmp_path_factory.mktemp("models")
    (folder / "answers.mjs").write_text(_ANSWERS)
    asked = []
    for place, name in enumerate(compact_machines.MODELS):
        model = fitted(name)
        javascript(model, folder / f"m{place}.mjs")
        rows = rows_for(model)
        calls = ["decisionFunction", "predict"] + ["predictProba"] * ("calibrated" in name)
        given = _objects(rows) if isinstance(rows, dict) else rows.tolist()
        asked.append({"module": f"./m{place}.mjs", "rows": given, "calls": calls})
    done = subprocess.run(
        ["node", "answers.mjs"], cwd=folder, input=json.dumps(asked), capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    return dict(zip(compact_machines.MODELS, json.loads(done.stdout), strict=True))


def _objects(rows):
    cells = {n: [None if c != c else c for c in column.tolist()] for n, column in rows.items()}
    return [dict(zip(cells, row, strict=True)) for row in zip(*cells.values(), strict=True)]


@pytest.mark.parametrize("name", compact_machines.MODELS)
def test_every_model(name, answered):
    model, answer = fitted(name), answered[name]
    rows = rows_for(model)
    machine, X = machine_of(model, rows)
    limit = bound(machine, X).max(axis=1)
    is_classifier = hasattr(model, "classes_")
    scores = model.decision_function(rows) if is_classifier else machine.decision_function(X)
    found = np.array(answer["decisionFunction"]).reshape(scores.shape)
    by_row = (len(found), -1)
    assert (np.abs(found - scores).reshape(by_row).max(axis=1) <= limit).all()
    assert answer["metadata"]["vectorBits"] == machine.compact.grid.bits
    predicted = model.predict(rows)
    if predicted.dtype.kind == "f":
        moved = np.array(answer["predict"]).reshape(by_row) - predicted.reshape(by_row)
        assert (np.abs(moved).max(axis=1) <= limit).all()
    else:
        sure = far_from_ties(scores, 2.0 * limit)
        assert sure.mean() > 0.9
        assert_array_equal(np.array(answer["predict"])[sure], predicted[sure])
    if "predictProba" in answer:
        assert_allclose(answer["predictProba"], model.predict_proba(rows), atol=1e-12)


def test_missing_numbers_in_any_feature(tmp_path):
    model = fitted("three classes")
    machine, rows = model.machine_, rows_for(model)[:8].copy()
    assert machine.compact.grid.used.size < machine.n_features
    for f in range(6):
        rows[f, f] = np.nan
    ((answer),) = run_modules([(model, rows, ["decisionFunction", "predict"], None)], tmp_path)
    found = numbers(answer["decisionFunction"])
    assert np.isnan(found[:6]).all()
    assert (np.abs(found[6:] - expected(machine, rows[6:])) <= bound(machine, rows[6:])).all()
    assert answer["predict"][:6] == [None] * 6


def test_any_dtype_writes_the_integers():
    model = fitted("three classes")
    text = javascript_module(model)
    for dtype in ("float32", "float64"):
        assert javascript_module(model, dtype) == text
    assert javascript_module(model.machine_.astype(np.float32)).count("least: ") > 5
    with pytest.raises(ValueError, match="dtype must be one of"):
        javascript_module(model, "float16")


def test_bytes_of_tables():
    machine = fitted("three classes").machine_
    form = machine.compact
    document = model_document(machine)
    m, r = form.grid.codes.shape
    assert document["vectors"]["codes"]["bits"] <= form.grid.bits
    # the entries and coefficients, then no more than 4 bytes a feature, 1 a vector, 4 an output
    entries = (m * r * form.grid.bits + form.coefficients.size * form.coefficient_bits) / 8
    numbers_beside = 8 * (4 + 1)
    others = 4 * machine.n_features + m + 4 * machine.n_outputs
    assert entries / 2 < document["nBytes"] <= entries + others + numbers_beside
    plain = KernelMachine(machine.kernel, machine.vectors, machine.coefficients, machine.intercepts)
    assert model_document(plain)["vectorBits"] is None
    assert model_document(plain)["nBytes"] == plain.nbytes
    assert table(np.array([], dtype=np.int64)) == {"least": 0, "bits": 0, "text": ""}


def test_digits_in_little_more_than_the_code():
    X, y = load_digits(return_X_y=True)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model = kernelet.SparseSVC(20, C=10.0, vector_bits=5, max_iter=5, random_state=0)
        model.fit(X[:1000] / 16, y[:1000])
    text, code = javascript_module(model), runtime(with_tables=True)
    assert code in text
    assert len(text) - len(code) < 3500  # 20 * 64 entries of 5 bits are 800 bytes, in base64 1067
    assert len(code) - len(runtime()) < 4000
    plain = KernelMachine(kernels.Gaussian(), [[0.0]], [1.0])
    assert "function unpacked(model)" not in javascript_module(plain)
