"""Names and labels that try to leave their place in what is exported, shown or printed.

A case is a hundred texts of pieces that end comments, strings, elements and lines, as names of
features and columns, as categories and as labels. Generated code is compiled and run; labels and
names come back equal. In every fourth case one text cannot be written everywhere (the character 0,
half a character): it comes back too, or is refused. Needs gcc, node, and the extra for tests.
"""

from __future__ import annotations

import ctypes
import json
import re
import string
import subprocess
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.hardening.campaign import Campaign, Outcome
from benchmarks.hardening.hostile_pages import in_html, in_terminal
from benchmarks.hardening.small_models import rounded_machine
from kernelet import export
from kernelet.export.to_json.exporter import json_text
from kernelet.export.to_json.reader import model_of
from kernelet.export.to_onnx.exporter import onnx_model
from kernelet.kernels import Gaussian
from kernelet.learners.compression.compressed_models import CompressedClassifier
from tests.hostile_texts import hostile, named, of_table, piped
from tests.run_c import DTYPES, compiled, compilers

# Texts of a case: 40 names with 20 labels, and a table of 10 numbers and 29 categories with 21.
_N = 121
# The first texts of `hostile` are its pieces, one by one and always the same.
_PIECES = 200
_ASCII = set(string.printable) - set("\t\r\v\f")
# Few bits have labels as a macro.
_LABELS = """
#include "machine_0.h"
const char *const labels[] = MACHINE_0_LABEL_NAMES;
"""
# Answers of modules, and what there is in the world beside them.
_DRIVER = """
const answers = [];
for (const path of process.argv.slice(2)) {
  const { predict, classes, metadata } = await import(path);
  const labels = answers.length === 0 ? predict(JSON.parse(process.env.ROWS)) : [];
  answers.push({ classes, names: metadata.featureNames, labels });
}
const world = Object.keys(globalThis).concat(Object.keys(Object.prototype));
console.log(JSON.stringify([answers, world.includes("evil")]));
"""


def models_of(texts: Sequence[str]) -> tuple[Any, Any, Any, Any]:
    """A model with names, its rows and their labels, and a model of a table."""
    model, rows, labels = named(texts[:40], texts[40:60])
    table = of_table(texts[60:70], {texts[70]: texts[71:100]}, texts[100:])
    return model, rows, labels, table


def in_c(texts: Sequence[str], folder: Path, number: int) -> None:
    """Sources hold visible ASCII; the compiled functions know the texts."""
    model, rows, labels, table = models_of(texts)
    dtype = DTYPES[number % len(DTYPES)]
    pipeline = piped(texts[:40], texts[40:60])
    models = [(one, dtype) for one in (model, table, pipeline)]
    library, other, behind_scaler = compiled(models, folder)
    check_sources(folder)
    found = np.array(library.texts("labels", 20), dtype=object)
    assert found.tolist() == texts[40:60]
    assert found[library.predict(rows)].tolist() == labels.tolist()
    assert behind_scaler.texts("columns", 40) == texts[:40]
    assert other.texts("labels", len(texts[100:])) == texts[100:]
    assert other.texts("columns", 11) == texts[60:71]
    assert [other.category(10, text) for text in texts[71:100]] == list(range(29))


def in_c_of_few_bits(texts: Sequence[str], folder: Path, number: int) -> None:
    """The same for machines whose arithmetic is that of integers."""
    vectors = np.random.default_rng(number).normal(size=(5, 40))
    machine = rounded_machine(Gaussian(0.1), vectors, 4, 4, len(texts[40:60]))
    model = CompressedClassifier.from_machine(
        machine, None, classes_=np.array(texts[40:60], object)
    )
    expected = model.predict(machine.vectors).tolist()
    model.feature_names_in_ = np.array(texts[:40], dtype=object)
    (library,) = compiled([(model, "q7")], folder)
    check_sources(folder)
    (folder / "labels.c").write_text(_LABELS)
    command = [compilers()[0], "-std=c99", "-Wall", "-Werror", "-shared", "-fPIC", "labels.c"]
    subprocess.run([*command, "-o", "labels.so"], cwd=folder, check=True)
    labels = (ctypes.c_char_p * 20).in_dll(ctypes.CDLL(str(folder / "labels.so")), "labels")
    found = np.array([text.decode() for text in labels], dtype=object)
    assert found.tolist() == texts[40:60]
    assert found[library.predict(machine.vectors)].tolist() == expected


