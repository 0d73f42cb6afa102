"""The vectors of a model, which are those of its machine."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from kernelet.machine import KernelMachine


class HasVectors:
    """A model that ends in one `KernelMachine`."""

    machine_: KernelMachine

    @property
    def vectors_(self) -> NDArray[np.float64]:
        """The expansion vectors, of shape (n_vectors, n_features)."""
        vectors: NDArray[np.float64] = self.machine_.vectors
        return vectors

    @property
    def n_vectors_(self) -> int:
        """How many expansion vectors the machine has."""
        return self.machine_.n_vectors
