"""Machines in few bits: the vectors are rounded, and the convex problem is solved again over them.

The coefficients make up for what rounding does to the vectors, so that 5 bits an entry cost next to
nothing. (On letter, 8 bits without solving again turn 4.4 % of errors into 12.)
"""

from __future__ import annotations

import numpy as np
from scipy.linalg import block_diag, cho_factor

from kernelet.kernels.numerics.arrays import FloatArray, Rows
from kernelet.learners.direct.learn import LearnedVectors
from kernelet.machine import CompactForm, KernelMachine, VectorGrid
from kernelet.machine.rounding import coefficient_unit, compact_form, vector_grid
from kernelet.subspace import WhitenedMap

# The share of their spread by which rounding the coefficients to 8 bits may move scores, a root
# mean square. By validation on training rows of five sets errors then stay what they are.
_MOST_MOVED = 0.02
# Rows by which that is judged: a mean square over as many has an error of 3 %.
_JUDGING_ROWS = 2000
# Added to the diagonal of a Gram matrix of the kernel values, in units of its largest entry, so
# that it has a Cholesky factor: rounding is done in double precision.
_JITTER = 1e-12


def in_few_bits(grid: VectorGrid, machine: KernelMachine, X: Rows) -> KernelMachine:
    """A machine over the vectors of a grid, with coefficients of 8 or 16 bits.

    Parameters
    ----------
    grid : VectorGrid
    machine : KernelMachine
        Over its vectors, with any coefficients.
    X : array or CSR of shape (n, d)
        Rows whose scores should change little.
    """
    every = -(-X.shape[0] // _JUDGING_ROWS)
    K = machine.kernel(X[::every], machine.vectors)
    form = rounded_coefficients(grid, machine.coefficients, machine.intercepts, K)
    return KernelMachine.from_compact(form)


def round_and_solve(
    learned: LearnedVectors, bits: int, *, drops_constant: bool
) -> tuple[KernelMachine, list[float]]:
    """The machine over the rounded vectors of all searches, and W of each search there.

    Parameters
    ----------
    learned : LearnedVectors
    bits : int
    drops_constant : bool
        Whether the kernel may stop using columns that are constant in the rows.
    """
    ends, rows = [search.best for search in learned.searches], learned.rows
    Z = np.concatenate([end.vectors for end in ends])
    droppable = rows[0].is_constant if drops_constant else None
    # all searches have the same kernel
    grid = vector_grid(ends[0].kernel, Z, bits, droppable=droppable)
    kernel, vectors = grid.full_kernel, grid.vectors
    sizes = np.cumsum([len(end.vectors) for end in ends])[:-1]
    betas, intercepts, values = [], [], []
    for end, own, part in zip(ends, rows, np.split(vectors, sizes), strict=True):
        space = WhitenedMap.from_vectors(kernel, part)
        solution = own.solve(space, (space.weights(end.coefficients), end.intercepts))
        betas.append(space.coefficients(solution.weights))
        intercepts.append(solution.intercepts)
        values.append(solution.value)
    machine = KernelMachine(kernel, vectors, block_diag(*betas), np.concatenate(intercepts))
    return in_few_bits(grid, machine, rows[0].X), values


def rounded_coefficients(
    grid: VectorGrid, coefficients: FloatArray, intercepts: FloatArray, K: FloatArray
) -> CompactForm:
    """Coefficients in 8 bits if scores of rows with these kernel values hardly move, else 16."""
    scores = K @ coefficients
    spread = float(scores.std(axis=0).mean())
    for bits in (8, 16):
        unit = coefficient_unit(coefficients, intercepts, bits)
        codes, shift = _nearest_plane(K, coefficients / unit, 2 ** (bits - 1) - 1)
        form = compact_form(grid, unit * codes, intercepts + unit * shift, bits, unit)
        moved = K @ form.coefficient_values + form.intercept_values - scores - intercepts
        if float(np.sqrt(np.square(moved).mean())) <= _MOST_MOVED * spread:
            break
    return form


def _nearest_plane(
    K: FloatArray, coefficients: FloatArray, largest: int
) -> tuple[FloatArray, FloatArray]:
    """Whole numbers whose scores are near those of the coefficients, and a shift of all scores.

    Babai's nearest plane: with K'K = R'R, K centred, the last coefficient is rounded, the others
    make up for it, and so on. Rounding each for itself moves scores more, by a factor that grows
    with how alike the vectors are.
    """
    mean = K.mean(axis=0)
    gram = (K - mean).T @ (K - mean)
    gram[np.diag_indices_from(gram)] += _JITTER * max(float(gram.max(initial=0.0)), 1e-300)
    R = np.triu(cho_factor(gram)[0])
    codes = np.zeros_like(coefficients)
    target = R @ coefficients
    for j in range(len(R) - 1, -1, -1):
        free = (target[j] - R[j, j + 1 :] @ codes[j + 1 :]) / R[j, j]
        codes[j] = np.clip(np.rint(free), -largest, largest)
    return codes, mean @ (coefficients - codes)
