"""Models whose exports to C have every line of the templates, and rows that try every branch."""

from __future__ import annotations

import functools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import load_iris
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, SVR, OneClassSVM

import compact_machines
import export_bounds
import integer_machines
from hostile_rows import hostile, in_between
from kernelet import KernelMachine, ReducedSVC, TableModel, compress
from kernelet.export.model import exported_model
from kernelet.export.to_c.fixed_point import fixed_point
from kernelet.kernels import Gaussian, Linear, ProjectedFeatures, ScaledFeatures
from kernelet.machine import CalibratedMachine, SigmoidCalibration, TemperatureCalibration
from references import for_features
from run_c_program import Answers, Program, program

FLOWERS, KIND = load_iris(return_X_y=True)
ROWS = FLOWERS[::10]
FLOATS = ("float32", "float64")


def _reals(i: int) -> tuple[str, str]:
    """Integers and one of the floats, whose code is the same but for names."""
    return FLOATS[i % 2], "q15"


@dataclass(frozen=True, eq=False)
class Case:
    """A model as C, and rows that are nothing out of the ordinary."""

    name: str
    model: Any
    dtype: str
    rows: np.ndarray


def _machine(kernel: Any, d: int, k: int = 1, m: int = 5) -> tuple[KernelMachine, np.ndarray]:
    """A machine of random numbers, and rows at some of its vectors and near others."""
    rng = np.random.default_rng(d + 100 * k)
    Z = rng.normal(size=(m, d))
    beta, b = rng.normal(size=(m, k)), 0.1 * rng.normal(size=k)
    rows = np.concatenate([Z[:2], Z + 0.3 * rng.normal(size=(m, d)), rng.normal(size=(12, d))])
    return KernelMachine(for_features(kernel, d), Z, beta, b), rows


def _kernels() -> Iterator[Case]:
    """Every kernel; as many features as a loop takes at once, and others."""
    for i, kernel in enumerate(export_bounds.KERNELS):
        machine, rows = _machine(kernel, 19, k=1 + i % 6)
        yield Case(f"kernel {i}", machine, FLOATS[i % 2], rows)
    for dtype in FLOATS:
        machine, rows = _machine(Gaussian(0.1), 16, k=4)
        yield Case(f"sixteen features, {dtype}", machine, dtype, rows)
    empty = KernelMachine(Linear(), np.empty((0, 2)), np.empty((0, 1)), 1.5)
    yield Case("no vectors", empty, "float32", np.zeros((2, 2)))


def _with_ties() -> SVC:
    """Classes that beat each other in a circle, in places: they are drawn by lot."""
    lots = np.random.default_rng(0).permutation(np.arange(150) % 4)
    return SVC(gamma=2.0, C=100.0, break_ties=True).fit(FLOWERS, lots)


def _readings() -> Iterator[Case]:
    """Classes, pairs of classes, outliers, values, and their probabilities."""
    two = np.minimum(KIND, 1)
    models = {
        "pairs": SVC().fit(FLOWERS, KIND),
        "scores of pairs": SVC(decision_function_shape="ovo").fit(FLOWERS, KIND),
        "ties of pairs": _with_ties(),
        "two classes": SVC().fit(FLOWERS, np.array(["a", "b"])[two]),
        "outliers": OneClassSVM(nu=0.2).fit(FLOWERS),
        "values": make_pipeline(StandardScaler(), SVR()).fit(FLOWERS, FLOWERS[:, 0]),
        "names of features": ReducedSVC(4, random_state=0).fit(load_iris(as_frame=True).data, KIND),
    }
    for i, (name, model) in enumerate(models.items()):
        small = compress(model, 6, max_iter=3) if name in ("pairs", "two classes") else model
        for dtype in _reals(i):
            yield Case(f"{name}, {dtype}", small, dtype, ROWS)
    voted = make_pipeline(
        StandardScaler(), CalibratedClassifierCV(SVC(), ensemble=False, cv=2)
    ).fit(FLOWERS, KIND)
    yield Case("probabilities of pairs", voted, "float64", ROWS)


def _calibrations(machine: KernelMachine, rows: np.ndarray) -> list[Any]:
    """Of scores as they are, and ones by which nearly all probabilities are next to nothing."""
    scores = machine.decision_function(rows).reshape(len(rows), -1)
    spread = scores.std(axis=0)
    return [
        TemperatureCalibration(3.0 / spread.max()),
        SigmoidCalibration(-2.0 / spread, 2.0 * np.median(scores, axis=0) / spread),
        SigmoidCalibration(-3e3 / spread, 3e3 * np.quantile(scores, 0.9, axis=0) / spread),
    ]


def _steepest(machine: KernelMachine) -> list[Any]:
    """Nearly the largest numbers that the logits of integers can have: 2^62 and 2^61."""
    unit = fixed_point(exported_model(machine)).score_unit
    signs = (-1.0) ** np.arange(machine.n_outputs)
    per_octave = np.log(2.0) / 2.0**16
    slopes, offsets = (2.0**digits * per_octave * signs for digits in (30.9, 60.9))
    return [
        SigmoidCalibration(slopes / unit, offsets),
        SigmoidCalibration(slopes / unit, -offsets),
        SigmoidCalibration(-np.abs(slopes) / unit, offsets),
    ]


