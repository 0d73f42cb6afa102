"""LIBSVM without its convergence warnings: the duality gap shows whether it took enough steps.

A warnings filter would apply to the whole process, and fits may run in several threads.
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
