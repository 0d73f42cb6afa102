r"""Rows chosen greedily, so that the kernel functions of all rows lie near the span of theirs.

Both choices keep the factor L of the pivoted Cholesky decomposition of the Gram matrix K of the
rows. With j rows chosen, :math:`R = K - L L^\top` holds the inner products of what is left of
the functions k(x_i, .) after projection onto the span of the chosen ones. The diagonal of R is
the squared length of what is left, and one more row c changes R by
:math:`- R_{\cdot c} R_{\cdot c}^\top / R_{cc}`. Only the n x j factor is stored, never K.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from kernelet.kernels import Kernel
from kernelet.kernels.numerics.arrays import FloatArray, IndexArray, RowMatrix

# The best of 59 random rows is among the best 5 % of all rows with a probability of 1 - 0.95^59 =
# 95 % (Smola and Schölkopf 2000).
N_CANDIDATES = 59


class PartialCholesky:
    """The pivoted Cholesky factor of the Gram matrix of the rows of X, grown row by row.

    Parameters
    ----------
    kernel : Kernel
    X : ndarray or CSR array of shape (n, d)
    size : int
        The most rows that will be chosen.

    Attributes
    ----------
    chosen : list of int
        The rows chosen so far.
    residual : ndarray of shape (n,)
        Squared distance of each k(x_i, .) to the span of the chosen ones.
    """

    def __init__(self, kernel: Kernel, X: RowMatrix, size: int) -> None:
        self.kernel = kernel
        self.X = X
        self.chosen: list[int] = []
        self.residual: FloatArray = np.array(kernel.diagonal(X), dtype=np.float64)
        if not np.isfinite(self.residual).all() or self.residual.min() < 0.0:
            raise ValueError(
                f"{kernel!r} has k(x, x) that is negative or not finite, so rows cannot be chosen "
                "by their distance to a span; take a positive definite kernel, or seed with "
                "'kmeans' or 'random'."
            )
        # One row of the array per chosen row: each is written and read in one piece.
        self._factor = np.empty((size, self.residual.size))
        # Rounding error of the values: single precision rows have single precision values. Each row
        # that is chosen adds an error to what is left of the others; the factor ten is to be safe.
        precision = np.finfo(X.dtype).eps
        self._threshold = 10.0 * size * precision * float(self.residual.max())

    def eligible(self) -> IndexArray:
        """Rows that are not in the span of the chosen ones already, up to rounding error."""
        return np.flatnonzero(self.residual > self._threshold)

    def residual_columns(self, rows: IndexArray) -> FloatArray:
        """The columns of R = K - LL' that belong to these rows, as an array (len(rows), n)."""
        vectors = dense_rows(self.X, rows)
        columns = np.array(self.kernel(self.X, vectors), dtype=np.float64).T
        factor = self._factor[: len(self.chosen)]
        columns -= factor[:, rows].T @ factor
        return columns

    def choose(self, row: int, residual_column: FloatArray) -> None:
        """Add a row, given its column of R."""
        column = residual_column / np.sqrt(self.residual[row])
        self._factor[len(self.chosen)] = column
        self.chosen.append(row)
        np.maximum(self.residual - column**2, 0.0, out=self.residual)
        self.residual[row] = 0.0


def dense_rows(X: RowMatrix, rows: IndexArray) -> NDArray[Any]:
    """These rows of X as a dense array."""
    taken: NDArray[Any] = X[rows].toarray() if sparse.issparse(X) else X[rows]
    return taken


def pivoted_cholesky(kernel: Kernel, X: RowMatrix, n_vectors: int) -> IndexArray:
    """Choose at each step the row farthest from the span of those chosen.

    These are the pivots of the Cholesky decomposition of the Gram matrix. O(n m (m + d)) time,
    O(n m) memory. Fewer rows come back when the rest lie in their span.
    """
    factor = PartialCholesky(kernel, X, n_vectors)
    while len(factor.chosen) < n_vectors and factor.eligible().size:
        pivot = np.array([np.argmax(factor.residual)])
        factor.choose(int(pivot[0]), factor.residual_columns(pivot)[0])
    return np.array(factor.chosen, dtype=np.intp)


def sparse_greedy_approximation(
    kernel: Kernel,
    X: RowMatrix,
    costs: FloatArray,
    n_vectors: int,
    random_state: np.random.RandomState,
    n_candidates: int = N_CANDIDATES,
) -> IndexArray:
    r"""Choose at each step, of 59 random rows, the one that most lowers the approximation error.

    .. math:: \sum_i c_i \| k(x_i, \cdot) - P k(x_i, \cdot) \|^2 = \sum_i c_i R_{ii}

    with P the projection onto the span of the chosen functions. The row c lowers it by
    :math:`\sum_i c_i R_{ic}^2 / R_{cc}`. O(59 n m (m + d)) time, O(n (m + 59)) memory. Fewer rows
    come back when the rest lie in their span.

    References
    ----------
    Smola, Schölkopf (2000), Sparse greedy matrix approximation for machine learning.
    """
    factor = PartialCholesky(kernel, X, n_vectors)
    while len(factor.chosen) < n_vectors:
        rows = factor.eligible()
        if rows.size == 0:
            break
        if rows.size > n_candidates:
            rows = np.sort(random_state.choice(rows, n_candidates, replace=False))
        columns = factor.residual_columns(rows)
        decrease = (columns**2 @ costs) / factor.residual[rows]
        best = int(np.argmax(decrease))
        factor.choose(int(rows[best]), columns[best])
    return np.array(factor.chosen, dtype=np.intp)
