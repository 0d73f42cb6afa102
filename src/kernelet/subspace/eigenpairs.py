"""Eigenvalues of symmetric matrices that the fastest algorithm may fail on."""

from __future__ import annotations

import contextlib

import numpy as np
from scipy.linalg import eigh

from kernelet.kernels.numerics.arrays import FloatArray


def eigenpairs(
    S: FloatArray, n_largest: int | None = None, check_finite: bool = True
) -> tuple[FloatArray, FloatArray]:
    """Eigenvalues in rising order, and the eigenvectors as columns.

    Parameters
    ----------
    S : ndarray of shape (m, m)
        Symmetric.
    n_largest : int, default=None
        How many, the largest ones; all by default.
    check_finite : bool, default=True
        Raise a ValueError if an entry is not finite.

    Examples
    --------
    >>> eigenpairs(np.diag([3.0, 1.0, 2.0]), 2)[0]
    array([2., 3.])
    """
    m = len(S)
    n = m if n_largest is None else n_largest
    which = None if n == m else (m - n, m - 1)
    with contextlib.suppress(np.linalg.LinAlgError):
        values, vectors = eigh(S, subset_by_index=which, check_finite=check_finite)
        if values.size == n:
            return values, vectors
    # LAPACK's relatively robust representations fail on few matrices, those that are next to
    # nothing or next to diagonal, and may return fewer values; divide and conquer finds them all
    values, vectors = eigh(S, driver="evd", check_finite=False)
    return values[m - n :], vectors[:, m - n :]
