"""Labels of exported machines in few bits that differ from Python's, on 100 000 rows of five sets.

`python -m benchmarks.mismatches [SET ...]` fits `SparseSVC` with 20 vectors in 4 bits, exports it
to C (``dtype="q7"``), ONNX (float32), JavaScript, JSON and a model file, runs each, and counts the
rows with another label than `predict` gives. Rows are the test rows (counted once more by
themselves, ``_test``), and as many more as it takes between two test rows of any classes, where
labels change. It writes `results/exports/mismatches.csv`, needs
a C compiler and node, and reads the data as the other benchmarks do.
"""

from __future__ import annotations

import csv
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import kernelet
from benchmarks import datasets
from benchmarks.results import FOLDER
from kernelet import SparseSVC
from kernelet.export import javascript, json, onnx, read_json

sys.path.append(str(Path(__file__).parents[1] / "tests"))  # what compiles C belongs to the tests
from run_c import compiled

SETS = ("optdigits", "pendigits", "satimage", "letter", "usps")
N_ROWS = 100_000
N_VECTORS, BITS = 20, 4
# Reads rows of doubles from a file, writes class numbers to another.
_NODE = """
import { readFileSync, writeFileSync } from "node:fs";
import { predict, classes, metadata } from "./machine.mjs";
const { nFeatures } = metadata;
const bytes = readFileSync("rows.bin");
const numbers = new Float64Array(bytes.buffer, bytes.byteOffset, bytes.byteLength / 8);
const rows = Array.from({ length: numbers.length / nFeatures }, (_, i) =>
  numbers.subarray(i * nFeatures, (i + 1) * nFeatures));
const codes = new Map(classes.map((label, code) => [label, code]));
writeFileSync("codes.bin", Int32Array.from(predict(rows), (label) => codes.get(label)));
"""


def rows_of(X: np.ndarray) -> np.ndarray:
    """The test rows, and rows between two of them."""
    rng = np.random.default_rng(0)
    n = N_ROWS - len(X)
    first, second = X[rng.integers(len(X), size=(2, n))]
    share = rng.uniform(size=(n, 1))
    return np.concatenate([X, share * first + (1.0 - share) * second])


def by_c(model: Any, X: np.ndarray, folder: Path) -> np.ndarray:
    (library,) = compiled([(model, "q7")], folder / "c", optimize="-O2")
    return np.asarray(model.classes_[library.predict(X)])


def by_onnx(model: Any, X: np.ndarray, folder: Path) -> np.ndarray:
    import onnxruntime

    onnx(model, folder / "machine.onnx")
    session = onnxruntime.InferenceSession(folder / "machine.onnx")
    return np.asarray(session.run(["label"], {"X": X.astype(np.float32)})[0])


def by_javascript(model: Any, X: np.ndarray, folder: Path) -> np.ndarray:
    javascript(model, folder / "machine.mjs")
    X.astype("<f8").tofile(folder / "rows.bin")
    (folder / "run.mjs").write_text(_NODE)
    subprocess.run(["node", "run.mjs"], cwd=folder, check=True)
    return np.asarray(model.classes_[np.fromfile(folder / "codes.bin", "<i4")])


def by_json(model: Any, X: np.ndarray, folder: Path) -> np.ndarray:
    json(model, folder / "machine.json")
    return np.asarray(read_json(folder / "machine.json").predict(X))


def by_file(model: Any, X: np.ndarray, folder: Path) -> np.ndarray:
    kernelet.save(model, folder / "machine.kernelet")
    return np.asarray(kernelet.load(folder / "machine.kernelet").predict(X))


WAYS: dict[str, Callable[[Any, np.ndarray, Path], np.ndarray]] = {
    "c": by_c,
    "onnx": by_onnx,
    "javascript": by_javascript,
    "json": by_json,
    "file": by_file,
}


def mismatches(name: str) -> dict[str, Any]:
    """How many labels differ, by the way of export."""
    split = datasets.load(name).split(0)
    model = SparseSVC(N_VECTORS, vector_bits=BITS, random_state=0)
    model.fit(split.X_train, split.y_train)
    X = rows_of(np.asarray(split.X_test))
    # rows as every way can take them: in single precision
    X = X.astype(np.float32).astype(np.float64)
    expected = model.predict(X)
    found: dict[str, Any] = {"dataset": name, "n_rows": len(X), "bits": BITS}
    with tempfile.TemporaryDirectory() as folder:
        for way, labels in WAYS.items():
            differs = labels(model, X, Path(folder)) != expected
            found[way] = int(differs.sum())
            found[f"{way}_test"] = int(differs[: len(split.X_test)].sum())
    return found


def main() -> None:
    table = []
    for name in sys.argv[1:] or SETS:
        table.append(mismatches(name))
        print(", ".join(f"{key} {value}" for key, value in table[-1].items()), flush=True)
    with (FOLDER / "exports" / "mismatches.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, list(table[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(table)


if __name__ == "__main__":
    main()
