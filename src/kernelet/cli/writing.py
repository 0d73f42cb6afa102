"""Results reach a file as a whole or not at all."""

from __future__ import annotations

import contextlib
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
    with writing_errors(path), contextlib.suppress(FileNotFoundError, NotADirectoryError):
        os.lstat(path)  # what the system has against the name itself, such as its length
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
def printing() -> Iterator[None]:
    """The same of stdout, which a shell may have sent to a full disk; a reader may leave."""
    if sys.stdout is None:
        raise OutputError("stdout is closed; send it to a file, or to /dev/null")
    try:
        yield
    except BrokenPipeError:
        raise
    except OSError as error:
        raise OutputError(
            f"stdout cannot be written: {error.strerror or one_line(error)}; send it elsewhere"
        ) from error


def end_stdout() -> None:
    """Bring what was printed to its reader; after a failure, forget what is left of it.

    What a failed stream still holds the interpreter would try to write once more at its exit.
    """
    try:
        with printing():
            sys.stdout.flush()
    except (OutputError, BrokenPipeError):
        if sys.stdout is not None:
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise


@contextmanager
def replaced_file(path: str) -> Iterator[IO[str]]:
    """A text file that takes the place of ``path`` when the block ends well.

    Whatever happens before that, ``path`` is as it was, and no file is left beside it.
    """
    from kernelet.persistence.atomic import NAME_SHARE  # with NumPy, which --help can do without

    check_output(path)
    with writing_errors(path):
        target = Path(os.path.realpath(path))  # a link stays one
        if target.exists() and not target.is_file():  # /dev/stdout, a pipe: nothing to replace
            with open(target, "w", encoding="utf-8", newline="") as stream:
                yield stream
            return
        prefix = f".{target.name[:NAME_SHARE]}."
        descriptor, name = tempfile.mkstemp(dir=target.parent, prefix=prefix)
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
        with printing():
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
