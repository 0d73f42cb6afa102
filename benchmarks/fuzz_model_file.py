"""Damage model files in many ways and see that each is refused in one line, or is a model.

    python -m benchmarks.fuzz_model_file --n 100000

Every file is read by `kernelet.load` and by `kernelet.load_predictor`. It must be read within the
time limit and within 10 times its size of memory (plus a constant), give `ModelFileError` or a
model, and a model must then predict finite numbers for rows of ordinary size, or say that its
scores are not finite. A machine in few bits may take five times its numbers in full on top of that.
``--compact`` damages files of such machines only.
"""

from __future__ import annotations

import argparse
import contextlib
import resource
import signal
import sys
import tempfile
import time
import tracemalloc
import warnings
from collections import Counter
from collections.abc import Callable, Collection
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType
from typing import Any

import numpy as np
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import MaxAbsScaler, MinMaxScaler, RobustScaler, StandardScaler
from sklearn.svm import SVC, SVR

import kernelet
from benchmarks.fuzz_mutations import MUTATIONS
from kernelet.kernels import Gaussian, Matern52, Polynomial, ProjectedFeatures, ScaledFeatures
from kernelet.machine import (
    CalibratedMachine,
    KernelMachine,
    Predictor,
    SigmoidCalibration,
    TemperatureCalibration,
)
from kernelet.machine.reading import Reading
from kernelet.machine.rounding import coefficient_scales, compact_form, vector_grid
from kernelet.persistence import ModelFileError, read_summary
from kernelet.persistence.compact_forms import ALWAYS, CompactSizes
from kernelet.persistence.vectors import MAX_GROWTH

SECONDS = 2.0
MEMORY_FACTOR = 10
# What Python takes whatever the size of the file: parsed JSON, tracebacks, small objects.
MEMORY_CONSTANT = 3 * 2**20
# What reading takes for a machine in few bits, in units of its numbers in full.
COMPACT_FACTOR = 5
# Of the whole process, in which memory outside of Python counts as well.
GROWTH_LIMIT = 64 * 2**20


