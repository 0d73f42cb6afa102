"""What no machine in a file may have: scores that overflow, and kernels without end."""

from __future__ import annotations

import numpy as np

from kernelet.kernels import Kernel, ProjectedFeatures
from kernelet.machine import KernelMachine

# Each kernel of a sum may keep a copy of the vectors when the machine is made: a file may need a
# hundred times its own size of memory, the same as MAX_GROWTH in vectors.py.
MAX_KERNELS = 100
# Numbers of vectors that are checked at a time, so that they are not all copied: half a megabyte,
# or one vector.
_NUMBERS_AT_ONCE = 2**16


def check_kernels(specification: object) -> None:
    """Refuse sums and products of very many kernels."""
    if _n_kernels(specification) > MAX_KERNELS:
        raise ValueError(
            f"the kernel is made of more than {MAX_KERNELS} kernels, which files do not hold"
        )


def _n_kernels(specification: object) -> int:
    """Kernels in a specification; the depth of what was read from JSON is bounded."""
    if isinstance(specification, dict):
        return 1 + sum(_n_kernels(value) for value in specification.values())
    if isinstance(specification, list | tuple):
        return sum(_n_kernels(item) for item in specification)
    return 0


def check_finite(machine: KernelMachine) -> None:
    """Refuse NaN and infinity."""
    for name in ("vectors", "coefficients", "intercepts"):
        if not np.isfinite(getattr(machine, name)).all():
            raise ValueError(f"the {name} of the machine hold NaN or infinity")


def check_range(machine: KernelMachine) -> None:
    """Refuse numbers whose scores overflow, whatever the rows are.

    Models are checked when they are written as well, so that none is lost. If kernel values are
    unbounded, rows may be too large for any machine; its `decision_function` checks the scores.
    """
    # a temporary copy, in pieces: the machine prepares its own at the first prediction
    row = np.zeros((1, machine.n_features), dtype=machine.dtype)
    # a matrix may turn each number of a vector into many
    width = max(1, machine.n_features, _combinations(machine.kernel))
    at_once = max(1, _NUMBERS_AT_ONCE // (width * _copies(machine.kernel)))
    for start in range(0, machine.n_vectors, at_once):
        values = machine.kernel(row, machine.vectors[start : start + at_once])
        if not np.isfinite(values).all():
            raise ValueError(
                "the numbers of the kernel or the vectors are too large; scale the data, or lower "
                "gamma or degree"
            )
    bound = machine.kernel.largest_value
    if not np.isfinite(bound):
        return
    with np.errstate(over="ignore"):
        # in double precision, so that the sum itself does not overflow in float32
        total = np.abs(machine.coefficients).sum(axis=0, dtype=np.float64) * bound
        total = total + np.abs(machine.intercepts)
    if (total > np.finfo(machine.dtype).max).any():
        raise ValueError(
            f"the coefficients are so large that scores overflow {machine.dtype}; divide them and "
            "the intercepts, or the targets of the fit, by their size"
        )


def _copies(kernel: Kernel) -> int:
    """Kernels within a kernel that each prepare the vectors."""
    return sum(map(_copies, getattr(kernel, "parts", ()))) or 1


def _combinations(kernel: Kernel) -> int:
    """Rows of all matrices in a kernel."""
    own = len(kernel.matrix) if isinstance(kernel, ProjectedFeatures) else 0
    return own + sum(map(_combinations, getattr(kernel, "parts", ())))
