"""The integers of a machine in few bits, as exporters write them."""

from __future__ import annotations

import base64
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kernelet.kernels import Kernel
from kernelet.kernels.input_stage import input_stage
from kernelet.kernels.used_features import restricted
from kernelet.machine import KernelMachine
from kernelet.machine.compact import CompactForm
from kernelet.machine.powers import Powers
from kernelet.machine.vector_grid import VectorGrid


def compact_form(machine: KernelMachine) -> CompactForm | None:
    """The integers of a machine, or None where floating-point numbers are written.

    These are also written for a machine in few bits with a matrix inside of its kernel, such as
    twice a `ProjectedFeatures`: its grid is that of the features, and what is computed with are
    combinations of them.

    Examples
    --------
    >>> from kernelet.kernels import Gaussian
    >>> compact_form(KernelMachine(Gaussian(), [[0.0]], [1.0])) is None
    True
    """
    form = machine.compact
    if form is None or input_stage(form.grid.kernel)[0] is not None:
        return None
    return form


def kernel_of_points(grid: VectorGrid) -> Kernel:
    """The kernel of what is on the grid: features in use, scaled, or combinations of them."""
    return grid.kernel if grid.matrix is not None else restricted(grid.kernel, grid.used)


def compact_document(form: CompactForm) -> dict[str, Any]:
    """What stands in a model document in place of arrays of numbers.

    Every table of integers says from which integer on they count, and how many bits each takes
    from there; their texts are in base64.
    """
    grid = form.grid
    used = np.isin(np.arange(grid.n_features), grid.used)
    varying = grid.varying
    matrix = grid.matrix
    return {
        "features": None if used.all() else table(used),
        "scales": None if grid.scales is None else _powers(grid.scales),
        "matrix": matrix
        and {
            "nRows": len(matrix.codes),
            "codes": table(matrix.codes),
            "steps": _powers(matrix.steps),
        },
        "vectors": {
            "varying": None if varying.all() else table(varying),
            "codes": table(grid.offsets[:, varying]),
            "centres": table(grid.centres),
            "steps": _powers(grid.steps),
        },
        "coefficients": {"codes": table(form.coefficients), "scales": _powers(form.scales)},
        "intercepts": {"unit": form.intercept_unit, "codes": table(form.intercepts)},
    }


def table(integers: NDArray[Any]) -> dict[str, Any]:
    """Integers in as few bits as tell them apart, one behind the other without gaps.

    The first begins at the lowest bit of the first byte. If all are the same there are no bits.

    Examples
    --------
    >>> table(np.array([[-1, 0], [1, 2]]))
    {'least': -1, 'bits': 2, 'text': '5A=='}
    >>> table(np.array([7, 7]))
    {'least': 7, 'bits': 0, 'text': ''}
    """
    flat = integers.ravel().astype(np.int64)
    least = int(flat.min()) if flat.size else 0
    bits = int(flat.max() - least).bit_length() if flat.size else 0
    octets = (flat - least).astype("<u4").view(np.uint8).reshape(-1, 4)
    stream = np.unpackbits(octets, axis=1, bitorder="little")[:, :bits]
    data = np.packbits(stream, bitorder="little").tobytes()
    return {"least": least, "bits": bits, "text": base64.b64encode(data).decode("ascii")}


def table_bytes(document: Any) -> int:
    """Bytes of all tables in a document, before they are texts, and of the numbers beside them.

    Examples
    --------
    >>> table_bytes({"scales": {"base": 0.5, "codes": table(np.array([0, 255]))}})
    10
    """
    if not isinstance(document, dict):
        return 8 if isinstance(document, float) else 0
    if "text" in document:
        return len(base64.b64decode(document["text"]))
    return sum(map(table_bytes, document.values()))


def _powers(powers: Powers) -> dict[str, Any]:
    return {"base": powers.base, "codes": table(powers.codes)}
