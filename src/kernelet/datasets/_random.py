"""What the generators share: the random stream, and the check of the number of rows."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

Samples: TypeAlias = NDArray[np.float64]
Labels: TypeAlias = NDArray[np.int64]
RandomState: TypeAlias = int | np.random.Generator | None


def random_stream(random_state: RandomState, n_samples: int) -> np.random.Generator:
    """Return the generator that ``random_state`` stands for, after checking ``n_samples``."""
    if n_samples < 1:
        raise ValueError(f"n_samples must be at least 1, got {n_samples}.")
    return np.random.default_rng(random_state)


def fair_labels(stream: np.random.Generator, n_samples: int, n_classes: int) -> Labels:
    """Draw independent labels, each class with probability ``1 / n_classes``."""
    return stream.integers(n_classes, size=n_samples, dtype=np.int64)
