"""The interface of kernels."""

from __future__ import annotations

from abc import ABC, abstractmethod
from math import inf
from numbers import Real
from typing import Any, Protocol, final

import numpy as np
from numpy.typing import NDArray

from kernelet.kernels.expression import Expression
from kernelet.kernels.numerics.arrays import (
    FloatArray,
    Rows,
    block_length,
    check_rows,
    check_vectors,
    float_dtype,
    quiet,
)
from kernelet.kernels.numerics.blocks import Workspace, run_blocks


class Pullback(Protocol):
    """Pulls a gradient in kernel values back to the vectors."""

    def __call__(self, W: FloatArray, rows: NDArray[np.intp] | None = None) -> FloatArray:
        """sum_i W_ij dk(x_i, z_j)/dz_j; with ``rows``, W and the sum are for these rows only."""
        ...


class PreparedKernel(ABC):
    """k(., z_1), ..., k(., z_m): a kernel whose vectors are fixed.

    Whatever depends only on Z is computed once, in the constructor.

    Attributes
    ----------
    n_vectors, n_features : int
        m and d.
    dtype : dtype
        float32 or float64; everything is computed in this type.
    row_elements : int
        Elements of scratch and output that one row of X needs; they determine the length of a
        block.
    """

    n_vectors: int
    n_features: int
    dtype: np.dtype[Any]
    row_elements: int

    @abstractmethod
    def fill(self, X: Rows, out: FloatArray, workspace: Workspace) -> None:
        """Write k(x_i, z_j) of a block of rows into `out`, an array of shape (rows, m)."""

    @abstractmethod
    def linearize(self, X: Rows) -> tuple[FloatArray, Pullback]:
        """Values of all rows and the pull-back to the vectors; see `Kernel.value_and_pullback`."""

    @final
    @quiet
    def __call__(self, X: Rows) -> FloatArray:
        """The matrix of all k(x_i, z_j), for rows that `check_rows` has passed."""
        K = np.empty((X.shape[0], self.n_vectors), dtype=self.dtype)
        run_blocks(
            lambda start, stop, workspace: self.fill(X[start:stop], K[start:stop], workspace),
            X.shape[0],
            block_length(self.row_elements, self.dtype),
            self.row_elements,
        )
        return K


