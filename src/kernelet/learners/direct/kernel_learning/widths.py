"""What is learned of a radial kernel: its width, or one width per feature."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Protocol, final

import numpy as np

from kernelet.kernels import Kernel, ScaledFeatures
from kernelet.kernels.numerics.arrays import FloatArray, Rows
from kernelet.kernels.radial import RadialKernel
from kernelet.kernels.width import feature_gradient, gamma_gradient, with_gamma
from kernelet.learners.direct.search.objective import Evaluation


class Widths(Protocol):
    """A family of kernels around one, by logarithms that are zero for it."""

    @property
    def size(self) -> int:
        """How many logarithms there are."""
        ...

    def kernel(self, logs: FloatArray) -> Kernel:
        """The kernel of these logarithms."""
        ...

    def derivatives(self, X: Rows, at: Evaluation) -> FloatArray:
        """dW / d logs, by the envelope theorem: the coefficients are held fixed.

        Parameters
        ----------
        X : array or CSR of shape (n, d)
        at : Evaluation
            W at the vectors, with a kernel of this family.
        """
        ...


@final
@dataclass(frozen=True)
class OneWidth:
    """gamma times exp(log); see `Widths`."""

    start: RadialKernel
    size: ClassVar[int] = 1

    def kernel(self, logs: FloatArray) -> RadialKernel:
        return with_gamma(self.start, self.start.gamma * float(np.exp(logs[0])))

    def derivatives(self, X: Rows, at: Evaluation) -> FloatArray:
        kernel = at.kernel
        assert isinstance(kernel, RadialKernel)
        score_weights, norm_weights = _weights(at)
        slope = gamma_gradient(kernel, X, at.vectors, score_weights)
        return np.array([slope + gamma_gradient(kernel, at.vectors, at.vectors, norm_weights)])


@final
@dataclass(frozen=True)
class WidthPerFeature:
    """gamma times exp(log) for each feature; see `Widths`."""

    start: RadialKernel
    size: int  # features

    def kernel(self, logs: FloatArray) -> ScaledFeatures:
        return ScaledFeatures(self.start, tuple(np.exp(0.5 * logs)))

    def derivatives(self, X: Rows, at: Evaluation) -> FloatArray:
        kernel = at.kernel
        assert isinstance(kernel, ScaledFeatures)
        score_weights, norm_weights = _weights(at)
        slopes: FloatArray = feature_gradient(kernel, X, at.vectors, score_weights)
        slopes += feature_gradient(kernel, at.vectors, at.vectors, norm_weights)
        return slopes


def _weights(at: Evaluation) -> tuple[FloatArray, FloatArray]:
    """What the derivatives of k(x_i, z_j), and of k(z_i, z_j), count."""
    beta = at.coefficients
    return at.row_slopes @ beta.T, 0.5 * (beta * at.norm_gradient) @ beta.T
