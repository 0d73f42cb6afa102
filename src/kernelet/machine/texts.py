"""Texts from outside: names, labels, paths, messages that quote them.

Such a text may hold anything: escape sequences of a terminal, line ends that forge a second line,
characters that turn the direction of writing, the end of a comment. Whoever shows one, or writes it
into another language, takes it through a function of this module. What is to be read again by a
program (a label in JSON, a string literal) is quoted by the rules of its format instead.
"""

from __future__ import annotations

import re

# Characters that take no room though Unicode counts them as letters, marks or symbols: the rest of
# Default_Ignorable_Code_Point (Unicode 16, DerivedCoreProperties.txt), and the blank of Braille.
# All others without a picture are of the categories that str.isprintable refuses.
_BLANK = re.compile(
    "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180d\u180f\u2800\u3164\ufe00-\ufe0f\uffa0"
    "\U000e0100-\U000e01ef]"
)
# Printable ASCII but for the backslash, which C and others give a meaning of their own.
_NOT_PLAIN = re.compile(r"[^ -\[\]-~]")


def is_visible(character: str) -> bool:
    r"""Whether one sees a character where it stands: no control, no direction, no blank but " ".

    Examples
    --------
    >>> [is_visible(character) for character in "aü \t\x1b\u202e\u200b\u3164"]
    [True, True, True, False, False, False, False, False]
    """
    return character.isprintable() and _BLANK.match(character) is None


def visible(text: object) -> str:
    r"""A text as it may be shown to a person, on one line.

    Characters that one does not see, or that do something to a terminal, appear as Python escapes
    them. Letters of all scripts stay.

    Examples
    --------
    >>> print(visible("größe\x1b[2K\nforged: line"))
    größe\x1b[2K\nforged: line
    """
    shown = str(text)
    if shown.isprintable() and _BLANK.search(shown) is None:
        return shown
    return "".join(
        character if is_visible(character) else character.encode("unicode_escape").decode()
        for character in shown
    )


def in_plain_ascii(text: object) -> str:
    r"""A text for comments of source code, which every compiler reads alike.

    What is left are printable characters of ASCII without the backslash; all others become their
    number, so that neither encodings nor joined lines matter.

    Examples
    --------
    >>> in_plain_ascii("größe \\\n")
    'gr<U+00F6><U+00DF>e <U+005C><U+000A>'
    """
    return _NOT_PLAIN.sub(lambda found: f"<U+{ord(found.group()):04X}>", str(text))


def readable_bytes(n_bytes: int) -> str:
    """Bytes as a person reads them; a kB is 1000 of them.

    Examples
    --------
    >>> readable_bytes(812), readable_bytes(11920), readable_bytes(3_500_000)
    ('812 bytes', '11.9 kB', '3.5 MB')
    """
    for unit, scale in (("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if n_bytes >= scale:
            return f"{n_bytes / scale:.1f} {unit}"
    return f"{n_bytes} bytes"