def _probabilities() -> Iterator[Case]:
    for k in (1, 4):
        machine, rows = _machine(Gaussian(0.2), 3, k)
        for i, calibration in enumerate(_calibrations(machine, rows)):
            for dtype in _reals(i):
                model = CalibratedMachine(machine, calibration)
                yield Case(f"{k} outputs, calibration {i}, {dtype}", model, dtype, rows)
        few = integer_machines.compact_machine(k=k, d=3, seed=2)
        rows = _near(few)
        for i, calibration in enumerate(_calibrations(few, rows)):
            model = CalibratedMachine(few, calibration)
            yield Case(f"{k} outputs, calibration {i}, q7", model, "q7", rows)
    machine, rows = _machine(Gaussian(0.2), 3, k=4)
    for i, calibration in enumerate(_steepest(machine)):
        model = CalibratedMachine(machine, calibration)
        yield Case(f"steepest calibration {i}, q15", model, "q15", rows)


def _projections() -> Iterator[Case]:
    """Features that are left out, combinations of features, and of some of them."""
    scales = ScaledFeatures(Gaussian(0.3), [0.0, 1.0, 2.0, 0.5, 0.0])
    rng = np.random.default_rng(0)
    matrix = rng.normal(size=(2, 5))
    some = matrix * [1.0, 0.0, 1.0, 1.0, 0.0]
    wide = np.array([[1e4, 1.0, 0.0, 0.0, 0.5], [0.0, 0.0, 1.0, -1.0, 0.0]])
    kernels = {
        "features left out": scales,
        "scales": ScaledFeatures(Gaussian(0.3), [1.0, 2.0, 0.5, 0.3, 0.7]),
        "combinations": ProjectedFeatures(Gaussian(0.3), matrix),
        "combinations of some": ProjectedFeatures(Gaussian(0.3), some),
    }
    for i, (name, kernel) in enumerate(kernels.items()):
        machine, rows = _machine(kernel, 5, k=3)
        for dtype in _reals(i):
            yield Case(f"{name}, {dtype}", machine, dtype, rows)
    machine, rows = _machine(ScaledFeatures(Gaussian(0.1), [1.0, 0.0]), 41)
    yield Case("every other feature", machine, "float32", rows)
    # a matrix that 16 bits would spoil
    machine, rows = _machine(ProjectedFeatures(Gaussian(0.3), wide), 5)
    machine = KernelMachine(
        machine.kernel, machine.vectors * [0.0, 1, 1, 1, 1], machine.coefficients
    )
    yield Case("combinations in floats, q15", machine, "q15", rows * [0.0, 1, 1, 1, 1])


TABLE = {
    "length": [1.5, None, 3.0, 2.0, 8.5, 7.0, 9.0, 6.5],
    "colour": ["red", "blue", "", "red", "blue", "grey", "grey", "blue"],
    "ripe": ["yes", "no", "no", "yes", "no", "yes", "yes", "no"],
    "width": [300.0, 200.0, None, 250.0, 100.0, 70.0, 90.0, 80.0],
    "constant": [1.0] * 8,
    "fruit": ["fig", "fig", "fig", "fig", "plum", "plum", "plum", "plum"],
}
NUMBERS = ("length", "width", "fruit")


def _tables() -> Iterator[Case]:
    """Tables with and without texts, before kernels of all features, of some, of combinations."""
    cells = [[1.5, 2, 0, 300, 1], [np.nan, 3, 1, np.nan, 1], [7, -1, -1, 80, 1], [7, 0, 0, 80, 2]]
    mixed, numbers = np.array(cells, dtype=float), np.array(cells, dtype=float)[:, [0, 3]]
    only = {name: TABLE[name] for name in NUMBERS}
    both = (("table", TABLE, mixed), ("numbers", only, numbers))
    for i, (name, table, rows) in enumerate(both):
        for bits in (None, 5):
            svc = ReducedSVC(4, vector_bits=bits, random_state=0)
            model = TableModel.fit(table, "fruit", svc)
            for dtype in _reals(i) if bits is None else ("q7",):
                yield Case(f"{name}, {dtype}", model, dtype, rows)
        d = model.encoder.n_features
        for kind, kernel in (
            ("some features", ScaledFeatures(Gaussian(0.3), np.arange(d) % 2 + 0.0)),
            ("combinations", ProjectedFeatures(Gaussian(0.3), np.ones((2, d)) * [[1.0], [-0.5]])),
        ):
            model = TableModel.fit(table, "fruit", ReducedSVC(4, kernel=kernel, random_state=0))
            for dtype in _reals(i):
                yield Case(f"{name}, {kind}, {dtype}", model, dtype, rows)
    scaled = make_pipeline(StandardScaler(), ReducedSVC(4, vector_bits=5, random_state=0))
    yield Case("pipeline, q7", scaled.fit(FLOWERS, KIND), "q7", ROWS)


