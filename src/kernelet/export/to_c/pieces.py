"""Pieces of C: numbers, tables and names."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kernelet.export.model import cast
from kernelet.machine.texts import in_plain_ascii, visible

# Columns of a line of numbers, below the 100 that editors show side by side.
_WIDTH = 96
# Of the types of tables, on a 32-bit processor. Texts are four bytes of pointer, and themselves.
_BYTES = {"float": 4, "double": 8, "int": 4, "short": 2}
_BYTES |= {f"{sign}int{bits}_t": bits // 8 for sign in ("", "u") for bits in (8, 16, 32, 64)}
_TEXT = "char *const"
# Between the two characters of what ends or begins a comment, and of what begins a trigraph.
_PAIRS = re.compile(r"(?<=\*)(?=/)|(?<=/)(?=\*)|(?<=\?)(?=\?)")


@dataclass(frozen=True)
class Real:
    """The floating-point type that everything is computed in.

    Attributes
    ----------
    name : str
        C's name of the type.
    dtype : dtype
        NumPy's.
    suffix : str
        Suffix of constants and of the functions of math.h.
    """

    name: str
    dtype: np.dtype[Any]
    suffix: str

    def constant(self, number: float) -> str:
        """A number with as many digits as it takes to read the same again.

        Raises
        ------
        ValueError
            If the type cannot hold it with all its digits.
        """
        with np.errstate(over="ignore"):
            rounded = self.dtype.type(number)
        if not np.isfinite(rounded) or (number and abs(rounded) < np.finfo(self.dtype).tiny):
            raise ValueError(f"{float(number)!r} is out of the range of float32; use float64.")
        return f"{rounded!s}{self.suffix}"

    def function(self, name: str) -> str:
        """The function of math.h for this type."""
        return f"{name}{self.suffix}"

    def table(self, name: str, array: NDArray[Any]) -> Table:
        """A constant table of this type; numbers next to 0 may be rounded to 0."""
        return Table(self.name, name, cast(name, array, self.dtype), form=f"{{!s}}{self.suffix}")


REALS = {
    "float32": Real("float", np.dtype(np.float32), "f"),
    "float64": Real("double", np.dtype(np.float64), ""),
}


@dataclass(frozen=True, eq=False)
class Table:
    """A constant array in C, and its size in bytes.

    Attributes
    ----------
    kind : str
        Type of its elements.
    name : str
    content : ndarray of one or two dimensions
    form : str
        How an element becomes a constant of C.
    is_static : bool
        Whether no other file may see it.
    """

    kind: str
    name: str
    content: NDArray[Any]
    form: str = "{!s}"
    is_static: bool = True

    @property
    def declaration(self) -> str:
        """Type, name and dimensions."""
        dimensions = "".join(f"[{length}]" for length in self.content.shape)
        return f"const {self.kind} {self.name}{dimensions}"

    @property
    def nbytes(self) -> int:
        """Its size where pointers have four bytes, and texts begin at multiples of four."""
        size = int(self.content.size)
        if self.kind != _TEXT:
            return _BYTES[self.kind] * size
        lengths = [len(text.encode()) + 1 for text in set(self.content.tolist())]
        return 4 * size + sum(4 * -(-length // 4) for length in lengths)

    def lines(self) -> list[str]:
        """The definition."""
        lines = [f"{'static ' if self.is_static else ''}{self.declaration} = {{"]
        if self.content.ndim == 1:
            return [*lines, *_filled(self._constants(self.content), 4), "};", ""]
        for row in self.content:
            constants = self._constants(row)
            short = f"    {{{', '.join(constants)}}},"
            fits = len(short) <= _WIDTH
            lines += [short] if fits else ["    {", *_filled(constants, 8), "    },"]
        return [*lines, "};", ""]

    def _constants(self, row: NDArray[Any]) -> list[str]:
        if self.kind == _TEXT:
            return [quoted(text) for text in row]
        return [self.form.format(number) for number in row]


def texts(name: str, content: Iterable[str], *, is_static: bool = True) -> Table:
    """A table of texts.

    Raises
    ------
    ValueError
        If one holds the character 0, where C would take it to end.
    """
    listed = list(content)
    for text in listed:
        if "\0" in text:
            raise ValueError(
                f"the text {text!r} holds the character 0, at which a text ends in C; rename it, "
                "or export to JSON, ONNX or JavaScript."
            )
    return Table(_TEXT, name, np.array(listed, dtype=object), is_static=is_static)


def initializer(name: str, content: Iterable[str]) -> list[str]:
    r"""Texts as a macro that initialises an array; they take no memory unless it is used.

    Examples
    --------
    >>> print(*initializer("NAMES", ["length", "width"]), sep="\n")
    #define NAMES { \
        "length", "width", \
    }
    """
    listed = texts(name, content)
    filled = _filled([quoted(text) for text in listed.content], 4)
    return [f"#define {name} {{ \\", *(f"{line} \\" for line in filled), "}"]


def integers(kind: str, name: str, content: ArrayLike, *, is_static: bool = True) -> Table:
    """A table of whole numbers."""
    form = "INT64_C({!s})" if kind == "int64_t" else "{!s}"
    return Table(kind, name, np.array(content, dtype=object), form, is_static)


def smallest_integers(name: str, content: Sequence[int], *, is_static: bool = True) -> Table:
    """A table of whole numbers of the smallest type that holds them.

    Examples
    --------
    >>> [smallest_integers("labels", [0, last]).kind for last in (-1, 200, 300)]
    ['int8_t', 'uint8_t', 'int16_t']
    """
    low, high = min(content, default=0), max(content, default=0)
    kinds = [
        (f"{sign}int{bits}_t", lowest, lowest + 2**bits)
        for bits in (8, 16, 32, 64)
        for sign, lowest in (("", -(2 ** (bits - 1))), ("u", 0))
    ]
    kind = next(kind for kind, least, end in kinds if least <= low and high < end)
    return integers(kind, name, content, is_static=is_static)


def _filled(items: list[str], indent: int) -> list[str]:
    lines, line = [], " " * indent
    for item in items:
        if len(line) + len(item) + 2 > _WIDTH and line.strip():
            lines.append(line.rstrip())
            line = " " * indent
        line += f"{item}, "
    return [*lines, line.rstrip()]


def identifier(text: str) -> str:
    """A name that C accepts, made of a file's name."""
    # no word of C ends in _predict or the like, so none is in the way
    name = re.sub(r"\W", "_", text, flags=re.ASCII).strip("_") or "machine"
    return f"machine_{name}" if name[0].isdigit() else name


def included(file_name: str) -> str:
    """The name of a header as a source includes it; nothing in it can be escaped.

    Raises
    ------
    ValueError
        If a compiler may read it as something else.
    """
    if visible(file_name) != file_name or re.search(r'["\\]|\?\?', file_name):
        raise ValueError(
            f"path must have a name that C can include, without quotes, backslashes, two question "
            f"marks or characters that are not printed; got {file_name!r}."
        )
    return f'"{file_name}"'


def quoted(text: str) -> str:
    """A string literal; what is not plain ASCII goes in as octal bytes of UTF-8."""
    # '?' too: two of them begin a trigraph
    plain = set(range(32, 127)) - set(b'"\\?')
    return '"' + "".join(chr(b) if b in plain else f"\\{b:03o}" for b in text.encode()) + '"'


def comment(text: str) -> str:
    """A text that cannot end the comment that it stands in, nor begin one, nor a trigraph."""
    # without backslashes nothing joins lines, so that these pairs are all that is left
    return _PAIRS.sub(" ", in_plain_ascii(text))


def block_comment(lines: list[str]) -> list[str]:
    """Lines of text as one comment."""
    return ["/*", *(f" * {comment(line)}".rstrip() for line in lines), " */"]
