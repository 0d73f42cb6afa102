"""Which functions write and read each kind of model."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, TypeVar

from kernelet import kernels
from kernelet._hooks import hooks
from kernelet.persistence.errors import ModelFileError
from kernelet.persistence.record import Record

T = TypeVar("T")


@dataclass(frozen=True)
class _Kind:
    model_class: type
    write: Callable[[Any], Record]
    read: Callable[[Record], Any]


_KINDS: dict[str, _Kind] = {}
_HELPERS: set[type] = set()
_MOVED: list[tuple[str, str]] = []


def register(
    model_class: type[T],
    write: Callable[[T], Record],
    read: Callable[[Record], T],
    helpers: Iterable[type] = (),
) -> None:
    """Let files hold a class of models, under its name.

    Parameters
    ----------
    model_class : type
    write : callable
        Turns a model into a `Record` of this kind.
    read : callable
        Turns such a record into a model. Only its types have been checked. It raises
        `ModelFileError` or ValueError.
    helpers : iterable of types, default=()
        Classes of other objects that such a model keeps; pickles hold them, but files do not.
    """
    name = model_class.__name__
    known = _KINDS.get(name)
    if known is not None and known.model_class.__module__ != model_class.__module__:
        raise ValueError(f"there is a kind of model called {name!r} already.")
    _KINDS[name] = _Kind(model_class, write, read)
    _HELPERS.update(helpers)


def moved(old: str, new: str) -> None:
    """Let pickles and skops files that name the old path of a module find its classes.

    Parameters
    ----------
    old : str
        Path of the module when the files were written; it is not imported by anything else.
    new : str
        Path of the module today, which has been imported.
    """
    # an entry here, unlike a real module, leaves the attributes of the parent package alone
    sys.modules.setdefault(old, sys.modules[new])
    _MOVED.append((old, new))


def to_record(model: object) -> Record:
    """A model as plain data.

    Models of scikit-learn become such of kernelet that predict the same.

    Raises
    ------
    TypeError
        If files cannot hold it.
    """
    if not _is_known(model):
        model = hooks.savable(model)
    if not _is_known(model):
        raise TypeError(
            f"a model file cannot hold {type(model).__name__} objects; a class of your own is made "
            "known by kernelet.learners.base.model_file.saved."
        )
    kind = _KINDS[type(model).__name__]
    return kind.write(model)


def _is_known(model: object) -> bool:
    kind = _KINDS.get(type(model).__name__)
    return kind is not None and kind.model_class is type(model)


def from_record(record: Record, wanted: type | tuple[type, ...] = object) -> Any:
    """The model that a record describes.

    Parameters
    ----------
    record : Record
    wanted : type or tuple of types, default=object
        Another kind of model is an error.
    """
    if record.kind not in _KINDS:
        hooks.register_learners()
    kind = _KINDS.get(record.kind)
    if kind is None:
        raise ModelFileError(f"the kind of model {record.kind!r} is not known")
    if not issubclass(kind.model_class, wanted):
        raise ModelFileError(f"a {record.kind} where another kind of model should be")
    return kind.read(record)


def skops_trusted() -> list[str]:
    """Names of the classes that pickled estimators of kernelet consist of.

    For users of `skops.io` instead of model files: when these classes are loaded, they only store
    what they are given.

    Returns
    -------
    list of str
        What the argument ``trusted`` of `skops.io.load` takes.

    Examples
    --------
    >>> from kernelet.persistence import skops_trusted
    >>> "kernelet.machine.machine.KernelMachine" in skops_trusted()
    True
    """
    hooks.register_learners()
    exported = [getattr(kernels, name) for name in kernels.__all__]
    # kernelet cannot vouch for a user's function
    ours = {kind for kind in exported if isinstance(kind, type)} - {kernels.CallableKernel}
    classes = ours | {kind.model_class for kind in _KINDS.values()} | _HELPERS
    names = {(kind.__module__, kind.__qualname__) for kind in classes}
    # skops knows scikit-learn's own classes
    names = {(module, name) for module, name in names if not module.startswith("sklearn.")}
    names |= {
        (old, name)
        for old, new in _MOVED
        for module, name in names
        if module == new and hasattr(sys.modules[old], name)
    }
    return sorted(f"{module}.{name}" for module, name in names)
