"""A kernel on linear combinations of the features."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from kernelet.kernels.base import Kernel, PreparedKernel, Pullback
from kernelet.kernels.composite import CompositeKernel
from kernelet.kernels.numerics.arrays import (
    FloatArray,
    Rows,
    block_length,
    check_rows,
    dense,
    float_dtype,
    is_sparse,
    quiet,
)
from kernelet.kernels.numerics.blocks import Workspace, run_blocks
from kernelet.kernels.numerics.distances import anchor_of
from kernelet.kernels.numerics.lazy import lazy
from kernelet.kernels.parameters import LONGEST_TEXT, finite
from kernelet.kernels.registry import register_kernel


@final
@register_kernel
@dataclass(frozen=True, eq=False, repr=False)
class ProjectedFeatures(CompositeKernel):
    r"""A kernel on linear combinations of the features, as many as the matrix has rows.

    .. math:: k(x, z) = k_0(A x, A z)

    Rows of data and vectors keep their d features. A prediction takes the product A x once for
    each row, and the kernel values of the combinations after that: r d + m r operations instead of
    m d, for m vectors and a matrix of r rows.

    Parameters
    ----------
    kernel : Kernel
        Kernel of the combinations.
    matrix : array-like of shape (r, d)
        A, with a row for each combination and a column for each feature. The kernel keeps a
        read-only copy in float64.

    Notes
    -----
    Sparse rows are projected as they are; only the combinations become dense. For a kernel of
    x - z, the mean of the vectors is first subtracted from dense rows if that keeps digits.

    A kernel with an edge at x = z has one wherever A x = A z. If a row coincides with a vector,
    rounding of A x decides on which side of the edge it is.

    Examples
    --------
    >>> from kernelet.kernels import Gaussian, ProjectedFeatures
    >>> kernel = ProjectedFeatures(Gaussian(gamma=0.5), [[1.0, 1.0, 0.0]])
    >>> kernel([[0.0, 0.0, 0.0]], [[1.0, 0.0, 0.0], [1.0, -1.0, 5.0]])
    array([[0.60653066, 1.        ]])
    >>> kernel.matrix.shape
    (1, 3)
    """

    kernel: Kernel
    matrix: NDArray[np.float64]

    name = "projected_features"

    def __post_init__(self) -> None:
        if not isinstance(self.kernel, Kernel):
            raise ValueError(f"kernel must be a kernel, got {self.kernel!r}.")
        matrix = _checked_matrix(self.matrix)
        if self.kernel.n_features not in (None, len(matrix)):
            raise ValueError(
                f"the matrix has {len(matrix)} rows, but the kernel is one of "
                f"{self.kernel.n_features} features."
            )
        matrix.flags.writeable = False
        object.__setattr__(self, "matrix", matrix)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, ProjectedFeatures):
            return NotImplemented
        return self.kernel == other.kernel and np.array_equal(self.matrix, other.matrix)

    def __hash__(self) -> int:
        return hash((self.kernel, self.matrix.shape, self.matrix.tobytes()))

    def __repr__(self) -> str:
        r, d = self.matrix.shape
        # no number has fewer than 3 characters
        text = repr(self.matrix.tolist()) if 3 * r * d < LONGEST_TEXT else ""
        if not 0 < len(text) <= LONGEST_TEXT:
            text = f"<{r} x {d} numbers>"
        return f"ProjectedFeatures(kernel={self.kernel!r}, matrix={text})"

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self.__post_init__()  # copies and pickles of a read-only array can be written to

    @property
    def n_features(self) -> int:
        return int(self.matrix.shape[1])

    @property
    def largest_value(self) -> float:
        return self.kernel.largest_value

    @property
    def parts(self) -> tuple[Kernel, ...]:
        return (self.kernel,)

    @quiet
    def prepare(self, Z: FloatArray) -> PreparedKernel:
        self._check_width(Z)
        anchor = anchor_of(Z) if self.is_translation_invariant else None
        centred = Z if anchor is None else Z - anchor
        projected = centred @ self.matrix.astype(Z.dtype, copy=False).T
        if not np.isfinite(projected).all() and np.isfinite(Z).all():
            raise ValueError(
                f"vectors as large as {np.abs(Z).max():.0e} cannot be multiplied by a matrix as "
                f"large as {np.abs(self.matrix).max():.0e}; scale the data, or the matrix."
            )
        return _PreparedProjection(self.kernel.prepare(projected), anchor, self.matrix)

    @quiet
    def diagonal(self, X: Rows) -> FloatArray:
        rows = check_rows(X)
        self._check_width(rows)
        dtype = float_dtype(rows)
        projected = np.empty((rows.shape[0], len(self.matrix)), dtype=dtype)
        _Projection(self.matrix, None, dtype).fill_all(rows, projected)
        return self.kernel.diagonal(projected)

    def _check_width(self, rows: Rows) -> None:
        if rows.shape[1] != self.n_features:
            raise ValueError(
                f"the matrix of the kernel has {self.n_features} columns, the rows have "
                f"{rows.shape[1]} features."
            )


def _checked_matrix(given: Any) -> NDArray[np.float64]:
    """A copy in C order; equal matrices have equal bytes."""
    if hasattr(given, "__array__"):  # tables as well
        given = np.asarray(given)
    if isinstance(given, np.ndarray) and given.dtype.kind in "fiu" and given.ndim == 2:
        # + 0.0 turns -0.0 into 0.0
        matrix = np.array(given, dtype=np.float64, order="C") + 0.0
        if not np.isfinite(matrix).all():
            raise ValueError("the matrix must hold finite numbers.")
    else:
        if not _is_sequence(given) or not all(map(_is_sequence, given)):
            raise ValueError(
                "matrix must be two-dimensional, with a row for each combination and a column for "
                f"each feature; got {type(given).__name__}"
                + (f" of shape {given.shape}." if isinstance(given, np.ndarray) else ".")
            )
        rows = [[finite("an entry of the matrix", entry) for entry in row] for row in given]
        if len({len(row) for row in rows}) > 1:
            raise ValueError("the rows of the matrix must have the same length.")
        matrix = np.array(rows, dtype=np.float64) + 0.0
    if not matrix.size:
        raise ValueError(
            f"the matrix must have a row and a column at least, got shape {matrix.shape}."
        )
    return matrix


def _is_sequence(value: Any) -> bool:
    is_array = isinstance(value, np.ndarray) and value.ndim > 0
    return is_array or (isinstance(value, Sequence) and not isinstance(value, str | bytes))


class _Projection:
    """A (x - anchor) of rows, in one type."""

    def __init__(
        self, matrix: NDArray[np.float64], anchor: FloatArray | None, dtype: np.dtype[Any]
    ) -> None:
        self.rank, self.n_features = matrix.shape
        self.dtype = dtype
        self._anchor = anchor
        self._columns = matrix.astype(dtype, copy=False).T
        self._matrix = matrix
        self._moved = None if anchor is None else matrix @ anchor.astype(np.float64)

    def fill(self, X: Rows, out: FloatArray, workspace: Workspace) -> None:
        if is_sparse(X):
            # Sparse rows cannot be shifted before the product. It is computed in double precision,
            # where float32 rows have digits to spare for the difference after it.
            product = X @ self._wide_columns
            out[...] = product if self._moved is None else product - self._moved
        elif self._anchor is None and X.dtype == self.dtype:
            X.dot(self._columns, out=out)  # for one row three times as fast as np.matmul
        else:
            rows = workspace.take(self, "rows", X.shape[0], self.n_features, self.dtype)
            if self._anchor is None:
                np.copyto(rows, dense(X), casting="same_kind")
            else:
                np.subtract(dense(X), self._anchor, out=rows, casting="same_kind")
            rows.dot(self._columns, out=out)

    @lazy
    def _wide_columns(self) -> NDArray[np.float64]:
        return np.ascontiguousarray(self._matrix.T)  # which SciPy would make for every block

    def fill_all(self, X: Rows, out: FloatArray) -> None:
        """The same for any number of rows, a block at a time."""
        elements = self.rank + self.n_features
        run_blocks(
            lambda start, stop, workspace: self.fill(X[start:stop], out[start:stop], workspace),
            X.shape[0],
            block_length(elements, self.dtype),
            elements,
        )


class _PreparedProjection(PreparedKernel):
    def __init__(
        self, part: PreparedKernel, anchor: FloatArray | None, matrix: NDArray[np.float64]
    ) -> None:
        self.n_vectors, self.n_features = part.n_vectors, matrix.shape[1]
        self.dtype = part.dtype
        self.row_elements = part.row_elements + sum(matrix.shape)
        self._part = part
        self._projection = _Projection(matrix, anchor, part.dtype)
        self._matrix = matrix.astype(part.dtype, copy=False)

    def fill(self, X: Rows, out: FloatArray, workspace: Workspace) -> None:
        rows = workspace.take(self, "rows", X.shape[0], len(self._matrix), self.dtype)
        self._projection.fill(X, rows, workspace)
        self._part.fill(rows, out, workspace)

    @quiet
    def linearize(self, X: Rows) -> tuple[FloatArray, Pullback]:
        projected = np.empty((X.shape[0], len(self._matrix)), dtype=self.dtype)
        self._projection.fill_all(X, projected)
        K, pullback = self._part.linearize(projected)

        @quiet
        def projected_back(W: FloatArray, rows: NDArray[np.intp] | None = None) -> FloatArray:
            gradient: FloatArray = pullback(W, rows) @ self._matrix
            return gradient

        return K, projected_back