def seeds() -> list[object]:
    """A small model of every kind that files hold."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 3))
    y = np.array(["no", "maybe", "yes"])[(X[:, 0] > 0).astype(int) + (X[:, 1] > 0.5)]
    svc = kernelet.SparseSVC(4, max_iter=3, random_state=0)
    per_class = kernelet.SparseSVC(2, max_iter=3, random_state=0, vectors="per_class")
    machine = kernelet.KernelMachine(
        0.5 * Gaussian(0.3) + Matern52(1.0) * Polynomial(1.0, 1.0, 2),
        rng.normal(size=(5, 3)),
        rng.normal(size=(5, 2)),
        rng.normal(size=2),
    )
    one = kernelet.KernelMachine(Gaussian(1.0), X[:2], [1.0, -1.0])
    weights = {"no": 1.0, "maybe": 2.0, "yes": 0.5}
    table = {"a": X[:, 0], "b": X[:, 1], "c": np.where(X[:, 2] > 0, "up", "down"), "y": y}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        fitted = svc.fit(X, y)
        return [
            machine,
            machine.astype(np.float32),
            kernelet.KernelMachine(Gaussian(1.0), np.zeros((0, 3)), np.zeros((0, 1)), 0.5),
            kernelet.KernelMachine(Gaussian(1.0), rng.normal(size=(500, 40)), rng.normal(size=500)),
            kernelet.KernelMachine(
                ProjectedFeatures(Gaussian(1.0), X[:2]), X[:5], rng.normal(size=5)
            ),
            kernelet.KernelMachine(
                ScaledFeatures(Gaussian(1.0), [0.0, 2.0, 0.0]), X[:5] * [0.0, 1.0, 0.0], np.ones(5)
            ),
            CalibratedMachine(one, SigmoidCalibration(np.array([-1.0]), np.array([0.1]))),
            CalibratedMachine(one, TemperatureCalibration(2.0)),
            fitted,
            per_class.fit(X, y == "yes"),
            kernelet.ReducedSVC(4, init=X[:4], class_weight=weights).fit(X, y),
            kernelet.KernelFisherClassifier(2, max_iter=3).fit(X, y),
            kernelet.KernelFisherDiscriminant(n_vectors=3, max_iter=3).fit(X, y),
            kernelet.RelevanceVectorRegressor(max_iter=20).fit(X, X[:, 0]),
            kernelet.SparseOneClassSVM(2, max_iter=3, random_state=0).fit(X),
            kernelet.SparseKernelPCA(3, max_iter=3, random_state=0).fit(X),
            kernelet.NormSVR(kernel="poly", degree=2).fit(X, X[:, 0]),
            kernelet.calibrate(fitted, X, y),
            kernelet.compress(fitted, 2),
            kernelet.TableModel.fit(table, "y", kernelet.ReducedSVC(3, random_state=0)),
            kernelet.calibrate(make_pipeline(StandardScaler(), SVC()).fit(X, y), X, y),
            make_pipeline(MinMaxScaler((1, 2)), RobustScaler(), SVR()).fit(X, X[:, 0]),
            make_pipeline(MaxAbsScaler(), SVC()).fit(X, y == "yes"),
            *compact_seeds(),
        ]


def compact_seeds() -> list[object]:
    """Small models in few bits: of every array that their files hold, and of every kind."""
    rng = np.random.default_rng(1)
    X = rng.normal(size=(60, 9))
    y = np.array(["no", "maybe", "yes"])[(X[:, 0] > 0).astype(int) + (X[:, 1] > 0.5)]
    scales = np.where(np.arange(9) % 4 == 2, 0.0, rng.uniform(0.1, 2.0, 9))
    table = {"a": X[:, 0], "b": X[:, 1], "c": np.where(X[:, 2] > 0, "up", "down"), "y": y}
    few = {"vector_bits": 4, "max_iter": 3, "random_state": 0}
    left_out = ScaledFeatures(Gaussian(0.4), scales)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        fitted = kernelet.SparseSVC(4, **few).fit(X, y)
        return [
            _compact(Gaussian(0.4), X[:5], 2, 4),
            _compact(left_out, X[:7], 5, 6, 3),
            _compact(left_out, X[:7], 9, 16).astype(np.float32),
            _compact(ProjectedFeatures(Gaussian(0.4), X[7:10] / 3.0), X[:6], 6, 5, 2),
            _compact(ScaledFeatures(Matern52(1.0) * Polynomial(0.1, 1.0, 2), scales), X[:4], 8, 8),
            _compact(Gaussian(0.4), X[:0], 3, 4),
            _compact(Gaussian(0.4), np.where(np.arange(9) < 7, 1.0, X[:300]), 3, 4),
            fitted,
            kernelet.SparseSVC(2, vectors="per_class", **few).fit(X, y == "yes"),
            kernelet.SparseKernelRidge(3, **few).fit(X, X[:, :2]),
            kernelet.calibrate(fitted, X, y),
            kernelet.compress(fitted, 2, vector_bits=5),
            kernelet.TableModel.fit(table, "y", kernelet.SparseSVC(3, **few)),
        ]


def _compact(
    kernel: Any, vectors: Any, bits: int, coefficient_bits: int, n_outputs: int = 1
) -> KernelMachine:
    """A machine in few bits over rounded vectors."""
    rng = np.random.default_rng(bits)
    m, largest = len(vectors), 2 ** (coefficient_bits - 1) - 1
    beta, intercepts = rng.normal(size=(m, n_outputs)), rng.normal(size=n_outputs)
    scales = coefficient_scales(beta, intercepts, coefficient_bits)
    whole = np.clip(np.rint(beta / scales.values[:, np.newaxis]), -largest, largest)
    grid = vector_grid(kernel, vectors, bits)
    return KernelMachine.from_compact(
        compact_form(grid, whole, scales, intercepts, coefficient_bits)
    )


def answer(model: Any) -> None:
    """Let a model that was loaded predict a few rows of ordinary size.

    Raises
    ------
    AssertionError
        If a prediction is not finite.
    """
    rows = np.random.default_rng(0).normal(size=(4, 64))
    rows[0] = 0.0
    if isinstance(model, kernelet.TableModel | Predictor) and model.encoder is not None:
        table = {
            column.name: np.array(["up", "?", "", "down"])
            if hasattr(column, "categories")
            else 10.0 * rows[:, place % 64]
            for place, column in enumerate(model.encoder.columns)
        }
        asked = ("predict",) if isinstance(model, kernelet.TableModel) else _answers_of(model)
        _ask(model, asked, table)
        return
    inner = model[-1] if isinstance(model, Pipeline) else model
    machine = getattr(inner, "machine_", getattr(inner, "machine", inner))
    if machine.n_features:
        repeated = np.resize(rows, (4, machine.n_features))
        everything = ("predict_proba", "predict", "decision_function", "transform")
        asked = _answers_of(model) if isinstance(model, Predictor) else everything
        _ask(model, asked, repeated)
        if isinstance(model, kernelet.RelevanceVectorRegressor):
            _ask(model, ("predict",), repeated, return_std=True)


def _answers_of(predictor: Predictor) -> tuple[str, ...]:
    """The methods that do not refuse every row."""
    names = ["decision_function", "transform"]
    names += [] if predictor.calibration is None else ["predict_proba"]
    names += [] if predictor.reading in (Reading.SCORES, Reading.FEATURES) else ["predict"]
    return tuple(names)


def _ask(model: Any, names: tuple[str, ...], rows: Any, **options: Any) -> None:
    for name in names:
        method = getattr(model, name, None)
        if method is None:
            continue
        try:
            answers = method(rows, **options)
        except ValueError as error:
            # kernels without bounds overflow where they like, but never in silence
            if "not finite" not in str(error):
                raise
            continue
        for values in answers if isinstance(answers, tuple) else (answers,):
            numbers = np.asarray(values)
            is_good = numbers.dtype.kind not in "fc" or np.isfinite(numbers).all()
            assert is_good, f"{name} gives {numbers.ravel()[:4]}"


@dataclass
class Report:
    """What came of the files.

    Attributes
    ----------
    outcomes : Counter
        "refused" and "a model".
    failures : list of str
        What should not have happened, one line each.
    reasons : Counter
        First words of the messages.
    slowest, most_memory : float
        Seconds of one file, and bytes of memory as a multiple of its size beyond the constant.
    growth : int
        Bytes by which the memory of the process grew.
    """

    outcomes: Counter[str] = field(default_factory=Counter)
    failures: list[str] = field(default_factory=list)
    reasons: Counter[str] = field(default_factory=Counter)
    slowest: float = 0.0
    most_memory: float = 0.0
    growth: int = 0


class _TimeOut(BaseException):
    """Not an Exception, so that no handler of errors takes it for one."""


def _time_out(signal_number: int, frame: FrameType | None) -> None:
    raise _TimeOut


def _peak_resident() -> int:
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit


def run(
    n: int,
    seed: int = 0,
    keep: Path | None = None,
    progress: int = 0,
    mutations: Collection[str] = tuple(MUTATIONS),
    models: Collection[object] | None = None,
) -> Report:
    """Try ``n`` damaged files.

    Parameters
    ----------
    n : int
    seed : int, default=0
        Every file follows from it and from its number.
    keep : Path, default=None
        A folder for the files that failed.
    progress : int, default=0
        Print a line after every ``progress`` files.
    mutations : collection of str, default=all
        Names of the ways to damage them.
    models : collection of models, default=`seeds()`
    """
    report = Report()
    handler = signal.signal(signal.SIGPROF, _time_out)
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        path = Path(folder) / "damaged.kernelet"
        originals: list[bytes] = []
        for model in seeds() if models is None else models:
            kernelet.save(model, path)
            originals.append(path.read_bytes())
            answer(kernelet.load(path))
            answer(kernelet.load_predictor(path))
        names = sorted(mutations)
        before = _peak_resident()
        tracemalloc.start()
        try:
            for number in range(n):
                rng = np.random.default_rng([seed, number])
                which = int(rng.integers(len(originals)))
                name = names[number % len(names)]
                data = MUTATIONS[name](originals[which], rng, originals)
                path.write_bytes(data)
                failed = len(report.failures)
                _try(path, len(data), f"file {number} ({name} of seed {which})", report)
                if keep is not None and len(report.failures) > failed:
                    (keep / f"failed_{number}.kernelet").write_bytes(data)
                if progress and (number + 1) % progress == 0:
                    print(f"{number + 1} files, {len(report.failures)} failures", flush=True)
        finally:
            tracemalloc.stop()
            signal.signal(signal.SIGPROF, handler)
        report.growth = _peak_resident() - before
    if report.growth > GROWTH_LIMIT:
        report.failures.append(f"the process grew by {report.growth} bytes")
    return report


def _try(path: Path, n_bytes: int, label: str, report: Report) -> None:
    tracemalloc.reset_peak()
    at_start = tracemalloc.get_traced_memory()[0]
    used = 0
    began = time.process_time()
    # Time of this process, not of the clock: others may be busy on the machine.
    signal.setitimer(signal.ITIMER_PROF, SECONDS)
    model = None
    try:
        model = _read(path, label, report)
        used = tracemalloc.get_traced_memory()[1] - at_start
        if model is not None:
            answer(model)
        # without the class of the model, whose parameters may be all that is damaged
        predictor = _loaded(kernelet.load_predictor, path, label, report)
        if predictor is not None:
            answer(predictor)
        elif isinstance(model, KernelMachine) or hasattr(model, "machine_"):
            report.failures.append(f"{label}: a model, but not a predictor")
    except _TimeOut:
        report.failures.append(f"{label}: not read after {SECONDS} seconds")
    except Exception as error:  # any other error is what this program looks for
        report.failures.append(f"{label}: {type(error).__name__}: {error}")
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
    report.slowest = max(report.slowest, time.process_time() - began)
    multiple = (used - MEMORY_CONSTANT - _unpacked(path, model)) / max(n_bytes, 1)
    report.most_memory = max(report.most_memory, multiple)
    if multiple > MEMORY_FACTOR:
        report.failures.append(f"{label}: {used} bytes of memory for {n_bytes}")


def _unpacked(path: Path, model: Any) -> int:
    """Bytes that reading a machine in few bits may take on top of what other files may."""
    machine = model[-1] if isinstance(model, Pipeline) else getattr(model, "estimator", model)
    for name in ("machine_", "calibrated_machine_", "machine"):
        machine = getattr(machine, name, machine)
    if isinstance(machine, KernelMachine):
        full = 0 if machine.compact is None else CompactSizes.of(machine, machine.compact).in_full
        return COMPACT_FACTOR * full
    data = path.read_bytes()
    # refused, perhaps after its numbers were unpacked
    return COMPACT_FACTOR * (MAX_GROWTH * len(data) + ALWAYS) if b"compact" in data else 0


def _read(path: Path, label: str, report: Report) -> Any:
    """The model in the file; None if it is refused."""
    with contextlib.suppress(ModelFileError):  # load says why
        read_summary(path)
    model = _loaded(kernelet.load, path, label, report)
    report.outcomes["refused" if model is None else "a model"] += 1
    return model


def _loaded(load: Callable[[Path], Any], path: Path, label: str, report: Report) -> Any:
    """What a function makes of the file; None if it is refused."""
    try:
        return load(path)
    except ModelFileError as error:
        message = str(error)
        report.reasons[" ".join(message.split(": ", 1)[-1].split()[:4])] += 1
        if "\n" in message or not message.startswith(str(path)):
            report.failures.append(f"{label}: a message that is not one line: {message!r}")
        return None


def main(argv: list[str] | None = None) -> int:
    """Run from the command line; 1 if anything failed."""
    parser = argparse.ArgumentParser(description=str(__doc__).splitlines()[0])
    parser.add_argument("--n", type=int, default=10_000, help="number of files")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--keep", type=Path, help="folder for the files that failed")
    parser.add_argument("--compact", action="store_true", help="machines in few bits only")
    arguments = parser.parse_args(argv)
    report = run(
        arguments.n,
        arguments.seed,
        arguments.keep,
        progress=max(1, arguments.n // 10),
        models=compact_seeds() if arguments.compact else None,
    )
    counts = ", ".join(f"{n} {what}" for what, n in sorted(report.outcomes.items()))
    print(f"{arguments.n} files: {counts}; {len(report.failures)} failures")
    print(
        f"slowest {1000 * report.slowest:.1f} ms; most memory {max(0, report.most_memory):.1f} x "
        f"the file + {MEMORY_CONSTANT >> 20} MB; the process grew by {report.growth / 2**20:.1f} MB"
    )
    for reason, n in report.reasons.most_common(40):
        print(f"{n:8d}  {reason}")
    for failure in report.failures[:20]:
        print(failure, file=sys.stderr)
    return 1 if report.failures else 0


if __name__ == "__main__":
    raise SystemExit(main())
