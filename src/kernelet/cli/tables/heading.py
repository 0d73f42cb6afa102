"""The first line of a csv or tsv file: the separator, and the names of the columns."""

from __future__ import annotations

import codecs
import contextlib
import csv
import io
import re
from collections import Counter
from typing import IO, Any

from kernelet.cli.errors import DataError, one_line
from kernelet.cli.tables.notation import COMMA
from kernelet.cli.tables.sources import Source
from kernelet.cli.tables.table import is_number

SEPARATORS = (",", ";", "\t", "|")
# Bytes of a file that are searched at once for the end of its first line: what a pipe of Linux
# holds, and more than most first lines have.
_PIECE = 1 << 16
# Bytes in which a first line must end: room for a million names of 64 bytes. What has no line end
# by then is hardly a table, and may never end.
_LONGEST_LINE = 1 << 26
_LINE_END = re.compile("[\r\n]")
_LINE_ENDS = re.compile(rb"\r\n|\r|\n")
# A cell in quotes, in which line ends and separators are part of a name.
_QUOTED_CELL = re.compile(r'(?:(?<=[,;|\t\r\n])|\A) *"(?:[^"]|"")*+"(?=[,;|\t\r\n]|\Z)')


class Rewound(io.RawIOBase):
    """A stream that begins with bytes read before, for pipes, which cannot go back."""

    def __init__(self, first: bytes, rest: IO[bytes]) -> None:
        self._first, self._rest = io.BytesIO(first), rest

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        # as much as there is: waiting for a whole buffer would hold back rows that have arrived
        data = self._first.read(len(buffer)) or _read_some(self._rest, len(buffer))
        buffer[: len(data)] = data
        return len(data)


def read_first_line(source: Source, stream: IO[bytes]) -> tuple[str, bytes]:
    """The first line, which ends as in any system (LF, CR, both), and the bytes read for it."""
    decoder = codecs.getincrementaldecoder(codec(source))()
    data, line, n_bytes = [], [], 0
    while piece := _read_some(stream, _PIECE):
        data.append(piece)
        text = decoder.decode(piece)
        line.append(_LINE_END.split(text, maxsplit=1)[0])
        if "\0" in line[-1]:
            raise DataError(nul_bytes(source))
        if len(line[-1]) < len(text):
            break
        n_bytes += len(piece)
        if n_bytes > _LONGEST_LINE:
            raise DataError(
                f"the first line of {source.name} is longer than {_LONGEST_LINE >> 20} MiB; is it "
                "a table? Say --format if it is not a text file, --encoding if it is not utf-8"
            )
    return "".join(line), b"".join(data)


def first_rows(source: Source, data: bytes, separator: str) -> list[list[str]]:
    """The cells of the rows, without the heading, that are whole in the first bytes of a file.

    A row that is cut off is left out, unless it is the only one.
    """
    text = _text(source, data)
    lines = io.StringIO(text, newline="")
    rows: list[list[str]] = []
    with contextlib.suppress(csv.Error):  # a cell beyond csv's limit: the rows before it will do
        rows.extend(csv.reader(lines, delimiter=separator, skipinitialspace=True))
    rows = [row for row in rows if row][0 if source.no_header else 1 :]
    return rows if len(rows) < 2 or text.endswith(("\r", "\n")) else rows[:-1]


def _text(source: Source, data: bytes) -> str:
    """The first bytes of a file as text, which may end within a character."""
    return codecs.getincrementaldecoder(codec(source))(errors="replace").decode(data)


def with_a_row(stream: IO[bytes], first: bytes) -> bytes:
    """The first bytes of a file and as many more as it takes for a row below the heading."""
    data, n_bytes, n_ends = [first], len(first), len(_LINE_ENDS.findall(first))
    while n_ends < 2 and n_bytes < _LONGEST_LINE and (piece := _read_some(stream, _PIECE)):
        data.append(piece)
        n_bytes += len(piece)
        n_ends += len(_LINE_ENDS.findall(piece))
    return b"".join(data)


