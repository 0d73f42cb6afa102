"""The linear stage in front of a machine whose kernel takes combinations of the features."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kernelet.export.rounding import centre
from kernelet.kernels.input_stage import input_stage
from kernelet.machine import KernelMachine

FloatArray = NDArray[np.float64]
# As in kernelet.kernels.distances: closer to 0 than this, there is hardly a digit to gain.
_MOVED_ABOVE = 3.0


@dataclass(frozen=True, eq=False)
class Projection:
    """A (x - origin), what a row becomes before the kernel sees it.

    Attributes
    ----------
    matrix : ndarray of shape (r, d)
        A, all of whose numbers are exact in the type that is written.
    origin : ndarray of shape (d,) or None
        A point amid the vectors, also exact; None is 0.
    is_integer : bool, default=False
        Whether the matrix holds integers of 16 bits.
    """

    matrix: FloatArray
    origin: FloatArray | None
    is_integer: bool = False

    def __call__(self, X: FloatArray) -> FloatArray:
        projected: FloatArray = (X if self.origin is None else X - self.origin) @ self.matrix.T
        return projected


def projected(machine: KernelMachine, dtype: str) -> tuple[Projection | None, KernelMachine]:
    """A machine in two steps, of which the second has vectors as long as the matrix has rows.

    It keeps r d numbers of the matrix and m r of the vectors, and a prediction takes as many
    products.

    Parameters
    ----------
    machine : KernelMachine
    dtype : {"float32", "float64"}
        Of the numbers that are written.

    Returns
    -------
    projection : Projection or None
        None where the kernel has no matrix.
    machine : KernelMachine
        That of the combinations, in float64; the machine itself where there are none.

    Raises
    ------
    ValueError
        If the type cannot hold the matrix, or the combinations of a vector.

    Examples
    --------
    >>> from kernelet.kernels import Linear, ProjectedFeatures
    >>> kernel = ProjectedFeatures(Linear(), [[1.0, 1.0, 0.0]])
    >>> projection, inner = projected(KernelMachine(kernel, [[1.0, 2.0, 3.0]], [0.5]), "float64")
    >>> inner.kernel, inner.vectors
    (Linear(), array([[3.]]))
    """
    matrix, kernel = input_stage(machine.kernel)
    if matrix is None:
        return None, machine
    vectors = np.asarray(machine.vectors, dtype=np.float64)
    origin = origin_of(vectors) if kernel.is_translation_invariant else None
    with np.errstate(over="ignore", invalid="ignore"):
        # rows are projected with rounded numbers, so that vectors have to be as well
        projection = Projection(
            matrix.astype(dtype).astype(np.float64),
            None if origin is None else origin.astype(dtype).astype(np.float64),
        )
        combined = projection(vectors)
        held = np.isfinite(combined.astype(dtype)).all()
    if not np.isfinite(projection.matrix).all() or not held:
        raise ValueError(
            "the matrix of the kernel, or a vector that is multiplied by it, is too large for "
            f"{dtype}; {'use float64' if dtype == 'float32' else 'scale the data'}."
        )
    return projection, KernelMachine(kernel, combined, machine.coefficients, machine.intercepts)


def origin_of(vectors: FloatArray) -> FloatArray | None:
    """A point amid the vectors, or None where 0 is as good."""
    if not len(vectors):
        return None
    middle = centre(vectors)
    spread = float(np.median(np.square(vectors - middle).sum(axis=1)))
    return middle if float(middle @ middle) > _MOVED_ABOVE * spread else None
