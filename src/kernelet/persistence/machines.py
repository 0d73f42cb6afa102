"""How machines and what goes with them are written and read."""

from __future__ import annotations

import numpy as np

from kernelet.machine import (
    CalibratedMachine,
    CompactForm,
    KernelMachine,
    SigmoidCalibration,
    TemperatureCalibration,
    VectorGrid,
)
from kernelet.machine.columns import Category, ColumnEncoder, Number
from kernelet.machine.powers import Powers
from kernelet.machine.vector_grid import GridMatrix
from kernelet.persistence.compact_records import compact_record, read_compact
from kernelet.persistence.kernels import decode_kernel, encode_kernel
from kernelet.persistence.ranges import check_finite, check_kernels, check_range
from kernelet.persistence.record import Array, Record
from kernelet.persistence.registry import from_record, register, to_record
from kernelet.persistence.vectors import stored_vectors, vectors_in_full

# Before this version, vectors have all features.
LEFT_OUT_VERSION = 2
CALIBRATIONS = (SigmoidCalibration, TemperatureCalibration)


def _write_machine(machine: KernelMachine) -> Record:
    check_finite(machine)
    form, arrays = machine.compact, dict[str, Array]()
    kernel = machine.kernel if form is None else form.grid.kernel
    specification = encode_kernel(kernel, "kernel", arrays)
    check_kernels(specification)
    check_range(machine)
    record = _float_record(machine) if form is None else compact_record(form, machine)
    record.fields["kernel"] = specification
    record.arrays.update(arrays)
    return record


def _float_record(machine: KernelMachine) -> Record:
    """The record of a machine whose numbers are floating point, without its kernel."""
    arrays = {
        "vectors": machine.vectors,
        "coefficients": machine.coefficients,
        "intercepts": machine.intercepts,
    }
    stored = stored_vectors(machine)
    if stored is None:
        return Record("KernelMachine", {}, arrays)
    return Record("KernelMachine", {}, arrays | stored.arrays, version=LEFT_OUT_VERSION)


def _read_machine(record: Record) -> KernelMachine:
    specification = record.value("kernel", dict)
    check_kernels(specification)
    kernel = decode_kernel(specification, record)
    if "compact" in record.fields:
        return read_compact(record, kernel)
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
    pickled = (CompactForm, VectorGrid, GridMatrix, Powers)
    register(KernelMachine, _write_machine, _read_machine, pickled)
    register(SigmoidCalibration, _write_sigmoid, _read_sigmoid)
    register(TemperatureCalibration, _write_temperature, _read_temperature)
    register(CalibratedMachine, _write_calibrated, _read_calibrated)
    register(ColumnEncoder, _write_columns, _read_columns, (Number, Category))
