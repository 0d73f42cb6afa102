"""What the functions of an exported module take: a row or rows; anything else is an error."""

import json
import subprocess

import numpy as np
import pandas
import pytest
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVR, OneClassSVM

import kernelet
from kernelet import KernelMachine, kernels
from kernelet.datasets import make_banana
from kernelet.export import javascript
from run_node import need_node

# fits stop after a few steps here: any machine will do
pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")

TABLE = {
    "length": [1.5, 2.5, 3.0, 2.0, 8.5, 7.0, 9.0, 6.5],
    "colour": ["red", "blue", "", "red", "blue", "grey", "grey", "blue"],
    "fruit": ["fig", "fig", "fig", "fig", "plum", "plum", "plum", "plum"],
}


def node(folder, code):
    """What code prints as JSON, with every export of `machine.mjs` at hand."""
    need_node()
    imports = "decisionFunction, predict, predictProba, classes, metadata"
    (folder / "run.mjs").write_text(
        f'import {{ {imports} }} from "./machine.mjs";\n'
        "const plain = (value) => ArrayBuffer.isView(value) ? Array.from(value, plain)"
        " : Array.isArray(value) ? value.map(plain) : value;\n"
        "const show = (value) => console.log(JSON.stringify(plain(value)));\n"
        "const refused = (...given) => given.map((value) => {\n"
        "  try { return predict(value); }\n"
        "  catch (error) { return [error.name, error.message]; }\n"
        "});\n" + code
    )
    done = subprocess.run(["node", "run.mjs"], cwd=folder, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def models():
    X, y = make_banana(60, random_state=0)
    three = np.arange(60) % 3
    pair = kernelet.ReducedSVC(4, random_state=0)
    yield "two classes", pair.fit(X[:40], y[:40]), X
    yield "three classes", kernelet.ReducedSVC(4, random_state=0).fit(X, three), X
    yield "probabilities", kernelet.calibrate(pair, X[40:], y[40:]), X
    yield "regression", SVR().fit(X, X[:, 0]), X
    yield "two targets", kernelet.SparseKernelRidge(3, max_iter=3, random_state=0).fit(X, X), X
    yield "outliers", OneClassSVM().fit(X), X


@pytest.mark.parametrize("place", range(6))
def test_a_row_gives_what_it_gives_among_rows(place, tmp_path):
    name, model, X = list(models())[place]
    javascript(model, tmp_path / "machine.mjs")
    calls = ["decisionFunction", "predict"] + ["predictProba"] * (name == "probabilities")
    found = node(
        tmp_path,
        f"const rows = {X[:7].tolist()};\n"
        "const ways = [(row) => row, (row) => Float64Array.from(row)];\n"
        f"show([{', '.join(calls)}].map((call) => [call(rows), call(rows.map(ways[1])), call([]),"
        " ...ways.map((way) => rows.map((row) => call(way(row))))]));",
    )
    for (of_rows, of_typed_rows, of_none, *one_by_one), call in zip(found, calls, strict=True):
        assert len(of_rows) == 7 and of_none == []
        assert of_rows == of_typed_rows == one_by_one[0] == one_by_one[1]
        method = {"decisionFunction": "decision_function", "predictProba": "predict_proba"}
        expected = getattr(model, method.get(call, call), model.predict)(X[:7])
        if expected.dtype.kind == "f":
            np.testing.assert_allclose(of_rows, expected, atol=1e-11)
        else:
            assert of_rows == expected.tolist()


def test_a_row_of_a_table(tmp_path):
    model = kernelet.TableModel.fit(TABLE, "fruit", kernelet.ReducedSVC(4, random_state=0))
    javascript(model, tmp_path / "machine.mjs")
    rows = [
        {"length": 1.0, "colour": "red"},
        {"colour": "grey", "length": "8.5", "id": 7},
        {"length": None, "colour": None},
    ]
    found = node(
        tmp_path,
        f"const rows = {json.dumps(rows)};\n"
        "const cells = rows.map(({ length, colour }) => [length, colour]);\n"
        "show([predict(rows), rows.map((row) => predict(row)), predict(cells),"
        " cells.map((row) => predict(row)), predict([cells[0], rows[1]])]);",
    )
    columns = {"length": [1.0, 8.5, np.nan], "colour": ["red", "grey", ""]}
    expected = model.predict(columns).tolist()
    assert found == [expected] * 4 + [expected[:2]]


def test_what_is_no_row_of_a_table(tmp_path):
    model = kernelet.TableModel.fit(TABLE, "fruit", kernelet.ReducedSVC(4, random_state=0))
    javascript(model, tmp_path / "machine.mjs")
    row = 'an array of 2 cells, or an object with "length", "colour"'
    found = node(
        tmp_path,
        'show(refused({}, { length: 1 }, { length: 1, color: "red" }, "red", null, undefined, 3,'
        ' [1], [1, "red", 2], [[1]], [{ length: 1 }], [[1, "red"], 3], new Map()));',
    )
    expected = f"expected a row ({row}) or an array of rows, got"
    assert found == [
        ["RangeError", 'a row has no column "length", "colour"'],
        ["RangeError", 'a row has no column "colour"'],
        ["RangeError", 'a row has no column "colour", but "color", which the model does not know'],
        ["TypeError", f'{expected} "red"'],
        ["TypeError", f"{expected} null"],
        ["TypeError", f"{expected} undefined"],
        ["TypeError", f"{expected} 3"],
        *(
            ["RangeError", f"a row must be {row}, got {n}; several rows are an array of rows"]
            for n in (1, 3, 1)
        ),
        ["RangeError", 'a row has no column "colour"'],
        ["TypeError", "rows must all be arrays or objects, got 3 among them"],
        ["RangeError", 'a row has no column "length", "colour"'],
    ]


def test_names_of_features(tmp_path):
    """As in scikit-learn, a row has the columns of training and no others, in any order."""
    X, y = make_banana(60, random_state=0)
    frame = pandas.DataFrame(X, columns=["across", "__proto__"])
    for estimator in (
        kernelet.ReducedSVC(4, random_state=0),
        make_pipeline(StandardScaler(), kernelet.ReducedSVC(4, random_state=0)),
    ):
        model = estimator.fit(frame, y)
        javascript(model, tmp_path / "machine.mjs")
        found = node(
            tmp_path,
            f"const rows = {X[:7].tolist()};\n"
            "const named = rows.map(([a, b]) =>"
            ' JSON.parse(`{"__proto__": ${b}, "across": ${a}}`));\n'
            "show([predict(rows), predict(named), named.map((row) => predict(row)),"
            " refused({ ...named[0], up: 1 }, { across: 1 }, { across: 1, up: 2 },"
            ' JSON.parse(\'{"across": 1, "__proto__": "2"}\'))]);',
        )
        assert found[0] == found[1] == found[2] == model.predict(frame[:7]).tolist()
        assert found[3] == [
            ["RangeError", 'a row has the columns "up", which the model does not know'],
            ["RangeError", 'a row has no column "__proto__"'],
            [
                "RangeError",
                'a row has no column "__proto__", but "up", which the model does not know',
            ],
            ["TypeError", 'a row must hold numbers, got "2" in column 1'],
        ]


def test_what_is_no_row_of_numbers(tmp_path):
    machine = KernelMachine(kernels.Gaussian(), [[0.0, 1.0]], [1.0])
    javascript(machine, tmp_path / "machine.mjs")
    found = node(
        tmp_path,
        'show(refused([1, 2, 3], [1], [[1, 2, 3]], new Float64Array(4), [1, "2"], [[1, null]],'
        ' [[1, 2], "12"], { x: 1, y: 2 }, [{ x: 1 }], null, undefined, 3, "12", true,'
        " () => 1, 'x'.repeat(41), new DataView(new ArrayBuffer(16)), [1n, 2n],"
        " new BigInt64Array(2), new Set([[1, 2]]), new Array(2)));",
    )
    row = "an array of 2 numbers"
    nameless = ["TypeError", f"a row must be {row}: the model knows no names; got an object"]
    expected = f"expected a row ({row}) or an array of rows, got"
    assert found == [
        *(
            ["RangeError", f"a row must be {row}, got {n}; several rows are an array of rows"]
            for n in (3, 1, 3, 4)
        ),
        ["TypeError", 'a row must hold numbers, got "2" in column 1'],
        ["TypeError", "a row must hold numbers, got null in column 1"],
        ["TypeError", 'rows must all be arrays or objects, got "12" among them'],
        nameless,
        nameless,
        *(
            ["TypeError", f"{expected} {text}"]
            for text in ("null", "undefined", "3", '"12"', "true", "a function", f'"{40 * "x"}..."')
        ),
        nameless,
        ["TypeError", "a row must hold numbers, got 1 in column 0"],
        ["TypeError", "a row must hold numbers, got 0 in column 0"],
        nameless,
        ["TypeError", "a row must hold numbers, got undefined in column 0"],
    ]


def test_an_error_names_a_few_of_many_names(tmp_path):
    X = np.random.default_rng(0).normal(size=(30, 40))
    frame = pandas.DataFrame(X, columns=[f"c{i}" for i in range(40)])
    javascript(
        kernelet.ReducedSVC(3, random_state=0).fit(frame, X[:, 0] > 0), tmp_path / "machine.mjs"
    )
    ((kind, message),) = node(tmp_path, "show(refused({}));")
    assert kind == "RangeError"
    assert message == 'a row has no column "c0", "c1", "c2", "c3", "c4" and 35 more'
