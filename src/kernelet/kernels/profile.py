"""Kernels of the form k(x, z) = profile(t), with t a simple function of x and z.

For a radial kernel t is a multiple of |x - z|^2, for a dot-product kernel it is
gamma x'z + coef0, for the Laplacian a multiple of |x - z|_1. The form knows how to compute t for
a block of rows and how to pull a gradient in t back to the vectors; the kernel writes the scalar
profile and its slope.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, Protocol, final

import numpy as np
from numpy.typing import NDArray

from kernelet.kernels.base import Kernel, PreparedKernel, Pullback
from kernelet.kernels.numerics.arrays import FloatArray, Rows, block_length, quiet
from kernelet.kernels.numerics.blocks import Workspace, run_blocks


class Form(Protocol):
    """t(x, z_1), ..., t(x, z_m) for fixed vectors."""

    shape: tuple[int, int]
    dtype: np.dtype[Any]
    row_elements: int

    def fill(self, X: Rows, out: FloatArray, workspace: Workspace) -> None:
        """Write t(x_i, z_j) of a block of rows into `out`."""
        ...

    def pull(self, X: Rows, V: FloatArray) -> FloatArray:
        """sum_i V_ij dt(x_i, z_j)/dz_j for every j, an array of shape (m, d)."""
        ...


class ProfileKernel(Kernel, ABC):
    """A kernel that is a scalar function, its profile, of a form in x and z.

    Attributes
    ----------
    slope_is_value : bool
        Whether the profile is its own derivative (exp), so that the slope needs no memory.
    """

    has_input_gradient = True
    is_serializable = True

    @property
    @abstractmethod
    def slope_is_value(self) -> bool: ...

    @abstractmethod
    def form(self, Z: FloatArray) -> Form:
        """The form for these vectors."""

    @abstractmethod
    def profile(self, t: FloatArray) -> None:
        """Overwrite t by profile(t)."""

    @abstractmethod
    def profile_and_slope(self, t: FloatArray, slope: FloatArray) -> None:
        """Overwrite t by profile(t), and `slope` by the derivative of the profile at t.

        Where `slope_is_value`, both are the same array.
        """

    @final
    @quiet
    def prepare(self, Z: FloatArray) -> PreparedKernel:
        return _PreparedProfile(self, self.form(Z))


class _PreparedProfile(PreparedKernel):
    def __init__(self, kernel: ProfileKernel, form: Form) -> None:
        self.n_vectors, self.n_features = form.shape
        self.dtype = form.dtype
        self.row_elements = form.row_elements
        self._form = form
        self._profile = kernel.profile
        self._kernel = kernel

    def fill(self, X: Rows, out: FloatArray, workspace: Workspace) -> None:
        self._form.fill(X, out, workspace)
        self._profile(out)

    @quiet
    def linearize(self, X: Rows) -> tuple[FloatArray, Pullback]:
        K = np.empty((X.shape[0], self.n_vectors), dtype=self.dtype)
        slope = K if self._kernel.slope_is_value else np.empty_like(K)

        def task(start: int, stop: int, workspace: Workspace) -> None:
            self._form.fill(X[start:stop], K[start:stop], workspace)
            self._kernel.profile_and_slope(K[start:stop], slope[start:stop])

        length = block_length(self.row_elements, self.dtype)
        run_blocks(task, X.shape[0], length, self.row_elements)

        @quiet
        def pullback(W: FloatArray, rows: NDArray[np.intp] | None = None) -> FloatArray:
            if rows is None:
                return self._form.pull(X, W * slope)
            return self._form.pull(X[rows], W * slope[rows])

        return K, pullback
