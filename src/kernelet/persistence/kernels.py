"""Kernels in model files: parameters are JSON, matrices are separate arrays."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from kernelet.kernels import Kernel, kernel_from_specification
from kernelet.kernels.specification import described
from kernelet.persistence.record import Array, Record


def encode_kernel(kernel: Kernel, name: str, arrays: dict[str, Array]) -> dict[str, Any]:
    """The specification of a kernel; its matrices become arrays whose names begin with ``name``.

    Examples
    --------
    >>> from kernelet.kernels import Linear, ProjectedFeatures
    >>> arrays = {}
    >>> encode_kernel(ProjectedFeatures(Linear(), [[1.0, 2.0]]), "kernel", arrays)["matrix"]
    {'array': 'kernel.matrix'}
    >>> arrays
    {'kernel.matrix': array([[1., 2.]])}
    """

    def stored(matrix: Array) -> dict[str, str]:
        free = f"{name}.matrix"
        while free in arrays:
            free += "_"
        arrays[free] = np.array(matrix, dtype=np.float64)
        return {"array": free}

    return described(kernel, stored)


def decode_kernel(specification: dict[str, Any], record: Record) -> Kernel:
    """The inverse of `encode_kernel`; each array of a record is used for one matrix."""

    def found(name: str) -> Array:
        array = record.floats(name, 2, np.float64)
        # A kernel keeps a copy: a file could name an array a thousand times but hold it once.
        del record.arrays[name]
        return array

    return kernel_from_specification(with_arrays(specification, found))


def with_arrays(specification: Any, found: Callable[[str], Any]) -> Any:
    """A specification with the names of its arrays replaced.

    Its depth is that of JSON, bounded.
    """
    if isinstance(specification, list):
        return [with_arrays(item, found) for item in specification]
    if not isinstance(specification, dict):
        return specification
    if specification.keys() == {"array"} and isinstance(specification["array"], str):
        return found(specification["array"])
    return {key: with_arrays(value, found) for key, value in specification.items()}
