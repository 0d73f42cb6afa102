"""Rows that a model in C has to bear: numbers at the ends of what there is, and none."""

from __future__ import annotations

import numpy as np

# In every cell, and in one after the other of an ordinary row: numbers at the ends of float and
# double, below the smallest normal ones, and none.
HOSTILE = (0.0, -0.0, 1e-40, 1e-45, -5e-324, 1e30, -3.4e38, 1.7e308, np.inf, -np.inf, np.nan)


def hostile(rows: np.ndarray) -> np.ndarray:
    """Rows that nobody should give to a model, made of ordinary ones."""
    d = rows.shape[1]
    whole = np.array([np.full(d, value) for value in HOSTILE])
    signs = np.array([value * (-1.0) ** np.arange(d) for value in (1e30, 3e38, np.inf)])
    single = np.tile(rows[0], (len(HOSTILE), 1))
    for i, value in enumerate(HOSTILE):
        single[i, i % d] = value
    far = rows[0] + 10.0 ** np.arange(1, 39, 3)[:, np.newaxis] * np.where(np.arange(d) % 2, -1, 1)
    return np.concatenate([whole, signs, single, far])


def in_between(rows: np.ndarray) -> np.ndarray:
    """Rows on lines through two ordinary ones, from one to the other and far beyond it."""
    steps = np.concatenate([np.linspace(0.0, 1.0, 20), 2.0 ** (np.arange(40) / 8.0)])
    pairs = [(rows[i - 1], rows[i]) for i in range(0, len(rows), max(1, len(rows) // 4))]
    return np.concatenate([a + steps[:, np.newaxis] * (b - a) for a, b in pairs])