def codec(source: Source) -> str:
    """The encoding of the file; utf-8 may begin with a byte order mark, as Excel writes it."""
    return "utf-8-sig" if source.encoding.lower() in ("utf-8", "utf8") else source.encoding


def nul_bytes(source: Source) -> str:
    """The sentence about bytes that do not occur in text."""
    return (
        f"{source.name} holds NUL characters, which do not occur in text; say --encoding utf-16 if "
        "it is that, or --format if it is not a text file"
    )


def reading_options(source: Source, line: str, first: bytes) -> dict[str, Any]:
    """What pandas must know to read a file that begins with this line, and with these bytes."""
    separator = source.separator or _guessed_separator(source, line, first)
    try:
        cells = _heading(source, line, first, separator)
    except (csv.Error, TypeError) as error:  # a cell beyond csv's limit; a separator of two letters
        raise DataError(
            f"the first line of {source.name} cannot be split into cells by {separator!r} "
            f"({one_line(error)}); say another --separator, or --format if it is not a text file"
        ) from error
    if source.no_header:
        names = [str(place + 1) for place in range(len(cells))]
        header: dict[str, Any] = {"header": None, "names": names}
    else:
        _check_heading(source, cells)
        header = {"header": 0}
    return {
        **header,
        "sep": separator,
        "encoding": codec(source),
        "na_values": list(source.missing),
        "index_col": False,
        "skipinitialspace": True,
    }


def _heading(source: Source, line: str, first: bytes, separator: str) -> list[str]:
    """The cells of the first line, which goes on where a name in quotes holds a line end."""
    whole = io.StringIO(_text(source, first), newline="") if '"' in line else [line]
    return next(csv.reader(whole, delimiter=separator, skipinitialspace=True), [])


def _guessed_separator(source: Source, line: str, first: bytes) -> str:
    """What occurs most often in the first line, unless that is the comma of names or numbers."""
    unquoted = _LINE_END.split(_QUOTED_CELL.sub("", _text(source, first)), maxsplit=1)[0]
    if any(separator in unquoted for separator in SEPARATORS):
        line = unquoted
    likely = max(SEPARATORS, key=line.count)
    others = [other for other in SEPARATORS if other != likely and other in line]
    if likely != "," or not others:
        return likely
    for other in others:
        if all("," not in cell or COMMA.is_number(cell) for cell in line.split(other)):
            return other
    fitting = [
        separator
        for separator in (likely, *others)
        if len(_widths(source, line, first, separator)) == 1
    ]
    return fitting[0] if fitting else likely


def _widths(source: Source, line: str, first: bytes, separator: str) -> set[int]:
    """How many cells the heading and the first rows have: one number if the separator is right."""
    with contextlib.suppress(csv.Error):
        heading = _heading(source, line, first, separator)
        return {len(heading), *map(len, first_rows(source, first, separator))}
    return set()


def _read_some(stream: IO[bytes], most: int) -> bytes:
    """What is there, at least a byte unless it is the end; files of bzip2 may return nothing."""
    read: Any = getattr(stream, "read1", stream.read)
    data: bytes = read(most)
    return data or stream.read(1)


def _check_heading(source: Source, cells: list[str]) -> None:
    if not cells:
        return  # pandas reports an empty file, or finds the heading below blank lines
    names = [cell.strip() for cell in cells]
    numbers = (is_number(name) or COMMA.is_number(name) for name in names)
    if all(numbers) and not _are_consecutive(names):
        raise DataError(
            f"the first line of {source.name} holds numbers, not names of columns; "
            "say --no-header if it is a row"
        )
    twice = [name for name, times in Counter(names).items() if times > 1 and name]
    if twice:
        raise DataError(f"{source.name} has two columns called {twice[0]!r}; rename one of them")


def _are_consecutive(names: list[str]) -> bool:
    """Whether these are names after all: 0, 1, 2 and so on."""
    first = names[0] if names else ""
    return first in ("0", "1") and names == [str(int(first) + j) for j in range(len(names))]
