"""Machines in few bits with any integers, and what Python's own numbers say of them."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from hypothesis import strategies as st

from kernelet.kernels import Gaussian, Kernel, Laplacian, Linear, Matern52
from kernelet.machine import CompactForm, KernelMachine, VectorGrid
from kernelet.machine.powers import Powers
from kernelet.machine.vector_grid import GridMatrix

COEFFICIENT_BITS = (4, 5, 6, 8, 16)


def compact_form(
    m: int = 4,
    d: int = 6,
    k: int = 2,
    *,
    bits: int = 5,
    coefficient_bits: int = 6,
    used: list[int] | None = None,
    rank: int = 0,
    has_scales: bool = False,
    flat: tuple[int, ...] = (),
    same: bool = False,
    kernel: Kernel | None = None,
    seed: int = 0,
) -> CompactForm:
    """A form of random integers.

    Parameters
    ----------
    m, d, k : int
        Vectors, features, outputs.
    bits, coefficient_bits : int
    used : list of int, default=all
        Features in use.
    rank : int, default=0
        Rows of a matrix; 0 for none.
    has_scales : bool, default=False
    flat : tuple of int, default=()
        Columns of the codes in which all vectors are at the centre.
    same : bool, default=False
        Whether all powers and centres are the same.
    kernel : Kernel, default=Gaussian(0.3)
    seed : int, default=0
    """
    rng = np.random.default_rng(seed)
    features = np.arange(d) if used is None else np.array(used, dtype=np.int64)
    r = rank or features.size

    def powers(n: int, base: float) -> Powers:
        codes = np.full(n, 3) if same else rng.integers(0, 30, n)
        return Powers(base, codes.astype(np.uint8))

    codes = rng.integers(0, 2**bits, (m, r)).astype(np.uint16)
    codes[:, list(flat)] = 2 ** (bits - 1)
    centres = np.full(r, 7) if same else rng.integers(-300, 300, r)
    matrix = None
    if rank:
        largest = 2 ** (bits - 1) - 1
        entries = rng.integers(-largest, largest + 1, (rank, features.size))
        matrix = GridMatrix(entries.astype(np.int16), powers(features.size, 0.37 / 2**bits))
    grid = VectorGrid(
        Gaussian(0.3) if kernel is None else kernel,
        d,
        features,
        bits,
        codes,
        centres.astype(np.int32),
        powers(r, 1.7 / 2**bits),
        powers(features.size, 1.3) if has_scales and not rank else None,
        matrix,
    )
    largest = 2 ** (coefficient_bits - 1) - 1
    return CompactForm(
        grid,
        coefficient_bits,
        rng.integers(-largest, largest + 1, (m, k)).astype(np.int16),
        powers(m, 0.7),
        rng.integers(-70_000 if seed % 2 else -100, 100, k).astype(np.int32),
    )


def compact_machine(dtype: type = np.float64, **parameters: Any) -> KernelMachine:
    """The machine of such a form."""
    return KernelMachine.from_compact(compact_form(**parameters), dtype)


@st.composite
def machines(draw: st.DrawFn) -> KernelMachine:
    """Machines of all sizes, bits and shapes: with and without vectors, scales, a matrix."""
    d = draw(st.integers(1, 20))
    used = draw(
        st.none() | st.lists(st.integers(0, d - 1), min_size=1, max_size=d, unique=True).map(sorted)
    )
    rank = draw(st.sampled_from([0, 0, 1, 2, 5]))
    width = rank or (d if used is None else len(used))
    return compact_machine(
        draw(st.sampled_from([np.float32, np.float64])),
        m=draw(st.integers(0, 9)),
        d=d,
        k=draw(st.integers(1, 4)),
        bits=draw(st.integers(2, 16)),
        coefficient_bits=draw(st.sampled_from(COEFFICIENT_BITS)),
        used=used,
        rank=rank,
        has_scales=draw(st.booleans()),
        flat=tuple(draw(st.sets(st.integers(0, width - 1)))),
        same=draw(st.booleans()),
        kernel=draw(
            st.sampled_from([Gaussian(0.3), Laplacian(0.1), 0.5 * Matern52(0.2) + Linear()])
        ),
        seed=draw(st.integers(0, 10**6)),
    )


def power(base: float, code: int) -> float:
    """A power, by Python's own numbers."""
    return base * math.pow(2.0, -code / 8.0)


def scores(form: CompactForm, row: np.ndarray) -> list[float]:
    """f of a row by a Gaussian machine in few bits, from its integers in plain Python."""
    grid = form.grid
    x = [float(row[f]) for f in grid.used]
    if grid.matrix is not None:
        steps = [power(grid.matrix.steps.base, int(c)) for c in grid.matrix.steps.codes]
        x = [
            sum(int(c) * a * v for c, a, v in zip(line, steps, x, strict=True))
            for line in grid.matrix.codes
        ]
    elif grid.scales is not None:
        codes = grid.scales.codes
        x = [power(grid.scales.base, int(c)) * v for c, v in zip(codes, x, strict=True)]
    totals = [int(i) * form.scales.base / 256.0 for i in form.intercepts]
    for j in range(len(grid.codes)):
        square = 0.0
        for f, seen in enumerate(x):
            step = power(grid.steps.base, int(grid.steps.codes[f]))
            whole = int(grid.centres[f]) + int(grid.codes[j, f]) - 2 ** (grid.bits - 1)
            square += (seen - step * whole) ** 2
        value = math.exp(-grid.kernel.gamma * square)
        scale = power(form.scales.base, int(form.scales.codes[j]))
        for output, code in enumerate(form.coefficients[j]):
            totals[output] += scale * int(code) * value
    return totals
