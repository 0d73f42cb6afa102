"""Rows of data as NumPy arrays or SciPy CSR matrices, behind a few functions.

SciPy is never imported here: a matrix of its kind can only exist where somebody else has imported
it, so prediction needs NumPy alone.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import wraps
from typing import Any, ParamSpec, Protocol, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

P = ParamSpec("P")
R = TypeVar("R")
FloatArray: TypeAlias = NDArray[Any]
IndexArray: TypeAlias = NDArray[np.intp]
BoolArray: TypeAlias = NDArray[np.bool_]
# A 2-D NumPy array or a SciPy CSR matrix; Any, since SciPy's types are not ours to import.
Rows: TypeAlias = Any

# Scratch memory of one thread: it should stay in the second-level cache of one core, which has
# half a megabyte to two on today's processors.
BLOCK_BYTES = 1 << 20


class RowMatrix(Protocol):
    """What a NumPy array of two dimensions and a SciPy CSR matrix have in common."""

    @property
    def shape(self) -> tuple[int, ...]: ...

    @property
    def ndim(self) -> int: ...

    @property
    def dtype(self) -> np.dtype[Any]: ...

    def __getitem__(self, index: Any, /) -> Any: ...

    def astype(self, dtype: Any, /, *, copy: bool = ...) -> Any: ...


def quiet(function: Callable[P, R]) -> Callable[P, R]:
    """Compute without NumPy's warnings about overflow and invalid values.

    Overflow is right if a kernel vanishes far away: exp of minus infinity is 0. If it is not, the
    results are not finite, and the caller checks that. One errstate as a decorator would do, but
    before NumPy 2 it forgets the user's settings when calls nest.
    """

    @wraps(function)
    def quietly(*arguments: P.args, **options: P.kwargs) -> R:
        with np.errstate(over="ignore", invalid="ignore"):
            return function(*arguments, **options)

    return quietly


def is_sparse(X: object) -> bool:
    """Whether X is a SciPy sparse matrix or array."""
    if type(X) is np.ndarray:
        return False
    scipy_sparse = sys.modules.get("scipy.sparse")
    return scipy_sparse is not None and bool(scipy_sparse.issparse(X))


def check_rows(X: object, n_features: int | None = None) -> Rows:
    """Rows as a 2-D array of numbers or as CSR without duplicate entries, copied only if needed.

    Parameters
    ----------
    X : array-like or SciPy sparse matrix of shape (n, d)
    n_features : int or None, default=None
        The number of columns that X must have; None accepts any.

    Returns
    -------
    ndarray or CSR of shape (n, d)
        It may contain NaN and infinity.
    """
    rows: Rows = X
    if type(rows) is not np.ndarray:
        rows = rows if is_sparse(rows) else np.asarray(rows)
    check_shape(rows, n_features)
    if rows.dtype.kind not in "fiub":
        if rows.dtype.kind == "c":
            raise ValueError("X holds complex numbers; kernels are defined for real ones.")
        rows = rows.astype(np.float64)
    return rows if type(rows) is np.ndarray else _canonical_csr(rows)


def check_shape(rows: Any, n_features: int | None) -> None:
    """Refuse rows that are not two-dimensional, or have another number of columns.

    Parameters
    ----------
    rows : array or CSR, of any library
    n_features : int or None
        None accepts any.
    """
    if rows.ndim != 2:
        hint = "; for a single row use X.reshape(1, -1)" if rows.ndim == 1 else ""
        raise ValueError(
            f"X must be two-dimensional (rows x features), got shape {tuple(rows.shape)}{hint}."
        )
    if n_features is not None and rows.shape[1] != n_features:
        raise ValueError(f"X has {rows.shape[1]} columns, but the vectors have {n_features}.")


def _canonical_csr(X: Rows) -> Rows:
    rows = X.tocsr()
    if not rows.has_canonical_format:
        # Squared norms read each stored entry as one number; the caller's matrix stays as it is.
        rows = rows.copy()
        rows.sum_duplicates()
    return rows


def check_vectors(Z: object) -> FloatArray:
    """The vectors Z as a dense 2-D array of float32 or float64."""
    if is_sparse(Z):
        raise ValueError("Z must be dense; pass Z.toarray() (only X may be sparse).")
    vectors = np.asarray(Z)
    if vectors.ndim != 2:
        raise ValueError(
            f"Z must be two-dimensional (vectors x features), got shape {vectors.shape}."
        )
    if vectors.dtype.kind == "c":
        raise ValueError("Z holds complex numbers; kernels are defined for real ones.")
    return vectors.astype(float_dtype(vectors), copy=False)


def float_dtype(*arrays: Rows) -> np.dtype[Any]:
    """float32 if all arrays are float32, else float64."""
    single = all(array.dtype == np.float32 for array in arrays)
    return np.dtype(np.float32 if single else np.float64)


def dense(X: Rows) -> FloatArray:
    """A block of rows as a dense array: the array itself, or a dense copy of CSR rows."""
    rows: FloatArray = X if type(X) is np.ndarray else X.toarray()
    return rows


def squared_norms(X: Rows, dtype: np.dtype[Any] | None = None) -> FloatArray:
    """|x_i|^2 of every row, in a given type; None means float32 for float32 rows, else float64."""
    dtype = float_dtype(X) if dtype is None else dtype
    if type(X) is np.ndarray:
        norms: FloatArray = np.einsum("ij,ij->i", X, X, dtype=dtype, casting="same_kind")
        return norms
    entries = X.data.astype(dtype, copy=False)
    squares = type(X)((entries * entries, X.indices, X.indptr), shape=X.shape)
    norms = squares @ np.ones(X.shape[1], dtype=dtype)
    return norms


def block_length(row_elements: int, dtype: np.dtype[Any]) -> int:
    """Rows in a block whose scratch memory is about BLOCK_BYTES.

    At least 64, without which a matrix product is no faster than 64 products with a vector.
    """
    return max(64, BLOCK_BYTES // (dtype.itemsize * max(1, row_elements)))


def weighted_row_sums(X: Rows, V: FloatArray, anchor: FloatArray | None) -> FloatArray:
    """sum_i V_ij (x_i - anchor) for every column j of V: the second product of a pull-back.

    Parameters
    ----------
    X : ndarray or CSR of shape (n, d)
    V : ndarray of shape (n, m)
    anchor : ndarray of shape (d,) or None
        None means the origin.

    Returns
    -------
    ndarray of shape (m, d), in the type of V
    """
    n, d = X.shape
    if anchor is None and is_sparse(X):
        sums: FloatArray = np.ascontiguousarray((X.T @ V).T, dtype=V.dtype)
        return sums
    if anchor is None and X.dtype == V.dtype:
        sums = V.T @ X
        return sums
    # Differences to the anchor, or rows of another type, exist for one block at a time.
    shift = np.zeros(d, dtype=V.dtype) if anchor is None else anchor
    length = block_length(d + V.shape[1], V.dtype)
    sums = np.zeros((V.shape[1], d), dtype=V.dtype)
    buffer = np.empty((min(n, length), d), dtype=V.dtype)
    for start in range(0, n, length):
        block = dense(X[start : start + length])
        rows = buffer[: block.shape[0]]
        np.subtract(block, shift, out=rows, casting="same_kind")
        sums += V[start : start + length].T @ rows
    return sums
