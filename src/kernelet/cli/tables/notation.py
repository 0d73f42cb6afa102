"""How the numbers of a text file are written: the decimal mark, and what separates thousands."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from kernelet.cli.errors import UsageError, quoted
from kernelet.kernels.numerics.arrays import FloatArray
from kernelet.machine.cells import is_missing

# Blanks that are wider or narrower than the usual one, as spreadsheets write them in numbers.
_BLANKS = str.maketrans("\u00a0\u2009\u202f", "   ")
# Cells of the first rows that say nothing about the numbers: what pandas takes for missing.
_NOTHING = frozenset(("", "na", "n/a", "nan", "-nan", "null", "none", "<na>", "#n/a", "#na"))


@dataclass(frozen=True)
class Notation:
    """Numbers with a decimal mark, and perhaps a mark between groups of three digits.

    Examples
    --------
    >>> comma = Notation(",", ".")
    >>> [comma.is_number(text) for text in ("3,14", "1.234,5", "-2", "3.14", "1,2,3", "a")]
    [True, True, True, False, False, False]
    >>> comma.values(np.array(["1.234,5", "x", "-2"], dtype=object))
    array([1234.5,    nan,   -2. ])
    """

    decimal: str
    thousands: str

    @cached_property
    def _is_number(self) -> Callable[[str], re.Match[str] | None]:
        groups = rf"[1-9]\d{{0,2}}(?:{re.escape(self.thousands)}\d{{3}})+"
        mark = re.escape(self.decimal)
        whole = rf"(?:{groups}|\d+)(?:{mark}\d*)?"
        return re.compile(rf"[+-]?(?:{whole}|{mark}\d+)(?:[eE][+-]?\d+)?", re.ASCII).fullmatch

    def is_number(self, text: str) -> bool:
        """Whether a text is a number."""
        return self._is_number(text.strip().translate(_BLANKS)) is not None

    def values(self, cells: NDArray[np.object_]) -> FloatArray:
        """A column as numbers, NaN where it has none."""
        return np.array([self._value(cell) for cell in cells], dtype=np.float64)

    def _value(self, cell: object) -> float:
        if not isinstance(cell, str):
            return float("nan") if is_missing(cell) else float(cell)  # type: ignore[arg-type]
        text = cell.strip().translate(_BLANKS)
        if self._is_number(text) is None:
            return float("nan")
        return float(text.replace(self.thousands, "").replace(self.decimal, "."))


POINT, COMMA = Notation(".", ","), Notation(",", ".")
# What a person can say where the numbers are none of ours, and the options that say it.
_OPTIONS = {
    COMMA: "--decimal ,",
    POINT: "--thousands ,",
    Notation(".", "'"): '--thousands "\'"',
    Notation(".", " "): "--thousands ' '",
    Notation(",", "'"): '--decimal , --thousands "\'"',
    Notation(",", " "): "--decimal , --thousands ' '",
}


def notation_of(decimal: str | None, thousands: str | None) -> Notation | None:
    """As the command line asks; None where it says nothing.

    Examples
    --------
    >>> notation_of(",", None), notation_of(None, ".") == COMMA, notation_of(None, None)
    (Notation(decimal=',', thousands='.'), True, None)
    """
    if decimal is None and thousands is None:
        return None
    decimal = decimal or ("," if thousands == "." else ".")
    thousands = thousands or ("." if decimal == "," else ",")
    if decimal == thousands:
        raise UsageError(f"--decimal and --thousands are both {quoted(decimal)}; they must differ")
    return Notation(decimal, thousands)


def options_for(texts: Collection[str]) -> str:
    """The options with which texts, some of which are no numbers by themselves, all are numbers.

    Examples
    --------
    >>> options_for(["3,14", "2"]), options_for(["1,234"]), options_for(["1.5"])
    ('--decimal ,', '--decimal , or --thousands ,', '')
    >>> options_for(["1 000", "20"]), options_for(["1 000,5"])
    ("--thousands ' '", "--decimal , --thousands ' '")
    """
    plain = [text.strip().translate(_BLANKS) for text in texts]
    marks = set().union(*plain)
    fitting = [notation for notation in _OPTIONS if all(map(notation.is_number, plain))]
    found: dict[str, str] = {}  # by what separates thousands: without decimals the mark is open
    for notation in fitting:
        shown = "," if notation in (POINT, COMMA) else notation.thousands
        # points in several places, as in 1.234.567, are not decimal
        if shown in marks or (notation == COMMA and POINT not in fitting):
            found.setdefault(notation.thousands, _OPTIONS[notation])
    return " or ".join(found.values())


def recognised(
    rows: Sequence[Sequence[str]], separator: str, missing: Iterable[str] = ()
) -> tuple[Notation, int, str] | None:
    """The notation of the first rows with the place of a column that shows it, and its number.

    Decimal commas need a column that holds nothing else, such as "3,14" or "1.234,5", and none in
    which points may be decimal. Between cells that commas separate, where "3,14" has to be quoted
    and may be a list, they are never assumed. Commas between thousands need a column that holds
    nothing else, or one of "1,234" beside decimal points. None if the rows do not show either, and
    where pandas by itself reads what there is.

    Examples
    --------
    >>> recognised([["3,14", "a"], ["2", "b"]], ";")
    (Notation(decimal=',', thousands='.'), 0, '3,14')
    >>> recognised([["1,234", "0.5"]], ","), recognised([["1,234"]], ";")
    ((Notation(decimal='.', thousands=','), 0, '1,234'), None)
    """
    ignored = _NOTHING | {text.lower() for text in missing}
    # cells that show a notation, with their places: only commas, only points, or either
    commas: list[tuple[int, str]] = []
    points: list[tuple[int, str]] = []
    either: list[tuple[int, str]] = []
    has_points = False
    for place in range(max(map(len, rows), default=0)):
        cells = [row[place].strip() for row in rows if place < len(row)]
        cells = [cell for cell in cells if cell.lower() not in ignored]
        marked = [cell for cell in cells if "," in cell] or [cell for cell in cells if "." in cell]
        is_comma, is_point = (all(map(kind.is_number, cells)) for kind in (COMMA, POINT))
        if not marked or not (is_comma or is_point):
            continue
        has_points |= is_point and any("." in cell for cell in cells)
        which = commas if not is_point else either if is_comma else points
        which.append((place, marked[0]))
    if commas:
        is_sure = separator != "," and not points and not has_points
        return (COMMA, *commas[0]) if is_sure else None
    grouped = [shown for shown in (*points, *either) if "," in shown[1]]
    return (POINT, *grouped[0]) if points and grouped else None
