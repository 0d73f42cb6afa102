"""Exported models against what users of scikit-learn's SVC have today, on digits.

50 shared vectors against the full SVC, both in the same run and in turns:

- `machine_.decision_function` against `SVC.decision_function` and `SVC.predict`;
- our ONNX against that of skl2onnx, both under onnxruntime on one thread, in float32;
- our C against that of m2cgen and of micromlgen, compiled with the same flags, in one program;
- the bytes of each, and the test error that they are paid with.

m2cgen takes a minute to write its C and the compiler another one to read it. What is not installed
is left out, with the reason. `python -m benchmarks.speed export` runs it.
"""

from __future__ import annotations

import pickle
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.svm import SVC

from benchmarks.speed.export_c import compare_c
from kernelet import SparseSVC, save
from kernelet.export.to_onnx.exporter import onnx_model
from kernelet.report.comparison import digits_task

N_VECTORS = 50
N_ROWS = 1000
REPETITIONS = 30
POINTS_WORSE = 0.5
BYTES_RATIO = 10.0
MACHINE_RATIO = 10.0
ONNX_RATIO = {1: 2.0, N_ROWS: 3.0}

Row = dict[str, object]


def rows() -> Iterator[Row]:
    """One row per comparison: what, ratio, limit, whether it holds, and the times behind it."""
    task = digits_task(0)
    ours = SparseSVC(N_VECTORS, C=task.C, random_state=0).fit(task.X_train, task.y_train)
    # the gamma that "scale" means, as a number, since micromlgen takes no other
    svc = SVC(C=task.C, gamma=task.kernel.gamma).fit(task.X_train, task.y_train)
    X = np.resize(task.X_test, (N_ROWS, task.X_test.shape[1]))
    yield error_row(ours, svc, task.X_test, task.y_test)
    yield from machine_rows(ours, svc, X)
    yield from onnx_rows(ours, svc, X)
    with tempfile.TemporaryDirectory() as folder:
        yield bytes_row("pickled SVC / file of machine_", *file_bytes(ours, svc, Path(folder)))
        for what, figures in compare_c(ours, svc, task.X_test[:100], Path(folder)):
            if isinstance(figures, str):
                yield absent(what, figures)
            elif what.startswith("bytes"):
                yield bytes_row(what.removeprefix("bytes: "), *figures)
            else:
                limit = 20.0 if "m2cgen" in what else None
                yield timed(what, *figures, limit)


def timed(what: str, ours: float, other: float, limit: float | None) -> Row:
    """How many times longer the other takes."""
    return {
        "what": what,
        "ratio": other / ours,
        "limit": "" if limit is None else f">= {limit:g}",
        "holds": limit is None or other / ours >= limit,
        "milliseconds": 1e3 * ours,
        "other_milliseconds": 1e3 * other,
    }


def bytes_row(what: str, ours: int, other: int) -> Row:
    return {
        "what": f"bytes: {what}, {other} / {ours}",
        "ratio": other / ours,
        "limit": f">= {BYTES_RATIO:g}",
        "holds": other / ours >= BYTES_RATIO,
    }


def absent(what: str, reason: str) -> Row:
    return {"what": f"{what}: left out, {reason}", "ratio": None, "limit": "", "holds": True}


def error_row(ours: Any, svc: SVC, X: np.ndarray, y: np.ndarray) -> Row:
    errors = [100 * (1 - model.score(X, y)) for model in (ours, svc)]
    n_vectors = (ours.n_vectors_, len(svc.support_))
    return {
        "what": f"points of test error above the full SVC's: {errors[0]:.2f} % with "
        f"{n_vectors[0]} vectors, {errors[1]:.2f} % with {n_vectors[1]}",
        "ratio": errors[0] - errors[1],
        "limit": f"<= {POINTS_WORSE:g}",
        "holds": errors[0] - errors[1] <= POINTS_WORSE,
    }


def machine_rows(ours: Any, svc: SVC, X: np.ndarray) -> Iterator[Row]:
    for n in (1, N_ROWS):
        given = X[:n].copy()
        machine, scores, labels = in_turns(
            n,
            lambda given=given: ours.machine_.decision_function(given),
            lambda given=given: svc.decision_function(given),
            lambda given=given: svc.predict(given),
        )
        what = f"machine_.decision_function, {counted(n)}"
        yield timed(f"SVC.decision_function / {what}", machine, scores, MACHINE_RATIO)
        yield timed(f"SVC.predict / {what}", machine, labels, None)


def onnx_rows(ours: Any, svc: SVC, X: np.ndarray) -> Iterator[Row]:
    try:
        import onnxruntime
        from skl2onnx import to_onnx
    except ImportError as error:
        yield absent("ONNX", f"{error.name} is not installed")
        return
    rows = X.astype(np.float32)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)  # of attributes that skl2onnx looks at
        # without the dictionary for each row, which would only slow it down
        theirs = to_onnx(svc, rows[:1], options={"zipmap": False}).SerializeToString()
    model = onnx_model(ours, "float32").SerializeToString()
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    sessions = [onnxruntime.InferenceSession(m, options) for m in (model, theirs)]
    for session, predicts in zip(sessions, (ours, svc), strict=True):
        labels = session.run(None, {"X": rows})[0]
        assert np.mean(labels == predicts.predict(X)) > 0.999
    for n, limit in ONNX_RATIO.items():
        feeds = {"X": rows[:n].copy()}
        times = in_turns(n, *(lambda s=s, f=feeds: s.run(None, f) for s in sessions))
        yield timed(f"skl2onnx's SVC / our ONNX, {counted(n)}", *times, limit)
    yield bytes_row("skl2onnx's SVC / our ONNX", len(model), len(theirs))


def in_turns(n: int, *functions: Callable[[], object]) -> list[float]:
    """The least processor seconds of a call; what other programs take does not count."""
    best, calls = [float("inf")] * len(functions), 50 if n == 1 else 1
    for _ in range(REPETITIONS):
        for index, function in enumerate(functions):
            start = time.process_time()
            for _ in range(calls):
                function()
            best[index] = min(best[index], (time.process_time() - start) / calls)
    return best


def file_bytes(ours: Any, svc: SVC, folder: Path) -> tuple[int, int]:
    save(ours.machine_, folder / "model.kernelet")
    return (folder / "model.kernelet").stat().st_size, len(pickle.dumps(svc))


def counted(n: int) -> str:
    return "one row" if n == 1 else f"{n} rows"
