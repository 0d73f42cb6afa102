"""Multiples of sums of absolute differences."""

from __future__ import annotations

import numpy as np

from kernelet.kernels.numerics.arrays import FloatArray, Rows, block_length, dense
from kernelet.kernels.numerics.blocks import Workspace


class TaxicabDistances:
    """t_ij = factor |x_i - z_j|_1 for fixed vectors.

    No matrix product gives these. The differences are taken either one vector after the other,
    over arrays of shape (rows, d), or one feature after the other, over arrays of shape
    (m, rows): whichever makes fewer and longer loops.

    Parameters
    ----------
    Z : ndarray of shape (m, d), float32 or float64
    factor : float
    """

    def __init__(self, Z: FloatArray, factor: float) -> None:
        m, d = Z.shape
        self.shape = (m, d)
        self.dtype = Z.dtype
        self._factor = factor
        self._vectors = Z
        # m passes over d numbers of each row, or d passes over m numbers that are also transposed
        # twice. The factor is for the transposing; if the two are close, either will do.
        self._by_vector = d > 4 * m
        self.row_elements = 2 * d + m if self._by_vector else d + 3 * m

    def fill(self, X: Rows, out: FloatArray, workspace: Workspace) -> None:
        if self._by_vector:
            self._sum_by_vector(dense(X), out, workspace)
        else:
            self._sum_by_feature(dense(X), out, workspace)
        out *= self._factor

    def _sum_by_vector(self, X: FloatArray, out: FloatArray, workspace: Workspace) -> None:
        term = workspace.take(self, "term", X.shape[0], self.shape[1], self.dtype)
        for j, vector in enumerate(self._vectors):
            np.subtract(X, vector, out=term, casting="same_kind")
            np.abs(term, out=term)
            np.sum(term, axis=1, out=out[:, j])

    def _sum_by_feature(self, X: FloatArray, out: FloatArray, workspace: Workspace) -> None:
        rows = X.shape[0]
        m, d = self.shape
        columns = workspace.take(self, "columns", d, rows, X.dtype)
        columns[...] = X.T
        total = workspace.take(self, "total", m, rows, self.dtype)
        total[...] = 0.0
        term = workspace.take(self, "term", m, rows, self.dtype)
        for column, feature in zip(columns, self._vectors.T, strict=True):
            np.subtract(column, feature[:, np.newaxis], out=term, casting="same_kind")
            np.abs(term, out=term)
            total += term
        out[...] = total.T

    def pull(self, X: Rows, V: FloatArray) -> FloatArray:
        # dt_ij/dz_jf = factor sign(z_jf - x_if), and the sign of 0 is 0
        gradient = np.zeros(self.shape, dtype=self.dtype)
        length = block_length(self.row_elements, self.dtype)
        for start in range(0, X.shape[0], length):
            rows = dense(X[start : start + length])
            weights = V[start : start + length]
            if self._by_vector:
                for j, vector in enumerate(self._vectors):
                    gradient[j] += weights[:, j] @ np.sign(vector - rows)
            else:
                columns = np.ascontiguousarray(rows.T)
                for f, feature in enumerate(self._vectors.T):
                    signs = np.sign(feature[:, np.newaxis] - columns[f])
                    gradient[:, f] += np.einsum("ij,ji->j", weights, signs)
        gradient *= self._factor
        return gradient
