"""Where a table comes from: the file, its format, and the options that go with it."""

from __future__ import annotations

import argparse
import csv
import importlib
import lzma
import os
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kernelet.cli.errors import CommandError, DataError, ModelError, nearest, one_line

if TYPE_CHECKING:
    from kernelet.cli.tables.notation import Notation

# What the labels are called in files that do not name them.
LABELS = "y"
COMPRESSIONS = (".gz", ".bz2", ".xz")
STDIN = "-"
# Rows of a piece: 16 MB for 100 columns of numbers, and enough that pandas' work for a piece is
# shared by many rows.
CHUNK_ROWS = 20_000


@dataclass(frozen=True)
class TableFormat:
    """What is known of a kind of table before it is read.

    Attributes
    ----------
    endings : tuple of str
        Of file names.
    is_text : bool
        Whether it is read as text, which can come from stdin.
    separator : str or None
        Between cells; None where the first line shows it.
    labels : str or None
        The column of the target where no other is named.
    has_names : bool
        Whether the columns have names.
    """

    endings: tuple[str, ...]
    is_text: bool = False
    separator: str | None = None
    labels: str | None = None
    has_names: bool = True


FORMATS = {
    "csv": TableFormat((".csv",), is_text=True),
    "tsv": TableFormat((".tsv", ".tab"), is_text=True, separator="\t"),
    "parquet": TableFormat((".parquet", ".pq")),
    "npz": TableFormat((".npz",), labels=LABELS),
    "libsvm": TableFormat((".libsvm", ".svm", ".svmlight"), labels=LABELS, has_names=False),
}
ENDINGS = {ending: name for name, form in FORMATS.items() for ending in form.endings}


def add_table_options(parser: argparse.ArgumentParser) -> None:
    """Options that say how a table is read."""
    add = parser.add_argument_group("reading the table").add_argument
    add("--format", choices=list(FORMATS), help="kind of file (default: by the ending of its name)")
    add("--separator", metavar="CHAR", help="between cells (default: guessed from the first line)")
    text = "decimal mark of numbers (default: recognised where the first rows leave no doubt)"
    add("--decimal", choices=[".", ","], help=text)
    text = "between groups of three digits (default: the comma or point that is not decimal)"
    add("--thousands", metavar="CHAR", type=_mark, help=text)
    add("--no-header", action="store_true", help="no line of names; columns are called 1, 2, 3 ...")
    add("--encoding", default="utf-8", help="encoding of a text file (default: utf-8)")
    text = 'a text that means a missing value, such as "?"; empty cells and NA always do'
    add("--missing", metavar="TEXT", action="append", default=[], help=text)
    add("--matrix", metavar="NAME", help="rows of an npz file (default: X; X_train for y_train)")


def _mark(text: str) -> str:
    """A mark between digits; blanks of all widths are one."""
    if len(text) != 1 or text.isalnum() or text in "+-":
        raise argparse.ArgumentTypeError(
            f"must be one character such as . or , or ' or a blank, got {text!r}"
        )
    return " " if text.isspace() else text


