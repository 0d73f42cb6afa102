"""What JSON says of a machine in few bits: its integers, as lists."""

from __future__ import annotations

from dataclasses import replace
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kernelet.export.to_json.fields import nullable, only
from kernelet.kernels import Kernel
from kernelet.machine import CompactForm, KernelMachine, VectorGrid
from kernelet.machine.powers import LARGEST_CODE, Powers
from kernelet.machine.vector_grid import GridMatrix
from kernelet.persistence import ModelFileError, Record
from kernelet.persistence.compact_forms import (
    LARGEST_INTEGER,
    CompactSizes,
    check_bits,
    check_form,
    checked_machine,
)
from kernelet.persistence.record import checked

_NAMES = (
    *("vector_bits", "used_features", "scales", "matrix", "centres", "steps", "vectors"),
    *("coefficient_bits", "coefficients", "coefficient_scales", "intercepts"),
)
# A number in a list, with the comma behind it, is two bytes of text at least.
_BYTES = 2
# What any document may ask for: vectors of a few hundred thousand features, of which few are used.
_ALWAYS = 2**26


def compact_document(form: CompactForm, machine: KernelMachine) -> dict[str, Any]:
    """The integers of a machine, with NumPy's arrays.

    Vectors and coefficients have signs here: they are counted from the centres and from 0.

    Raises
    ------
    ValueError
        If `compact_machine` would not read them.
    """
    check_form(form)
    grid = form.grid
    check_memory(form, CompactSizes.of(machine, form))
    return {
        "vector_bits": grid.bits,
        "used_features": grid.used,
        "scales": None if grid.scales is None else _written(grid.scales),
        "matrix": None
        if grid.matrix is None
        else {"rows": grid.matrix.codes, "steps": _written(grid.matrix.steps)},
        "centres": grid.centres,
        "steps": _written(grid.steps),
        "vectors": grid.offsets,
        "coefficient_bits": form.coefficient_bits,
        "coefficients": form.coefficients,
        "coefficient_scales": _written(form.scales),
        "intercepts": form.intercepts,
    }


def compact_machine(record: Record, kernel: Kernel, sizes: CompactSizes) -> KernelMachine:
    """The machine of such a document.

    Parameters
    ----------
    record : Record
        The document.
    kernel : Kernel
        Of the scaled features, or of the combinations.
    sizes : CompactSizes
        As the document says; combinations are counted here.

    Raises
    ------
    ModelFileError, ValueError
        If anything in it is not as it should be.
    """
    given = Record("the compact machine", record.value("compact", dict))
    only(given, *_NAMES)
    bits, coefficient_bits = (
        given.value(f"{what}_bits", int) for what in ("vector", "coefficient")
    )
    check_bits(bits, coefficient_bits)
    used = _integers(given, "used_features", 0, sizes.n_features - 1)
    matrix = _matrix(given, used.size, 2 ** (bits - 1) - 1)
    r = used.size if matrix is None else len(matrix.codes)
    half, largest = 2 ** (bits - 1), 2 ** (coefficient_bits - 1) - 1
    grid = VectorGrid(
        kernel,
        sizes.n_features,
        used,
        bits,
        (_rows(given, "vectors", r, -half, half - 1) + half).astype(np.uint16),
        _integers(given, "centres", -LARGEST_INTEGER, LARGEST_INTEGER).astype(np.int32),
        _powers(given, "steps"),
        None if nullable(given, "scales", dict) is None else _powers(given, "scales"),
        matrix,
    )
    form = CompactForm(
        grid,
        coefficient_bits,
        _rows(given, "coefficients", sizes.n_outputs, -largest, largest).astype(np.int16),
        _powers(given, "coefficient_scales"),
        _integers(given, "intercepts", -LARGEST_INTEGER, LARGEST_INTEGER).astype(np.int32),
    )
    if len(form.coefficients) != sizes.n_vectors or form.intercepts.size != sizes.n_outputs:
        raise ModelFileError(
            f"there must be {sizes.n_vectors} vectors with a row of coefficients each, and "
            f"{sizes.n_outputs} intercepts"
        )
    check_memory(form, replace(sizes, n_combinations=0 if matrix is None else r))
    return checked_machine(form, sizes.dtype)


def check_memory(form: CompactForm, sizes: CompactSizes) -> None:
    """Raise ValueError if few numbers of a document become very many in memory."""
    grid = form.grid
    arrays: list[NDArray[Any]] = [grid.codes, grid.centres, grid.used, form.coefficients]
    if grid.matrix is not None:
        arrays.append(grid.matrix.codes)
    if sizes.stored_at_least(always=_ALWAYS) > _BYTES * sum(array.size for array in arrays):
        raise ValueError(
            f"vectors of {grid.n_features} features, of which {grid.used.size} are in use, take "
            "too much memory for JSON; kernelet.save can hold the machine"
        )


def _written(powers: Powers) -> dict[str, Any]:
    return {"base": float(powers.base), "codes": powers.codes}


def _powers(record: Record, name: str) -> Powers:
    powers = Record(f"{name!r}", record.value(name, dict))
    only(powers, "base", "codes")
    codes = _integers(powers, "codes", 0, LARGEST_CODE).astype(np.uint8)
    return Powers(powers.value("base", float), codes)


def _matrix(record: Record, width: int, largest: int) -> GridMatrix | None:
    given = nullable(record, "matrix", dict)
    if given is None:
        return None
    matrix = Record("the matrix", given)
    only(matrix, "rows", "steps")
    rows = _rows(matrix, "rows", width, -largest, largest).astype(np.int16)
    return GridMatrix(rows, _powers(matrix, "steps"))


def _rows(record: Record, name: str, width: int, low: int, high: int) -> NDArray[np.int64]:
    rows = [checked(row, list, f"a row of {name!r}") for row in record.value(name, list)]
    if any(len(row) != width for row in rows):
        raise ModelFileError(f"each row of {name!r} must hold {width} numbers")
    flat = _whole(name, list(chain.from_iterable(rows)), low, high)
    return flat.reshape(len(rows), width)


def _integers(record: Record, name: str, low: int, high: int) -> NDArray[np.int64]:
    return _whole(name, record.value(name, list), low, high)


def _whole(name: str, values: list[Any], low: int, high: int) -> NDArray[np.int64]:
    if not all(type(value) is int and low <= value <= high for value in values):
        raise ModelFileError(f"{name!r} must hold integers from {low} to {high}")
    return np.array(values, dtype=np.int64)
