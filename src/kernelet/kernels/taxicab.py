"""Multiples of sums of absolute differences."""

from __future__ import annotations

import numpy as np

from kernelet.kernels.arrays import FloatArray, Rows, block_length, dense
from kernelet.kernels.blocks import Workspace


class TaxicabDistances:
    """t_ij = factor |x_i - z_j|_1 for fixed vectors.

    No matrix product gives these, so the features are added up one after the other over arrays
    of shape (m, rows), whose rows are long whatever m and d are.

    Parameters
    ----------
    Z : ndarray of shape (m, d), float32 or float64
    factor : float
    """

    def __init__(self, Z: FloatArray, factor: float) -> None:
        m, d = Z.shape
        self.shape = (m, d)
        self.dtype = Z.dtype
        self.row_elements = d + 3 * m
        self._factor = factor
        # Feature f of all vectors is the column self._features[f].
        self._features = np.ascontiguousarray(Z.T)[:, :, np.newaxis]

    def fill(self, X: Rows, out: FloatArray, workspace: Workspace) -> None:
        rows = X.shape[0]
        m, d = self.shape
        columns = workspace.take(self, "columns", d, rows, X.dtype)
        columns[...] = dense(X).T
        total = workspace.take(self, "total", m, rows, self.dtype)
        total[...] = 0.0
        term = workspace.take(self, "term", m, rows, self.dtype)
        for feature, column in zip(self._features, columns, strict=True):
            np.subtract(feature, column, out=term, casting="same_kind")
            np.abs(term, out=term)
            total += term
        np.multiply(total.T, self._factor, out=out)

    def pull(self, X: Rows, V: FloatArray) -> FloatArray:
        # dt_ij/dz_jf = factor sign(z_jf - x_if), and the sign of 0 is 0
        m, d = self.shape
        gradient = np.zeros((m, d), dtype=self.dtype)
        length = block_length(self.row_elements, self.dtype)
        for start in range(0, X.shape[0], length):
            weights = np.ascontiguousarray(V[start : start + length].T)
            columns = dense(X[start : start + length]).T
            for f in range(d):
                signs = np.sign(self._features[f] - columns[f])
                gradient[:, f] += np.einsum("ji,ji->j", weights, signs)
        gradient *= self._factor
        return gradient
