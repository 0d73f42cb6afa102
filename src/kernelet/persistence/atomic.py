"""Files that are there as a whole or not at all: the one writer of the package."""

from __future__ import annotations

import contextlib
import os
import secrets
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

# Letters of a file's name that the name of its temporary file begins with: at most four bytes each,
# they leave room for the rest within the 255 bytes that most systems allow.
NAME_SHARE = 50


def write_atomically(path: str | os.PathLike[str], content: bytes) -> None:
    """Write a file so that whoever looks finds the old content or the new one, never a part.

    Parameters
    ----------
    path : path-like
        A link is followed: what it points to is replaced.
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
    """A stream whose content takes the place of a file when the block ends without an error.

    The bytes go to a temporary file in the same folder, are brought to the disk, and take the
    name in one step. If anything fails the temporary file is removed and the old file stays; if the
    process is killed a hidden temporary file is left beside the old one.

    Parameters
    ----------
    path : path-like
        As in `write_atomically`.
    mode, **options
        As `open` takes them: "wb", or "w" with an encoding.
    """
    target = Path(os.path.realpath(path))
    if target.exists() and not target.is_file():
        # os.replace would put a regular file in the place of a device or a pipe
        raise OSError(f"{os.fspath(path)!r} is not a regular file; choose another name.")
    # eight random bytes: two writers meet in one name once in 2^64 times, and O_EXCL refuses it
    temporary = target.with_name(f".{target.name[:NAME_SHARE]}.{secrets.token_hex(8)}.tmp")
    # as open() does, the user's umask decides who may read the file, unless there is one already
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
    """Bring the new name to the disk, on systems where folders can be opened."""
    if os.name != "posix":
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
