"""The one error that a bad model file raises."""

from __future__ import annotations

from kernelet.machine.texts import visible

# Characters of a message, some lines of a terminal: room for the names of all kernels, say.
_LONGEST = 300


class ModelFileError(ValueError):
    """A file that is not a model, or not one that this version can read; the message says why."""


def one_line(error: BaseException) -> str:
    """The message of an error on one line of bounded length, since it may quote a hostile file."""
    text = " ".join(str(error).split()) or type(error).__name__
    shown = visible(text[: _LONGEST + 1])
    return shown if len(shown) <= _LONGEST else shown[: _LONGEST - 3] + "..."