class Kernel(ABC):
    """A kernel k(x, z), with gradients in the vectors z.

    Kernels are frozen dataclasses: they compare by their parameters and can be hashed. `a + b`,
    `a * b` and `2.0 * a` are kernels again.

    Attributes
    ----------
    name : str
        Name of the kernel in a specification.
    is_positive_definite : bool
        Whether every Gram matrix is positive semi-definite.
    has_input_gradient : bool
        Whether `value_and_pullback` and `grad_vectors` can be called.
    is_smooth : bool
        Whether k is continuously differentiable in z everywhere. If not, the docstring says what
        is used as the derivative.
    has_constant_diagonal : bool
        Whether k(x, x) is the same for all x.
    is_translation_invariant : bool
        Whether k(x + c, z + c) is the same for all c.
    is_serializable : bool
        Whether `specification` can be called.
    largest_value : float
        A bound on all abs(k(x, z)); infinity if there is none.
    n_features : int or None
        The number of features that rows must have; None means any.
    """

    # A NumPy scalar on the left of `*` leaves the operation to the kernel.
    __array_ufunc__ = None

    @property
    @abstractmethod
    def name(self) -> str: ...

    @property
    @abstractmethod
    def is_positive_definite(self) -> bool: ...

    @property
    @abstractmethod
    def has_input_gradient(self) -> bool: ...

    @property
    @abstractmethod
    def is_smooth(self) -> bool: ...

    @property
    @abstractmethod
    def has_constant_diagonal(self) -> bool: ...

    @property
    @abstractmethod
    def is_translation_invariant(self) -> bool: ...

    @property
    @abstractmethod
    def is_serializable(self) -> bool: ...

    @property
    def n_features(self) -> int | None:
        return None

    @property
    def largest_value(self) -> float:
        return inf

    @abstractmethod
    def prepare(self, Z: FloatArray) -> PreparedKernel:
        """Fix the vectors, an array of float32 or float64; computations use the same type."""

    @abstractmethod
    def diagonal(self, X: Rows) -> FloatArray:
        """k(x_i, x_i) of every row, in float32 for float32 rows and in float64 otherwise."""

    @final
    @quiet
    def __call__(self, X: Rows, Z: FloatArray) -> FloatArray:
        """The matrix of all k(x_i, z_j).

        Parameters
        ----------
        X : array-like or SciPy sparse matrix of shape (n, d)
        Z : array-like of shape (m, d)

        Returns
        -------
        ndarray of shape (n, m)
            float32 if both are, else float64.
        """
        rows, vectors = _checked(X, Z)
        return self.prepare(vectors)(rows)

    @final
    @quiet
    def value_and_pullback(self, X: Rows, Z: FloatArray) -> tuple[FloatArray, Pullback]:
        """Values, and the function that pulls a gradient in them back to the vectors.

        Parameters
        ----------
        X : array-like or SciPy sparse matrix of shape (n, d)
        Z : array-like of shape (m, d)

        Returns
        -------
        K : ndarray of shape (n, m)
            Read-only: the pull-back makes use of it.
        pullback : callable
            Takes W of shape (n, m) to the array of shape (m, d) with rows
            sum_i W_ij dk(x_i, z_j)/dz_j. With a second argument, the indices of some rows, the
            sum is over these, and W has a row for each. X is kept, not copied: do not modify it
            before the last call.
        """
        require_input_gradient(self, "value_and_pullback")
        rows, vectors = _checked(X, Z)
        K, pullback = self.prepare(vectors).linearize(rows)
        K.flags.writeable = False

        @quiet
        def checked_pullback(W: FloatArray, rows: NDArray[np.intp] | None = None) -> FloatArray:
            weights = np.asarray(W, dtype=K.dtype)
            shape = K.shape if rows is None else (len(rows), K.shape[1])
            if weights.shape != shape:
                raise ValueError(f"W must have the shape {shape} of K, got {weights.shape}.")
            return pullback(weights, rows)

        return K, checked_pullback

    @final
    def grad_vectors(self, X: Rows, Z: FloatArray, W: FloatArray) -> FloatArray:
        """sum_i W_ij dk(x_i, z_j)/dz_j for every j, an array of shape (m, d)."""
        return self.value_and_pullback(X, Z)[1](W)

    def expression(self, scales: tuple[float, ...] = ()) -> Expression:
        """k(x, z) as a formula of sums over the features, which exports use.

        Parameters
        ----------
        scales : tuple of float, default=()
            The features are multiplied by these first.

        Raises
        ------
        ValueError
            If there is none.
        """
        raise ValueError(f"{self!r} has no formula, so it cannot be exported.")

    @final
    def specification(self) -> dict[str, Any]:
        """Name and parameters as a dict that JSON can hold; `kernel_from_specification` reads it.

        Raises
        ------
        ValueError
            If the kernel is, or contains, a Python function, or its class is not registered.
        """
        from kernelet.kernels.specification import described  # it imports this module

        return described(self, np.ndarray.tolist)

    def __add__(self, other: object) -> Kernel:
        from kernelet.kernels.composite import Sum  # it imports this module

        return Sum((self, other)) if isinstance(other, Kernel) else NotImplemented

    def __mul__(self, other: object) -> Kernel:
        from kernelet.kernels.composite import Product, Scaled  # it imports this module

        if isinstance(other, Kernel):
            return Product((self, other))
        return Scaled(self, float(other)) if isinstance(other, Real) else NotImplemented

    __rmul__ = __mul__


def _checked(X: Rows, Z: FloatArray) -> tuple[Rows, FloatArray]:
    vectors = check_vectors(Z)
    rows = check_rows(X, vectors.shape[1])
    return rows, vectors.astype(float_dtype(rows, vectors), copy=False)


def require_input_gradient(kernel: Kernel, who: str) -> None:
    """Refuse a kernel without gradients, before any work is done.

    Parameters
    ----------
    kernel : Kernel
    who : str
        The method that needs the gradients, by its public name.

    Raises
    ------
    ValueError
        The message names the method and the kernel.
    """
    if not kernel.has_input_gradient:
        raise ValueError(
            f"{who} needs the gradient of the kernel in its vectors, which {kernel!r} does not "
            "have. Use a kernel of kernelet.kernels, such as 'rbf', or a method that does not move "
            "the vectors."
        )
