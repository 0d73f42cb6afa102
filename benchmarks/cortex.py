"""Instructions and bytes of one prediction on microcontrollers: ours and emlearn's network.

`python -m benchmarks.cortex` learns digits (1347 rows of scikit-learn's 8 x 8 pixels) with
`SparseSVC` in few bits, looks for the smallest hidden layer with which `MLPClassifier` has no more
errors on held-out training rows, and exports both: ours by ``export.c(dtype="q7")``, the network by
emlearn. Both are compiled with -Os for a Cortex-M0 (no floating point unit) and a Cortex-M4F, and
QEMU counts the instructions of one prediction from a row of floats, functions of libraries
included; ours is counted once more from a row of integers, as a sensor gives them. It needs emlearn
and what `make test-cortex` needs, and writes `results/speed/cortex.csv`.
"""

from __future__ import annotations

import contextlib
import csv
import sys
import tempfile
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split
from sklearn.neural_network import MLPClassifier

from benchmarks.results import FOLDER
from kernelet import SparseSVC
from kernelet.export import c

sys.path.append(str(Path(__file__).parents[1] / "tests"))  # the emulator belongs to the tests
from run_cortex import M0, M4, instructions_of

N_VECTORS, BITS = 20, (4, 8)
HIDDEN = (4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128)
_OURS = """\
#include "ours.h"
static const float row[{d}] = {{{row}}};
static int16_t q[{d}];
static volatile int label;
"""
_NETWORK = """\
#include "network.h"
static const float row[{d}] = {{{row}}};
static volatile int label;
"""


def smallest_network(
    X: np.ndarray, y: np.ndarray, held: np.ndarray, labels: np.ndarray, most: float
) -> int:
    """Hidden units with which the error on held-out rows is no larger, the mean of three seeds."""
    for n_hidden in HIDDEN:
        errors = [np.mean(_network(X, y, n_hidden, s).predict(held) != labels) for s in range(3)]
        if np.mean(errors) <= most:
            return n_hidden
    return HIDDEN[-1]


def _network(X: np.ndarray, y: np.ndarray, n_hidden: int, seed: int) -> MLPClassifier:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # 500 passes are the stopping rule
        return MLPClassifier((n_hidden,), max_iter=500, random_state=seed).fit(X, y)


def _exported_network(network: MLPClassifier, folder: Path) -> int:
    """Write emlearn's header; the bytes of its weights, which are floats."""
    import emlearn

    with contextlib.chdir(folder):  # it leaves files of its own
        converted = emlearn.convert(network, method="inline", dtype="float")
    converted.save(file=str(folder / "network.h"), name="network")
    for header in Path(emlearn.__file__).parent.glob("*.h"):
        (folder / header.name).write_text(header.read_text())
    return 4 * sum(a.size for a in (*network.coefs_, *network.intercepts_))


def rows() -> Iterator[dict[str, Any]]:
    """A line for each model and processor."""
    X, y = load_digits(return_X_y=True)
    X = X / 16.0
    X, X_test, y, y_test = train_test_split(X, y, random_state=0, stratify=y)
    part, held, codes, labels = train_test_split(X, y, random_state=0, stratify=y)
    numbers = ", ".join(f"{value!r}f" for value in X_test[0].tolist())
    for bits in BITS:
        trial = SparseSVC(N_VECTORS, vector_bits=bits, random_state=0).fit(part, codes)
        model = SparseSVC(N_VECTORS, vector_bits=bits, random_state=0).fit(X, y)
        n_hidden = smallest_network(part, codes, held, labels, 1.0 - trial.score(held, labels))
        network = _network(X, y, n_hidden, 0)
        for name, cpu in (("M0", M0), ("M4F", M4)):
            with tempfile.TemporaryDirectory() as place:
                folder = Path(place)
                written = c(model, folder / "ours.c", dtype="q7")
                calls = ["(void)ours_quantize(row, q);", "label = ours_predict(q);"]
                text = _OURS.format(d=X.shape[1], row=numbers)
                quantize, predict = instructions_of(
                    [folder / "ours.c"], folder, text, calls, cpu=cpu
                )
                n_bytes = _exported_network(network, folder)
                text = _NETWORK.format(d=X.shape[1], row=numbers)
                call = f"label = network_predict(row, {X.shape[1]});"
                (theirs,) = instructions_of([], folder, text, [call], cpu=cpu)
            yield {
                "processor": name,
                "bits": bits,
                "bytes": written.flash_bytes,
                "error": 100.0 * (1.0 - model.score(X_test, y_test)),
                "integers": predict,
                "floats": quantize + predict,
                "network": n_hidden,
                "network_bytes": n_bytes,
                "network_error": 100.0 * (1.0 - network.score(X_test, y_test)),
                "network_instructions": theirs,
            }


def main() -> None:
    table = []
    for row in rows():
        table.append({k: f"{v:.2f}" if isinstance(v, float) else v for k, v in row.items()})
        print(", ".join(f"{key} {value}" for key, value in table[-1].items()), flush=True)
    with (FOLDER / "speed" / "cortex.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, list(table[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(table)


if __name__ == "__main__":
    main()
