"""Exported JavaScript, executed: the same numbers and labels as Python."""

import json
import re
import string
import subprocess

import numpy as np
import pytest
from hypothesis import HealthCheck, given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import load_digits
from sklearn.svm import SVC, SVR, OneClassSVM

import kernelet
from export_bounds import KERNELS, OURS, bound, expected, far_from_ties
from export_models import MODELS, answers, fitted, rows_for
from hostile_texts import hostile, named, of_table
from kernelet import KernelMachine, kernels
from kernelet.datasets import make_banana, make_checkerboard
from kernelet.export import javascript
from kernelet.machine import CalibratedMachine, SigmoidCalibration, TemperatureCalibration
from random_examples import examples
from references import for_features
from run_node import need_node, numbers, run_modules

# fits stop after a few steps here: any machine will do
pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


def compare(machine, X, answer):
    found = numbers(answer["decisionFunction"]).reshape(len(X), -1)
    assert_array_equal(numbers(answer["oneByOne"]).reshape(found.shape), found)
    limit = bound(machine, X)
    assert (np.abs(found - expected(machine, X)) <= limit).all()
    ours = np.asarray(machine.decision_function(X)).reshape(len(X), -1)
    assert (np.abs(found - ours) <= limit).all()


def test_every_kernel_is_there():
    assert {kernel.name for kernel in KERNELS} | {"scaled"} == OURS


def test_every_kernel(tmp_path):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(20, 4))
    machines = [
        KernelMachine(
            for_features(kernel, 4),
            rng.normal(size=(7, 4)),
            rng.normal(size=(7, k)),
            rng.normal(size=k),
        )
        for kernel in KERNELS
        for k in (1, 3)
    ]
    X[0] = machines[0].vectors[0]
    answers = run_modules([(m, X, ["decisionFunction"], None) for m in machines], tmp_path)
    for machine, answer in zip(machines, answers, strict=True):
        compare(machine, X, answer)
        described = kernels.kernel_from_specification(answer["metadata"]["kernel"])
        if isinstance(described, kernels.ProjectedFeatures):  # written with its matrix in front
            values = described(X, machine.vectors)
            np.testing.assert_allclose(values, machine.kernel(X, machine.vectors), rtol=1e-9)
        else:
            assert described == machine.kernel
        assert answer["metadata"]["nVectors"] == 7
        assert answer["classes"] is None


def test_combinations_of_features_far_from_zero(tmp_path):
    rng = np.random.default_rng(0)
    kernel = kernels.ProjectedFeatures(kernels.Gaussian(0.5), rng.normal(size=(3, 40)) / 6.0)
    X, Z = (rng.normal(size=(n, 40)) + 500.0 for n in (30, 20))
    machine = KernelMachine(kernel, Z, rng.normal(size=(20, 2)), [0.0, 1.0])
    cases = [(machine, X, ["decisionFunction"], dtype) for dtype in ("float32", "float64")]
    for limit, answer in zip((2e-5, 1e-12), run_modules(cases, tmp_path), strict=True):
        error = np.abs(numbers(answer["decisionFunction"]) - expected(machine, X)).max()
        assert error < limit


@examples(15, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.lists(
        st.tuples(
            st.sampled_from(KERNELS),
            st.integers(0, 6),
            st.integers(1, 5),
            st.integers(1, 3),
            st.sampled_from([1e-8, 1.0, 30.0]),
            st.sampled_from([0.0, 1.0, 300.0]),
            st.integers(0, 2**32 - 1),
        ),
        min_size=1,
        max_size=8,
    )
)
def test_random_machines(tmp_path, drawn):
    tasks, machines = [], []
    for kernel, m, d, k, scale, shift, seed in drawn:
        rng = np.random.default_rng(seed)
        Z = scale * rng.normal(size=(m, d)) + shift
        kernel = for_features(kernel, d)
        machine = KernelMachine(kernel, Z, rng.normal(size=(m, k)), scale * rng.normal(size=k))
        X = scale * rng.normal(size=(5, d)) + shift
        machines.append((machine, X))
        tasks.append((machine, X, ["decisionFunction"], "float64"))
    for (machine, X), answer in zip(machines, run_modules(tasks, tmp_path), strict=True):
        compare(machine, X, answer)


