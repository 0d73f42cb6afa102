"""The distinct points among canonical rows: rows that differ in y only have one kernel function."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from kernelet.kernels import Kernel
from kernelet.kernels.numerics.arrays import FloatArray, Rows, dense


def distinct_points(X: Rows, kernel: Kernel) -> tuple[FloatArray, FloatArray, NDArray[np.intp]]:
    """Points, their kernel values among themselves and, for each row, which of them it is.

    Canonical rows are sorted by x, so that equal ones are neighbours.

    Parameters
    ----------
    X : ndarray or CSR array of shape (n, d)
        Rows of a `TrainingData`.
    kernel : Kernel

    Returns
    -------
    points : ndarray of shape (m, d)
        Dense, in double precision.
    gram : ndarray of shape (m, m)
    place : ndarray of shape (n,)

    Raises
    ------
    ValueError
        If there are values that are not finite.

    Examples
    --------
    >>> from kernelet.kernels import Linear
    >>> rows = np.array([[1.0, 0.0], [1.0, 0.0], [2.0, 0.0]])
    >>> points, gram, place = distinct_points(rows, Linear())
    >>> points.tolist(), gram.tolist(), place.tolist()
    ([[1.0, 0.0], [2.0, 0.0]], [[1.0, 2.0], [2.0, 4.0]], [0, 0, 1])
    """
    rows = np.ascontiguousarray(dense(X), dtype=np.float64)
    is_first = np.ones(rows.shape[0], dtype=bool)
    is_first[1:] = (rows[1:] != rows[:-1]).any(axis=1)
    place: NDArray[np.intp] = np.cumsum(is_first) - 1
    points = rows if is_first.all() else rows[is_first]
    gram = np.asarray(kernel(points, points), dtype=np.float64)
    if not np.isfinite(gram).all():
        raise ValueError(
            f"{kernel!r} has values that are not finite on the rows; scale the data, or lower "
            "gamma or degree."
        )
    return points, gram, place
