"""The stage in front of a machine whose kernel takes some features only, or combinations."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from kernelet.export.rounding import centre
from kernelet.kernels.input_stage import input_stage
from kernelet.kernels.numerics.arrays import FloatArray
from kernelet.kernels.used_features import Indices, restricted, used_features
from kernelet.machine import KernelMachine

# As in kernelet.kernels.numerics.distances: closer to 0 than this, there is hardly a digit to gain.
_MOVED_ABOVE = 3.0


@dataclass(frozen=True, eq=False)
class Projection:
    """A (x - origin) of the features in use, what a row becomes before the kernel sees it.

    Features that the kernel leaves out are read for one thing only: NaN in them makes the scores
    NaN, as it does in Python.

    Attributes
    ----------
    matrix : ndarray of shape (r, u) or None
        A, all of whose numbers are exact in the type that is written; None is the identity.
    origin : ndarray of shape (u,) or None
        A point amid the vectors, also exact; None is 0.
    features : ndarray of u indices or None
        Those in use; None takes all d.
    n_features : int
        d.
    is_integer : bool, default=False
        Whether the matrix holds integers of 16 bits.
    """

    matrix: FloatArray | None
    origin: FloatArray | None
    features: Indices | None
    n_features: int
    is_integer: bool = False

    @property
    def n_used(self) -> int:
        """u."""
        return self.n_features if self.features is None else int(self.features.size)

    @property
    def n_combinations(self) -> int:
        """Numbers that the kernel takes: r, or u where there is no matrix."""
        return self.n_used if self.matrix is None else len(self.matrix)

    def __call__(self, X: FloatArray) -> FloatArray:
        used = X if self.features is None else X[:, self.features]
        moved = used if self.origin is None else used - self.origin
        return moved if self.matrix is None else moved @ self.matrix.T


def projected(machine: KernelMachine, dtype: str) -> tuple[Projection | None, KernelMachine]:
    """A machine in two steps: what a row becomes, and the machine of that.

    Of u features in use it keeps m u numbers of the vectors; where the kernel has a matrix of r
    rows, r u numbers of that and m r of the vectors. A prediction takes as many products.

    Parameters
    ----------
    machine : KernelMachine
    dtype : {"float32", "float64"}
        Of the numbers that are written.

    Returns
    -------
    projection : Projection or None
        None where the kernel uses all features, and has no matrix.
    machine : KernelMachine
        That of the features in use, or of the combinations, these in float64; the machine itself
        where there is no projection.

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
    d = machine.n_features
    features, machine = in_use(machine)
    matrix, kernel = input_stage(machine.kernel)
    if matrix is None:
        return None if features is None else Projection(None, None, features, d), machine
    vectors = np.asarray(machine.vectors, dtype=np.float64)
    origin = origin_of(vectors) if kernel.is_translation_invariant else None
    with np.errstate(over="ignore", invalid="ignore"):
        # rows are projected with rounded numbers, so that vectors have to be as well
        projection = Projection(
            matrix.astype(dtype).astype(np.float64),
            None if origin is None else origin.astype(dtype).astype(np.float64),
            features,
            d,
        )
        combined = replace(projection, features=None)(vectors)
        held = np.isfinite(matrix.astype(dtype)).all() and np.isfinite(combined.astype(dtype)).all()
    if not held:
        raise ValueError(
            "the matrix of the kernel, or a vector that is multiplied by it, is too large for "
            f"{dtype}; {'use float64' if dtype == 'float32' else 'scale the data'}."
        )
    return projection, KernelMachine(kernel, combined, machine.coefficients, machine.intercepts)


def in_use(machine: KernelMachine) -> tuple[Indices | None, KernelMachine]:
    """The features that a kernel uses, None for all, and the machine of these only.

    Examples
    --------
    >>> from kernelet.kernels import Linear, ScaledFeatures
    >>> kernel = ScaledFeatures(Linear(), [0.0, 2.0])
    >>> features, small = in_use(KernelMachine(kernel, [[1.0, 3.0]], [0.5]))
    >>> features.tolist(), small.vectors
    ([1], array([[3.]]))
    """
    features = used_features(machine.kernel, machine.n_features)
    if features.size == machine.n_features:
        return None, machine
    return features, KernelMachine(
        restricted(machine.kernel, features),
        machine.vectors[:, features],
        machine.coefficients,
        machine.intercepts,
    )


def counted_features(machine: KernelMachine) -> str:
    """How many features there are, and how many of them are in use, for a person."""
    n_used = used_features(machine.kernel, machine.n_features).size
    in_all = str(machine.n_features)
    return in_all if n_used == machine.n_features else f"{in_all} ({n_used} in use)"


def origin_of(vectors: FloatArray) -> FloatArray | None:
    """A point amid the vectors, or None where 0 is as good."""
    if not len(vectors):
        return None
    middle = centre(vectors)
    spread = float(np.median(np.square(vectors - middle).sum(axis=1)))
    return middle if float(middle @ middle) > _MOVED_ABOVE * spread else None
