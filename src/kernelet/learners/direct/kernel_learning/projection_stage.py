"""A projection in front of a radial kernel: A is a matrix of a few rows, all of it learned."""

from __future__ import annotations

import numpy as np
from sklearn.utils import extmath

from kernelet.kernels import Kernel, ProjectedFeatures
from kernelet.kernels.numerics.arrays import FloatArray
from kernelet.kernels.radial import RadialKernel
from kernelet.kernels.silence import restoring_filters
from kernelet.learners.direct.kernel_learning.input_stage import Active, InputStage, StandardRows

# Combinations of features, unless a rank is given: all of them wherever a projection is the
# default, which is for at most 20 features (see `choice`).
DEFAULT_RANK = 20
# Directions are found by this many rows, and power iterations; they are only where the search
# starts.
_ROWS = 10_000
_POWER_ITERATIONS = 4

randomized_svd = restoring_filters(extmath.randomized_svd)


class ProjectionStage(InputStage):
    """p(x) = A (x - c), from the leading directions of the rows on.

    The parameters are the entries of A for features in units of their standard deviations.

    Parameters
    ----------
    rows : StandardRows
    kernel : RadialKernel
    rank : int
        Rows of A, at most as many as there are features.
    """

    # a change of A as large as A itself costs a tenth of W: little beside what a better projection
    # gains, and much beside the noise that rank times d parameters could fit
    regularisation = 0.1

    def __init__(self, rows: StandardRows, kernel: RadialKernel, rank: int) -> None:
        super().__init__(rows, kernel)
        self.rank = rank
        fair = rows.fair_scales()
        unit = rows.unit if fair is None else rows.unit * np.sqrt(fair)
        self.parameters = (self.size * _leading_directions(rows, unit, rank) * unit).ravel()
        self._first = self.parameters
        self._scale = float(np.square(self._first).sum()) or 1.0
        self._P = np.empty((0, rank), dtype=rows.dtype)

    def _matrix(self, parameters: FloatArray) -> FloatArray:
        """A for rows in the units given."""
        return parameters.reshape(self.rank, -1) / self.rows.unit

    def distances(self, parameters: FloatArray, v: FloatArray) -> FloatArray:
        dtype = self.rows.dtype
        self._P = P = self.rows.rows @ parameters.reshape(self.rank, -1).T.astype(dtype)
        products = P @ (-2.0 * self.sign * v.T).astype(dtype)
        return self._squared(products, self.sign * np.einsum("ij,ij->i", P, P), v)

    def pull(
        self, parameters: FloatArray, v: FloatArray, V: FloatArray, active: Active
    ) -> tuple[FloatArray, FloatArray]:
        P = self._P[active]
        in_v = V.sum(axis=0, dtype=np.float64)[:, None] * v - (V.T @ P).astype(np.float64)
        in_p = V.sum(axis=1)[:, None] * P - V @ v.astype(V.dtype)
        in_A = np.asarray((self.rows.rows[active].T @ in_p).T, dtype=np.float64)
        return 2.0 * self.sign * in_A.ravel(), 2.0 * self.sign * in_v

    def kernel(self, parameters: FloatArray) -> Kernel:
        return ProjectedFeatures(self.start, self._matrix(parameters) / self.size)

    def vectors(self, parameters: FloatArray, v: FloatArray) -> FloatArray:
        """Those nearest to the mean of all with these projections."""
        return v @ np.linalg.pinv(self._matrix(parameters)).T + self.rows.centre

    def coordinates(self, parameters: FloatArray, Z: FloatArray) -> FloatArray:
        return (Z - self.rows.centre) @ self._matrix(parameters).T

    def recall(self, kernel: Kernel) -> None:
        if not isinstance(kernel, ProjectedFeatures) or kernel.kernel != self.start:
            return
        if kernel.matrix.shape == (self.rank, self.rows.unit.size):
            self.parameters = (kernel.matrix * self.size * self.rows.unit).ravel()

    def penalty(self, parameters: FloatArray) -> tuple[float, FloatArray]:
        """The squared distance from the leading directions, as a share of their size."""
        change = parameters - self._first
        return float(change @ change) / self._scale, 2.0 * change / self._scale

    def bounds(self, parameters: FloatArray) -> tuple[FloatArray, FloatArray]:
        return np.full(parameters.size, -np.inf), np.full(parameters.size, np.inf)


def _leading_directions(rows: StandardRows, unit: FloatArray, rank: int) -> FloatArray:
    """Orthonormal directions in which rows of these units vary most; of fixed signs."""
    # rows come in random order
    some = rows.rows[:_ROWS]
    if isinstance(some, np.ndarray):
        some = some * unit
    _, _, V = randomized_svd(some, rank, n_iter=_POWER_ITERATIONS, flip_sign=False, random_state=0)
    directions: FloatArray = np.zeros((rank, rows.unit.size))
    directions[: V.shape[0]] = V
    largest = np.abs(directions).argmax(axis=1)
    signs = np.sign(directions[np.arange(rank), largest])
    return directions * np.where(signs == 0.0, 1.0, signs)[:, None]
