"""What the declarations beside an exported module say. That TypeScript reads them is not tested
here: it needs npm."""

import json
import re

import numpy as np
import pandas
import pytest
from sklearn.svm import SVR, OneClassSVM

import kernelet
from hostile_texts import hostile, named, of_table
from kernelet import KernelMachine, kernels
from kernelet.export import javascript
from kernelet.export.javascript import model_document
from kernelet.export.javascript_types import declarations

X = np.random.default_rng(0).normal(size=(30, 3))


def signatures(model):
    """The return types of each function, of a row and of rows."""
    pattern = r"^export declare function (\w+)\((row|rows): (readonly )?Row(?:\[\])?\): (.*);$"
    found = {}
    for name, given, _, kind in re.findall(pattern, declarations(model_document(model)), re.M):
        found.setdefault(name, {})[given] = kind
    return {name: (kinds["row"], kinds["rows"]) for name, kinds in found.items()}


NUMBER, ARRAY = ("number", "Float64Array"), ("Float64Array", "Float64Array[]")
LABEL = ("Label | null", "(Label | null)[]")


def test_one_answer_for_a_row_and_an_array_for_rows():
    pair = kernelet.ReducedSVC(3, random_state=0).fit(X, X[:, 0] > 0)
    three = kernelet.ReducedSVC(9, random_state=0).fit(X, np.digitize(X[:, 0], [-0.5, 0.5]))
    assert signatures(pair) == {"decisionFunction": NUMBER, "predict": LABEL}
    assert signatures(three) == {"decisionFunction": ARRAY, "predict": LABEL}
    probable = kernelet.calibrate(pair, X, X[:, 0] > 0)
    assert signatures(probable)["predictProba"] == ARRAY
    assert signatures(SVR().fit(X, X[:, 0])) == {"decisionFunction": NUMBER, "predict": NUMBER}
    side = signatures(OneClassSVM().fit(X))["predict"]
    assert side == ("1 | -1 | null", "(1 | -1 | null)[]")
    machine = KernelMachine(kernels.Linear(), X, np.ones((30, 2)), [0.0, 1.0])
    assert signatures(machine) == {"decisionFunction": ARRAY, "predict": ARRAY}
    assert "classes: null" in declarations(model_document(machine))


@pytest.mark.parametrize(
    ("labels", "kind"),
    [
        (["a", "</script>"], '"\\u003c/script\\u003e" | "a"'),
        ([-1, 1], "-1 | 1"),
        ([False, True], "false | true"),
        ([2**53, 2**53 + 1], "9007199254740992n | 9007199254740993n"),
    ],
)
def test_labels_are_types(labels, kind):
    model = kernelet.ReducedSVC(3, random_state=0).fit(X, np.array(labels)[np.arange(30) % 2])
    assert f"export type Label = {kind};" in declarations(model_document(model))


def test_rows_have_the_names_of_the_model():
    y = np.arange(30) % 2
    plain = declarations(model_document(kernelet.ReducedSVC(3, random_state=0).fit(X, y)))
    assert "export type Row = Numbers;" in plain and "interface" not in plain
    frame = pandas.DataFrame(X, columns=["a", "b c", "</b>"])
    text = declarations(model_document(kernelet.ReducedSVC(3, random_state=0).fit(frame, y)))
    members = '  readonly "a": number;\n  readonly "b c": number;\n'
    assert members + '  readonly "\\u003c/b\\u003e": number;\n}' in text
    table = {"n": [1.0, 2.0, 3.0, 4.0], "t": ["u", "v", "u", "v"], "y": [0, 1, 0, 1]}
    model = kernelet.TableModel.fit(table, "y", kernelet.ReducedSVC(2, random_state=0))
    text = declarations(model_document(model))
    assert '{\n  readonly "n": Cell;\n  readonly "t": Cell;\n}' in text


def test_no_name_leaves_its_string():
    """Without its strings, the text for hostile names is that for harmless ones."""
    texts = hostile(400, seed=4)
    for make in (
        lambda words: named(words[:200], words[200:])[0],
        lambda words: of_table(words[:100], {words[100]: words[101:200]}, words[200:]),
    ):
        found = [
            declarations(model_document(make(words)))
            for words in (texts, [f"n{i}" for i in range(400)])
        ]
        strings = re.compile(r'"(?:[^"\\\n]|\\.)*"')
        outside = [strings.sub('"', text) for text in found]
        assert outside[0] == outside[1]
        assert found[0].isascii() and "</" not in found[0]
        inside = {json.loads(string) for string in strings.findall(found[0])}
        assert {*make(texts).classes_.tolist()} <= inside


@pytest.mark.parametrize(
    ("file", "types"), [("m.mjs", "m.d.mts"), ("a.b.js", "a.b.d.ts"), ("m.txt", None)]
)
def test_where_they_go(file, types, tmp_path):
    model = kernelet.ReducedSVC(3, random_state=0).fit(X, np.arange(30) % 2)
    javascript(model, tmp_path / file)
    assert {path.name for path in tmp_path.iterdir()} == {file, types} - {None}
    if types is not None:
        assert (tmp_path / types).read_text() == declarations(model_document(model))
