"""The reduced set of a machine as an inner problem: nearest functions in the span of Z."""

from __future__ import annotations

import numpy as np

from kernelet.kernels.numerics.arrays import FloatArray
from kernelet.learners.direct.search.inner_problem import InnerSolution, Start


class ReducedSetProblem:
    """sum_k 1/2 ||w_k - sum_j beta_jk k(., z_j)||^2 for given w_k = sum_i a_ik k(., x_i).

    Equation (4) as a function of Z: a loss that is linear in the scores, so the inner problem is a
    projection, w = Phi'a, and its gradient in the scores is -a.

    Parameters
    ----------
    coefficients : ndarray of shape (n, k)
        The a_ik.
    squared_norm : float
        sum_k ||w_k||^2.
    intercepts : ndarray of shape (k,)
    """

    def __init__(
        self, coefficients: FloatArray, squared_norm: float, intercepts: FloatArray
    ) -> None:
        self.coefficients = coefficients
        self.squared_norm = squared_norm
        self.intercepts = intercepts

    def solve(self, Phi: FloatArray, start: Start | None) -> InnerSolution:
        """Project; a projection needs no start."""
        weights = Phi.T @ self.coefficients
        return InnerSolution(
            value=0.5 * (self.squared_norm - float(np.square(weights).sum())),
            weights=weights,
            intercepts=self.intercepts,
            score_gradient=-self.coefficients,
            norm_gradient=np.ones(weights.shape[1]),
            gap=0.0,
        )
