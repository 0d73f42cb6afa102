"""What a fit has decided on before its searches begin."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kernelet.kernels import Kernel
from kernelet.learners.direct.search.objective import FloatArray
from kernelet.learners.direct.search.start import KernelTask


@dataclass(frozen=True, eq=False)
class Plan:
    """What a fit has decided on before its searches begin.

    Attributes
    ----------
    kernel : Kernel
    learn : {"features", "width", "projection", "nothing"}
        What searches learn of the kernel.
    problems : list
        An inner problem for each search.
    budgets : list of int
    seeds : ndarray of shape (n_searches, n_init)
    starts : list of ndarray or None
        Vectors to start from; seeds are drawn without.
    rank : int or None
        Of a projection.
    found : Kernel or None
        A kernel to start from.
    interrupted : bool
        Whether Ctrl-C came while these were chosen.
    """

    kernel: Kernel
    learn: str
    problems: list[Any]
    budgets: list[int]
    seeds: NDArray[np.int64]
    starts: list[FloatArray | None]
    rank: int | None = None
    found: Kernel | None = None
    interrupted: bool = False

    @property
    def task(self) -> KernelTask:
        """What searches are asked for."""
        return KernelTask(self.kernel, self.learn, self.rank)
