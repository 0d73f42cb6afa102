"""Where results go: files, which are replaced as a whole or not at all, and stdout."""

from __future__ import annotations

import argparse
import contextlib
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import IO

from kernelet.cli.errors import Check, OutputError, UsageError, one_line


def check_output(path: str | None, is_model: bool = False) -> None:
    """Refuse an output that cannot be written, before any work is done for it."""
    if path is None:
        return
    with writing_errors(path), contextlib.suppress(FileNotFoundError, NotADirectoryError):
        os.lstat(path)  # fails if the system refuses the name itself, for its length for example
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


# Arguments that name files to read, and files to write.
_INPUTS = {"table": "table", "model": "model", "test": "table for --test"}
_OUTPUTS = ("output", "csv", "png")


def overwriting_checks(arguments: argparse.Namespace) -> list[Check]:
    """Whether an output is a file that is read, and would be lost.

    A model may take the place of that which it was made of: `kernelet compress`.
    """
    return [
        ((output, given), partial(_check_overwriting, arguments, output, given))
        for output in _OUTPUTS
        for given in _INPUTS
        if not (arguments.command == "compress" and given == "model")
    ]


def _check_overwriting(arguments: argparse.Namespace, output: str, given: str) -> None:
    path, read = getattr(arguments, output, None), getattr(arguments, given, None)
    if path is None or read is None or not os.path.isfile(path) or not os.path.isfile(read):
        return
    if os.path.samefile(path, read):
        raise UsageError(
            f"{path} is the {_INPUTS[given]}, which would be lost; choose another file"
        )


@contextmanager
def writing_errors(path: str, advice: str = "nothing was changed there") -> Iterator[None]:
    """Turn what the system says about an output into one line that names it."""
    try:
        yield
    except BrokenPipeError:  # the reader has left, which `main` understands
        raise
    except OSError as error:
        reason = error.strerror or one_line(error).rstrip(".")
        raise OutputError(f"{path} cannot be written: {reason}; {advice}") from error


@contextmanager
def printing() -> Iterator[None]:
    """Turn errors of stdout, which a shell may have sent to a full disk, into one line."""
    if sys.stdout is None:
        raise OutputError("stdout is closed; send it to a file, or to /dev/null")
    with writing_errors("stdout", "send it elsewhere"):
        yield


def end_stdout() -> None:
    """Flush stdout; after a failure, drop what is left in it.

    Otherwise the interpreter would try to write it once more at its exit.
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
    """A text file that takes the place of ``path`` when the block ends without an error."""
    from kernelet.persistence.atomic import replacing  # with NumPy, which --help can do without

    check_output(path)
    is_special = os.path.exists(path) and not os.path.isfile(path)  # /dev/stdout, a pipe
    opened = open if is_special else replacing
    with writing_errors(path), opened(path, "w", encoding="utf-8", newline="") as stream:
        yield stream


@contextmanager
def output_text(path: str | None) -> Iterator[IO[str]]:
    """The file at ``path``, replaced as a whole; stdout where there is no path or it is "-"."""
    with printing() if path in (None, "-") else replaced_file(str(path)) as stream:
        yield stream or sys.stdout


def free_name(stem: str, ending: str) -> str:
    """A name that no file has: the stem with the ending, and a number between them if need be."""
    name, number = f"{stem}{ending}", 1
    while os.path.lexists(name):
        number += 1
        name = f"{stem}-{number}{ending}"
    return name
