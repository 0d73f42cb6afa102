"""The formats of exports by name and by ending, and the types of their numbers."""

from __future__ import annotations

import argparse
import re
from pathlib import Path
from typing import TYPE_CHECKING

from kernelet.cli.errors import UsageError, nearest

if TYPE_CHECKING:
    from kernelet.export.formats import Format

# The names and number types that `kernelet.export` registers, repeated because --help imports no
# NumPy; a test compares the two.
FORMATS = ("c", "onnx", "javascript", "json", "libsvm")
DTYPES = ("float32", "float64", "q15", "q7")
# What follows the last point of "model-0.5" is no ending.
_IS_ENDING = re.compile(r"\.[a-z_]", re.IGNORECASE)


def add_dtype_option(parser: argparse.ArgumentParser) -> None:
    """``--dtype``."""
    text = (
        f"type of exported numbers, {', '.join(DTYPES[:-1])} or {DTYPES[-1]} (default: q7 in C if "
        "the model is in few bits, otherwise float32 in C and ONNX, else the model's); q15 and q7 "
        "are for C"
    )
    parser.add_argument("--dtype", type=str.lower, metavar="TYPE", help=text)


def formats() -> dict[str, Format]:
    """All formats that are registered, ours first."""
    from kernelet.export.formats import registered_formats

    known = registered_formats()  # ours register themselves when the package is imported
    return {name: known[name] for name in (*FORMATS, *sorted({*known} - {*FORMATS}))}


def name_by_ending(ending: str) -> str | None:
    """The format of an ending, also of that of a header."""
    known = formats()
    found = [name for name, form in known.items() if ending in form.endings]
    found += [name for name, form in known.items() if ending in form.headers]
    return found[0] if found else None


def endings_text() -> str:
    """The endings of all formats, for a sentence.

    Examples
    --------
    >>> endings_text().partition(", ")[0]
    '.c or .h (c)'
    """
    return ", ".join(
        # types of TypeScript have two endings, by which nobody asks for JavaScript
        f"{' or '.join([*form.endings, *(h for h in form.headers if h.count('.') == 1)])} ({name})"
        for name, form in formats().items()
    )


def ending_of(path: str) -> str:
    """The ending of a name in small letters; "" where there is none.

    Examples
    --------
    >>> ending_of("web/Iris.MJS"), ending_of("model-0.5"), ending_of("model")
    ('.mjs', '', '')
    """
    ending = Path(path).suffix
    return ending.lower() if _IS_ENDING.match(ending) else ""


def format_name(text: str) -> str:
    """As it is called here: also "C", "JS" or the ending of a file."""
    name = text.lower()
    if name in FORMATS:
        return name
    known = formats()
    if name in known:
        return name
    found = name_by_ending(f".{name.removeprefix('.')}")
    if found is None:
        near = nearest(text, list(known))
        hint = f"do you mean {near!r}?" if near else f"known are {', '.join(known)}"
        raise argparse.ArgumentTypeError(f"{text!r} is not known; {hint}")
    return found


def check_dtype(dtype: str | None, form: Format | None) -> None:
    """Refuse a type of numbers that a format does not have, and list those that it has.

    Parameters
    ----------
    dtype : str or None
    form : Format or None
        None where it is not known, because the command line lacks it.
    """
    if dtype is None:
        return
    if form is not None:
        if dtype not in form.dtypes:
            hint = f"say one of {', '.join(form.dtypes)}" if form.dtypes else "leave it out"
            raise UsageError(f"--dtype {dtype} is not for {form.name}; {hint}")
        return
    known = {name: each.dtypes for name, each in formats().items() if each.dtypes}
    if not any(dtype in dtypes for dtypes in known.values()):
        text = "; ".join(f"{', '.join(dtypes)} for {name}" for name, dtypes in known.items())
        raise UsageError(f"--dtype {dtype} is not known; say one of {text}")
