"""How machines and what goes with them are written and read."""

from __future__ import annotations

import numpy as np

from kernelet.kernels import Kernel, ProjectedFeatures
from kernelet.machine import (
    CalibratedMachine,
    KernelMachine,
    SigmoidCalibration,
    TemperatureCalibration,
)
from kernelet.machine.columns import Category, ColumnEncoder, Number
from kernelet.persistence.errors import ModelFileError
from kernelet.persistence.kernels import decode_kernel, encode_kernel
from kernelet.persistence.record import Record
from kernelet.persistence.registry import from_record, register, to_record
from kernelet.persistence.vectors import stored_vectors, vectors_in_full

# Each kernel of a sum may keep a copy of the vectors when the machine is made: a file may need a
# hundred times its own size of memory, the same as MAX_GROWTH in vectors.py.
MAX_KERNELS = 100
# Vectors that are checked at a time when a file is read, so that they are not all copied.
_VECTORS_AT_ONCE = 1024
# Before this version, vectors have all features.
LEFT_OUT_VERSION = 2
CALIBRATIONS = (SigmoidCalibration, TemperatureCalibration)


def _write_machine(machine: KernelMachine) -> Record:
    arrays = {
        "vectors": machine.vectors,
        "coefficients": machine.coefficients,
        "intercepts": machine.intercepts,
    }
    for name, array in arrays.items():
        if not np.isfinite(array).all():
            raise ValueError(f"the {name} of the machine hold NaN or infinity; it is not saved.")
    specification = encode_kernel(machine.kernel, "kernel", arrays)
    if _n_kernels(specification) > MAX_KERNELS:
        raise ValueError(f"a model file holds sums and products of up to {MAX_KERNELS} kernels.")
    check_range(machine)
    stored = stored_vectors(machine)
    if stored is None:
        return Record("KernelMachine", {"kernel": specification}, arrays)
    arrays.update(stored.arrays)
    return Record("KernelMachine", {"kernel": specification}, arrays, version=LEFT_OUT_VERSION)


def _read_machine(record: Record) -> KernelMachine:
    specification = record.value("kernel", dict)
    if _n_kernels(specification) > MAX_KERNELS:
        raise ModelFileError(f"the kernel is made of more than {MAX_KERNELS} kernels")
    kernel = decode_kernel(specification, record)
    vectors = vectors_in_full(record)
    dtype = vectors.dtype.type
    machine = KernelMachine(
        kernel,
        vectors,
        record.floats("coefficients", 2, dtype),
        record.floats("intercepts", 1, dtype),
    )
    check_range(machine)
    return machine


def check_range(machine: KernelMachine) -> None:
    """Refuse numbers whose scores overflow, whatever the rows are.

    Models are checked when they are written as well, so that none is lost. If kernel values are
    unbounded, rows may be too large for any machine; its `decision_function` checks the scores.
    """
    # a temporary copy, in pieces: the machine prepares its own at the first prediction
    row = np.zeros((1, machine.n_features), dtype=machine.dtype)
    # a matrix may turn each number of a vector into many
    growth = max(1, -(-_combinations(machine.kernel) // max(1, machine.n_features)))
    at_once = max(1, _VECTORS_AT_ONCE // growth)
    for start in range(0, machine.n_vectors, at_once):
        values = machine.kernel(row, machine.vectors[start : start + at_once])
        if not np.isfinite(values).all():
            raise ValueError(
                "the numbers of the kernel or the vectors are too large; scale the data, or lower "
                "gamma or degree"
            )
    bound = machine.kernel.largest_value
    if not np.isfinite(bound):
        return
    with np.errstate(over="ignore"):
        # in double precision, so that the sum itself does not overflow in float32
        total = np.abs(machine.coefficients).sum(axis=0, dtype=np.float64) * bound
        total = total + np.abs(machine.intercepts)
    if (total > np.finfo(machine.dtype).max).any():
        raise ValueError(
            f"the coefficients are so large that scores overflow {machine.dtype}; divide them and "
            "the intercepts, or the targets of the fit, by their size"
        )


def _combinations(kernel: Kernel) -> int:
    """Rows of all matrices in a kernel."""
    own = len(kernel.matrix) if isinstance(kernel, ProjectedFeatures) else 0
    return own + sum(map(_combinations, getattr(kernel, "parts", ())))


def _n_kernels(specification: object) -> int:
    """Kernels in a specification; the depth of what was read from JSON is bounded."""
    if isinstance(specification, dict):
        return 1 + sum(_n_kernels(value) for value in specification.values())
    if isinstance(specification, list | tuple):
        return sum(_n_kernels(item) for item in specification)
    return 0


def _write_sigmoid(calibration: SigmoidCalibration) -> Record:
    arrays = {
        "slopes": np.asarray(calibration.slopes, dtype=np.float64),
        "offsets": np.asarray(calibration.offsets, dtype=np.float64),
    }
    return Record("SigmoidCalibration", {}, arrays)


def _read_sigmoid(record: Record) -> SigmoidCalibration:
    slopes = np.array(record.floats("slopes", 1, np.float64))
    offsets = np.array(record.floats("offsets", 1, np.float64))
    return SigmoidCalibration(slopes, offsets)


def _write_temperature(calibration: TemperatureCalibration) -> Record:
    value = float(calibration.inverse_temperature)
    return Record("TemperatureCalibration", {"inverse_temperature": value})


def _read_temperature(record: Record) -> TemperatureCalibration:
    return TemperatureCalibration(record.value("inverse_temperature", float))


def _write_calibrated(model: CalibratedMachine) -> Record:
    parts = {"machine": to_record(model.machine), "calibration": to_record(model.calibration)}
    return Record("CalibratedMachine", parts=parts)


def _read_calibrated(record: Record) -> CalibratedMachine:
    machine: KernelMachine = from_record(record.part("machine"), KernelMachine)
    return calibrated_machine(machine, record.part("calibration"))


def calibrated_machine(machine: KernelMachine, calibration: Record) -> CalibratedMachine:
    """A machine with the calibration in a record, which must have as many outputs."""
    return CalibratedMachine(machine, from_record(calibration, CALIBRATIONS))


def _write_columns(encoder: ColumnEncoder) -> Record:
    fields, arrays = encoder.state()
    return Record("ColumnEncoder", fields, arrays)


def _read_columns(record: Record) -> ColumnEncoder:
    arrays = {name: record.floats(name, 1, np.float64) for name in ("shift", "scale", "fill")}
    return ColumnEncoder.from_state(record.fields, arrays)


def register_machines() -> None:
    """Let files hold machines and what goes with them."""
    register(KernelMachine, _write_machine, _read_machine)
    register(SigmoidCalibration, _write_sigmoid, _read_sigmoid)
    register(TemperatureCalibration, _write_temperature, _read_temperature)
    register(CalibratedMachine, _write_calibrated, _read_calibrated)
    register(ColumnEncoder, _write_columns, _read_columns, (Number, Category))
