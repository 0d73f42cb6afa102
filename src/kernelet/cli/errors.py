"""How a command fails: each kind of error has an exit code of its own."""

from __future__ import annotations

import difflib
import shlex
from collections.abc import Callable, Iterable, Sequence

# Characters of a message: 12 lines of a terminal, and enough for eight names of usual length.
_LONGEST = 1000
_LEFT_OUT = " [...] "


class CommandError(Exception):
    """A command cannot do its work; the message is one line for a person, with what to try."""

    exit_code = 1


class UsageError(CommandError):
    """The command line asks for something impossible."""

    exit_code = 2


class DataError(CommandError):
    """A table cannot be read, or holds what cannot be used."""

    exit_code = 3


class ModelError(CommandError):
    """A model file cannot be read, or does not fit the table or the command."""

    exit_code = 4


class OutputError(CommandError):
    """A result cannot be written."""

    exit_code = 5


class Mistakes(CommandError):
    """Several mistakes in one command line.

    Parameters
    ----------
    lines : sequence of str
        A mistake each.
    exit_code : int, default=2
    """

    exit_code = UsageError.exit_code

    def __init__(self, lines: Sequence[str], exit_code: int = exit_code) -> None:
        super().__init__(f"{len(lines)} mistakes in this command line")
        self.lines, self.exit_code = lines, exit_code


class Interrupted(CommandError):
    """Ctrl-C, with more to report than the word."""

    exit_code = 130


# Options that a check looks at, and the check, which raises an error.
Check = tuple[Sequence[str], Callable[[], object]]


def found_by(checks: Iterable[Check], unread: Iterable[str] = ()) -> list[CommandError]:
    """The errors of all checks, but for those of options that could not be read.

    Examples
    --------
    >>> def refuse():
    ...     raise UsageError("--folds must be at least 2")
    >>> found_by([(["folds"], refuse)]), found_by([(["folds"], refuse)], unread=["folds"])
    ([UsageError('--folds must be at least 2')], [])
    """
    unknown, found = {*unread}, list[CommandError]()
    for names, check in checks:
        if unknown.isdisjoint(names):
            try:
                check()
            except CommandError as error:
                found.append(error)
    return list({str(error): error for error in found}.values())


def one_line(error: BaseException) -> str:
    r"""The message of any exception, on one line and never empty.

    Examples
    --------
    >>> one_line(ValueError("C must be positive.\n  got -1"))
    'C must be positive. got -1'
    >>> one_line(MemoryError())
    'MemoryError'
    """
    return " ".join(str(error).split()) or type(error).__name__


def brief(message: str) -> str:
    """A message without its middle where that is longer than a person reads.

    Names and cells of a table may be of any length; what is wrong is said first, and what to do
    about it last.

    Examples
    --------
    >>> len(brief("a" * 5000)), brief("no rows")
    (999, 'no rows')
    """
    if len(message) <= _LONGEST:
        return message
    half = (_LONGEST - len(_LEFT_OUT)) // 2
    return message[:half] + _LEFT_OUT + message[-half:]


def quoted(text: object) -> str:
    """A text, quoted for the command line.

    Examples
    --------
    >>> quoted("id"), quoted("petal width")
    ('id', "'petal width'")
    """
    return shlex.quote(str(text))


def listed(names: Iterable[object], most: int = 8) -> str:
    """Some names for a sentence, and how many there are beyond them.

    Examples
    --------
    >>> listed(["age", "sex"])
    "'age', 'sex'"
    >>> listed(range(5), most=2)
    '0, 1 and 3 more'
    """
    shown = [repr(name) for name in names]
    if len(shown) <= most:
        return ", ".join(shown)
    return f"{', '.join(shown[:most])} and {len(shown) - most} more"


def nearest(name: str, known: Sequence[str]) -> str | None:
    """The known name that was probably meant.

    Examples
    --------
    >>> nearest("Sepcies", ["species", "petal width"])
    'species'
    """
    lower = {candidate.lower(): candidate for candidate in reversed(known)}
    found = difflib.get_close_matches(name.lower(), lower, n=1)  # with difflib's cutoff of 0.6
    return lower[found[0]] if found else None


def no_column(
    name: str,
    known: Sequence[str],
    where: str,
    why: str = "",
    likely: Sequence[str] | None = None,
) -> DataError:
    """The error for a column that a table does not have, with the nearest name that it has.

    ``likely`` are the names among which the nearest is looked for; all by default.
    """
    near = nearest(name, known if likely is None else likely)
    hint = f"do you mean {near!r}?" if near is not None else f"it has {listed(known)}"
    return DataError(f"{where} has no column {name!r}{why}; {hint}")
