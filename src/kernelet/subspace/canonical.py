"""Canonical rows: one representation of a weighted sample, whatever its order and repetitions.

A fit that starts from these rows cannot tell a weight of three from three equal rows, nor one order
of the rows from another: both reach it as the same bits.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from kernelet.kernels.numerics.arrays import FloatArray, IndexArray

Keys = tuple[NDArray[Any], ...]


@dataclass(frozen=True, eq=False)
class CanonicalRows:
    """Distinct rows in lexicographic order, each with the sum of the weights it had.

    Attributes
    ----------
    X : ndarray or CSR array of shape (n_distinct, d)
        The rows, with -0.0 written as 0.0; float32 stays float32.
    y : ndarray of shape (n_distinct,) or None
        The label or target of each; rows with equal x and different y stay apart.
    costs : ndarray of shape (n_distinct,)
        The weights, added up; all positive.
    inverse : ndarray of shape (n,)
        Where each original row went, ``-1`` for a row of weight zero.
    """

    X: Any
    y: NDArray[Any] | None
    costs: FloatArray
    inverse: IndexArray


def canonical_rows(
    X: Any, y: ArrayLike | None = None, sample_weight: ArrayLike | None = None
) -> CanonicalRows:
    """Drop rows of weight zero, merge equal (x, y) rows, and sort what is left.

    Rows are ordered by x, column after column, then by y. Dense and CSR input of equal values come
    out in the same order. The weights of a group are added in increasing order, so that their sum
    does not depend on the order of the rows.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n, d)
        Sparse input is taken as CSR and never made dense.
    y : array-like of shape (n,), default=None
        Numbers: encoded labels or targets.
    sample_weight : float or array-like of shape (n,), default=None
        Weights >= 0, all 1 when not given.

    Returns
    -------
    CanonicalRows

    Examples
    --------
    >>> rows = canonical_rows([[2.0], [1.0], [2.0], [5.0]], [1, 0, 1, 0], [1.0, 4.0, 2.0, 0.0])
    >>> rows.X.ravel(), rows.y, rows.costs, rows.inverse
    (array([1., 2.]), array([0, 1]), array([4., 3.]), array([ 1,  0,  1, -1]))
    """
    X = _as_float_rows(X)
    n = X.shape[0]
    weights = _checked_weights(sample_weight, n)
    kept = np.flatnonzero(weights > 0)
    if not kept.size:
        raise ValueError(
            f"sample_weight leaves no row: all {n} weights are zero. Give at least one row a "
            "positive weight."
        )
    labels = None if y is None else _checked_labels(y, n)
    if kept.size < n:
        X, weights = X[kept], weights[kept]
        labels = None if labels is None else labels[kept]

    group = _lexicographic_groups(X)
    ties = np.zeros(kept.size) if labels is None else labels
    order = np.lexsort((weights, ties, group))
    is_first = np.diff(group[order], prepend=-1) != 0
    is_first[1:] |= ties[order][1:] != ties[order][:-1]
    position = np.cumsum(is_first) - 1
    # bincount adds in the order given, one after the other: increasing weights within a group.
    costs: FloatArray = np.bincount(position, weights=weights[order]).astype(np.float64)
    first = order[is_first]
    inverse = np.full(n, -1, dtype=np.intp)
    inverse[kept[order]] = position
    rows = X[first]
    if not sparse.issparse(rows):
        rows += rows.dtype.type(0.0)  # -0.0 + 0.0 is 0.0
    return CanonicalRows(rows, None if labels is None else labels[first], costs, inverse)


def _as_float_rows(X: Any) -> Any:
    """X as C-contiguous floats or as canonical CSR, a fresh copy where something had to change."""
    if sparse.issparse(X):
        X = sparse.csr_array(X)
        X = X if X.dtype in (np.float32, np.float64) else X.astype(np.float64)
        if not X.has_canonical_format or not X.data.all():
            X = X.copy()
            X.sum_duplicates()
            X.eliminate_zeros()
        values = X.data
    else:
        X = np.asarray(X)
        X = X if X.dtype in (np.float32, np.float64) else X.astype(np.float64)
        if X.ndim != 2:
            raise ValueError(f"X must be two-dimensional, got shape {X.shape}.")
        X = values = np.ascontiguousarray(X)
    with np.errstate(over="ignore", invalid="ignore"):
        total = values.sum()
    # the sum is quicker, and finite unless it overflows
    if not np.isfinite(total) and not np.isfinite(values).all():
        raise ValueError("X contains NaN or infinity; impute or drop these rows first.")
    return X


def _checked_weights(sample_weight: ArrayLike | None, n: int) -> FloatArray:
    if sample_weight is None:
        return np.ones(n)
    weights = np.asarray(sample_weight, dtype=np.float64)
    if weights.ndim == 0:
        weights = np.full(n, float(weights))
    if weights.shape != (n,):
        raise ValueError(f"sample_weight must have shape ({n},) as X has, got {weights.shape}.")
    if not np.isfinite(weights).all():
        raise ValueError("sample_weight contains NaN or infinity; every weight must be finite.")
    if (weights < 0).any():
        raise ValueError(
            f"sample_weight must not be negative, its least value is {weights.min():g}. Use 0 to "
            "leave a row out."
        )
    return weights


def _checked_labels(y: ArrayLike, n: int) -> NDArray[Any]:
    labels = np.asarray(y)
    if labels.shape != (n,):
        raise ValueError(f"y must have shape ({n},) as X has rows, got {labels.shape}.")
    if labels.dtype.kind not in "biuf":
        raise ValueError(f"y must hold numbers (encoded labels or targets), got {labels.dtype}.")
    if labels.dtype.kind == "f":
        if not np.isfinite(labels).all():
            raise ValueError("y contains NaN or infinity; drop these rows first.")
        labels = labels + labels.dtype.type(0.0)
    return labels


class _DenseKeys:
    """The keys of rows, one column after the other."""

    def __init__(self, X: NDArray[Any]) -> None:
        self._X = X
        self.last_step = np.full(X.shape[0], X.shape[1] - 1)

    def at(self, step: int, rows: IndexArray) -> Keys:
        return (self._X[rows, step],)


class _SparseKeys:
    """The keys of CSR rows, one stored entry after the other, giving the order of the dense rows.

    Where the stored entries of two rows first differ, a row with the entry v in column j meets a
    zero of the other row there. A negative v makes it the smaller row, the more so the earlier j
    is; a positive v makes it the larger one. A row that has ended is zero from there on, between
    the two. Hence the key j - d for v < 0, 0 at the end, d - j for v > 0, and then v itself.
    """

    def __init__(self, X: Any) -> None:
        self._starts = X.indptr[:-1]
        self.last_step = np.diff(X.indptr)  # where the row's end is its key
        columns, d = X.indices.astype(np.intp), X.shape[1]
        # One entry more than is stored, which every row that has ended points to.
        self._columns = np.append(np.where(X.data < 0, columns - d, d - columns), 0)
        self._values = np.append(X.data, X.dtype.type(0))

    def at(self, step: int, rows: IndexArray) -> Keys:
        entry = np.where(step < self.last_step[rows], self._starts[rows] + step, -1)
        return self._columns[entry], self._values[entry]


def _lexicographic_groups(X: Any) -> IndexArray:
    """For each row, how many rows are smaller: equal rows share the number.

    Groups are split by one key after the other. Rows that are alone in their group, or that have
    ended, need no further key: on continuous data one sort of the first column is all there is.
    """
    keys = _SparseKeys(X) if sparse.issparse(X) else _DenseKeys(X)
    group = np.zeros(X.shape[0], dtype=np.intp)
    rows = np.flatnonzero(keys.last_step >= 0)
    step = 0
    while rows.size:
        columns = keys.at(step, rows)
        order = np.lexsort((*columns[::-1], group[rows]))
        rows, place = rows[order], np.arange(rows.size)
        old_start = np.diff(group[rows], prepend=-1) != 0
        new_start = old_start.copy()
        for column in columns:
            new_start[1:] |= column[order][1:] != column[order][:-1]
        # The old group's number, plus the place of the new group's first row within the old one.
        first_of = np.maximum.accumulate
        group[rows] += first_of(np.where(new_start, place, 0))
        group[rows] -= first_of(np.where(old_start, place, 0))
        step += 1
        is_alone = new_start & np.append(new_start[1:], True)
        rows = rows[~is_alone & (keys.last_step[rows] >= step)]
    return group
