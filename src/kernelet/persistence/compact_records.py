"""Machines in few bits as records: their integers, packed, and a few numbers that are not."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from kernelet.kernels import Kernel
from kernelet.machine import CompactForm, KernelMachine, VectorGrid, stored_bytes
from kernelet.machine.packing import MOST_PACKED_BITS, packed, packed_bytes, unpacked
from kernelet.machine.powers import Powers
from kernelet.machine.storage import integer_bytes
from kernelet.machine.vector_grid import GridMatrix
from kernelet.persistence.compact_forms import (
    CompactSizes,
    check_bits,
    check_form,
    checked_machine,
)
from kernelet.persistence.errors import ModelFileError
from kernelet.persistence.record import Array, Record

# Before this version, all numbers of machines are floating point.
COMPACT_VERSION = 3
_SIZES = ("vectors", "features", "outputs", "combinations")
_BYTE, _FLAG = np.dtype(np.uint8), 1
_SIGNED = {1: np.int8, 2: np.int16, 4: np.int32}


def compact_record(form: CompactForm, machine: KernelMachine) -> Record:
    """The record of a machine in few bits, without its kernel."""
    check_form(form)
    grid, sizes = form.grid, CompactSizes.of(machine, form)
    bases = {"steps": grid.steps.base, "coefficient_scales": form.scales.base}
    varying, bits = grid.varying, form.coefficient_bits
    arrays = {
        "codes": packed(grid.codes[:, varying], grid.bits),
        "centres": _once(_narrow(grid.centres)),
        "steps": _once(grid.steps.codes),
        "coefficients": packed(_unsigned(form.coefficients, bits), bits),
        "coefficient_scales": _once(form.scales.codes),
        "intercepts": _narrow(form.intercepts),
    }
    is_used = np.isin(np.arange(grid.n_features), grid.used)
    for name, mask in (("used", is_used), ("varying", varying)):
        if not mask.all():
            arrays[name] = packed(mask, _FLAG)
    if grid.scales is not None:
        bases["scales"] = grid.scales.base
        arrays["scales"] = _once(grid.scales.codes)
    if grid.matrix is not None:
        bases["matrix_steps"] = grid.matrix.steps.base
        arrays["matrix"] = packed(_unsigned(grid.matrix.codes, grid.bits), grid.bits)
        arrays["matrix_steps"] = _once(grid.matrix.steps.codes)
    lacking = sizes.stored_at_least() - _n_bytes(arrays)
    if lacking > 0:
        arrays["padding"] = np.zeros(lacking, dtype=_BYTE)
    fields = {
        "dtype": sizes.dtype.name,
        **{f"n_{what}": getattr(sizes, f"n_{what}") for what in _SIZES},
        "vector_bits": grid.bits,
        "coefficient_bits": bits,
        "bases": {name: float(base) for name, base in bases.items()},
        "stored_bytes": stored_bytes(machine),
    }
    return Record("KernelMachine", {"compact": fields}, arrays, version=COMPACT_VERSION)


def read_compact(record: Record, kernel: Kernel) -> KernelMachine:
    """The machine of such a record; ``kernel`` is that of the scaled or projected features.

    Raises
    ------
    ModelFileError
        If the arrays do not have the sizes that they should, or ask for too much memory.
    ValueError
        If their integers make no machine.
    """
    fields = Record("the compact machine", record.value("compact", dict), record.arrays)
    sizes = sizes_of(fields)
    if sizes.stored_at_least() > _n_bytes(record.arrays):
        raise ModelFileError("the machine takes too much memory for a file of this size")
    bits, coefficient_bits = (
        fields.value(name, int) for name in ("vector_bits", "coefficient_bits")
    )
    check_bits(bits, coefficient_bits)
    m, k = sizes.n_vectors, sizes.n_outputs
    used = np.flatnonzero(_mask(fields, "used", sizes.n_features))
    r = sizes.n_combinations or used.size
    has_matrix = sizes.n_combinations > 0
    grid = VectorGrid(
        kernel,
        sizes.n_features,
        used,
        bits,
        _codes(fields, m, r, bits),
        _integers(fields, "centres", r),
        _powers(fields, "steps", r),
        _powers(fields, "scales", used.size) if "scales" in record.arrays else None,
        _matrix(fields, r, used.size, bits) if has_matrix else None,
    )
    coefficients = _signed(fields, "coefficients", m * k, coefficient_bits).reshape(m, k)
    scales = _powers(fields, "coefficient_scales", m)
    intercepts = _integers(fields, "intercepts", k, may_be_one=False)
    form = CompactForm(grid, coefficient_bits, coefficients, scales, intercepts)
    return checked_machine(form, sizes.dtype)


def sizes_of(fields: Record) -> CompactSizes:
    """The sizes that a file states, none of them negative."""
    dtype = fields.value("dtype", str)
    if dtype not in ("float32", "float64"):
        raise ModelFileError("the dtype of a machine must be float32 or float64")
    m, d, k, r = (fields.value(f"n_{what}", int) for what in _SIZES)
    if min(m, d - 1, k - 1, r) < 0:
        raise ModelFileError("a machine must have a feature and an output at least")
    return CompactSizes(m, d, k, r, np.dtype(dtype))


def _n_bytes(arrays: dict[str, Array]) -> int:
    return sum(array.nbytes for array in arrays.values())


def _once(numbers: NDArray[Any]) -> NDArray[Any]:
    """One number if all are the same."""
    return numbers[:1] if (numbers == numbers[:1]).all() else numbers


def _narrow(numbers: NDArray[np.int32]) -> NDArray[Any]:
    """In the smallest type of signed integers."""
    return numbers.astype(_SIGNED[integer_bytes(numbers)])


def _unsigned(numbers: NDArray[np.int16], bits: int) -> NDArray[np.int32]:
    shifted: NDArray[np.int32] = numbers.astype(np.int32) + (1 << (bits - 1))
    return shifted


def _bytes(fields: Record, name: str, n_codes: int, bits: int) -> NDArray[np.uint8]:
    """The bytes of packed integers, of which there must be as many as it takes."""
    data, n_bytes = _array(fields, name), packed_bytes(n_codes, bits)
    if data.dtype != _BYTE or data.shape != (n_bytes,):
        raise ModelFileError(
            f"the array {name!r} must hold {n_bytes} bytes, not {data.shape} of {data.dtype}"
        )
    rest = n_codes * bits % 8
    if bits <= MOST_PACKED_BITS and rest and data[-1] >> rest:
        raise ModelFileError(f"the array {name!r} has bits behind its last number")
    return data


def _unpacked(fields: Record, name: str, n_codes: int, bits: int) -> NDArray[np.uint16]:
    codes = unpacked(_bytes(fields, name, n_codes, bits), bits, n_codes)
    if codes.size and int(codes.max()) >> bits:
        raise ModelFileError(f"the array {name!r} holds a number of more than {bits} bits")
    return codes


def _signed(fields: Record, name: str, n_codes: int, bits: int) -> NDArray[np.int16]:
    codes = _unpacked(fields, name, n_codes, bits)
    # modulo 2^16, in place: a difference of 16 bits is what it should be
    codes -= np.uint16(1 << (bits - 1))
    return codes.view(np.int16)


def _codes(fields: Record, m: int, r: int, bits: int) -> NDArray[np.uint16]:
    """The codes of the vectors, with the columns that are not stored."""
    varying = _mask(fields, "varying", r)
    n_varying = int(varying.sum())
    stored = _unpacked(fields, "codes", m * n_varying, bits).reshape(m, n_varying)
    if varying.all():
        return stored
    codes = np.full((m, r), 1 << (bits - 1), dtype=np.uint16)
    codes[:, varying] = stored
    return codes


def _mask(fields: Record, name: str, n: int) -> NDArray[np.bool_]:
    if name not in fields.arrays:
        return np.ones(n, dtype=bool)
    data = _bytes(fields, name, n, _FLAG)
    return np.unpackbits(data, count=n, bitorder="little").view(bool)


def _integers(fields: Record, name: str, n: int, *, may_be_one: bool = True) -> NDArray[np.int32]:
    numbers = _each(fields, name, n, tuple(_SIGNED.values()), may_be_one=may_be_one)
    return numbers.astype(np.int32)


def _powers(fields: Record, name: str, n: int) -> Powers:
    bases = Record("the bases", fields.value("bases", dict))
    return Powers(bases.value(name, float), _each(fields, name, n, (np.uint8,)))


def _matrix(fields: Record, r: int, u: int, bits: int) -> GridMatrix:
    codes = _signed(fields, "matrix", r * u, bits).reshape(r, u)
    return GridMatrix(codes, _powers(fields, "matrix_steps", u))


def _each(
    fields: Record,
    name: str,
    n: int,
    kinds: tuple[type[Any], ...],
    *,
    may_be_one: bool = True,
) -> NDArray[Any]:
    """A number for each of n, of which one is stored if all are the same."""
    array = _array(fields, name)
    is_one = may_be_one and array.shape == (min(n, 1),)
    if array.dtype not in [np.dtype(kind) for kind in kinds] or not (is_one or array.shape == (n,)):
        names = " or ".join(kind.__name__ for kind in kinds)
        number = f"one or {n}" if may_be_one else str(n)
        raise ModelFileError(
            f"the array {name!r} must hold {number} numbers of {names}, not {array.shape} of "
            f"{array.dtype}"
        )
    return np.array(np.broadcast_to(array, (n,)))


def _array(fields: Record, name: str) -> Array:
    if name not in fields.arrays:
        raise ModelFileError(f"the array {name!r} of {fields.kind} is missing")
    return fields.arrays[name]
