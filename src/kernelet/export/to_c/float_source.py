"""Models in C's floating-point types."""

from __future__ import annotations

import numpy as np

from kernelet._hooks import hooks
from kernelet.export.model import ExportedModel
from kernelet.export.projection import counted_features, projected
from kernelet.export.rounding import (
    has_rounding_bound,
    has_taxicab_distances,
    rounding_units,
)
from kernelet.export.to_c.columns import category_tables, column_tables, column_values
from kernelet.export.to_c.cost import Cost, flash_bytes
from kernelet.export.to_c.interface import Interface
from kernelet.export.to_c.kernel import KernelSource
from kernelet.export.to_c.pieces import Real, Table
from kernelet.export.to_c.projection import (
    projection_arithmetic,
    projection_tables,
    projection_values,
)
from kernelet.export.to_c.source import FilledTemplate
from kernelet.kernels.input_stage import input_stage
from kernelet.machine import Calibration, KernelMachine, SigmoidCalibration, TemperatureCalibration

# Bytes that functions, those of math.h included, keep on the stack beside arrays. Measured on a
# Cortex-M4; `make test-cortex` measures them again.
_FRAMES = {"float": 128, "double": 272}

# Of the bound, where the kernel takes combinations.
_COMBINED = [
    "  A being the matrix of the kernel, x stands for |A| |x - origin| there, and z_j for",
    "  |A| |z_j - origin|.",
]


def float_source(exported: ExportedModel, name: str, real: Real) -> FilledTemplate:
    """A model in C, in one of the floating-point types."""
    columns = exported.columns or ()
    projection, machine = projected(exported.machine, real.dtype.name)
    interface = Interface(exported, name, projection)
    kernel = KernelSource(machine.kernel, real, interface.kernel_length)
    tables = [
        *column_tables(columns, real),
        *projection_tables(projection, real),
        *_machine_tables(machine, real),
        *kernel.tables,
        *_calibration_tables(exported.calibration, real),
        *category_tables(columns, name),
        *interface.labels(),
    ]
    cost = _cost(interface, real, kernel, tables)
    k = machine.n_outputs
    values = {
        **interface.values(),
        **column_values(columns, name),
        **projection_values(projection, real),
        "fixed": False,
        "real": real.name,
        "f": real.suffix,
        "row": "x",
        "row_length": interface.given_length,
        "row_type": real.name,
        "score_type": real.name,
        "share_type": real.name,
        "of_pairs": "",
        "kernel": kernel.lines,
        "fours": k - k % 4,
        "rest": k % 4,
        "even_share": real.constant(1.0 / interface.n_scores),
    }
    if isinstance(exported.calibration, TemperatureCalibration):
        inverse = float(exported.calibration.inverse_temperature)
        values["inverse_temperature"] = real.constant(inverse)
    return FilledTemplate("float.c", _about(exported, real, cost), tables, values, cost)


def _machine_tables(machine: KernelMachine, real: Real) -> list[Table]:
    parts = ("vectors", "coefficients", "intercepts")
    arrays = [np.asarray(getattr(machine, part)) for part in parts]
    # C has no arrays of length 0; a machine without vectors gets one that is never read
    filled = [a if len(a) else np.zeros((1, *a.shape[1:])) for a in arrays]
    return [real.table(part, array) for part, array in zip(parts, filled, strict=True)]


def _calibration_tables(calibration: Calibration | None, real: Real) -> list[Table]:
    """Slopes and offsets of the sigmoids, where there are sigmoids."""
    if calibration is None or isinstance(calibration, TemperatureCalibration):
        return []
    if not isinstance(calibration, SigmoidCalibration):
        raise TypeError(f"a calibration of the class {type(calibration).__name__} is not exported.")
    return [
        real.table("slopes", np.asarray(calibration.slopes)),
        real.table("offsets", np.asarray(calibration.offsets)),
    ]


def _cost(interface: Interface, real: Real, kernel: KernelSource, tables: list[Table]) -> Cost:
    machine, columns = interface.exported.machine, interface.exported.columns
    m, d, k = machine.n_vectors, machine.n_features, machine.n_outputs
    length = interface.n_combinations or d
    stacked = max(2, k)  # two values are compared where there is one output
    if interface.is_pairs:
        stacked += 2 * interface.n_classes  # votes and confidence
    stacked += (0 if columns is None else d) + interface.n_combinations  # of `outputs`
    calls = m * kernel.calls + (interface.n_classes if interface.has_probabilities else 0)
    arithmetic = m * (kernel.arithmetic * length + 2 * k) + 2 * len(columns or ())
    arithmetic += projection_arithmetic(interface.projection)
    ram = real.dtype.itemsize * stacked + _FRAMES[real.name]
    return Cost(flash_bytes(tables), ram, arithmetic, calls)


def _about(exported: ExportedModel, real: Real, cost: Cost) -> list[str]:
    machine = exported.machine
    return [
        f"A kernel machine. Vectors: {machine.n_vectors}, features: {counted_features(machine)}, "
        f"outputs: {machine.n_outputs}.",
        repr(machine.kernel),
        f"Made by kernelet {hooks.version}.",
        "",
        *cost.lines(),
        *_about_rounding(exported, real),
        "There is no state: any number of threads and interrupts may call the functions at once.",
        "NaN is found by comparing, so do not compile with -ffast-math.",
    ]


def _about_rounding(exported: ExportedModel, real: Real) -> list[str]:
    machine = exported.machine
    matrix, inner = input_stage(machine.kernel)
    if not has_rounding_bound(inner):
        return ["No bound of rounding errors is known for this kernel."]
    digits = np.finfo(real.dtype).nmant + 1
    units = rounding_units(machine, is_scaled=exported.columns is not None)
    squared = "" if inner.n_features is None else " (each times its largest squared scale)"
    encoded = "" if exported.columns is None else "; x scaled, |shift / scale| added to each |x_i|"
    taxicab = (
        "  Of a Laplacian kernel it counts with |x|_1 + max_j |z_j|_1 (and a scale, not squared)."
    )
    return [
        f"Rounding moves a score by no more than {units} * 2^-{digits}",
        "  * (1 + gamma (|x|^2 + max_j |z_j|^2)) * (sum_j |beta_j| k_j + |b|), gamma being the sum",
        f"  of the kernel's{squared}, k_j made of absolute values{encoded}.",
        *([taxicab] if has_taxicab_distances(inner) else []),
        *([] if matrix is None else _COMBINED),
    ]
