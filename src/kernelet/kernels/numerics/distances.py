"""Multiples of squared Euclidean distances, by a matrix product that keeps its digits."""

from __future__ import annotations

import numpy as np

from kernelet.kernels.numerics.arrays import (
    FloatArray,
    Rows,
    dense,
    is_sparse,
    squared_norms,
    weighted_row_sums,
)
from kernelet.kernels.numerics.blocks import Workspace

# The anchor is used if |mean(Z)|^2 exceeds this many times the spread of Z. Below, the terms of the
# expansion are at most four times as large as they could be: two bits.
_ANCHORED_ABOVE = 3.0
# So few rows cost less to copy than the calls that would avoid it. Both take microseconds, so the
# number is not critical.
_FEW_ROWS = 16
# Pairs whose distances are recomputed one by one hold this many elements at a time: a megabyte in
# double precision, as the blocks have (BLOCK_BYTES).
_PAIR_ELEMENTS = 1 << 17


class SquaredDistances:
    """t_ij = factor |x_i - z_j|^2 for fixed vectors.

    With rows and vectors measured from an anchor c,

        t_ij = factor (|x_i - c|^2 - 2 (x_i - c)'(z_j - c) + |z_j - c|^2)

    is one matrix product of the rows (x - c, |x - c|^2, 1). The terms cancel, and cancel more
    digits the farther the data are from c; so c is the mean of Z, or the origin if that is nearly
    as good, which saves the subtraction.

    The remaining error is about eps max|t|. It matters for pairs that (nearly) coincide, if the
    profile is steep there: the square root of 1e-16 is 1e-8. If `steep` says so, or if
    factor |z - c|^2 is so large that the error of t matters to any profile, the small distances
    are computed again from differences.

    Parameters
    ----------
    Z : ndarray of shape (m, d), float32 or float64
    factor : float
        Of either sign, not 0.
    steep : bool
        Whether the profile changes as sqrt(t) near t = 0.
    """

    def __init__(self, Z: FloatArray, factor: float, steep: bool) -> None:
        m, d = Z.shape
        self.shape = (m, d)
        self.dtype = Z.dtype
        self.row_elements = m + d + 2
        self._vectors = Z
        self._factor = factor
        self._anchor = anchor_of(Z)
        centred = Z if self._anchor is None else Z - self._anchor
        self._centred = centred
        norms = np.einsum("ij,ij->i", centred, centred)
        augmented = np.empty((d + 2, m), dtype=Z.dtype)
        np.multiply(centred.T, -2.0 * factor, out=augmented[:d])
        augmented[d] = factor
        np.multiply(norms, factor, out=augmented[d + 1])
        if not np.isfinite(augmented).all() and np.isfinite(Z).all():
            # infinity minus infinity is not a distance
            raise ValueError(
                f"vectors as large as {np.abs(Z).max():.0e} cannot be squared and multiplied by "
                f"the kernel's factor {abs(factor):.0e}; scale the data, or lower gamma."
            )
        self._augmented = augmented
        self._linear = augmented[:d]
        self._constant = augmented[d + 1]
        # Rows whose squared norm is larger may have distances that overflow: |x - z|^2 is at most
        # 2 (|x|^2 + |z|^2), and the vectors have been checked. A tenth leaves a margin.
        self._far = 0.1 * float(np.finfo(Z.dtype).max) / max(1.0, abs(factor))
        self._clip = np.minimum if factor < 0.0 else np.maximum
        self._zero = np.zeros((), dtype=Z.dtype)  # quicker than 0.0, which is converted each time
        # The rows of X go into the product as they are if copying them (d numbers each) costs more
        # than two passes over the result (m numbers each), which are what it takes instead.
        self._uses_rows = self._anchor is None and d > 3 * m
        eps = float(np.finfo(Z.dtype).eps)
        size = 2.0 * abs(factor) * float(norms.max(initial=0.0))
        felt = eps * size > eps**0.75  # more than a quarter of the digits cancel
        # Below sqrt(eps) of their terms, distances have lost more than half their digits.
        self._exact_below = eps**0.5 * size if steep or felt else 0.0

    def fill(self, X: Rows, out: FloatArray, workspace: Workspace) -> None:
        if self._anchor is None and is_sparse(X):
            out[...] = X @ self._linear
            norm = self._add_norms(X, out)
        elif X.shape[0] == 1 and X.dtype == self.dtype and type(X) is np.ndarray:
            # Nothing but the overhead of each call counts here.
            row = X[0] if self._anchor is None else X[0] - self._anchor
            row.dot(self._linear, out=out[0])
            out += self._constant
            norm = float(row.dot(row))
            out += self._factor * norm
        elif self._uses_rows and X.dtype == self.dtype and X.shape[0] > _FEW_ROWS:
            np.matmul(X, self._linear, out=out)
            norm = self._add_norms(X, out)
        else:
            d = self.shape[1]
            buffer = workspace.take(self, "rows", X.shape[0], d + 2, self.dtype)
            rows = buffer[:, :d]
            if self._anchor is None:
                np.copyto(rows, X, casting="same_kind")
            else:
                np.subtract(dense(X), self._anchor, out=rows, casting="same_kind")
            np.einsum("ij,ij->i", rows, rows, out=buffer[:, d])
            norm = buffer[:, d].max(initial=0.0) if self._factor > 0.0 else 0.0
            buffer[:, d + 1] = 1.0
            np.matmul(buffer, self._augmented, out=out)
        # Rounding may leave a distance below zero.
        self._clip(out, self._zero, out=out)
        if self._factor > 0.0 and not norm <= self._far:  # also where a row is NaN
            # Profiles of the negative factor are exp, others may be a product of zero and infinity.
            np.minimum(out, np.finfo(self.dtype).max, out=out)
        if self._exact_below > 0.0:
            self._recompute_small(X, out)

    def _add_norms(self, X: Rows, out: FloatArray) -> float:
        """Add the terms that the product leaves out; returns the largest squared norm of a row."""
        # in the type of the vectors: what float32 squares of the rows lose does not cancel
        norms = squared_norms(X, self.dtype)
        largest = float(norms.max(initial=0.0))
        norms *= self._factor
        out += norms[:, np.newaxis]
        out += self._constant
        return largest

    def _recompute_small(self, X: Rows, out: FloatArray) -> None:
        small = np.flatnonzero(np.abs(out) < self._exact_below)
        m, d = self.shape
        step = max(1, _PAIR_ELEMENTS // max(1, d))
        for start in range(0, small.size, step):
            i, j = np.divmod(small[start : start + step], m)
            differences = dense(X[i]) - self._vectors[j]
            out[i, j] = self._factor * np.einsum("ij,ij->i", differences, differences)

    def pull(self, X: Rows, V: FloatArray) -> FloatArray:
        # dt_ij/dz_j = 2 factor ((z_j - c) - (x_i - c))
        gradient: FloatArray = V.sum(axis=0)[:, np.newaxis] * self._centred
        gradient -= weighted_row_sums(X, V, self._anchor)
        gradient *= 2.0 * self._factor
        return gradient


def anchor_of(Z: FloatArray) -> FloatArray | None:
    """The point to measure from: the mean of Z, or None for the origin."""
    if Z.shape[0] == 0:
        return None
    mean = Z.mean(axis=0, dtype=np.float64)
    # digits that cancel here are lost only if the mean is needed anyway
    spread = float(np.einsum("ij,ij->", Z, Z, dtype=np.float64)) / Z.shape[0] - float(mean @ mean)
    if float(mean @ mean) <= _ANCHORED_ABOVE * spread:
        return None
    anchor: FloatArray = mean.astype(Z.dtype)
    return anchor
