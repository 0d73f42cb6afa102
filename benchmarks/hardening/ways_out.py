"""Ways out of a process: a model that went through a file, or an export, answers the same."""

from __future__ import annotations

import pickle
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

import kernelet
from benchmarks.hardening.comparisons import Fit, agree, difference
from benchmarks.hardening.oracles import Defect
from kernelet import BudgetSearchCV, TableModel
from kernelet.export import json, onnx, read_json
from kernelet.kernels import Gaussian

sys.path.append(str(Path(__file__).parents[2] / "tests"))  # what runs exports belongs to the tests
from run_c import compiled
from run_node import run_modules


def pickled(fitted: Fit, rng: np.random.Generator) -> bool:
    """Through pickle."""
    agree(fitted.model, pickle.loads(pickle.dumps(fitted.model)), fitted.problem.X, 0.0)
    return True


def _is_writable(fitted: Fit) -> bool:
    """Whether files can hold the model: not if its kernel is a function."""
    machine = getattr(fitted.model, "machine_", None)
    return machine is not None and machine.kernel.is_serializable


def saved(fitted: Fit, rng: np.random.Generator) -> bool:
    """Through a model file."""
    if not _is_writable(fitted) or isinstance(fitted.model, BudgetSearchCV):
        return False
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "model.kernelet")
        kernelet.save(fitted.model, path)
        loaded = kernelet.load(path)
        predictor = kernelet.load_predictor(path)
    agree(fitted.model, loaded, fitted.problem.X, 0.0)
    if not isinstance(fitted.model, TableModel):
        agree(fitted.model, predictor, fitted.problem.rows, 1e-12)
    return True


def as_json(fitted: Fit, rng: np.random.Generator) -> bool:
    """Through JSON."""
    if not _is_writable(fitted) or isinstance(fitted.model, BudgetSearchCV | TableModel):
        return False
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "model.json")
        json(fitted.model, path)
        read = read_json(path)
    machine = getattr(read, "machine_", getattr(read, "machine", read))
    rows = fitted.problem.rows
    apart = difference(
        fitted.model.machine_.decision_function(rows), machine.decision_function(rows)
    )
    if apart > 1e-9:
        raise Defect(f"scores differ by {apart:.1e}")
    return True


def _bound(machine: Any, rows: np.ndarray) -> np.ndarray:
    """The largest error that the documentation of the exporters allows, in doubles."""
    d, m = machine.n_features, machine.n_vectors
    sizes = np.square(rows).sum(axis=1) + np.square(machine.vectors).sum(axis=1).max(initial=0.0)
    terms = np.abs(machine.kernel(rows, machine.vectors)) @ np.abs(machine.coefficients)
    terms = terms + np.abs(machine.intercepts)
    lost = (d + m + 64) * 2.0**-53 * (1.0 + machine.kernel.gamma * sizes)
    return np.asarray(lost[:, None] * terms.reshape(len(rows), -1))


def _by_c(model: Any, rows: np.ndarray, folder: Path) -> np.ndarray:
    (library,) = compiled([(model, "float64")], folder / "c")
    return np.asarray(library.decision_function(rows))


def _by_javascript(model: Any, rows: np.ndarray, folder: Path) -> np.ndarray:
    (answer,) = run_modules([(model, rows, ["decisionFunction"], None)], folder)
    return np.array(answer["decisionFunction"], dtype=np.float64)


def _by_onnx(model: Any, rows: np.ndarray, folder: Path) -> np.ndarray:
    import onnxruntime

    onnx(model, folder / "model.onnx", dtype="float64")
    session = onnxruntime.InferenceSession(folder / "model.onnx")
    return np.asarray(session.run([session.get_outputs()[-1].name], {"X": rows})[0])


_WAYS_OUT = {"C": (0.05, _by_c), "JavaScript": (0.1, _by_javascript), "ONNX": (0.3, _by_onnx)}


def exports(fitted: Fit, rng: np.random.Generator) -> bool:
    """Doubles in C, JavaScript and ONNX, within the error that is documented."""
    way = list(_WAYS_OUT)[rng.integers(len(_WAYS_OUT))]
    share, run = _WAYS_OUT[way]
    machine = getattr(fitted.model, "machine_", None)
    if rng.random() > share or type(getattr(machine, "kernel", None)) is not Gaussian:
        return False
    if isinstance(fitted.model, TableModel):
        return False  # takes columns
    with tempfile.TemporaryDirectory() as folder:
        found = run(machine, fitted.problem.rows, Path(folder))
    expected = machine.decision_function(fitted.problem.rows).reshape(len(found), -1)
    # Python has rounding errors, too
    wrong = np.abs(found.reshape(expected.shape) - expected) > 2.0 * _bound(
        machine, fitted.problem.rows
    )
    if wrong.any():
        raise Defect(f"{way} differs by {difference(found.reshape(expected.shape), expected):.1e}")
    return True
