"""Squared deviations of the entries of CSR rows, without making them dense."""

from __future__ import annotations

from typing import Any

import numpy as np

from kernelet.kernels.numerics.arrays import FloatArray


def mean_squared_deviations(X: Any, centre: float | FloatArray, share: FloatArray) -> FloatArray:
    """Of each column, the mean of (x - c)^2, by weights of the rows that add up to 1.

    The mean of squares minus the square of the mean has no digits left, or is negative, where the
    numbers of a column are large and nearly the same.

    Parameters
    ----------
    X : CSR of shape (n, d)
        Without entries that are stored twice.
    centre : float or ndarray of shape (d,)
    share : ndarray of shape (n,)

    Examples
    --------
    >>> from scipy.sparse import csr_array
    >>> mean_squared_deviations(csr_array([[1e9, 0.0], [1e9 + 2, 4.0]]), [1e9 + 1, 2.0], [0.5, 0.5])
    array([1., 4.])
    """
    d = X.shape[1]
    centres = np.broadcast_to(np.asarray(centre, dtype=np.float64), d)
    shares = np.repeat(share, np.diff(X.indptr))
    squares = shares * np.square(X.data - centres[X.indices])
    # a sum of all shares is not exactly 1, which would count for a large centre
    is_full = np.bincount(X.indices, shares > 0, minlength=d) == np.count_nonzero(share)
    absent = np.where(is_full, 0.0, 1.0 - np.bincount(X.indices, shares, minlength=d))
    stored = np.bincount(X.indices, squares, minlength=d)
    deviations: FloatArray = stored + absent * np.square(centres)
    return deviations
