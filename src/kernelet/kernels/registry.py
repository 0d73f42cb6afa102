"""Kernels by name, as model files, exports, estimators and the command line use them."""

from __future__ import annotations

import dataclasses
import inspect
import re
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, TypeVar

from kernelet.kernels.base import Kernel

T = TypeVar("T", bound=type[Kernel])

_REGISTERED: dict[str, type[Any]] = {}
#: Names that `kernel="..."` takes as well.
ALIASES: Mapping[str, str] = MappingProxyType({"polynomial": "poly"})
# Names are written to files, messages and generated code; such names need no escapes there. None of
# ours is half as long as the limit.
_NAME = re.compile(r"[a-z][a-z0-9_]{0,63}")
# Estimators use "callable" and "precomputed" for something else.
_TAKEN = frozenset({*ALIASES, "callable", "precomputed"})
# Parameters are keys in generated code, next to the name of a kernel and, in JSON, its formula.
_PARAMETER = re.compile(r"(?!(?:name|formula)$)[A-Za-z][A-Za-z0-9_]{0,63}")


def register_kernel(kernel_class: T) -> T:
    """Register a class of kernels under its name; a decorator.

    From then on ``kernel="name"`` of the estimators and ``--kernel name`` of the command line make
    such kernels, and model files and JSON that name it can be read. Files only name a kernel, and
    reading them imports nothing: register it first.

    Parameters
    ----------
    kernel_class : type
        A frozen dataclass, usually a subclass of `RadialKernel` or `DotKernel`, whose ``name`` is
        made of small letters, digits and underscores. Parameters called ``gamma``, ``degree`` and
        ``coef0`` are set by those of the estimators; any other should have a default.

    Returns
    -------
    type
        The class itself.

    Raises
    ------
    ValueError
        If the class cannot be registered, or another class has its name.

    Examples
    --------
    >>> from dataclasses import dataclass
    >>> from kernelet.kernels import RadialKernel, kernel_from_specification, register_kernel
    >>> @register_kernel
    ... @dataclass(frozen=True)
    ... class Cauchy(RadialKernel):
    ...     gamma: float = 1.0
    ...     name = "cauchy"
    ...
    ...     def formula(self, t):
    ...         return 1.0 / (1.0 + t)
    >>> kernel_from_specification({"name": "cauchy", "gamma": 0.5})([[0.0]], [[2.0]])
    array([[0.33333333]])
    """
    name = _checked_name(kernel_class)
    known = _REGISTERED.get(name, kernel_class)
    # running a notebook cell again defines its class again
    if (known.__module__, known.__qualname__) != (
        kernel_class.__module__,
        kernel_class.__qualname__,
    ):
        raise ValueError(
            f"a kernel called {name!r} is registered already, "
            f"{known.__module__}.{known.__qualname__}; give yours another name."
        )
    _REGISTERED[name] = kernel_class
    return kernel_class


def _checked_name(kernel_class: object) -> str:
    if not isinstance(kernel_class, type) or not issubclass(kernel_class, Kernel):
        raise ValueError(f"only classes of kernels can be registered, got {kernel_class!r}.")
    shown = kernel_class.__qualname__
    if inspect.isabstract(kernel_class):
        missing = ", ".join(sorted(kernel_class.__abstractmethods__))
        raise ValueError(f"{shown} cannot be registered: it lacks {missing}.")
    # of the class itself: a decorator below the dataclass would see the fields of its base
    parameters = kernel_class.__dict__.get("__dataclass_params__")
    if parameters is None or not parameters.frozen:
        raise ValueError(
            f"{shown} cannot be registered: it must be a frozen dataclass, with "
            "@register_kernel above @dataclass(frozen=True)."
        )
    name = kernel_class.name
    if not isinstance(name, str) or not _NAME.fullmatch(name) or name in _TAKEN:
        raise ValueError(
            f"the name of {shown} must be made of small letters, digits and underscores, begin "
            f"with a letter and be none of {', '.join(sorted(_TAKEN))}; got {name!r}."
        )
    for parameter in parameter_names(kernel_class):
        if not _PARAMETER.fullmatch(parameter):
            raise ValueError(
                f"{shown} cannot be registered: no parameter may be called {parameter!r}."
            )
    return name


def registered_kernels() -> Mapping[str, type[Any]]:
    """The classes by their names, a view that follows what is registered later.

    Examples
    --------
    >>> import kernelet.kernels
    >>> registered_kernels()["rbf"]
    <class 'kernelet.kernels.radial.Gaussian'>
    """
    return MappingProxyType(_REGISTERED)


def parameter_names(kernel_class: type[Any]) -> list[str]:
    """The parameters of a class of kernels, in its order."""
    return [field.name for field in dataclasses.fields(kernel_class)]


def names_to_choose(given: frozenset[str]) -> list[str]:
    """Names of the kernels that need no other parameters than the given ones."""
    return sorted(
        name
        for name, kernel_class in _REGISTERED.items()
        if all(
            field.name in given or field.default is not dataclasses.MISSING
            for field in dataclasses.fields(kernel_class)
        )
    )


def require_registered(kernel: Kernel) -> None:
    """Refuse to write the name of a kernel that nobody could read."""
    if _REGISTERED.get(kernel.name) is not type(kernel):
        raise ValueError(
            f"{kernel!r} cannot be written to a file, as its class is not registered; decorate "
            f"{type(kernel).__qualname__} with kernelet.kernels.register_kernel."
        )
