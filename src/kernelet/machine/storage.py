"""How many bytes a machine takes where it runs."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass

import numpy as np

from kernelet.kernels import Gaussian
from kernelet.kernels.input_stage import input_stage
from kernelet.kernels.numerics.arrays import FloatArray
from kernelet.kernels.used_features import used_features
from kernelet.machine.compact import CompactForm
from kernelet.machine.machine import KernelMachine
from kernelet.machine.packing import packed_bytes
from kernelet.machine.powers import PER_OCTAVE
from kernelet.machine.vector_grid import VectorGrid

TARGETS = ("c",)
# Squared lengths of vectors, in units of a factor of 2 in the kernel, that 16 bits hold: with 10
# bits after the point a kernel value moves by 3.4e-4 of itself at most.
LONGEST_IN_16_BITS = 64.0


@dataclass(frozen=True)
class Storage:
    """Bytes of the constants that a prediction needs, by what they are.

    Attributes
    ----------
    vectors : int
        Their codes, packed.
    features : int
        What is stored once for each feature: scales, steps, zeros, and which features are in use.
    lengths : int
        The squared length of each vector, and the scale of its coefficients.
    matrix : int
        In front of the kernel, with its steps.
    coefficients, intercepts : int
    labels : int
        Names of the classes, as numbers.
    """

    vectors: int
    features: int
    lengths: int
    matrix: int
    coefficients: int
    intercepts: int
    labels: int

    @property
    def total(self) -> int:
        """All of them."""
        return sum(asdict(self).values())


def stored_bytes(machine: KernelMachine, target: str = "c", *, n_labels: int = 0) -> int:
    """Bytes of the constants of a machine where it runs.

    Code, and tables that do not depend on the machine, are not counted.

    Parameters
    ----------
    machine : KernelMachine
        If its numbers are rounded to few bits and its kernel is Gaussian, the integers are
        counted, else float32.
    target : {"c"}, default="c"
        Exported C: ``dtype="q7"`` for a machine in few bits, otherwise ``dtype="float32"``.
    n_labels : int, default=0
        Classes, whose names are numbers.

    Returns
    -------
    int

    Examples
    --------
    >>> from kernelet.kernels import Gaussian
    >>> stored_bytes(KernelMachine(Gaussian(0.5), [[0.0], [2.0]], [1.0, -1.0], 0.25))
    20
    """
    if target not in TARGETS:
        raise ValueError(f"target must be one of {', '.join(TARGETS)}, got {target!r}.")
    return storage(machine, n_labels=n_labels).total


def storage(machine: KernelMachine, *, n_labels: int = 0) -> Storage:
    """What the bytes of `stored_bytes` are made of."""
    if machine.compact is not None and isinstance(machine.compact.grid.kernel, Gaussian):
        return compact_storage(machine.compact, n_labels=n_labels)
    return float_storage(machine, n_labels=n_labels)


def float_storage(machine: KernelMachine, itemsize: int = 4, *, n_labels: int = 0) -> Storage:
    """Of a machine whose numbers are all of one type."""
    matrix, _ = input_stage(machine.kernel)
    used = int(used_features(machine.kernel, machine.n_features).size)
    length = used if matrix is None else len(matrix)
    return Storage(
        vectors=itemsize * machine.n_vectors * length,
        features=0 if used == machine.n_features else 2 * used,  # their numbers
        lengths=0,
        matrix=0 if matrix is None else itemsize * matrix.shape[0] * used,
        coefficients=itemsize * machine.coefficients.size,
        intercepts=itemsize * machine.intercepts.size,
        labels=n_labels,
    )


def compact_storage(form: CompactForm, *, n_labels: int = 0) -> Storage:
    """Of a machine in few bits."""
    grid = form.grid
    n_used, n_varying = grid.used.size, int(grid.varying.sum())
    features = grid.centres.size * centre_bytes(grid)
    features += 0 if grid.steps.is_one else grid.centres.size
    features += 0 if grid.scales is None or grid.scales.is_one else n_used
    features += mask_bytes(n_used, grid.n_features)
    # where nothing varies there are no codes to say it of
    features += mask_bytes(n_varying, grid.centres.size) if n_varying else 0
    matrix = 0
    if grid.matrix is not None:
        matrix = packed_bytes(grid.matrix.codes.size, grid.bits)
        matrix += 0 if grid.matrix.steps.is_one else n_used
    return Storage(
        vectors=packed_bytes(len(grid.codes) * n_varying, grid.bits),
        features=features,
        lengths=len(grid.codes) * length_bytes(form),
        matrix=matrix,
        coefficients=packed_bytes(form.coefficients.size, form.coefficient_bits),
        intercepts=form.intercepts.size * integer_bytes(form.intercepts, least=2),
        labels=n_labels,
    )


def mask_bytes(n_chosen: int, n: int) -> int:
    """Of a bit for each of n, where not all are chosen."""
    return 0 if n_chosen == n else math.ceil(n / 8)


def centre_bytes(grid: VectorGrid) -> int:
    """Of the centre of a feature; none is stored where all are the same."""
    if (grid.centres == grid.centres[:1]).all():
        return 0
    return integer_bytes(grid.centres)


def integer_bytes(numbers: np.ndarray[tuple[int, ...], np.dtype[np.int32]], least: int = 1) -> int:
    """Of the smallest type of signed integers that holds all numbers."""
    low, high = int(numbers.min(initial=0)), int(numbers.max(initial=0))
    sizes = [size for size in (1, 2, 4) if size >= least]
    return next(s for s in sizes if -(2 ** (8 * s - 1)) <= low and high < 2 ** (8 * s - 1))


def damping(form: CompactForm) -> FloatArray:
    r"""By how many factors of 2 each vector is below the largest at the centre of the grid.

    With a Gaussian kernel, the scale of a vector is part of its squared length:

    .. math:: s_j \, k(z_j, o) = s_{max} 2^{-u_j}
    """
    grid = form.grid
    gamma = grid.kernel.gamma if isinstance(grid.kernel, Gaussian) else 0.0
    lengths = gamma * np.square(grid.offsets * grid.steps.values).sum(axis=1)
    octaves: FloatArray = lengths / math.log(2.0) + form.scales.codes / PER_OCTAVE
    return octaves


def length_bytes(form: CompactForm) -> int:
    """Of the squared length of a vector, scale included."""
    return 2 if float(damping(form).max(initial=0.0)) < LONGEST_IN_16_BITS else 4