def _near(machine: KernelMachine) -> np.ndarray:
    """Vectors of a machine, and rows near them."""
    rng = np.random.default_rng(0)
    Z = machine.vectors if machine.n_vectors else np.zeros((1, machine.n_features))
    spread = Z.std(axis=0) / 3 + 1e-3
    near = Z[rng.integers(len(Z), size=12)] + spread * rng.normal(size=(12, Z.shape[1]))
    return np.concatenate([Z[:6], near])


def _few_bits() -> Iterator[Case]:
    """Vectors and coefficients of all widths, in words and sums of both sizes."""
    made = integer_machines.compact_machine
    machines = {
        f"{bits} bits": made(bits=bits, coefficient_bits=own, seed=bits)
        for bits, own in ((2, 4), (3, 5), (4, 6), (6, 8), (7, 16), (8, 6), (9, 5), (16, 16))
    }
    machines |= {
        "one step": made(bits=4, same=True),
        "an odd number of codes": made(bits=4, d=5, m=5),
        "flat": made(bits=5, flat=(1, 3)),
        "flat, odd": made(bits=4, flat=(1,)),
        "all flat": made(bits=5, d=3, flat=(0, 1, 2)),
        "no vectors": made(m=0),
        "some features": made(used=[0, 2, 5], has_scales=True),
        "scales": made(has_scales=True),
        "one scale": made(has_scales=True, same=True),
        "matrix": made(rank=2, bits=5),
        "matrix, bytes": made(rank=2, bits=8),
        "matrix, wide": made(rank=2, bits=12),
        "matrix of some": made(rank=2, used=[1, 2, 4], bits=6),
        "matrix, one step": made(rank=2, bits=6, same=True),
        "matrix of some, one step": made(rank=2, used=[1, 2, 4], bits=6, same=True),
        "one output": made(k=1),
        "long": made(m=900, d=2, bits=2, coefficient_bits=16),
    }
    far = np.array([[0.0, 0.0], [1.0, 900.0], [1.0, -900.0], [0.5, 0.1]])
    steps = np.random.default_rng(0).normal(size=(9, 3)) * [1.0, 1e-5, 1e-8]
    for name, Z, bits in (("words of 64 bits", far, 16), ("steps far apart", steps, 5)):
        beta, b = np.linspace(-1.0, 1.0, len(Z))[:, np.newaxis], np.zeros(1)
        machines[name] = compact_machines.compact_machine(Gaussian(0.1), Z, beta, b, bits)
    for name, machine in machines.items():
        yield Case(f"{name}, q7", machine, "q7", _near(machine))
    for name, model in (
        ("pairs", SVC().fit(FLOWERS, KIND)),
        ("ties of pairs", _with_ties()),
        ("outliers", OneClassSVM(nu=0.2).fit(FLOWERS)),
    ):
        yield Case(f"{name}, q7", compress(model, 5, max_iter=3, vector_bits=5), "q7", ROWS)


@functools.cache
def cases() -> tuple[Case, ...]:
    """All of them; tests must not change them."""
    parts = (_kernels, _readings, _probabilities, _projections, _tables, _few_bits)
    return tuple(case for part in parts for case in part())


def names() -> dict[str, str]:
    """The names of the cases, by those of the files that `answers` makes of them."""
    return {f"machine_{i}.c": case.name for i, case in enumerate(cases())}


def program_of(folder: Path, flags: Sequence[str], compiler: str | None = None) -> Program:
    """All cases as one program."""
    models = [(case.model, case.dtype) for case in cases()]
    return program(models, folder, flags, compiler=compiler)


def answers(folder: Path, flags: Sequence[str], compiler: str | None = None) -> list[Answers]:
    """What a program of all cases says of rows of all kinds."""
    made = program_of(folder, flags, compiler)
    return [made.run(i, rows_for(case)) for i, case in enumerate(cases())]


def assert_same(case: Case, one: Answers, other: Answers) -> None:
    """The same integers and labels, and numbers that differ by their last digits."""
    digits = {"float32": 1e-5, "float64": 1e-13}.get(case.dtype, 0.0)
    for name in ("outside", "labels", "categories"):
        assert_array_equal(getattr(one, name), getattr(other, name), err_msg=case.name)
    for name in ("scores", "shares"):
        found, expected = (getattr(answer, name) for answer in (one, other))
        if found is not None:
            # differences of large scores are rounded as these are
            size = np.abs(expected[np.isfinite(expected)]).max(initial=0.0)
            assert_allclose(found, expected, rtol=digits, atol=digits * size, err_msg=case.name)


def rows_for(case: Case) -> np.ndarray:
    """Rows of all kinds, the ordinary ones first."""
    return np.concatenate([case.rows, in_between(case.rows), hostile(case.rows)])
