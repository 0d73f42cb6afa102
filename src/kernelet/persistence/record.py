"""A model as plain data: what lies between objects and files."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from kernelet.persistence.errors import ModelFileError

Array = NDArray[Any]
T = TypeVar("T")

_JSON_NAMES = {
    bool: "true or false",
    int: "an integer",
    float: "a number",
    str: "text",
    list: "a list",
    dict: "an object",
}


@dataclass
class Record:
    """A kind of model with its JSON values, its arrays and the models inside it.

    The methods are for readers: a missing value, or one of the wrong type, raises a
    `ModelFileError` that names it.

    Attributes
    ----------
    kind : str
        The name under which the reader is registered.
    fields : dict
        Values that JSON can hold.
    arrays : dict of str to ndarray
    parts : dict of str to Record
    version : int, default=1
        The first version of the format whose readers understand it, not counting models inside it.
    """

    kind: str
    fields: dict[str, Any] = field(default_factory=dict)
    arrays: dict[str, Array] = field(default_factory=dict)
    parts: dict[str, Record] = field(default_factory=dict)
    version: int = 1

    def value(self, name: str, kind: type[T]) -> T:
        """A field of the given type; integers are numbers too, and no number is NaN or infinite."""
        return checked(self._find("value", self.fields, name), kind, f"{name!r} of {self.kind}")

    def optional(self, name: str, kind: type[T]) -> T | None:
        """A field of the given type, or None if it is null or missing."""
        return None if self.fields.get(name) is None else self.value(name, kind)

    def texts(self, name: str) -> list[str]:
        """A field that is a list of texts."""
        return [checked(item, str, f"an item of {name!r}") for item in self.value(name, list)]

    def part(self, name: str) -> Record:
        """A model inside this one."""
        return self._find("part", self.parts, name)

    def floats(self, name: str, ndim: int, dtype: type[np.floating[Any]] | None = None) -> Array:
        """An array of finite floats: of the given type, or float32 or float64."""
        array = self._find("array", self.arrays, name)
        allowed = (np.float32, np.float64) if dtype is None else (dtype,)
        if array.dtype not in [np.dtype(kind) for kind in allowed] or array.ndim != ndim:
            types = " or ".join(kind.__name__ for kind in allowed)
            raise ModelFileError(
                f"the array {name!r} of {self.kind} must hold {ndim} dimensions of {types}, "
                f"not {array.ndim} of {array.dtype}"
            )
        if not np.isfinite(array).all():
            raise ModelFileError(f"the array {name!r} of {self.kind} holds NaN or infinity")
        return array

    def _find(self, what: str, where: dict[str, T], name: str) -> T:
        if name not in where:
            raise ModelFileError(f"the {what} {name!r} of {self.kind} is missing")
        return where[name]


def checked(value: object, kind: type[T], what: str) -> T:
    """The value, if it has the given JSON type."""
    if kind is float and type(value) is int and abs(value) < 2**53:
        value = float(value)
    if type(value) is not kind or (isinstance(value, float) and not math.isfinite(value)):
        raise ModelFileError(f"{what} must be {_JSON_NAMES[kind]}")
    return value
