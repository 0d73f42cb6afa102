"""Kernels of the form k(x, z) = profile(t), with t a simple function of x and z.

For a radial kernel t is a multiple of |x - z|^2, for a dot-product kernel it is
gamma x'z + coef0, for the Laplacian a multiple of |x - z|_1. The form knows how to compute t for
a block of rows and how to pull a gradient in t back to the vectors; the kernel writes the formula
of its profile, from which values, slopes and exports follow.
"""

from __future__ import annotations

import dataclasses
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any, ClassVar, NamedTuple, Protocol, final

import numpy as np
from numpy.typing import NDArray

from kernelet.kernels.base import Kernel, PreparedKernel, Pullback
from kernelet.kernels.derivative import derivative
from kernelet.kernels.expression import Argument, Expression, FeatureSum, SumOverFeatures
from kernelet.kernels.numerics.arrays import (
    FloatArray,
    Rows,
    block_length,
    check_rows,
    float_dtype,
    quiet,
)
from kernelet.kernels.numerics.blocks import Workspace, run_blocks
from kernelet.kernels.numerics.evaluation import Program, program
from kernelet.kernels.parameters import positive


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
    """A kernel that is a scalar function, its profile, of t = scale s + shift.

    s is a sum over the features, such as |x - z|^2. A leaf is a frozen dataclass, all of whose
    parameters are numbers.

    Attributes
    ----------
    feature_sum : FeatureSum
        What s is.
    scale_and_shift : tuple of float
    checks : mapping
        Checks of parameters by name, functions of `kernelet.kernels.parameters`; parameters
        without an entry must be finite numbers above 0.
    """

    has_input_gradient = True
    is_serializable = True
    feature_sum: ClassVar[FeatureSum]
    checks: ClassVar[Mapping[str, Callable[[str, object], float]]] = {}

    def __post_init__(self) -> None:
        # Every leaf is a dataclass, which the type of its base class cannot say.
        for field in dataclasses.fields(self):  # type: ignore[arg-type]
            check = self.checks.get(field.name, positive)
            object.__setattr__(self, field.name, check(field.name, getattr(self, field.name)))

    @property
    @abstractmethod
    def scale_and_shift(self) -> tuple[float, float]: ...

    @abstractmethod
    def formula(self, t: Expression) -> Expression:
        """The profile: t in arithmetic and functions of ``kernelet.kernels.expression``."""

    def slope(self, t: Expression) -> Expression:
        """The derivative of the profile at `Argument`, if a shorter form than ours is known."""
        return derivative(self.formula(t))

    @abstractmethod
    def form(self, Z: FloatArray) -> Form:
        """The form for these vectors."""

    @property
    def slope_is_value(self) -> bool:
        """Whether the profile is its own derivative (exp), so that the slope needs no memory."""
        return _programs(self).slope_is_value

    def profile(self, t: FloatArray) -> None:
        """Overwrite t by profile(t).

        This and `profile_and_slope` may be overridden by something faster; a contract test compares
        both with the formula.
        """
        _programs(self).value(t)

    def profile_and_slope(self, t: FloatArray, slope: FloatArray) -> None:
        """Overwrite t by profile(t), and `slope` by the derivative of the profile at t.

        If `slope_is_value`, both are the same array.
        """
        made = _programs(self)
        if made.slope_is_value:
            made.value(t)
        else:
            made.value_and_slope(t, slope)

    @property
    def sensitivity(self) -> float:
        """About how much values change with s, at most; infinity if that is not known."""
        return np.inf

    @final
    def expression(self, scales: tuple[float, ...] = ()) -> Expression:
        scale, shift = self.scale_and_shift
        total = SumOverFeatures(self.feature_sum, scales, self.sensitivity)
        return self.formula(scale * total + shift)

    @final
    @quiet
    def prepare(self, Z: FloatArray) -> PreparedKernel:
        return _PreparedProfile(self, self.form(Z))


class DistanceKernel(ProfileKernel, ABC):
    """A kernel of a multiple of a distance, t = factor s.

    Attributes
    ----------
    factor : float
        Of either sign: the Gaussian uses -gamma, so that its profile is exp.
    """

    is_positive_definite = True
    is_smooth = True
    has_constant_diagonal = True
    is_translation_invariant = True

    @property
    @abstractmethod
    def factor(self) -> float: ...

    @property
    @final
    def scale_and_shift(self) -> tuple[float, float]:
        return self.factor, 0.0

    @property
    @final
    @quiet
    def sensitivity(self) -> float:
        if not self.is_smooth:
            return np.inf
        # Profiles bend at t of about 1, or next to 0: (1 + t)^-100 falls as exp(-100 t) does.
        t = np.copysign(np.append(0.0, np.geomspace(1e-6, 1e3, 28)), self.factor)
        slope = t if self.slope_is_value else np.empty_like(t)
        self.profile_and_slope(t, slope)
        return abs(self.factor) * max(1.0, float(np.abs(slope).max()))

    @property
    def largest_value(self) -> float:
        # |k(x, z)|^2 <= k(x, x) k(z, z) holds for positive definite kernels only
        return float(_at_zero(self)[0]) if self.is_positive_definite else np.inf

    @final
    def diagonal(self, X: Rows) -> FloatArray:
        rows = check_rows(X)
        return np.full(rows.shape[0], _at_zero(self)[0], dtype=float_dtype(rows))


class _Programs(NamedTuple):
    value: Program
    value_and_slope: Program
    slope_is_value: bool


@lru_cache(maxsize=256)
def _programs(kernel: ProfileKernel) -> _Programs:
    """The evaluator of a kernel, cached because searches use the same few kernels repeatedly."""
    value, slope = kernel.formula(Argument()), kernel.slope(Argument())
    return _Programs(program(value), program(value, slope), value == slope)


def _at_zero(kernel: ProfileKernel) -> FloatArray:
    t = np.zeros(1)
    kernel.profile(t)
    return t


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
