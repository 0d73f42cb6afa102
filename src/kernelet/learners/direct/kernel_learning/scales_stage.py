"""Scales in front of a radial kernel: A is diagonal, with a scale for each feature or for all."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, final

import numpy as np

from kernelet.kernels import Kernel, ScaledFeatures
from kernelet.kernels.numerics.arrays import FloatArray
from kernelet.kernels.radial import RadialKernel
from kernelet.kernels.width import with_gamma
from kernelet.learners.direct.kernel_learning.input_stage import Active, InputStage, StandardRows

# How far the logarithm of a squared scale may go from where it starts. A feature whose scale is a
# hundredth of the others' adds next to nothing to distances; without an end, the logarithm of a
# useless feature would go to minus infinity.
_FARTHEST = float(np.log(1e4))
# What a kernel read back may exceed that by: the rounding of exp and log, with room to spare.
_ROUNDING = 1e-9


class Scales(InputStage):
    """A = diag(s): the parameters are logarithms of s^2."""

    # on training rows of 30 sets the same from 0.01 to 0.3, by validation
    regularisation = 0.03

    def __init__(self, rows: StandardRows, kernel: RadialKernel) -> None:
        super().__init__(rows, kernel)
        self.parameters = self._reference = self._plain()

    @abstractmethod
    def _plain(self) -> FloatArray:
        """The parameters at the start, from which deviations are measured."""

    @abstractmethod
    def _gathered(self, slopes: FloatArray) -> FloatArray:
        """Slopes in the logarithms of all features as those in the parameters."""

    def _scales(self, logs: FloatArray) -> FloatArray:
        return self.size * np.exp(0.5 * np.broadcast_to(logs, self.rows.centre.shape))

    def distances(self, parameters: FloatArray, v: FloatArray) -> FloatArray:
        a = self._scales(parameters) * self.rows.unit
        dtype = self.rows.dtype
        products = self.rows.rows @ (-2.0 * self.sign * (a * v).T).astype(dtype)
        return self._squared(
            products, self.rows.squares @ (self.sign * np.square(a)).astype(dtype), v
        )

    def pull(
        self, parameters: FloatArray, v: FloatArray, V: FloatArray, active: Active
    ) -> tuple[FloatArray, FloatArray]:
        a = self._scales(parameters) * self.rows.unit
        sums = np.asarray((self.rows.rows[active].T @ V).T, dtype=np.float64) * a
        dv = 2.0 * self.sign * (V.sum(axis=0, dtype=np.float64)[:, None] * v - sums)
        if not parameters.size:
            return parameters, dv
        squares = np.asarray(self.rows.squares[active].T @ V.sum(axis=1), dtype=np.float64)
        slopes = self.sign * (np.square(a) * squares - (v * sums).sum(axis=0))
        return self._gathered(slopes), dv

    def vectors(self, parameters: FloatArray, v: FloatArray) -> FloatArray:
        return v / self._scales(parameters) + self.rows.centre

    def coordinates(self, parameters: FloatArray, Z: FloatArray) -> FloatArray:
        return (Z - self.rows.centre) * self._scales(parameters)

    def recall(self, kernel: Kernel) -> None:
        scales = np.ones(1)
        if isinstance(kernel, ScaledFeatures):
            scales, kernel = np.array(kernel.scales), kernel.kernel
        if not isinstance(kernel, type(self.start)):
            return
        if scales.size not in (1, self.parameters.size):
            return
        with np.errstate(divide="ignore"):  # a feature left out begins at its bound
            logs = np.log(kernel.gamma / self.start.gamma) + 2.0 * np.log(scales)
        change = logs - self._reference
        if np.abs(change[np.isfinite(change)]).max(initial=0.0) <= _FARTHEST * (1.0 + _ROUNDING):
            self.parameters = np.clip(change, -_FARTHEST, _FARTHEST) + self._reference

    def penalty(self, parameters: FloatArray) -> tuple[float, FloatArray]:
        """The mean squared deviation of the logarithms from a common change."""
        if not parameters.size:
            return 0.0, parameters
        change = parameters - self._reference
        spread = change - change.mean()
        return float(np.mean(np.square(spread))), 2.0 * spread / spread.size

    def bounds(self, parameters: FloatArray) -> tuple[FloatArray, FloatArray]:
        change = parameters - self._reference
        return -_FARTHEST - change, _FARTHEST - change


@final
class FixedScales(Scales):
    """The kernel as it is given: no parameters."""

    def _plain(self) -> FloatArray:
        return np.zeros(0)

    def _gathered(self, slopes: FloatArray) -> FloatArray:
        return slopes[:0]

    def _scales(self, logs: FloatArray) -> FloatArray:
        return np.full(self.rows.centre.size, self.size)

    def kernel(self, parameters: FloatArray) -> Kernel:
        return self.start


@final
class CommonScale(Scales):
    """One logarithm for all features: the width of the kernel."""

    def _plain(self) -> FloatArray:
        return np.zeros(1)

    def _gathered(self, slopes: FloatArray) -> FloatArray:
        return np.array([slopes.sum()])

    def kernel(self, parameters: FloatArray) -> Kernel:
        return with_gamma(self.start, self.start.gamma * float(np.exp(parameters[0])))


@final
class FeatureScales(Scales):
    """A logarithm for each feature, which starts fair where a few make up the distances."""

    def _plain(self) -> FloatArray:
        fair = self.rows.fair_scales()
        return np.zeros(self.rows.centre.size) if fair is None else np.log(fair)

    def _gathered(self, slopes: FloatArray) -> FloatArray:
        return slopes

    def kernel(self, parameters: FloatArray) -> Kernel:
        scales: Any = np.exp(0.5 * parameters)
        return ScaledFeatures(self.start, scales)
