"""Machines in few bits made at once, without a search: any grid and any coefficients will do."""

from __future__ import annotations

import numpy as np

from kernelet import KernelMachine
from kernelet.kernels import Kernel
from kernelet.machine.rounding import coefficient_scales, compact_form, vector_grid

# What a machine may hold an entry in, and coefficients that go with it.
BITS = {2: 4, 3: 4, 4: 4, 5: 5, 6: 6, 7: 6, 8: 8, 9: 8, 11: 16, 16: 16}


def compact_machine(
    kernel: Kernel,
    Z: np.ndarray,
    coefficients: np.ndarray,
    intercepts: np.ndarray,
    bits: int,
    droppable: np.ndarray | None = None,
) -> KernelMachine:
    """A machine near these numbers, whose own numbers are in few bits."""
    grid = vector_grid(kernel, Z, bits, droppable=droppable)
    own = BITS[bits]
    beta, b = np.asarray(coefficients, float), np.asarray(intercepts, float)
    scales = coefficient_scales(beta, b, own)
    codes = np.rint(beta / scales.values[:, np.newaxis])
    return KernelMachine.from_compact(compact_form(grid, codes, scales, b, own))


def random_machine(kernel: Kernel, shape: tuple[int, int, int], bits: int, seed: int):
    """A machine of m vectors with d features and k outputs, and rows for it.

    Vectors differ little in some features and not at all in others, as pixels do.
    """
    m, d, k = shape
    rng = np.random.default_rng(seed)
    spread = np.exp(rng.normal(size=d))
    spread[rng.random(d) < 0.2] = 0.0
    middle = rng.normal(size=d)
    Z = middle + spread * rng.normal(size=(m, d))
    X = middle + rng.normal(size=(12, d))
    droppable = rng.random(d) < 0.5
    beta = rng.normal(size=(m, k)) * np.exp(rng.normal(size=(m, 1)))
    machine = compact_machine(kernel, Z, beta, rng.normal(size=k), bits, droppable)
    return machine, X
