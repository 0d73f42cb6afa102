"""Results reach a file as a whole or not at all."""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from kernelet.cli.errors import OutputError, one_line


def check_output(path: str | None, is_model: bool = False) -> None:
    """Refuse an output that cannot be written, before any work is done for it."""
    if path is None:
        return
    target = Path(path)
    folder = target.parent
    if target.is_dir():
        raise OutputError(f"{path} is a folder; name a file in it")
    if is_model and target.exists() and not target.is_file():
        raise OutputError(f"{path} is not a regular file, which a model must be")
    if not folder.exists():
        raise OutputError(f"the folder {folder} does not exist; make it, or choose another")
    if not folder.is_dir():
        raise OutputError(f"{folder} is a file, not a folder; choose another output")
    if not os.access(folder, os.W_OK | os.X_OK):
        raise OutputError(f"nothing can be written in the folder {folder}; choose another")
    if target.exists() and not os.access(target, os.W_OK):
        raise OutputError(f"{path} is write-protected; choose another output")


@contextmanager
def writing_errors(path: str) -> Iterator[None]:
    """What the system says of an output, as a line with the name of the file."""
    try:
        yield
    except BrokenPipeError:
        raise
    except OSError as error:
        reason = error.strerror or one_line(error).rstrip(".")
        raise OutputError(
            f"{path} cannot be written: {reason}; nothing was changed there"
        ) from error


@contextmanager
def replaced_file(path: str) -> Iterator[IO[str]]:
    """A text file that takes the place of ``path`` when the block ends well.

    Whatever happens before that, ``path`` is as it was, and no file is left beside it.
    """
    check_output(path)
    with writing_errors(path):
        target = Path(os.path.realpath(path))  # a link stays one
        if target.exists() and not target.is_file():  # /dev/stdout, a pipe: nothing to replace
            with open(target, "w", encoding="utf-8", newline="") as stream:
                yield stream
            return
        descriptor, name = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.")
        try:
            with os.fdopen(descriptor, "w", encoding="utf-8", newline="") as stream:
                yield stream
                stream.flush()
                os.fsync(stream.fileno())
            os.chmod(name, _mode(target))
            os.replace(name, target)
        except BaseException:
            os.unlink(name)
            raise


@contextmanager
def output_text(path: str | None) -> Iterator[IO[str]]:
    """The file at ``path``, replaced as a whole; stdout where there is no path or it is "-"."""
    if path is None or path == "-":
        yield sys.stdout
    else:
        with replaced_file(path) as stream:
            yield stream


def _mode(target: Path) -> int:
    """Permissions of the file that is replaced, or those a new file would have."""
    if target.exists():
        return target.stat().st_mode & 0o777
    mask = os.umask(0)
    os.umask(mask)
    return 0o666 & ~mask