def test_nan_and_infinity(tmp_path):
    rng = np.random.default_rng(1)
    Z = rng.normal(size=(4, 3))
    X = rng.normal(size=(7, 3))
    X[1, 0], X[2, 1], X[3, 2] = np.nan, np.inf, -np.inf
    X[4], X[5], X[6, :2] = np.inf, 1e300, (np.inf, np.nan)
    kernels_of_three = [for_features(k, 3) for k in KERNELS]
    machines = [KernelMachine(k, Z, rng.normal(size=(4, 2)), [1.0, -1.0]) for k in kernels_of_three]
    answers = run_modules([(m, X, ["decisionFunction"], None) for m in machines], tmp_path)
    for machine, answer in zip(machines, answers, strict=True):
        found = numbers(answer["decisionFunction"])
        assert np.isnan(found[[1, 6]]).all()
        assert np.isfinite(found[0]).all()
        with np.errstate(all="ignore"):
            # of finite rows whose scores are not, a machine would raise an error
            ours = machine.kernel(X, Z) @ machine.coefficients + machine.intercepts
        # Python's matrix products meet inf - inf where the definition does not.
        known = ~np.isnan(ours)
        known[1:] &= ~np.isnan(found[1:])
        assert_array_equal(np.isfinite(found)[known], np.isfinite(ours)[known])
        assert_array_equal(np.sign(found)[known], np.sign(ours)[known])
    gaussian = numbers(answers[0]["decisionFunction"])
    assert_array_equal(gaussian[2:6], np.tile([1.0, -1.0], (4, 1)))  # exp(-inf) = 0: f = b


def test_float32_keeps_its_digits_far_from_the_origin(tmp_path):
    """Numbers of 32 bits move a vector by 2^-24 of its distance from the mean, not from 0."""
    rng = np.random.default_rng(2)
    Z, X = rng.normal(size=(6, 4)) + 3000.0, rng.normal(size=(9, 4)) + 3000.0
    machine = KernelMachine(kernels.Gaussian(0.5), Z, rng.normal(size=6), 0.1)
    (answer,) = run_modules([(machine, X, ["decisionFunction"], "float32")], tmp_path)
    near = KernelMachine(machine.kernel, Z - 3000.0, machine.coefficients, machine.intercepts)
    limit = bound(near, X - 3000.0, unit=4 * 2.0**-24)
    found = numbers(answer["decisionFunction"])[:, None]
    assert (np.abs(found - expected(machine, X)) <= limit).all()
    assert answer["metadata"]["dtype"] == "float32"


@pytest.mark.parametrize("kernel", KERNELS[-6:] + KERNELS[:1], ids=lambda kernel: kernel.name)
def test_float32(kernel, tmp_path):
    rng = np.random.default_rng(3)
    X = rng.normal(size=(9, 4))
    kernel = for_features(kernel, 4)
    machine = KernelMachine(kernel, rng.normal(size=(6, 4)), rng.normal(size=(6, 2)), [0.1, 0.2])
    (answer,) = run_modules([(machine, X, ["decisionFunction"], "float32")], tmp_path)
    error = np.abs(numbers(answer["decisionFunction"]) - expected(machine, X))
    # degree 5 at most: the rounding of a vector enters up to five times
    assert (error <= bound(machine, X, unit=16 * 2.0**-24)).all()
    assert error.max() > 1e-12  # else it was float64


def _digits():
    X, y = load_digits(return_X_y=True)
    return X[:300] / 16.0, y[:300], X[300:500] / 16.0


def _models():
    X, y, T = _digits()
    svc = SVC(C=10.0).fit(X, y)
    names = np.array(["zero", "</script>", "two", "über", "4", "5", "6", "7", "8", "nine"])
    yield "SparseSVC", kernelet.SparseSVC(12, C=10.0, max_iter=10, random_state=0).fit(X, y), T
    per_class = kernelet.SparseSVC(2, vectors="per_class", max_iter=5, random_state=0)
    yield "per class, texts", per_class.fit(X, names[y]), T
    yield "SVC", svc, T
    yield "compressed pairs", kernelet.compress(svc, 15), T
    yield "ovo", kernelet.compress(SVC(decision_function_shape="ovo").fit(X, y), 15), T
    yield "ties", kernelet.compress(SVC(break_ties=True).fit(X, y), 9), T
    for name in ("ReducedSVC", "KernelFisherClassifier"):
        yield name, getattr(kernelet, name)(10, random_state=0).fit(X, y), T
    for name in ("MinimalKernelSVC", "RelevanceVectorClassifier"):
        yield name, getattr(kernelet, name)().fit(X[:150], y[:150]), T
    yield "SubspaceLPSVC", kernelet.SubspaceLPSVC(20, n_landmarks=30).fit(X, y), T
    model = kernelet.SparseSVC(10, max_iter=5, random_state=0).fit(X[:200], y[:200])
    yield "calibrated", kernelet.calibrate(model, X[200:], y[200:]), T
    B, labels = make_banana(200, random_state=0)
    binary = kernelet.SparseSVC(6, max_iter=10, random_state=0).fit(B[:100], labels[:100])
    yield "banana", binary, B
    yield "banana calibrated", kernelet.calibrate(binary, B[100:], labels[100:]), B
    yield "banana, truth values", kernelet.compress(SVC().fit(B, labels == 1), 5), B
    board, colours = make_checkerboard(200, random_state=0)
    yield "board", kernelet.NormSVC(gamma=2.0, C=100.0).fit(board, colours), board
    yield "outliers", kernelet.compress(OneClassSVM(nu=0.2).fit(B), 5), B
    yield "regression", SVR().fit(B, B[:, 0]), B


