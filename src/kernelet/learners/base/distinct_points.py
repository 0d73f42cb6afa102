"""The distinct points among canonical rows: rows that differ in y only have one kernel function."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from kernelet.kernels.numerics.arrays import dense

FloatArray = NDArray[np.float64]


def distinct_points(X: Any) -> tuple[FloatArray, NDArray[np.intp]]:
    """Points and, for each row, which of them it is.

    Canonical rows are sorted by x, so that equal ones are neighbours.

    Parameters
    ----------
    X : ndarray or CSR array of shape (n, d)
        Rows of a `TrainingSet` or `RegressionSet`.

    Returns
    -------
    points : ndarray of shape (m, d)
        Dense, in double precision.
    place : ndarray of shape (n,)

    Examples
    --------
    >>> points, place = distinct_points(np.array([[1.0, 0.0], [1.0, 0.0], [2.0, 0.0]]))
    >>> points.tolist(), place.tolist()
    ([[1.0, 0.0], [2.0, 0.0]], [0, 0, 1])
    """
    rows = np.ascontiguousarray(dense(X), dtype=np.float64)
    is_first = np.ones(rows.shape[0], dtype=bool)
    is_first[1:] = (rows[1:] != rows[:-1]).any(axis=1)
    place: NDArray[np.intp] = np.cumsum(is_first) - 1
    return (rows if is_first.all() else rows[is_first]), place
