"""Linear systems of a ridge problem, whatever the size of the features."""

from __future__ import annotations

import numpy as np
from scipy.linalg import LinAlgError, cho_solve, cholesky, lstsq, qr, svd

from kernelet.kernels.numerics.arrays import FloatArray
from kernelet.solvers.interior_point.newton import PIVOT_FLOOR


def ridge_triangle(Phi: FloatArray, weights: FloatArray, ridge: float = 1.0) -> FloatArray:
    """The upper triangle R with R'R = Phi' diag(weights) Phi + ridge I.

    Beside the squares of large features the ridge has few digits left or none, and the sum need not
    be positive definite in double precision. The rows themselves have those digits: where pivots
    are that small, the triangle comes from a singular value decomposition of the rows.

    Examples
    --------
    >>> import numpy as np
    >>> from scipy.linalg import cho_solve
    >>> Phi = np.array([[1e9, 1e9], [1e9, 1e9 + 1.0]])
    >>> R = ridge_triangle(Phi, np.ones(2))
    >>> print(cho_solve((R, False), Phi.T @ [0.0, 1.0]).round(3))
    [-0.2  0.2]
    """
    H = Phi.T @ (weights[:, None] * Phi)
    H[np.diag_indices_from(H)] += ridge
    triangle = _sound_triangle(H)
    if triangle is None:
        m = Phi.shape[1]
        system = np.vstack([np.sqrt(weights)[:, None] * Phi, np.sqrt(ridge) * np.eye(m)])
        _, lengths, V = svd(system, full_matrices=False, check_finite=False)
        # directions of rounding errors, where even the rows have no digits left, get no weight
        noise = np.finfo(np.float64).eps * len(system) * lengths[0]
        lengths = np.where(lengths > noise, lengths, lengths[0])
        triangle = qr(lengths[:, None] * V, mode="r", check_finite=False)[0]
    return triangle


def solve_ridge_products(H: FloatArray, right: FloatArray) -> FloatArray:
    """Solve with H = Phi' diag(weights) Phi + ridge I where only these products are known.

    Directions in which the ridge has no digits left beside the squares get no weight.

    Examples
    --------
    >>> import numpy as np
    >>> print(solve_ridge_products(np.array([[1e20, 1e20], [1e20, 1e20]]), np.array([2e20, 2e20])))
    [1. 1.]
    """
    triangle = _sound_triangle(H)
    if triangle is None:
        solved: FloatArray = lstsq(H, right, check_finite=False)[0]
        return solved
    solved = cho_solve((triangle, False), right, check_finite=False)
    return solved


def _sound_triangle(H: FloatArray) -> FloatArray | None:
    """The Cholesky factor, or None where pivots are so small that they are rounding errors."""
    try:
        triangle: FloatArray = cholesky(H, check_finite=False)
    except LinAlgError:
        return None
    is_delicate = (np.diagonal(triangle) ** 2 < PIVOT_FLOOR * np.diagonal(H)).any()
    return None if is_delicate else triangle
