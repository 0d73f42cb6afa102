"""Where a table comes from: the file, its format, and the options that go with it."""

from __future__ import annotations

import argparse
import csv
import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kernelet.cli.errors import CommandError, DataError, one_line

# Ending of a file's name -> format.
ENDINGS = {
    ".csv": "csv",
    ".tsv": "tsv",
    ".tab": "tsv",
    ".parquet": "parquet",
    ".pq": "parquet",
    ".npz": "npz",
    ".libsvm": "libsvm",
    ".svm": "libsvm",
    ".svmlight": "libsvm",
}
FORMATS = ("csv", "tsv", "parquet", "npz", "libsvm")
COMPRESSIONS = (".gz", ".bz2", ".xz")
STDIN = "-"


def add_table_options(parser: argparse.ArgumentParser) -> None:
    """Options that say how a table is read."""
    group = parser.add_argument_group("reading the table")
    group.add_argument(
        "--format",
        choices=FORMATS,
        help="what kind of file it is (default: by the ending of its name)",
    )
    group.add_argument(
        "--separator",
        metavar="CHAR",
        help="between the cells of a line (default: comma, semicolon or tab, by the first line)",
    )
    group.add_argument(
        "--no-header",
        action="store_true",
        help="the first line holds values, not names; the columns are then called 1, 2, 3 ...",
    )
    group.add_argument("--encoding", default="utf-8", help="of a text file (default: utf-8)")
    group.add_argument(
        "--missing",
        metavar="TEXT",
        action="append",
        default=[],
        help='a text that stands for a missing value, such as "?"; empty cells and NA do anyway',
    )
    group.add_argument(
        "--matrix",
        metavar="NAME",
        help="the array of an npz file that holds the rows "
        "(default: X, or X_train for the target y_train)",
    )


@dataclass(frozen=True)
class Source:
    """A table's file and how to read it."""

    path: str
    format: str
    separator: str | None = None
    has_header: bool = True
    encoding: str = "utf-8"
    missing: tuple[str, ...] = ()
    matrix: str | None = None

    @classmethod
    def from_arguments(cls, path: str, arguments: argparse.Namespace) -> Source:
        """As the command line has it; the file must be there."""
        format = arguments.format or format_of(path)
        if path != STDIN:
            check_file(path)
        elif format not in ("csv", "tsv"):
            raise DataError(f"from stdin only csv and tsv can be read, not {format}")
        return cls(
            path,
            format,
            "\t" if format == "tsv" and not arguments.separator else arguments.separator,
            not arguments.no_header,
            arguments.encoding,
            tuple(arguments.missing),
            arguments.matrix,
        )

    @property
    def name(self) -> str:
        """The file for messages."""
        return "stdin" if self.path == STDIN else self.path

    @property
    def is_regular(self) -> bool:
        """Whether it is a file on a disk, which can be read again: pipes and devices cannot."""
        return self.path != STDIN and Path(self.path).is_file()

    @property
    def n_bytes(self) -> int | None:
        """Size of the file, where it can be known and is what a reader goes through."""
        if not self.is_regular or Path(self.path).suffix.lower() in COMPRESSIONS:
            return None
        return Path(self.path).stat().st_size


def format_of(path: str) -> str:
    """The format that the ending of a name stands for; compressed files by what is inside.

    Examples
    --------
    >>> format_of("iris.csv"), format_of("a9a.t.svm"), format_of("big.tsv.gz")
    ('csv', 'libsvm', 'tsv')
    """
    if path == STDIN:
        return "csv"
    endings = [ending.lower() for ending in Path(path).suffixes]
    if endings and endings[-1] in COMPRESSIONS:
        endings.pop()
    if endings and endings[-1] in ENDINGS:
        return ENDINGS[endings[-1]]
    check_file(path)
    raise DataError(
        f"{path}: the kind of table is not clear from the ending of the name; "
        f"say --format {', '.join(FORMATS[:-1])} or {FORMATS[-1]}"
    )


def check_file(path: str) -> None:
    """Refuse a file that is not there, with the near one if there is one."""
    # os.path answers where Path raises an error, as for a name that is too long
    if os.path.isdir(path):
        raise DataError(f"{path} is a folder; name a file in it")
    if not os.path.exists(path):
        raise DataError(missing_file(path))


def missing_file(path: str, is_model: bool = False) -> str:
    """The sentence about a file that is not there, with the near table or model if there is one."""
    from kernelet.cli.errors import nearest

    folder = Path(path).parent
    if not os.path.isdir(folder):
        return f"{path} does not exist, nor does the folder {folder}"
    try:
        names = [entry.name for entry in folder.iterdir()]
        near = nearest(Path(path).name, [name for name in names if is_model != _is_table(name)])
    except OSError:  # a folder that may be entered but not listed has no near names
        near = None
    hint = f"; do you mean {folder / near}?" if near else "; is the name right?"
    return f"{path} does not exist{hint}"


def _is_table(name: str) -> bool:
    return any(ending in ENDINGS for ending in Path(name).suffixes)


@contextmanager
def reading_errors(source: Source, kind: str) -> Iterator[None]:
    """Everything that a reader may raise, as one line about the file."""
    try:
        yield
    except (CommandError, MemoryError):
        raise
    except UnicodeError as error:
        raise DataError(
            f"{source.name} is not text in {source.encoding}; "
            "say another --encoding, such as latin-1, or --format if it is no text file"
        ) from error
    except LookupError as error:
        if "encoding" not in str(error):
            raise DataError(_unreadable(source, kind, error)) from error
        raise DataError(f"--encoding {source.encoding} is not known; try utf-8") from error
    except PermissionError as error:
        raise DataError(f"{source.name} may not be read: permission denied") from error
    except OSError as error:
        if error.errno == errno.ENOENT:
            raise DataError(missing_file(source.path)) from error
        raise DataError(_unreadable(source, kind, error)) from error
    except ImportError as error:
        raise DataError(f"{source.name}: {one_line(error)}") from error
    except (ValueError, EOFError, KeyError, TypeError, csv.Error) as error:
        raise DataError(_unreadable(source, kind, error)) from error


def _unreadable(source: Source, kind: str, error: BaseException) -> str:
    return f"{source.name} cannot be read as {kind}: {one_line(error).rstrip('.')}"


def imported(module: str, extra: str, purpose: str) -> Any:
    """A module of an extra, or one line about how to get it."""
    import importlib

    try:
        return importlib.import_module(module)
    except ImportError as error:
        raise CommandError(
            f"{purpose} needs {module.partition('.')[0]}, which is not installed: "
            f"pip install 'kernelet[{extra}]'"
        ) from error
