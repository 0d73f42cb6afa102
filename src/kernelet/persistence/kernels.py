"""Kernels in model files: their parameters are JSON, their matrices arrays beside it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from kernelet.kernels import Kernel, ProjectedFeatures, kernel_from_specification
from kernelet.persistence.record import Array, Record


def encode_kernel(kernel: Kernel, name: str, arrays: dict[str, Array]) -> dict[str, Any]:
    """The specification of a kernel; its matrices become arrays whose names begin with ``name``.

    Examples
    --------
    >>> from kernelet.kernels import Linear
    >>> arrays = {}
    >>> encode_kernel(ProjectedFeatures(Linear(), [[1.0, 2.0]]), "kernel", arrays)["matrix"]
    {'array': 'kernel.matrix'}
    >>> arrays
    {'kernel.matrix': array([[1., 2.]])}
    """

    def stored(matrix: Any) -> dict[str, str]:
        free = f"{name}.matrix"
        while free in arrays:
            free += "_"
        arrays[free] = np.array(matrix, dtype=np.float64)
        return {"array": free}

    coded: dict[str, Any] = with_matrices(kernel.specification(), stored)
    return coded


def decode_kernel(specification: dict[str, Any], record: Record) -> Kernel:
    """The inverse of `encode_kernel`; the arrays of a record go to one matrix each."""

    def found(matrix: Any) -> Any:
        if not isinstance(matrix, dict) or not isinstance(matrix.get("array"), str):
            return matrix  # numbers, as JSON files have it, or what is refused below
        array = record.floats(matrix["array"], 2, np.float64)
        # A kernel keeps a copy: a file that names an array a thousand times has it once.
        del record.arrays[matrix["array"]]
        return array

    return kernel_from_specification(with_matrices(specification, found))


def with_matrices(specification: Any, change: Callable[[Any], Any]) -> Any:
    """A specification of which all matrices are changed; its depth is that of JSON, bounded."""
    if isinstance(specification, list):
        return [with_matrices(item, change) for item in specification]
    if not isinstance(specification, dict):
        return specification
    has_matrix = specification.get("name") == ProjectedFeatures.name
    return {
        key: change(value) if has_matrix and key == "matrix" else with_matrices(value, change)
        for key, value in specification.items()
    }
