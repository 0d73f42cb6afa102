"""Names and labels of any content in exported models: they stay texts, and stay the same."""

import json as standard_json
import re
import string
import subprocess

import numpy as np
import onnxruntime
import pandas
import pytest
from matplotlib import pyplot
from numpy.testing import assert_array_equal

import kernelet
from hostile_texts import FORGED, INJECTED, hostile, named, of_table, piped
from kernelet import export
from kernelet.export.to_c.exporter import c_source
from kernelet.export.to_c.pieces import comment, quoted
from kernelet.export.to_json.exporter import json_text
from kernelet.export.to_json.reader import model_of
from kernelet.export.to_onnx.exporter import onnx_model
from kernelet.machine.texts import in_plain_ascii, visible
from kernelet.plotting.sparsity_path import as_paths
from run_c import DTYPES, compiled, compilers


def check_symbols(tmp_path, hostile_models, harmless_models):
    """Libraries of the first, whose object code defines what that of the second does."""
    symbols = []
    for folder, models in (("harmless", harmless_models), ("hostile", hostile_models)):
        libraries = compiled(models, tmp_path / folder)
        for path in [*(tmp_path / folder).glob("*.c"), *(tmp_path / folder).glob("*.h")]:
            assert set(path.read_text()) <= set(string.printable) - set("\t\r\v\f"), path
        done = subprocess.run(
            ["nm", tmp_path / folder / "machines.so"], capture_output=True, text=True, check=True
        )
        symbols.append(sorted(line.split()[-1] for line in done.stdout.splitlines()))
    assert "machine_0_predict" in symbols[0] and symbols[0] == symbols[1]
    return libraries


def test_a_name_brings_no_function_into_c(tmp_path):
    hostile_model, rows, expected = named([INJECTED, "???/", "*/ int evil;"], ["a", "b\\", '"??/'])
    harmless, _, _ = named(["x", "y", "z"], ["a", "b", "c"])
    cases = [[(model, dtype) for dtype in DTYPES] for model in (hostile_model, harmless)]
    for library in check_symbols(tmp_path, *cases):
        labels = np.array(library.texts("labels", 3))
        assert_array_equal(labels[library.predict(rows)], expected)


@pytest.mark.slow
def test_ten_thousand_names_in_c(tmp_path):
    names = iter(hostile(10_000))
    take = lambda count: [next(names) for _ in range(count)]  # noqa: E731
    model, rows, expected = named(take(3000), take(600))
    pipeline = piped(take(1000), take(200))
    table = of_table(take(1000), {name: take(8) for name in take(400)}, take(600))
    assert len(list(names)) == 0
    plain = lambda texts: [f"n{i}" for i in range(len(texts))]  # noqa: E731
    harmless = [
        named(plain(range(3000)), plain(range(600)))[0],
        piped(plain(range(1000)), plain(range(200))),
        of_table(
            plain(range(1000)),
            {f"c{i}": [f"t{j}" for j in range(8)] for i in range(400)},
            plain(range(600)),
        ),
    ]
    cases = [
        [(one, dtype) for one in models for dtype in DTYPES]
        for models in ([model, pipeline, table], harmless)
    ]
    libraries = check_symbols(tmp_path, *cases)
    for library in libraries[:3]:
        labels = np.array(library.texts("labels", 600), dtype=object)
        assert labels.tolist() == model.classes_.tolist()
        assert_array_equal(labels[library.predict(rows)], expected)
    for library in libraries[3:6]:
        assert library.texts("labels", 200) == pipeline[-1].classes_.tolist()
        assert library.texts("columns", 1000) == pipeline[0].feature_names_in_.tolist()
    columns = table.encoder.columns
    for library in libraries[6:]:
        assert library.texts("columns", 1400) == table.encoder.names
        for place, column in list(enumerate(columns))[1000:]:
            found = [library.category(place, text) for text in column.categories]
            assert found == list(range(8))


def test_json_and_onnx_keep_every_text():
    texts = hostile(300, seed=2)
    model, rows, expected = named(texts[:100], texts[100:150])
    table = of_table(texts[150:170], {texts[170]: texts[171:300]}, ["a", "b\x1b"])
    for one in (model, table):
        text = json_text(one)
        assert all(line.isprintable() for line in text.split("\n"))
        read = model_of(standard_json.loads(text))
        assert read.classes_.tolist() == one.classes_.tolist()
    assert read.encoder == table.encoder
    session = onnxruntime.InferenceSession(onnx_model(model).SerializeToString())
    label = session.run(["label"], {"X": rows.astype(np.float32)})[0]
    assert label.tolist() == expected.tolist()
    proto = onnx_model(table)
    assert [put.name for put in proto.graph.input] == table.encoder.names
    session = onnxruntime.InferenceSession(proto.SerializeToString())
    given = {name: np.ones((129, 1), np.float32) for name in texts[150:170]}
    given[texts[170]] = np.array(texts[171:300], dtype=object)[:, np.newaxis]
    found = session.run(["scores"], given)[0]
    scores = table.decision_function({name: cells[:, 0] for name, cells in given.items()})
    np.testing.assert_allclose(found.reshape(scores.shape), scores, atol=1e-5)


