"""A kernel given as a plain Python function."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import final

import numpy as np

from kernelet.kernels.base import Kernel, PreparedKernel, Pullback, require_input_gradient
from kernelet.kernels.numerics.arrays import FloatArray, Rows, check_rows, dense, float_dtype
from kernelet.kernels.numerics.blocks import Workspace

# Rows whose k(x, x) are the diagonal of one call of the function: n calls of single rows are slow,
# and one call of n rows computes n^2 values.
_DIAGONAL_ROWS = 32


@final
@dataclass(frozen=True)
class CallableKernel(Kernel):
    """A kernel given as a function, k(X, Z) -> array of shape (n, m).

    There are no gradients, and a function cannot be written to a model file. The function is
    called with blocks of rows of X, maybe from several threads, and with all of Z.

    Parameters
    ----------
    function : callable
        Takes X of shape (n, d), an array or SciPy CSR as given by the caller, and an array Z of
        shape (m, d).
    is_positive_definite : bool, default=True
        Not checked.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelet.kernels import CallableKernel
    >>> def overlap(X, Z):
    ...     return np.minimum(X[:, None, :], Z[None, :, :]).sum(axis=2)
    >>> CallableKernel(overlap)([[1.0, 2.0]], [[3.0, 1.0]])
    array([[2.]])
    """

    function: Callable[[Rows, FloatArray], FloatArray]
    is_positive_definite: bool = True

    name = "callable"
    has_input_gradient = False
    is_smooth = False
    has_constant_diagonal = False
    is_translation_invariant = False
    is_serializable = False

    def __post_init__(self) -> None:
        if not callable(self.function):
            raise ValueError(f"function must be callable, got {self.function!r}.")

    def __repr__(self) -> str:
        # by name: an address is useless, and differs from run to run
        shown = getattr(self.function, "__qualname__", None) or repr(self.function)
        return f"CallableKernel({shown}, is_positive_definite={self.is_positive_definite})"

    def prepare(self, Z: FloatArray) -> PreparedKernel:
        return _PreparedCallable(self, Z)

    def diagonal(self, X: Rows) -> FloatArray:
        rows = check_rows(X)
        diagonal = np.empty(rows.shape[0], dtype=float_dtype(rows))
        for start in range(0, rows.shape[0], _DIAGONAL_ROWS):
            block = rows[start : start + _DIAGONAL_ROWS]
            # vectors are floats, whatever the rows are: differences of bytes would overflow
            vectors = dense(block).astype(diagonal.dtype, copy=False)
            values = self.checked_values(block, vectors)
            diagonal[start : start + _DIAGONAL_ROWS] = np.diagonal(values)
        return diagonal

    def checked_values(self, X: Rows, Z: FloatArray) -> FloatArray:
        """The result of the function, after a check of its shape."""
        values = np.asarray(self.function(X, Z))
        if values.shape != (X.shape[0], Z.shape[0]):
            raise ValueError(
                f"The kernel function {self.function!r} returned shape {values.shape} for "
                f"{X.shape[0]} rows and {Z.shape[0]} vectors; it must return "
                f"{(X.shape[0], Z.shape[0])}."
            )
        return values


class _PreparedCallable(PreparedKernel):
    def __init__(self, kernel: CallableKernel, Z: FloatArray) -> None:
        self.n_vectors, self.n_features = Z.shape
        self.dtype = Z.dtype
        self.row_elements = sum(Z.shape)
        self._kernel = kernel
        self._vectors = Z

    def fill(self, X: Rows, out: FloatArray, workspace: Workspace) -> None:
        out[...] = self._kernel.checked_values(X, self._vectors)

    def linearize(self, X: Rows) -> tuple[FloatArray, Pullback]:
        require_input_gradient(self._kernel, "linearize")
        raise AssertionError  # the line above has raised: this kernel has no gradient
