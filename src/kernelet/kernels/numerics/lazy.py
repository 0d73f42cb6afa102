"""Attributes that are computed when they are first asked for."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Generic, TypeVar, overload

T = TypeVar("T")


class lazy(Generic[T]):
    """`functools.cached_property` without its lock.

    Before Python 3.12 that holds a lock while it computes: a process that is forked meanwhile would
    wait for it forever. Without one, two threads may compute the same value, and one is kept.

    Examples
    --------
    >>> class Circle:
    ...     @lazy
    ...     def area(self):
    ...         print("computed")
    ...         return 3.14
    >>> circle = Circle()
    >>> circle.area, circle.area
    computed
    (3.14, 3.14)
    """

    def __init__(self, function: Callable[[Any], T]) -> None:
        self._function = function
        self.__doc__ = function.__doc__

    @overload
    def __get__(self, instance: None, owner: type) -> lazy[T]: ...

    @overload
    def __get__(self, instance: object, owner: type) -> T: ...

    def __get__(self, instance: object | None, owner: type) -> lazy[T] | T:
        if instance is None:
            return self
        value = self._function(instance)
        # found there before this descriptor the next time; frozen dataclasses allow it
        instance.__dict__[self._function.__name__] = value
        return value
