"""Kernels as plain data, as model files hold them, and back."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from kernelet.kernels.base import Kernel
from kernelet.kernels.registry import parameter_names, registered_kernels, require_registered

# Far more than anybody nests, far less than Python's own limit: files are not trusted.
_MAX_DEPTH = 50


def described(
    kernel: Kernel,
    array: Callable[[Any], object],
    further: Callable[[Kernel], dict[str, Any]] = lambda kernel: {},
) -> dict[str, Any]:
    """The specification of a kernel.

    ``array`` converts arrays, ``further`` adds entries for each kernel in it.
    """
    if not kernel.is_serializable:
        raise ValueError(
            f"{kernel!r} contains a Python function, which cannot be written to a file. "
            "Use a kernel of kernelet.kernels, or sums and products of them."
        )
    require_registered(kernel)

    def plain(value: object) -> object:
        if isinstance(value, Kernel):
            return described(value, array, further)
        if isinstance(value, np.ndarray):
            return array(value)
        return [plain(item) for item in value] if isinstance(value, tuple) else value

    # Every leaf is a dataclass, which the type of its base class cannot say.
    fields = dataclasses.fields(kernel)  # type: ignore[arg-type]
    parameters = {field.name: plain(getattr(kernel, field.name)) for field in fields}
    return {"name": kernel.name} | parameters | further(kernel)


def kernel_from_specification(specification: Mapping[str, Any]) -> Kernel:
    """The kernel that a specification describes, the inverse of `Kernel.specification`.

    Parameters
    ----------
    specification : mapping
        "name", the name of a registered kernel, and all its parameters as JSON values.

    Returns
    -------
    Kernel

    Raises
    ------
    ValueError
        If anything is missing, unknown or out of range.

    Examples
    --------
    >>> from kernelet.kernels import Gaussian, kernel_from_specification
    >>> Gaussian(gamma=0.5).specification()
    {'name': 'rbf', 'gamma': 0.5}
    >>> kernel_from_specification({"name": "rbf", "gamma": 0.5})
    Gaussian(gamma=0.5)
    """
    return _build(specification, depth=0)


def _build(specification: object, depth: int) -> Kernel:
    if depth > _MAX_DEPTH:
        raise ValueError(f"The kernel is nested more than {_MAX_DEPTH} levels deep.")
    if not isinstance(specification, Mapping):
        raise ValueError(f"A kernel specification must be a mapping, got {specification!r}.")
    name, known = specification.get("name"), registered_kernels()
    if not isinstance(name, str) or name not in known:
        raise ValueError(
            f"Unknown kernel name {name!r}; a kernel of another package has to be registered "
            f"first, by kernelet.kernels.register_kernel. Known are {', '.join(sorted(known))}."
        )
    expected = parameter_names(known[name])
    given = set(specification) - {"name"}
    if given != {*expected}:
        raise ValueError(
            f"The kernel {name!r} takes the parameters {sorted(expected)}, "
            f"but the specification has {sorted(map(str, given))}."
        )
    values = {key: _value(specification[key], depth + 1) for key in expected}
    kernel: Kernel = known[name](**values)
    return kernel


def _value(value: object, depth: int) -> object:
    if isinstance(value, Mapping):
        return _build(value, depth)
    if not isinstance(value, list):
        return value
    return tuple(_build(item, depth) if isinstance(item, Mapping) else item for item in value)