def in_javascript(texts: Sequence[str], folder: Path, number: int) -> None:
    """Modules are visible ASCII without an end of an element; node knows the texts."""
    model, rows, labels, table = models_of(texts)
    paths = [folder / "rows.mjs", folder / "table.mjs"]
    for one, path in zip((model, table), paths, strict=True):
        export.javascript(one, path)
    export.javascript_package(table, folder / "package")
    written = [*folder.glob("*.m*s"), *(folder / "package").iterdir()]
    for path in written:
        text = path.read_text("utf-8")
        assert text.isascii() and set(text) <= _ASCII, path.name
        assert not re.search(r"</|<!--|\]\]>", text), path.name
    assert len(written) == 8
    driver = folder / "driver.mjs"
    driver.write_text(_DRIVER)
    done = subprocess.run(
        ["node", driver, *paths, folder / "package" / "index.mjs"],
        env={"ROWS": json.dumps(rows.tolist()), "PATH": "/usr/local/bin:/usr/bin:/bin"},
        capture_output=True,
        text=True,
        check=True,
    )
    answers, is_evil = json.loads(done.stdout)
    assert not done.stderr and not is_evil
    assert answers[0] == {"classes": texts[40:60], "names": texts[:40], "labels": labels.tolist()}
    for answer in answers[1:]:
        assert (answer["classes"], answer["names"]) == (texts[100:], texts[60:71])


def in_json(texts: Sequence[str], folder: Path, number: int) -> None:
    """Lines are printable; the model that is read has the texts."""
    model, rows, labels, table = models_of(texts)
    for one in (model, table):
        text = json_text(one)
        assert all(line.isprintable() for line in text.split("\n"))
        read = model_of(json.loads(text))
        assert read.classes_.tolist() == one.classes_.tolist()
    assert read.encoder == table.encoder
    read = model_of(json.loads(json_text(model)))
    assert read.feature_names_in_.tolist() == texts[:40]
    read.feature_names_in_ = np.array([f"f{place}" for place in range(40)], dtype=object)
    assert read.predict(rows).tolist() == labels.tolist()


def in_onnx(texts: Sequence[str], folder: Path, number: int) -> None:
    """The labels of a session, and the names of its inputs."""
    import onnxruntime

    model, rows, labels, table = models_of(texts)
    session = onnxruntime.InferenceSession(onnx_model(model).SerializeToString())
    found = session.run(["label"], {"X": rows.astype(np.float32)})[0]
    assert found.tolist() == labels.tolist()
    assert [put.name for put in onnx_model(table).graph.input] == texts[60:71]


def check_sources(folder: Path) -> None:
    """Raise AssertionError if C has more than visible ASCII, or a function of another's."""
    for path in [*folder.glob("*.c"), *folder.glob("*.h")]:
        assert set(path.read_text()) <= _ASCII, path.name
    done = subprocess.run(
        ["nm", folder / "machines.so"], capture_output=True, text=True, check=True
    )
    symbols = {line.split()[-1] for line in done.stdout.splitlines()}
    assert "machine_0_predict" in symbols and "evil" not in symbols


ROUTES: dict[str, Callable[[Sequence[str], Path, int], None]] = {
    "C": in_c,
    "C in few bits": in_c_of_few_bits,
    "JavaScript": in_javascript,
    "JSON": in_json,
    "ONNX": in_onnx,
    "HTML": in_html,
    "terminal": in_terminal,
}


def group_of(number: int) -> str:
    """Where the texts go."""
    return list(ROUTES)[number % len(ROUTES)]


def texts_of(number: int) -> tuple[list[str], bool]:
    """The texts of a case, and whether one of them cannot be written everywhere."""
    texts = hostile(_PIECES + _N, seed=number)[-_N:]
    rng = np.random.default_rng([3, number])
    is_odd = bool(rng.random() < 0.25)
    if is_odd:
        texts[int(rng.integers(_N))] += ("\0", "\ud800", "\0x", "\udfff\n")[int(rng.integers(4))]
    return texts, is_odd


def case(number: int) -> Outcome:
    """Send texts one way; what does not come back is an AssertionError."""
    group, (texts, is_odd) = group_of(number), texts_of(number)
    with tempfile.TemporaryDirectory() as name:
        try:
            ROUTES[group](texts, Path(name), number)
        except ValueError as error:
            if not is_odd or not str(error).isprintable():
                raise
            return Outcome(group, "refused")
    return Outcome(group, "came back")


CAMPAIGN = Campaign("names and labels that try to break out", case, group_of, 1_000, 900.0)