@pytest.fixture(scope="module")
def answered(tmp_path_factory):
    models = list(_models())
    calls = [
        ["decisionFunction", "predict"] + ["predictProba"] * hasattr(model, "calibrated_machine_")
        for _, model, _ in models
    ]
    tasks = [(model, X, c, None) for (_, model, X), c in zip(models, calls, strict=True)]
    answers = run_modules(tasks, tmp_path_factory.mktemp("models"))
    return list(zip(models, answers, strict=True))


def test_estimators_have_the_same_scores(answered):
    for (name, model, X), answer in answered:
        scores = model.predict(X) if name == "regression" else model.decision_function(X)
        found = numbers(answer["decisionFunction"])
        assert found.shape == scores.shape, name
        np.testing.assert_allclose(found, scores, rtol=0, atol=1e-10 * np.abs(scores).max())


def test_estimators_have_the_same_labels(answered):
    for (name, model, X), answer in answered:
        predicted = model.predict(X)
        if name == "regression":
            np.testing.assert_allclose(numbers(answer["predict"]), predicted, atol=1e-12)
            continue
        texts = [
            str(label).lower() if label is np.True_ or label is np.False_ else str(label)
            for label in predicted
        ]
        assert answer["predict"] == texts, name
        if answer["classes"] is not None:
            assert answer["classes"] == model.classes_.tolist()


def test_probabilities(answered):
    calibrated = [(m, X, a) for (_, m, X), a in answered if "predictProba" in a]
    assert len(calibrated) == 2
    for model, X, answer in calibrated:
        np.testing.assert_allclose(
            numbers(answer["predictProba"]), model.predict_proba(X), atol=1e-12
        )


def test_probabilities_of_bare_machines(tmp_path):
    rng = np.random.default_rng(4)
    Z, X = rng.normal(size=(5, 3)), rng.normal(size=(6, 3))
    models = [
        CalibratedMachine(
            KernelMachine(kernels.Gaussian(), Z, 9 * rng.normal(size=(5, k)), np.zeros(k)), c
        )
        for k in (1, 3)
        for c in (
            SigmoidCalibration(rng.normal(size=k) - 2, rng.normal(size=k)),
            SigmoidCalibration(np.zeros(k), np.full(k, 1e4)),
            TemperatureCalibration(0.7),
            TemperatureCalibration(900.0),
        )
    ]
    answers = run_modules([(m, X, ["predictProba"], None) for m in models], tmp_path)
    for model, answer in zip(models, answers, strict=True):
        found = numbers(answer["predictProba"])
        np.testing.assert_allclose(found, model.predict_proba(X), rtol=1e-9, atol=1e-12)


