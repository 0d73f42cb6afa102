"""LIBSVM without its warnings: what it was given too few steps for, the duality gap tells.

A filter of warnings is one of the whole process, and fits may run in several threads.
"""

from __future__ import annotations

from typing import final

from sklearn.svm import SVC, SVR


@final
class QuietSVC(SVC):
    """Says nothing when it runs out of steps."""

    def _warn_from_fit_status(self) -> None: ...


@final
class QuietSVR(SVR):
    """Says nothing when it runs out of steps."""

    def _warn_from_fit_status(self) -> None: ...
