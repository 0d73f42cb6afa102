"""Files that are written as a whole or not at all: the one writer of the package."""

from __future__ import annotations

import contextlib
import errno
import os
import secrets
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

# The name of a temporary file begins with this many letters of the file's name. At most four bytes
# each, they leave room for the rest within the 255 bytes that most systems allow.
NAME_SHARE = 50


def write_atomically(path: str | os.PathLike[str], content: bytes) -> None:
    """Write a file so that a reader finds the old content or the new one, never a part.

    Parameters
    ----------
    path : path-like
        A link is followed: its target is replaced.
    content : bytes

    Raises
    ------
    OSError
        If the folder does not exist, the disk is full, or ``path`` is not a regular file.
    """
    with replacing(path) as stream:
        stream.write(content)


@contextlib.contextmanager
def replacing(path: str | os.PathLike[str], mode: str = "wb", **options: Any) -> Iterator[IO[Any]]:
    """A stream whose content replaces a file when the block ends without an error.

    The bytes go to a temporary file in the same folder, which is flushed to disk and then renamed
    in one step. If anything fails the temporary file is removed and the old file stays; if the
    process is killed a hidden temporary file is left next to the old one.

    Parameters
    ----------
    path : path-like
        As in `write_atomically`.
    mode, **options
        As in `open`: "wb", or "w" with an encoding.
    """
    target = Path(os.path.realpath(path))
    if target.exists() and not target.is_file():
        # os.replace would replace a device or a pipe by a regular file
        raise OSError(f"{os.fspath(path)!r} is not a regular file; choose another name.")
    if not target.parent.exists():  # otherwise the error would name the temporary file
        folder = os.fspath(target.parent)
        raise FileNotFoundError(errno.ENOENT, "there is no such folder to write in", folder)
    # eight random bytes: two writers choose the same name once in 2^64 times, which O_EXCL refuses
    temporary = target.with_name(f".{target.name[:NAME_SHARE]}.{secrets.token_hex(8)}.tmp")
    # as with open(), the umask decides who may read the file, unless it exists already
    descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666)
    try:
        with open(descriptor, mode, **options) as stream:
            yield stream
            stream.flush()
            os.fsync(stream.fileno())
        if target.exists():
            os.chmod(temporary, stat.S_IMODE(target.stat().st_mode))
        os.replace(temporary, target)
    except BaseException:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(temporary)
        raise
    _flush_folder(target.parent)


def _flush_folder(folder: Path) -> None:
    """Flush the new name to disk, on systems where folders can be opened."""
    if os.name != "posix":
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