def test_transformers_and_large_labels(tmp_path):
    X, y, T = _digits()
    features = kernelet.KernelFisherDiscriminant(2, n_vectors=8, max_iter=3, random_state=0)
    labels = np.array([2**60 + 1, 2**60 + 3])[y % 2]
    parity = kernelet.ReducedSVC(5, random_state=0).fit(X, labels)
    tasks = [(features.fit(X, y), T, ["predict"], None), (parity, T, ["predict"], None)]
    model, driver = tmp_path / "big.mjs", tmp_path / "one.mjs"
    javascript(parity, model)
    driver.write_text(
        f'import {{ predict }} from "{model}";\n'
        f"console.log(String(predict([{np.array2string(T[0], separator=',')}])[0]));"
    )
    (answer,) = run_modules(tasks[:1], tmp_path)
    np.testing.assert_allclose(numbers(answer["predict"]), features.transform(T), atol=1e-11)
    done = subprocess.run(["node", str(driver)], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == str(parity.predict(T[:1])[0])


def test_rows_without_numbers_have_no_label(tmp_path):
    B, labels = make_banana(60, random_state=0)
    models = [
        kernelet.ReducedSVC(3, random_state=0).fit(B, labels),
        kernelet.ReducedSVC(3, random_state=0).fit(B, np.arange(60) % 3),
        kernelet.compress(SVC().fit(B, np.arange(60) % 3), 4),
        kernelet.compress(OneClassSVM().fit(B), 4),
    ]
    rows = np.array([[0.0, 0.0], [np.nan, 1.0]])
    for answer in run_modules([(m, rows, ["predict"], None) for m in models], tmp_path):
        assert answer["predict"][0] is not None
        assert answer["predict"][1] is None


TABLE = {
    "length": [1.5, None, 3.0, 2.0, 8.5, 7.0, 9.0, 6.5],
    "colour": ["red", "blue", "", "red", "blue", "grey", "grey", "blue"],
    "ripe": [True, False, True, True, False, False, True, True],
    "size": [1, 2, 3, 1, 2, 3, 1, 2],
    "fruit": ["fig", "fig", "fig", "fig", "plum", "plum", "plum", "plum"],
}


def test_models_of_tables(tmp_path):
    """Missing cells, texts of numbers, truth values, categories that are new."""
    model = kernelet.TableModel.fit(TABLE, "fruit", kernelet.ReducedSVC(4, random_state=0))
    rows = [
        {"length": 1.0, "colour": "red", "ripe": True, "size": 3},
        {"length": None, "colour": None, "ripe": False, "size": 1},
        {"length": "7.25", "colour": "", "ripe": True, "size": 2, "other": [1]},
        {"length": -1e3, "colour": "pink", "ripe": False, "size": 2},
    ]
    javascript(model, tmp_path / "fruit.mjs")
    (tmp_path / "run.mjs").write_text(
        'import { decisionFunction, predict } from "./fruit.mjs";\n'
        f"const rows = {json.dumps(rows)};\n"
        "const texts = ['long', '0x1f', '0b1', '1_0', ' ', 'Infinity', '1e999', '1e'];\n"
        "const broken = texts.map((length) => ({ ...rows[0], length }));\n"
        "broken.push({ length: 1 });\n"
        "const said = broken.map((row) => {\n"
        "  try { predict([row]); } catch (error) { return error.message; }\n"
        "});\n"
        "console.log(JSON.stringify([Array.from(decisionFunction(rows)), predict(rows), said]));"
    )
    need_node()
    done = subprocess.run(["node", str(tmp_path / "run.mjs")], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    scores, labels, said = json.loads(done.stdout)
    columns = {name: [row[name] for row in rows] for name in ("length", "colour", "ripe", "size")}
    with pytest.warns(UserWarning, match="'pink'"):
        expected = model.decision_function(columns)
        assert labels == model.predict(columns).tolist()
    np.testing.assert_allclose(scores, expected, atol=1e-13)
    assert said == [
        *(
            f'column "length" must hold finite numbers, got {text}'
            for text in ("long", "0x1f", "0b1", "1_0", " ", "Infinity", "1e999", "1e")
        ),
        'a row has no column "colour", "ripe", "size"',
    ]


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_every_model(dtype, tmp_path):
    """Every estimator there is; rows of tables are objects, what is missing is null."""
    script, expected_answers = [], []
    for place, name in enumerate(MODELS):
        model = fitted(name)
        rows = rows_for(model)
        javascript(model, tmp_path / f"m{place}.mjs", dtype=dtype)
        given_rows = _objects(rows) if isinstance(rows, dict) else rows.tolist()
        script.append({"module": f"./m{place}.mjs", "rows": given_rows})
        expected_answers.append((name, answers(model, rows)))
    (tmp_path / "tasks.json").write_text(json.dumps(script))
    for (name, wanted), found in zip(expected_answers, _run(tmp_path), strict=True):
        limit = 1e-9 if dtype == "float64" and name != "float32" else 2e-4
        values = wanted.get("decision_function", wanted.get("transform", wanted.get("predict")))
        if values is not None:
            scores = np.array(found["scores"]).reshape(values.shape)
            assert_allclose(scores, values, atol=limit, rtol=limit, err_msg=name)
        if "predict_proba" in wanted:
            assert_allclose(found["probabilities"], wanted["predict_proba"], atol=limit)
        if "predict" in wanted and wanted["predict"].dtype.kind in "biU":
            sure = far_from_ties(wanted.get("predict_proba", values), 2 * limit)
            labels = np.array(found["labels"])
            assert_array_equal(labels[sure], wanted["predict"][sure], err_msg=name)
        elif "predict" in wanted:
            predicted = np.array(found["labels"]).reshape(wanted["predict"].shape)
            assert_allclose(predicted, wanted["predict"], atol=limit, rtol=limit, err_msg=name)


def _objects(table):
    """Rows of a table as JSON has them."""
    cells = {
        name: [None if c != c else c for c in column.tolist()] for name, column in table.items()
    }
    return [dict(zip(cells, row, strict=True)) for row in zip(*cells.values(), strict=True)]


_ANSWERS = """
import { readFileSync } from "node:fs";
const answers = [];
for (const { module, rows } of JSON.parse(readFileSync("tasks.json", "utf8"))) {
  const machine = await import(module);
  const lists = (values) => Array.from(values, (v) => (ArrayBuffer.isView(v) ? Array.from(v) : v));
  let probabilities = null;
  try { probabilities = lists(machine.predictProba(rows)); } catch { /* has none */ }
  const scores = lists(machine.decisionFunction(rows));
  answers.push({ scores, probabilities, labels: lists(machine.predict(rows)) });
}
console.log(JSON.stringify(answers));
"""


def _run(folder):
    need_node()
    (folder / "answers.mjs").write_text(_ANSWERS)
    command = ["node", "answers.mjs"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


MODULE_DRIVER = """
import { readFileSync } from "node:fs";
const { modules, rows } = JSON.parse(readFileSync(0, "utf8"));
const answers = [];
for (const path of modules) {
  const { predict, classes, metadata } = await import(path);
  const features = metadata.nFeatures;
  const asked = rows.filter((row) => row.length === features);
  const labels = asked.length ? predict(asked) : [];
  answers.push({ classes, names: metadata.featureNames, labels });
}
const world = Object.keys(globalThis).concat(Object.keys(Object.prototype));
console.log(JSON.stringify([answers, world]));
"""


def test_ten_thousand_names_in_node(tmp_path):
    need_node()
    names = iter(hostile(10_000, seed=1))
    take = lambda count: [next(names) for _ in range(count)]  # noqa: E731
    model, rows, expected = named(take(4000), take(400))
    table = of_table(take(2000), {name: take(8) for name in take(350)}, take(450))
    assert len(list(names)) == 0
    paths = [tmp_path / "rows.mjs", tmp_path / "table.mjs", tmp_path / "harmless.mjs"]
    for one, path in zip([model, table, named(["a", "b"], ["u", "v"])[0]], paths, strict=True):
        javascript(one, path)
        text = path.read_text("utf-8")
        assert text.isascii() and set(text) <= set(string.printable) - set("\t\r\v\f")
        assert not re.search(r"</|<!--|\]\]>", text)
    (tmp_path / "driver.mjs").write_text(MODULE_DRIVER)
    asked = {"modules": [str(path) for path in paths], "rows": rows.tolist()}
    done = subprocess.run(
        ["node", tmp_path / "driver.mjs"],
        input=json.dumps(asked),
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stderr == ""
    answers, world = json.loads(done.stdout)
    assert answers[0]["classes"] == model.classes_.tolist()
    assert answers[0]["labels"] == expected.tolist()
    assert answers[0]["names"] == model.feature_names_in_.tolist()
    assert answers[1]["names"] == table.encoder.names
    assert answers[1]["classes"] == table.classes_.tolist()
    assert "evil" not in world


@pytest.mark.parametrize("far", [1e5, 1e8])
def test_one_far_vector_takes_no_digits_from_the_others(far, tmp_path):
    X, y = make_banana(200, random_state=0)
    X = X.astype(np.float32).astype(float)
    X[0] = far
    machine = kernelet.NormSVC(gamma=1.0).fit(X, y).machine_
    tasks = [(machine, X, ["decisionFunction"], dtype) for dtype in ("float32", "float64")]
    size = np.abs(machine.coefficients).sum()
    for unit, answer in zip((3e-6, 1e-13), run_modules(tasks, tmp_path), strict=True):
        found = numbers(answer["decisionFunction"])
        assert_allclose(found, expected(machine, X)[:, 0], atol=unit * size)
