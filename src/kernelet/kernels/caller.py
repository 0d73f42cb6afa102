"""Warnings that show the user's line, not one of this package or of scikit-learn."""

from __future__ import annotations

import sys
import warnings
from types import FrameType

# Frames that may be between a user's line and ours: scikit-learn wraps `fit` (1.9 in callbacks) and
# calls it from pipelines and searches, these through joblib, and decorators of the standard library
# have frames too. Threads begin in the last two.
_MACHINERY = frozenset(
    {"kernelet", "sklearn", "joblib", "contextlib", "functools", "concurrent", "threading"}
)


def warn_caller(message: str, category: type[Warning] = UserWarning) -> None:
    """Warn, and point at the innermost line that is not part of the machinery of a fit.

    If there is none, as in a worker process, the outermost line is shown.

    Parameters
    ----------
    message : str
    category : type of Warning, default=UserWarning
    """
    frame: FrameType | None = sys._getframe(1)
    # 1 is the line below; Python 3.12 can skip files by itself, for Python 3.11 we count frames
    level = 1
    while frame is not None:
        level += 1
        package = str(frame.f_globals.get("__name__", "")).partition(".")[0]
        if package not in _MACHINERY:
            break
        frame = frame.f_back
    warnings.warn(message, category, stacklevel=level)
