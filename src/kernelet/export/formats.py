"""The formats that have a name: `kernelet export --to NAME` goes by it."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any, Protocol, TypeVar, runtime_checkable

Exporter = TypeVar("Exporter", bound=Callable[..., Any])

# Names stand on command lines and in messages, where nothing has to be escaped then.
_NAME = re.compile(r"[a-z][a-z0-9_]{0,63}")
# A path's ending as `pathlib` splits it off, in small letters: ".C" finds ".c".
_ENDING = re.compile(r"\.[a-z0-9_]{1,63}")
# TypeScript's have two parts, as in ".d.mts".
_HEADER = re.compile(r"(\.[a-z0-9_]{1,63}){1,2}")
# The command line names its output after the model, which must not be overwritten.
_MODEL_ENDING = ".kernelet"


@runtime_checkable
class MemoryUse(Protocol):
    """What an exporter may return where it knows the memory that a model takes."""

    @property
    def flash_bytes(self) -> int:
        """Size of the tables."""
        ...

    @property
    def ram_bytes(self) -> int:
        """Use of the stack."""
        ...


@dataclass(frozen=True)
class Format:
    """Where a model can go.

    Attributes
    ----------
    name : str
        That of the exporter, which is what ``--to`` takes.
    write : callable
        The exporter, called as ``write(model, path)`` or ``write(model, path, dtype=...)``.
    endings : tuple of str
        Of file names; the first is the default.
    dtypes : tuple of str
        What numbers can be stored in, if there is a choice.
    dtype : str or None
        The default; None is the model's own.
    headers : tuple of str
        Endings of a second file that has the name of the first, one for each of the endings; none
        where there is no such file.
    """

    name: str
    write: Callable[..., Any]
    endings: tuple[str, ...]
    dtypes: tuple[str, ...] = ()
    dtype: str | None = None
    headers: tuple[str, ...] = ()

    @property
    def header(self) -> str | None:
        """Ending of the second file by default, if there is one."""
        return self.headers[0] if self.headers else None

    def header_path(self, path: Path) -> Path | None:
        """Where the second file goes, if the first has one of the endings."""
        for ending, header in zip(self.endings, self.headers, strict=False):
            if path.suffix == ending:
                return path.with_suffix(header)
        return None


_REGISTERED: dict[str, Format] = {}


def register_format(
    *, endings: Sequence[str], dtypes: Sequence[str] = (), header: str | Sequence[str] | None = None
) -> Callable[[Exporter], Exporter]:
    """Make an exporter known by the name of its function, a decorator.

    From then on ``kernelet export --to name`` calls it, and so does ``-o file.ending``. The
    function takes a fitted model and a path, and ``dtype`` as a keyword with a default if there are
    ``dtypes``. It gets the machine, the labels and how outputs are read from
    ``kernelet.export.model.exported_model``, and raises TypeError or ValueError for a model that
    the format cannot hold, before it writes anything.

    Parameters
    ----------
    endings : sequence of str
        Endings of file names, such as ".c", the default first.
    dtypes : sequence of str, default=()
        What ``dtype`` may be, besides its default.
    header : str, sequence of str or None, default=None
        Ending of a second file that is written beside the first; a sequence has one for each of
        the endings.

    Returns
    -------
    callable
        A decorator, which returns the function itself.

    Raises
    ------
    ValueError
        If the function cannot be registered, or another one has its name or an ending.

    Examples
    --------
    >>> import os, tempfile
    >>> import kernelet
    >>> from kernelet.cli import main
    >>> from kernelet.export import register_format
    >>> from kernelet.export.model import exported_model
    >>> from kernelet.persistence.atomic import write_atomically
    >>> @register_format(endings=[".size"])
    ... def size(model, path):
    ...     write_atomically(path, f"{exported_model(model).machine.nbytes} bytes".encode())
    >>> machine = kernelet.KernelMachine(kernelet.kernels.Linear(), [[1.0], [2.0]], [1.0, -1.0])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = os.path.join(folder, "machine")
    ...     kernelet.save(machine, f"{path}.kernelet")
    ...     words = ["export", f"{path}.kernelet", "-o", f"{path}.size", "--quiet"]
    ...     main(words), open(f"{path}.size").read()
    (0, '40 bytes')
    """

    def decorate(exporter: Exporter) -> Exporter:
        headers = [header] * len(endings) if isinstance(header, str) else header or ()
        form = _checked(exporter, tuple(endings), tuple(dtypes), tuple(headers))
        _REGISTERED[form.name] = form
        return exporter

    return decorate


def _checked(
    exporter: Any,
    endings: tuple[str, ...],
    dtypes: tuple[str, ...],
    headers: tuple[str, ...],
) -> Format:
    name = getattr(exporter, "__name__", None)
    if not callable(exporter) or not isinstance(name, str) or not _NAME.fullmatch(name):
        raise ValueError(
            "an exporter must be a function whose name is made of small letters, digits and "
            f"underscores and begins with a letter; got {exporter!r}."
        )
    default = _default_dtype(exporter, name, dtypes)
    given: tuple[object, ...] = (*endings, *headers)
    for ending in given:
        pattern = _ENDING if ending in endings else _HEADER
        if not isinstance(ending, str) or not pattern.fullmatch(ending) or ending == _MODEL_ENDING:
            raise ValueError(
                f"an ending of {name} must be a point with small letters, digits and underscores "
                f"behind it, and not {_MODEL_ENDING}; got {ending!r}."
            )
    if not endings or {*headers} & {*endings} or len(headers) not in (0, len(endings)):
        raise ValueError(f"{name} needs an ending of file names, and another one for a header.")
    for known in _REGISTERED.values():
        # a cell of a notebook that runs again makes its function again
        if known.name == name and _origin(known.write) == _origin(exporter):
            continue
        if known.name == name:
            raise ValueError(
                f"a format called {name!r} is registered already, {_origin(known.write)}; give "
                "yours another name."
            )
        taken = sorted({*endings} & {*known.endings})
        if taken:
            raise ValueError(
                f"the ending {taken[0]!r} is that of the format {known.name!r} already."
            )
    return Format(name, exporter, endings, dtypes, default, headers)


def _default_dtype(exporter: Callable[..., Any], name: str, dtypes: tuple[str, ...]) -> str | None:
    parameters = inspect.signature(exporter).parameters
    if not dtypes and "dtype" not in parameters:
        return None
    if "dtype" not in parameters or not dtypes:
        raise ValueError(f"{name} must have dtypes and a parameter called dtype, or neither.")
    default: str | None = parameters["dtype"].default
    if default is not None and default not in dtypes:
        raise ValueError(
            f"dtype of {name} must have a default: None or one of {', '.join(dtypes)}."
        )
    return default


def _origin(exporter: Callable[..., Any]) -> str:
    return f"{exporter.__module__}.{exporter.__qualname__}"


def registered_formats() -> Mapping[str, Format]:
    """The formats by their names, a view that follows what is registered later.

    Examples
    --------
    >>> import kernelet.export
    >>> registered_formats()["c"].header
    '.h'
    """
    return MappingProxyType(_REGISTERED)