@dataclass(frozen=True)
class Source:
    """A table's file and how to read it; `watch` is called with the bytes read so far."""

    path: str
    format: str
    separator: str | None = None
    no_header: bool = False
    encoding: str = "utf-8"
    decimal: str | None = None
    thousands: str | None = None
    missing: Sequence[str] = ()
    matrix: str | None = None
    watch: Callable[[int], None] | None = field(default=None, compare=False)

    @classmethod
    def from_arguments(cls, path: str, arguments: argparse.Namespace) -> Source:
        """As the command line asks; the file must exist."""
        format = arguments.format or format_of(path)
        if path != STDIN:
            check_file(path)
        elif not FORMATS[format].is_text:
            raise DataError(f"from stdin only csv and tsv can be read, not {format}")
        options = {each.name: getattr(arguments, each.name) for each in fields(cls)[2:-1]}
        options["separator"] = arguments.separator or FORMATS[format].separator
        source = cls(path, format, **options)
        _ = source.notation  # refuses equal marks before anything is read
        return source

    @property
    def kind(self) -> TableFormat:
        """What its format is like."""
        return FORMATS[self.format]

    @property
    def name(self) -> str:
        """The file for messages."""
        return "stdin" if self.path == STDIN else self.path

    @property
    def is_regular(self) -> bool:
        """Whether it is a file on a disk, which can be read again: pipes and devices cannot."""
        return self.path != STDIN and Path(self.path).is_file()

    @property
    def notation(self) -> Notation | None:
        """How its numbers are written, where the command line says so."""
        from kernelet.cli.tables.notation import (
            notation_of,
        )  # with NumPy: --help has no time for it

        return notation_of(self.decimal, self.thousands)

    @property
    def n_bytes(self) -> int | None:
        """Size of the file, where it is known; a compressed file is longer when it is read."""
        is_longer = Path(self.path).suffix.lower() in COMPRESSIONS
        return None if is_longer else self.n_bytes_on_disk

    @property
    def n_bytes_on_disk(self) -> int | None:
        """Size of the file as it is, where it is one."""
        return Path(self.path).stat().st_size if self.is_regular else None


def format_of(path: str) -> str:
    """The format that the ending of a name means; that of a compressed file is the one inside.

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
    *known, last = FORMATS
    raise DataError(
        f"{path}: the ending of the name does not show the kind of table; "
        f"say --format {', '.join(known)} or {last}"
    )


def check_file(path: str, error: type[CommandError] = DataError) -> None:
    """Refuse a file that does not exist, and suggest the nearest name."""
    # os.path answers where Path raises an error, as for a name that is too long
    if os.path.isdir(path):
        raise error(f"{path} is a folder; name a file in it")
    if not os.path.exists(path):
        raise error(missing_file(path, is_model=error is ModelError))


def missing_file(path: str, is_model: bool = False) -> str:
    """The sentence about a file that does not exist, with the nearest name of a table or model."""
    folder = Path(path).parent
    if not os.path.isdir(folder):
        return f"{path} does not exist, nor does the folder {folder}"
    try:
        names = [entry.name for entry in folder.iterdir()]
        tables = {name for name in names if not ENDINGS.keys().isdisjoint(Path(name).suffixes)}
        near = nearest(Path(path).name, [name for name in names if is_model != (name in tables)])
    except OSError:  # the folder may be entered but not listed
        near = None
    hint = f"; do you mean {folder / near}?" if near else "; is the name right?"
    return f"{path} does not exist{hint}"


# What pandas, NumPy and the modules of compression raise for files that are not what they seem.
_OF_READERS = (
    *(OSError, ValueError, EOFError, LookupError, TypeError, OverflowError),
    *(csv.Error, zlib.error, lzma.LZMAError),
)


@contextmanager
def reading_errors(source: Source, kind: str) -> Iterator[None]:
    """Turn whatever a reader may raise into one line about the file."""
    try:
        yield
    except (CommandError, MemoryError):
        raise
    except UnicodeError as error:
        raise DataError(
            f"{source.name} is not text in {source.encoding}; "
            "say another --encoding, such as latin-1, or --format if it is not a text file"
        ) from error
    except PermissionError as error:
        raise DataError(f"{source.name} may not be read: permission denied") from error
    except FileNotFoundError as error:
        raise DataError(missing_file(source.path)) from error
    except ImportError as error:
        raise DataError(f"{source.name}: {one_line(error)}") from error
    except _OF_READERS as error:
        if isinstance(error, LookupError) and "encoding" in str(error):
            raise DataError(f"--encoding {source.encoding} is not known; try utf-8") from error
        reason = one_line(error).rstrip(".")
        raise DataError(f"{source.name} cannot be read as {kind}: {reason}") from error


def imported(module: str, extra: str, purpose: str) -> Any:
    """A module of an extra, or one line about how to get it."""
    try:
        return importlib.import_module(module)
    except ImportError as error:
        raise CommandError(
            f"{purpose} needs {module.partition('.')[0]}, which is not installed: "
            f"pip install 'kernelet[{extra}]'"
        ) from error
