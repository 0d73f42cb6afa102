"""Vectors as files hold them: without the features that the kernel leaves out."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kernelet.kernels.used_features import used_features
from kernelet.machine import KernelMachine
from kernelet.persistence.errors import ModelFileError
from kernelet.persistence.record import Array, Record

# Vectors in full may take this many times what is stored of them, so that a small file cannot ask
# for all memory. It takes more than 100 vectors to get there; these are stored in full then.
MAX_GROWTH = 100
_ALWAYS = 2**17  # numbers in full that any file may ask for, a megabyte


@dataclass(frozen=True, eq=False)
class StoredVectors:
    """The vectors of a machine, with one row for what all of them have in common.

    Attributes
    ----------
    features : ndarray of u indices, in order
        That `vectors` holds.
    vectors : ndarray of shape (m, u)
    left_out : ndarray of shape (d - u,)
        The entries that every vector has for the other features, which the kernel does not use.
    """

    features: NDArray[np.int64]
    vectors: Array
    left_out: Array

    @property
    def arrays(self) -> dict[str, Array]:
        """The arrays by their names in files."""
        return {
            "vectors": self.vectors,
            "vector_features": self.features,
            "left_out": self.left_out,
        }


def stored_vectors(machine: KernelMachine) -> StoredVectors | None:
    """What a file holds instead of the vectors; None if they are stored in full.

    Nothing is lost: a feature that the kernel does not use stays if the vectors differ in it.

    Examples
    --------
    >>> from kernelet.kernels import Gaussian, ScaledFeatures
    >>> kernel = ScaledFeatures(Gaussian(0.5), [2.0, 0.0])
    >>> machine = KernelMachine(kernel, [[1.0, 7.0], [2.0, 7.0], [3.0, 7.0]], [1.0, -1.0, 2.0])
    >>> stored = stored_vectors(machine)
    >>> stored.vectors.tolist(), stored.features.tolist(), stored.left_out.tolist()
    ([[1.0], [2.0], [3.0]], [0], [7.0])
    """
    Z, (m, d) = machine.vectors, machine.vectors.shape
    is_stored = np.zeros(d, dtype=bool)
    is_stored[used_features(machine.kernel, d)] = True
    if m == 0 or is_stored.all():
        return None
    # as bits, so that 0.0 and -0.0 differ
    bits = Z.view(np.int64 if Z.dtype == np.float64 else np.int32)
    is_stored |= (bits != bits[0]).any(axis=0)
    stored = StoredVectors(np.flatnonzero(is_stored), Z[:, is_stored], Z[0, ~is_stored])
    # of one vector or two, the list of features may take more than it saves
    is_smaller = sum(array.nbytes for array in stored.arrays.values()) < Z.nbytes
    return stored if is_smaller and _may_grow(m, d, stored.features.size) else None


def vectors_in_full(record: Record) -> Array:
    """The vectors of a machine's record, with all features.

    Raises
    ------
    ModelFileError
        If the arrays do not fit together, or ask for too much memory.
    """
    vectors = record.floats("vectors", 2)
    if "left_out" not in record.arrays:
        return vectors
    left_out = record.floats("left_out", 1, vectors.dtype.type)
    features = record.arrays.get("vector_features")
    (m, u), d = vectors.shape, vectors.shape[1] + left_out.size
    if features is None or features.dtype != np.int64 or features.shape != (u,):
        raise ModelFileError("the array 'vector_features' must hold an integer for each feature")
    in_order = np.concatenate([[-1], features, [d]])
    if not (in_order[1:] > in_order[:-1]).all():  # differences of such integers may overflow
        raise ModelFileError("the array 'vector_features' must hold features in order")
    if not _may_grow(m, d, u):
        raise ModelFileError("the vectors take too much memory for a file of this size")
    full = np.empty((m, d), dtype=vectors.dtype)
    is_stored = np.zeros(d, dtype=bool)
    is_stored[features] = True
    full[:, is_stored] = vectors
    full[:, ~is_stored] = left_out
    return full


def _may_grow(m: int, d: int, u: int) -> bool:
    return m * d <= MAX_GROWTH * (m * u + d) + _ALWAYS