def test_libsvm_files_hold_no_texts(tmp_path):
    model, _, _ = named(["a\nSV", "b"], [FORGED, INJECTED])
    with pytest.warns(UserWarning, match="labels are integers") as caught:
        export.libsvm(model, tmp_path / "svm.model")
    assert str(caught[0].message).isprintable()
    assert re.fullmatch(r"[\w\n .:+-]+", (tmp_path / "svm.model").read_text())
    assert "label 1 -1" in (tmp_path / "svm.model").read_text()


def test_what_is_shown_is_seen():
    for text in hostile(2000, seed=3):
        assert visible(text).isprintable()
        assert re.fullmatch(r"[ -\[\]-~]*", in_plain_ascii(text))
        assert not re.search(r"\*/|/\*|\?\?", comment(text))
        assert quoted(text).isprintable() and "??" not in quoted(text)


def test_letters_of_all_scripts_are_shown():
    for text in ("größe", "Ελλάδα", "日本語", "עברית", "हिन्दी", "a\\b"):
        assert visible(text) == text
    assert visible(FORGED).count("\\") == 7


def test_the_character_zero_is_refused_in_c_alone(tmp_path):
    for model in (named(["a", "b"], ["u", "v\0w"])[0], of_table(["a\0"], {"b": ["c"]}, ["u", "v"])):
        with pytest.raises(ValueError, match=r"character 0.*rename it, or export to JSON"):
            c_source(model, "m")
        read = model_of(standard_json.loads(json_text(model)))
        assert read.classes_.tolist() == model.classes_.tolist()


@pytest.mark.parametrize("write", [export.c, export.javascript, export.json, export.onnx])
def test_half_a_character_is_refused(write, tmp_path):
    for model in (
        named(["a", "b\ud800"], ["u", "v"])[0],
        named(["a", "b"], ["u", "v\udfff"])[0],
        of_table(["a"], {"b": ["c\ud800"]}, ["u", "v"]),
    ):
        with pytest.raises(ValueError, match=r"lone surrogate.*rename it"):
            write(model, tmp_path / "model.c")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("stem", ['a"b', "a\\b", "a\nb", "what??", "x\u202ey"])
def test_a_file_name_that_c_cannot_include_is_refused(stem, tmp_path):
    with pytest.raises(ValueError, match="a name that C can include"):
        export.c(named(["a", "b"], ["u", "v"])[0], tmp_path / f"{stem}.c")
    assert not list(tmp_path.iterdir())


def test_file_names_of_people_are_included(tmp_path):
    for stem in ("my model", "größe", "it's", "a?b"):
        written = export.c(named(["a", "b"], ["u", "v"])[0], tmp_path / f"{stem}.c")
        assert f'#include "{stem}.h"' in written.source
        subprocess.run(
            [compilers()[0], "-std=c99", "-Werror", "-c", f"{stem}.c"], cwd=tmp_path, check=True
        )


def test_no_file_name_is_a_name_in_the_source(tmp_path):
    table = of_table(["a"], {"b": ["u", "v"]}, ["x", "y"])
    for stem in ("first", "category", "int", "x", "kernel", "vectors", "machine"):
        for dtype in DTYPES:
            export.c(table, tmp_path / f"{stem}.c", dtype=dtype)
            command = [compilers()[0], "-std=c99", "-Wall", "-Werror", "-c", f"{stem}.c"]
            subprocess.run(command, cwd=tmp_path, check=True)


def test_labels_of_pictures_are_no_formulas():
    model, _, _ = named(["$x^$", "_hidden\x1b"], ["$\\frac{$", "_b\n"])
    rows = np.array([[0.0, 1.0], [1.0, 0.0]])
    frame = pandas.DataFrame(rows, columns=model.feature_names_in_)
    with pyplot.rc_context({"text.usetex": False}):
        shown = kernelet.MachineDisplay.from_estimator(model, frame, model.classes_)
        shown.figure_.canvas.draw()
        legend = [text.get_text() for text in shown.ax_.get_legend().get_texts()]
        assert {"$\\frac{$", " _b\\n"} <= set(legend)
        assert (shown.ax_.get_xlabel(), shown.ax_.get_ylabel()) == ("$x^$", "_hidden\\x1b")
        vectors = kernelet.VectorsDisplay.from_estimator(model)
        vectors.figure_.canvas.draw()
        names = [tick.get_text() for tick in vectors.ax_.get_xticklabels()]
        assert names == ["$x^$", "_hidden\\x1b"]
        steps = {"n_vectors": [2.0, 1.0], "objective": [3.0, 2.0]}
        paths = kernelet.SparsityPathDisplay(as_paths([steps, steps]), names=["$\\frac{$", "_b"])
        results = {"method": ["$\\frac{$", "_b"], "budget": [1, 1]}
        results |= {"n_vectors": [1, 1], "error": [2.0, 3.0]}
        frontier = kernelet.FrontierDisplay.from_results(results)
        for display in (paths.plot(), frontier):
            display.figure_.canvas.draw()
            legend = [text.get_text() for text in display.ax_.get_legend().get_texts()]
            assert legend == ["$\\frac{$", " _b"]
    pyplot.close("all")
