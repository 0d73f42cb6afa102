"""Kernels from their specifications, as model files hold them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from kernelet.kernels.base import Kernel
from kernelet.kernels.registry import parameter_names, registered_kernels

# Far more than anybody nests, far less than Python's own limit: a file is not to be trusted.
_MAX_DEPTH = 50


def kernel_from_specification(specification: Mapping[str, Any]) -> Kernel:
    """The kernel that a specification describes, the inverse of `Kernel.specification`.

    Parameters
    ----------
    specification : mapping
        "name", that of a registered kernel, and its parameters, all of them, as JSON values.

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
            f"Unknown kernel name {name!r}; known are {', '.join(sorted(known))}. A kernel of "
            "another package has to be registered first, by kernelet.kernels.register_kernel."
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
