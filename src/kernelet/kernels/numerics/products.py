"""Inner products, scaled and shifted."""

from __future__ import annotations

import numpy as np

from kernelet.kernels.numerics.arrays import FloatArray, Rows, is_sparse, weighted_row_sums
from kernelet.kernels.numerics.blocks import Workspace


class InnerProducts:
    """t_ij = gamma x_i'z_j + coef0 for fixed vectors.

    Parameters
    ----------
    Z : ndarray of shape (m, d), float32 or float64
    gamma, coef0 : float
    """

    def __init__(self, Z: FloatArray, gamma: float, coef0: float) -> None:
        self.shape = (Z.shape[0], Z.shape[1])
        self.dtype = Z.dtype
        self.row_elements = sum(Z.shape)
        self._gamma = gamma
        self._coef0 = coef0
        self._linear = np.multiply(Z.T, gamma, order="C")
        if not np.isfinite(self._linear).all() and np.isfinite(Z).all():
            raise ValueError(
                f"vectors as large as {np.abs(Z).max():.0e} cannot be multiplied by gamma="
                f"{gamma:.0e}; scale the data, or lower gamma."
            )

    def fill(self, X: Rows, out: FloatArray, workspace: Workspace) -> None:
        if is_sparse(X):
            out[...] = X @ self._linear
        elif X.dtype == self.dtype:
            if X.shape[0] == 1:
                X.dot(self._linear, out=out)  # three times as fast as np.matmul for one row
            else:
                np.matmul(X, self._linear, out=out)
        else:
            rows = workspace.take(self, "rows", X.shape[0], X.shape[1], self.dtype)
            np.copyto(rows, X, casting="same_kind")
            np.matmul(rows, self._linear, out=out)
        if self._coef0 != 0.0:
            out += self._coef0

    def pull(self, X: Rows, V: FloatArray) -> FloatArray:
        gradient = weighted_row_sums(X, V, anchor=None)
        gradient *= self._gamma
        return gradient
