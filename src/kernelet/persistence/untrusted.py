"""Untrusted files and texts: checked before they are read."""

from __future__ import annotations

import errno
import json
import os
import stat
from typing import Any, BinaryIO, NoReturn

from kernelet.persistence.errors import ModelFileError, one_line


def opened(path: str | os.PathLike[str]) -> BinaryIO:
    """A regular file, open to be read.

    Raises
    ------
    ModelFileError
        If it is anything else: a pipe may never end, nor does /dev/zero.
    OSError
        If there is no such file, or it cannot be opened.
    """
    # Opened first and checked then, as the name may refer to another file a moment later.
    try:
        stream = open(path, "rb", opener=_without_waiting)  # noqa: SIM115 (callers close it)
    except OSError as error:
        if os.path.isdir(path):
            raise ModelFileError("a folder") from None
        if error.errno == errno.ENXIO:  # a socket
            raise ModelFileError("not a regular file") from None
        raise
    if not stat.S_ISREG(os.fstat(stream.fileno()).st_mode):
        stream.close()
        raise ModelFileError("not a regular file")
    return stream


def _without_waiting(path: str, flags: int) -> int:
    """A descriptor, without waiting for the writer of a pipe; Windows has no such pipes."""
    return os.open(path, flags | getattr(os, "O_NONBLOCK", 0))


def size_of(stream: BinaryIO) -> int:
    """Bytes of an open file, of which there must be some."""
    n_bytes = os.fstat(stream.fileno()).st_size
    if n_bytes == 0:
        raise ModelFileError("the file is empty")
    return n_bytes


def read_exactly(stream: BinaryIO, n_bytes: int) -> bytes:
    """The rest of a file, which must still have the size that was checked."""
    data = stream.read(n_bytes)
    if len(data) != n_bytes or stream.read(1):
        raise ModelFileError("the file changed while it was read")
    return data


def strict_json(text: str, complaint: str) -> object:
    """Parse JSON without NaN and without duplicate keys.

    Raises
    ------
    ModelFileError
        If it is not; the message begins with the complaint.
    """
    try:
        value: object = json.loads(text, parse_constant=_refuse, object_pairs_hook=_without_twins)
    except (ValueError, RecursionError) as error:
        raise ModelFileError(f"{complaint}: {one_line(error)}") from None
    return value


def _refuse(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is not JSON")


def _without_twins(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Refuse duplicate keys, since readers differ in which of the two they use."""
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a key appears twice")
    return found
