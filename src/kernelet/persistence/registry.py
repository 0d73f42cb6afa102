"""Who writes and reads which kind of model."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

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


def register(
    model_class: type[T], write: Callable[[T], Record], read: Callable[[Record], T]
) -> None:
    """Let files hold a class of models, under its name.

    Parameters
    ----------
    model_class : type
    write : callable
        Takes a model to a `Record` of this kind.
    read : callable
        Takes such a record, of which nothing is certain but its types, to a model. It raises
        `ModelFileError` or ValueError.
    """
    name = model_class.__name__
    known = _KINDS.get(name)
    if known is not None and known.model_class.__module__ != model_class.__module__:
        raise ValueError(f"there is a kind of model called {name!r} already.")
    _KINDS[name] = _Kind(model_class, write, read)


def to_record(model: object) -> Record:
    """A model as plain data.

    Raises
    ------
    TypeError
        If its class is not registered.
    """
    kind = _KINDS.get(type(model).__name__)
    if kind is None or kind.model_class is not type(model):
        raise TypeError(
            f"a model file cannot hold {type(model).__name__} objects; it holds machines, and "
            "estimators of kernelet. Give scikit-learn's models to kernelet.compress first."
        )
    return kind.write(model)


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
