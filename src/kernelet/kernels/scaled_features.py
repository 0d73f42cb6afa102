"""A kernel on features with a scale each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import final

import numpy as np
from numpy.typing import NDArray

from kernelet.kernels.base import Kernel, PreparedKernel, Pullback
from kernelet.kernels.composite import CompositeKernel
from kernelet.kernels.expression import Expression
from kernelet.kernels.numerics.arrays import (
    FloatArray,
    Rows,
    check_rows,
    dense,
    float_dtype,
    is_sparse,
    quiet,
)
from kernelet.kernels.numerics.blocks import Workspace
from kernelet.kernels.parameters import LONGEST_TEXT, finite
from kernelet.kernels.registry import register_kernel


@final
@register_kernel
@dataclass(frozen=True, repr=False)
class ScaledFeatures(CompositeKernel):
    r"""A kernel on features that are multiplied by scales first: one width per feature.

    .. math:: k(x, z) = k_0(s_1 x_1, \dots, s_d x_d;\; s_1 z_1, \dots, s_d z_d)

    Over the Gaussian kernel, feature f has the width :math:`1 / (s_f \sqrt{2 \gamma})`.

    Parameters
    ----------
    kernel : Kernel
        Kernel of the scaled features.
    scales : sequence of float
        One for each feature, none below 0. A scale of 0 leaves the feature out.

    Examples
    --------
    >>> from kernelet.kernels import Gaussian, ScaledFeatures
    >>> kernel = ScaledFeatures(Gaussian(gamma=0.5), scales=[1.0, 0.1])
    >>> kernel([[0.0, 0.0]], [[1.0, 0.0], [0.0, 1.0]])
    array([[0.60653066, 0.99501248]])
    """

    kernel: Kernel
    scales: tuple[float, ...]

    name = "scaled_features"

    def __post_init__(self) -> None:
        if not isinstance(self.kernel, Kernel):
            raise ValueError(f"kernel must be a kernel, got {self.kernel!r}.")
        given: object = self.scales
        if not isinstance(given, Sequence | np.ndarray) or isinstance(given, str):
            raise ValueError(f"scales must be numbers, one for each feature, got {given!r}.")
        is_array = isinstance(given, np.ndarray) and given.dtype == np.float64 and given.ndim == 1
        if is_array and np.isfinite(given).all():
            # a search makes a kernel for every evaluation: check all numbers at once
            scales = tuple(np.asarray(given).tolist())
        else:
            scales = tuple(finite("a scale", scale) for scale in given)
        if not scales or min(scales) < 0.0:
            raise ValueError(
                f"scales must hold a number for each feature, none below 0; got {given!r}."
            )
        if self.kernel.n_features not in (None, len(scales)):
            asked = self.kernel.n_features
            raise ValueError(f"{len(scales)} scales were given for a kernel of {asked} features.")
        object.__setattr__(self, "scales", scales)

    def __repr__(self) -> str:
        text = repr(self.scales)
        if len(text) > LONGEST_TEXT:
            text = f"<{len(self.scales)} numbers>"
        return f"ScaledFeatures(kernel={self.kernel!r}, scales={text})"

    @property
    def n_features(self) -> int:
        return len(self.scales)

    @property
    def largest_value(self) -> float:
        return self.kernel.largest_value

    @property
    def parts(self) -> tuple[Kernel, ...]:
        return (self.kernel,)

    def expression(self, scales: tuple[float, ...] = ()) -> Expression:
        outer = scales or (1.0,) * len(self.scales)
        return self.kernel.expression(tuple(a * b for a, b in zip(outer, self.scales, strict=True)))

    @quiet
    def prepare(self, Z: FloatArray) -> PreparedKernel:
        scales = self._fitting(Z).astype(Z.dtype)
        anchor = np.zeros_like(scales)
        if Z.dtype == np.float32 and self.is_translation_invariant and Z.shape[0]:
            # products of data far from zero would round what is left of 24 digits away
            anchor = Z.mean(axis=0, dtype=np.float64).astype(Z.dtype)
        part = self.kernel.prepare((Z - anchor) * scales)
        return _PreparedScaledFeatures(part, anchor, scales)

    @quiet
    def diagonal(self, X: Rows) -> FloatArray:
        rows = check_rows(X)
        scales = self._fitting(rows).astype(float_dtype(rows))
        return self.kernel.diagonal(_scaled(rows, scales) if is_sparse(rows) else rows * scales)

    def _fitting(self, rows: Rows) -> FloatArray:
        if rows.shape[1] != len(self.scales):
            raise ValueError(
                f"the kernel has scales for {len(self.scales)} features, the rows have "
                f"{rows.shape[1]}."
            )
        return np.array(self.scales)


class _PreparedScaledFeatures(PreparedKernel):
    def __init__(self, part: PreparedKernel, anchor: FloatArray, scales: FloatArray) -> None:
        self.n_vectors, self.n_features = part.n_vectors, part.n_features
        self.dtype = part.dtype
        self.row_elements = part.row_elements + part.n_features
        self._part = part
        self._anchor = anchor
        self._scales = scales

    def fill(self, X: Rows, out: FloatArray, workspace: Workspace) -> None:
        if self._stays_sparse(X):
            self._part.fill(_scaled(X, self._scales), out, workspace)
            return
        rows = workspace.take(self, "rows", X.shape[0], self.n_features, self.dtype)
        self._scale(X, rows)
        self._part.fill(rows, out, workspace)

    @quiet
    def linearize(self, X: Rows) -> tuple[FloatArray, Pullback]:
        if self._stays_sparse(X):
            rows = _scaled(X, self._scales)
        else:
            rows = np.empty(X.shape, dtype=self.dtype)
            self._scale(X, rows)
        K, pullback = self._part.linearize(rows)

        def scaled(W: FloatArray, rows: NDArray[np.intp] | None = None) -> FloatArray:
            return pullback(W, rows) * self._scales

        return K, scaled

    def _stays_sparse(self, X: Rows) -> bool:
        return is_sparse(X) and not self._anchor.any()

    def _scale(self, X: Rows, out: FloatArray) -> None:
        np.subtract(dense(X), self._anchor, out=out, casting="same_kind")
        out *= self._scales


def _scaled(X: Rows, scales: FloatArray) -> Rows:
    """CSR rows times the scales."""
    entries = X.data * scales[X.indices]
    return type(X)((entries, X.indices, X.indptr), shape=X.shape)
