"""Labels of exported machines that differ from Python's, on 100 000 rows of six sets.

`python -m benchmarks.mismatches [SET ...]` fits `SparseSVC` with 20 vectors, with its defaults and
with vectors in 4 bits, exports both in every format and type, runs each, and counts the rows that
get another label than from `predict`. Rows are the test rows (counted once more by themselves,
``n_test`` and ``of_test``), and as many more as it takes: points on the line between two test rows
of any classes, drawn by seed, since labels change between rows. They are numbers of single
precision, so that every export is given the same. A line of `results/exports/mismatches.csv` is an
export of a set; what is there is not counted again. It needs a C compiler and node.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import kernelet
from benchmarks import datasets
from benchmarks.results import FOLDER, PROVENANCE, Ledger
from benchmarks.results_provenance import provenance
from kernelet import SparseSVC
from kernelet.export import javascript, json, onnx, read_json

sys.path.append(str(Path(__file__).parents[1] / "tests"))  # what compiles C belongs to the tests
from run_c import compiled

SETS = ("usps", "optdigits", "pendigits", "satimage", "letter", "mnist")
N_ROWS = 100_000
N_VECTORS = 20
BITS = {"float": None, "few_bits": 4}  # of the vectors of each machine
CHUNK = 10_000  # rows at a time: those of mnist take 630 MB
LEDGER = Ledger(
    FOLDER / "exports" / "mismatches.csv",
    key_columns=("dataset", "machine", "format", "dtype"),
    columns=(
        *("dataset", "machine", "format", "dtype"),
        *("n_rows", "mismatches", "n_test", "of_test", *PROVENANCE),
    ),
)
Labels = Callable[[np.ndarray], np.ndarray]

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


def c(model: Any, folder: Path, dtype: str) -> Labels:
    (library,) = compiled([(model, dtype)], folder / "c", optimize="-O2")
    return lambda X: np.asarray(model.classes_[library.predict(X)])


def of_onnx(model: Any, folder: Path, dtype: str) -> Labels:
    import onnxruntime

    # of a machine in few bits integers are stored, and float32 is computed in
    number = "float32" if dtype == "int8" else dtype
    onnx(model, folder / "machine.onnx", dtype=number)
    session = onnxruntime.InferenceSession(folder / "machine.onnx")
    return lambda X: np.asarray(session.run(["label"], {"X": X.astype(number)})[0])


def of_javascript(model: Any, folder: Path, _: str) -> Labels:
    javascript(model, folder / "machine.mjs")
    (folder / "run.mjs").write_text(_NODE)

    def labels(X: np.ndarray) -> np.ndarray:
        X.astype("<f8").tofile(folder / "rows.bin")
        subprocess.run(["node", "run.mjs"], cwd=folder, check=True)
        return np.asarray(model.classes_[np.fromfile(folder / "codes.bin", "<i4")])

    return labels


def of_json(model: Any, folder: Path, _: str) -> Labels:
    json(model, folder / "machine.json")
    labels: Labels = read_json(folder / "machine.json").predict
    return labels


def of_file(model: Any, folder: Path, _: str) -> Labels:
    kernelet.save(model, folder / "machine.kernelet")
    labels: Labels = kernelet.load(folder / "machine.kernelet").predict
    return labels


@dataclass(frozen=True)
class Export:
    """A form of a machine; ``make(model, folder, dtype)`` gives the labels of rows."""

    machine: str
    format: str
    dtype: str
    make: Callable[[Any, Path, str], Labels]


EXPORTS = (
    *(Export("float", "c", dtype, c) for dtype in ("float64", "float32", "q15")),
    *(Export("float", "onnx", dtype, of_onnx) for dtype in ("float64", "float32")),
    Export("few_bits", "c", "q7", c),
    Export("few_bits", "onnx", "int8", of_onnx),
    *(Export(machine, "javascript", "float64", of_javascript) for machine in BITS),
    *(Export(machine, "json", "float64", of_json) for machine in BITS),
    *(Export(machine, "file", "float64", of_file) for machine in BITS),
)


def rows_of(X: np.ndarray, n_rows: int = N_ROWS) -> Iterator[np.ndarray]:
    """The test rows, and rows between two of them, some at a time."""
    rng = np.random.default_rng(0)
    n = max(0, n_rows - len(X))
    pairs, share = rng.integers(len(X), size=(2, n)), rng.uniform(size=(n, 1))
    pairs = np.concatenate([np.tile(np.arange(len(X)), (2, 1)), pairs], axis=1)
    share = np.concatenate([np.ones((len(X), 1)), share])
    for start in range(0, len(share), CHUNK):
        (first, second), s = pairs[:, start : start + CHUNK], share[start : start + CHUNK]
        rows = s * X[first] + (1.0 - s) * X[second]
        yield rows.astype(np.float32).astype(np.float64)


def fitted(name: str, machine: str) -> tuple[Any, np.ndarray]:
    """A machine of a set, and the test rows."""
    split = datasets.load(name).split(0)
    model = SparseSVC(N_VECTORS, vector_bits=BITS[machine], random_state=0)
    return model.fit(split.X_train, split.y_train), np.asarray(split.X_test, dtype=np.float64)


def mismatches(model: Any, X: np.ndarray, exports: list[Export]) -> dict[Export, np.ndarray]:
    """Whether each row's label differs, by export."""
    with tempfile.TemporaryDirectory() as folder:
        labels = {}
        for i, export in enumerate(exports):
            own = Path(folder) / str(i)
            own.mkdir()
            labels[export] = export.make(model, own, export.dtype)
        found: dict[Export, list[np.ndarray]] = {export: [] for export in exports}
        for rows in rows_of(X):
            expected = model.predict(rows)
            for export, of_rows in labels.items():
                found[export].append(of_rows(rows) != expected)
    return {export: np.concatenate(differs) for export, differs in found.items()}


def run(name: str, ledger: Ledger = LEDGER) -> None:
    """Count what is not counted yet of a set."""
    present = ledger.keys()
    for machine in BITS:
        own = [export for export in EXPORTS if export.machine == machine]
        left = [e for e in own if (name, machine, e.format, e.dtype) not in present]
        if not left:
            continue
        model, X = fitted(name, machine)
        for export, differs in mismatches(model, X, left).items():
            found = {
                **{"dataset": name, "machine": machine},
                **{"format": export.format, "dtype": export.dtype},
                **{"n_rows": len(differs), "mismatches": int(differs.sum())},
                **{"n_test": len(X), "of_test": int(differs[: len(X)].sum())},
            }
            line = {key: str(value) for key, value in found.items()}
            print(", ".join(f"{key} {value}" for key, value in line.items()), flush=True)
            ledger.append([line | provenance()])


def main() -> None:
    for name in sys.argv[1:] or SETS:
        run(name)


if __name__ == "__main__":
    main()
