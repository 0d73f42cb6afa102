"""Where a search over vectors begins, and what it learns of the kernel."""

from __future__ import annotations

from dataclasses import dataclass

from kernelet.kernels import Kernel
from kernelet.learners.direct.search.objective import FloatArray, Start


@dataclass(frozen=True, eq=False)
class SearchStart:
    """At seeds, at the end of another search, or where one was broken off.

    Attributes
    ----------
    vectors : ndarray of shape (m, d)
    kernel : Kernel or None
        The one found with them; None for the one given.
    n_vectors : int or None
        Grow or shrink to this many first.
    n_steps : int
        Steps that a search which was broken off has taken.
    is_preliminary : bool
        Whether that was one from where another goes on.
    unit : float or None
        What its regulariser is measured in, where it has one.
    n_rows : int or None
        Rows that it had in use.
    solution : tuple of ndarray or None
        Its coefficients and intercepts.
    """

    vectors: FloatArray
    kernel: Kernel | None = None
    n_vectors: int | None = None
    n_steps: int = 0
    is_preliminary: bool = True
    unit: float | None = None
    n_rows: int | None = None
    solution: Start | None = None

    @property
    def is_prepared(self) -> bool:
        """Whether a preliminary search is at its end."""
        return self.n_steps > 0 and not self.is_preliminary


@dataclass(frozen=True, eq=False)
class KernelTask:
    """The kernel given, and what is learned of it.

    Attributes
    ----------
    kernel : Kernel
    learn : {"features", "width", "projection", "nothing"}
    rank : int or None
        Of a projection.
    """

    kernel: Kernel
    learn: str = "nothing"
    rank: int | None = None
